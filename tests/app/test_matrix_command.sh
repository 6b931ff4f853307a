#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_matrix_command.sh ISO
# `iso matrix` as a user meets it: files, figures, hashes, messages.
iso=$1
tool=("$iso" matrix)
source "$(dirname "$0")/expect.sh"
[ -n "${ISO_TEST_PYTHON:-}" ] || not_run 'what h5py reads and writes (.deps/venv is not there); run scripts/setup.sh'

# hash_of ARGUMENT...: the hash that `iso matrix` prints
hash_of() { "$iso" matrix "$@" 2>/dev/null | sed -n 's/.*hash \([0-9a-f]\{16\}\)$/\1/p' | head -1; }

# Help and usage.
for command in generate info convert apply bench; do
  expect 0 '--json' $command --help
done
expect 2 'subcommand is required' ''
expect 2 'kind: wrong is not known .must be' generate wrong --output m.h5
expect 2 'nothing to write' generate prostate-1
expect 2 "ending '.txt'" generate prostate-1 --output m.txt
expect 2 "folder" generate prostate-1 --output no/m.h5
expect 2 'named twice' generate prostate-1 --output m.h5 --json m.h5
expect 2 'similarity' generate prostate-1 --similarity 1.5 --output m.h5
expect 2 'similarity' generate prostate-1 --similarity nan --output m.h5
for seed in -1 1.5 1e3 18446744073709551616 seed; do
  expect 2 "--seed: $seed .must be a whole number from 0" generate prostate-1 --factor 0.001 --seed $seed --output m.h5
done
expect 2 '--spacing: 0 .must be a number from 1e-06' generate pencil-beams --spacing 0 --output m.h5
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
expect 0 '1 non-zeros were dropped .they became zero' convert small.mtx small.h5 --values half
expect 0 '1 non-zeros' info small.h5
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1e9\n' >large.mtx
expect 2 'entry \(0, 0\) is 1000000000 .too large' convert large.mtx large.h5 --values half
[ ! -e large.h5 ] || fail "large.h5 was written"

# Bad files.
expect 2 "'none.h5'.*no such file" info none.h5
printf 'no matrix' >text.h5
expect 2 "'text.h5': is not an HDF5 file" info text.h5
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  chmod 755 .
  cp m.h5 closed.h5
  chmod 000 closed.h5
  said=$(setpriv --reuid 65534 --regid 65534 --clear-groups "$iso" matrix info closed.h5 2>&1) && fail 'closed.h5 was read'
  [[ $said == *"'closed.h5': cannot be opened (Permission denied)"* ]] || fail "closed.h5: $said"
else
  not_run 'a file that may not be read (this is not root, or setpriv is not there); install util-linux'
fi
# Text that is no UTF-8 reaches JSON as U+FFFD.
LC_ALL=C sed 's/one grid line/one grid l\xefne/' m.h5 >latin.h5
expect 0 'non-zeros' info latin.h5 --json latin.json
grep -q "$(printf 'one grid l\357\277\275ne')" latin.json || fail "latin.json: $(grep rows latin.json)"
head -c 3000 m.h5 >cut.h5
expect 2 "'cut.h5'.*truncated" info cut.h5
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n' >zero.mtx
expect 2 "'zero.mtx': line 3: row 0.*counted from 1" info zero.mtx
expect 2 'named twice' convert m.h5 m.h5
# A line of sizes that asks for 17 GB of row offsets.
printf '%%%%MatrixMarket matrix coordinate real general\n2147483647 1 1\n1 1 1\n' >rows.mtx
expect 2 "'rows.mtx': line 2: 2147483647 rows for 1 entries" info rows.mtx
if [ -n "${ISO_TEST_PYTHON:-}" ]; then
  "$ISO_TEST_PYTHON" - <<'END' || fail 'python'
import h5py, numpy as np
with h5py.File("noted.h5", "w") as f:
    f.attrs["format"] = "csr"
    f.attrs["value_scale"] = 0.125
    f.attrs["unit"] = ["Gy", "Gy"]
    f.attrs["rows"] = "voxels"
    f["data"] = np.array([1, 2], "<f8")
    f["indices"] = np.array([1, 1], "<i4")
    f["indptr"] = np.array([0, 2, 2], "<i8")
    f["shape"] = np.array([2, 3], "<i8")
