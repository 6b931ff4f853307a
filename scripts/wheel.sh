#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the Python wheel of the library that a preset has built, into wheelhouse/: docs/python.md.
#
#   scripts/wheel.sh [--preset NAME] [--python PROGRAM] [--no-build]
#
#   --preset NAME     the preset whose library is linked (default: openmp)
#   --python PROGRAM  the Python that the wheel is for (default: python3)
#   --no-build        link what the preset has built, without asking whether it is up to date
#
# None of the library's sources is compiled for the wheel. ISO_JOBS=4: parallel compile jobs.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=openmp python=python3 build=1
while [ $# -gt 0 ]; do
  case "$1" in
    --preset | --python)
      [ -n "${2:-}" ] || misused "$1 needs a name (none follows it); see scripts/wheel.sh --help"
      if [ "$1" = --preset ]; then preset=$2; else python=$2; fi
      shift 2
      ;;
    --no-build) build="" && shift ;;
    -h | --help) sed -n '3,11s/^# \{0,1\}//p' "$0" && exit 0 ;;
    *) misused "unknown argument: $1 (it is no option); see scripts/wheel.sh --help" ;;
  esac
done
check_preset "$preset"
cd "$ISO_TOP"

if [ -n "$build" ]; then
  "$ISO_TOP/scripts/build.sh" "$preset" iso_algorithms iso_ceilings iso_synthetic iso_documents iso_files iso
fi
[ -e "build/$preset/cmake_install.cmake" ] ||
  fail "the preset $preset is not built (build/$preset is not there)" "Run scripts/wheel.sh without --no-build."

# One environment of build tools for each Python.
name=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])') ||
  fail "$python does not run" "Name another one by --python."
top=$ISO_TOP/build/python
tools=$top/tools-$name
key=$(key_of "$(cat python/pyproject.toml)")
if [ "$(cat "$tools/stamp" 2>/dev/null)" != "$key" ]; then
  say "build tools for $name"
  "$python" -m venv --clear "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check 'scikit-build-core>=1.1' 'nanobind>=3.1' ||
    fail "pip could not install scikit-build-core and nanobind" "Check the network and pip's settings."
  printf '%s' "$key" >"$tools/stamp"
fi

prefix=$top/prefix-$preset
cmake --install "build/$preset" --prefix "$prefix" >"$top/install.log" ||
  fail "the library could not be installed into build/python (log: build/python/install.log)" \
    "Read the end of that file."

jobs=$(job_count)
launcher=""
if have ccache; then launcher=ccache; fi
mkdir -p wheelhouse
say "wheel for $name: bindings alone are compiled"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
CMAKE_BUILD_PARALLEL_LEVEL=$jobs "$tools/bin/pip" wheel --quiet --disable-pip-version-check --no-deps \
  --no-build-isolation --wheel-dir "$made" \
  -C "build-dir=$top/$preset-$name" -C "cmake.define.Isocenter_ROOT=$prefix" \
  -C "cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=$launcher" \
  -C "wheel.tags=$("$tools/bin/python" python/tag.py)" ./python >"$top/wheel.log" 2>&1 || {
  tail -n 30 "$top/wheel.log" >&2
  fail "the wheel was not built (log: build/python/wheel.log)" "Read the end of that file."
}
cp "$made"/isocenter-*.whl wheelhouse/
for wheel in "$made"/isocenter-*.whl; do
  say "wheelhouse/$(basename "$wheel"): $(($(stat -c %s "$wheel") / 1024)) KB"
done
