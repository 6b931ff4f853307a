# SPDX-License-Identifier: BSD-3-Clause
"""Hashes of small results, compared with those that the library's own test of bits prints."""

from __future__ import annotations

import importlib
import math
import pathlib
import types
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from . import _core, _load, dose, phantom
from ._calls import shown
from ._dvh import Structure
from ._fdk import fdk, filter_projections, weighted_back_project
from ._gamma import GammaSummary, gamma
from ._geometry import Geometry, Grid, even_angles
from ._iterative import cgls, lsqr, mlem, sart, total_variation
from ._matrix import DoseMatrix
from ._projection import back_project, project
from ._small_matrix import SHAPE, mixed, small_matrix


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


class _Arrays:
    """Where arrays lie: NumPy's on the host, CuPy's and PyTorch's on the GPU."""

    def __init__(self, name: str):
        self._name = name
        self._of: Any = np if name == "numpy" else importlib.import_module(name)

    def put(self, x: npt.NDArray[Any]) -> Any:
        """The same numbers there, in the same order of memory."""
        if self._name == "numpy":
            return x
        turn = np.argsort([-step for step in x.strides], kind="stable")
        dense, back = np.ascontiguousarray(x.transpose(turn)), np.argsort(turn).tolist()
        if self._name == "torch":
            return self._of.from_numpy(dense).cuda().permute(back)
        return self._of.asarray(dense).transpose(back)

    def get(self, x: Any) -> npt.NDArray[Any]:
        """An array of NumPy with the same order of memory."""
        if self._name == "numpy" or isinstance(x, np.ndarray):
            return cast("npt.NDArray[Any]", x)
        steps = x.stride() if self._name == "torch" else x.strides
        turn = np.argsort([-step for step in steps], kind="stable")
        back = np.argsort(turn)
        if self._name == "torch":
            host = x.permute(turn.tolist()).contiguous().cpu().numpy()
        else:
            host = self._of.asnumpy(x.transpose(turn.tolist()))
        return cast("npt.NDArray[Any]", host.transpose(back))

    def out(self, grid: Grid, dtype: npt.DTypeLike) -> Any:
        """What a function writes into that would make an array on the host; None there."""
        if self._name == "numpy":
            return None
        return self.put(np.zeros(grid.size, dtype).transpose(2, 1, 0))

    def out_of(self, scan: Geometry, dtype: npt.DTypeLike) -> Any:
        """The same of projections."""
        if self._name == "numpy":
            return None
        views, v, u = scan.shape
        return self.put(np.zeros((views, u, v), dtype).transpose(0, 2, 1))


def _scrambled(count: int, first: int = 0, step: int = 1) -> npt.NDArray[np.uint64]:
    """Numbers of 64 bits that look random: splitmix64 of the indices from the first one on."""
    index = np.uint64(first) + np.uint64(step) * np.arange(count, dtype=np.uint64)
    with np.errstate(over="ignore"):
        return mixed((index + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))


def _in_unit(count: int, first: int = 0, step: int = 1) -> npt.NDArray[np.float64]:
    """Numbers in [-1, 1) of the same indices, exact in float32."""
    z = _scrambled(count, first, step) >> np.uint64(40)
    return (z.astype(np.int64) - (1 << 23)) / float(1 << 23)


def _placed(grid: Grid, values: npt.NDArray[np.float64], dtype: npt.DTypeLike) -> Any:
    """Numbers in the library's order of voxels, as a volume."""
    return values.astype(dtype).reshape(grid.size).transpose(2, 1, 0)


def _random_volume(grid: Grid, dtype: npt.DTypeLike) -> Any:
    return _placed(grid, _in_unit(math.prod(grid.size)), dtype)


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


