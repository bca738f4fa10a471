"""Parameters of the node ``guard``."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common.params import param
from teleop_safety.settings import Settings


@dataclass(frozen=True)
class GuardParams:
    """What a person may change."""

    arms: tuple[str, ...] = param(("left", "right"), "arms to guard")
    limits_file: str = param("", "limits file of the robot; empty: the installed limits/so101.yaml")
    cell_file: str = param("", "cell file; empty: the installed cell.yaml")
    leash: str = param(
        "simulation", "which leash of the limits file binds targets to the measured joints", choices=("simulation", "hardware")
    )
    pose: str = param("grip", "controller pose that must be tracked to drive", choices=("grip", "aim"))
    collision: bool = param(True, "the collision filter; off is shown everywhere")
    geometry: str = param(
        "pieces",
        "what the collision filter measures: convex pieces of the links (hulls until they are made), their hulls, or capsules",
        choices=("pieces", "hulls", "capsules"),
    )
    margin: float = param(0.015, "clearance that a step may not go below", unit="m", minimum=0.0, maximum=0.2)
    slide: bool = param(True, "lead what the collision filter cuts off along what blocks it, instead of holding")
    floor: float = param(0.001, "least height of any moving link above the bench", unit="m", minimum=-0.05, maximum=0.2)
    squeeze_close: float = param(0.6, "squeeze above which a grip closes", minimum=0.05, maximum=1.0)
    squeeze_open: float = param(0.4, "squeeze below which a grip opens", minimum=0.0, maximum=0.95)
    countdown: float = param(1.0, "time from squeeze to driving", unit="s", minimum=0.0, maximum=10.0)
    grace: float = param(0.7, "how long lost tracking may last while driving", unit="s", minimum=0.0, maximum=5.0)
    stale: float = param(0.2, "largest age of frames, targets, joint and driver states", unit="s", minimum=0.02, maximum=1.0)
    session_stale: float = param(
        1.0, "largest age of the session's state, which comes at 5 Hz", unit="s", minimum=0.3, maximum=5.0
    )
    heading_age: float = param(
        1.0, "how long a lost head's heading still counts for a squeeze", unit="s", minimum=0.0, maximum=10.0
    )
    stall_time: float = param(0.5, "how long an arm far from its command may stand still", unit="s", minimum=0.1, maximum=5.0)
    stall_speed: float = param(0.05, "speed below which a joint stands still", unit="rad/s", minimum=0.001, maximum=1.0)
    home_speed: float = param(1.0, "largest speed of any joint on the way home", unit="rad/s", minimum=0.05, maximum=4.7)
    home_patience: float = param(
        2.0, "how long the way home may make no progress before it is given up", unit="s", minimum=0.5, maximum=30.0
    )
    owner_wait: float = param(
        2.0, "how long an owner may take from being given an arm to its first target", unit="s", minimum=0.2, maximum=60.0
    )
    effort_load: float = param(0.7, "share of a joint's torque above which it pushes hard", minimum=0.05, maximum=1.0)
    effort_error: float = param(
        0.1, "distance from its command above which pushing hard may be in vain", unit="rad", minimum=0.02, maximum=1.0
    )
    effort_still: float = param(
        0.05, "how far a joint that pushes in vain may move meanwhile", unit="rad", minimum=0.005, maximum=0.5
    )
    effort_time: float = param(0.3, "how long a joint may push hard in vain", unit="s", minimum=0.1, maximum=5.0)
    low_pass: float = param(0.01, "time constant of the target's low-pass", unit="s", minimum=0.0, maximum=1.0)
    tick_hz: float = param(
        100.0, "rate at which ages are checked and the last commit is repeated", unit="Hz", minimum=20.0, maximum=1000.0
    )
    reset_timeout: float = param(1.0, "how long an e-stop reset waits for the drivers", unit="s", minimum=0.1, maximum=10.0)

    def settings(self, leash: float) -> Settings:
        """Return the core's numbers, with the leash of the limits file [rad]."""
        return Settings(
            squeeze_close=self.squeeze_close,
            squeeze_open=self.squeeze_open,
            countdown=self.countdown,
            grace=self.grace,
            stale=self.stale,
            session_stale=self.session_stale,
            heading_age=self.heading_age,
            stall_time=self.stall_time,
            stall_speed=self.stall_speed,
            effort_load=self.effort_load,
            effort_error=self.effort_error,
            effort_still=self.effort_still,
            effort_time=self.effort_time,
            low_pass=self.low_pass,
            home_speed=self.home_speed,
            home_patience=self.home_patience,
            owner_wait=self.owner_wait,
            leash=leash,
            pose=self.pose,
            slide=self.slide,
        )
