#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Python wheel, installs it into an environment of its own and runs its tests there.
# scripts/test.sh --label python calls it, after the set-up.
#
#   scripts/test_python.sh [--preset NAME] [arguments of pytest...]
#   scripts/test_python.sh --cuda [--no-build] [arguments of pytest...]
#
#   --cuda       the wheel, the plug-in of the preset cuda, and the tests of the GPU, by the packages
#                that this Python has (nanobind, scikit-build-core, pytest, CuPy or PyTorch); no
#                network. Where the preset openmp is not configured, a wheel for this Python that lies
#                in wheelhouse/ is taken
#   --no-build   the plug-in links what the preset cuda has built
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=openmp cuda=""
case "${1:-}" in
  --cuda) cuda=1 && shift ;;
  -h | --help) sed -n '3,14s/^# \{0,1\}//p' "$0" && exit 0 ;;
  --preset)
    [ -n "${2:-}" ] || misused "--preset needs a name (none follows it); see scripts/test_python.sh --help"
    preset=$2
    shift 2
    ;;
esac
[ "$preset" != cuda ] || preset=openmp
cd "$ISO_TOP"
if [ -n "$cuda" ]; then
  linked=()
  if [ "${1:-}" = --no-build ]; then linked=(--no-build) && shift; fi
  tag=$(python3 python/tag.py)
  newest() { { ls -t wheelhouse/"$1"-*-"$tag".whl 2>/dev/null || true; } | head -n 1; }
  host=$(newest isocenter)
  if [ -n "$host" ] && [ ! -e build/openmp/CMakeCache.txt ]; then
    say "$host is taken as it is: the preset openmp is not configured here"
  else
    scripts/wheel.sh --installed-tools
  fi
  scripts/wheel.sh --installed-tools --cuda "${linked[@]}"
  wheels=("$(newest isocenter)" "$(newest isocenter_cu13)")
  # A folder beside the packages of this Python, which may have no network and no ensurepip.
  site=$ISO_TOP/build/python/gpu-site
  rm -rf "$site"
  python3 -m pip install --quiet --disable-pip-version-check --no-index --no-deps --target "$site" \
    "${wheels[@]}"
  export PYTHONPATH=$site${PYTHONPATH:+:$PYTHONPATH}
  # Of the package what holds of the plug-in's module too: what it needs, what it exports, one
  # runtime of OpenMP. The versions of symbols are those of this machine.
  package=python/tests/test_package.py
  ISO_WHEEL=$ISO_TOP/${wheels[0]} ISO_CUDA_WHEEL=$ISO_TOP/${wheels[1]} ISO_BUILD=$ISO_TOP/build/cuda \
    exec python3 -P -m pytest -c python/pyproject.toml \
    python/tests/test_gpu.py python/tests/test_projection.py python/tests/test_arrays.py \
    python/tests/test_verify.py python/tests/test_calls.py python/tests/test_torch.py \
    python/tests/test_stubs.py \
    $package::test_what_it_needs $package::test_exports $package::test_the_plug_in \
    $package::test_one_libgomp_in_any_order "$@"
fi
scripts/wheel.sh --preset "$preset"
# What the library reads of the files that the tests of isocenter.files read.
# Where their tests are built, they make files for it: an older build might make others.
targets=(iso_dump_files iso)
if [ -e "build/$preset/tests/app/iso_test_files" ]; then targets+=(iso_test_files); fi
scripts/build.sh "$preset" "${targets[@]}"

env=$ISO_TOP/build/python/test-env
key=$(key_of "$(cat python/tests/requirements.txt)" "$(command -v python3)")
if [ "$(cat "$env/stamp" 2>/dev/null)" != "$key" ]; then
  say "environment of the Python tests"
  python3 -m venv --clear "$env"
  "$env/bin/pip" install --quiet --disable-pip-version-check -r python/tests/requirements.txt ||
    fail "pip could not install what the tests need (python/tests/requirements.txt)" \
      "Check the network and pip's settings."
  printf '%s' "$key" >"$env/stamp"
fi
wheel=$(ls -t wheelhouse/isocenter-*-"$(python3 python/tag.py)".whl | head -n 1)
"$env/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"
# -P: the installed package, not the folder of this repository.
ISO_WHEEL=$ISO_TOP/$wheel ISO_BUILD=$ISO_TOP/build/$preset exec "$env/bin/python" -P -m pytest -c python/pyproject.toml python/tests "$@"
