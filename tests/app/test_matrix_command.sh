#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_matrix_command.sh ISO
# `iso matrix` as a user meets it: files, figures, hashes, messages.
set -u
iso=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# expect CODE PATTERN ARGUMENT...: `iso matrix` returns CODE, and its output matches PATTERN.
expect() {
  local code=$1 pattern=$2 output
  shift 2
  output=$("$iso" matrix "$@" 2>&1)
  local got=$?
  [ $got -eq "$code" ] || fail "iso matrix $*: exit code $got instead of $code: $output"
  grep -qE -- "$pattern" <<<"$output" || fail "iso matrix $*: output does not match '$pattern': $output"
}

# hash_of ARGUMENT...: the hash that `iso matrix` prints
hash_of() { "$iso" matrix "$@" 2>/dev/null | sed -n 's/.*hash \([0-9a-f]\{16\}\)$/\1/p' | head -1; }

# Help and usage.
for command in generate info convert; do
  expect 0 '--json' $command --help
done
expect 2 'subcommand is required' ''
expect 2 'kind: wrong not in' generate wrong --output m.h5
expect 2 'nothing to write' generate prostate-1
expect 2 "ending '.txt'" generate prostate-1 --output m.txt
expect 2 "folder" generate prostate-1 --output no/m.h5
expect 2 'named twice' generate prostate-1 --output m.h5 --json m.h5
expect 2 'similarity' generate prostate-1 --similarity 1.5 --output m.h5
expect 2 'similarity' generate prostate-1 --similarity nan --output m.h5
expect 2 'before the phantom' generate pencil-beams --radius 200 --output m.h5
expect 2 'pairs' generate pencil-beams --slabs 10 --output m.h5
[ -z "$(ls)" ] || fail "something was written: $(ls)"

# The same matrix from every backend; what is written reads back.
expect 0 '(69|70)\.[0-9]+ % empty' generate prostate-1 --factor 0.01 --output m.h5 --json m.json
first=$(hash_of generate prostate-1 --factor 0.01 --backend serial --json s.json)
[ -n "$first" ] || fail "no hash was printed"
[ "$first" = "$(hash_of info m.h5)" ] || fail "the file's hash is not that of the matrix"
[ "$first" = "$(hash_of generate prostate-1 --factor 0.01 --output n.h5)" ] || fail "backends differ"
expect 0 'half values' info m.h5
for key in '"empty_rows"' '"fill"' '"runs"' '"row_lengths"' '"jaccard"' "\"hash\": \"$first\""; do
  grep -q "$key" m.json || fail "m.json has no $key"
done
[ "$first" != "$(hash_of generate prostate-1 --factor 0.01 --similarity 0 --output n.h5)" ] ||
  fail "similarity changes nothing"

# Formats and values.
expect 0 'half values' convert m.h5 m.mtx
expect 0 'half values' convert m.mtx back.h5 --values half
[ "$first" = "$(hash_of info back.h5)" ] || fail "Matrix Market does not come back to the same bits"
expect 0 'float values' convert m.h5 f.h5 --values float
expect 0 'half values' convert f.h5 h.h5 --values half
[ "$first" = "$(hash_of info h.h5)" ] || fail "float does not come back to the same bits"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1e-9\n2 2 1\n' >small.mtx
expect 0 '1 non-zeros became zero' convert small.mtx small.h5 --values half
expect 0 '1 non-zeros' info small.h5
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1e9\n' >large.mtx
expect 2 'entry \(0, 0\) is 1000000000 .too large' convert large.mtx large.h5 --values half
[ ! -e large.h5 ] || fail "large.h5 was written"

# Bad files.
expect 2 "'none.h5'.*no such file" info none.h5
head -c 3000 m.h5 >cut.h5
expect 2 "'cut.h5'.*truncated" info cut.h5
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n' >zero.mtx
expect 2 "'zero.mtx': line 3: row 0.*counted from 1" info zero.mtx
expect 2 'named twice' convert m.h5 m.h5

# Pencil beams.
expect 0 'cut off: beyond 3.03' generate pencil-beams --size 24 --spacing 6 --output p.h5
expect 0 'spots, layer by layer' info p.h5

[ $failures -eq 0 ] || exit 1
echo "iso matrix does what it should"
