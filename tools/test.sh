# Sourced by ./teleop test: the rings of the test suite.

find_chromium() { # path of a Chromium or Chrome, or nothing
  local name
  for name in ${CHROMIUM:-} chromium chromium-browser google-chrome google-chrome-stable; do type -P "$name" && return; done
  return 1
}

page() { # the page's own tests
  say "== page"
  (use_node && cd "$root/src/teleop_web/web" && npm test --silent)
}

ring() { # ring NAME PATH... : the tests below the paths that exist
  local name=$1 path paths=(); shift
  for path in "$@"; do [ -n "$(find "$path" -name 'test_*.py' -print -quit 2>/dev/null)" ] && paths+=("$path"); done
  [ ${#paths[@]} -gt 0 ] || { say "no tests in ring '$name'"; return 0; }
  say "== $name"
  python -m pytest -q "${options[@]}" "${pytest_options[@]}" "${paths[@]}"
}

fresh_venv() { # fresh_venv FOLDER : an environment beside ours, of the same Python
  local base
  base=$("$venv/bin/python" -c 'import sys; print(sys._base_executable)') && rm -rf "$1" && "$base" -m venv "$1"
}

aside() { # aside NAME WHAT : requirements/NAME.txt in an environment of its own (the network on first use only), else WHAT skips
  local folder=$venv/$1 wanted=$root/requirements/$1.txt
  install_beside() {
    fresh_venv "$folder" && "$folder/bin/python" -m pip install --disable-pip-version-check --progress-bar off --no-deps -r "$wanted" \
      || { rm -rf "$folder"; return 1; }
  }
  # in a subshell: a step that fails ends the shell it runs in
  (step "$1" "$(hash_of "$wanted")" "$2 skips" install_beside) || true
}

lint() {
  say "== lint"
  python -m ruff check -q . && python -m ruff format --check -q . && python -m mypy && python tools/reference.py --check
}

run_tests() {
  local which=${1:-all} failed=() underlay=()
  [ $# -gt 0 ] && shift
  case "$which" in
    unit | node | launch | web | openxr | ros-install | all | nightly) ;;
    *) fail "unknown test ring '$which': one of unit, node, launch, web, ros-install, openxr, nightly" ;;
  esac
  setup test
  cd "$root"
  pytest_options=("$@")
  ros_install || underlay=(underlay/*)
  . "$root/tools/test_ros_install.sh"
  if [ "$which" = nightly ] || [ "$which" = ros-install ]; then
    # the ordinary number of examples: numbers are tried elsewhere, here it is versions
    ros_install_ring "$@" || failed+=(ros-install)
  fi
  if [ "$which" = nightly ] || [ "$which" = openxr ]; then
    . "$root/tools/test_openxr.sh"
    openxr_ring "$@" || failed+=(openxr)
  fi
  if [ "$which" = nightly ]; then export HYPOTHESIS_PROFILE=nightly TELEOP_NIGHTLY=1; which=all; fi
  if [ "$which" = web ] || [ "$which" = all ]; then
    find_chromium >/dev/null || needs_system chromium 'type chromium' chromium \
      || fail "the browser tests need Chromium; install it (Debian/Ubuntu: sudo apt-get install chromium) or name one: CHROMIUM=/path"
    CHROMIUM=$(find_chromium); export CHROMIUM
  fi
  run_ring() { [ "$which" = all ] || [ "$which" = "$1" ] || return 0; shift; "$@" || failed+=("$2"); }
  run_ring unit lint lint
  options=(-n 2 --dist worksteal)
  run_ring unit ring unit "${underlay[@]/%//test/unit}" src/*/test/unit
  if [ "$which" = node ] || [ "$which" = all ]; then
    aside servo-clients "the test against published servo clients"
    aside isaac-teleop "the test against the real Isaac Teleop"
  fi
  # rings with real processes: a starved machine leaves gaps of 0.2 s, on which the guard rightly stops; once more, then it counts
  # tests of nodes mostly wait, each in a domain of its own: two at a time; those of the graph need both cores
  options=(--reruns 2 --reruns-delay 2 -n 2 --dist loadfile)
  run_ring node ring node "${underlay[@]/%//test/node}" src/*/test/node
  options=(--reruns 2 --reruns-delay 2)
  run_ring launch ring launch "${underlay[@]/%//test/launch}" src/*/test/launch
  run_ring web page page
  run_ring web ring web src/*/test/web
  [ ${#failed[@]} -eq 0 ] || fail "failed: ${failed[*]}"
}