END
  expect 0 'half values' convert noted.h5 kept.h5 --values half
  "$ISO_TEST_PYTHON" - <<'END' || fail 'convert: attributes'
import h5py
now = h5py.File("kept.h5")
assert dict(now.attrs) == {"format": "csr", "rows": "voxels"}, dict(now.attrs)
assert now["data"].dtype == "f2"
END
  # Twice the same column in a row is a matrix, but no Matrix Market file.
  expect 2 '\(0, 1\) stands there twice' convert noted.h5 twice.mtx
  [ ! -e twice.mtx ] || fail 'twice.mtx was written'
  # Numbers that no double is, and a column that no matrix has, are named as the file holds them.
  "$ISO_TEST_PYTHON" - <<'END' || fail 'python'
import h5py, numpy as np
def write(name, data, column=1):
    with h5py.File(name, "w") as f:
        f.attrs["format"] = "csr"
        f["data"] = np.array([1, data], np.asarray(data).dtype)
        f["indices"] = np.array([0, column], np.asarray(column).dtype)
        f["indptr"] = np.array([0, 2, 2], "<i8")
        f["shape"] = np.array([2, 3], "<i8")
write("digits.h5", np.int64(2**53 + 1))
write("unsigned.h5", np.uint64(2**64 - 1))
write("even.h5", np.int64(-2**60 - 2**20))
write("unsigned_even.h5", np.uint64(2**63))
write("long.h5", np.longdouble(1) + np.longdouble(2) ** -60)
write("short.h5", np.longdouble(0.1))
write("column.h5", np.float64(1), np.int64(3000000000))
write("unsigned_column.h5", np.float64(1), np.uint32(4000000000))
with h5py.File("long_x.h5", "w") as f:
    f["values"] = np.array([1, 2**53 + 1], "<i8")
END
  expect 2 'number 1 of dataset /data is 9007199254740993 .*no double' info digits.h5
  expect 2 'number 1 of dataset /data is 18446744073709551615 .*no double' info unsigned.h5
  expect 2 'number 1 of dataset /data is 1.0000000000000000009 .*no double' info long.h5
  expect 2 'number 1 of dataset /values is 9007199254740993 .*no double' apply even.h5 --x long_x.h5 --json -
  for name in even unsigned_even short; do
    expect 0 '2 non-zeros' info $name.h5
  done
  expect 0 'double values' convert even.h5 even.mtx
  [ "$(tail -1 even.mtx)" = '1 2 -1152921504607895600' ] || grep -q -- '1 2 -1.1529215046078956e+18' even.mtx ||
    fail "even.mtx: $(tail -1 even.mtx)"
  expect 2 'entry 1 is in column 3000000000 ' info column.h5
  expect 2 'entry 1 is in column 4000000000 ' info unsigned_column.h5
fi
for value in 1e-400 -1e-400; do
  printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 %s\n' $value >tiny_value.mtx
  expect 2 "line 3: '$value' is too small for a double" info tiny_value.mtx
done
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1e400\n' >huge_value.mtx
expect 2 "line 3: '1e400' is too large for a double" info huge_value.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5e-324\n' >least.mtx
expect 0 '1 non-zeros' info least.mtx
printf '%%%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 9007199254740993\n' >whole.mtx
expect 2 "line 3: '9007199254740993' is no double" info whole.mtx

# What is no file is refused at once, and a line that never ends is not read.
mkfifo pipe.mtx pipe.h5
for name in pipe.mtx pipe.h5; do
  said=$(timeout 600 "$iso" matrix info $name 2>&1)
  [ $? -eq 2 ] && [[ $said == *"'$name': cannot be opened (not a regular file)"* ]] || fail "$name: $said"
done
rm pipe.*
{ printf '%%%%MatrixMarket matrix coordinate real general\n%%'; head -c 5000 /dev/zero | tr '\0' c; } >endless.mtx
expect 2 "'endless.mtx': line 2: is longer than 4096 characters" info endless.mtx

# Texts wherever HDF5 keeps them are read.
if [ -n "${ISO_TEST_PYTHON:-}" ]; then
  "$ISO_TEST_PYTHON" - <<'END' || fail 'python'
