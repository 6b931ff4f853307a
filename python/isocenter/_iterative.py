# SPDX-License-Identifier: BSD-3-Clause
"""Iterative reconstruction: functions that run until a rule ends them, and classes that step."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypedDict, Unpack, cast

import numpy as np
import numpy.typing as npt

from . import _core
from ._calls import ArrayT, Axes, Event, Progress, event, like, order, progress_of
from ._geometry import Geometry, Grid, cores
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
    axes: Axes
    copy: bool | None
    cancel: Event | None
    progress: Progress


_GIVEN = ("start", "voxel_mask", "reading_mask", "axes", "copy", "cancel", "progress")


def _mask(mask: Any, like_it: Any) -> Any:
    """Return a mask with the type of the readings, in their order of memory."""
    plain = isinstance(mask, np.ndarray) and not isinstance(mask, np.ma.MaskedArray)
    if plain and mask.dtype.kind in "biuf":
        return mask.astype(getattr(like_it, "dtype", np.float32), order="K", copy=False)
    return mask


class _Method:
    """An iterative method that is stepped: the base of `Sart`, `Cgls` and others."""

    __slots__ = ("_core", "_given")
    _made: ClassVar[Callable[..., _core._Method]]

    def __init__(
        self, geometry: Geometry, grid: Grid, readings: Any, keywords: dict[str, Any]
    ) -> None:
        name = type(self).__name__
        scan, box = cores(name, geometry, grid)
        given = {key: keywords.pop(key) for key in _GIVEN if key in keywords}
        self._given = readings if type(readings) is not np.ndarray else None
        self._core = type(self)._made(
            scan,
            box,
            readings,
            given.get("start"),
            _mask(given.get("voxel_mask"), readings),
            _mask(given.get("reading_mask"), readings),
            keywords,
            order(given.get("axes", "zyx"), name),
            given.get("copy") is not False,
            event(given.get("cancel"), name),
            progress_of(given.get("progress"), name),
        )

    @property
    def volume(self) -> Any:
        """The volume on which the method works, shape (z, y, x), 1/mm. Steps change it."""
        volume = self._core.volume
        return volume if self._given is None else like(self._given, volume, None)

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
            raise TypeError(
                f"{name}: proceed is of type {type(proceed).__name__} (a callable of an Iteration "
                "is needed); give one"
            )
        ask = None if proceed is None else (lambda told: proceed(Iteration(*told)))
        self._core.run(dict(rules), ask, event(cancel, name), progress_of(progress, name))

    def close(self) -> None:
        """Give the memory back but for the volume. Later steps are refused."""
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


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


class _RunSart(_SartKeywords, StoppingRules, total=False):
    proceed: Callable[[Iteration], object] | None


class _RunMlem(_MlemKeywords, StoppingRules, total=False):
    proceed: Callable[[Iteration], object] | None


class _RunCgls(_CglsKeywords, StoppingRules, total=False):
    proceed: Callable[[Iteration], object] | None


class _RunLsqr(_LsqrKeywords, StoppingRules, total=False):
    proceed: Callable[[Iteration], object] | None


class _RunTotalVariation(_TotalVariationKeywords, StoppingRules, total=False):
    proceed: Callable[[Iteration], object] | None


class Sart(_Method):
    """SIRT, SART and OS-SART, stepped: see `sart` for arguments."""

    __slots__ = ()
    _made = _core.Sart

    def __init__(
        self, geometry: Geometry, grid: Grid, readings: object, **keywords: Unpack[_SartKeywords]
    ) -> None:
        super().__init__(geometry, grid, readings, dict(keywords))


class Mlem(_Method):
    """MLEM and OSEM, stepped: see `mlem` for arguments."""

    __slots__ = ()
    _made = _core.Mlem

    def __init__(
        self, geometry: Geometry, grid: Grid, readings: object, **keywords: Unpack[_MlemKeywords]
    ) -> None:
        super().__init__(geometry, grid, readings, dict(keywords))


class Cgls(_Method):
    """CGLS, stepped: see `cgls` for arguments."""

    __slots__ = ()
    _made = _core.Cgls

    def __init__(
        self, geometry: Geometry, grid: Grid, readings: object, **keywords: Unpack[_CglsKeywords]
    ) -> None:
        super().__init__(geometry, grid, readings, dict(keywords))


class Lsqr(_Method):
    """LSQR, stepped: see `lsqr` for arguments."""

    __slots__ = ()
    _made = _core.Lsqr

    def __init__(
        self, geometry: Geometry, grid: Grid, readings: object, **keywords: Unpack[_LsqrKeywords]
    ) -> None:
        super().__init__(geometry, grid, readings, dict(keywords))


class TotalVariation(_Method):
    """Least squares with total variation, stepped: see `total_variation` for arguments."""

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


_RULES = ("iterations", "stop_residual", "noise", "stop_gap", "proceed", "cancel")


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
    rules = {**(defaults or {}), **{key: keywords[key] for key in _RULES if key in keywords}}
    for key in _RULES:
        if key != "cancel":
            keywords.pop(key, None)
    tell = progress_of(keywords.pop("progress", None), kind.__name__)
    halves = None if tell is None else _Halves(tell)
    method = kind(geometry, grid, readings, progress=halves, **keywords)  # type: ignore[call-arg]
    if halves is not None:
        halves.go_on()
    method.run(progress=halves, **rules)
    history = method.history
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
    geometry, grid, readings, start, voxel_mask, reading_mask, axes, copy, cancel, progress, proceed
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
    geometry, grid, readings, start, voxel_mask, reading_mask, axes, copy, cancel, progress, proceed
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
    geometry, grid, readings, start, voxel_mask, reading_mask, axes, copy, cancel, progress, proceed
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
    geometry, grid, readings, start, voxel_mask, reading_mask, axes, copy, cancel, progress, proceed
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
