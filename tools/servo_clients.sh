# Sourced by ./teleop test: published clients of the servo bus in an environment of their own (the network on first use only).
# Where they cannot be installed, the test that needs them skips.

servo_clients() {
  local aside=$venv/servo-clients wanted=$root/requirements/servo-clients.txt
  install_clients() {
    local base
    base=$("$venv/bin/python" -c 'import sys; print(sys._base_executable)') && rm -rf "$aside" && "$base" -m venv "$aside" \
      && "$aside/bin/python" -m pip install --disable-pip-version-check --progress-bar off --no-deps -r "$wanted" \
      || { rm -rf "$aside"; return 1; }
  }
  # in a subshell: a step that fails ends the shell it runs in
  (step servo-clients "$(hash_of "$wanted")" "the test against published servo clients skips" install_clients) || true
}
