# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of the built tool, with the tool and what all its calls begin with in `tool`:
# a scratch folder to work in, `fail`, `expect` and `finish`.
# shellcheck shell=bash
set -u
# Of read_png.py; no bytecode beside it.
PYTHONPATH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# expect CODE PATTERN ARGUMENT...: the tool returns CODE, and its output matches PATTERN.
expect() {
  local code=$1 pattern=$2
  shift 2
  answer=$("${tool[@]}" "$@" 2>&1)
  local got=$?
  [ $got -eq "$code" ] || fail "iso ${tool[*]:1} $*: exit code $got instead of $code: $answer"
  check_errors
  grep -qE -- "$pattern" <<<"$answer" || fail "iso ${tool[*]:1} $*: output does not match '$pattern': $answer"
}

# An error or a warning says what is wrong, why and what to do, and has no name of C++.
check_errors() {
  local line
  while IFS= read -r line; do
    [[ "$line" =~ ^'iso: '(error|warning)': '.*\(.+\)';'\ [a-z].*[^.?!]$ && ! "$line" =~ [a-z_]::[a-z_] ]] || fail "not of the form of a message: $line"
  done < <(grep -E '^iso: (error|warning): ' <<<"$answer")
}

# says PATTERN: the output of the last `expect` matches this too.
says() { grep -qE -- "$1" <<<"$answer" || fail "output does not match '$1': $answer"; }

# interrupt JOB: sends SIGINT to the run as soon as it takes it; its exit code in `code`. Before it is
# the tool, the job is a shell.
interrupt() {
  local i key value
  for ((i = 0; i < 3000; ++i)); do
    while [ "/proc/$1/exe" -ef "${tool[0]}" ] && read -r key value; do
      [ "$key" != SigCgt: ] || [ $((0x$value & 2)) -eq 0 ] || break 2
    done <"/proc/$1/status"
    sleep 0.01
  done 2>/dev/null
  kill "-${signal:-INT}" "$1"
  wait "$1"
  code=$?
}

# stops WHEN COMMAND...: the tool, given COMMAND, is sent SIGINT, or $signal, when `WHEN RUN` holds of the run, and
# ends within 5 s (one where nobody else keeps the cores busy) with 130 (TERM: 143) and its sentence;
# it leaves no file late.*, and none that is temporary.
stops() {
  local when=$1 wanted=130 i run before took left
  [ "${signal:-INT}" = INT ] || wanted=143
  shift
  "${tool[@]}" "$@" >stopped.txt 2>&1 &
  run=$!
  for ((i = 0; i < 6000; ++i)); do
    "$when" $run && break
    sleep 0.01
  done 2>/dev/null
  before=$(date +%s%N)
  interrupt $run
  took=$((($(date +%s%N) - before) / 1000000))
  [ $code -eq $wanted ] || fail "iso $*, stopped when $when: exit code $code: $(cat stopped.txt)"
  grep -q 'iso: error: cancelled' stopped.txt || fail "iso $*, stopped when $when, says: $(cat stopped.txt)"
  [ $took -lt 5000 ] || fail "iso $*, stopped when $when, went on for $took ms"
  left=$(find . -name 'late.*' -o -name '.iso-*')
  [ -z "$left" ] || fail "iso $*, stopped when $when, left $left"
}

# not_run 'WHAT (WHY); ADVICE': a part of the test cannot run here. scripts/test.sh shows these lines.
not_run() { echo "not run: $*"; }

# skip 'WHAT (WHY); ADVICE': nor can any other: ctest shows the test as skipped, unless something failed before.
skip() {
  not_run "$@"
  [ $failures -eq 0 ] || finish
  exit 77
}

# The last line of a test.
finish() {
  if [ $failures -gt 0 ]; then
    echo "$failures failed"
    exit 1
  fi
  echo 'all passed'
}
