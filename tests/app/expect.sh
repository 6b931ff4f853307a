# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of the built tool, with the tool and what all its calls begin with in `tool`:
# a scratch folder to work in, `fail`, `expect` and `finish`.
# shellcheck shell=bash
set -u
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
  local code=$1 pattern=$2 output
  shift 2
  output=$("${tool[@]}" "$@" 2>&1)
  local got=$?
  [ $got -eq "$code" ] || fail "iso ${tool[*]:1} $*: exit code $got instead of $code: $output"
  grep -qE -- "$pattern" <<<"$output" || fail "iso ${tool[*]:1} $*: output does not match '$pattern': $output"
}

# interrupt JOB: sends SIGINT to the run once it has said that it takes it; its exit code in `code`.
interrupt() {
  local i
  for ((i = 0; i < 300; ++i)); do
    [ $((0x$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status") & 2)) -ne 0 ] && break
    sleep 0.1
  done 2>/dev/null
  sleep 0.3
  kill -INT "$1"
  wait "$1"
  code=$?
}

# The last line of a test.
finish() {
  if [ $failures -gt 0 ]; then
    echo "$failures failed"
    exit 1
  fi
  echo 'all passed'
}
