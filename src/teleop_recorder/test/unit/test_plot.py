"""Takes drawn."""

import json
import re

import numpy as np
import pytest
from PIL import Image
from recorder_bench import make_bench

from teleop_common.enums import EpisodeCommand
from teleop_recorder import cli, layout, reading
from teleop_recorder.plot import panels


@pytest.fixture
def session(tmp_path):
    bench = make_bench(tmp_path, session="s")
    bench.do(EpisodeCommand.START, "</script> & more")
    bench.step(200)
    bench.do(EpisodeCommand.CLOSE_SESSION)
    return layout.find(tmp_path / "s")


def test_take_is_drawn_as_picture_and_page(session):
    assert cli.main(["plot", str(session.folder)]) == 0
    with Image.open(session.folder / "plots/episode_00000.png") as picture:
        colours = {colour for _, colour in picture.convert("RGB").getcolors(1 << 20)}
    for wanted in (panels.ASKED, panels.TOLD, panels.MEASURED):
        assert tuple(bytes.fromhex(wanted[1:])) in colours
    page = (session.folder / "plots/episode_00000.html").read_text()
    data = json.loads(re.search(r"const panels = (.*);\n", page)[1])
    assert [p["title"] for p in data][-3:] == ["clearance [mm]", "rates [Hz]", "delays [ms]"]
    assert len(data) == 12 + 3
    # the task cannot end the script
    assert page.count("</script>") == 1
    assert "http" not in page


def test_delays_are_those_of_the_stamps(session):
    with reading.episodes(session) as found:
        lines = {line.name: line for line in panels.panels(found[0])[-1].lines}
        rates = {line.name: line for line in panels.panels(found[0])[-2].lines}
    assert lines["frame to command"].y == pytest.approx(3.0)
    assert lines["command to recorder"].y == pytest.approx(2.0)
    assert lines["left age of the measurement"].y == pytest.approx(5.0)
    assert rates["commits"].y[-1] == pytest.approx(100.0, abs=1.5)


@pytest.mark.parametrize("delay", [0.0, 0.06, 0.2])
def test_lag_of_the_encoders_is_found(delay):
    time = np.arange(0.0, 6.0, 0.01)

    def swing(t):
        return np.stack([np.sin(1.3 * t), 0.5 * np.sin(2.1 * t + 1)], axis=1)

    assert panels.lag(time, swing(time), swing(time - delay) - 0.02) == pytest.approx(delay, abs=0.011)


def test_lag_of_what_does_not_move_is_unknown():
    time = np.arange(0.0, 6.0, 0.01)
    still = np.ones((600, 2))
    assert panels.lag(time, still, still) is None
