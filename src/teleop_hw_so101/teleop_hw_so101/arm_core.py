"""One arm's driver as pure state: what is known of the servos, and what they are told next.

Commands are judged by the rules that every driver has (``teleop_common.driver``); what is added here is the servo's side: ticks,
a bound on speed as the last resort, silence of single servos, faults, parking. Time comes in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from teleop_common.driver import Driver
from teleop_common.records import JointCommand
from teleop_hw_so101 import parking
from teleop_hw_so101.arm_config import ArmConfig, Tally
from teleop_hw_so101.bounds import SpeedBound, within
from teleop_hw_so101.parking import Parking
from teleop_hw_so101.samples import Samples, Servo

_SAME = 2  # [step] between two goals that count as one


@dataclass
class ArmCore:
    """State of one arm.

    Attributes:
        config: settings.
        instance: number of this start.
        driver: rules for commands; None until every servo was heard once.
        samples: what is known of the servos.
        connected: the port is open and the arm on it is the calibrated one.
        fault: what stops commands until torque is asked for anew, in words.
        problem: why the arm is not connected, or cannot be armed, in words.
        parking: the way to rest, while it is made.
        let_go: servo IDs whose torque must go off now.
        releasing: those whose torque was asked off and that have not obeyed yet; the bus tries them on and on.
        latched: an e-stop came before the servos were heard.
        resumed: the arm is held where it was found, while commands for where it would have been may still be under way:
            the first one to be obeyed must be that it stays there.
        read_time: when the oldest reply of the newest reading came [s], None when it brought none.
        tally: counts.
    """

    config: ArmConfig
    instance: int
    driver: Driver | None = None
    connected: bool = False
    fault: str = ""
    problem: str = "no servo was heard yet"
    parking: Parking | None = None
    let_go: set[int] = field(default_factory=set)
    releasing: set[int] = field(default_factory=set)
    latched: bool = False
    resumed: bool = False
    read_time: float | None = None
    tally: Tally = field(default_factory=Tally)
    last_refusal: str = ""

    def __post_init__(self) -> None:
        """Begin with nothing known."""
        self.samples = Samples([Servo() for _ in self.config.ids], self.config.suspect_after)
        self._forgive = False  # torque off was asked: it ends the fault, once every servo has obeyed
        self._bound = SpeedBound(len(self.config.ids), self.config.speed_bound)
        self._heard: float | None = None  # when servos last answered [s]

    # what comes from the bus

    def found(self, torque: Sequence[bool], goals: Sequence[int], now: float) -> None:
        """The calibrated arm answered: hold what it holds.

        Args:
            torque: whether each servo's torque is on.
            goals: goal registers [step].
            now: monotonic clock [s].
        """
        measured = self.measured()
        if measured is None:
            raise RuntimeError("found() needs a motion sample of every servo first")
        on = all(torque)
        scales = self.config.scales
        goal = tuple(s.radians(s.goal(s.radians(g))) for s, g in zip(scales, goals)) if on else measured
        if self.driver is None:
            self.driver = Driver(self.config.driver, self.instance, goal, on)
            if self.latched:
                self.driver.latch_estop(measured)
        else:
            was = self.driver.memory
            self.driver.restart(goal)
            self.driver.memory = replace(self.driver.memory, torque_on=on)
            if was.torque_on and not on:
                self.fail("the servos lost torque while they were away")
        mixed = [name for name, is_on in zip(self.config.joints, torque) if is_on]
        if mixed and not on:
            self.fail(f"torque is on at {', '.join(mixed)} alone; ask for torque off or on")
        for servo, is_on in zip(self.samples.servos, torque):
            servo.suspect, servo.torque = False, is_on
        self.connected, self.problem, self.resumed = True, "", on
        self._bound.begin(now)

    def fail(self, fault: str) -> None:
        """Refuse commands and hold from now on, for the reason ``fault``; a way to rest ends where it is."""
        self.fault, self.parking = fault, None

    def lost(self, problem: str) -> None:
        """The port is gone, or what answers is not the calibrated arm."""
        self.samples.forget()
        self.connected, self.problem, self.parking, self._heard = False, problem, None, None

    def took_motion(self, read_time: float | None) -> None:
        """Every servo was asked for its motion: let a limp arm's goal follow, and judge what the readings say.

        Args:
            read_time: when the oldest of the replies came (monotonic) [s], None when none did.
        """
        self.read_time = read_time
        measured, driver = self.measured(), self.driver
        if driver is None or measured is None:
            return
        if read_time is not None:
            if self._heard is not None and read_time - self._heard > self.config.sample_timeout and driver.memory.torque_on:
                # the bus was silent, or this process stood still: commands went on to somewhere else
                self._restart(driver, driver.memory.goal)
            self._heard = read_time
        driver.follow(measured)
        crossed, self.samples.seams = self.samples.seams, []
        leapt, self.samples.leaps = self.samples.leaps, []
        if not driver.memory.torque_on:
            return
        # goals are now elsewhere than where the joints were held: limp is the lesser evil, the others hold
        if leapt:
            self._drop(leapt, "is measured elsewhere all at once and let go; ask for torque off, then see ./teleop arm check")
        if crossed:
            self._drop(crossed, "was turned over the end of its scale and let go; ask for torque off, turn it back by hand")

    def _drop(self, joints: Sequence[int], why: str) -> None:
        self.let_go.update(self.config.ids[index] for index in joints)
        self.fail(f"{', '.join(self.config.joints[index] for index in dict.fromkeys(joints))} {why}")

    def took_torque(self, index: int, on: bool, register: int) -> None:
        """The torque switch of servo ``index`` was read: one that fell without being asked lost its supply, and its goal too.

        One that was silent holds what it was told before: the arm's goal becomes that of its ``register`` [step], as a new
        instance, so that nothing which was commanded meanwhile is made up for at once.
        """
        servo, driver = self.samples.servos[index], self.driver
        servo.torque = on
        if driver is None or not driver.memory.torque_on:
            servo.suspect = False
            return
        if on:
            if servo.suspect:
                self._resume(driver, index, register)
            servo.suspect = False
        elif all(s.torque is False for s in self.samples.servos):
            # the whole arm is limp: say so, and let its goal follow
            driver.torque(False, self.measured() or driver.memory.goal)
            self.fail("all servos lost their torque (supply); ask for torque on")
        else:
            off = [name for name, s in zip(self.config.joints, self.samples.servos) if s.torque is False]
            # the first cause stands: what is let go for it has no torque either
            self.fail(self.fault or f"{', '.join(off)} lost torque (supply or cable); ask for torque off, then on")

    def _resume(self, driver: Driver, index: int, register: int) -> None:
        scale, goal = self.config.scales[index], list(driver.memory.goal)
        if abs(register - scale.goal(goal[index])) > _SAME:
            goal[index] = scale.radians(scale.goal(scale.radians(register)))
            self._restart(driver, goal)

    def _restart(self, driver: Driver, goal: Sequence[float]) -> None:
        driver.restart(goal)
        self.parking, self.resumed = None, True

    # what comes from the graph

    def command(self, command: JointCommand, now_ns: int, now: float) -> bool:
        """Take a command on arrival; refused ones are counted and ``last_refusal`` says why."""
        driver = self.driver
        held = self._held() or self._astray(command)
        if driver is None or held:
            self.tally.held += 1
            self.last_refusal = f"command for '{self.config.driver.arm}' refused (held): {held}"
            return False
        before = driver.memory.goal
        if not driver.command(command, now_ns, now):
            self.last_refusal = driver.last_refusal
            return False
        self.resumed = False
        goal = within(self.config.scales, before, self._bound.cut(before, driver.memory.goal, now))
        driver.memory = replace(driver.memory, goal=goal)
        self.tally.clipped = self._bound.clipped
        return True

    def _held(self) -> str:
        if self.parking is not None:
            return "the arm is being parked"
        return self.fault or ("" if self.connected else self.problem)

    def _astray(self, command: JointCommand) -> str:
        """Return why ``command`` is meant for where the arm would be, had it not been lost for a while; empty when it is not."""
        if not self.resumed or self.driver is None or command.name != self.config.driver.names:
            return ""
        for name, scale, goal, asked in zip(command.name, self.config.scales, self.driver.memory.goal, command.position):
            if not abs(asked - goal) <= _SAME * abs(scale.radians_per_tick):
                return f"{name} is held at {goal:.4f} rad since it was heard again; the first command must be to stay there"
        return ""

    def estop(self) -> bool:
        """Latch the e-stop; returns whether torque must go off on the bus."""
        release = self.config.driver.estop_release
        self.parking, self.latched = None, self.driver is None
        if self.driver is not None:
            self.driver.latch_estop(self.measured() or self.driver.memory.goal)
        if release:
            self.releasing.update(self.config.ids)
        return release

    def reset_estop(self) -> str:
        """Release the latch; torque stays as it is."""
        self.latched = False
        if self.driver is not None:
            self.driver.reset_estop()
        return ""

    def may_arm(self) -> str:
        """Return why torque may not be asked for, empty when it may."""
        if self.driver is None or not self.connected:
            return f"torque of '{self.config.driver.arm}': got on, allowed off: {self.problem}"
        if self.driver.memory.estop:
            return (
                f"torque of '{self.config.driver.arm}': got on, allowed off while the e-stop is latched; reset the e-stop first"
            )
        return ""

    def turned(self) -> str:
        """Return which joints were turned over the end of their scale, empty for none: torque would turn them a whole turn."""
        motions = [(name, s.motion) for name, s in zip(self.config.joints, self.samples.servos)]
        over = [name for name, m in motions if m is not None and m.raw != m.position]
        if not over:
            return ""
        names = ", ".join(over)
        return (
            f"torque of '{self.config.driver.arm}': got {names} over the end of its scale, allowed within; turn it back by hand"
        )

    def armed(self, seeds: Sequence[int]) -> str:
        """The bus has torque on at ``seeds`` [step]; returns why it must go off again, empty when it may stay."""
        refusal = self.may_arm()
        if refusal or self.driver is None:
            return refusal or self.problem
        # by way of off: after a fault the goal is the one that was seeded, also when torque counted as on
        goal = tuple(scale.radians(tick) for scale, tick in zip(self.config.scales, seeds, strict=True))
        self.driver.torque(False, goal)
        self.driver.torque(True, goal)
        self.fault, self._forgive, self.resumed = "", False, False
        self._heard = None  # all were just asked for other things
        for servo in self.samples.servos:
            servo.torque, servo.suspect = True, False
        return ""

    def release(self) -> None:
        """Torque goes off: no goal is written any more, and each servo is asked until it has obeyed."""
        self.parking, self._forgive = None, True
        self.releasing.update(self.config.ids)
        if self.driver is not None:
            self.driver.torque(False, self.measured() or self.driver.memory.goal)

    def obeyed(self, ident: int) -> None:
        """Servo ``ident`` has acknowledged that its torque is off."""
        self.samples.servos[self.config.ids.index(ident)].torque = False
        self.releasing.discard(ident)
        if self._forgive and not self.releasing:
            self.fault, self._forgive = "", False

    # what goes to the bus

    def goals(self, now: float) -> dict[int, int]:
        """Return what is written now [step by servo ID]: nothing without torque, since a goal turns torque on by itself.

        A servo that has been silent is left out: it may have lost its supply, and must not wake up with an old goal.
        """
        driver = self.driver
        if driver is None or not self.connected or not driver.memory.torque_on or self.fault:
            return {}
        if self.parking is not None:
            driver.memory = replace(driver.memory, goal=self.parking.at(now))
        found = {}
        for servo, ident, scale, goal in zip(
            self.samples.servos, self.config.ids, self.config.scales, driver.memory.goal, strict=True
        ):
            if not servo.suspect and servo.age(now) <= self.config.suspect_after:
                found[ident] = scale.goal(goal)
        return found

    def park(self, now: float) -> str:
        """Begin the way to rest; returns why not, empty when it began."""
        driver = self.driver
        if driver is None or not self.connected or not driver.memory.torque_on or driver.memory.estop or self.fault:
            return "nothing to park: no torque, e-stop or fault"
        goal, config = driver.memory.goal, self.config
        self.parking = parking.plan(goal, within(config.scales, goal, config.rest), now, config.park_speed, config.park_time)
        if self.parking is None:
            return f"rest is farther than {self.config.park_time:g} s at {self.config.park_speed:g} rad/s; the arm holds"
        return ""

    def rested(self, now: float) -> str:
        """Return why torque may not go off at the end of the way to rest, empty when the arm lies there."""
        measured = self.measured()
        if self.parking is None or measured is None:
            return f"parking was cut short ({self._held() or 'e-stop, or torque asked anew'}); the arm holds"
        unsure = [
            n for n, s in zip(self.config.joints, self.samples.servos) if s.suspect or s.age(now) > self.config.sample_timeout
        ]
        if unsure:
            return f"nobody knows where {', '.join(unsure)} is; the arm holds"
        return parking.unrested(self.parking, self.config.joints, measured, self.config.park_near, now)

    def measured(self) -> tuple[float, ...] | None:
        """Return the newest joint positions [rad], None before every servo was heard."""
        positions = self.samples.positions
        return None if positions is None else tuple(s.radians(p) for s, p in zip(self.config.scales, positions))
