"""The emulator on pseudo-terminals: a port an arm, as a serial adapter would be, and a socket that takes faults.

Ports are symbolic links in one folder, named after the arms, and outlive a pulled plug; the terminals behind them do not. The
clock is handed in. One thread does everything: two arms take about a seventh of a core.
"""

from __future__ import annotations

import contextlib
import fcntl
import heapq
import json
import os
import select
import socket
import struct
import tempfile
import tty
from collections.abc import Callable, Sequence
from pathlib import Path

from teleop_common.errors import ConfigError
from teleop_hw_so101.emulator import faults
from teleop_hw_so101.emulator.emulator import Emulator, Scene

CONTROL = "control"  # name of the socket
SCENE = "scene"  # asks it for the scene as JSON
_MOST = 4096
_LONGEST_WAIT = 0.05  # [s]
_TCGETS2 = 0x802C542A  # Linux, asm-generic/ioctls.h
_TERMIOS2 = struct.Struct("4IB19B2I")  # struct termios2; the last is the speed of output


def default_folder() -> Path:
    """Return where ports lie when nobody says otherwise."""
    return Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / "xr-teleop-arms"


class Terminal:
    """The pseudo-terminal behind one arm's port.

    Attributes:
        path: the link that clients open.
        master: file descriptor of the emulator's end.
    """

    def __init__(self, path: Path) -> None:
        """Open it and let ``path`` lead to it."""
        self.path = path
        self.master, self._slave = os.openpty()
        # held open, so that a client that leaves is no hang-up
        tty.setraw(self._slave)
        os.set_blocking(self.master, False)
        path.unlink(missing_ok=True)
        path.symlink_to(os.ttyname(self._slave))

    @property
    def baud(self) -> int:
        """Speed that the client set [1/s]."""
        # as a number, not as one of the constants of termios: some clients set it so
        settings = fcntl.ioctl(self._slave, _TCGETS2, bytes(_TERMIOS2.size))
        return int(_TERMIOS2.unpack(settings)[-1])

    def read(self) -> bytes:
        """Return what the client sent."""
        try:
            return os.read(self.master, _MOST)
        except (BlockingIOError, OSError):
            return b""

    def write(self, data: bytes) -> None:
        """Send to the client; what a client that does not read has no room for is lost, as on a real port."""
        with contextlib.suppress(BlockingIOError, OSError):
            os.write(self.master, data)

    def close(self) -> None:
        """Hang up and take the link away."""
        self.path.unlink(missing_ok=True)
        os.close(self.master)
        os.close(self._slave)


