# SPDX-License-Identifier: BSD-3-Clause
"""Projection of volumes along the rays of a scan, and its adjoint."""

from __future__ import annotations

from typing import Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from . import _core
from ._calls import ArrayT, Axes, Closing, Event, PROJECTIONS, Progress, VOLUME
from ._calls import device_array, event, how, like, memory_of, order, progress_of, real_type
from ._calls import streamed
from ._geometry import Geometry, Grid, cores
from ._options import BackProjectOptions, ProjectOptions, ProjectorOptions


def project(
    geometry: Geometry,
    grid: Grid,
    volume: ArrayT,
    *,
    out: object = None,
    memory: int | str | None = None,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    progress: Progress = None,
    **options: Unpack[ProjectOptions],
) -> ArrayT:
    """Compute line integrals of a volume along the ray of every detector pixel.

    A cone ray runs from the source to its pixel and not beyond; a parallel ray is a whole line.

    Parameters
    ----------
    geometry : Geometry
        The scan.
    grid : Grid
        The voxels of ``volume``.
    volume : array of float32 or float64, shape (z, y, x)
        Values of voxels, 1/mm. NumPy's, or any that speaks DLPack.
    out : array, shape (view, v, u), optional
        What is overwritten and returned in place of a new array.
    memory : int or str, optional
        Bytes, such as ``"4GiB"``, of the device that computes: a volume on the host passes through
        them, a few planes at a time. Sums are then reproducible, and no other bit changes.
    axes : {'zyx', 'xyz'}
        'xyz': shapes are (x, y, z) and (view, u, v).
    copy : bool, optional
        False: refuse an array whose memory is in another order than the library's, instead of
        reordering a copy of it. See `native`.
    cancel : threading.Event, optional
        Ends the call when it is set.
    progress : bool or callable, optional
        True for a bar, or a callable of a fraction in [0, 1].
    **options
        See `ProjectOptions`: the projector, edge, region, oversampling, sum, max_abs.

    Returns
    -------
    array of the same type, shape (view, v, u)
        Line integrals, dimensionless; in the library's order of memory, v fastest.

    Raises
    ------
    ValueError
        For a shape that does not fit, memory with gaps, an option out of its range.
    TypeError
        For what is no array of float32 or float64.
    OutOfMemory
        A `MemoryError` with the bytes asked for.
    Cancelled
        ``cancel`` was set.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    scan, box = cores("project", geometry, grid)
    limit = memory_of(memory, "project")
    laid = order(axes, "project")
    if out is None:
        out = device_array(volume, scan.extents, PROJECTIONS[laid])
    result = _core.project(
        scan,
        box,
        volume,
        out,
        limit,
        *how("project", streamed(dict(options), limit), laid, copy, cancel, progress),
    )
    return cast(ArrayT, like(volume, result, out))


def back_project(
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
    **options: Unpack[BackProjectOptions],
) -> ArrayT:
    """Compute the exact adjoint of `project`.

    Every voxel gets the sum, over the rays that the projection of the same options takes through
    it, of the reading times the voxel's weight in that ray: <project(x), y> = <x,
    back_project(y)> but for the rounding of sums. For a reconstruction by filtered backprojection
    see `fdk`.

    Parameters
    ----------
    geometry : Geometry
        The scan.
    grid : Grid
        The voxels of the result.
    projections : array of float32 or float64, shape (view, v, u)
        Readings, dimensionless.
    out : array, shape (z, y, x), optional
        What is written and returned in place of a new array.
    add : bool
        Add to ``out`` in place of overwriting it.
    memory, axes, copy, cancel, progress
        As `project`.
    **options
        See `BackProjectOptions`.

    Returns
    -------
    array of the same type, shape (z, y, x)
        Voxels, mm times the unit of the readings; in the library's order of memory, z fastest.

    Raises
    ------
    ValueError, TypeError, OutOfMemory, Cancelled
        As `project`.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    scan, box = cores("back_project", geometry, grid)
    laid = order(axes, "back_project")
    if out is None and not add:
        out = device_array(projections, box.size, VOLUME[laid])
    result = _core.back_project(
        scan,
        box,
        projections,
        out,
        bool(add),
        memory_of(memory, "back_project"),
        *how("back_project", options, laid, copy, cancel, progress),
    )
    return cast(ArrayT, like(projections, result, out))


