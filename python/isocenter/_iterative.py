# SPDX-License-Identifier: BSD-3-Clause
"""Iterative reconstruction: functions that run until a rule ends them, and classes that step."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypedDict, Unpack, cast

import numpy as np
import numpy.typing as npt

from . import _core
from ._calls import ArrayT, Axes, Closing, Event, Progress, event, integer, like, memory_of, order
from ._calls import VOLUME, device_array, progress_of, streamed
from ._geometry import Geometry, Grid, cores
from .mpi import Plan, core_of, extents_of
from ._options import (
    CglsOptions,
    LsqrOptions,
    MlemOptions,
    SartOptions,
    StoppingRules,
    TotalVariationOptions,
)

#: The fields of a history.
HISTORY = np.dtype(
    [
        ("iteration", np.int64),
        ("residual", np.float64),
        ("relative_residual", np.float64),
        ("gap", np.float64),
    ]
)


class Iteration(NamedTuple):
    """What one iteration tells. Figures that a method does not compute are NaN.

    Attributes
    ----------
    number : int
        1, 2, ...
    residual : float
        Norm of the readings' differences from the projections: of the volume that the iteration
        made (CGLS, LSQR, total variation), or found (the others).
    relative_residual : float
        The same over the norm of the readings.
    gap : float
        Total variation: the primal-dual gap over the primal value.
    """

    number: int
    residual: float
    relative_residual: float
    gap: float


class Reconstruction(NamedTuple, Generic[ArrayT]):
    """What an iterative method returns.

    Attributes
    ----------
    volume : array, shape (z, y, x)
        Voxels, 1/mm; in the library's order of memory.
    history : structured ndarray, shape (iterations,)
        Fields iteration, residual, relative_residual, gap; see `Iteration`.
    """

    volume: ArrayT
    history: npt.NDArray[np.void]


class _Given(TypedDict, total=False):
    """Keywords of every method."""

    start: object
    voxel_mask: object
    reading_mask: object
    memory: int | str | None
    plan: Plan | None
    checkpoint: str | os.PathLike[str] | None
    axes: Axes
    copy: bool | None
    cancel: Event | None
    progress: Progress


_GIVEN = tuple(_Given.__annotations__)


def _mask(mask: Any, like_it: Any) -> Any:
    """Return a mask with the type of the readings, in their order of memory."""
    plain = isinstance(mask, np.ndarray) and not isinstance(mask, np.ma.MaskedArray)
    if plain and mask.dtype.kind in "biuf":
        return mask.astype(getattr(like_it, "dtype", np.float32), order="K", copy=False)
    return mask


def _not_callable(name: str, proceed: object) -> TypeError:
    return TypeError(
        f"{name}: proceed is of type {type(proceed).__name__} (a callable of an Iteration is "
        "needed); give one"
    )


class _Method(Closing["_core._Method"]):
    """An iterative method that is stepped: the base of `Sart`, `Cgls` and others."""

    __slots__ = ("_checkpoint", "_given")
    _made: ClassVar[Callable[..., _core._Method]]

    def __init__(
        self, geometry: Geometry, grid: Grid, readings: Any, keywords: dict[str, Any]
    ) -> None:
        name = keywords.pop("_function", type(self).__name__)
        scan, box = cores(name, geometry, grid)
        given = {key: keywords.pop(key) for key in _GIVEN if key in keywords}
        self._given = readings if type(readings) is not np.ndarray else None
        self._checkpoint = given.get("checkpoint")
        memory = memory_of(given.get("memory"), name)
        plan = given.get("plan")
        share = None if plan is None else core_of(plan, name)
        if plan is not None and (memory or self._checkpoint is not None):
            raise ValueError(
                f"{name}: memory or checkpoint with a plan (a rank holds its part alone); leave "
                "them out"
            )
        if plan is not None and (plan.geometry != geometry or plan.grid != grid):
            raise ValueError(
                f"{name}: geometry or grid differs from the plan's (a plan is of one scan and one "
                "volume); give the whole ones of the plan"
            )
        extents = box.size if plan is None else extents_of(plan.shape)
        self._core = type(self)._made(
            scan,
            box,
            readings,
            given.get("start"),
            _mask(given.get("voxel_mask"), readings),
            _mask(given.get("reading_mask"), readings),
            device_array(readings, extents, VOLUME[order(given.get("axes", "zyx"), name)]),
            memory,
            share,
            self._checkpoint is not None,
            streamed(keywords, memory > 0 or plan is not None),
            order(given.get("axes", "zyx"), name),
            given.get("copy") is not False,
            event(given.get("cancel"), name),
            progress_of(given.get("progress"), name),
        )
        if self._checkpoint is not None and os.path.exists(self._checkpoint):
            self._resume(self._checkpoint)

    def _resume(self, path: str | os.PathLike[str]) -> None:
        from .files import _hdf5
        from .files._common import refuse

        names = [name for name, _, _ in self._core.parts()]
        arrays = _hdf5.read_arrays(path, dict(self._core.belongs), [*names, "history"])
        rows = arrays.pop("history").astype(np.float64).reshape(-1)
        made = arrays["iterations"]
        counts = np.arange(1, rows.size // 4 + 1)
        if rows.size % 4 or made.shape != (1,) or rows.size != 4 * made[0]:
            refuse(path, "is damaged (its history is not that of its iterations); remove the file")
        if not np.array_equal(rows[::4], counts):
            refuse(path, "is damaged (its history does not count from 1); remove the file")
        self._core.exchange(arrays, True)
        self._core.set_history(rows)

    def save(self) -> None:
        """Write the checkpoint that was named when the method was made.

        A method that is made with that name and the same arguments goes on from there, and so does
        the tool: ``iso reconstruct --checkpoint``. The file is complete or as it was.

        Raises
        ------
        ValueError
            Where none was named.
        OSError
            For a folder that takes no file.
        """
        from .files import _hdf5

        if self._checkpoint is None:
            name = type(self).__name__
            raise ValueError(
                f"{name}: save has no checkpoint (none was named); "
                "make it with checkpoint='NAME.h5'"
            )
        real = np.float64 if self._core.is_double else np.float32
        parts = self._core.parts()
        arrays: dict[str, npt.NDArray[Any]] = {
            name: np.empty(size, np.float64 if is_number else real)
            for name, is_number, size in parts
        }
        self._core.exchange(arrays, False)
        arrays["history"] = np.array(self._core.history, np.float64).reshape(-1)
        _hdf5.write_arrays(self._checkpoint, dict(self._core.belongs), arrays)

    @property
    def volume(self) -> Any:
        """The volume on which the method works, shape (z, y, x), 1/mm. Steps change it."""
        volume = self._core.volume
        on_host = isinstance(volume, np.ndarray)
        return like(self._given, volume, None) if self._given is not None and on_host else volume

    @property
    def history(self) -> npt.NDArray[np.void]:
        """What iterations have told so far: see `Reconstruction`."""
        return np.array(self._core.history, HISTORY)

    def step(self, *, cancel: Event | None = None, progress: Progress = None) -> Iteration:
        """Do one iteration."""
        name = type(self).__name__
        return Iteration(*self._core.step(event(cancel, name), progress_of(progress, name)))

    def run(
        self,
        *,
        proceed: Callable[[Iteration], object] | None = None,
        cancel: Event | None = None,
        progress: Progress = None,
        **rules: Unpack[StoppingRules],
    ) -> None:
        """Iterate until a rule ends the run.

        Parameters
        ----------
        proceed : callable, optional
            Called with an `Iteration` after each; a false value ends the run.
        cancel, progress
            As `project`.
        **rules
            See `StoppingRules`.
        """
        name = type(self).__name__
        if proceed is not None and not callable(proceed):
            raise _not_callable(name, proceed)
        ask = None if proceed is None else (lambda told: proceed(Iteration(*told)))
        tell = progress_of(progress, name)
        self._core.run(dict(rules), ask, False, event(cancel, name), tell)


class _SartKeywords(_Given, SartOptions, total=False):
    pass


class _MlemKeywords(_Given, MlemOptions, total=False):
    pass


class _CglsKeywords(_Given, CglsOptions, total=False):
    pass


class _LsqrKeywords(_Given, LsqrOptions, total=False):
    pass


class _TotalVariationKeywords(_Given, TotalVariationOptions, total=False):
    pass


class _Run(TypedDict, total=False):
    """Keywords of a run."""

    proceed: Callable[[Iteration], object] | None
    checkpoint_every: int


class _RunSart(_SartKeywords, StoppingRules, _Run, total=False):
    pass


class _RunMlem(_MlemKeywords, StoppingRules, _Run, total=False):
    pass


class _RunCgls(_CglsKeywords, StoppingRules, _Run, total=False):
    pass


class _RunLsqr(_LsqrKeywords, StoppingRules, _Run, total=False):
    pass


class _RunTotalVariation(_TotalVariationKeywords, StoppingRules, _Run, total=False):
    pass


class Sart(_Method):
    """SIRT, SART and OS-SART, stepped: see `sart` for arguments.

    Determinism: as `sart`, and after a checkpoint too.
    """

    __slots__ = ()
    _made = _core.Sart

    def __init__(
        self, geometry: Geometry, grid: Grid, readings: object, **keywords: Unpack[_SartKeywords]
    ) -> None:
        super().__init__(geometry, grid, readings, dict(keywords))


class Mlem(_Method):
    """MLEM and OSEM, stepped: see `mlem` for arguments.

    Determinism: as `mlem`, and after a checkpoint too.
    """

    __slots__ = ()
    _made = _core.Mlem

    def __init__(
        self, geometry: Geometry, grid: Grid, readings: object, **keywords: Unpack[_MlemKeywords]
    ) -> None:
        super().__init__(geometry, grid, readings, dict(keywords))


class Cgls(_Method):
    """CGLS, stepped: see `cgls` for arguments.

    Determinism: as `cgls`, and after a checkpoint too.
    """

    __slots__ = ()
    _made = _core.Cgls

    def __init__(
        self, geometry: Geometry, grid: Grid, readings: object, **keywords: Unpack[_CglsKeywords]
    ) -> None:
        super().__init__(geometry, grid, readings, dict(keywords))


class Lsqr(_Method):
    """LSQR, stepped: see `lsqr` for arguments.

    Determinism: as `lsqr`, and after a checkpoint too.
    """

    __slots__ = ()
    _made = _core.Lsqr

    def __init__(
        self, geometry: Geometry, grid: Grid, readings: object, **keywords: Unpack[_LsqrKeywords]
    ) -> None:
        super().__init__(geometry, grid, readings, dict(keywords))


class TotalVariation(_Method):
    """Least squares with total variation, stepped: see `total_variation` for arguments.

    Determinism: as `total_variation`, and after a checkpoint too.
    """

    __slots__ = ()
    _made = _core.TotalVariation

    def __init__(
        self,
        geometry: Geometry,
        grid: Grid,
        readings: object,
        **keywords: Unpack[_TotalVariationKeywords],
    ) -> None:
        super().__init__(geometry, grid, readings, dict(keywords))


class _Halves:
    """Progress of what comes before the first iteration, and of the run: a tenth and the rest."""

    def __init__(self, tell: Callable[[float], object]) -> None:
        self.tell, self.first, self.share = tell, 0.0, 0.1

    def __call__(self, fraction: float) -> None:
        self.tell(self.first + self.share * fraction)

    def go_on(self) -> None:
        self.first, self.share = 0.1, 0.9


def _run(
    kind: type[_Method],
    geometry: Geometry,
    grid: Grid,
    readings: ArrayT,
    keywords: dict[str, Any],
    defaults: dict[str, Any] | None = None,
) -> Reconstruction[ArrayT]:
    name = "total_variation" if kind is TotalVariation else kind.__name__.lower()
    own = (*StoppingRules.__annotations__, *_Run.__annotations__)
    rules = {**(defaults or {}), **{key: keywords.pop(key) for key in own if key in keywords}}
    proceed = rules.pop("proceed", None)
    every = integer(rules.pop("checkpoint_every", 10), f"{name}: checkpoint_every")
    if every < 1:
        raise ValueError(f"{name}: checkpoint_every {every} (at least 1 is needed); give more")
    tell = progress_of(keywords.pop("progress", None), name)
    halves = None if tell is None else _Halves(tell)
    keywords.update(progress=halves, _function=name)
    method = kind(geometry, grid, readings, **keywords)
    if halves is not None:
        halves.go_on()
    saves = method._checkpoint is not None
    before = len(method._core.history)

    def ask(told: tuple[int, float, float, float]) -> object:
        if saves and told[0] % every == 0:
            method.save()
        return True if proceed is None else proceed(Iteration(*told))

    if proceed is not None and not callable(proceed):
        raise _not_callable(name, proceed)
    stop = event(keywords.get("cancel"), name)
    method._core.run(rules, ask if saves or proceed else None, True, stop, halves)
    history = method.history
    if saves and len(history) > before and len(history) % every:
        method.save()
    method.close()
    return Reconstruction(cast(ArrayT, method.volume), history)


def sart(
    geometry: Geometry, grid: Grid, readings: ArrayT, **keywords: Unpack[_RunSart]
) -> Reconstruction[ArrayT]:
    """Reconstruct by SIRT, SART or OS-SART.

    Parameters
    ----------
    geometry : Geometry
        The scan.
    grid : Grid
        The voxels of the result.
    readings : array of float32 or float64, shape (view, v, u)
        Line integrals, dimensionless.
    start : array of the same type, shape (z, y, x), optional
        Voxels to begin from, 1/mm; zeros by default. It is not changed.
    voxel_mask, reading_mask : array, optional
        1 where a voxel or a reading counts and 0 elsewhere; booleans of NumPy too.
    memory : int or str, optional
        Bytes of the device that computes, through which volume and readings pass: see `project`.
    plan : isocenter.mpi.Plan, optional
        Who holds what of the scan and the grid: readings, start, masks and the result are this
        process's parts, and all processes of the plan call it. Sums are reproducible.
    checkpoint : path-like, optional
        An .h5 file to go on from, where it is there, and to write every ``checkpoint_every``
        iterations (by default 10) and at the end. ``iterations`` are together with those in it. The
        tool resumes it, and its files are resumed here. It wants `isocenter[files]`.
    axes, copy, cancel, progress
        As `project`.
    proceed : callable, optional
        Called with an `Iteration` after each; a false value ends the run.
    **options
        See `SartOptions` and `StoppingRules`. ``block`` is the number of views of a block: all by
        default (SIRT), 1 (SART), or some (OS-SART).

    Returns
    -------
    Reconstruction
        The volume, shape (z, y, x), 1/mm, and the history.

    Raises
    ------
    ValueError
        For readings that are not finite, a box that excludes the start, an option out of range.
    TypeError, OutOfMemory, Cancelled
        As `project`.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads, figures of the
    history too.
    """
    return _run(Sart, geometry, grid, readings, dict(keywords))


def mlem(
    geometry: Geometry, grid: Grid, readings: ArrayT, **keywords: Unpack[_RunMlem]
) -> Reconstruction[ArrayT]:
    """Reconstruct by MLEM or OSEM.

    Parameters
    ----------
    geometry, grid, readings, start, voxel_mask, reading_mask, memory, plan, checkpoint
    checkpoint_every, axes, copy, cancel, progress, proceed
        As `sart`. Readings and start must not be negative; a start of zeros becomes ones.
    **options
        See `MlemOptions` and `StoppingRules`. ``block``: views of a block, all by default (MLEM).

    Returns
    -------
    Reconstruction
        The volume, shape (z, y, x), 1/mm, and the history.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    return _run(Mlem, geometry, grid, readings, dict(keywords))


