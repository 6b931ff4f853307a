#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the Python wheel of the library that a preset has built, into wheelhouse/: docs/python.md.
#
#   scripts/wheel.sh [--preset NAME] [--cuda [--architectures "80 120"]] [--python PROGRAM]
#                    [--installed-tools] [--no-build]
#
#   --preset NAME     the preset whose library is linked (default: openmp)
#   --cuda            the plug-in isocenter-cu13, of the library of the preset cuda: code of the GPU
#                     at hand (else of ISO_CUDA_ARCH, 90 by default) and PTX, of which the driver
#                     makes code of later ones
#   --architectures   further compute capabilities that it has code of, without the dot; the library
#                     is then built anew, in a folder of its own
#   --python PROGRAM  the Python that the wheel is for (default: python3)
#   --installed-tools build with the scikit-build-core and nanobind that this Python has; no network
#   --no-build        link what the preset has built, without asking whether it is up to date
#
# None of the library's sources is compiled for the wheel. ISO_JOBS=4: parallel compile jobs.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset="" python=python3 build=1 cuda="" installed="" architectures=""
while [ $# -gt 0 ]; do
  case "$1" in
    --preset | --python | --architectures)
      [ -n "${2:-}" ] || misused "$1 needs a name (none follows it); see scripts/wheel.sh --help"
      case "$1" in --preset) preset=$2 ;; --python) python=$2 ;; *) architectures=$2 ;; esac
      shift 2
      ;;
    --no-build) build="" && shift ;;
    --cuda) cuda=1 && shift ;;
    --installed-tools) installed=1 && shift ;;
    -h | --help) sed -n '3,18s/^# \{0,1\}//p' "$0" && exit 0 ;;
    *) misused "unknown argument: $1 (it is no option); see scripts/wheel.sh --help" ;;
  esac
done
preset=${preset:-$([ -n "$cuda" ] && echo cuda || echo openmp)}
check_preset "$preset"
source=python package=isocenter
if [ -n "$cuda" ]; then source=python/cuda package=isocenter_cu13; fi
cd "$ISO_TOP"

read -ra architectures <<<"${architectures//,/ }"
for architecture in "${architectures[@]}"; do
  [[ $architecture =~ ^[1-9][0-9]{1,2}a?$ ]] ||
    misused "--architectures '$architecture' (a compute capability is like 80); see scripts/wheel.sh --help"
done
[ -z "${architectures[*]}" ] || [ -n "$cuda" ] ||
  misused "--architectures without --cuda (the other wheel has no code of GPUs); give both"
built=$preset
for architecture in "${architectures[@]}"; do
  built+=-$architecture
  # nvcc_wrapper takes one architecture; nvcc reads this, and so may not be answered from a cache.
  export NVCC_APPEND_FLAGS="${NVCC_APPEND_FLAGS:-} -gencode arch=compute_$architecture,code=sm_$architecture"
  export CCACHE_NAMESPACE=$built
done

# What the folders that are installed below hold. The readers of volumes and the tool, which need
# packages that machines with a GPU often lack, are not among them; ranks need MPI.
folders=(core backends model algorithms documents)
parts=(iso_algorithms iso_ceilings iso_synthetic iso_documents iso_mpi)
if [ -n "$build" ]; then
  mkdir -p "$ISO_DEPS"
  log=$ISO_DEPS/configure-$built.log
  cmake --preset "$preset" -B "build/$built" >"$log" 2>&1 || {
    tail -n 25 "$log" >&2
    rm -f "$ISO_DEPS/stamp/packages"
    fail "preset $preset did not configure (log: $log)" \
      "Where a package was not found: run the same command again, it looks for missing packages anew."
  }
  known=$(cmake --build "build/$built" --target help)
  targets=()
  for part in "${parts[@]}"; do
    if grep -qE "^([.]{3} )?$part(:|\$)" <<<"$known"; then targets+=("$part"); fi
  done
  cmake --build "build/$built" -j "$(job_count)" --target "${targets[@]}"
fi
[ -e "build/$built/cmake_install.cmake" ] ||
  fail "the preset $preset is not built (build/$built is not there)" "Run scripts/wheel.sh without --no-build."
[ -e "build/$built/documents/cmake_install.cmake" ] ||
  fail "build/$built has no iso::documents (ISO_BUILD_DOCUMENTS, _FILES and _APPS are off)" \
    "Configure it with -DISO_BUILD_DOCUMENTS=ON."

# One environment of build tools for each Python.
name=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])') ||
  fail "$python does not run" "Name another one by --python."
top=$ISO_TOP/build/python
tools=$top/tools-$name
pip=("$tools/bin/pip") tag=$tools/bin/python
key=$(key_of "$(cat python/pyproject.toml)")
if [ -n "$installed" ]; then
  pip=("$python" -m pip) tag=$python
  "$python" -c 'import nanobind, scikit_build_core' 2>/dev/null ||
    fail "$python has no scikit-build-core or nanobind" "Leave --installed-tools out, or install them."
  mkdir -p "$top"
elif [ "$(cat "$tools/stamp" 2>/dev/null)" != "$key" ]; then
  say "build tools for $name"
  "$python" -m venv --clear "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check 'scikit-build-core>=1.1' 'nanobind>=3.1' ||
    fail "pip could not install scikit-build-core and nanobind" "Check the network and pip's settings."
  printf '%s' "$key" >"$tools/stamp"
fi

# Anew: what an installation before held may not be there now.
prefix=$top/prefix-$built
rm -rf "$prefix"
install_library() {
  local folder only
  for folder in "${folders[@]}" .; do
    only=$([ "$folder" != . ] || echo ON) # of the top folder its own files alone
    cmake -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LOCAL_ONLY="$only" \
      -P "build/$built/$folder/cmake_install.cmake" || return 1
  done
}
install_library >"$top/install.log" 2>&1 ||
  fail "the library could not be installed into build/python (log: build/python/install.log)" \
    "Read the end of that file. With --no-build: build the preset first."

jobs=$(job_count)
launcher=""
if have ccache; then launcher=ccache; fi
mkdir -p wheelhouse
say "wheel for $name: bindings alone are compiled"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
CMAKE_BUILD_PARALLEL_LEVEL=$jobs "${pip[@]}" wheel --quiet --disable-pip-version-check --no-deps \
  --no-build-isolation --wheel-dir "$made" \
  -C "build-dir=$top/$built-$name" -C "cmake.define.Isocenter_ROOT=$prefix" \
  -C "cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=$launcher" \
  -C "wheel.tags=$("$tag" python/tag.py)" "./$source" >"$top/wheel.log" 2>&1 || {
  tail -n 30 "$top/wheel.log" >&2
  fail "the wheel was not built (log: build/python/wheel.log)" "Read the end of that file."
}
for wheel in "$made"/"$package"-*.whl; do
  result=wheelhouse/$(basename "$wheel")
  "$tag" python/repack.py "$wheel" "$result"
  say "$result: $(($(stat -c %s "$result") / 1024)) KB"
done
