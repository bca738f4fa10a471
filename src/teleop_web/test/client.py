"""A plain WebSocket client, as somebody would write one without our page."""

import asyncio
import json
import ssl
import threading
import time
import urllib.error
import urllib.request

import aiohttp

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


class Socket:
    """A WebSocket for a test's thread, on an event loop in another."""

    def __init__(self, url, origin=None):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._run(self._open(url, {"Origin": origin} if origin else {}))

    async def _open(self, url, headers):
        self._session = aiohttp.ClientSession()
        try:
            self.socket = await self._session.ws_connect(url, ssl=INSECURE, headers=headers, max_msg_size=2**22)
        except BaseException:
            await self._session.close()
            raise

    def _run(self, coroutine, timeout=15.0):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout)

    def send(self, data):
        self._run(self.socket.send_bytes(data) if isinstance(data, bytes) else self.socket.send_str(data))

    def ping(self):
        self._run(self.socket.ping())

    def receive(self, timeout=5.0):
        """Return the next text or bytes; None when the socket is closed; raises TimeoutError."""
        message = self._run(self.socket.receive(timeout))
        return message.data if message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY) else None

    def close(self):
        if not self._thread.is_alive():
            return

        async def end():
            await self.socket.close()
            await self._session.close()

        self._run(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)


class Operator(Socket):
    """A client of the control socket."""

    def __init__(self, address, *, code=None, hello=True, origin=None, **fields):
        super().__init__(address.https.replace("https", "wss") + "/ws", origin)
        if hello:
            self.say({"type": "hello", "code": address.code if code is None else code} | fields)

    def say(self, message):
        self.send(message if isinstance(message, str | bytes) else json.dumps(message))

    def until(self, kind, condition=lambda _m: True, timeout=5.0):
        """Read until a message of a kind meets a condition."""
        end = time.monotonic() + timeout
        seen = []
        while time.monotonic() < end:
            try:
                text = self.receive(max(0.01, end - time.monotonic()))
            except TimeoutError:
                break
            assert text is not None, f"closed with {self.socket.close_code} while waiting for {kind}; got {seen}"
            message = json.loads(text)
            seen.append(message["type"])
            if message["type"] == kind and condition(message):
                return message
        raise AssertionError(f"no {kind} within {timeout} s; got {seen}")

    def closed(self):
        """Read to the end and return (close code, messages)."""
        messages = []
        while (text := self.receive()) is not None:
            messages.append(json.loads(text))
        return self.socket.close_code, messages


def request(address, path, body=None, *, code=None, method=None, headers=None, plain=False):
    """Return (status, JSON) of a REST request."""
    url = (address.http if plain else address.https) + path
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"X-Pairing-Code": address.code if code is None else code} | (headers or {})
    asked = urllib.request.Request(url, data, given, method=method)
    try:
        with urllib.request.urlopen(asked, context=None if plain else INSECURE, timeout=10) as answer:
            return answer.status, json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        text = error.read()
        return error.code, json.loads(text) if text.startswith(b"{") else {}
