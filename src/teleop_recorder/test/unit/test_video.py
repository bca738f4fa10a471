"""Videos of takes: times, sizes, encoders that are too slow or fail."""

import io
import time

import av
import pytest
from PIL import Image
from recorder_bench import make_bench, stamp

from teleop_common.enums import EpisodeCommand
from teleop_recorder.video import PRESETS, Encoders, Video


def jpeg(grey, size=(64, 48)):
    file = io.BytesIO()
    Image.new("RGB", size, (grey,) * 3).save(file, "JPEG", quality=95)
    return file.getvalue()


def decoded(path):
    with av.open(str(path)) as movie:
        return [(float(f.pts * f.time_base), f.to_ndarray(format="rgb24").mean()) for f in movie.decode(video=0)]


@pytest.mark.parametrize("preset", PRESETS)
def test_every_picture_comes_back_at_its_own_time(tmp_path, preset):
    times = [0.0, 0.05, 0.21, 0.22, 1.0]
    video = Video(tmp_path / "v/a.mp4", preset)
    for number, at in enumerate(times):
        video.add(jpeg(30 + 40 * number), stamp(0) + round(1e9 * at))
    video.close()
    found = decoded(tmp_path / "v/a.mp4")
    assert [t for t, _ in found] == pytest.approx(times, abs=1e-4)
    assert [grey for _, grey in found] == pytest.approx([30 + 40 * n for n in range(5)], abs=3)


def test_repeated_and_backward_stamps_leave_a_video_that_plays(tmp_path):
    video = Video(tmp_path / "a.mp4", "h264_fast")
    for number, at in enumerate([0, 50, 50, 20, 100]):
        video.add(jpeg(30 + 40 * number), stamp(0) + at * 1_000_000)
    video.close()
    times = [t for t, _ in decoded(tmp_path / "a.mp4")]
    assert len(times) == 5
    assert times == sorted(set(times))


def test_unfinished_video_plays_up_to_its_last_fragment(tmp_path):
    video = Video(tmp_path / "a.mp4", "h264_fast")
    for number in range(40):
        video.add(jpeg(5 * number), stamp(number))
    # as a kill leaves it: copied before it is closed
    (tmp_path / "killed.mp4").write_bytes((tmp_path / "a.mp4").read_bytes())
    video.close()
    assert len(decoded(tmp_path / "killed.mp4")) >= 20


def test_encoder_that_cannot_keep_up_counts_what_it_left_out(tmp_path):
    encoders = Encoders({"top": tmp_path / "a.mp4"}, "h264", depth=2)
    numbers = [encoders.add("top", jpeg(n % 250, (640, 480)), stamp(n)) for n in range(60)]
    encoders.close()
    kept = [n for n in numbers if n >= 0]
    assert -1 in numbers
    assert kept == list(range(len(kept)))
    assert len(decoded(tmp_path / "a.mp4")) == len(kept)


def test_bytes_that_are_no_picture_end_the_video_and_not_the_take(tmp_path):
    encoders = Encoders({"top": tmp_path / "a.mp4"}, "h264_fast")
    encoders.add("top", jpeg(10), stamp(0))
    encoders.add("top", b"no picture", stamp(1))
    for _ in range(100):
        if encoders.error:
            break
        time.sleep(0.02)
    assert "top" in encoders.error
    assert encoders.add("top", jpeg(10), stamp(2)) == -1
    encoders.close()


def test_camera_that_is_late_is_shown_and_graded(tmp_path):
    bench = make_bench(tmp_path, cameras=("overhead",))
    bench.do(EpisodeCommand.START)
    bench.step(100)
    assert bench.recorder.state(stamp(100)).notice == ""
    bench.step(210)
    assert bench.recorder.state(stamp(310)).notice == "camera overhead: no picture for 3 s"
    assert "camera overhead at 0 of 10 Hz" in bench.do(EpisodeCommand.END).message
