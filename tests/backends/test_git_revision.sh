#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_git_revision.sh CMAKE GIT SCRIPT: the revision that a build names is that of the checkout when it
# is built, and a file that would not change is not touched.
set -u
cmake=$1
git=$2
script=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
repository() {
  "$git" -C source -c user.name=test -c user.email=test@localhost -c commit.gpgsign=false "$@" >/dev/null 2>&1
}
named() {
  "$cmake" "-DGIT=$git" "-DSOURCE=$folder/source" "-DTEMPLATE=$folder/in" "-DRESULT=$folder/out" -P "$script"
  cat out
}
expect() {
  local got
  got=$(named)
  [ "$got" = "$1" ] || {
    echo "FAILED: '$got' instead of '$1' ($2)"
    failures=$((failures + 1))
  }
}
mkdir source
echo '@ISO_GIT_REVISION@' >in
expect '' 'no checkout'
repository init
echo one >source/file
repository add file
repository commit -m one
first=$("$git" -C source rev-parse --short=12 HEAD)
expect "$first" 'the first commit'
touch -d '2001-01-01' out
expect "$first" 'again'
[ "$(stat -c %Y out)" -eq "$(date -d '2001-01-01' +%s)" ] || {
  echo 'FAILED: a file that did not change was written'
  failures=$((failures + 1))
}
echo two >source/file
expect "$first-dirty" 'a changed file'
repository commit -a -m two
repository tag v1
second=$("$git" -C source rev-parse --short=12 HEAD)
[ "$first" != "$second" ] || failures=$((failures + 1))
expect "$second" 'the second commit, with a tag'
exit $((failures > 0))
