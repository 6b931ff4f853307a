#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/release.sh with stages of its own, in a repository of its own: test_release.sh SCRIPTS
set -u
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir -p "$tree/scripts" "$tree/.ci"
cp "$1"/{release.sh,common.sh,check_not_run.py,harness.py,python_modules.py} "$tree/scripts"
printf '%s\n' '# why' 'both  ^a: b  -- c' 'ci  ^tests of x  -- it is not there' 'ci  ^(d|e): .*run y  -- z' >"$tree/.ci/not_run.txt"
echo /build/ >"$tree/.gitignore"
cd "$tree" && git init -q . && git add . && git commit -qm first

# Each stage says that it ran. The second waits for the file `go`, the third fails until `mended` is there.
cat >"$work/stages" <<END
first   echo first >>$work/ran
second  echo second >>$work/ran; until [ -f $work/go ]; do sleep 0.05; done
third   echo third >>$work/ran; [ -f $work/mended ]
last    echo last >>$work/ran; echo of the last; echo '[isocenter] not run: a: b (c); d'; echo 'not run: e (f); g'
END
failures=0
check() { [ "$2" = "$3" ] || { echo "FAILED: $1: '$2' instead of '$3'" && failures=$((failures + 1)); }; }
release() { scripts/release.sh --stages "$work/stages" "$@" >"$work/out" 2>&1; }
# ran: the stages since the last question
ran() { paste -sd ' ' "$work/ran" 2>/dev/null && rm -f "$work/ran"; }
known() { awk '{ print $1 ":" $2 }' build/release/*.txt | paste -sd ' '; }

release --list
check 'exit code of --list' $? 0
check 'stages that --list runs' "$(ran)" ''
check 'stages of --list' "$(grep -c 'not run' "$work/out")" 4

# Stopped in the second stage, and called again.
setsid scripts/release.sh --stages "$work/stages" >/dev/null 2>&1 &
stopped=$!
for _ in $(seq 200); do grep -q second "$work/ran" 2>/dev/null && break || sleep 0.05; done
kill -- -$stopped
wait $stopped 2>/dev/null
check 'stages before the stop' "$(ran)" 'first second'
check 'results after the stop' "$(known)" 'first:passed'
touch "$work/go"
release
check 'exit code with a stage that fails' $? 1
check 'stages after the stop' "$(ran)" 'second third last'
check 'results' "$(known)" 'first:passed second:passed third:failed last:passed'
check 'log of a stage' "$(head -n 1 build/release/*/last.log)" 'of the last'
check 'what a stage did not run' "$(grep '^not run: last: ' "$work/out" | paste -sd '|')" \
  'not run: last: a: b (c); d|not run: last: e (f); g'

touch "$work/mended"
release
check 'exit code where something is left out' $? 1
check 'what is left out, and not on the list' "$(grep '^left out: ' "$work/out")" 'left out: e (f); g'
check 'stages after a failure' "$(ran)" third
echo 'both  ^e  -- f' >>.ci/not_run.txt && git commit -qam second && release
check 'exit code where all have passed' $? 0
ran >/dev/null
release
check 'stages where all have passed' "$(ran)" ''
mkdir -p build/openmp && echo 'tests of x (x is not found); install x' >build/openmp/left_out.txt
release --stage last --stage first
check 'what the build lacks' "$(grep -m 1 'left out' "$work/out")" 'left out: tests of x (x is not found); install x'
check 'stages that are named' "$(ran)" 'first last'

# not_run WHOSE: the exit code of the check of `log`
not_run() { scripts/check_not_run.py "$1" "$work/log" >"$work/out" 2>&1 && echo 0 || echo $?; }
line=' 7/215 Test  #57: d ..................***Skipped   0.12 sec'
echo "$line" >"$work/log"
check 'a skipped test that does not say why' "$(not_run ci)" 1
check 'what is said of it' "$(head -n 1 "$work/out")" 'left out: d: skipped, and does not say why'
printf '%s\n' "$line" '[isocenter] not run: d: it (no data); run y' >"$work/log"
check 'a skipped test of the list' "$(not_run ci)" 0
check 'the same before a release' "$(not_run release)" 1
echo '[isocenter] not run: dd: it (no data); run y' >>"$work/log"
check 'another test that lacks the same' "$(not_run ci)" 1
cp .ci/not_run.txt "$work/list"
echo 'ci  run y  -- z' >>.ci/not_run.txt
check 'an expression that names no test' "$(not_run ci)" 1
check 'what is said of that' "$(grep -c "'run y' (it would let anything through" "$work/out")" 1
mv "$work/list" .ci/not_run.txt

# A change, and a commit: what is known no longer holds.
echo change >file
release
check 'stages with a change' "$(ran)" 'first second third last'
release
check 'stages with a change again' "$(ran)" 'first second third last'
git add file && git commit -qm third
release
check 'stages of the next revision' "$(ran)" 'first second third last'

sed -i '/^mandoc /{p;s/^mandoc/no_such_program/}' scripts/release.sh
scripts/release.sh --list >"$work/out"
check 'what a machine lacks' "$(grep -c 'cannot pass all stages (it has no .*no_such_program.*); install .*mandoc' "$work/out")" 1

release --stage nope
check 'exit code of an unknown stage' $? 2
check 'an unknown stage' "$(cat "$work/out")" \
  "[isocenter] error: there is no stage 'nope' (known: first second third last); choose one of these"

[ $failures = 0 ] || exit 1
echo 'all passed'
