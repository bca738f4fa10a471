"""Videos of takes: times, sizes, encoders that are too slow or fail."""

import io
import json
import threading
import time

import av
import h5py
import pytest
from PIL import Image
from recorder_bench import make_bench, stamp

from teleop_common.enums import EpisodeCommand
from teleop_recorder.pictures import Picture
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


def test_bytes_that_are_no_picture_are_counted_and_the_videos_go_on(tmp_path):
    encoders = Encoders({c: tmp_path / f"{c}.mp4" for c in ("top", "wrist")}, "h264_fast")
    for n in range(6):
        for camera in ("top", "wrist"):
            bad = camera == "top" and n in (0, 3)
            assert encoders.add(camera, jpeg(40 * n)[:40] if bad else jpeg(40 * n), stamp(n)) == n
    assert encoders.close() == {"top": [-1, 0, 1, -1, 2, 3], "wrist": [0, 1, 2, 3, 4, 5]}
    assert encoders.error == "camera top: 2 pictures that cannot be read"
    assert [grey for _, grey in decoded(tmp_path / "top.mp4")] == pytest.approx([40, 80, 160, 200], abs=3)
    assert len(decoded(tmp_path / "wrist.mp4")) == 6


def test_video_that_fails_ends_alone_and_lets_the_take_end(tmp_path):
    encoders = Encoders({c: tmp_path / f"{c}.mp4" for c in ("odd", "even")}, "h264_fast", depth=4)
    for n in range(40):
        while encoders.add("even", jpeg(5 * n), stamp(n)) < 0:
            time.sleep(0.001)
        encoders.add("odd", jpeg(5 * n, (63, 48)), stamp(n))
    ended = threading.Thread(target=encoders.close, args=(5.0,), daemon=True)
    ended.start()
    ended.join(10.0)
    assert not ended.is_alive()
    assert "63x48, allowed even" in encoders.error
    assert len(decoded(tmp_path / "even.mp4")) == 40


def test_encoder_that_hangs_is_given_up_and_what_it_wrote_is_told(tmp_path, monkeypatch):
    go_on = threading.Event()
    add = Video.add

    def stuck(video, data, at):
        if video.count == 2:
            go_on.wait(10.0)
        add(video, data, at)

    monkeypatch.setattr(Video, "add", stuck)
    encoders = Encoders({"top": tmp_path / "a.mp4"}, "h264_fast", depth=2)
    for n in range(5):  # two written, one in hand, two in the queue, which is full then
        while encoders.add("top", jpeg(9), stamp(n)) < 0:
            time.sleep(0.001)
    found = encoders.close(0.2)["top"]
    go_on.set()
    assert found == [0, 1, -1, -1, -1]
    assert "needs more than 0.2 s" in encoders.error


def test_take_tells_the_numbers_that_pictures_really_have(tmp_path):
    bench = make_bench(tmp_path, cameras=("overhead",), video="h264_fast", session="s")
    bench.do(EpisodeCommand.START)
    for n in range(6):
        data = jpeg(40 * n)
        bench.recorder.take.picture("overhead", Picture(stamp(n), data[:40] if n == 2 else data), stamp(n) + 1)
        bench.step()
    assert "1 pictures that cannot be read" in bench.do(EpisodeCommand.END).message
    with h5py.File(tmp_path / "s/takes/episode_00000.hdf5") as file:
        assert file["cameras/overhead/video_frame"][:].tolist() == [0, 1, -1, 2, 3, 4]
        assert json.loads(file.attrs["grade"])["unencoded_pictures"] == {"overhead": 1}


def test_camera_that_is_late_is_shown_and_graded(tmp_path):
    bench = make_bench(tmp_path, cameras=("overhead",))
    bench.do(EpisodeCommand.START)
    bench.step(100)
    assert bench.recorder.state(stamp(100)).notice == ""
    bench.step(210)
    assert bench.recorder.state(stamp(310)).notice == "camera overhead: no picture for 3 s"
    assert "camera overhead at 0 of 10 Hz" in bench.do(EpisodeCommand.END).message
