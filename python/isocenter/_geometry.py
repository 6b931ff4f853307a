# SPDX-License-Identifier: BSD-3-Clause
"""Grids of voxels and geometries of scans."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core
from ._calls import doubles, integer, integers, number, numbers

_Doubles = npt.NDArray[np.float64]
_Scan: TypeAlias = _core.Geometry


def _tidy(x: Sequence[float]) -> str:
    return ", ".join(f"{value:.6g}" for value in x)


def even_angles(count: int, span: float, first: float = 0.0) -> _Doubles:
    """Return angles, evenly over a range whose end is left out.

    Parameters
    ----------
    count : int
        Number of angles, at least 1.
    span : float
        Range in rad: 2 pi for a circle, less for an arc, 2 pi n for n turns.
    first : float
        First angle, rad.

    Returns
    -------
    ndarray of float64, shape (count,)
        Radians.

    Raises
    ------
    ValueError
        For a count below 1 or an angle that is not finite.

    Notes
    -----
    Determinism: the same bits everywhere.
    """
    return _core.even_angles(
        integer(count, "even_angles: count"),
        number(span, "even_angles: span"),
        number(first, "even_angles: first"),
    )


class Grid:
    """A regular grid of voxels along the axes of the world.

    Voxel (i, j, k) is the box of one spacing about ``origin + spacing * (i, j, k)``. All three
    lengths are named in the order x, y, z, while arrays of voxels have the shape (z, y, x), or
    (x, y, z) in calls with ``axes="xyz"``.

    Parameters
    ----------
    size : sequence of 3 int
        Voxels along x, y, z.
    spacing : float or sequence of 3 float
        Distance of neighbouring voxels along x, y, z, mm.
    origin : sequence of 3 float
        Centre of voxel (0, 0, 0), mm. By default the grid's middle lies at the world's origin,
        the isocentre.

    Raises
    ------
    ValueError
        For a size below 1, a spacing that is not positive, an origin that is not finite.
    """

    __slots__ = ("_core",)

    def __init__(
        self,
        size: Sequence[int],
        spacing: float | Sequence[float] = 1.0,
        origin: Sequence[float] | None = None,
    ) -> None:
        voxels = integers(size, 3, "Grid: size")
        steps = numbers(spacing, 3, "Grid: spacing")
        self._core = (
            _core.Grid.centred(voxels, steps)
            if origin is None
            else _core.Grid.make(voxels, steps, numbers(origin, 3, "Grid: origin"))
        )

    @classmethod
    def centred(cls, size: Sequence[int], spacing: float | Sequence[float] = 1.0) -> Grid:
        """Return the grid of that size and ``spacing`` whose middle lies at the isocentre."""
        return cls(size, spacing)

    @property
    def size(self) -> tuple[int, int, int]:
        """Voxels along x, y, z."""
        x, y, z = self._core.size
        return x, y, z

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape (z, y, x) of an array of its voxels."""
        x, y, z = self._core.size
        return z, y, x

    @property
    def spacing(self) -> tuple[float, float, float]:
        """Distance of neighbouring voxels along x, y, z, mm."""
        x, y, z = self._core.spacing
        return x, y, z

    @property
    def origin(self) -> tuple[float, float, float]:
        """Centre of voxel (0, 0, 0): x, y, z, mm."""
        x, y, z = self._core.origin
        return x, y, z

    def __repr__(self) -> str:
        return (
            f"Grid(size=({', '.join(map(str, self.size))}), spacing=({_tidy(self.spacing)}) mm, "
            f"origin=({_tidy(self.origin)}) mm, shape (z, y, x) = {self.shape})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and self._core.equals(other._core)

    def __hash__(self) -> int:
        return hash((self.size, self.spacing, self.origin))

    def __reduce__(self) -> tuple[Any, ...]:
        return Grid, (self.size, self.spacing, self.origin)


class Geometry:
    """Where source and detector of a scan stand, view by view.

    Made by the class methods. Arrays of its readings have the shape (view, v, u), or (view, u, v)
    in calls with ``axes="xyz"``. Lengths are mm and angles rad.
    """

    __slots__ = ("_core",)
    _core: _Scan

    def __init__(self) -> None:
        raise TypeError(
            "Geometry has no constructor of its own (scans are given in several ways); call "
            "Geometry.circular_cone, circular_parallel, from_vectors, from_json or read"
        )

    @classmethod
    def _of(cls, core: _Scan) -> Geometry:
        made = object.__new__(cls)
        made._core = core
        return made

    @classmethod
    def circular_cone(
        cls,
        *,
        pixels: Sequence[int],
        pitch: float | Sequence[float],
        source_axis: float,
        source_detector: float,
        angles: npt.ArrayLike,
        offset: Sequence[float] = (0.0, 0.0),
    ) -> Geometry:
        """Return a circle of cone-beam views about the z axis.

        At angle 0 the source stands on +x, u runs along +y and v along +z; angles turn from x to
        y. A fan beam is a detector of one row.

        Parameters
        ----------
        pixels : sequence of 2 int
            Pixels of the detector along u and v.
        pitch : float or sequence of 2 float
            Distance of neighbouring pixels along u and v, mm.
        source_axis : float
            Distance of the source from the z axis, mm.
        source_detector : float
            Distance of the source from the detector's plane, mm.
        angles : array_like, shape (views,)
            Radians; see `even_angles`.
        offset : sequence of 2 float
            Displacement of the detector's middle along u and v, mm.

        Raises
        ------
        ValueError
            For distances or pitches that are not positive, an empty detector, no angles.

        Notes
        -----
        Determinism: the same bits everywhere.
        """
        return cls._of(
            _core.Geometry.circular_cone(
                integers(pixels, 2, "Geometry.circular_cone: pixels"),
                numbers(pitch, 2, "Geometry.circular_cone: pitch"),
                numbers(offset, 2, "Geometry.circular_cone: offset"),
                number(source_axis, "Geometry.circular_cone: source_axis"),
                number(source_detector, "Geometry.circular_cone: source_detector"),
                doubles(angles, "Geometry.circular_cone: angles"),
            )
        )

    @classmethod
    def circular_parallel(
        cls,
        *,
        pixels: Sequence[int],
        pitch: float | Sequence[float],
        angles: npt.ArrayLike,
        offset: Sequence[float] = (0.0, 0.0),
    ) -> Geometry:
        """Return the same circle with parallel rays.

        At angle 0 they run along -x, u along +y, v along +z.

        Parameters
        ----------
        pixels, pitch, angles, offset
            As `circular_cone`.
        """
        return cls._of(
            _core.Geometry.circular_parallel(
                integers(pixels, 2, "Geometry.circular_parallel: pixels"),
                numbers(pitch, 2, "Geometry.circular_parallel: pitch"),
                numbers(offset, 2, "Geometry.circular_parallel: offset"),
                doubles(angles, "Geometry.circular_parallel: angles"),
            )
        )

    @classmethod
    def from_vectors(
        cls, vectors: npt.ArrayLike, *, pixels: Sequence[int], beam: str = "cone"
    ) -> Geometry:
        """Return a scan of given views.

        Parameters
        ----------
        vectors : array_like, shape (views, 12)
            Of each view, in world coordinates (x, y, z), mm: the source (cone) or the direction of
            the rays (parallel); the centre of pixel (u, v) = (0, 0); the step from a pixel to the
            next along u; the step along v.
        pixels : sequence of 2 int
            Pixels of the detector along u and v.
        beam : {'cone', 'parallel'}
            Form of the beam.

        Raises
        ------
        ValueError
            For a view with a number that is not finite, or steps that are parallel.
        """
        u, v = integers(pixels, 2, "Geometry.from_vectors: pixels")
        rows = doubles(vectors, "Geometry.from_vectors: vectors")
        return cls._of(_core.Geometry.from_vectors(str(beam), u, v, rows))

    @classmethod
    def from_json(cls, text: str) -> Geometry:
        """Return the scan that a JSON text describes: the format of the tool's geometry files.

        Raises
        ------
        OSError
            Names the field that is wrong by its JSON pointer.
        """
        return cls._of(_core.Geometry.parse(str(text)))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Geometry:
        """Return the scan of the file ``path``: JSON, or the settings of a Nikon scanner (.xtekct).

        Raises
        ------
        OSError
            For a file that cannot be read, or that does not describe a scan.
        """
        return cls._of(_core.Geometry.read(os.fspath(path)))

    def to_json(self) -> str:
        """Return a JSON text that gives every view by its vectors."""
        return self._core.to_json()

    @property
    def beam(self) -> str:
        """Form of the beam: 'cone' or 'parallel'."""
        return self._core.beam

    @property
    def num_views(self) -> int:
        """Number of views."""
        return self._core.extents[0]

    @property
    def pixels(self) -> tuple[int, int]:
        """Pixels of the detector along u and v."""
        _, u, v = self._core.extents
        return u, v

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape (view, v, u) of an array of its readings."""
        views, u, v = self._core.extents
        return views, v, u

    def vectors(self) -> _Doubles:
        """Return the views as `from_vectors` takes them: ndarray of float64, shape (views, 12)."""
        return self._core.vectors()

    def helix(self, angles: npt.ArrayLike, pitch: float) -> Geometry:
        """Return the circle as a helix: each view moved along z by ``pitch`` mm a turn.

        Parameters
        ----------
        angles : array_like, shape (views,)
            Radians, of which the circle was made. Midway between the first and the last, z is 0.
        pitch : float
            Millimetres along z in a turn.
        """
        return self._of(
            self._core.helix(
                doubles(angles, "Geometry.helix: angles"), number(pitch, "Geometry.helix: pitch")
            )
        )

    def laminography(self, tilt: float) -> Geometry:
        """Return the circle with its axis tilted towards the source by ``tilt`` rad."""
        return self._of(self._core.laminography(number(tilt, "Geometry.laminography: tilt")))

    def turn_detector(
        self, *, yaw: float = 0.0, pitch: float = 0.0, roll: float = 0.0
    ) -> Geometry:
        """Return the scan with every detector turned about its middle.

        Parameters
        ----------
        yaw, pitch, roll : float
            Radians about the detector's v, then its u, then its normal.
        """
        turns = (number(x, "Geometry.turn_detector: an angle") for x in (yaw, pitch, roll))
        return self._of(self._core.turn_detector(*turns))

    def shift_detector(self, shifts: npt.ArrayLike) -> Geometry:
        """Return the scan with each detector shifted.

        Parameters
        ----------
        shifts : array_like, shape (views, 2)
            Millimetres along the detector's u and v.
        """
        rows = doubles(shifts, "Geometry.shift_detector: shifts")
        return self._of(self._core.shift_detector(rows))

    def shift_source(self, shifts: npt.ArrayLike) -> Geometry:
        """Return the scan with each source shifted.

        Parameters
        ----------
        shifts : array_like, shape (views, 3)
            Millimetres along the detector's u, its v and its normal u x v.
        """
        return self._of(self._core.shift_source(doubles(shifts, "Geometry.shift_source: shifts")))

    def move_detector(self, factor: float) -> Geometry:
        """Return the scan with each detector moved along its rays to ``factor`` times its distance.

        The pixels keep their rays, which end farther from the source.
        """
        return self._of(self._core.move_detector(number(factor, "Geometry.move_detector: factor")))

    def subset(self, first: int, count: int) -> Geometry:
        """Return the views ``first`` to ``first + count``, the end left out."""
        views = (integer(x, "Geometry.subset: a number of views") for x in (first, count))
        return self._of(self._core.subset(*views))

    def detectors_within(self, grid: Grid) -> tuple[int, float]:
        """Return how many views have their detector within a volume, or before it.

        Cone rays end at their pixels, so that projections of these views leave out what of
        ``grid`` lies behind.

        Returns
        -------
        views : int
            Number of such views.
        factor : float
            The factor by which `move_detector` takes these detectors out of the volume.
        """
        return self._core.detectors_within(grid_core("Geometry.detectors_within", grid))

    def __len__(self) -> int:
        return self.num_views

    def __repr__(self) -> str:
        u, v = self.pixels
        return (
            f"Geometry({self.beam}, {self.num_views} views, {u} x {v} pixels (u, v), "
            f"shape (view, v, u) = {self.shape})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Geometry) and self._core.equals(other._core)

    def __hash__(self) -> int:
        return hash((self.beam, self._core.extents, self.vectors().tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _geometry_of, (self.vectors(), self.pixels, self.beam)


def _geometry_of(vectors: _Doubles, pixels: tuple[int, int], beam: str) -> Geometry:
    return Geometry.from_vectors(vectors, pixels=pixels, beam=beam)


def scan_core(function: str, geometry: object) -> _core.Geometry:
    """Return what the extension module knows of a geometry."""
    if not isinstance(geometry, Geometry):
        raise TypeError(
            f"{function}: geometry is of type {type(geometry).__name__} (a Geometry is needed); "
            "make one by Geometry.circular_cone or another method of it"
        )
    return geometry._core


def grid_core(function: str, grid: object) -> _core.Grid:
    """Return what the extension module knows of a grid."""
    if not isinstance(grid, Grid):
        raise TypeError(
            f"{function}: grid is of type {type(grid).__name__} (a Grid is needed); make one by "
            "Grid(size, spacing)"
        )
    return grid._core


def cores(function: str, geometry: object, grid: object) -> tuple[_core.Geometry, _core.Grid]:
    """Return what the extension module knows of both."""
    return scan_core(function, geometry), grid_core(function, grid)
