# SPDX-License-Identifier: BSD-3-Clause
"""Photon dose by collapsed-cone convolution: beams, densities, TERMA and dose.

Tables of kernels, spectra and densities are given by the names of those that the library carries,
or as text: docs/algorithms/dose.md describes their lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from . import _core
from ._calls import VOLUME, ArrayT, Axes, Closing, Event, Progress, device_array, doubles, event
from ._calls import finite, how, like, number, numbers, order, progress_of, real_type
from ._geometry import Grid, grid_core
from ._options import CalculatorOptions, ConvolveOptions, TermaOptions

__all__ = ["Beam", "Calculator", "density_from_hounsfield", "terma"]


class Beam:
    """A photon beam. Angles are those of IEC 61217, in degrees.

    The patient's axes are DICOM's: x to the left, y to the back, z to the head. With the gantry at
    0 the beam runs along +y.

    Parameters
    ----------
    fluence : array_like, shape (y, x)
        Relative fluence of the pixels of a map across the beam in the plane of the isocentre, x and
        y being the axes of the collimator; 0 outside of it.
    field : (x_low, x_high, y_low, y_high)
        Edges of the map, mm.
    isocentre : sequence of 3 float
        x, y, z, mm.
    gantry_deg, couch_deg, collimator_deg : float
        Degrees.
    source_distance : float
        From the source to the isocentre, mm.
    weight : float
        Photons/cm2 in air at the isocentre where the fluence is 1.

    Raises
    ------
    ValueError
        For numbers that are not finite, or a fluence that is negative or zero everywhere.

    Notes
    -----
    Determinism: the same bits everywhere.
    """

    __slots__ = ("_arguments", "_core")

    def __init__(
        self,
        fluence: npt.ArrayLike,
        *,
        field: Sequence[float],
        isocentre: Sequence[float] = (0.0, 0.0, 0.0),
        gantry_deg: float = 0.0,
        couch_deg: float = 0.0,
        collimator_deg: float = 0.0,
        source_distance: float = 1000.0,
        weight: float = 1.0,
    ) -> None:
        values = doubles(fluence, "dose.Beam: fluence")
        if values.ndim != 2 or values.size == 0:
            raise ValueError(
                f"dose.Beam: fluence of shape {values.shape} (a map of shape (y, x) is needed); "
                "give one, of one pixel for an open field"
            )
        low_x, high_x, low_y, high_y = numbers(field, 4, "dose.Beam: field")
        place = tuple(
            finite(x, "dose.Beam: isocentre")
            for x in numbers(isocentre, 3, "dose.Beam: isocentre")
        )
        angles = tuple(
            finite(angle, f"dose.Beam: {name}")
            for name, angle in (
                ("gantry_deg", gantry_deg),
                ("couch_deg", couch_deg),
                ("collimator_deg", collimator_deg),
            )
        )
        distance = finite(source_distance, "dose.Beam: source_distance", least=0, above=True)
        photons = finite(weight, "dose.Beam: weight", least=0)
        rows, columns = values.shape
        self._arguments = {
            "fluence": values,
            "field": (low_x, high_x, low_y, high_y),
            "isocentre": place,
            "gantry_deg": angles[0],
            "couch_deg": angles[1],
            "collimator_deg": angles[2],
            "source_distance": distance,
            "weight": photons,
        }
        self._core = _core.Beam.make(
            distance,
            place,
            angles,
            (low_x, low_y, (high_x - low_x) / columns, (high_y - low_y) / rows),
            np.ascontiguousarray(values.T),
            photons,
        )

    @classmethod
    def rectangle(
        cls, x_low: float, x_high: float, y_low: float, y_high: float, **others: Any
    ) -> Beam:
        """Return the beam of an open rectangular field.

        Parameters
        ----------
        x_low, x_high, y_low, y_high : float
            Its edges in the plane of the isocentre, mm.
        **others
            As `Beam`.

        Returns
        -------
        Beam
        """
        return cls([[1.0]], field=(x_low, x_high, y_low, y_high), **others)

    def region(self, patient: Grid, margin: float = 27.0) -> Grid:
        """Return the voxels of a patient that get a dose.

        Parameters
        ----------
        patient : Grid
            All voxels.
        margin : float
            About the edges of the field, in the plane of the isocentre, mm.

        Returns
        -------
        Grid
            A part of the patient's voxels.
        """
        name = "dose.Beam.region"
        found = _core.region_around(
            self._core, grid_core(name, patient), number(margin, f"{name}: margin")
        )
        return Grid(found.size, found.spacing, found.origin)

    def __repr__(self) -> str:
        a = self._arguments
        return (
            f"Beam(field={a['field']} mm, isocentre={a['isocentre']} mm, gantry "
            f"{a['gantry_deg']:g} deg, couch {a['couch_deg']:g} deg, collimator "
            f"{a['collimator_deg']:g} deg, source_distance={a['source_distance']:g} mm)"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Beam):
            return False
        mine = _arguments_of(self)
        return all(np.array_equal(mine[key], value) for key, value in _arguments_of(other).items())

    def __hash__(self) -> int:
        values = (x.tobytes() if isinstance(x, np.ndarray) else x for x in self._arguments.values())
        return hash(tuple(values))

    def __reduce__(self) -> tuple[Any, ...]:
        return _beam_of, (self._arguments,)


def _arguments_of(beam: Beam) -> dict[str, Any]:
    return dict(beam._arguments)


def _beam_of(arguments: dict[str, Any]) -> Beam:
    return Beam(**arguments)


def _core_of(beam: object, function: str) -> _core.Beam:
    if not isinstance(beam, Beam):
        raise TypeError(
            f"{function}: beam is of type {type(beam).__name__} (a Beam is needed); make one by "
            "dose.Beam.rectangle"
        )
    return beam._core


def _table(given: str, what: str) -> tuple[str, str]:
    """A name of the library's tables, or a table as text: (name, text)."""
    if not isinstance(given, str):
        raise TypeError(
            f"{what} is of type {type(given).__name__} (a name or a table as text is needed); give "
            "one"
        )
    return ("table", given) if "\n" in given else (given, "")


