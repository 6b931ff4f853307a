# SPDX-License-Identifier: BSD-3-Clause
"""What compare_dose.py compares: its problem, curves and planes of a dose, gamma, penumbrae.

Doses are [x, y, z] in voxels of VOXEL mm; the beam travels along y on the middle of x and z.
"""
import math
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import slope_of  # noqa: E402

VOXEL = 2.0  # mm
SURFACE = 100.0  # mm before the isocentre
SOURCE = 1000.0  # mm before the isocentre, as plans of the tool have it
FIELD = 100.0  # mm
SLAB = (60.0, 140.0, 0.26)  # mm, mm, g/cm3
EQUAL_AT = 100.0  # mm
DEPTHS = (50.0, 100.0, 200.0)  # mm, of the profiles
# The first 5 mm, where the peer is known to be off; it gives no dose below 0.5 % of its maximum.
_SHALLOWEST = 5.0  # mm
DEEPEST = 250.0  # mm


def density(medium, size):
    """[x, y, z], g/cm3."""
    made = np.ones((size,) * 3, np.float32)
    if medium == "lung":
        depth = depths(size)
        made[:, (depth > SLAB[0]) & (depth < SLAB[1])] = SLAB[2]
    return made


def depths(size):
    """mm behind the surface, of the middles of the voxels."""
    return VOXEL * (np.arange(size) + 0.5)


def sides(size):
    """mm from the axis."""
    return VOXEL * (np.arange(size) - 0.5 * (size - 1))


def middle(dose, axis):
    """The mean of the two planes beside the axis."""
    half = dose.shape[axis] // 2
    return dose.take((half - 1, half), axis).mean(axis)


def depth_dose(dose):
    return middle(middle(dose, 2), 0)


def at_depth(dose, depth):
    """[x, z]: linear between two planes."""
    place = depth / VOXEL - 0.5
    below = int(place)
    part = place - below
    return (1 - part) * dose[:, below] + part * dose[:, below + 1]


def equal(dose):
    """1 at EQUAL_AT on the axis."""
    curve = depth_dose(dose.astype(np.float64))
    return dose / np.interp(EQUAL_AT, depths(curve.size), curve)


def refined(plane, times):
    """Linear between the values: `times` steps for each voxel."""
    for axis in (0, 1):
        count = plane.shape[axis]
        fine = np.arange((count - 1) * times + 1) / times
        low = np.minimum(fine.astype(int), count - 2)
        part = (fine - low).reshape((-1, 1) if axis == 0 else (1, -1))
        plane = (1 - part) * plane.take(low, axis) + part * plane.take(low + 1, axis)
    return plane


def gamma(reference, dose, dose_part, distance, times=8):
    """Gamma of every voxel of the plane `reference` with regard to `dose`, which is linear between
    its voxels; dose_part in the planes' unit, distance in mm; searched within two distances."""
    reach = int(2 * distance / VOXEL * times)
    fine = np.pad(refined(dose, times), reach, constant_values=np.nan)
    steps = np.arange(-reach, reach + 1)
    rows = np.arange(reference.shape[0])[:, None] * times
    columns = np.arange(reference.shape[1])[None, :] * times
    least = np.full(reference.shape, np.inf)
    for a in steps:
        for b in steps:
            away = (a * a + b * b) * (VOXEL / times / distance) ** 2
            if away > 4:
                continue
            there = fine[rows + a + reach, columns + b + reach]
            least = np.fmin(least, ((there - reference) / dose_part) ** 2 + away)
    return np.sqrt(least)


def edge_at(depth):
    """mm from the axis to the edge of the field."""
    return 0.5 * FIELD * (SOURCE - SURFACE + depth) / SOURCE


def gamma_rates(reference, dose, maximum, threshold):
    """Over three central planes: percentage of voxels with gamma at most 1 at 2 %/2 mm and at
    1 %/1 mm, the largest gamma, and how far from an edge of the field the farthest voxel lies that
    fails. Voxels below `threshold` of the maximum are left out."""
    depth, side = depths(dose.shape[1]), sides(dose.shape[0])
    deep = (depth > _SHALLOWEST) & (depth < DEEPEST)
    along = abs(abs(side)[:, None] - edge_at(depth)[None, :])  # [x, y]: mm from an edge
    across = abs(abs(side) - edge_at(EQUAL_AT))
    planes = (
        (middle(reference, 2), middle(dose, 2), deep[None, :], along),
        (middle(reference, 0), middle(dose, 0), deep[:, None], along.T),
        (at_depth(reference, EQUAL_AT), at_depth(dose, EQUAL_AT), True,
         np.minimum(across[:, None], across[None, :])),
    )  # fmt: skip
    result = {}
    for percent in (2, 1):
        values, from_edge = [], []
        for of_reference, of_dose, kept, away in planes:
            found = gamma(of_reference, of_dose, 0.01 * percent * maximum, float(percent))
            chosen = kept & (of_reference >= threshold * maximum)
            values.append(found[chosen])
            from_edge.append(away[chosen])
        values, from_edge = np.concatenate(values), np.concatenate(from_edge)
        failing = values > 1
        result[f"{percent} %/{percent} mm"] = {
            "rate": 100 * float(np.mean(~failing)),
            "largest": float(values.max()),
            "failing": int(failing.sum()),
            "farthest failing from an edge_mm": float(max(from_edge[failing], default=0)),
        }
    return result | {"voxels": int(values.size)}


