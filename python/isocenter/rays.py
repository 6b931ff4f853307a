# SPDX-License-Identifier: BSD-3-Clause
"""Batches of single rays through a volume."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._calls import Axes, Event, Progress, device_array, doubles, event, like, order, progress_of
from ._calls import word
from ._geometry import Grid, grid_core

__all__ = ["between", "radiological_path", "sort"]

Traversal = Literal["fastest", "amanatides_woo", "branchless", "siddon"]


def between(first: npt.ArrayLike, last: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the rays from points to points.

    Parameters
    ----------
    first, last : array_like, shape (n, 3)
        Points (x, y, z), mm.

    Returns
    -------
    ndarray of float64, shape (n, 8)
        Of each ray its origin, its direction, and t_min and t_max: the points origin + t direction.

    Notes
    -----
    Determinism: the same bits everywhere.
    """
    a = np.atleast_2d(doubles(first, "rays.between: first"))
    b = np.atleast_2d(doubles(last, "rays.between: last"))
    fit = len(a) == len(b) or 1 in (len(a), len(b))
    if a.shape[1:] != (3,) or b.shape[1:] != (3,) or not fit:
        raise ValueError(
            f"rays.between: first of shape {a.shape} and last of shape {b.shape} (as many points "
            "(x, y, z) are needed, or one of all rays); give two arrays of shape (n, 3)"
        )
    a, b = np.broadcast_arrays(a, b)
    ends = np.broadcast_to([0.0, 1.0], (len(a), 2))
    return np.concatenate([a, b - a, ends], axis=1)


def radiological_path(
    rays: npt.ArrayLike,
    grid: Grid,
    volume: object,
    *,
    method: Traversal = "fastest",
    out: object = None,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    progress: Progress = None,
) -> Any:
    """Return the integral of a volume along each ray, with exact lengths.

    Parameters
    ----------
    rays : array_like, shape (n, 8)
        Origin (x, y, z), direction, t_min, t_max of each ray, mm; see `between`.
    grid : Grid
        The voxels.
    volume : array of float32 or float64, shape (z, y, x)
        Any unit.
    method : {'fastest', 'amanatides_woo', 'branchless', 'siddon'}
        How rays are walked. All give the same bits.
    out : array of the volume's type, shape (n,), optional
        What is overwritten and returned in place of a new array.
    axes, copy, cancel, progress
        As `isocenter.project`.

    Returns
    -------
    array of the volume's type and framework, shape (n,)
        The volume's unit times mm. A ray that touches no voxel gives 0.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    name = "rays.radiological_path"
    given = doubles(rays, f"{name}: rays")
    if out is None:
        out = device_array(volume, (len(np.atleast_1d(given)),), (0,))
    result = _core.radiological_path(
        given,
        grid_core(name, grid),
        volume,
        out,
        word(method, f"{name}: method"),
        order(axes, name),
        copy is not False,
        event(cancel, name),
        progress_of(progress, name),
    )
    return like(volume, result, out)


def sort(
    rays: npt.ArrayLike,
    grid: Grid,
    order: Literal["entry_and_exit", "octant_then_entry"] = "entry_and_exit",
    *,
    cancel: Event | None = None,
) -> npt.NDArray[np.int64]:
    """Return an order of rays in which neighbours walk through neighbouring voxels.

    Parameters
    ----------
    rays : array_like, shape (n, 8)
        As `radiological_path` takes them.
    grid : Grid
        The voxels that they will walk.
    order : {'entry_and_exit', 'octant_then_entry'}
        What neighbours share.
    cancel
        As `isocenter.project`.

    Returns
    -------
    ndarray of int64, shape (n,)
        ``rays[permutation]`` are in that order.

    Notes
    -----
    Determinism: the same on every backend and for any number of threads.
    """
    name = "rays.sort"
    given = doubles(rays, f"{name}: rays")
    return _core.sort_rays(
        given, grid_core(name, grid), word(order, f"{name}: order"), event(cancel, name)
    )
