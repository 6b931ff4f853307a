# SPDX-License-Identifier: BSD-3-Clause
"""Bodies made of ellipsoids, as voxels and as exact projections."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._calls import Axes, Event, Progress, doubles, event, integer, number, order, progress_of
from ._calls import real_type
from ._geometry import Geometry, Grid, grid_core, scan_core

__all__ = ["project", "rasterise", "shepp_logan"]


def shepp_logan(
    half_size: float, contrast: Literal["modified", "original"] = "modified"
) -> npt.NDArray[np.float64]:
    """Return the ten ellipsoids of the Shepp-Logan head in three dimensions.

    Parameters
    ----------
    half_size : float
        Half of the side of the cube about the isocentre that holds the head, mm.
    contrast : {'modified', 'original'}
        Densities from 0 to 1 (Yu, Ye and Wang 2004), or those of Kak and Slaney.

    Returns
    -------
    ndarray of float64, shape (10, 8)
        Of each ellipsoid its centre (x, y, z), mm; its half axes, mm; its angle about z, rad; its
        density. Where ellipsoids overlap, densities add.

    Notes
    -----
    Determinism: the same bits everywhere.
    """
    return _core.shepp_logan(number(half_size, "phantom.shepp_logan: half_size"), str(contrast))


def rasterise(
    ellipsoids: npt.ArrayLike,
    grid: Grid,
    *,
    samples: int = 5,
    dtype: npt.DTypeLike = np.float32,
    out: object = None,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    progress: Progress = None,
) -> Any:
    """Return voxels of ellipsoids, each the mean over points within it.

    Parameters
    ----------
    ellipsoids : array_like, shape (n, 8)
        1 to 32 ellipsoids, as `shepp_logan` returns them.
    grid : Grid
        The voxels.
    samples : int
        Points of a voxel along each axis, 1 to 64.
    dtype : float32 or float64
        The type of the result.
    out, axes, copy, cancel, progress
        As `isocenter.project`.

    Returns
    -------
    ndarray, shape (z, y, x)
        Densities.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    name = "phantom.rasterise"
    return _out_or(
        out,
        _core.rasterise(
            doubles(ellipsoids, f"{name}: ellipsoids"),
            grid_core(name, grid),
            real_type(dtype, name) == np.float64,
            integer(samples, f"{name}: samples"),
            out,
            order(axes, name),
            copy is not False,
            event(cancel, name),
            progress_of(progress, name),
        ),
    )


def project(
    ellipsoids: npt.ArrayLike,
    geometry: Geometry,
    *,
    subsamples: int = 8,
    dtype: npt.DTypeLike = np.float32,
    out: object = None,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    progress: Progress = None,
) -> Any:
    """Return the exact line integrals of ellipsoids, each pixel the mean over rays within it.

    Parameters
    ----------
    ellipsoids : array_like, shape (n, 8)
        1 to 32 ellipsoids, as `shepp_logan` returns them.
    geometry : Geometry
        The scan.
    subsamples : int
        Rays of a pixel along u and along v, 1 to 64.
    dtype : float32 or float64
        The type of the result.
    out, axes, copy, cancel, progress
        As `isocenter.project`.

    Returns
    -------
    ndarray, shape (view, v, u)
        Density times mm.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    name = "phantom.project"
    return _out_or(
        out,
        _core.project_ellipsoids(
            doubles(ellipsoids, f"{name}: ellipsoids"),
            scan_core(name, geometry),
            real_type(dtype, name) == np.float64,
            integer(subsamples, f"{name}: subsamples"),
            out,
            order(axes, name),
            copy is not False,
            event(cancel, name),
            progress_of(progress, name),
        ),
    )


def _out_or(out: object, result: Any) -> Any:
    return result if out is None else out
