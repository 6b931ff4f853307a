# SPDX-License-Identifier: BSD-3-Clause
"""Gamma of a dose in three dimensions, as figure 9 of the nonvoxel paper counts it."""
import itertools
import math

import numpy as np


def failing(reference, evaluated, spacing, tolerance=0.02, distance=2.0, parts=4):
    """Where no point of `evaluated`, linear between its voxels, lies within the ellipsoid of the
    criteria about a voxel of `reference`. Points are taken at parts of the distance along each
    axis."""
    failed = np.abs(evaluated - reference) > tolerance * reference.max()
    at = np.stack(np.nonzero(failed))
    wanted = reference[failed].astype(float)
    step = distance / parts
    steps = range(-parts, parts + 1)
    offsets = sorted((math.hypot(*o), o) for o in itertools.product(steps, repeat=3)
                     if 0 < math.hypot(*o) <= parts)
    for length, offset in offsets:
        if wanted.size == 0:
            break
        share = length * step / distance
        allowed = tolerance * reference.max() * math.sqrt(max(1 - share * share, 0))
        place = at + np.array([o * step / d for o, d in zip(offset, spacing)])[:, None]
        remain = ~(np.abs(_between(evaluated, place) - wanted) <= allowed)
        at, wanted = at[:, remain], wanted[remain]
    out = np.zeros(reference.shape, bool)
    out[tuple(at)] = True
    return out


def _between(values, place):
    """Trilinear; NaN outside of the voxels' middles."""
    last = np.array(values.shape)[:, None] - 1
    outside = ((place < 0) | (place > last)).any(axis=0)
    low = np.clip(np.floor(place).astype(int), 0, np.maximum(last - 1, 0))
    part = place - low
    total = np.zeros(place.shape[1])
    for corner in itertools.product((0, 1), repeat=3):
        weight = np.ones(place.shape[1])
        for axis in range(3):
            weight = weight * (part[axis] if corner[axis] else 1 - part[axis])
        index = tuple(np.minimum(low[axis] + corner[axis], last[axis]) for axis in range(3))
        total = total + weight * values[index]
    total[outside] = math.nan
    return total


def self_test():
    x = np.arange(20.0)
    ramp = np.broadcast_to(x[:, None, None], (20, 20, 20)).copy()
    # A shift along a steep ramp is a distance: 1.5 mm pass, 2.5 mm do not.
    assert not failing(ramp, ramp + 1.5 / 2, (2, 2, 2), tolerance=1e-3)[2:-2].any()
    assert failing(ramp, ramp + 2.5 / 2, (2, 2, 2), tolerance=1e-3)[2:-2].all()
    flat = np.full((6, 6, 6), 1.0)
    assert not failing(flat, flat * 1.019, (2, 2, 2)).any()
    assert failing(flat, flat * 1.021, (2, 2, 2)).all()
