"""Entry points of the package's executables."""

from __future__ import annotations

from teleop_common.start import start


def session() -> None:
    """Run the node ``session``."""
    start("teleop_session.session_node", "SessionNode")
