"""A plain WebSocket client, as somebody would write one without our page."""

import json
import ssl
import time
import urllib.error
import urllib.request
from contextlib import ExitStack

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

INSECURE = ssl.create_default_context()
INSECURE.check_hostname = False
INSECURE.verify_mode = ssl.CERT_NONE
HAND = {"position": [0.2, 1.1, -0.3], "orientation": [0, 0, 0, 1], "trigger": 0.0, "squeeze": False, "tracked": True}
FRAME = {
    "ts_ms": 1786134696657,
    "vr_mode": "pose",
    "dead_man": False,
    "head": {"position": [0, 1.6, 0], "orientation": [0, 0, 0, 1]},
    "left": HAND,
    "right": HAND,
}


class Operator:
    """One socket; ``until`` reads until a message of a kind comes."""

    def __init__(self, address, *, code=None, hello=True, origin=None, **fields):
        url = address.https.replace("https", "wss") + "/ws"
        self._exit = ExitStack()
        self.socket = self._exit.enter_context(connect(url, ssl=INSECURE, origin=origin, max_size=2**22, compression=None))
        self.code = address.code if code is None else code
        if hello:
            self.say({"type": "hello", "code": self.code} | fields)

    def say(self, message):
        self.socket.send(message if isinstance(message, str | bytes) else json.dumps(message))

    def until(self, kind, condition=lambda _m: True, timeout=5.0):
        end = time.monotonic() + timeout
        seen = []
        while time.monotonic() < end:
            try:
                message = json.loads(self.socket.recv(timeout=max(0.01, end - time.monotonic())))
            except TimeoutError:
                break
            seen.append(message["type"])
            if message["type"] == kind and condition(message):
                return message
        raise AssertionError(f"no {kind} within {timeout} s; got {seen}")

    def closed(self, timeout=5.0):
        """Read to the end and return (close code, messages)."""
        messages = []
        try:
            while True:
                messages.append(json.loads(self.socket.recv(timeout=timeout)))
        except ConnectionClosed as end:
            return end.rcvd.code if end.rcvd else None, messages

    def close(self):
        self._exit.close()


def request(address, path, body=None, *, code=None, method=None, headers=None, plain=False):
    """Return (status, JSON) of a REST request."""
    url = (address.http if plain else address.https) + path
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    asked = urllib.request.Request(
        url, data, {"X-Pairing-Code": address.code if code is None else code} | (headers or {}), method=method
    )
    try:
        with urllib.request.urlopen(asked, context=None if plain else INSECURE, timeout=10) as answer:
            return answer.status, json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        text = error.read()
        return error.code, json.loads(text) if text.startswith(b"{") else {}
