#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The skeleton of a family, made in a copy of the source: test_new_operation.sh SOURCE BUILD
# It passes the rules of scripts/lint.sh that hold for single files, and compiles with the flags of the gamma index.
set -u
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source" || exit 1
git ls-files >/dev/null 2>&1 || { echo "not run: new operations (this source is no checkout); clone it" && exit 77; }
[ -x .deps/venv/bin/clang-format ] || { echo "not run: new operations (clang-format is missing); run scripts/setup.sh" && exit 77; }
git ls-files -co --exclude-standard | grep -vxFf <(git ls-files -d) | xargs cp --parents -t "$work"
cd "$work" || exit 1
git init -q . && git add -A
failures=0
failed() {
  printf 'FAILED: %s\n' "$@"
  failures=$((failures + 1))
}

# refused CODE PATTERN NAME...: that exit code, a sentence alone that matches, and no file
refused() {
  local code=$1 pattern=$2 output
  shift 2
  output=$(scripts/new_operation.sh "$@" 2>&1)
  # shellcheck disable=SC2053
  [ $? = "$code" ] && [[ $output == "[isocenter] error: "$pattern ]] || failed "new_operation.sh $*: $output"
  [ -z "$(git ls-files -o -m --exclude-standard)" ] || failed "new_operation.sh $* leaves files"
}
see='see scripts/new_operation.sh --help'
# As an old version that does not know a key of .clang-format.
stubs=$(mktemp -d)
trap 'rm -rf "$work" "$stubs"' EXIT
printf '#!/bin/sh\nexit 1\n' >"$stubs/clang-format" && chmod +x "$stubs/clang-format"
PATH=$stubs:/usr/bin:/bin refused 1 'there is no clang-format that reads .clang-format (*' dose_rate
ln -s "$source/.deps" .deps
refused 2 "a name is needed (none is given); $see"
refused 2 "one name makes one family (2 are given); $see" one two
for name in 1x Doses dose__rate dose_ ../dose; do
  refused 2 "'$name' is no name of a namespace (small letters, digits and _ make one); choose another" "$name"
done
for name in class int xor_eq std; do
  refused 2 "'$name' is no name of a namespace (C++ has the word); choose another" "$name"
done
refused 2 "there is a namespace 'gamma' (*); choose another name" gamma
refused 2 "there is a namespace 'detail' (*); choose another name" detail

name=dose_rate_of_beams
scripts/new_operation.sh $name >made 2>&1 || failed "$(cat made)"
mapfile -t files < <(git ls-files -o -m --exclude-standard | grep -E "\.[ch]pp$")
[ ${#files[@]} -ge 12 ] || failed "there are ${#files[@]} files of C++"
! grep -rniE 'area_?name' $(git ls-files -o --exclude-standard) || failed "a name was not put in"
.deps/venv/bin/clang-format --dry-run -Werror "${files[@]}" || failed format
for rules in messages comments functions; do
  python3 -B scripts/lint_$rules.py "${files[@]}" || failed "lint_$rules.py"
done
mapfile -t library < <(printf '%s\n' "${files[@]}" | grep -v '^tests/')
python3 -B scripts/lint_view_index.py "${library[@]}" || failed "lint_view_index.py"
python3 -B scripts/determinism_table.py --check >/dev/null || failed determinism_table.py

# Headers of the copy stand before those of the build's source.
headers=$(find . -path ./.deps -prune -o -type d -name include -print | grep -vE '^\./(tests|scripts)/' | sed "s|^\.|-I$work|" | tr '\n' ' ')
# compiled FILE LIKE: with the command of a source whose path has this
compiled() {
  python3 -B - "$build/compile_commands.json" "$2" "$work/$1" "$headers" <<'PYTHON' || failed "$1 does not compile"
import json, re, shlex, subprocess, sys
commands, like, new, headers = sys.argv[1:]
for one in json.load(open(commands)):
    if like in one["file"] and "_verify_interface_" not in one["file"]:
        words = shlex.split(one["command"])
        words[words.index("-c") + 1] = new
        del words[words.index("-o") : words.index("-o") + 2]
        compiler = next(i for i, word in enumerate(words) if re.search(r"(\+\+|nvcc_wrapper)[-.\d]*$", word))
        words[compiler + 1 : compiler + 1] = shlex.split(headers)
        sys.exit(subprocess.run(words + ["-fsyntax-only"], cwd=one["directory"]).returncode)
sys.exit(f"there is no command of {like}")
PYTHON
}
compiled algorithms/src/$name/$name.cpp /algorithms/src/gamma/
compiled oracle/src/$name.cpp /oracle/src/gamma.cpp
compiled cases/src/$name.cpp /cases/src/core.cpp
compiled tests/$name/test_$name.cpp /tests/gamma/
[ $failures = 0 ]
