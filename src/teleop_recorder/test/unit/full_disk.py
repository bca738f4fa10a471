"""A recorder on a small file system of its own that fills up in a take: full_disk.py FOLDER FREE, FREE [bytes] left then."""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from writer import Writer  # noqa: E402

from teleop_common.enums import EpisodeCommand  # noqa: E402


def main():
    root, left = Path(sys.argv[1]), int(sys.argv[2])
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(root)], check=True)
    writer = Writer(root)
    writer.do(EpisodeCommand.START)
    for _ in range(60):
        writer.step()
    writer.do(EpisodeCommand.END)
    writer.do(EpisodeCommand.START)
    for _ in range(40):
        writer.step()
    free = os.statvfs(root)
    (root / "ballast").write_bytes(b"\1" * max(free.f_bavail * free.f_bsize - left, 0))
    for _ in range(2000):
        writer.step()
        if writer.core.take is None:
            break
    print(writer.core.state(0).error)
    (root / "ballast").unlink()
    writer.do(EpisodeCommand.START)
    for _ in range(30):
        writer.step()
    writer.do(EpisodeCommand.CLOSE_SESSION)
    subprocess.run(["cp", "-r", str(root / "killed"), str(root / "killed_2"), sys.argv[3]], check=True)


if __name__ == "__main__":
    main()
