# SPDX-License-Identifier: BSD-3-Clause
"""The gamma index of two dose distributions."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from . import _core
from ._calls import VOLUME, Axes, Event, Progress, device_array, how, order, words
from ._geometry import Grid, grid_core
from ._options import GammaOptions


@dataclasses.dataclass(frozen=True, eq=False)
class GammaSummary:
    """The gamma of one criterion in a few numbers.

    Attributes
    ----------
    criterion : str
        Such as '3%/3mm'.
    below_cut_off : int
        Points that were not compared.
    compared, passed : int
        All others, and those of them that pass.
    outside, outside_passed : int
        Those compared that lie outside the evaluated voxels' middles.
    pass_rate : float
        Passed over compared, from 0 to 1; NaN where none is compared.
    maximum, mean : float
        Of the compared points' gamma.
    bin_width : float
        Of the histogram.
    histogram : ndarray of int64, shape (bins,)
        Compared points in each bin.
    """

    criterion: str
    below_cut_off: int
    compared: int
    passed: int
    outside: int
    outside_passed: int
    pass_rate: float
    maximum: float
    mean: float
    bin_width: float
    histogram: npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, eq=False)
class GammaResult:
    """What `gamma` returns.

    Attributes
    ----------
    values : array of the doses' type and framework, shape (criterion, z, y, x)
        Gamma at each reference voxel, at most ``max_gamma``; NaN below the cut-off.
    status : array of uint8, shape (z, y, x)
        0: compared; 1: below the cut-off; 2: compared, outside the evaluated voxels' middles.
    summaries : tuple of GammaSummary
        One for each criterion.
    """

    values: Any
    status: Any
    summaries: tuple[GammaSummary, ...]


def made_arrays(reference: object, criteria: int, extents: tuple[int, ...], laid: str) -> Any:
    """Return arrays for values and status where doses lie on a GPU; None on the host."""
    turn = (0, *(1 + axis for axis in VOLUME[laid]))
    values = device_array(reference, (criteria, *extents), turn)
    if values is None:
        return None
    return values, device_array(reference, extents, VOLUME[laid], "uint8")


def result_of(named: list[str], found: tuple[Any, Any, list[dict[str, Any]]]) -> GammaResult:
    """Return what a comparison has found."""
    values, status, told = found
    summaries = (
        GammaSummary(criterion=name, **one) for name, one in zip(named, told, strict=True)
    )
    return GammaResult(values, status, tuple(summaries))


def gamma(
    reference: object,
    evaluated: object,
    grid: Grid,
    evaluated_grid: Grid | None = None,
    *,
    criteria: str | Sequence[str] = "3%/3mm",
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    progress: Progress = None,
    **options: Unpack[GammaOptions],
) -> GammaResult:
    """Compare two doses by the gamma index.

    Parameters
    ----------
    reference, evaluated : array of float32 or float64, shape (z, y, x)
        Doses of one unit and one type.
    grid, evaluated_grid : Grid
        Their voxels; those of ``evaluated`` are the same unless given.
    criteria : str or sequence of str
        Dose difference and distance to agreement, such as '3%/3mm'; at most 64.
    axes, copy, cancel, progress
        As `project`.
    **options
        See `GammaOptions`. ``cut_off`` is a fraction: 0.1 for 10 %.

    Returns
    -------
    GammaResult
        Values, status and summaries.

    Raises
    ------
    ValueError
        For doses that are not finite, grids that do not overlap, criteria that are none.
    TypeError, OutOfMemory, Cancelled
        As `project`.

    Notes
    -----
    Trilinear doses: at most 1e-7 gamma + 1e-7 above the minimum, which is proved by bounds.
    Determinism: the same bits on every backend and for any number of threads.
    """
    named = words(criteria, "gamma: criteria")
    own, laid = grid_core("gamma", grid), order(axes, "gamma")
    found = _core.gamma(
        own,
        reference,
        own if evaluated_grid is None else grid_core("gamma", evaluated_grid),
        evaluated,
        named,
        made_arrays(reference, len(named), own.size, laid),
        *how("gamma", options, laid, copy, cancel, progress),
    )
    return result_of(named, found)