def _projections(
    dtype: npt.DTypeLike, on: _Arrays
) -> Iterator[tuple[str, Callable[[], Any]]]:
    large, small, box = Grid(*_LARGE), Grid(*_SMALL), Grid(*_BOX)
    cone, three = _small_cone(), _small_cone().subset(0, 3)
    yield "circular_cone", lambda: cone.vectors().astype(dtype)
    x = on.put(_random_volume(large, dtype))
    yield "project_joseph_ordered", lambda: project(cone, large, x)
    yield "project_joseph_reproducible", lambda: project(cone, large, x, sum="reproducible")
    yield "project_siddon", lambda: project(cone, large, x, projector="siddon")
    y = on.put(_random_volume(small, dtype))
    yield (
        "project_joseph_spline_ordered_cone",
        lambda: project(three, small, y, projector="joseph-spline"),
    )
    yield (
        "project_amanatides_woo_cone_cylinder",
        lambda: project(three, small, y, projector="amanatides-woo", region="cylinder"),
    )
    readings = on.put(_random_readings(cone, dtype))
    yield "back_project_cone", lambda: back_project(cone, box, readings)
    yield "back_project_cone_general", lambda: back_project(cone, box, readings, path="general")
    yield "back_project_siddon_cone", lambda: back_project(cone, box, readings, projector="siddon")
    parallel = _small_parallel()
    others = on.put(_random_readings(parallel, dtype))
    yield "back_project_parallel", lambda: back_project(parallel, box, others)
    head = phantom.shepp_logan(60)
    yield (
        "phantom_projection_cone",
        lambda: phantom.project(
            head, three, subsamples=3, dtype=dtype, out=on.out_of(three, dtype)
        ),
    )
    cube = Grid((48, 40, 44), (2.5, 3, 2.75))
    yield (
        "phantom_raster",
        lambda: phantom.rasterise(head, cube, samples=3, dtype=dtype, out=on.out(cube, dtype)),
    )


def _reconstructions(
    dtype: npt.DTypeLike, on: _Arrays
) -> Iterator[tuple[str, Callable[[], Any]]]:
    box, cone, parallel = Grid(*_BOX), _small_cone(), _small_parallel()

    def readings_of(scan: Geometry) -> Any:
        return on.put(_random_readings(scan, dtype))

    a, b = readings_of(cone), readings_of(parallel)
    yield "fdk_cone", lambda: fdk(cone, box, a)
    yield "fdk_cone_hann", lambda: fdk(cone, box, a, window="hann", cutoff=0.75)
    yield "fbp_parallel", lambda: fdk(parallel, box, b, window="shepp-logan")
    short, aside = _wide_cone(4, 0, 24), _wide_cone(6.25, 30, 23)
    yield "fdk_short_scan", lambda: fdk(short, box, readings_of(short))
    yield (
        "fdk_displaced_detector",
        lambda: fdk(aside, box, readings_of(aside), truncation_correction=6),
    )
    wide = _wide_cone(6.25, 0, 40)
    yield (
        "fdk_halves",
        lambda: weighted_back_project(wide, box, filter_projections(wide, readings_of(wide))),
    )
    scan, grid = _few_pixels(), Grid(*_ITERATED)
    c = on.put(phantom.project(_BODIES, scan, subsamples=1, dtype=dtype))
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


def _hill(grid: Grid, width: float, aside: float, rough: float, first: int) -> Any:
    """A hill about a point on the x axis, times 1 + `rough` times numbers that look random."""
    axes = [
        origin + step * np.arange(count, dtype=np.float64)
        for origin, step, count in zip(grid.origin, grid.spacing, grid.size, strict=True)
    ]
    x, y, z = np.meshgrid(axes[0] - aside, axes[1], axes[2], indexing="ij")
    heights = _core.elementary("exp", (-((x * x + y * y) + z * z) / (2 * width * width)).ravel())
    return heights * (1 + rough * _in_unit(heights.size, first))


def _numbers_of(summaries: tuple[GammaSummary, ...], dtype: npt.DTypeLike) -> Any:
    numbers: list[float] = []
    for s in summaries:
        numbers += [s.below_cut_off, s.compared, s.passed, s.outside, s.outside_passed]
        numbers += [s.maximum, s.mean, *s.histogram]
    return np.array(numbers, dtype)


