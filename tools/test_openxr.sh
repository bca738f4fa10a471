# Sourced by ./teleop test: tests against a real OpenXR runtime, Monado with its remote-driven headset and controllers. A
# Debian that has Monado runs it as it is; Debian 12 and others run it in a small Debian 13 of its own, made by debootstrap.

monado_packages=(monado-service libopenxr1-monado mesa-vulkan-drivers)
# what the graph needs in a bare root: OpenMP for Pinocchio, ip for a network of its own
bare_packages=("${monado_packages[@]}" libgomp1 iproute2 ca-certificates)

openxr_ring() { # openxr_ring PYTEST_OPTION...
  local manifest=/usr/share/openxr/1/openxr_monado.json icd=/usr/share/vulkan/icd.d/lvp_icd.json
  local system=$root/.cache/openxr/debian13 within=() folder
  say "== openxr"
  setup test openxr
  # nobody renders: a software Vulkan driver for the service's start, and no EGL
  local environment=(XR_RUNTIME_JSON="$manifest" VK_DRIVER_FILES="$icd" LP_NUM_THREADS=1 MUJOCO_GL=disable)
  if ! has_monado; then
    [ "$(id -u)" = 0 ] || { say "Monado is not in this system's packages; as root, a Debian 13 beside it is made for the tests"; return 1; }
    needs_system debootstrap 'command -v debootstrap' debootstrap || { say "install debootstrap"; return 1; }
    step openxr-debian13 "$(hash_of "${bare_packages[@]}")" "check the network" make_debian13 "$system"
    within=("$root/tools/within.sh" "$system")
  else
    needs_system monado 'command -v monado-service && ls /usr/share/openxr/1/openxr_monado.json' "${monado_packages[@]}" \
      || { say "install ${monado_packages[*]}"; return 1; }
  fi
  folder=$(mktemp -d /tmp/xr.XXXXXX)
  # a folder of its own, so that a Monado that someone uses here is neither found nor disturbed
  env "${environment[@]}" XDG_RUNTIME_DIR="$folder" "${within[@]}" python -m pytest -q --reruns 2 --reruns-delay 2 "$@" \
    "$root"/src/*/test/openxr
  local status=$?
  rm -rf "$folder"
  return $status
}

has_monado() { # whether this system has Monado, or its packages do
  command -v monado-service >/dev/null && return 0
  # a fresh image has no lists of packages yet
  [ "$(id -u)" = 0 ] && apt-get update -qq >/dev/null 2>&1
  [ -n "$(apt-cache policy monado-service 2>/dev/null)" ]
}

make_debian13() { # make_debian13 FOLDER
  rm -rf "$1" && mkdir -p "$1"
  debootstrap --variant=minbase --include="$(IFS=,; echo "${bare_packages[*]}")" trixie "$1"
  rm -rf "$1"/var/cache/apt/archives/*.deb "$1"/var/lib/apt/lists/*
}
