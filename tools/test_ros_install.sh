# Sourced by ./teleop test: the pure tests with the versions that a ROS install leaves room for (numpy 1.26, Pinocchio 2.7),
# in an environment of their own. Needs no ROS; the network on first use only.

ros_install_ring() { # ros_install_ring PYTEST_OPTION...
  local aside=$venv/ros-install lock=$root/requirements/lock-ros-install.txt packages=()
  say "== pure tests beside a ROS install's numpy"
  aside_pip() { "$aside/bin/python" -m pip install --disable-pip-version-check --progress-bar off "$@"; }
  install_aside() {
    fresh_venv "$aside" && aside_pip -c "$lock" -r "$root/requirements/app.txt" -r "$root/requirements/test.txt" \
      && aside_pip --no-deps -r "$root/requirements/nodeps.txt"
  }
  step ros-install "$(hash_of "$root"/requirements/{app,test,nodeps,lock-ros-install}.txt)" \
    "check the network, or the versions in ${lock#"$root"/}" install_aside
  packages=("$root"/src/*/)
  # nothing of the other environment: neither its ROS nor its packages; a test that needs ROS is not pure, and skips
  (cd "$root" && env -u LD_LIBRARY_PATH -u AMENT_PREFIX_PATH PYTHONPATH="$(IFS=:; echo "${packages[*]%/}")" \
    "$aside/bin/python" -m pytest -q -n 2 "$@" src/*/test/unit)
}
