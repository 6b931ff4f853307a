# SPDX-License-Identifier: BSD-3-Clause
"""Pictures by matplotlib: slices, geometries, convergence, gamma, dose-volume histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._calls import host_array
from ._dvh import Dvh
from ._gamma import GammaResult
from ._geometry import Geometry, Grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["convergence", "dvh", "gamma", "geometry", "slices"]


def _figure(**options: Any) -> Figure:
    """Return an empty figure. It belongs to no window: show it in a notebook, or save it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(
            "matplotlib is not installed (isocenter.plot draws by it); "
            "install it by pip install matplotlib"
        ) from None
    return Figure(layout="constrained", **options)


def slices(
    grid: Grid,
    volume: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    at: tuple[float, float, float] | None = None,
) -> Figure:
    """Draw three slices of a volume through a point.

    Parameters
    ----------
    grid : Grid
        The voxels.
    volume : array, shape (z, y, x)
        Any unit.
    low, high : float, optional
        Values drawn black and white; by default the smallest and the largest.
    at : (x, y, z), optional
        A point of all three slices, mm; by default the grid's middle.

    Returns
    -------
    matplotlib.figure.Figure
        Its axes hold the slices across z, y and x.
    """
    values = host_array(volume, "plot.slices: volume")
    if values.shape != grid.shape:
        raise ValueError(
            f"plot.slices: volume of shape {values.shape} ({grid.shape} is needed); give the "
            "volume of this grid"
        )
    low = float(values.min()) if low is None else low
    high = float(values.max()) if high is None else high
    place = []
    for axis in range(3):
        middle = (grid.size[axis] - 1) / 2
        wanted = middle if at is None else (at[axis] - grid.origin[axis]) / grid.spacing[axis]
        place.append(int(np.clip(round(wanted), 0, grid.size[axis] - 1)))
    figure = _figure(figsize=(12, 4))
    cuts = (
        ("x", "y", values[place[2], :, :], "z", 2),
        ("x", "z", values[:, place[1], :], "y", 1),
        ("y", "z", values[:, :, place[0]], "x", 0),
    )
    for number, (across, up, picture, through, axis) in enumerate(cuts, 1):
        axes = figure.add_subplot(1, 3, number)
        first, second = "xyz".index(across), "xyz".index(up)
        axes.imshow(
            picture,
            cmap="gray",
            vmin=low,
            vmax=high,
            origin="lower",
            extent=(*_extent(grid, first), *_extent(grid, second)),
        )
        where = grid.origin[axis] + place[axis] * grid.spacing[axis]
        axes.set(title=f"{through} = {where:.4g} mm", xlabel=f"{across} / mm", ylabel=f"{up} / mm")
    return figure


def _extent(grid: Grid, axis: int) -> tuple[float, float]:
    first = grid.origin[axis] - grid.spacing[axis] / 2
    return first, first + grid.size[axis] * grid.spacing[axis]


def geometry(scan: Geometry, grid: Grid | None = None) -> Figure:
    """Draw the sources and detectors of a scan as seen along z.

    Parameters
    ----------
    scan : Geometry
        A cone beam: parallel beams have no sources.
    grid : Grid, optional
        A volume, drawn as a rectangle.

    Returns
    -------
    matplotlib.figure.Figure
        Its axes hold a line of the sources and one of each detector's middle row.
    """
    vectors = scan.vectors()
    u, v = scan.pixels
    first = vectors[:, 3:6] + (v - 1) / 2 * vectors[:, 9:12]
    last = first + (u - 1) * vectors[:, 6:9]
    figure = _figure(figsize=(6, 6))
    axes = figure.add_subplot()
    if scan.beam == "cone":
        axes.plot(vectors[:, 0], vectors[:, 1], ".", label="sources")
    for begin, end in zip(first, last, strict=True):
        axes.plot([begin[0], end[0]], [begin[1], end[1]], "-", color="gray", linewidth=0.5)
    if grid is not None:
        (x0, x1), (y0, y1) = _extent(grid, 0), _extent(grid, 1)
        axes.plot([x0, x1, x1, x0, x0], [y0, y0, y1, y1, y0], "k-", label="volume")
    axes.set(xlabel="x / mm", ylabel="y / mm", aspect="equal", title=repr(scan).partition(",")[0])
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
    return figure


def convergence(*histories: Any, names: tuple[str, ...] = ()) -> Figure:
    """Draw the relative residuals of iterative methods.

    Parameters
    ----------
    *histories : structured ndarray
        As `Reconstruction` holds them.
    names : tuple of str
        A name for each.

    Returns
    -------
    matplotlib.figure.Figure
        Its axes hold a line for each history.
    """
    figure = _figure(figsize=(6, 4))
    axes = figure.add_subplot()
    for number, history in enumerate(histories):
        label = names[number] if number < len(names) else None
        axes.semilogy(history["iteration"], history["relative_residual"], ".-", label=label)
    axes.set(xlabel="iteration", ylabel="residual over the readings' norm")
    if names:
        axes.legend()
    return figure


def gamma(result: GammaResult, *, criterion: int = 0, plane: int | None = None) -> Figure:
    """Draw the gamma of a plane across z, and the histogram of all points.

    Parameters
    ----------
    result : GammaResult
        As `isocenter.gamma` returns it, of axes (z, y, x).
    criterion : int
        Which of the criteria.
    plane : int, optional
        Which plane; by default the middle one.

    Returns
    -------
    matplotlib.figure.Figure
        Its axes hold the plane, in which gamma 1 is white, and the bars of the histogram.
    """
    values = result.values[criterion]
    summary = result.summaries[criterion]
    at = values.shape[0] // 2 if plane is None else plane
    figure = _figure(figsize=(10, 4))
    axes = figure.add_subplot(1, 2, 1)
    drawn = axes.imshow(values[at], cmap="coolwarm", vmin=0, vmax=2, origin="lower")
    figure.colorbar(drawn, ax=axes, label="gamma")
    axes.set(title=f"{summary.criterion}, plane {at}", xlabel="x / voxels", ylabel="y / voxels")
    axes = figure.add_subplot(1, 2, 2)
    first = summary.bin_width * np.arange(len(summary.histogram))
    axes.bar(first, summary.histogram, width=summary.bin_width, align="edge")
    axes.set(title=f"{100 * summary.pass_rate:.1f} % pass", xlabel="gamma", ylabel="points")
    return figure


def dvh(*placed: Dvh, bins: int = 500, names: tuple[str, ...] = ()) -> Figure:
    """Draw cumulative dose-volume histograms.

    Parameters
    ----------
    *placed : Dvh
        Structures in doses.
    bins : int
        Number of bins.
    names : tuple of str
        A name for each; by default those of the structures.

    Returns
    -------
    matplotlib.figure.Figure
        Its axes hold a line for each: per cent of the volume that get a dose or more.
    """
    figure = _figure(figsize=(6, 4))
    axes = figure.add_subplot()
    for number, one in enumerate(placed):
        curve = one.histogram(bins=bins)
        label = names[number] if number < len(names) else one.structure.name
        axes.plot(curve.doses, 100 * curve.cumulative / curve.volume, label=label or None)
    axes.set(xlabel="dose", ylabel="volume / %", ylim=(0, 102))
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
    return figure
