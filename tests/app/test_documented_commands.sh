#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_documented_commands.sh ISO TOP [PYTHON]
# The chest commands of docs/algorithms/dose.md and scans.md, as they stand there: they run, print the
# numbers that stand beside them, and the scan comes back onto its CT. PYTHON has numpy.
iso=$1
top=$2
python=${3:-}
tool=("$iso")
source "$(dirname "$0")/expect.sh"
chest=.deps/data/chest_ct.nii.gz
if [ ! -e "$top/$chest" ]; then
  echo "skipped: $top/$chest is not there; scripts/get_example_data.sh fetches it"
  exit 77
fi
mkdir bin
ln -s "$iso" bin/iso
ln -s "$top/.deps" "$top/examples" .
PATH=$PWD/bin:$PATH

# block PAGE WORD: the first block of commands of the page that begins with WORD
block() {
  awk -v word="$2" '/^```sh$/ { getline; on = index($0, word) == 1 } /^```$/ { if (on) exit } on' "$top/docs/algorithms/$1"
}

# Doses: the maxima of the table.
block dose.md 'iso dose' >dose.sh
[ "$(wc -l <dose.sh)" -ge 2 ] || fail "dose.md has no commands: $(cat dose.sh)"
bash -e dose.sh >dose.txt 2>&1 || fail "the commands of dose.md: $(cat dose.txt)"
while read -r line; do
  row=$(sed -E 's/^([0-9]+ x [0-9]+ x [0-9]+) voxels, ([0-9]+) beam.* at most ([^ ]+) Gy for 1 photon.*, at \(([^)]*)\) mm.*/| \1 | \2 | \3 | \4 |/' <<<"$line")
  grep -qF -- "$row" "$top/docs/algorithms/dose.md" || fail "dose.md does not have '$row'"
done < <(grep ' voxels, ' dose.txt)
[ "$(grep -c ' voxels, ' dose.txt)" -eq 2 ] || fail "dose.md: $(cat dose.txt)"

# The scan, reconstructed onto its CT.
block scans.md 'iso project' >scan.sh
grep -q 'iso reconstruct' scan.sh || fail "scans.md has no commands: $(cat scan.sh)"
bash -e scan.sh >scan.txt 2>&1 || fail "the commands of scans.md: $(cat scan.txt)"
[ -z "$python" ] || "$python" - "$chest" volume.mha <<'PYTHON' || fail 'the scan of scans.md does not come back onto its CT'
import gzip, struct, sys
import numpy as np

# NIfTI-1: x fastest; rows of the sform lie along right, anterior, superior.
raw = gzip.open(sys.argv[1]).read()
n = struct.unpack_from("<3h", raw, 42)
slope, shift = struct.unpack_from("<2f", raw, 112)
first = int(struct.unpack_from("<f", raw, 108)[0])
ct = np.frombuffer(raw, "<i2", n[0] * n[1] * n[2], first).reshape(n, order="F") * (slope or 1.0) + (shift if slope else 0)
rows = np.array(struct.unpack_from("<12f", raw, 280)).reshape(3, 4) * np.array([[-1], [-1], [1]])
origin = rows[:, 3].copy()
for axis in range(3):
    step = rows[axis, axis]
    assert abs(step) > 0 and np.count_nonzero(np.abs(rows[axis, :3]) > 1e-5) == 1
    if step < 0:
        ct = np.flip(ct, axis)
        origin[axis] += step * (n[axis] - 1)

data = open(sys.argv[2], "rb").read()
end = data.index(b"ElementDataFile")
fields = dict(line.split(" = ", 1) for line in data[:end].decode().splitlines())
numbers = lambda field: np.array([float(x) for x in fields[field].split()])
assert tuple(numbers("DimSize").astype(int)) == n and fields["Unit"] == "HU", fields
assert np.allclose(numbers("Offset"), origin, atol=1e-3), (fields["Offset"], origin)
assert np.allclose(numbers("ElementSpacing"), np.abs(np.diag(rows)), atol=1e-5), fields
back = np.frombuffer(data, "<f4", ct.size, data.index(b"\n", end) + 1).reshape(n, order="F")

# In the slices that all views see: no voxel beside is likelier, and tissues have their CT numbers.
part = (slice(2, -2), slice(2, -2), slice(n[2] // 8, n[2] - n[2] // 8))
alike = lambda axis, step: np.corrcoef(ct[part].ravel(), np.roll(back, step, axis)[part].ravel())[0, 1]
good = alike(0, 0) > 0.97
print("correlation %.4f" % alike(0, 0))
for axis in range(3):
    beside = [alike(axis, step) for step in (-1, 1)]
    good = good and max(beside) < alike(0, 0) and abs(beside[0] - beside[1]) < 2e-3
for name, low, high, allowed in (("air", -3000, -950, 10), ("lung", -950, -500, 15), ("soft tissue", -30, 130, 5), ("bone", 250, 5000, 20)):
    inside = (ct >= low) & (ct < high)
    for axis in range(3):
        inside = inside & np.roll(inside, 1, axis) & np.roll(inside, -1, axis)
    error = (back - ct)[part][inside[part]].mean()
    print("%s: mean error %.1f HU" % (name, error))
    good = good and abs(error) < allowed
sys.exit(0 if good else 1)
PYTHON
finish