class Server:
    """Serves an emulator until it is told to end.

    Attributes:
        emulator: the arms.
        folder: where ports and control socket lie.
        last_request: when a host sent something last [s].
    """

    def __init__(self, emulator: Emulator, control: socket.socket, folder: Path, clock: Callable[[], float]) -> None:
        """Open the ports.

        Args:
            emulator: the arms.
            control: what ``listen`` gave for this folder; closed with the rest.
            folder: where to put the ports.
            clock: the monotonic clock [s].
        """
        self.emulator, self.folder, self._clock = emulator, folder, clock
        self._control = control
        self._clients: list[socket.socket] = []
        self._terminals = {arm: Terminal(folder / arm) for arm in emulator.arms}
        self._due: list[tuple[float, int, str, bytes]] = []
        self._count = 0
        self.last_request = float("-inf")
        emulator.advance(clock())

    def port(self, arm: str) -> Path:
        """Return the port of ``arm``."""
        return self.folder / arm

    def serve(self, ended: Callable[[], bool]) -> None:
        """Serve until ``ended`` says so; it is asked at least every 0.05 s."""
        while not ended():
            self.turn()

    def turn(self) -> None:
        """Wait for the next thing to do, and do it."""
        now = self._clock()
        wake = self.emulator.next_step
        if self._due:
            wake = min(wake, self._due[0][0])
        arm_of = {terminal.master: arm for arm, terminal in self._terminals.items()}
        waiting: list[int | socket.socket] = [*arm_of, self._control, *self._clients]
        ready, _, _ = select.select(waiting, [], [], min(max(wake - now, 0.0), _LONGEST_WAIT))
        # first what a client waits for
        for source in ready:
            if isinstance(source, int):
                self._request(arm_of[source])
        self._send(self._clock())
        for source in ready:
            if source is self._control:
                self._clients.append(self._control.accept()[0])
            elif isinstance(source, socket.socket):
                self._told(source)
        # a machine that is behind answers all the same
        self.emulator.advance(self._clock(), most=2)
        self._plugs()

    def _request(self, arm: str) -> None:
        terminal = self._terminals[arm]
        if data := terminal.read():
            self.last_request = self._clock()
            for sending in self.emulator.receive(arm, data, self._clock(), terminal.baud or 1):
                self._count += 1
                heapq.heappush(self._due, (sending.due, self._count, arm, sending.data))

    def _send(self, now: float) -> None:
        while self._due and self._due[0][0] <= now:
            _, _, arm, data = heapq.heappop(self._due)
            if arm in self._terminals:
                self._terminals[arm].write(data)

    def _plugs(self) -> None:
        """Let the terminals follow the plugs."""
        pulled = self.emulator.pulled
        for arm in [arm for arm in self._terminals if arm in pulled]:
            self._terminals.pop(arm).close()
            self._due = [entry for entry in self._due if entry[2] != arm]
            heapq.heapify(self._due)
        for arm in self.emulator.arms:
            if arm not in pulled and arm not in self._terminals:
                self._terminals[arm] = Terminal(self.folder / arm)

    def _told(self, client: socket.socket) -> None:
        """Take the lines of a client of the control socket and answer each."""
        try:
            lines = client.recv(_MOST).decode(errors="replace").splitlines()
            for line in lines:
                client.sendall((self._obey(line) + "\n").encode())
        except OSError:
            lines = []
        if not lines:
            self._clients.remove(client)
            client.close()

    def _obey(self, line: str) -> str:
        if line == SCENE:
            return json.dumps(self.emulator.scene()._asdict())
        try:
            self.emulator.tell(faults.parse(line), self._clock())
        except ConfigError as error:
            return str(error)
        self._plugs()
        return "ok"

    def close(self) -> None:
        """Hang up and leave nothing behind."""
        for terminal in self._terminals.values():
            terminal.close()
        for open_socket in (*self._clients, self._control):
            open_socket.close()
        (self.folder / CONTROL).unlink(missing_ok=True)


def listen(folder: Path) -> socket.socket:
    """Take ``folder``, made where it is absent, and return its control socket.

    Raises:
        ConfigError: another emulator serves it, or it cannot be written to.
    """
    path = folder / CONTROL
    server = socket.socket(socket.AF_UNIX)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.exists():
            # a socket that nobody serves was left behind by a kill
            with socket.socket(socket.AF_UNIX) as probe:
                if probe.connect_ex(str(path)) == 0:
                    text = "another emulator"
                    raise ConfigError("folder", str(folder), text, "one without", "end it, or name another folder")
            path.unlink()
        server.bind(str(path))
    except OSError as error:
        server.close()
        allowed = "a folder whose path is short and may be written to"
        raise ConfigError("folder", str(folder), str(error), allowed, "name another folder") from error
    except ConfigError:
        server.close()
        raise
    server.listen()
    return server


class Control:
    """The client's end of a control socket.

    Raises:
        ConfigError: no emulator serves the folder.
    """

    def __init__(self, folder: Path, timeout: float = 5.0) -> None:
        """Connect."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(str(folder / CONTROL))
        except OSError as error:
            self._socket.close()
            allowed = "that of a running emulator"
            raise ConfigError("folder", str(folder), str(error), allowed, "start it: ./teleop emulate") from error
        self._file = self._socket.makefile("rw", encoding="utf-8")

    def ask(self, line: str) -> str:
        """Send one line and return the answer: ``ok``, what is wrong, or what was asked for.

        Raises:
            OSError: the emulator is gone.
        """
        self._file.write(line.strip() + "\n")
        self._file.flush()
        answer = self._file.readline()
        if not answer:
            raise ConnectionResetError("the emulator has ended")
        return answer.rstrip("\n")

    def scene(self) -> Scene:
        """Return the state of arms and cubes."""
        return Scene(**json.loads(self.ask(SCENE)))

    def close(self) -> None:
        """Hang up."""
        self._file.close()
        self._socket.close()


def tell(folder: Path, lines: Sequence[str]) -> list[str]:
    """Send faults to a running emulator and return its answers, ``ok`` or what is wrong, one a line.

    Raises:
        ConfigError: none serves this folder.
    """
    control = Control(folder)
    try:
        return [control.ask(line) for line in lines]
    finally:
        control.close()
