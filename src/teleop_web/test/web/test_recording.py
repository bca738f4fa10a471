"""A real Quest 3's recording, played as the headset: controllers laid down, replaced by hands and back, sources renumbered.

The recording is not part of the repository; the test skips where it does not lie beside it.
"""

import json
import time
from pathlib import Path

import pytest

from teleop_common.enums import PoseFlags
from teleop_web import testing

RECORDING = next(Path(__file__).parents[5].glob("*/data/real/iwer_quest3/iwer_quest3_capture.json"), None)


@pytest.mark.skipif(RECORDING is None, reason="the recording of a real Quest 3 does not lie beside the repository")
def test_recorded_headset_never_swaps_hands_and_bare_hands_are_absent(browser, probe, gateway, frames):
    recording = json.loads(RECORDING.read_text())
    with testing.headset(browser, gateway, hz=72) as quest:
        probe.until(lambda: frames, what="frames")
        quest.play(recording)
        time.sleep(0.3)  # what was on its way is still of the emulator's own controllers
        start = len(frames)
        assert quest.get("__xr.playing()")
        probe.until(lambda: not quest.get("__xr.playing()"), 40.0, "end of the recording")
        assert quest.errors() == []
    played = frames[start:]
    kinds = dict(recording["schema"])
    seen = {"left": [], "right": []}
    for row in recording["frames"]:
        for source in row[8:]:
            if not kinds[source[0]]["hasHand"]:
                seen[kinds[source[0]]["handedness"]].append(tuple(source[8][:3]))
    for side, positions in seen.items():
        connected = [f.hand(side) for f in played if f.hand(side).connected]
        assert connected
        xs, ys, zs = zip(*positions)
        # every published grip lies where that hand's controller was, within the box of its recorded positions
        for hand in connected:
            assert hand.grip.flags in (0, int(PoseFlags.ALL))
            if hand.grip.flags:
                x, y, z = hand.grip.pose.position
                assert min(xs) - 1e-3 <= x <= max(xs) + 1e-3
                assert min(ys) - 1e-3 <= y <= max(ys) + 1e-3
                assert min(zs) - 1e-3 <= z <= max(zs) + 1e-3
        assert max(h.squeeze for h in connected) > 0.6
    assert any(f.right.secondary for f in played)
    assert not any(f.left.secondary for f in played)
    assert any(not f.left.connected and not f.right.connected for f in played[:-10])
