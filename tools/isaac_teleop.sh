# Sourced by ./teleop test: Isaac Teleop and FlatBuffers' compiler in an environment of their own (the network on first use only).
# Where they cannot be installed, the test that needs them skips.

isaac_teleop() {
  local aside=$venv/isaac-teleop wanted=$root/requirements/isaac-teleop.txt
  install_isaac_teleop() {
    local base
    base=$("$venv/bin/python" -c 'import sys; print(sys._base_executable)') && rm -rf "$aside" && "$base" -m venv "$aside" \
      && "$aside/bin/python" -m pip install --disable-pip-version-check --progress-bar off --no-deps -r "$wanted" \
      || { rm -rf "$aside"; return 1; }
  }
  # in a subshell: a step that fails ends the shell it runs in
  (step isaac-teleop "$(hash_of "$wanted")" "the test against the real Isaac Teleop skips" install_isaac_teleop) || true
}
