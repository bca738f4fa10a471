"""What the emulated servos did, with times: the measurement of every test that pulls a plug or kills a process."""

from __future__ import annotations

from collections.abc import Sequence
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple, Protocol, TextIO

from teleop_common.schedule import Schedule
from teleop_hw_so101.emulator.servo import Servo

COLUMNS = ("time", "arm", "joint", "goal", "position", "torque", "duty", "current", "volts", "celsius", "status")


class Row(NamedTuple):
    """One servo at one moment.

    Attributes:
        time: [s] of the clock that the emulator was given.
        arm: name of the arm.
        joint: place of the servo, 1 at the base.
        goal: goal that acts [step].
        position: [step].
        torque: whether the motor is driven.
        duty: share of the supply on the motor [-1 to 1].
        current: [A].
        volts: supply [V].
        celsius: [°C].
        status: bits as in register ``status``.
    """

    time: float
    arm: str
    joint: int
    goal: int
    position: int
    torque: bool
    duty: float
    current: float
    volts: float
    celsius: float
    status: int


class Event(NamedTuple):
    """Something that happened once: a fault, or the first goal after a pause.

    Attributes:
        time: [s].
        text: what.
    """

    time: float
    text: str


def row(now: float, arm: str, joint: int, servo: Servo) -> Row:
    """Return what a servo does at ``now`` [s]."""
    sensed = servo.sensed
    return Row(
        round(now, 6),
        arm,
        joint,
        servo.goal_position(),
        servo.present_position(),
        servo.torque_on,
        round(servo.duty, 4),
        round(sensed.current, 3),
        round(sensed.volts, 2),
        round(sensed.celsius, 1),
        servo.status,
    )


class Sink(Protocol):
    """Where a log is written."""

    def write(self, text: str, /) -> object:
        """Take ``text``."""


class Behind:
    """A file that another thread writes: servos must not stand still while a disk is busy."""

    def __init__(self, file: TextIO) -> None:
        """Begin to write to ``file``."""
        self._file = file
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def write(self, text: str, /) -> None:
        """Have ``text`` written, and handed to the system, as soon as can be."""
        self._waiting.put(text)

    def close(self) -> None:
        """Return when everything is written."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (text := self._waiting.get()) is not None:
            self._file.write(text)
            if self._waiting.empty():
                self._file.flush()
        self._file.flush()


class Log:
    """Rows and events, kept in memory or written as CSV; an event is a line that begins with ``#``.

    Attributes:
        rows: what was kept.
        events: what happened.
    """

    def __init__(self, hz: float = 100.0, file: Sink | None = None) -> None:
        """Begin.

        Args:
            hz: how often all servos are noted [Hz]; 0: only events.
            file: where to write; None: keep in memory.
        """
        self.rows: list[Row] = []
        self.events: list[Event] = []
        self._schedule, self._file = (Schedule(hz) if hz else None), file
        if file:
            file.write(",".join(COLUMNS) + "\n")

    def note(self, now: float, arms: Sequence[tuple[str, Sequence[Servo]]]) -> None:
        """Note every servo at ``now`` [s], if it is time."""
        if self._schedule is None or not self._schedule.due(now):
            return
        rows = [row(now, arm, joint, servo) for arm, servos in arms for joint, servo in enumerate(servos, 1)]
        if self._file is None:
            self.rows += rows
            return
        lines = [",".join(str(int(v) if isinstance(v, bool) else v) for v in entry) + "\n" for entry in rows]
        self._file.write("".join(lines))

    def event(self, now: float, text: str) -> None:
        """Note that something happened."""
        self.events.append(Event(now, text))
        if self._file is not None:
            self._file.write(f"# {now:.6f} {text}\n")


def read(lines: Sequence[str]) -> tuple[list[Row], list[Event]]:
    """Read a written log; a last line that is not complete is left out."""
    rows, events = [], []
    for line in lines:
        if not line.endswith("\n") or line.startswith(COLUMNS[0]):
            continue
        if line.startswith("# "):
            time, _, text = line[2:].rstrip("\n").partition(" ")
            events.append(Event(float(time), text))
            continue
        time, arm, joint, goal, position, torque, duty, current, volts, celsius, status = line.rstrip("\n").split(",")
        rows.append(
            Row(
                float(time),
                arm,
                int(joint),
                int(goal),
                int(position),
                torque == "1",
                float(duty),
                float(current),
                float(volts),
                float(celsius),
                int(status),
            )
        )
    return rows, events
