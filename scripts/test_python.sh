#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Python wheel, installs it into an environment of its own and passes its tests there.
# scripts/test.sh --label python calls it, after the set-up.
#
#   scripts/test_python.sh [--preset NAME] [arguments of pytest...]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=openmp
case "${1:-}" in
  -h | --help) sed -n '3,6s/^# \{0,1\}//p' "$0" && exit 0 ;;
  --preset)
    [ -n "${2:-}" ] || misused "--preset needs a name (none follows it); see scripts/test_python.sh --help"
    preset=$2
    shift 2
    ;;
esac
[ "$preset" != cuda ] || preset=openmp
cd "$ISO_TOP"
scripts/wheel.sh --preset "$preset"
# What the library reads of the files that the tests of isocenter.files read.
scripts/build.sh "$preset" iso_dump_files

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
