#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Wrong arguments of scripts: test_arguments.sh SCRIPTS [ISO]
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

help='(none follows it); see scripts/test.sh --help'
expect "--preset needs a name $help" test.sh --preset
expect "--preset needs a name $help" test.sh --all --preset ''
expect "--label needs a name $help" test.sh --label
expect 'unknown argument: --nope (it is no option); see scripts/test.sh --help' test.sh --nope
expect "there is no preset 'nope' (known: *openmp *); choose one of these" test.sh --preset nope
expect "there is no preset 'nope' (known: *openmp *); choose one of these" build.sh nope iso
expect 'unknown argument: --nope (it is no option); see scripts/wheel.sh --help' wheel.sh --nope
expect '--python needs a name (none follows it); see scripts/wheel.sh --help' wheel.sh --python
expect "there is no preset 'nope' (known: *openmp *); choose one of these" wheel.sh --preset nope
options='(it is no option); see scripts/demo.sh --help'
expect "unknown argument: --nope $options" demo.sh --size 32 --nope
expect "unknown argument: stray $options" demo.sh stray
expect "--size needs a value (none follows it); see scripts/demo.sh --help" demo.sh --json - --size
expect "unknown argument: --output= $options" demo.sh --output=
expect 'no preset is named (it comes first); use scripts/build.sh PRESET *' build.sh
expect 'unknown argument: --nope (it is no option); see scripts/lint.sh --help' lint.sh --fix --nope
expect '--headers-since needs a revision (*); see scripts/lint.sh --help' lint.sh --headers-since nope
expect 'unknown argument: --nope (scripts/ranks_by_mpich.sh takes none); leave it out' ranks_by_mpich.sh --nope
expect 'unknown argument: --nope (scripts/setup.sh takes none); leave it out' setup.sh --nope
expect 'unknown argument: nope (scripts/setup.sh takes none); leave it out' setup.sh --threads --cuda-check nope
expect 'unknown argument: nope (scripts/get_example_data.sh takes none); leave it out' get_example_data.sh nope
compilers='; see scripts/compilers.sh --help'
expect "no row is named (*)$compilers" compilers.sh
expect "unknown argument: --nope (it is no option)$compilers" compilers.sh --nope
expect "--root needs a name (none follows it)$compilers" compilers.sh --root
expect "--make needs --root (*)$compilers" compilers.sh --make sid 'g++ -O1'
expect "--with needs --make (*)$compilers" compilers.sh --root r --with g++-13 'g++ -O1'
release='; see scripts/release.sh --help'
expect "--stage needs a name (none follows it)$release" release.sh --stage
expect "unknown argument: --nope (it is no option)$release" release.sh --nope
expect "there is no stage 'nope' (known: lint *); choose one of these" release.sh --stage nope

# Each compiler is compared once, also where it has two names.
rows=$("$scripts/compilers.sh" --list --all)
compilers=$(grep -oE '^[^ ]+' <<<"$rows" | sort -u)
programs=$(for name in $compilers; do readlink -f "/usr/bin/$name"; done | sort -u)
[ -z "$rows" ] || [ "$(wc -w <<<"$compilers")" = "$(wc -l <<<"$programs")" ] || {
  echo "FAILED: compilers.sh --list --all has a compiler twice:" "${compilers//$'\n'/ }"
  failures=$((failures + 1))
}

# Help comes without a set-up or a build.
for script in compilers.sh demo.sh build.sh release.sh test.sh setup.sh; do
  "$scripts/$script" --help | grep -q . || {
    echo "FAILED: $script --help says nothing"
    failures=$((failures + 1))
  }
done
# demo.sh knows the options of `iso demo`, and no others.
if [ -n "${2:-}" ]; then
  theirs=$("$2" demo --help | grep -oE '^ *--[a-z]+' | tr -d ' ' | sort)
  ours=$("$scripts/demo.sh" --help | grep -E '^ +--' | sed 's/   .*//; s/^ *//' |
    grep -oE -- '--[a-z]+' | sort)
  [ "$theirs" = "$ours" ] || {
    echo "FAILED: demo.sh has the options" "${ours//$'\n'/ }" "and iso demo" "${theirs//$'\n'/ }"
    failures=$((failures + 1))
  }
fi

if [ $failures -gt 0 ]; then
  echo "$failures failed"
  exit 1
fi
echo 'all passed'
