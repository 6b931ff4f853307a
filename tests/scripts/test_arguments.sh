#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Wrong arguments of scripts: test_arguments.sh SCRIPTS
set -u
scripts=$1
failures=0

# expect PATTERN SCRIPT ARGUMENT...: exit code 2, and one sentence alone, which matches.
expect() {
  local pattern=$1 script=$2 output code
  shift 2
  output=$("$scripts/$script" "$@" 2>&1)
  code=$?
  # shellcheck disable=SC2053
  if [ $code -ne 2 ] || [ "$(wc -l <<<"$output")" -ne 1 ] ||
    [[ $output != "[isocenter] error: "$pattern ]]; then
    echo "FAILED: $script $*: exit code $code instead of 2, or another sentence: $output"
    failures=$((failures + 1))
  fi
}

help='(scripts/test.sh --help says which)'
expect "--preset needs a name $help" test.sh --preset
expect "--preset needs a name $help" test.sh --all --preset ''
expect "--label needs a name $help" test.sh --label
expect 'unknown argument: --nope (scripts/test.sh --help lists them)' test.sh --nope
expect "there is no preset 'nope' (known: *openmp *)" test.sh --preset nope
expect "there is no preset 'nope' (known: *openmp *)" build.sh nope iso
expect 'no preset is named (usage: scripts/build.sh PRESET *)' build.sh
expect 'unknown argument: --nope (scripts/lint.sh --help lists them)' lint.sh --fix --nope
expect 'unknown argument: --nope (scripts/setup.sh takes none)' setup.sh --nope
expect 'unknown argument: nope (scripts/get_example_data.sh takes none)' get_example_data.sh nope

if [ $failures -gt 0 ]; then
  echo "$failures failed"
  exit 1
fi
echo 'all passed'
