# SPDX-License-Identifier: BSD-3-Clause
"""Hashes of small results, compared with those that the library's own test of bits prints."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core, phantom
from ._fdk import fdk, filter_projections, weighted_back_project
from ._geometry import Geometry, Grid, even_angles
from ._iterative import cgls, lsqr, mlem, sart, total_variation
from ._projection import back_project, project


class Check(NamedTuple):
    """One comparison of `verify`.

    Attributes
    ----------
    name : str
        The operation and the type of its numbers.
    expected, found : str
        Hashes of the result's bits (FNV-1a, 64 bits).
    """

    name: str
    expected: str
    found: str

    @property
    def passed(self) -> bool:
        """Whether every bit is the same."""
        return self.expected == self.found


def _in_unit(count: int) -> npt.NDArray[np.float64]:
    """Numbers in [-1, 1) that look random, exact in float32: splitmix64 of the index."""
    with np.errstate(over="ignore"):
        z = (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(40)).astype(np.int64) - (1 << 23)) / float(1 << 23)


def _random_volume(grid: Grid, dtype: npt.DTypeLike) -> Any:
    x, y, z = grid.size
    return _in_unit(x * y * z).astype(dtype).reshape(x, y, z).transpose(2, 1, 0)


def _random_readings(scan: Geometry, dtype: npt.DTypeLike) -> Any:
    views, v, u = scan.shape
    return _in_unit(views * u * v).astype(dtype).reshape(views, u, v).transpose(0, 2, 1)


def _small_cone() -> Geometry:
    return Geometry.circular_cone(
        pixels=(45, 50),
        pitch=(5.1, 1.7),
        offset=(3.3, -1.1),
        source_axis=500,
        source_detector=800,
        angles=even_angles(9, 2 * np.pi, 0.01),
    )


def _small_parallel() -> Geometry:
    return Geometry.circular_parallel(
        pixels=(45, 50), pitch=(3.1, 0.9), offset=(0.4, -0.3), angles=even_angles(9, np.pi)
    )


def _small_tilted() -> npt.NDArray[np.float64]:
    vectors = _small_cone().vectors()
    vectors[:, 2] += 31.25
    vectors[:, 9:] += 0.125 * vectors[:, 6:9]
    return vectors


def _few_pixels() -> Geometry:
    vectors = _small_tilted()
    vectors[:, 6:9] *= 3.75
    vectors[:, 9:] *= 4.5
    return Geometry.from_vectors(vectors, pixels=(12, 11))


def _wide_cone(arc: float, offset: float, views: int) -> Geometry:
    return Geometry.circular_cone(
        pixels=(31, 37),
        pitch=4,
        offset=(offset, 0),
        source_axis=200,
        source_detector=320,
        angles=even_angles(views, arc, 0.25),
    )


_LARGE = ((144, 136, 40), (0.9, 1.0, 1.1))
_SMALL = ((70, 66, 24), (0.9, 1.0, 1.1))
_BOX = ((23, 19, 70), (3, 2.5, 1.25))
_ITERATED = ((11, 10, 12), (6, 6.5, 7))
_BODIES = [[0, 0, 0, 25, 20, 30, 0, 0.02], [8, 3, 5, 9, 7, 8, 0, 0.03]]


def _projections(dtype: npt.DTypeLike) -> Iterator[tuple[str, Callable[[], Any]]]:
    large, small, box = Grid(*_LARGE), Grid(*_SMALL), Grid(*_BOX)
    cone, three = _small_cone(), _small_cone().subset(0, 3)
    yield "circular_cone", lambda: cone.vectors().astype(dtype)
    x = _random_volume(large, dtype)
    yield "project_joseph_ordered", lambda: project(cone, large, x)
    yield "project_joseph_reproducible", lambda: project(cone, large, x, sum="reproducible")
    yield "project_siddon", lambda: project(cone, large, x, projector="siddon")
    y = _random_volume(small, dtype)
    yield (
        "project_joseph_spline_ordered_cone",
        lambda: project(three, small, y, projector="joseph-spline"),
    )
    yield (
        "project_amanatides_woo_cone_cylinder",
        lambda: project(three, small, y, projector="amanatides-woo", region="cylinder"),
    )
    readings = _random_readings(cone, dtype)
    yield "back_project_cone", lambda: back_project(cone, box, readings)
    yield "back_project_cone_general", lambda: back_project(cone, box, readings, path="general")
    yield "back_project_siddon_cone", lambda: back_project(cone, box, readings, projector="siddon")
    parallel = _small_parallel()
    others = _random_readings(parallel, dtype)
    yield "back_project_parallel", lambda: back_project(parallel, box, others)
    head = phantom.shepp_logan(60)
    yield (
        "phantom_projection_cone",
        lambda: phantom.project(head, three, subsamples=3, dtype=dtype),
    )
    cube = Grid((48, 40, 44), (2.5, 3, 2.75))
    yield "phantom_raster", lambda: phantom.rasterise(head, cube, samples=3, dtype=dtype)


def _reconstructions(dtype: npt.DTypeLike) -> Iterator[tuple[str, Callable[[], Any]]]:
    box, cone, parallel = Grid(*_BOX), _small_cone(), _small_parallel()
    a, b = _random_readings(cone, dtype), _random_readings(parallel, dtype)
    yield "fdk_cone", lambda: fdk(cone, box, a)
    yield "fdk_cone_hann", lambda: fdk(cone, box, a, window="hann", cutoff=0.75)
    yield "fbp_parallel", lambda: fdk(parallel, box, b, window="shepp-logan")
    short, aside = _wide_cone(4, 0, 24), _wide_cone(6.25, 30, 23)
    yield "fdk_short_scan", lambda: fdk(short, box, _random_readings(short, dtype))
    yield (
        "fdk_displaced_detector",
        lambda: fdk(aside, box, _random_readings(aside, dtype), truncation_correction=6),
    )
    wide = _wide_cone(6.25, 0, 40)
    yield (
        "fdk_halves",
        lambda: weighted_back_project(
            wide, box, filter_projections(wide, _random_readings(wide, dtype))
        ),
    )
    scan, grid = _few_pixels(), Grid(*_ITERATED)
    c = phantom.project(_BODIES, scan, subsamples=1, dtype=dtype)
    yield "sirt_tilted", lambda: sart(scan, grid, c, iterations=3).volume
    yield (
        "os_sart_tilted",
        lambda: sart(scan, grid, c, iterations=3, block=3, relaxation=0.7).volume,
    )
    yield "mlem_tilted", lambda: mlem(scan, grid, c, iterations=3).volume
    yield "osem_tilted", lambda: mlem(scan, grid, c, iterations=3, block=3).volume
    yield "cgls_tilted", lambda: cgls(scan, grid, c, iterations=3).volume
    yield "lsqr_tilted", lambda: lsqr(scan, grid, c, iterations=3, damping=30).volume
    yield (
        "total_variation_tilted",
        lambda: total_variation(
            scan, grid, c, iterations=3, stop_gap=0, weight=20, lower=-1, upper=1
        ).volume,
    )


def _expected() -> dict[str, str]:
    text = pathlib.Path(__file__).with_name("hashes.txt").read_text()
    lines = (line.split() for line in text.splitlines())
    return {f"{name} {kind}": found for name, kind, found in lines}


def verify() -> list[Check]:
    """Compute 50 small results and compare their bits with the library's own.

    They are of phantoms, projection and its adjoint by several methods, filtered backprojection
    with its halves, and all iterative methods, in float32 and float64. What they share with other
    functions, such as arithmetic and sums, is compared by them.

    The expected hashes are those that the library's test of bits prints, on every backend and by
    every compiler. It takes a few seconds.

    Returns
    -------
    list of Check
        One for each operation and type of numbers; ``all(c.passed for c in verify())`` should hold.
    """
    expected = _expected()
    checks = []
    for dtype, kind in ((np.float32, "float"), (np.float64, "double")):
        for part in (_projections, _reconstructions):
            for name, compute in part(dtype):
                full = f"{name} {kind}"
                checks.append(Check(full, expected[full], _core.hash_bits(compute())))
    return checks
