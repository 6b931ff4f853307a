#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Sets up what is missing, builds, runs the tests.
#
#   scripts/test.sh [--preset NAME] [--label LABEL] [--all] [-- arguments of ctest...]
#
#   --preset NAME   a preset of CMakePresets.json (default: cuda where there is a GPU, else openmp)
#   --label LABEL   only the tests that carry this label; python: those of the Python package, which no
#                   other call runs (it builds the wheel: scripts/wheel.sh)
#   --all           the tests labelled slow, perf-smoke and documents too; builds the benchmarks
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=$(preset_of_machine)
label=""
slow=(-LE '^(slow|perf-smoke|documents)$')
while [ $# -gt 0 ]; do
  case "$1" in
    --preset | --label)
      [ -n "${2:-}" ] || misused "$1 needs a name (none follows it); see scripts/test.sh --help"
      if [ "$1" = --preset ]; then preset=$2; else label=$2; fi
      shift 2
      ;;
    --all) slow=() && shift ;;
    --) shift && break ;;
    -h | --help) sed -n '3,10s/^# \{0,1\}//p' "$0" && exit 0 ;;
    *) misused "unknown argument: $1 (it is no option); see scripts/test.sh --help" ;;
  esac
done
case "$label" in slow | perf-smoke | documents) slow=() ;; esac
check_preset "$preset"

threads=()
case "$preset" in threads | clang) threads=(--threads) ;; esac
"$ISO_TOP/scripts/setup.sh" "${threads[@]}"
if [ "$label" = python ]; then
  exec "$ISO_TOP/scripts/test_python.sh" --preset "$preset" "$@"
fi
"$ISO_TOP/scripts/build.sh" "$preset"
cd "$ISO_TOP"
left_out "$preset" | sed 's/^/[isocenter] left out: /'
passed=0
ctest --preset "$preset" -j "$(job_count)" "${slow[@]}" ${label:+-L "^$label\$"} "$@" || passed=$?
not_run "$preset" | sed 's/^/[isocenter] not run: /'
exit $passed
