"""Actions, and which input of which interaction profile each is bound to (OpenXR 1.1, "Interaction Profile Paths").

Every profile is suggested by itself: one that a runtime does not know takes none of the others with it.
"""

from __future__ import annotations

from typing import NamedTuple

POSE, ANALOG, VECTOR, CLICK, OUTPUT = "pose", "analog", "vector", "click", "output"
ACTIONS = {
    "grip": POSE,
    "aim": POSE,
    "trigger": ANALOG,
    "squeeze": ANALOG,
    "thumbstick": VECTOR,
    "primary": CLICK,
    "secondary": CLICK,
    "thumbstick_click": CLICK,
    "menu": CLICK,
    "haptic": OUTPUT,
}
_POSES = {"grip": "input/grip/pose", "aim": "input/aim/pose"}
_HAPTIC = {"haptic": "output/haptic"}
_ANALOG = {"trigger": "input/trigger/value", "squeeze": "input/squeeze/value"}
_STICK = {"thumbstick": "input/thumbstick", "thumbstick_click": "input/thumbstick/click"}
_BASE = _POSES | _HAPTIC | _STICK
_AB = {"primary": "input/a/click", "secondary": "input/b/click"}
_XY = {"primary": "input/x/click", "secondary": "input/y/click"}
_MENU = {"menu": "input/menu/click"}
# the right controller's menu button belongs to the system
_TOUCH = {"left": _BASE | _ANALOG | _XY | _MENU, "right": _BASE | _ANALOG | _AB}


class Profile(NamedTuple):
    """One interaction profile.

    Attributes:
        path: its path.
        extension: extension that a runtime must offer for it, or empty.
        hands: for each hand, the input of each action.
    """

    path: str
    extension: str
    hands: dict[str, dict[str, str]]

    def rows(self) -> list[tuple[str, str]]:
        """Return (action, full path) of every binding."""
        return [(action, f"/user/hand/{hand}/{part}") for hand, table in self.hands.items() for action, part in table.items()]


def _both(table: dict[str, str]) -> dict[str, dict[str, str]]:
    return {"left": table, "right": table}


_P = "/interaction_profiles/"
PROFILES = (
    Profile(_P + "oculus/touch_controller", "", _TOUCH),
    Profile(_P + "meta/touch_plus_controller", "", _TOUCH),
    Profile(_P + "meta/touch_controller_plus", "XR_META_touch_controller_plus", _TOUCH),
    Profile(_P + "meta/touch_pro_controller", "", _TOUCH),
    Profile(_P + "facebook/touch_controller_pro", "XR_FB_touch_controller_pro", _TOUCH),
    Profile(_P + "valve/index_controller", "", _both(_BASE | _ANALOG | _AB)),
    Profile(
        _P + "microsoft/motion_controller", "",
        _both(_BASE | _MENU | {"trigger": "input/trigger/value", "squeeze": "input/squeeze/click"}),
    ),
    Profile(_P + "khr/simple_controller", "", _both(_POSES | _HAPTIC | _MENU | {"trigger": "input/select/click"})),
    Profile(
        _P + "ext/hand_interaction_ext", "XR_EXT_hand_interaction",
        _both(_POSES | {"trigger": "input/pinch_ext/value", "squeeze": "input/grasp_ext/value"}),
    ),
    Profile(
        _P + "microsoft/hand_interaction", "XR_MSFT_hand_interaction",
        _both(_POSES | {"trigger": "input/select/value", "squeeze": "input/squeeze/value"}),
    ),
)  # fmt: skip
EXTENSIONS = tuple(sorted({profile.extension for profile in PROFILES if profile.extension}))