def _comparisons(
    dtype: npt.DTypeLike, on: _Arrays
) -> Iterator[tuple[str, Callable[[], Any]]]:
    first = Grid((9, 8, 10), (2.5, 2, 3), (-11, -6, -13))
    second = Grid((12, 9, 11), (1.75, 2.25, 2.5), (-9, -8, -14))
    reference = on.put(_placed(first, _hill(first, 30, 0, 0.03, 0), dtype))
    evaluated = on.put(_placed(second, 1.01 * _hill(second, 30, 1, 0.03, 1 << 40), dtype))

    def compared(**options: Any) -> Any:
        criteria = ["3%/3mm", "2%/2mm", "1%/1mm"]
        return gamma(
            reference, evaluated, first, second, criteria=criteria, cut_off=0.2, **options
        )

    yield "gamma_trilinear", lambda: compared().values
    yield "gamma_tetrahedra", lambda: compared(interpolation="tetrahedra").values
    yield "gamma_local", lambda: compared(normalisation="local").values
    yield "gamma_summary", lambda: _numbers_of(compared(bins=20).summaries, dtype)


def _doses(
    dtype: npt.DTypeLike, on: _Arrays
) -> Iterator[tuple[str, Callable[[], Any]]]:
    ct = Grid((17, 29, 23), 1)
    hounsfield = on.put(_placed(ct, 1000 + 2500 * _in_unit(math.prod(ct.size)), dtype))
    yield "density_from_hounsfield", lambda: dose.density_from_hounsfield(hounsfield)
    body = Grid((33, 29, 41), (3, 4, 2.5))
    density = on.put(_placed(body, 1 + _in_unit(math.prod(body.size)), dtype))
    aside = dose.Beam.rectangle(
        -19, 22, -26, 17, gantry_deg=90, collimator_deg=14.32394487827058
    )

    def in_body(beam: dose.Beam, patient: Grid, there: Any, margin: float, **options: Any) -> Any:
        with dose.Calculator(patient, dtype=dtype, margin=margin, **options) as calculate:
            gray = on.get(calculate(beam, there))
        region = beam.region(patient, margin=margin)
        parts = []
        for axis in (2, 1, 0):
            far = (region.origin[axis] - patient.origin[axis]) / patient.spacing[axis]
            parts.append(slice(round(far), round(far) + region.size[axis]))
        return np.asfortranarray(gray[tuple(parts)])

    yield (
        "dose_lattice_four_terms",
        lambda: in_body(
            aside,
            body,
            density,
            12,
            kernel="6mv_quad",
            cones=5,
            azimuths=9,
            placing="equal_solid_angle",
        ),
    )
    yield (
        "dose_voxel_samples",
        lambda: in_body(
            aside, body, density, 12, cones=4, azimuths=4, engine="voxel_samples", radial_step=2
        ),
    )
    water = Grid((21, 22, 20), (8, 7, 9))
    square = dose.Beam.rectangle(-50, 50, -50, 50, gantry_deg=20.05352282957881)
    ones = on.put(np.ones(water.shape, dtype))
    # By ranks, of which one has the same bits.
    yield (
        "dose_ranked",
        lambda: in_body(square, water, ones, 300, cones=4, azimuths=4, engine="voxel_lines"),
    )


def _sphere(**options: Any) -> Structure:
    """Contours of a sphere of 24 mm, 2 mm apart."""
    turn = 2 * math.pi / 360
    outwards = math.sqrt(turn / math.sin(turn))
    contours = []
    for n in range(12):
        z = (n + 0.5) * 2 - 12
        r = outwards * math.sqrt(144 - z * z)
        contours.append(
            [[r * math.cos(turn * m), r * math.sin(turn * m), z] for m in range(360)]
        )
    return Structure(contours, "body", **options)


def _structures(
    dtype: npt.DTypeLike, on: _Arrays
) -> Iterator[tuple[str, Callable[[], Any]]]:
    gray = Grid((11, 12, 13), (3, 2.5, 2.25))

    def shares(**options: Any) -> Any:
        sphere = _sphere(**options)
        found = sphere._core.grid(gray._core, 3)
        there = Grid(found.size, found.spacing, found.origin)
        return sphere.fractions(there, dtype=dtype, out=on.out(there, dtype))[0]

    yield "dvh_fractions", lambda: shares()
    yield "dvh_fractions_rounded", lambda: shares(caps="rounded")