class Calculator(Closing[_core.Calculator]):
    """A dose calculation on a patient's grid, for one beam after the other.

    It keeps the cones of its kernels and the memory of the largest beam.

    Parameters
    ----------
    patient : Grid
        The voxels that may get dose.
    kernel : str
        '4mv', '6mv', '10mv', '15mv', '24mv', '6mv_quad', a table as text, or 'by_energy': a
        tabulated kernel for each energy of the spectrum, which is slower and hardens as the beam
        does.
    spectrum : str
        'mohan_6mv', 'sheikh_bagheri_6mv', or a table as text.
    dtype : float32 or float64
        The type of its arrays.
    axes, copy
        As `isocenter.project`, of all its calls.
    **options
        See `CalculatorOptions`: cones, azimuths, engine, margin and others.

    Raises
    ------
    ValueError
        For a table that is none, or an option out of range.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """

    __slots__ = ("_axes", "_patient")

    def __init__(
        self,
        patient: Grid,
        *,
        kernel: str = "6mv",
        spectrum: str = "mohan_6mv",
        dtype: npt.DTypeLike = np.float32,
        axes: Axes = "zyx",
        copy: bool | None = None,
        **options: Unpack[CalculatorOptions],
    ) -> None:
        own = grid_core("dose.Calculator", patient)
        self._patient, self._axes = patient, order(axes, "dose.Calculator")
        self._begin("dose.Calculator", own, None, (kernel, spectrum), dtype, copy, dict(options))

    def _begin(
        self,
        name: str,
        patient: _core.Grid,
        share: _core.RankPlanes | None,
        tables: tuple[str, str],
        dtype: npt.DTypeLike,
        copy: bool | None,
        options: dict[str, Any],
    ) -> None:
        """Make what computes, on ranks where they own planes of the dose."""
        kernel, spectrum = tables
        kernel_name, kernel_table = _table(kernel, f"{name}: kernel")
        spectrum_name, spectrum_table = _table(spectrum, f"{name}: spectrum")
        self._core = _core.Calculator(
            patient,
            share,
            real_type(dtype, name) == np.float64,
            kernel_name,
            kernel_table,
            spectrum_name,
            spectrum_table,
            kernel == "by_energy",
            options,
            self._axes,
            copy is not False,
        )

    @property
    def patient(self) -> Grid:
        """The voxels that may get dose."""
        return self._patient

    @property
    def bytes(self) -> int:
        """Bytes of memory that it holds now."""
        return self._core.bytes

    @property
    def num_directions(self) -> int:
        """Directions in which energy travels."""
        return self._core.directions

    def __call__(
        self,
        beams: Beam | Sequence[Beam],
        density: ArrayT,
        out: object = None,
        *,
        cancel: Event | None = None,
        progress: Progress = None,
    ) -> ArrayT:
        """Compute the dose of beams.

        Parameters
        ----------
        beams : Beam or sequence of Beam
            Their doses add.
        density : array, shape (z, y, x)
            g/cm3; nothing lies outside of it.
        out : array, shape (z, y, x), optional
            A dose, Gy, to which theirs is added; it is returned.
        cancel, progress
            As `isocenter.project`.

        Returns
        -------
        array of the same type, shape (z, y, x)
            Gy.

        Raises
        ------
        ValueError
            For a beam that misses the patient, or a source within it.
        """
        name = "dose.Calculator"
        if isinstance(beams, Beam):
            beams = [beams]
        elif not isinstance(beams, (list, tuple)):
            raise TypeError(
                f"{name}: beams is of type {type(beams).__name__} (a Beam or a list of Beams is "
                "needed); give one"
            )
        fresh = out is None
        if fresh:
            out = device_array(density, self._patient.size, VOLUME[self._axes])
        result = self._core.add(
            [_core_of(beam, name) for beam in beams],
            density,
            out,
            fresh,
            event(cancel, name),
            progress_of(progress, name),
        )
        return cast(ArrayT, like(density, result, out))

    def __repr__(self) -> str:
        return f"Calculator({self._patient!r})"


