# SPDX-License-Identifier: BSD-3-Clause
"""Structures of contours, and dose-volume histograms."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt

from . import _core
from ._calls import Axes, Event, Progress, doubles, event, integer, number, order, progress_of
from ._calls import real_type, words
from ._geometry import Grid, grid_core
from ._options import StructureOptions

#: The points whose smallest and largest dose are reported: of voxels wholly inside and the
#: surface, of the former alone, or of all voxels that the structure touches.
Extremes: TypeAlias = Literal["include", "exclude", "touched"]


@dataclasses.dataclass(frozen=True)
class StructureReport:
    """What was found in the contours.

    Attributes
    ----------
    volume, outside : float
        Inside the grid and outside of it, mm3.
    planes, contours, left_out_contours : int
        Planes with contours; contours that bound something; points and lines.
    crossing_contours, crossing_planes : int
        Contours that cross themselves or another, and planes that have such.
    disputed : float
        Share of the area that crossing contours go around twice.
    holes, parts : int
        Contours that bound a hole; parts that no contours join.
    min_spacing, max_spacing : float
        Between joined planes, mm.
    missing_slices, separations : list of (float, float)
        Pairs of planes, mm, between which the shape goes on, or ends.
    """

    volume: float
    outside: float
    planes: int
    contours: int
    left_out_contours: int
    crossing_contours: int
    crossing_planes: int
    disputed: float
    holes: int
    parts: int
    min_spacing: float
    max_spacing: float
    missing_slices: list[tuple[float, float]]
    separations: list[tuple[float, float]]


class Structure:
    """An organ or a target, described by contours in axial planes.

    Parameters
    ----------
    contours : iterable of array_like, shape (points, 3)
        Closed polygons (x, y, z), mm, each in one plane across z, in any order. A contour within
        another bounds a hole.
    name : str
        Its name.
    cancel
        As `project`.
    **options
        See `StructureOptions`.

    Raises
    ------
    ValueError
        For contours that bound nothing, or that are not in axial planes.

    Notes
    -----
    Determinism: the same bits everywhere.
    """

    __slots__ = ("_core", "_contours", "_name", "_options")

    def __init__(
        self,
        contours: Iterable[npt.ArrayLike],
        name: str = "",
        *,
        cancel: Event | None = None,
        **options: Unpack[StructureOptions],
    ) -> None:
        if isinstance(contours, (str, bytes, np.ndarray)) or not isinstance(contours, Iterable):
            raise TypeError(
                f"Structure: contours is of type {type(contours).__name__} (polygons are needed); "
                "give a list of arrays of shape (points, 3)"
            )
        self._contours = [doubles(points, "Structure: contours") for points in contours]
        self._name, self._options = str(name), options
        self._core = _core.Structure.make(
            self._name, self._contours, dict(options), event(cancel, "Structure")
        )

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def contours(self) -> list[npt.NDArray[np.float64]]:
        """Its contours as they were given."""
        return [points.copy() for points in self._contours]

    def fractions(
        self,
        grid: Grid,
        *,
        dtype: npt.DTypeLike = np.float32,
        out: object = None,
        axes: Axes = "zyx",
        copy: bool | None = None,
        cancel: Event | None = None,
        progress: Progress = None,
    ) -> tuple[Any, StructureReport]:
        """Return the share of each voxel that lies inside.

        Parameters
        ----------
        grid : Grid
            The voxels.
        dtype : float32 or float64
            The type of the result.
        out : array of that type, shape (z, y, x), optional
            What is overwritten and returned in place of a new array; it may lie on a GPU.
        axes, copy, cancel, progress
            As `project`.

        Returns
        -------
        fractions : ndarray, shape (z, y, x)
            From 0 to 1.
        report : StructureReport
            What was found.

        Raises
        ------
        ValueError
            For a structure partly outside of the grid, unless ``beyond='cut'``.

        Notes
        -----
        Determinism: the same bits everywhere.
        """
        name = "Structure.fractions"
        values, told = self._core.fractions(
            grid_core(name, grid),
            out,
            real_type(dtype, name) == np.float64,
            order(axes, name),
            copy is not False,
            event(cancel, name),
            progress_of(progress, name),
        )
        return values, StructureReport(**told)

    def surface_points(self, distance: float) -> npt.NDArray[np.float64]:
        """Return points of the surface, no farther apart than ``distance`` mm: shape (n, 3), mm."""
        return self._core.surface_points(number(distance, "Structure.surface_points: distance"))

    def __repr__(self) -> str:
        return f"Structure({self._name!r}, {len(self._contours)} contours)"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Structure)
            and (self._name, self._options) == (other._name, other._options)
            and len(self._contours) == len(other._contours)
            and all(map(np.array_equal, self._contours, other._contours))
        )

    def __hash__(self) -> int:
        return hash((self._name, tuple(points.tobytes() for points in self._contours)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _structure_of, (self._contours, self._name, dict(self._options))


def _structure_of(
    contours: list[npt.NDArray[np.float64]], name: str, options: StructureOptions
) -> Structure:
    return Structure(contours, name, **options)


@dataclasses.dataclass(frozen=True)
class DoseStatistics:
    """The dose of a structure in a few numbers.

    Attributes
    ----------
    volume, outside : float
        Where there is a dose, and where there is none, mm3.
    mean, minimum, maximum : float
        The dose's unit; NaN where there is no volume.
    """

    volume: float
    outside: float
    mean: float
    minimum: float
    maximum: float


@dataclasses.dataclass(frozen=True, eq=False)
class Histogram:
    """A dose-volume histogram. Each number is exact at its dose.

    Attributes
    ----------
    bin_width : float
        The dose's unit.
    volume, outside : float
        Where there is a dose, and where there is none, mm3.
    cumulative : ndarray of float64, shape (bins + 1,)
        mm3 that get n bin widths or more.
    differential : ndarray of float64, shape (bins,)
        mm3 that get from n to n + 1 bin widths.
    """

    bin_width: float
    volume: float
    outside: float
    cumulative: npt.NDArray[np.float64]
    differential: npt.NDArray[np.float64]

    @property
    def doses(self) -> npt.NDArray[np.float64]:
        """The doses of ``cumulative``."""
        doses: npt.NDArray[np.float64] = np.arange(len(self.cumulative), dtype=np.float64)
        doses *= self.bin_width
        return doses


class Dvh:
    """A structure in a dose, placed once for all that is read off it.

    The dose is linear between the middles of voxels; volumes are sums of closed forms, and nothing
    is sampled.

    Parameters
    ----------
    structure : Structure
        The contours.
    grid : Grid
        The voxels of the dose.
    dose : array of float32 or float64, shape (z, y, x)
        Gy, or another unit. It is kept, and must not change.
    subdivision : int
        Parts of a dose voxel along each axis in which the structure's shares are taken, 1 to 64;
        0: as the structure needs.
    axes, copy, cancel, progress
        As `project`.

    Raises
    ------
    ValueError
        For a structure that does not overlap the dose, or doses that are not finite in it.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """

    __slots__ = ("_core", "_structure")

    def __init__(
        self,
        structure: Structure,
        grid: Grid,
        dose: object,
        *,
        subdivision: int = 0,
        axes: Axes = "zyx",
        copy: bool | None = None,
        cancel: Event | None = None,
        progress: Progress = None,
    ) -> None:
        own = grid_core("Dvh", grid)
        rest = order(axes, "Dvh"), copy is not False, cancel, progress
        self._begin("Dvh", structure, own, None, dose, subdivision, rest)

    def _begin(
        self,
        name: str,
        structure: object,
        grid: _core.Grid,
        share: _core.RankPlanes | None,
        dose: object,
        subdivision: int,
        rest: tuple[str, bool, Event | None, Progress],
    ) -> None:
        """Place a structure in a dose, of which ranks may own planes."""
        if not isinstance(structure, Structure):
            raise TypeError(
                f"{name}: structure is of type {type(structure).__name__} (a Structure is "
                "needed); make one of contours"
            )
        self._structure = structure
        laid, copies, cancel, progress = rest
        self._core = _core.Dvh(
            structure._core,
            grid,
            share,
            dose,
            integer(subdivision, f"{name}: subdivision"),
            laid,
            copies,
            event(cancel, name),
            progress_of(progress, name),
        )

    @property
    def structure(self) -> Structure:
        """The structure."""
        return self._structure

    def statistics(
        self, *, extremes: Extremes = "include", cancel: Event | None = None
    ) -> DoseStatistics:
        """Return volume, mean, minimum and maximum.

        ``extremes`` and ``cancel`` are those of `evaluate`.
        """
        return DoseStatistics(**self._core.statistics(str(extremes), event(cancel, "Dvh")))

    def evaluate(
        self,
        quantities: str | Sequence[str],
        *,
        prescription: float = 0.0,
        extremes: Extremes = "include",
        cancel: Event | None = None,
    ) -> dict[str, float]:
        """Return quantities by their names.

        Parameters
        ----------
        quantities : sequence of str
            Such as 'D95', 'D0.1cc', 'V20Gy' (per cent), 'V20Gy_cc' (cm3), 'mean', 'min', 'max',
            'volume' (cm3), 'homogeneity', 'CI60Gy' (Paddick's conformity), and of the prescription
            'CI' and 'V95%'.
        prescription : float
            Gy; 0: not known.
        extremes : {'include', 'exclude', 'touched'}
            The points of which the minimum and the maximum are.
        cancel
            As `project`.

        Returns
        -------
        dict of str to float
            Of each name its value, in the unit that `unit_of` tells.
        """
        names = words(quantities, "Dvh.evaluate: quantities")
        values = self._core.evaluate(
            names,
            number(prescription, "Dvh.evaluate: prescription"),
            str(extremes),
            event(cancel, "Dvh"),
        )
        return dict(zip(names, values.tolist(), strict=True))

    def volumes_at(
        self, doses: npt.ArrayLike, *, cancel: Event | None = None
    ) -> npt.NDArray[np.float64]:
        """Return the volume, mm3, that gets each dose or more; doses must ascend.

        ``cancel`` is that of `project`.
        """
        given = np.atleast_1d(doubles(doses, "Dvh.volumes_at: doses"))
        return self._core.volumes_at(given, event(cancel, "Dvh"))

    def doses_at(
        self, volumes: npt.ArrayLike, *, cancel: Event | None = None
    ) -> npt.NDArray[np.float64]:
        """Return the largest dose that each of ``volumes``, mm3, gets.

        ``cancel`` is that of `project`.
        """
        given = np.atleast_1d(doubles(volumes, "Dvh.doses_at: volumes"))
        return self._core.doses_at(given, event(cancel, "Dvh"))

    def histogram(
        self, *, bins: int = 1000, end: float = 0.0, cancel: Event | None = None
    ) -> Histogram:
        """Return the histogram in bins from 0 to ``end``.

        Parameters
        ----------
        bins : int
            Number of bins.
        end : float
            Dose where the last bin ends; 0: 1.02 times the largest dose.
        cancel
            As `project`.

        Returns
        -------
        Histogram
            Each number is exact at its dose.
        """
        found = self._core.histogram(
            integer(bins, "Dvh.histogram: bins"),
            number(end, "Dvh.histogram: end"),
            event(cancel, "Dvh"),
        )
        return Histogram(**found)

    def __repr__(self) -> str:
        return f"Dvh({self._structure!r})"


def unit_of(quantity: str, prescription: float = 0.0) -> str:
    """Return the unit of a quantity of `Dvh.evaluate`.

    Parameters
    ----------
    quantity : str
        Its name, such as 'D95'.
    prescription : float
        Gy; 0: not known.

    Returns
    -------
    str
        'Gy', '%', 'cm3' or '1'.
    """
    return _core.unit_of_quantity(str(quantity), number(prescription, "unit_of: prescription"))
