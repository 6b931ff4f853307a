# SPDX-License-Identifier: BSD-3-Clause
"""Filtered backprojection: cone beams by FDK, parallel beams by FBP."""

from __future__ import annotations

import dataclasses
from typing import Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from . import _core
from ._calls import ArrayT, Axes, Closing, Event, Progress, VOLUME, device_array, event, how
from ._calls import PROJECTIONS, integer, like, memory_of, order, progress_of, real_type
from ._geometry import Geometry, Grid, cores, scan_core
from ._options import FdkOptions, ScanOptions


def fdk(
    geometry: Geometry,
    grid: Grid,
    projections: ArrayT,
    *,
    out: object = None,
    add: bool = False,
    memory: int | str | None = None,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    progress: Progress = None,
    **options: Unpack[FdkOptions],
) -> ArrayT:
    """Reconstruct a volume by filtered backprojection.

    Cone beams by the method of Feldkamp, Davis and Kress (JOSA A 1(6), 1984), parallel beams by
    FBP. The sources must lie on a circle about the z axis, in any order of views.

    Parameters
    ----------
    geometry : Geometry
        The scan.
    grid : Grid
        The voxels of the result.
    projections : array of float32 or float64, shape (view, v, u)
        Line integrals, dimensionless.
    out : array, shape (z, y, x), optional
        What is written and returned in place of a new array.
    add : bool
        Add to ``out`` in place of overwriting it.
    memory : int or str, optional
        Bytes of the device that computes, through which volume and readings on the host pass: see
        `project`. No bit changes.
    axes, copy, cancel, progress
        As `project`.
    **options
        See `FdkOptions`: the filter's window and cutoff, arc and detector (short scans, displaced
        detectors), truncation_correction, max_roll in rad.

    Returns
    -------
    array of the same type, shape (z, y, x)
        Voxels, 1/mm; in the library's order of memory, z fastest.

    Raises
    ------
    ValueError
        For a scan that is no circle, an arc that is too short, a voxel at or behind a source.
    TypeError, OutOfMemory, Cancelled
        As `project`.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    scan, box = cores("fdk", geometry, grid)
    laid = order(axes, "fdk")
    if out is None and not add:
        out = device_array(projections, box.size, VOLUME[laid])
    result = _core.fdk(
        scan,
        box,
        projections,
        out,
        bool(add),
        memory_of(memory, "fdk"),
        *how("fdk", options, laid, copy, cancel, progress),
    )
    return cast(ArrayT, like(projections, result, out))


class Fdk(Closing[_core.Fdk]):
    """A filtered backprojection for many scans of one geometry on one grid.

    It keeps the filter, the weights and the scratch memory. `close`, or the end of a ``with``
    block, gives its memory back.

    Parameters
    ----------
    geometry : Geometry
        The scan.
    grid : Grid
        The voxels.
    dtype : float32 or float64
        The type of its arrays.
    memory, axes, copy
        As `fdk`, of all its calls.
    **options
        See `FdkOptions`.

    Raises
    ------
    ValueError, OutOfMemory
        As `fdk`.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """

    __slots__ = ("_axes", "_geometry", "_grid")

    def __init__(
        self,
        geometry: Geometry,
        grid: Grid,
        *,
        dtype: npt.DTypeLike = np.float32,
        memory: int | str | None = None,
        axes: Axes = "zyx",
        copy: bool | None = None,
        **options: Unpack[FdkOptions],
    ) -> None:
        scan, box = cores("Fdk", geometry, grid)
        is_double = real_type(dtype, "Fdk") == np.float64
        laid = order(axes, "Fdk")
        self._geometry, self._grid, self._axes = geometry, grid, laid
        limit = memory_of(memory, "Fdk")
        self._core = _core.Fdk(scan, box, is_double, limit, dict(options), laid, copy is not False)

    @property
    def geometry(self) -> Geometry:
        """The scan."""
        return self._geometry

    @property
    def grid(self) -> Grid:
        """The voxels."""
        return self._grid

    @property
    def bytes(self) -> int:
        """Bytes of memory that it holds; 0 once it is closed."""
        return self._core.bytes

    @property
    def arc(self) -> str:
        """The arc that the scan was found to cover: 'full' or 'short'."""
        return self._core.arc

    @property
    def detector(self) -> str:
        """The place of the detector that was found: 'centred' or 'displaced'."""
        return self._core.detector

    def __call__(
        self,
        projections: ArrayT,
        out: object = None,
        *,
        add: bool = False,
        cancel: Event | None = None,
        progress: Progress = None,
    ) -> ArrayT:
        """Reconstruct a volume.

        Parameters
        ----------
        projections, out, add, cancel, progress
            As `fdk`.

        Returns
        -------
        array of the projections' type, shape (z, y, x)
            Voxels, 1/mm: those of `fdk`.
        """
        tell = progress_of(progress, "Fdk")
        if out is None and not add:
            out = device_array(projections, self._grid.size, VOLUME[self._axes])
        result = self._core.apply(projections, out, bool(add), event(cancel, "Fdk"), tell)
        return cast(ArrayT, like(projections, result, out))

    def __repr__(self) -> str:
        return f"Fdk({self._geometry!r}, {self._grid!r})"


def filter_projections(
    geometry: Geometry,
    projections: ArrayT,
    *,
    out: object = None,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    progress: Progress = None,
    **options: Unpack[FdkOptions],
) -> ArrayT:
    """Weigh and filter projections: the first half of `fdk`.

    Parameters
    ----------
    geometry : Geometry
        The scan.
    projections : array of float32 or float64, shape (view, v, u)
        Line integrals, dimensionless.
    out, axes, copy, cancel, progress, **options
        As `fdk`.

    Returns
    -------
    array of the same type, shape (view, v, before + u + after)
        Filtered rows, with the columns that the filter adds before and after the detector's:
        `scan_weights` says how many.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    name = "filter_projections"
    scan, laid = scan_core(name, geometry), order(axes, name)
    if out is None and _core.has_cuda:
        wide = _core.filtered_extents(scan, dict(options))
        out = device_array(projections, wide, PROJECTIONS[laid])
    result = _core.filter_projections(
        scan,
        projections,
        out,
        *how(name, options, laid, copy, cancel, progress),
    )
    return cast(ArrayT, like(projections, result, out))