import h5py, numpy as np
for name, notes, kind in (("few", 3, {}), ("many", 60, {}), ("new", 3, {"libver": "latest"}),
                          ("apart", 12, {"libver": "latest"}), ("after", 3, {"userblock_size": 512}),
                          ("ordered", 3, {"libver": "latest", "track_order": True})):
    with h5py.File(name + ".h5", "w", **kind) as f:
        f.attrs["format"] = "csr"
        for i in range(notes):
            f.attrs[f"note{i}"] = "x" * i
        f.attrs["source"] = f"{name} \u00e9 " * 3
        f["data"] = np.array([1, 2], "<f8")
        f["indices"] = np.array([0, 1], "<i4")
        f["indptr"] = np.array([0, 2, 2], "<i8")
        f["shape"] = np.array([2, 3], "<i8")
END
  for name in few many new apart after ordered; do
    expect 0 "^source: $name é $name é $name é" info $name.h5
    expect 0 '2 non-zeros' convert $name.h5 again.h5
  done
fi

# Offsets beyond every integer are named as the file holds them, and what is missing is.
if [ -n "${ISO_TEST_PYTHON:-}" ]; then
  "$ISO_TEST_PYTHON" - <<'END' || fail 'python'
import h5py, numpy as np
def write(name, offset, column):
    with h5py.File(name, "w") as f:
        f["data"] = np.array([1, 2], "<f8")
        f["indices"] = np.array([0, column], "<u8")
        f["indptr"] = np.array([0, 2, offset], "<u8")
        f["shape"] = np.array([2, 3], "<i8")
        if name != "no_format.h5":
            f.attrs["format"] = "csr"
write("beyond.h5", 2**64 - 1, 1)
write("largest.h5", 2**63 - 1, 1)
write("beyond_column.h5", 2, 2**64 - 1)
write("no_format.h5", 2, 1)
END
  expect 2 'number 2 of dataset /indptr is 18446744073709551615 ' info beyond.h5
  expect 2 '9223372036854775807' info largest.h5
  expect 2 'number 1 of dataset /indices is 18446744073709551615 ' info beyond_column.h5
  expect 2 "attribute 'format' is missing" info no_format.h5
fi

# A conversion says nothing but its result.
said=$("$iso" matrix convert m.h5 quiet.h5 --values half 2>&1 >/dev/null)
[ -z "$said" ] || fail "convert says: $said"