def cgls(
    geometry: Geometry, grid: Grid, readings: ArrayT, **keywords: Unpack[_RunCgls]
) -> Reconstruction[ArrayT]:
    """Reconstruct by conjugate gradients on the normal equations.

    Parameters
    ----------
    geometry, grid, readings, start, voxel_mask, reading_mask, memory, plan, checkpoint
    checkpoint_every, axes, copy, cancel, progress, proceed
        As `sart`.
    **options
        See `CglsOptions` and `StoppingRules`.

    Returns
    -------
    Reconstruction
        The volume, shape (z, y, x), 1/mm, and the history.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    return _run(Cgls, geometry, grid, readings, dict(keywords))


def lsqr(
    geometry: Geometry, grid: Grid, readings: ArrayT, **keywords: Unpack[_RunLsqr]
) -> Reconstruction[ArrayT]:
    """Reconstruct by damped least squares.

    Parameters
    ----------
    geometry, grid, readings, start, voxel_mask, reading_mask, memory, plan, checkpoint
    checkpoint_every, axes, copy, cancel, progress, proceed
        As `sart`.
    **options
        See `LsqrOptions` (``damping``, mm) and `StoppingRules`.

    Returns
    -------
    Reconstruction
        The volume, shape (z, y, x), 1/mm, and the history.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    return _run(Lsqr, geometry, grid, readings, dict(keywords))


def total_variation(
    geometry: Geometry, grid: Grid, readings: ArrayT, **keywords: Unpack[_RunTotalVariation]
) -> Reconstruction[ArrayT]:
    """Reconstruct by least squares with total variation.

    Parameters
    ----------
    geometry, grid, readings, start, voxel_mask, reading_mask, memory, plan, checkpoint
    checkpoint_every, axes, copy, cancel, progress, proceed
        As `sart`.
    **options
        See `TotalVariationOptions`, of which ``weight`` should be given, and `StoppingRules`. By
        default 1000 iterations, and a gap of 1e-3, which ends them.

    Returns
    -------
    Reconstruction
        The volume, shape (z, y, x), 1/mm, and the history with the primal-dual gap.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    defaults = {"iterations": 1000, "stop_gap": 1e-3}
    return _run(TotalVariation, geometry, grid, readings, dict(keywords), defaults)