def weighted_back_project(
    geometry: Geometry,
    grid: Grid,
    filtered: ArrayT,
    *,
    out: object = None,
    add: bool = False,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    progress: Progress = None,
    **options: Unpack[FdkOptions],
) -> ArrayT:
    """Backproject filtered projections with FDK's weights: the second half of `fdk`.

    It is not the adjoint of `project`: `back_project` is.

    Parameters
    ----------
    geometry : Geometry
        The scan.
    grid : Grid
        The voxels of the result.
    filtered : array of float32 or float64, shape (view, v, before + u + after)
        What `filter_projections` returns, with the same options.
    out, add, axes, copy, cancel, progress, **options
        As `fdk`.

    Returns
    -------
    array of the same type, shape (z, y, x)
        Voxels, 1/mm. The two halves give the bits of `fdk`.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    name = "weighted_back_project"
    scan, box = cores(name, geometry, grid)
    laid = order(axes, name)
    if out is None and not add:
        out = device_array(filtered, box.size, VOLUME[laid])
    result = _core.weighted_back_project(
        scan,
        box,
        filtered,
        out,
        bool(add),
        *how(name, options, laid, copy, cancel, progress),
    )
    return cast(ArrayT, like(filtered, result, out))


@dataclasses.dataclass(frozen=True, eq=False)
class ScanWeights:
    """The weights of a scan's readings in filtered backprojection.

    Attributes
    ----------
    arc : {'full', 'short'}
        The arc that was chosen.
    detector : {'centred', 'displaced'}
        The placement of the detector that was chosen.
    angles : ndarray of float64, shape (view,)
        The arc that each view stands for, rad: half of the gaps to its neighbours. Half of that in
        a parallel beam that has seen every ray twice. The views' directions are not here.
    before, after : int
        Columns that the filter adds on either side of the detector.
    redundancy_weights : ndarray of float64, shape (rows, before + u + after)
        The weights of columns: rows is 0 where all are 1, 1 where they are the same in all views,
        else the number of views.
    """

    arc: str
    detector: str
    angles: npt.NDArray[np.float64]
    before: int
    after: int
    redundancy_weights: npt.NDArray[np.float64]


def scan_weights(geometry: Geometry, **options: Unpack[ScanOptions]) -> ScanWeights:
    """Return how much each reading of a scan counts in filtered backprojection.

    Parameters
    ----------
    geometry : Geometry
        The scan.
    **options
        See `ScanOptions`.

    Returns
    -------
    ScanWeights
        The arc and the detector that were found, and the weights.

    Raises
    ------
    ValueError
        For a scan that filtered backprojection does not take.

    Notes
    -----
    Determinism: the same bits everywhere.
    """
    found: dict[str, Any] = _core.weigh_scan(scan_core("scan_weights", geometry), dict(options))
    return ScanWeights(**found)


def ramp_taps(count: int, **options: Unpack[FdkOptions]) -> npt.NDArray[np.float64]:
    """Return the taps 0 to ``count - 1`` of the ramp filter for pixels at distance 1.

    Parameters
    ----------
    count : int
        Number of taps, at least 1. The filter is symmetric.
    **options
        ``window`` and ``cutoff`` of `FdkOptions`.

    Returns
    -------
    ndarray of float64, shape (count,)

    Notes
    -----
    Determinism: the same bits everywhere.
    """
    return _core.ramp_taps(integer(count, "ramp_taps: count"), dict(options))
