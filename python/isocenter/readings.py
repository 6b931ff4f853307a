# SPDX-License-Identifier: BSD-3-Clause
"""From a detector's readings to line integrals: flats, darks, dead pixels, the axis, noise."""

from __future__ import annotations

from typing import Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from . import _core
from ._calls import (
    ArrayT,
    Axes,
    Event,
    device_images,
    doubles,
    event,
    host_array,
    like,
    number,
    order,
)
from ._geometry import Geometry, scan_core
from ._options import CentreOptions, DeadPixelOptions, LineIntegralOptions

__all__ = [
    "axis_pixel",
    "centre_of_rotation",
    "find_dead_pixels",
    "line_integrals",
    "mean_of_views",
    "mirror_weights",
    "noise_of_counts",
    "replace_dead_pixels",
]


def mean_of_views(
    images: ArrayT,
    weights: npt.ArrayLike | None = None,
    *,
    out: object = None,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
) -> ArrayT:
    """Return the mean of images of one detector, as of several dark or flat fields.

    Parameters
    ----------
    images : array of float32 or float64, shape (image, v, u)
        Any unit.
    weights : array_like, shape (image,), optional
        Weights of the images; those of weight 0 are left out. All 1 by default.
    out : array of the same type, shape (1, v, u), optional
        What is overwritten and returned in place of a new array.
    axes, copy, cancel
        As `isocenter.project`.

    Returns
    -------
    array of the same type, shape (1, v, u)

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    name = "readings.mean_of_views"
    given = None if weights is None else doubles(weights, f"{name}: weights")
    laid = order(axes, name)
    if out is None:
        out = device_images(images, laid, 1)
    result = _core.mean_of_views(
        images, given, out, laid, copy is not False, event(cancel, name)
    )
    return cast(ArrayT, like(images, result, out))


def line_integrals(
    readings: ArrayT,
    dark: object,
    flat: object,
    *,
    out: object = None,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    **options: Unpack[LineIntegralOptions],
) -> ArrayT:
    """Return line integrals -log((reading - dark) / (flat - dark)).

    A pixel whose flat is not above its dark becomes NaN: see `find_dead_pixels`.

    Parameters
    ----------
    readings : array of float32 or float64, shape (view, v, u)
        Any unit, that of dark and flat.
    dark, flat : array of the same type, shape (1, v, u)
        Images without beam, and with the beam and no object.
    out : array, shape (view, v, u), optional
        What is overwritten and returned; it may be ``readings``.
    axes, copy, cancel
        As `isocenter.project`.
    **options
        See `LineIntegralOptions`.

    Returns
    -------
    array of the same type, shape (view, v, u)
        Dimensionless.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    name = "readings.line_integrals"
    laid = order(axes, name)
    if out is None:
        out = device_images(readings, laid)
    result = _core.line_integrals(
        readings,
        dark,
        flat,
        out,
        dict(options),
        laid,
        copy is not False,
        event(cancel, name),
    )
    return cast(ArrayT, like(readings, result, out))


def find_dead_pixels(
    dark: object,
    flat: object,
    *,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    **options: Unpack[DeadPixelOptions],
) -> npt.NDArray[np.bool_]:
    """Return the pixels that do not respond to the beam as those around them do.

    Parameters
    ----------
    dark, flat : array of float32 or float64, shape (1, v, u)
        Images without beam, and with the beam and no object.
    axes, copy, cancel
        As `isocenter.project`.
    **options
        See `DeadPixelOptions`.

    Returns
    -------
    ndarray of bool, shape (v, u), or (u, v) by ``axes``
        On the host, for images on a GPU too.

    Notes
    -----
    Determinism: the same on every backend and for any number of threads.
    """
    name = "readings.find_dead_pixels"
    laid = order(axes, name)
    dead = _core.find_dead_pixels(
        dark, flat, dict(options), laid, copy is not False, event(cancel, name)
    )
    dead_pixels = dead.astype(np.bool_)
    return dead_pixels.T if laid == "zyx" else dead_pixels


