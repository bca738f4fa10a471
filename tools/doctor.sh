#!/usr/bin/env bash
# Checks this machine for what the graph needs and says what to do. Installs nothing; needs nothing installed.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tools/setup.sh"
bad=0
ok() { printf '  ok    %-14s %s\n' "$1" "$2"; }
warn() { printf '  warn  %-14s %s\n' "$1" "$2"; }
no() { printf '  FAIL  %-14s %s\n' "$1" "$2"; bad=1; }

echo "machine"
case "$(uname -sm)" in
  "Linux x86_64") ok platform "$(uname -sm), $(nproc) cores" ;;
  *) if ros_install; then ok platform "$(uname -sm), with a ROS install"; else no platform "$(uname -sm): the ROS wheels on PyPI are for Linux x86_64; install ROS 2 Jazzy and source it first"; fi ;;
esac
if python=$(find_python 2>/dev/null); then ok python "$python ($("$python" --version 2>&1))"; else no python "need 3.11, 3.12 or 3.13: sudo apt-get install python3.11-venv"; fi
if [ -n "$python" ]; then
  if has_headers "$python"; then ok headers "of $("$python" --version)"; else no headers "none: sudo apt-get install $(headers_package "$python")"; fi
fi
if command -v c++ >/dev/null; then ok compiler "$(c++ --version | head -1)"; else no compiler "none: sudo apt-get install g++"; fi
free=$(df -Pk "$root" | awk 'NR==2 {print int($4 / 1048576)}')
if [ "$free" -ge 3 ]; then ok disk "$free GiB free"; else no disk "$free GiB free below $root, 3 needed"; fi

echo "ROS"
if ros_install; then ok source "$ROS_DISTRO install, sourced"; else ok source "PyPI (no Jazzy or Kilted sourced)"; fi
# what is built is only good while what it was built from is the same, as in setup
built() { # built NAME STEP FILE INPUTS : whether FILE is there, made by STEP from what INPUTS prints now
  if [ ! -f "$3" ]; then warn "$1" "not built yet: any ./teleop command (such as ./teleop exec true) builds it"
  elif [ "$(cat "$stamps/$2" 2>/dev/null)" != "$($4 | sha256sum | cut -c1-16)" ]; then
    warn "$1" "built from other sources than those here: any ./teleop command (such as ./teleop exec true) rebuilds it"
  else ok "$1" built; fi
}
built workspace workspace "$root/install/local_setup.bash" workspace_inputs
built page page "$root/src/teleop_web/web/dist/vr.html" web_inputs
ok discovery "range ${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}, domain ${ROS_DOMAIN_ID:-0}"
if [ "$(cat /sys/class/net/lo/operstate 2>/dev/null)" = down ]; then no loopback "interface lo is down: ip link set lo up"; else ok loopback "up"; fi
shm=$(df -Pk /dev/shm 2>/dev/null | awk 'NR==2 {print int($4 / 1024)}')
if [ "${shm:-0}" -ge 64 ]; then ok shm "$shm MiB free in /dev/shm (DDS uses it)"; else warn shm "only ${shm:-0} MiB free in /dev/shm; in a container add --shm-size=256m"; fi

echo "simulation"
if sh -c "$egl_test" >/dev/null 2>&1; then ok EGL "found; MUJOCO_GL=${MUJOCO_GL:-egl}"; else warn EGL "none, cameras cannot render: sudo apt-get install $gl_packages, or cameras:=false"; fi

echo "headset"
for port in 8443 8080; do
  if command -v ss >/dev/null && ss -ltn 2>/dev/null | awk '{print $4}' | grep -qE ":$port\$"; then warn "port $port" "in use: stop what holds it, or use https_port:= / http_port:="; else ok "port $port" free; fi
done
certificate=${XDG_CONFIG_HOME:-$HOME/.config}/xr-teleop/cert.pem
if [ -f "$certificate" ]; then
  if [ -r "$certificate" ]; then ok certificate "$certificate"; else no certificate "$certificate is not readable: chmod u+r it, or remove it and a new one is made"; fi
else ok certificate "made on first use"; fi
if command -v node >/dev/null; then ok node "$(node --version)"; else ok node "none; the page's build takes it from PyPI"; fi
ok addresses "$(hostname -I 2>/dev/null | tr ' ' '\n' | grep -v ':' | head -3 | tr '\n' ' ')"

echo "hardware"
found=0
for port in /dev/ttyACM* /dev/ttyUSB*; do
  [ -e "$port" ] || continue
  found=1
  if [ -r "$port" ] && [ -w "$port" ]; then ok serial "$port"; else no serial "$port: no rights; sudo usermod -aG dialout $(id -un), then log in again"; fi
done
[ $found = 1 ] || ok serial "no serial port plugged in (not needed for simulation)"

[ $bad = 0 ] && echo "ready: ./teleop sim" || echo "mend what says FAIL, then run ./teleop doctor again"
exit $bad