class Projector(Closing[_core.Projector]):
    """A projection A of volumes on one grid along the rays of one scan, and its adjoint ``A.T``.

    It keeps the views and the scratch memory, so that a call allocates no more than its result,
    and nothing with ``out``. ``A @ x`` is ``A(x)``; ``A.T @ y`` is ``A.T(y)``. Threads may share
    it: their calls come one after the other. `close`, or the end of a ``with`` block, gives its
    memory back.

    Parameters
    ----------
    geometry : Geometry
        The scan.
    grid : Grid
        The voxels.
    dtype : float32 or float64
        The type of its arrays.
    memory, axes, copy
        As `project`, of all its calls.
    **options
        See `ProjectorOptions`.

    Raises
    ------
    ValueError
        For an option out of its range.
    OutOfMemory
        A `MemoryError` with the bytes asked for.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """

    __slots__ = (
        "_adjoint",
        "_axes",
        "_copy",
        "_dtype",
        "_geometry",
        "_grid",
        "_memory",
        "_options",
    )

    def __init__(
        self,
        geometry: Geometry,
        grid: Grid,
        *,
        dtype: npt.DTypeLike = np.float32,
        memory: int | str | None = None,
        axes: Axes = "zyx",
        copy: bool | None = None,
        **options: Unpack[ProjectorOptions],
    ) -> None:
        self._dtype = real_type(dtype, "Projector")
        scan, box = cores("Projector", geometry, grid)
        self._geometry, self._grid = geometry, grid
        self._options, self._axes, self._copy = options, axes, copy
        self._memory = memory_of(memory, "Projector")
        self._core = _core.Projector(
            scan,
            box,
            self._dtype == np.float64,
            self._memory,
            streamed(dict(options), self._memory),
            order(axes, "Projector"),
            copy is not False,
        )
        self._adjoint: Adjoint | None = None

    @property
    def geometry(self) -> Geometry:
        """The scan."""
        return self._geometry

    @property
    def grid(self) -> Grid:
        """The voxels."""
        return self._grid

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its arrays."""
        return self._dtype

    @property
    def volume_shape(self) -> tuple[int, int, int]:
        """Shape of the volumes that it takes: (z, y, x), or (x, y, z) by ``axes``."""
        return self._grid.shape if self._axes == "zyx" else self._grid.size

    @property
    def projections_shape(self) -> tuple[int, int, int]:
        """Shape of the projections that it makes: (view, v, u), or (view, u, v) by ``axes``."""
        view, v, u = self._geometry.shape
        return (view, v, u) if self._axes == "zyx" else (view, u, v)

    @property
    def bytes(self) -> int:
        """Bytes of memory that it holds; 0 once it is closed."""
        return self._core.bytes

    @property
    def T(self) -> Adjoint:
        """The adjoint, which shares views and scratch."""
        if self._adjoint is None:
            self._adjoint = Adjoint(self)
        return self._adjoint

    def __call__(
        self,
        volume: ArrayT,
        out: object = None,
        *,
        cancel: Event | None = None,
        progress: Progress = None,
    ) -> ArrayT:
        """Project a volume.

        Parameters
        ----------
        volume, out, cancel, progress
            As `project`.

        Returns
        -------
        array of the volume's type, shape (view, v, u)
            Line integrals: those of `project`.
        """
        tell = None if progress is None else progress_of(progress, "Projector")
        if cancel is not None:
            event(cancel, "Projector")
        if out is None and type(volume) is not np.ndarray:
            out = device_array(volume, self._geometry._core.extents, PROJECTIONS[self._axes])
        result = self._core.forward(volume, out, cancel, tell)
        if out is None and type(volume) is not np.ndarray:
            result = like(volume, result, out)
        return cast(ArrayT, result)

    def __matmul__(self, volume: ArrayT) -> ArrayT:
        return self(volume)

    def __repr__(self) -> str:
        return f"Projector({self._geometry!r}, {self._grid!r}, {self._dtype})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _projector_of, (
            self._geometry,
            self._grid,
            self._dtype.name,
            self._memory or None,
            self._axes,
            self._copy,
            dict(self._options),
        )


class Adjoint:
    """The adjoint of a `Projector`: its attribute ``T``."""

    __slots__ = ("_projector",)

    def __init__(self, projector: Projector) -> None:
        self._projector = projector

    @property
    def T(self) -> Projector:
        """The projection."""
        return self._projector

    def __call__(
        self,
        projections: ArrayT,
        out: object = None,
        *,
        add: bool = False,
        cancel: Event | None = None,
        progress: Progress = None,
    ) -> ArrayT:
        """Project back.

        Parameters
        ----------
        projections, out, add, cancel, progress
            As `back_project`.

        Returns
        -------
        array of the projections' type, shape (z, y, x)
            Voxels: those of `back_project`.
        """
        tell = None if progress is None else progress_of(progress, "Projector.T")
        if cancel is not None:
            event(cancel, "Projector.T")
        if out is None and not add and type(projections) is not np.ndarray:
            own = self._projector
            out = device_array(projections, own._grid.size, VOLUME[own._axes])
        result = self._projector._core.adjoint(projections, out, bool(add), cancel, tell)
        if out is None and type(projections) is not np.ndarray:
            result = like(projections, result, out)
        return cast(ArrayT, result)

    def __matmul__(self, projections: ArrayT) -> ArrayT:
        return self(projections)

    def __repr__(self) -> str:
        return f"{self._projector!r}.T"


def _projector_of(
    geometry: Geometry,
    grid: Grid,
    dtype: str,
    memory: int | None,
    axes: Axes,
    copy: bool | None,
    options: ProjectorOptions,
) -> Projector:
    return Projector(geometry, grid, dtype=dtype, memory=memory, axes=axes, copy=copy, **options)
