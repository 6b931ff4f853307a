#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes this machine able to build Isocenter; quick when it is. demo.sh and test.sh call it.
#
#   1. distribution packages: only those that CMake does not find; needs root rights, or prints the
#      one line to run
#   2. Python tools, into .deps/venv (scripts/requirements.txt), unless python3 and PATH have them
#   3. Kokkos 5 with OpenMP and Serial, and with CUDA too where nvcc and a GPU are found (setup_kokkos.sh);
#      with the argument --threads also the one of the presets `threads` and `clang`, with --cuda-check that of
#      the preset `cuda-check`
#
# ISO_CUDA=off         no CUDA build, though nvcc and a GPU are there
# ISO_CUDA=on          CUDA, where nvcc is there without a GPU
# ISO_CUDA_ARCH=80     likewise, for this GPU architecture (default 90)
# ISO_PYTHON=off       no Python tools (figures, formatting and lint then do not work)
# ISO_SOURCE_CACHE=DIR folder with a copy of the Kokkos release archive
# ISO_JOBS=4           parallel compile jobs (default: all processors)
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$ISO_TOP/scripts/setup_kokkos.sh"

# command:package of the tools, and all packages that scripts/probe may ask for
TOOLS="g++:g++ cmake:cmake ninja:ninja-build ccache:ccache git:git python3:python3"
LIBRARIES="libfmt-dev doctest-dev librapidcheck-dev libboost-dev libbenchmark-dev libcli11-dev
  libeigen3-dev nlohmann-json3-dev libvalijson-dev libspdlog-dev zlib1g-dev libtiff-dev libhdf5-dev
  libinsighttoolkit5-dev libdcmtk-dev"

missing_tools() {
  local pair
  for pair in $TOOLS; do have "${pair%%:*}" || printf '%s ' "${pair##*:}"; done
  # For .deps/venv. A python3 yet to be installed comes without it.
  if [ "${ISO_PYTHON:-on}" != off ] && ! python3 -c 'import venv, ensurepip' 2>/dev/null &&
    ! python_tools_present; then
    printf 'python3-venv '
  fi
}

# The packages that CMake does not find; all of them while there is no compiler to ask with.
missing_libraries() {
  local build=$ISO_DEPS/probe/packages generator=Ninja
  have ninja || generator="Unix Makefiles"
  if ! have g++ || ! have cmake || ! { have ninja || have make; }; then
    # shellcheck disable=SC2086
    printf '%s ' $LIBRARIES
    return
  fi
  rm -rf "$build"
  mkdir -p "$build"
  if ! cmake -S "$ISO_TOP/scripts/probe" -B "$build" -G "$generator" \
    >"$build/log.txt" 2>&1; then
    fail "CMake could not look for packages (log: $build/log.txt)" \
      "Read the end of that file; it names the package that is half installed."
  fi
  tr '\n' ' ' <"$build/missing.txt"
}

install_packages() {
  local line="apt-get install -y --no-install-recommends $*"
  have apt-get || fail "these packages are missing: $*" \
    "This machine has no apt-get. Install them with its own package manager (the names are" \
    "Debian's), or make CMake find them: CMAKE_PREFIX_PATH, modules, Spack."
  [ "$(id -u)" = 0 ] || fail "these packages are missing, and only root may install them: $*" \
    "Run this line, then the same command again:" \
    "sudo apt-get update && sudo $line"
  say "installing distribution packages: $*"
  local log=$ISO_DEPS/apt.log
  export DEBIAN_FRONTEND=noninteractive
  $line >"$log" 2>&1 || { apt-get update >>"$log" 2>&1 && $line >>"$log" 2>&1; } ||
    fail "apt-get could not install: $* (log: $log)" \
      "Read the end of that file; check the network and apt's sources."
}

packages_key() {
  key_of "$(cat "$ISO_TOP/scripts/probe/CMakeLists.txt")" "${CMAKE_PREFIX_PATH:-}" \
    "$(command -v g++ cmake)"
}

setup_packages() {
  local stamp=$ISO_DEPS/stamp/packages key tools libraries
  tools=$(missing_tools)
  key=$(packages_key)
  if [ -z "$tools" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$key" ]; then return; fi
  libraries=$(missing_libraries)
  if [ -n "${tools// /}${libraries// /}" ]; then
    # shellcheck disable=SC2086
    install_packages $tools $libraries
    tools=$(missing_tools)
    libraries=$(missing_libraries)
    [ -z "${tools// /}${libraries// /}" ] ||
      fail "installed, but still not found: $tools $libraries" \
      "Versions may be too old: see the log in $ISO_DEPS/probe/packages/log.txt."
  fi
  packages_key >"$stamp"
  say "distribution packages: all found"
}

# The machine's own python3 and PATH have what requirements.txt asks for.
python_tools_present() {
  python3 -c 'import matplotlib, numpy, h5py, scipy' 2>/dev/null && have gersemi && have codespell &&
    is_version_19 clang-format && is_version_19 clang-tidy
}

is_version_19() { have "$1" && [[ "$("$1" --version)" == *" version 19."* ]]; }

setup_python() {
  [ "${ISO_PYTHON:-on}" != off ] || return 0
  local venv=$ISO_DEPS/venv stamp=$ISO_DEPS/stamp/python log=$ISO_DEPS/pip.log key
  key=$(key_of "$(cat "$ISO_TOP/scripts/requirements.txt")" "$(command -v python3)" \
    "$(python3 --version)")
  if [ "$(cat "$stamp" 2>/dev/null)" = "$key" ]; then return; fi
  if python_tools_present; then
    say "Python tools: found on this machine"
  else
    say "Python tools: into .deps/venv"
    rm -rf "$venv"
    python3 -m venv "$venv" >"$log" 2>&1 ||
      fail "python3 could not make a virtual environment (log: $log)" \
        "Install the venv module of your Python (Debian: python3-venv), or set ISO_PYTHON=off."
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
      -r "$ISO_TOP/scripts/requirements.txt" >>"$log" 2>&1 ||
      fail "pip could not install scripts/requirements.txt (log: $log)" \
        "Check the network and pip's index; or set ISO_PYTHON=off to do without figures and lint."
  fi
  printf '%s\n' "$key" >"$stamp"
}

main() {
  mkdir -p "$ISO_DEPS/stamp"
  setup_packages
  setup_python
  setup_kokkos openmp
  if cuda_wanted; then setup_kokkos cuda; fi
  for kind in "${more[@]}"; do setup_kokkos "$kind"; done
}

more=()
while [ "${1:-}" = --threads ] || [ "${1:-}" = --cuda-check ]; do
  more+=("${1#--}")
  shift
done
take_no_argument "$@"
main
