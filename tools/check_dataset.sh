#!/usr/bin/env bash
# Holds an exported LeRobot data set against lerobot-doctor: tools/check_dataset.sh FOLDER
# With LEROBOT_PYTHON=/path/to/python of an environment that has lerobot[dataset], its loader and lerobot-lint (where installed) too.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: tools/check_dataset.sh FOLDER" >&2; exit 2; }
folder=$(cd "$1" && pwd)
doctor="$(cd "$(dirname "$0")/.." && pwd)/.venv/bin/lerobot-doctor"
[ -x "$doctor" ] || { echo "check_dataset: lerobot-doctor is not installed yet: any ./teleop command (such as ./teleop exec true) installs it" >&2; exit 2; }
report=$("$doctor" "$folder" 2>&1) && status=0 || status=$?
echo "$report"
[ "$status" -eq 0 ] || exit "$status"
if grep -qw FAIL <<< "$report"; then exit 1; fi
[ -n "${LEROBOT_PYTHON:-}" ] || { echo "lerobot's own loader: not tried, LEROBOT_PYTHON is not set"; exit 0; }
HF_HUB_OFFLINE=1 "$LEROBOT_PYTHON" - "$folder" <<'PY'
import sys

from lerobot.datasets.lerobot_dataset import LeRobotDataset

try:
    import torchcodec.decoders

    backend = None
except (ImportError, RuntimeError):  # it needs the system's FFmpeg; PyAV brings its own
    backend = "pyav"
found = LeRobotDataset("local/exported", root=sys.argv[1], video_backend=backend)
for number in (0, len(found) // 2, len(found) - 1):
    row = found[number]
print(f"lerobot's own loader: {found.num_episodes} episodes, {len(found)} rows, of {sorted(row)}")
PY
lint="$(dirname "$LEROBOT_PYTHON")/lelint"
if [ -x "$lint" ]; then
  hub=$(mktemp -d)
  trap 'rm -rf "$hub"' EXIT
  mkdir "$hub/local" && ln -s "$folder" "$hub/local/exported"
  HF_LEROBOT_HOME=$hub HF_HUB_OFFLINE=1 "$lint" check local/exported --profile so101
fi
