#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether a volume that was reconstructed from a scan of a CT is that CT.

    compare_with_ct.py CT.nii.gz VOLUME.mha

It lies where the CT lies, no shift by a voxel is likelier, and tissues have their CT numbers.
"""
import gzip
import struct
import sys

import numpy as np

# NIfTI-1: x fastest; rows of the sform lie along right, anterior, superior.
raw = gzip.open(sys.argv[1]).read()
n = struct.unpack_from("<3h", raw, 42)
slope, shift = struct.unpack_from("<2f", raw, 112)
first = int(struct.unpack_from("<f", raw, 108)[0])
ct = np.frombuffer(raw, "<i2", n[0] * n[1] * n[2], first).reshape(n, order="F")
ct = ct * (slope or 1.0) + (shift if slope else 0)
rows = np.array(struct.unpack_from("<12f", raw, 280)).reshape(3, 4)
rows = rows * np.array([[-1], [-1], [1]])
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


def numbers(field):
    return np.array([float(x) for x in fields[field].split()])


assert tuple(numbers("DimSize").astype(int)) == n and fields["Unit"] == "HU", fields
assert np.allclose(numbers("Offset"), origin, atol=1e-3), (fields["Offset"], origin)
assert np.allclose(numbers("ElementSpacing"), np.abs(np.diag(rows)), atol=1e-5), fields
back = np.frombuffer(data, "<f4", ct.size, data.index(b"\n", end) + 1).reshape(n, order="F")

# In the slices that all views see: no voxel beside is likelier, and tissues have their CT numbers.
part = (slice(2, -2), slice(2, -2), slice(n[2] // 8, n[2] - n[2] // 8))


def alike(axis, step):
    return np.corrcoef(ct[part].ravel(), np.roll(back, step, axis)[part].ravel())[0, 1]


good = alike(0, 0) > 0.97
print("correlation %.4f" % alike(0, 0))
for axis in range(3):
    beside = [alike(axis, step) for step in (-1, 1)]
    good = good and max(beside) < alike(0, 0) and abs(beside[0] - beside[1]) < 2e-3
for name, low, high, allowed in (("air", -3000, -950, 10), ("lung", -950, -500, 15),
                                 ("soft tissue", -30, 130, 5), ("bone", 250, 5000, 20)):
    inside = (ct >= low) & (ct < high)
    for axis in range(3):
        inside = inside & np.roll(inside, 1, axis) & np.roll(inside, -1, axis)
    error = (back - ct)[part][inside[part]].mean()
    print("%s: mean error %.1f HU" % (name, error))
    good = good and abs(error) < allowed
sys.exit(0 if good else 1)