# SIGINT stops a conversion, which leaves the old file, and a benchmark that would take minutes. A
# conversion that ends before the signal reaches it shows nothing: a larger one is tried.
for lines in 1000000 4000000 16000000; do
  {
    printf '%%%%MatrixMarket matrix coordinate real general\n%d 1 %d\n' $lines $lines
    seq $lines | sed 's/$/ 1 1/'
  } >long.mtx
  echo old >late.h5
  "$iso" matrix convert long.mtx late.h5 >late.txt 2>&1 &
  for ((i = 0; i < 3000; ++i)); do  # until it reads
    for open in /proc/$!/fd/*; do [ "$open" -ef long.mtx ] && break 2; done
    sleep 0.01
  done
  interrupt $!
  [ $code -eq 0 ] || break
done
[ $code -eq 130 ] || fail "convert stopped by SIGINT returned $code: $(cat late.txt)"
[ "$(cat late.h5)" = old ] || fail 'convert stopped by SIGINT replaced its output'
"$iso" matrix generate prostate-1 --factor 0.1 --output late.h5 >/dev/null
"$iso" matrix bench late.h5 --backend serial --seconds 100 --json late.json >late.txt 2>&1 &
sleep 4  # beyond the ceilings
interrupt $!
[ $code -eq 130 ] || fail "bench stopped by SIGINT returned $code: $(cat late.txt)"
[ ! -e late.json ] || fail 'bench stopped by SIGINT wrote late.json'
rm long.mtx late.*

# Pencil beams.
expect 0 'cut off: beyond 3.03' generate pencil-beams --size 24 --spacing 6 --output p.h5
expect 0 'spots, layer by layer' info p.h5

expect 0 'warning: .*no non-zeros' generate pencil-beams --size 4 --spacing 1e6 --output none.h5
expect 0 'warning: .*no non-zeros .no dose reaches' generate pencil-beams --size 4 --spacing 1e6 --output none.h5
expect 0 'warning: .*no non-zeros .--factor leaves none' generate liver-1 --factor 1e-6 --output none.h5

# Products: the same bits in every format and on every backend; alpha, beta and A^T.
y=$(hash_of apply p.h5 --output y.h5)
[ -n "$y" ] || fail "apply prints no hash"
for backend in serial default; do
  for format in auto csr32 csr16 row_block4 row_block8; do
    [ "$y" = "$(hash_of apply p.h5 --format $format --backend $backend --json a.json)" ] ||
      fail "$format on $backend gives other bits"
  done
done
for key in '"format": "csr32"' '"hash"' '"time_ms"' '"bytes_per_entry"'; do
  "$iso" matrix apply p.h5 --format csr32 --json - 2>/dev/null | grep -q "$key" || fail "apply's JSON has no $key"
done
for sum in automatic ordered reproducible; do
  used=${sum/automatic/reproducible}
  "$iso" matrix apply p.h5 --sum $sum --json - 2>/dev/null | grep -q "\"sum\": \"$used\"" || fail "--sum $sum: JSON"
done
"$iso" matrix apply f.h5 --json - 2>/dev/null | grep -q '"sum": "ordered"' || fail "apply's sum of float values"
expect 0 'hash' apply p.h5 --transpose --x y.h5 --output g.h5
expect 0 'hash' apply p.h5 --x g.h5 --output y2.h5 --sum ordered
expect 0 'hash' apply p.h5 --alpha 0 --beta 2 --y y.h5 --output twice.h5
[ "$(hash_of apply p.h5 --alpha 2 --json a.json)" = "$(hash_of apply p.h5 --alpha 0 --beta 2 --y y.h5 --json b.json)" ] ||
  fail "2 A x is not 0 A x + 2 y"
expect 0 'csr32 on' apply f.h5 --json a.json
expect 2 'x has [0-9]+ numbers .the matrix wants [0-9]+' apply p.h5 --x y.h5 --output z.h5
for format in csr16 row_block4 row_block8; do
  expect 0 " $format on" apply p.h5 --format $format --output z.h5
done
rm z.h5
expect 2 "'row_block8' .it is for values of 16 bits" apply f.h5 --format row_block8 --output z.h5
expect 2 'row_block2' apply p.h5 --format row_block2 --output z.h5
expect 2 'nothing to write' apply p.h5
expect 2 'give --y too' apply p.h5 --beta 1 --output z.h5
expect 2 'give --beta too' apply p.h5 --y y.h5 --output z.h5
expect 2 'similarity is of Published tables .pencil-beams has no such thing' generate pencil-beams --similarity 0.5 --output z.h5
expect 2 'spacing is of Pencil beams .prostate-1 has no such thing' generate prostate-1 --spacing 1 --output z.h5
expect 2 "ending '.mtx' is not known for a vector" apply p.h5 --output z.mtx
expect 2 'named twice' apply p.h5 --x y.h5 --output y.h5
expect 2 '/values is missing' apply p.h5 --x m.h5 --output z.h5
[ ! -e z.h5 ] || fail "z.h5 was written"
printf '%%%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 2\n1 3 -1\n2 2 0.5\n' >tiny.mtx
expect 0 '2 numbers by csr32' apply tiny.mtx --output ty.h5
if [ -n "${ISO_TEST_PYTHON:-}" ]; then
  "$ISO_TEST_PYTHON" -c 'import h5py; assert list(h5py.File("ty.h5")["values"]) == [1, 0.5]' || fail "ty.h5"
fi
# Sums beyond the largest double.
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1.5e308\n1 2 1.5e308\n2 2 1\n' >sums.mtx
expect 0 'warning: .*1 of 2 numbers are not finite' apply sums.mtx --output sums.h5 --json sums.json
grep -q '"not_finite": 1' sums.json || fail "sums.json: $(cat sums.json)"
expect 0 'hash' apply tiny.mtx --json finite.json
grep -q '"not_finite": 0' finite.json || fail "finite.json: $(cat finite.json)"
grep -q warning <<<"$("$iso" matrix apply tiny.mtx --json finite.json 2>&1)" && fail 'a finite y is warned of'
printf '%%%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 -0.0\n1 2 1\n' >negative_zero.mtx
expect 0 'a zero is stored as -0: no row blocks' bench negative_zero.mtx --backend serial --seconds 0
expect 0 'half row_block4 reproducible +serial .* [0-9.]+ %' bench p.h5 --backend serial --seconds 0 --json bench.json
expect 0 'bits: agree' bench p.h5 --transpose --seconds 0
# Four vectors have the bits of one, in the row blocks that are chosen for rows that share all columns.
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n16 64 1024"
  for (r = 1; r <= 16; ++r) for (c = 1; c <= 64; ++c) print r, c, 1 / (r + c) }' >dense.mtx
expect 0 'bits: agree' bench dense.mtx --seconds 0
says 'half row_block8 ordered, 4 vectors +serial'
says 'half row_block8 ordered +serial .* chosen'
# No entries.
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 0\n' >nothing.mtx
expect 0 'no non-zeros' apply nothing.mtx --backend serial --json nothing.json
grep -q '"bytes_per_entry": null' nothing.json || fail "nothing.json says bytes an entry"
# Values that half, and even float, does not hold.
printf '%%%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 131072\n1 3 -524288\n2 2 0.5\n' >large.mtx
expect 0 'values exceed what half holds, or lose digits in it: it has each row divided' bench large.mtx --backend serial --seconds 0
says 'half row_block.* 0.00e\+00'
printf '%%%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 3e-9\n1 2 -1e-9\n' >small.mtx
expect 0 'it has each row divided' bench small.mtx --backend serial --seconds 0
says 'half csr32 ordered .* [0-9.]+e-0[45] '
printf '%%%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 1e60\n1 2 2e60\n' >huge.mtx
expect 0 'values exceed what float holds, .* no vectors of float' bench huge.mtx --backend serial --seconds 0
for key in '"bits_agree": true' '"share_of_ceiling"' '"ceilings"' '"chosen": true'; do
  grep -q "$key" bench.json || fail "bench.json has no $key"
done

# All of the files that a run writes, or none: /dev/full takes nothing.
for command in "apply p.h5 --output" "generate prostate-1 --factor 0.001 --output" "convert p.h5"; do
  # shellcheck disable=SC2086
  expect 2 "'/dev/full' cannot be written" $command whole.h5 --json /dev/full
  [ ! -e whole.h5 ] || fail "$command: whole.h5 was left"
  rm -f whole.h5
done
[ -z "$(ls -A | grep '^\.iso-')" ] || fail "temporary files: $(ls -A)"

# The error of bench, of one product that rounds: (1 + 2^-11) x, x the double next to the golden ratio,
# has the 64 bits that a long double holds, and a double 53 of them.
if [ -n "${ISO_TEST_PYTHON:-}" ]; then
  printf '%%%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 1.00048828125\n' >round.mtx
  expect 0 'bits: agree' bench round.mtx --backend serial --seconds 0 --json round.json
  "$ISO_TEST_PYTHON" - <<'END' || fail "bench's error is not the rounding error"
import json
from fractions import Fraction
exact = (1 + Fraction(1, 2**11)) * Fraction(1 + 0.6180339887498949)
right = float(abs(Fraction(float(exact)) - exact) / exact)
assert right > 1e-18
for row in json.load(open("round.json"))["rows"]:
    if row["values"] == "double" and row["sum"] == "ordered":
        assert abs(row["error"] - right) < 1e-9 * right, (row, right)
END
fi

# x and y of 2^31 - 1 columns, on both sides of 34 GB: refused before they are made.
printf '%%%%MatrixMarket matrix coordinate real general\n2 2147483647 2\n1 1 1\n2 2147483647 1\n' >wide.mtx
if [ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)" -lt 33000000 ]; then
  for command in "apply wide.mtx --output y.h5" "apply wide.mtx --transpose --output y.h5" \
    "bench wide.mtx --seconds 0" "bench wide.mtx --transpose --seconds 0"; do
    for backend in serial default; do
      # shellcheck disable=SC2086
      expect 3 'bytes do not fit the memory' $command --backend $backend
    done
  done
else
  not_run 'vectors that no memory holds (33 GB are free); run it on a smaller machine'
fi
expect 0 '2 rows x 2147483647 columns, 2 non-zeros' info wide.mtx

finish
