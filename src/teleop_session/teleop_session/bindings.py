"""Buttons to actions: the file, and the one place that evaluates it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from teleop_common import yamlfile
from teleop_common.errors import ConfigError
from teleop_common.records import TeleopFrame

BUTTONS = ("primary", "secondary", "thumbstick_click", "menu")
EVENTS = ("press", "hold", "release")
GRIPPER = "gripper"
ACTIONS = ("estop", "record_toggle", "home", "view_next", "tile_size", GRIPPER)
PAGE_ACTIONS = ("view_next", "tile_size")
"""Named here so that one file shows every button; carried out by the page that shows the views."""
TRIGGER, DEAD_MAN = "trigger", "dead_man"
"""The one analogue input that can be bound, and the one thing that it can be: the dead-man of a controller without a squeeze."""
GRIPPERS = {"left": "gripper left", "right": "gripper right"}
"""The action ``gripper`` of each hand's buttons: carried out by the session itself, in the frames."""
GAP = 0.2
"""A silence longer than this [s] is a gap: what is down after it was not pressed for us."""


@dataclass(frozen=True)
class Binding:
    """One button's event and what it does.

    Attributes:
        hand: ``left`` or ``right``.
        button: one of ``BUTTONS``, or ``trigger`` as the dead-man.
        event: ``press`` at once, ``hold`` after ``seconds`` down, ``release`` of a press that was no hold.
        action: one of ``ACTIONS``, or ``dead_man`` of the trigger.
        seconds: time down for ``hold`` [s].
    """

    hand: str
    button: str
    event: str
    action: str
    seconds: float = 0.0


def load(path: str | Path, preset: str) -> tuple[Binding, ...]:
    """Read the bindings of ``preset``.

    Every preset of the file is checked, so that a wrong one is found before it is chosen.

    Raises:
        ConfigError: unknown preset, button, event or action, or the same event of the same button bound twice.
    """
    top = yamlfile.read(path)
    presets = {}
    table = top.table("presets")
    for name in table.data:
        rows = presets[str(name)] = tuple(_binding(row) for row in table.tables(name))
        seen: dict[tuple[str, str, str], str] = {}
        for b in rows:
            if b.action == GRIPPER and b.hand not in dead_men(rows):
                allowed = f"only beside {{button: {b.hand}/trigger, event: press, action: dead_man}}"
                raise table.error(str(name), f"{b.hand}/{b.button} -> gripper", allowed, "the trigger has that gripper already")
            key = (b.hand, b.button, b.event)
            if key in seen:
                duplicate = f"{b.hand}/{b.button} {b.event} -> {seen[key]} and {b.action}"
                raise table.error(str(name), duplicate, "one action per button and event", "remove one of the two bindings")
            seen[key] = b.action
    top.done()
    if preset not in presets:
        raise ConfigError("bindings preset", preset, preset, "one of " + ", ".join(presets), "mend bindings_preset", str(path))
    return presets[preset]


def _binding(row: yamlfile.Table) -> Binding:
    buttons = tuple(f"{hand}/{button}" for hand in ("left", "right") for button in (*BUTTONS, TRIGGER))
    hand, button = row.text("button", choices=buttons).split("/")
    dead_man = button == TRIGGER
    event = row.text("event", choices=("press",) if dead_man else EVENTS)
    seconds = row.number("seconds", 0.05, 10.0) if event == "hold" else 0.0
    binding = Binding(hand, button, event, row.text("action", choices=(DEAD_MAN,) if dead_man else ACTIONS), seconds)
    row.done()
    return binding


def dead_men(bindings: tuple[Binding, ...]) -> frozenset[str]:
    """Return the hands whose dead-man is the trigger."""
    return frozenset(b.hand for b in bindings if b.action == DEAD_MAN)


@dataclass
class _Button:
    """What is known of one button: down since when, and whether this press may do anything."""

    down: bool = True
    since: float = 0.0
    armed: bool = False
    held: bool = False


ESTOP = "estop"


@dataclass
class Evaluator:
    """Finds the actions that a stream of frames asks for.

    A button that is down in the first frame, or across a gap, a change of connection or a disconnected controller, must
    be released before it can do anything. Only the e-stop acts at once when it was up before and is down now.

    Args:
        bindings: what to look for; page actions are left to the page.
    """

    bindings: tuple[Binding, ...]
    source: tuple[str, int] = ("", -1)
    last: float = 0.0
    buttons: dict[str, _Button] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Group the bindings by button."""
        self._rows: dict[tuple[str, str], list[Binding]] = {}
        for b in self.bindings:
            if b.action != DEAD_MAN and (b.action not in PAGE_ACTIONS or b.event == "hold"):
                self._rows.setdefault((b.hand, b.button), []).append(b)
        self.buttons = {f"{hand}/{button}": _Button() for hand, button in self._rows}

    def restore(self, source: Sequence[Any], last: float, buttons: Mapping[str, Mapping[str, Any]]) -> None:
        """Take up a state given as plain data."""
        self.source, self.last = (str(source[0]), int(source[1])), last
        self.buttons = {name: _Button(**fields) for name, fields in buttons.items()}

    def step(self, now: float, frame: TeleopFrame) -> tuple[str, ...]:
        """Return the actions of this frame, each once, in the order of the file; ``gripper`` with the hand behind it.

        Args:
            now: arrival [s, monotonic].
            frame: the raw or finalised frame.
        """
        source = frame.provider, frame.connection
        fresh = source == self.source and now - self.last <= GAP
        self.source, self.last = source, now
        actions: list[str] = []
        for (hand, name), rows in self._rows.items():
            side = frame.left if hand == "left" else frame.right
            button = self.buttons[f"{hand}/{name}"]
            down = getattr(side, name)
            if not fresh or not side.connected:
                # nothing that is down now was seen going down; an e-stop counts all the same: one too many costs little
                if side.connected and down and not button.down:
                    actions += [b.action for b in rows if b.action == ESTOP and b.event == "press"]
                button.down, button.armed, button.held = True, False, False
                if side.connected and not down:
                    button.down = False
                continue
            if down or button.down:
                actions += [GRIPPERS[hand] if a == GRIPPER else a for a in _events(button, down, now, rows)]
        return tuple(dict.fromkeys(a for a in actions if a not in PAGE_ACTIONS))


def _events(button: _Button, down: bool, now: float, rows: list[Binding]) -> list[str]:
    """Advance one button that is or was down and return the actions due."""
    due: list[str] = []
    if down and not button.down:
        button.down, button.since, button.armed, button.held = True, now, True, False
        due += [b.action for b in rows if b.event == "press"]
    if down and button.armed and not button.held:
        holds = [b for b in rows if b.event == "hold" and now - button.since >= b.seconds]
        button.held = bool(holds)
        due += [b.action for b in holds]
    if not down:
        if button.armed and not button.held:
            due += [b.action for b in rows if b.event == "release"]
        button.down = button.armed = button.held = False
    return due