def comparison(reference, dose, maximum):
    """Where and how much two doses that are equal at EQUAL_AT differ, in % of the maximum."""
    depth, side = depths(dose.shape[1]), sides(dose.shape[0])
    apart = 100 * (depth_dose(dose) - depth_dose(reference)) / maximum
    result = {"depth dose": {}, "profiles": {}}
    for low in (_SHALLOWEST, 10.0, 20.0):
        chosen = (depth >= low) & (depth <= DEEPEST)
        worst = np.flatnonzero(chosen)[np.argmax(abs(apart[chosen]))]
        result["depth dose"][f"{low:g} to {DEEPEST:g} mm"] = {
            "largest": float(abs(apart[worst])),
            "at_mm": float(depth[worst]),
            "rms": float(np.sqrt(np.mean(apart[chosen] ** 2))),
        }
    for at in DEPTHS:
        lines = [middle(at_depth(d, at), 1) for d in (reference, dose)]
        apart = 100 * (lines[1] - lines[0]) / maximum
        far = abs(abs(side) - edge_at(at)) > 6
        result["profiles"][f"{at:g} mm"] = {
            "largest": float(abs(apart).max()),
            "largest beyond 6 mm of an edge": float(abs(apart[far]).max()),
            "edges_mm": [[edge_place(side, line, way) for way in (-1, 1)] for line in lines],
            "penumbra_mm": [penumbra(side, line) for line in lines],
        }
    result["gamma from 10 %"] = gamma_rates(reference, dose, maximum, 0.1)
    result["gamma from 1 %"] = gamma_rates(reference, dose, maximum, 0.01)
    return result


def edge_place(side, line, way, level=0.5):
    """mm from the axis where the profile falls through `level` of its value on the axis."""
    line = line / np.interp(0, side, line)
    far = (way * side > 0) & (abs(side) > 20)
    order = np.argsort(line[far])
    return float(np.interp(level, line[far][order], side[far][order]))


def penumbra(side, line):
    """mm from 80 to 20 per cent, mean of both sides."""
    wide = [abs(edge_place(side, line, w, 0.2) - edge_place(side, line, w, 0.8)) for w in (-1, 1)]
    return float(np.mean(wide))


def self_test():
    size = 24
    wave = np.sin(np.arange(size) / 5.0)[:, None] + 0.1 * np.arange(size)[None, :]
    assert np.allclose(refined(wave, 4)[::4, ::4], wave)
    # A ramp of 0.1 a voxel, moved by d mm, is 0.1 d / 2 higher: a gamma of closed form.
    ramp = np.tile(0.1 * np.arange(size), (size, 1))
    for moved in (0.5, 1.5, 3.0):
        steep, found = 0.1 / VOXEL, gamma(ramp, ramp + 0.1 * moved / VOXEL, 0.1, 2.0, 16)
        expected = (moved * steep / 0.1) / math.hypot(1, 2.0 * steep / 0.1)
        assert abs(found[size // 2, size // 2] - expected) < 0.01, (moved, found, expected)
    assert abs(slope_of([1, 2, 4], [3, 24, 192]) - 3) < 1e-12
    dose = np.ones((size, size, size)) * np.exp(-0.005 * depths(size))[None, :, None]
    dose = np.where(abs(sides(size))[:, None, None] < 12, dose, 0.0)
    assert abs(depth_dose(dose)[3] - math.exp(-0.005 * 7)) < 1e-12
    line = np.clip((40 - abs(sides(64))) / 20 + 0.5, 0, 1)
    assert abs(edge_place(sides(64), line, 1) - 40) < 0.1
    assert abs(penumbra(sides(64), line) - 12) < 0.1
    lung = density("lung", 80)
    assert lung[0, 29, 0] == 1 and lung[0, 30, 0] == np.float32(0.26) and lung[0, 70, 0] == 1