def replace_dead_pixels(
    projections: ArrayT,
    dead: npt.ArrayLike,
    *,
    out: object = None,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
) -> ArrayT:
    """Return projections in which each dead pixel has the mean of the live ones around it.

    Parameters
    ----------
    projections : array of float32 or float64, shape (view, v, u)
        Any unit.
    dead : array_like of bool, shape (v, u), or (u, v) by ``axes``
        As `find_dead_pixels` returns it.
    out : array, shape (view, v, u), optional
        What is overwritten and returned; it may be ``projections``.
    axes, copy, cancel
        As `isocenter.project`.

    Returns
    -------
    array of the same type, shape (view, v, u)

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    name = "readings.replace_dead_pixels"
    laid = order(axes, name)
    given = host_array(dead, f"{name}: dead").astype(np.bool_)
    if out is None:
        out = device_images(projections, laid)
    pixels = np.ascontiguousarray(given.T if laid == "zyx" else given).astype(np.uint8)
    result = _core.replace_dead_pixels(
        projections, pixels, out, laid, copy is not False, event(cancel, name)
    )
    return cast(ArrayT, like(projections, result, out))


def axis_pixel(geometry: Geometry) -> float:
    """Return the u at which view 0 sees the isocentre.

    Parameters
    ----------
    geometry : Geometry
        The scan.

    Returns
    -------
    float
        Pixels; 0 is the first one's centre.

    Notes
    -----
    Determinism: the same bits everywhere.
    """
    return _core.axis_pixel(scan_core("readings.axis_pixel", geometry))


def mirror_weights(geometry: Geometry) -> npt.NDArray[np.float64]:
    """Return the weight of each view (1 or 0) with which their mean is symmetric about the axis.

    Parameters
    ----------
    geometry : Geometry
        The scan.

    Returns
    -------
    ndarray of float64, shape (view,)
        Weights for `mean_of_views`, whose result `centre_of_rotation` takes.

    Raises
    ------
    ValueError
        For a scan without such a symmetry.

    Notes
    -----
    Determinism: the same bits everywhere.
    """
    return _core.mirror_weights(scan_core("readings.mirror_weights", geometry))


def centre_of_rotation(
    mean: object,
    *,
    axes: Axes = "zyx",
    cancel: Event | None = None,
    **options: Unpack[CentreOptions],
) -> float:
    """Return the u, in pixels, about which a mean image is symmetric: where the axis is seen.

    Parameters
    ----------
    mean : array of float32 or float64, shape (1, v, u)
        The mean of line integrals, by `mean_of_views` with `mirror_weights`.
    axes, cancel
        As `isocenter.project`.
    **options
        See `CentreOptions`: ``guess`` and ``reach``, pixels.

    Returns
    -------
    float
        Pixels; 0 is the first one's centre.

    Notes
    -----
    Determinism: the same bits everywhere.
    """
    name = "readings.centre_of_rotation"
    return _core.centre_of_rotation(mean, dict(options), order(axes, name), event(cancel, name))


def noise_of_counts(
    readings: object,
    photons: float,
    mask: object = None,
    *,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
) -> float:
    """Return the norm of the noise that counting photons gives to line integrals.

    It is the rule ``noise`` of `StoppingRules`: a reconstruction that fits the readings better
    fits their noise.

    Parameters
    ----------
    readings : array of float32 or float64, shape (view, v, u)
        Line integrals, dimensionless.
    photons : float
        Mean count of a pixel in the open beam.
    mask : array of the same type or of bool, shape (view, v, u), optional
        1 where a reading counts.
    axes, copy, cancel
        As `isocenter.project`.

    Returns
    -------
    float
        Dimensionless; NaN where a reading that counts is not finite.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    from ._iterative import _mask

    name = "readings.noise_of_counts"
    given: Any = _mask(mask, readings)
    return _core.noise_of_counts(
        readings,
        number(photons, f"{name}: photons"),
        given,
        order(axes, name),
        copy is not False,
        event(cancel, name),
    )