def terma(
    beam: Beam,
    grid: Grid,
    density: ArrayT,
    *,
    spectrum: str = "mohan_6mv",
    region: Grid | None = None,
    out: object = None,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    progress: Progress = None,
    **options: Unpack[TermaOptions],
) -> ArrayT:
    """Compute the total energy released per mass.

    Parameters
    ----------
    beam : Beam
        The beam.
    grid : Grid
        The voxels of ``density``.
    density : array of float32 or float64, shape (z, y, x)
        g/cm3; nothing lies outside of it.
    spectrum : str
        As `Calculator`.
    region : Grid, optional
        The voxels of the result, as `Beam.region` returns them; by default ``grid``.
    out : array of the same type, shape (z, y, x), optional
        What is overwritten and returned in place of a new array.
    axes, copy, cancel, progress
        As `isocenter.project`.
    **options
        See `TermaOptions`.

    Returns
    -------
    array of the same type, shape (z, y, x)
        Gy.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    name = "dose.terma"
    own, laid = grid_core(name, grid), order(axes, name)
    box = own if region is None else grid_core(name, region)
    if out is None:
        out = device_array(density, box.size, VOLUME[laid])
    spectrum_name, spectrum_table = _table(spectrum, f"{name}: spectrum")
    result = _core.terma(
        own,
        density,
        _core_of(beam, name),
        spectrum_name,
        spectrum_table,
        box,
        out,
        *how(name, options, laid, copy, cancel, progress),
    )
    return cast(ArrayT, like(density, result, out))


def convolve(
    beam: Beam,
    region: Grid,
    terma: ArrayT,
    grid: Grid,
    density: object,
    *,
    kernel: str = "6mv",
    spectrum: str = "mohan_6mv",
    out: object = None,
    add: bool = False,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    progress: Progress = None,
    **options: Unpack[ConvolveOptions],
) -> ArrayT:
    """Compute the dose that a TERMA gives, by collapsed cones.

    Parameters
    ----------
    beam : Beam
        The beam of the TERMA.
    region : Grid
        The voxels of ``terma``, which get dose: some of ``grid``, as `Beam.region` returns them.
    terma : array of float32 or float64, shape (z, y, x)
        Of `terma`, Gy.
    grid : Grid
        The voxels of ``density`` and of the result.
    density : array of the same type, shape (z, y, x)
        g/cm3.
    kernel, spectrum : str
        As `Calculator`, but for 'by_energy'; the spectrum is that of a kernel of several energies.
    out : array, shape (z, y, x), optional
        What is overwritten and returned in place of a new array.
    add : bool
        Add to ``out`` in place of overwriting it.
    axes, copy, cancel, progress
        As `isocenter.project`.
    **options
        See `ConvolveOptions`: the engine, cones, azimuths, radial_step and others.

    Returns
    -------
    array of the same type, shape (z, y, x)
        Gy; 0 outside of the region.

    Raises
    ------
    ValueError
        For a region that is no part of the grid, a source too near, an option out of range.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    name = "dose.convolve"
    own, laid = grid_core(name, grid), order(axes, name)
    if out is None and not add:
        out = device_array(terma, own.size, VOLUME[laid])
    kernel_name, kernel_table = _table(kernel, f"{name}: kernel")
    spectrum_name, spectrum_table = _table(spectrum, f"{name}: spectrum")
    result = _core.convolve(
        _core_of(beam, name),
        grid_core(name, region),
        terma,
        own,
        density,
        kernel_name,
        kernel_table,
        spectrum_name,
        spectrum_table,
        out,
        bool(add),
        *how(name, options, laid, copy, cancel, progress),
    )
    return cast(ArrayT, like(terma, result, out))


def density_from_hounsfield(
    hounsfield: ArrayT,
    table: str = "schneider_2000",
    *,
    out: object = None,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
) -> ArrayT:
    """Compute densities from CT numbers by a piecewise-linear table.

    Parameters
    ----------
    hounsfield : array of float32 or float64, shape (z, y, x)
        Hounsfield units.
    table : str
        'schneider_2000', or lines of "CT number, density" as text.
    out, axes, copy, cancel
        As `isocenter.project`.

    Returns
    -------
    array of the same type, shape (z, y, x)
        g/cm3.

    Notes
    -----
    Determinism: the same bits on every backend and for any number of threads.
    """
    name = "dose.density_from_hounsfield"
    table_name, text = _table(table, f"{name}: table")
    laid = order(axes, name)
    shape = tuple(getattr(hounsfield, "shape", ()))
    if out is None and len(shape) == 3:
        out = device_array(hounsfield, shape[:: -1 if laid == "zyx" else 1], VOLUME[laid])
    result = _core.density_from_hounsfield(
        hounsfield, table_name, text, out, laid, copy is not False, event(cancel, name)
    )
    return cast(ArrayT, like(hounsfield, result, out))