def _vectors(length: int, vectors: int = 1) -> npt.NDArray[np.float64]:
    """Numbers of many magnitudes and both signs, in all bits."""
    first, count = 1 << 40, length * vectors
    x = _in_unit(count, first, 3) + 2.0**-24 * _in_unit(count, first + 1, 3)
    x = np.ldexp(x, (_scrambled(count, first + 2, 3) % np.uint64(9)).astype(np.int32))
    return x if vectors == 1 else x.reshape(length, vectors)


def _products(
    dtype: npt.DTypeLike, on: _Arrays
) -> Iterator[tuple[str, Callable[[], Any]]]:
    if dtype is np.float32:
        return  # vectors are doubles
    indptr, indices, values = small_matrix()
    whole = types.SimpleNamespace(
        format="csr",
        shape=SHAPE,
        indptr=on.put(indptr),
        indices=on.put(indices),
        data=on.put(values),
    )
    wide = types.SimpleNamespace(**{**vars(whole), "data": on.put(values.astype(np.float64))})

    def product(matrix: Any, transposed: bool = False, vectors: int = 1, **options: Any) -> Any:
        x = on.put(_vectors(SHAPE[0] if transposed else SHAPE[1], vectors))
        with DoseMatrix(matrix, vectors=vectors, **options) as a:
            return (a.T if transposed else a)(x, sum="reproducible")

    yield "spmv_half_reproducible", lambda: product(whole, values="half")
    yield "spmv_bfloat16_reproducible", lambda: product(whole, values="bfloat16")
    yield "spmv_float_reproducible", lambda: product(whole)
    yield "spmv_double_reproducible", lambda: product(wide)
    yield "spmv_half_transposed_reproducible", lambda: product(whole, True, values="half")
    yield "spmv_half_vectors_reproducible", lambda: product(whole, vectors=6, values="half")


def _expected() -> dict[str, str]:
    text = pathlib.Path(__file__).with_name("hashes.txt").read_text()
    lines = (line.split() for line in text.splitlines())
    return {f"{name} {kind}": found for name, kind, found in lines}


def verify(arrays: Literal["numpy", "cupy", "torch"] = "numpy") -> list[Check]:
    """Compute 76 small results and compare their bits with the library's own.

    They are of phantoms, projection and its adjoint by several methods, filtered backprojection
    with its halves, all iterative methods, gamma, densities and dose by three engines, shares of
    structures, in float32 and float64, and of products with matrices stored in four types. What
    they share with other functions, such as arithmetic and sums, is compared by them.

    The expected hashes are those that the library's test of bits prints, on every backend and by
    every compiler. It takes a few seconds.

    Parameters
    ----------
    arrays : {'numpy', 'cupy', 'torch'}
        Whose arrays are computed on: those of CuPy and PyTorch lie on the GPU, and so are computed
        there, which needs the plug-in isocenter-cu13.

    Returns
    -------
    list of Check
        One for each operation and type of numbers; ``all(c.passed for c in verify())`` should hold.

    Raises
    ------
    ValueError
        For another framework, and for one on the GPU without the plug-in.

    Notes
    -----
    Determinism: the same hashes everywhere.
    """
    if arrays not in ("numpy", "cupy", "torch"):
        raise ValueError(
            f"verify: arrays {shown(arrays)} (there are 'numpy', 'cupy' and 'torch'); choose one "
            "of them"
        )
    if arrays != "numpy" and not _core.has_cuda:
        raise ValueError(
            f"verify: arrays of {arrays} lie on a GPU (none is used: {_load.reason}); install "
            "isocenter-cu13, or leave arrays out"
        )
    on, expected = _Arrays(arrays), _expected()
    checks = []
    for dtype, kind in ((np.float32, "float"), (np.float64, "double")):
        for part in (
            _projections,
            _reconstructions,
            _comparisons,
            _doses,
            _structures,
            _products,
        ):
            for name, compute in part(dtype, on):
                full, found = f"{name} {kind}", _core.hash_bits(on.get(compute()))
                checks.append(Check(full, expected[full], found))
    return checks
