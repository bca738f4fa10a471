"""Harness of browser tests: the gateway as a process, Chromium with an emulated headset, an operator in a few words."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from std_msgs.msg import String

from teleop_common import qos
from teleop_common.testing import Probe, process

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
_HERE = Path(__file__).resolve().parent
_FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
IDENTITY = (0.0, 0.0, 0.0, 1.0)


class Address(NamedTuple):
    """Where a gateway listens.

    Attributes:
        https: origin of the headset page.
        http: origin of the desktop page.
        code: pairing code.
    """

    https: str
    http: str
    code: str


def built_pages() -> Path:
    """Return the directory of the built pages; skips the test when they are not built."""
    dist = _HERE.parent / "web" / "dist"
    if not (dist / "vr.html").is_file():
        pytest.skip("the pages are not built: npm ci && npm run build in src/teleop_web/web")
    return dist


def emulator() -> Path:
    """Return the emulator's bundle; skips the test when it is not installed."""
    path = Path(os.environ.get("IWER_JS", _HERE.parent / "web/node_modules/iwer/build/iwer.min.js"))
    if not path.is_file():
        pytest.skip("the headset emulator is not installed: npm ci in src/teleop_web/web")
    return path


def announced(probe: Probe, timeout: float = 10.0) -> Address:
    """Return where the gateway of the probe's domain listens."""
    heard: list[String] = []
    subscription = probe.create_subscription(String, "/teleop/web/url", heard.append, qos.LATCHED)
    try:
        probe.until(lambda: heard, timeout, "address of the gateway")
    finally:
        probe.destroy_subscription(subscription)
    found = json.loads(heard[-1].data)
    return Address(found["https"], found["http"], found["code"])


@contextmanager
def gateway(probe: Probe, domain: int, certificate_dir: Path, **params: Any) -> Iterator[Address]:
    """Run a gateway on this host alone, on free ports, and yield where it listens."""
    settings = {"bind": "127.0.0.1", "https_port": 0, "http_port": 0, "certificate_dir": str(certificate_dir), **params}
    with process("teleop_web", "web_gateway", domain, settings):
        yield announced(probe)


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield a headless Chromium; skips the test where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api")
    if not Path(CHROMIUM).is_file():
        pytest.skip(f"no Chromium at {CHROMIUM}; install the package chromium or set CHROMIUM")
    with sync_api.sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        # A headset is a machine of its own. Here it shares the cores with the graph, so it goes first where that is allowed.
        wrapper = Path(folder) / "chromium"
        wrapper.write_text(f'#!/bin/sh\nexec nice -n -10 {shlex.quote(CHROMIUM)} "$@" 2>/dev/null\n')
        wrapper.chmod(0o755)
        # a fresh temporary profile; the self-signed certificate is accepted per context
        browser = playwright.chromium.launch(executable_path=wrapper, headless=True, args=_FLAGS)
        yield browser
        browser.close()


class Headset:
    """One page with an emulated Quest 3.

    Attributes:
        page: Playwright's page.
        console: what it logged.
    """

    def __init__(self, browser: Any, url: str, *, size: tuple[int, int] = (480, 320), extra_js: str = "", **config: Any) -> None:
        """Open ``url`` with the emulator in front of it.

        Args:
            browser: from ``chromium``.
            url: the headset page, with the code.
            size: of the window [px]; the session's canvas has this size too, and software GL pays for each pixel.
            extra_js: runs after the emulator, before the page.
            config: ``hz`` of the display clock, ``stereo``, ``modes`` the device offers.
        """
        self._context = browser.new_context(ignore_https_errors=True, viewport={"width": size[0], "height": size[1]})
        self.page = self._context.new_page()
        self.console: list[str] = []
        self.page.on("console", lambda m: self.console.append(f"{m.type}: {m.text}"))
        self.page.on("pageerror", lambda e: self.console.append(f"pageerror: {e}"))
        shim = (_HERE / "browser" / "xr_shim.js").read_text()
        # one script: the order of several is not defined
        script = f"globalThis.__XR_CONFIG={json.dumps(config)};\n{emulator().read_text()}\n{shim}\n{extra_js}"
        self.page.add_init_script(script=script)
        self.page.goto(url)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the shim: head, ray, button, stick, connected, tracking, visibility, recenter, breakSocket."""
        self.page.evaluate("([name, args]) => { __xr[name](...args); }", [name, list(arguments)])

    def move(self, seconds: float, **deltas: Sequence[float]) -> None:
        """Move hands by ``deltas`` [m] (``right=(dx, dy, dz)``, WebXR axes) in a smooth line that takes ``seconds``."""
        self.page.evaluate("([deltas, seconds]) => __xr.move(deltas, seconds)", [deltas, seconds])

    def play(
        self, recording: dict[str, Any], *, squeeze: tuple[float, float, float] | None = None, without: tuple[int, ...] = ()
    ) -> None:
        """Play a capture of the emulator's recorder as this headset, from now on.

        Args:
            recording: the capture (``schema`` and ``frames``).
            squeeze: value of both grips, from and to [s] of the recording; None leaves them as recorded.
            without: buttons (indices of xr-standard; 5 is B and Y) that stay released.
        """
        options = {"squeeze": squeeze, "without": list(without)}
        self.page.evaluate("([recording, options]) => __xr.play(recording, options)", [recording, options])

    def get(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        return self.page.evaluate(expression)

    def enter(self) -> None:
        """Press the button, as an operator does; a real click is the user gesture that the browser wants."""
        self.page.wait_for_selector("#enter:not([disabled])")
        self.page.click("#enter")
        self.page.wait_for_selector("#xr.live", state="attached")

    def errors(self) -> list[str]:
        """Return what the page complained of."""
        return [line for line in self.console if line.startswith(("error", "pageerror"))]

    def close(self) -> None:
        """Close the page."""
        self._context.close()


@contextmanager
def headset(browser: Any, address: Address, *, code: str | None = None, enter: bool = True, **options: Any) -> Iterator[Headset]:
    """Yield an emulated headset on the gateway's page, inside the session unless told otherwise."""
    made = Headset(browser, f"{address.https}/vr?code={address.code if code is None else code}", **options)
    try:
        if enter:
            made.enter()
        yield made
    finally:
        made.close()
