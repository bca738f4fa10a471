#!/usr/bin/env bash
# within.sh ROOT COMMAND... : runs a command in another Debian's root, with this workspace and its Python at the same paths
# and a network of its own that has loopback only. Nothing stays mounted or running when the command ends. Needs root.
set -euo pipefail
system=$1; shift
workspace=$(cd "$(dirname "$0")/.." && pwd)
prefix=$("$workspace/.venv/bin/python" -c 'import sys; print(sys.base_prefix)')
version=$("$workspace/.venv/bin/python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
# of a Python that belongs to the system, only itself: the rest of /usr is the other Debian's
if [ "$prefix" = /usr ]; then binds="/usr/bin/python3 /usr/bin/$version /usr/lib/$version"; else binds=$prefix; fi
export system binds="$binds $workspace ${XDG_RUNTIME_DIR:-}" here=$PWD
exec unshare --mount --net --pid --fork --kill-child -- bash -c '
  set -euo pipefail
  mount --make-rprivate /
  ip link set lo up
  mount -t proc proc "$system/proc"
  mount --rbind /dev "$system/dev"
  mount -t tmpfs tmpfs "$system/run"
  mount -t tmpfs tmpfs "$system/tmp"
  for path in $binds; do
    if [ -d "$path" ]; then mkdir -p "$system$path"; else mkdir -p "$(dirname "$system$path")"; touch "$system$path"; fi
    mount --bind "$path" "$system$path"
  done
  export HOME=/tmp LANG=C.UTF-8
  exec chroot "$system" bash -c "cd \"\$here\" && exec \"\$@\"" within "$@"
' within "$@"
