"""Parameters of the web gateway."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from teleop_common.errors import ConfigError
from teleop_common.params import param
from teleop_common.paths import share

_NEED = ("index.html", "vr.html")


@dataclass(frozen=True)
class GatewayConfig:
    """What can be set of the gateway."""

    arms: tuple[str, ...] = param(("left", "right"), "arms of the graph, each a namespace")
    limits_file: str = param("", "limits file of the robot; empty: the installed config/limits/so101.yaml")
    bind: str = param("0.0.0.0", "address on which HTTPS listens; 127.0.0.1 keeps other hosts out")
    https_port: int = param(8443, "port of HTTPS and WSS; 0 takes a free one", minimum=0, maximum=65535)
    http_port: int = param(
        8080, "port of plain HTTP on 127.0.0.1 for the desktop page; 0 takes a free one, -1 none", minimum=-1, maximum=65535
    )
    pairing_code: str = param("", "code that a client must present; empty: six random digits at each start")
    certificate_dir: str = param("", "directory of web_cert.pem and web_key.pem; empty: ~/.config/xr-teleop")
    web_root: str = param("", "directory of the built pages; empty: the installed ones")
    max_frame_hz: float = param(200.0, "frames that a client may send", unit="Hz", minimum=10.0, maximum=2000.0)
    max_message_hz: float = param(60.0, "other messages that a client may send", unit="Hz", minimum=5.0, maximum=1000.0)


def check_code(code: str) -> None:
    """Raise ConfigError when a configured pairing code is too weak to keep anybody out."""
    if code and not (6 <= len(code) <= 64 and code.isascii() and code.isalnum()):
        raise ConfigError(
            "parameter", "pairing_code", code, "6 to 64 letters and digits, or empty for a random one", "choose another"
        )


def web_root(given: str) -> Path:
    """Return the directory of the built pages.

    Raises:
        ConfigError: the pages are not there.
    """
    beside_source = Path(__file__).resolve().parents[1] / "web" / "dist"
    candidates = [Path(given)] if given else [beside_source, share("teleop_web", "web")]
    for root in candidates:
        if all((root / name).is_file() for name in _NEED):
            return root
    tried = ", ".join(map(str, candidates))
    raise ConfigError(
        "parameter",
        "web_root",
        tried,
        "a directory with index.html and vr.html",
        "run 'npm ci && npm run build' in src/teleop_web/web",
    )
