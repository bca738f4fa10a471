"""``./teleop arm first-run``: leads through the steps of ``first_run``, looks itself where it can, and can be taken up again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from teleop_common import cache, cell
from teleop_common.enums import Authority
from teleop_common.spatial import heading_yaw, world_pose
from teleop_hw_so101 import arms, first_run
from teleop_hw_so101.first_run import STEPS, Progress, Step, Verdict
from teleop_hw_so101.tools import looking
from teleop_hw_so101.tools.desk import Desk, ToolError, confirm
from teleop_hw_so101.tools.moving import nod
from teleop_hw_so101.tools.places import ToolPlaces

_PERIOD = 0.05  # [s] between looks at the graph


class Watch(Protocol):
    """A running graph, listened to."""

    def get(self, topic: str) -> Any:
        """Return the newest record of ``topic``, None before the first."""

    def close(self) -> None:
        """Stop listening."""


def progress_file() -> Path:
    """Return where the steps that are behind are kept."""
    return arms.folder().parent / "first_run.json"


@dataclass
class Guide:
    """The guided first run.

    Attributes:
        desk: whom to talk to, and what to open.
        arms: names of the arms.
        devices: arm → its port; absent: found by its servos.
        cell_file: where the mounts are read.
        listen: joins the graph.
        stamp: the time of day in words.
    """

    desk: Desk
    arms: tuple[str, ...]
    devices: Mapping[str, str]
    cell_file: Path
    listen: Callable[[], Watch]
    stamp: Callable[[], str]
    _watch: Watch | None = None

    def run(self, back_to: str) -> tuple[bool, dict[str, Any]]:
        """Do the steps that are left; ``back_to`` takes that step and all behind it for not done.

        Raises:
            ToolError: nobody answers.
        """
        kept = progress_file()
        progress = Progress.loads(kept.read_text(encoding="utf-8")) if kept.exists() else Progress()
        if back_to:
            progress.back_to(back_to)
        left = progress.rest
        if len(left) < len(STEPS):
            self.desk.talk.say(f"{len(STEPS) - len(left)} of {len(STEPS)} steps are behind; --from STEP goes back to one")
        seen: dict[str, str] = {}
        try:
            for step in left:
                verdict = self._step(step)
                seen[step.key] = verdict.text
                if not verdict.good:
                    self.desk.talk.say(f"{verdict.text}\n{step.unless}\nThe same command goes on here.", "bad")
                    return False, {"done": list(progress.done), "stopped_at": step.key, "seen": seen}
                self.desk.talk.say(verdict.text, "good")
                progress.done[step.key] = self.stamp()
                cache.write_atomically(kept, progress.dumps().encode())
        finally:
            if self._watch is not None:
                self._watch.close()
        self.desk.talk.say("The first run is done: real speed, real manipulation, recording.", "good")
        return True, {"done": list(progress.done), "stopped_at": None, "seen": seen}

    def _step(self, step: Step) -> Verdict:
        number = STEPS.index(step) + 1
        self.desk.talk.say(f"\n{number}. {step.title}\n   Do: {step.do}\n   You must see: {step.see}")
        handler: Callable[[], Verdict] = getattr(self, f"_{step.key}")
        return handler()

    # ---- before the graph runs

    def _bench(self) -> Verdict:
        return Verdict(confirm(self.desk.talk, "is it so?"), "bench and people")

    def _ports(self) -> Verdict:
        good, result = looking.find(self.desk, list(self.devices.values()), wiggle=False)
        there = {binding["arm"] for binding in result["ports"] if not binding["problem"]}
        missing = [arm for arm in self.arms if arm not in there]
        return Verdict(good and not missing, f"no port for {', '.join(missing)}" if missing else "every arm has its port")

    def _check(self) -> Verdict:
        wrong = [arm for arm in self.arms if not looking.check(self.desk, arm, self.devices.get(arm, ""))[0]]
        return Verdict(not wrong, f"not ready: {', '.join(wrong)}" if wrong else "every arm is ready")

    def _side(self) -> Verdict:
        for arm in self.arms:
            port, _ = self.desk.find(arm, self.devices.get(arm, ""))
            self.desk.talk.say(f"'{arm}' rolls its hand now")
            with self.desk.servos(port.device) as servos:
                if not nod(self.desk, servos):
                    return Verdict(False, f"'{arm}' did not move: is its wrist_roll stuck?")
            moved = self.desk.talk.ask("which arm moved?", (*self.arms, "none"))
            if moved != arm:
                return Verdict(False, f"'{moved}' moved where '{arm}' was told to; the calibrations are in {arms.folder()}")
        return Verdict(True, "each arm moved when it was told to")

    def _mounts(self) -> Verdict:
        told = cell.load(self.cell_file)
        mounts = [told.mount(arm).position for arm in self.arms]
        apart = math.dist(mounts[0], mounts[1]) if len(mounts) > 1 else 0.0
        measured = self._millimetres("distance of the two pan axes [mm]:") if len(mounts) > 1 else 0.0
        height = self._millimetres("height of the bench above the plane that the arms stand on [mm, 0: the same]:")
        return first_run.mounts_match(measured, height, apart, told.bench_height - mounts[0][2])

    def _millimetres(self, question: str) -> float:
        while True:
            try:
                return float(self.desk.talk.ask(question, ()).replace(",", ".")) / 1000.0
            except ValueError:
                self.desk.talk.say("a number, in millimetres", "bad")

    # ---- beside the running graph

    def _graph(self) -> Verdict:
        def look() -> Verdict | None:
            states = {arm: self._get(f"/{arm}/driver_state") for arm in self.arms}
            guard = self._get("/teleop/guard/state")
            wrong = [f"'{arm}': {state.error}" for arm, state in states.items() if state is not None and state.error]
            if wrong or (guard is not None and not guard.enabled):
                return Verdict(False, "; ".join(wrong) or "the collision filter is off")
            return Verdict(True, "the graph runs") if guard is not None and all(states.values()) else None

        return self._until(look, lambda: "waiting for guard and drivers")

    def _clearance(self) -> Verdict:
        if len(self.arms) < 2:
            return Verdict(True, "one arm: there is no other to keep clear of")
        judge = first_run.Clearance()

        def look() -> Verdict | None:
            states = [self._get(f"/{arm}/driver_state") for arm in self.arms]
            distance = self._between()
            return None if None in states or distance is None else judge.feed(distance, any(s.torque_on for s in states))

        verdict = self._until(look, lambda: judge.rest)
        if not verdict.good:
            return verdict
        good = confirm(self.desk.talk, f"the guard sees {judge.least * 1000:.0f} mm between the arms: do you, within 1 cm?")
        return Verdict(good, verdict.text if good else "the guard sees the arms elsewhere than they are")

    def _direction(self) -> Verdict:
        places = ToolPlaces(self.desk.robot, cell.load(self.cell_file), self.arms)
        said = []
        for arm in self.arms:
            opened = self._until(self._nobody_drives, lambda: "open both grips")
            if not opened.good:
                return opened
            self.desk.talk.say(f"now the hand that belongs to '{arm}'")
            judge = first_run.Direction(arm)

            def look(judge: first_run.Direction = judge) -> Verdict | None:
                return self._direction_look(judge, places)

            verdict = self._until(look, lambda: "squeeze, hold still, 5 cm outwards")
            if not verdict.good:
                return verdict
            said.append(f"'{arm}': {verdict.text}")
        good = confirm(self.desk.talk, "did each arm go outwards when your hand did?")
        return Verdict(good, "; ".join(said) if good else "it went another way than outwards")

    def _nobody_drives(self) -> Verdict | None:
        authority = self._get("/teleop/authority")
        if authority is None or any(a.state == Authority.DRIVING for a in authority.arms):
            return None
        return Verdict(True, "grips are open")

    def _direction_look(self, judge: first_run.Direction, places: ToolPlaces) -> Verdict | None:
        authority, frame, session = (self._get(t) for t in ("/teleop/authority", "/teleop/frame", "/teleop/session/state"))
        states = {arm: self._get(f"/{arm}/joint_states") for arm in self.arms}
        if None in (authority, frame, session) or None in states.values():
            return None
        by_arm = {a.arm: a for a in authority.arms}
        driving = {arm: arm in by_arm and by_arm[arm].state == Authority.DRIVING for arm in self.arms}
        hands = dict(zip(session.arm, session.hand))
        controller = getattr(frame, hands.get(judge.arm, judge.arm), None)
        if controller is None:
            return Verdict(False, f"no hand belongs to '{judge.arm}' in this stance")
        hand = world_pose(frame.world_from_tracking, controller.grip.pose).position
        heading = heading_yaw(world_pose(frame.world_from_tracking, frame.head.pose).orientation)
        tools = {arm: places.world(arm, state) for arm, state in states.items()}
        return judge.feed(driving, hand, session.yaw - heading, tools)

    def _feel(self) -> Verdict:
        gripper = self.desk.robot.gripper
        said = []
        for arm in self.arms:
            self.desk.talk.say(f"now '{arm}'")
            judge = first_run.Feel()

            def look(arm: str = arm, judge: first_run.Feel = judge) -> Verdict | None:
                state = self._get(f"/{arm}/joint_states")
                if state is None or gripper is None:
                    return None if gripper else Verdict(True, "no gripper")
                opening = (state.position[-1] - gripper.closed) / (gripper.open - gripper.closed)
                return judge.feed(opening, state.velocity[: len(self.desk.robot.joints)])

            def rest(judge: first_run.Feel = judge) -> str:
                return f"gripper {max(judge.most - judge.least, 0.0) * 100:.0f} % so far"

            verdict = self._until(look, rest)
            if not verdict.good:
                return verdict
            said.append(f"'{arm}': {verdict.text}, joints up to {judge.fastest:.1f} rad/s")
        slow = confirm(self.desk.talk, "; ".join(said) + "\nwas a slow reach slow, and nothing too fast?")
        return Verdict(slow, "; ".join(said) if slow else "too fast")

    def _guard(self) -> Verdict:
        if len(self.arms) < 2:
            return Verdict(True, "one arm: there is no other to be kept from")
        judge = first_run.Provoked()

        def look() -> Verdict | None:
            guard, distance = self._get("/teleop/guard/state"), self._between()
            if guard is None:
                return None
            blocked = any(pair.blocking for pair in self._across(guard))
            # not among the nearest pairs: farther apart than the links of one arm
            return judge.feed(guard.scale, blocked, math.inf if distance is None else distance)

        def rest() -> str:
            return "not held yet" if judge.held is None else f"held at {judge.held * 1000:.0f} mm; now pull them apart"

        verdict = self._until(look, rest)
        if not verdict.good:
            return verdict
        good = confirm(self.desk.talk, "did both controllers buzz, and did the page say COLLISION HOLD?")
        return Verdict(good, verdict.text if good else "the guard held, and nobody was told")

    # ---- looking

    def _get(self, topic: str) -> Any:
        if self._watch is None:
            self._watch = self.listen()
        return self._watch.get(topic)

    def _across(self, guard: Any) -> list[Any]:
        """Return the pairs that are of two arms."""
        owner = [[next((a for a in self.arms if link.startswith(f"{a}_")), "") for link in pair.links] for pair in guard.pairs]
        return [pair for pair, (one, two) in zip(guard.pairs, owner) if one and two and one != two]

    def _between(self) -> float | None:
        """Return the least distance between two arms [m], None where the guard tells none: they are far apart."""
        guard = self._get("/teleop/guard/state")
        if guard is None:
            return None
        across = [pair.distance for pair in self._across(guard)]
        return min(across) if across else None

    def _until(self, look: Callable[[], Verdict | None], rest: Callable[[], str]) -> Verdict:
        """Look until there is a verdict, or somebody gives up with Enter."""
        with self.desk.talk.live("Enter gives up", ("seen",)) as show:
            while (verdict := look()) is None:
                show([(rest(),)])
                if self.desk.talk.pressed():
                    return Verdict(False, f"given up: {rest()}")
                self.desk.sleep(_PERIOD)
        return verdict


def devices_of(text: str, names: tuple[str, ...]) -> dict[str, str]:
    """Return arm → port from ``left:/dev/...,right:/dev/...``, the form of the launch argument; ``auto`` or empty: none.

    Raises:
        ToolError: another form, or an arm that is none.
    """
    found: dict[str, str] = {}
    for part in text.split(",") if text not in ("", "auto") else ():
        arm, colon, device = part.partition(":")
        if not colon or not device or arm not in names:
            raise ToolError(f"ports '{text}': got {part!r}, allowed ARM:PORT of {', '.join(names)}; e.g. left:/dev/ttyACM0")
        found[arm] = device
    return found
