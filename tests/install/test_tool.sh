#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_tool.sh PREFIX DOC_FOLDER ISO
# The man pages, the completion of bash, and every file that the help of the tool names are installed.
prefix=$1
documents=$prefix/$2
tool=("$3")
# shellcheck source=tests/app/expect.sh
source "$(dirname "$0")/../app/expect.sh"

helps=('--help')
for command in info project reconstruct dose verify demo matrix sweep; do
  helps+=("$command --help")
done
for command in generate convert info apply bench; do
  helps+=("matrix $command --help")
done
pages=$prefix/share/man/man1
for words in "${helps[@]}"; do
  # shellcheck disable=SC2086
  expect 0 "$2" $words
  for file in $(grep -oE '\b(docs|scripts|examples)/[a-z_/]+\.(md|py|json)' <<<"$answer"); do
    [ -f "$documents/$file" ] || fail "$file, named by iso $words, is not installed"
  done
  words=${words%--help}
  page=iso${words:+-${words% }}
  [ -s "$pages/${page// /-}.1" ] || fail "no man page of iso $words is installed"
done
# And those of the first pages, but the two that fetch data and those that build.
for file in $(grep -ohE '\b(docs|scripts|examples)/[A-Za-z_/]+\.[a-z]+' "$documents"/docs/start/*.md | sort -u); do
  case "$file" in scripts/get_example_data.sh | scripts/chest_dicom.py | scripts/setup.sh | scripts/build.sh) continue ;; esac
  [ -f "$documents/$file" ] || fail "$file, named by docs/start, is not installed"
done
[ -x "$documents/scripts/sweep_report.py" ] || fail 'sweep_report.py cannot be run'
# Without modules that do not come with Python: the help, or a sentence that says what to install.
for script in "$documents"/scripts/*.py; do
  said=$(python3 -S -B "$script" --help 2>&1 </dev/null) || grep -q 'pip install' <<<"$said" ||
    fail "$script --help: $said"
done

source "$prefix/share/bash-completion/completions/iso"
# completes EXPECTED WORD...: the last word, so far, becomes one of these.
completes() {
  local expected=$1
  shift
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _iso
  [ "${COMPREPLY[*]}" = "$expected" ] || fail "'$*' completes to '${COMPREPLY[*]}' instead of '$expected'"
}
completes 'project' iso pro
completes 'generate' iso matrix gen
completes '--geometry' iso project --geo
completes '--against' iso --quiet sweep --ag
completes 'half' iso matrix generate --values h
completes 'pencil-beams' iso matrix generate pen
completes '' iso project --geometry circ

finish
