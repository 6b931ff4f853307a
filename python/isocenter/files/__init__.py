# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes the files of the library's formats, by the extra ``isocenter[files]``.

Volumes are arrays of shape (z, y, x) of float32 in the library's order of memory, with x to the
left of a patient, y to the back, z to the head, mm. A file that is damaged, or says what is not
read, raises OSError with a sentence that names it. No message says a patient's name or number.
"""

from __future__ import annotations

import os
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .._calls import doubles as _doubles
from .._calls import host_array as _host_array
from .._calls import number as _number
from .._calls import shown as _shown
from .._dvh import Structure
from .._geometry import Geometry, Grid
from . import _dicom, _dicom_writer, _hdf5, _images, _market, _tiff
from ._common import Floats, Path, ending, floats_of, library, refuse
from ._dicom import Identity

__all__ = [
    "CtSeries",
    "Drawing",
    "Identity",
    "RtDose",
    "Stack",
    "StructureSet",
    "Volume",
    "read_ct",
    "read_identity",
    "read_images",
    "read_matrix",
    "read_rt_dose",
    "read_stack",
    "read_structures",
    "read_vector",
    "read_volume",
    "write_ct",
    "write_images",
    "write_matrix",
    "write_rt_dose",
    "write_stack",
    "write_vector",
    "write_volume",
]


class Volume(NamedTuple):
    """A volume that was read.

    Attributes
    ----------
    values : ndarray of float32, shape (z, y, x)
        Voxels, in the library's order of memory.
    grid : Grid
        Where they lie, mm.
    unit : str
        Of a value: '1/mm', 'HU', 'Gy'; empty where it is not known.
    """

    values: Floats
    grid: Grid
    unit: str


class CtSeries(NamedTuple):
    """A CT series: one image, in Hounsfield units, on evenly spaced planes.

    Attributes
    ----------
    values : ndarray of float32, shape (z, y, x)
        Hounsfield units.
    grid : Grid
        Where the voxels lie in the patient's coordinates, mm.
    identity : Identity
        Of the lowest slice.
    other_objects : int
        Files of plans, structures and doses, which are left alone.
    unread : list of (str, str)
        Files that look like DICOM and are not read, and why: a slice may be missing. Names of files
        may hold a patient's.
    """

    values: Floats
    grid: Grid
    identity: Identity
    other_objects: int
    unread: list[tuple[str, str]]


class RtDose(NamedTuple):
    """An RT Dose.

    Attributes
    ----------
    values : ndarray of float32, shape (z, y, x)
        The dose.
    grid : Grid
        Where the voxels lie in the patient's coordinates, mm.
    unit : str
        'Gy', 'relative', or another word that the file has.
    type, summation : str
        'PHYSICAL', 'EFFECTIVE'; 'PLAN', 'FRACTION', 'BEAM'.
    plans, structure_sets : list of str
        UIDs of what it refers to.
    beams : list of int
        Numbers of the plans' beams that it is of.
    states_thickness : bool
        False of one frame that does not say how thick it is.
    identity : Identity
        What the file is.
    """

    values: Floats
    grid: Grid
    unit: str
    type: str
    summation: str
    plans: list[str]
    beams: list[int]
    structure_sets: list[str]
    states_thickness: bool
    identity: Identity


class Drawing(NamedTuple):
    """A structure of an RT Structure Set.

    Attributes
    ----------
    name : str
    number : int
        0 where there is none, too.
    colour : (int, int, int) or None
        Red, green, blue, 0 to 255.
    type : str
        'PTV', 'ORGAN', 'EXTERNAL'; may be empty.
    frame_of_reference : str
        A UID.
    contours : list of ndarray, shape (points, 3)
        x, y, z in the patient's coordinates, mm.
    other_geometry : str
        'POINT', ...: contours of another kind, which are not read.
    refusal : str
        Why what is drawn cannot be used; empty where it can.
    """

    name: str
    number: int
    colour: tuple[int, int, int] | None
    type: str
    frame_of_reference: str
    contours: list[npt.NDArray[np.float64]]
    other_geometry: str
    refusal: str

    def structure(self) -> Structure:
        """Return it for histograms.

        Returns
        -------
        Structure

        Raises
        ------
        OSError
            Where it has a refusal, or no contours that bound a volume.
        """
        if self.refusal:
            raise OSError(self.refusal)
        if self.other_geometry or not self.contours:
            kind = f"{self.other_geometry} contours" if self.other_geometry else "no contours"
            raise OSError(
                f"structure '{self.name[:64]}' has {kind} (it bounds no volume); choose another"
            )
        return Structure(self.contours, self.name)


class StructureSet(NamedTuple):
    """An RT Structure Set.

    Attributes
    ----------
    structures : list of Drawing
        In the order of the file. What is wrong with one stands in its refusal.
    identity : Identity
        What the file is.
    """

    structures: list[Drawing]
    identity: Identity

    def __getitem__(self, name: Any) -> Any:
        """Return the structure of a name, for histograms; with a number as a tuple does."""
        if not isinstance(name, str):
            return tuple.__getitem__(self, name)
        found = [drawn for drawn in self.structures if drawn.name == name]
        if len(found) != 1:
            there = ", ".join(drawn.name for drawn in self.structures)[:1000]
            raise KeyError(
                f"{len(found)} structures are named '{name[:64]}' (one is needed; there are: "
                f"{there}); choose another"
            )
        return found[0].structure()


class Stack(NamedTuple):
    """Projections that were read.

    Attributes
    ----------
    values : ndarray of float32 or float64, shape (view, v, u)
        Readings, in the library's order of memory.
    geometry : Geometry or None
        The scan that stands in the file.
    unit : str
        '1' for line integrals of attenuation; empty where it is not known.
    """

    values: npt.NDArray[np.float32] | npt.NDArray[np.float64]
    geometry: Geometry | None
    unit: str


def read_volume(path: Path) -> Volume:
    """Read a volume: MetaImage, NRRD, NIfTI, an RT Dose, or the folder of a CT series.

    Parameters
    ----------
    path : path-like
        .mha, .mhd, .nrrd, .nhdr, .nii, .nii.gz; of DICOM a folder, .dcm, or a file of another name
        that has DICOM's mark. A dose may have other units than Gy.

    Returns
    -------
    Volume
        Direction matrices that flip or permute the axes are undone.

    Raises
    ------
    OSError
        No such file, another ending, a header that lies, a truncated or damaged file, oblique axes,
        a value that is not finite.

    Notes
    -----
    Determinism: the bits that the file's numbers have as float32, as in the library's readers.
    """
    if _dicom.is_dicom(path):
        if os.path.isdir(path):
            series = read_ct(path)
            return Volume(series.values, series.grid, "HU")
        dose = read_rt_dose(path, any_unit=True)
        return Volume(dose.values, dose.grid, dose.unit)
    if ending(path) not in _images.ENDINGS:
        zipped = _dicom.first_bytes(path).startswith(b"PK\3\4")
        refuse(
            path,
            "is a zip archive (files in it are not read); unpack it"
            if zipped
            else f"has the ending '{ending(path)}', which is no volume's (.mha, .mhd, .nrrd, "
            ".nhdr, .nii, .nii.gz and DICOM are read); name one of these",
        )
    return Volume(*_images.read_image(path))


def write_volume(path: Path, values: npt.ArrayLike, grid: Grid, *, unit: str = "") -> None:
    """Write a volume as MetaImage, NRRD or NIfTI, in float32.

    Parameters
    ----------
    path : path-like
        .mha, .nrrd, .nii or .nii.gz. The file is complete or not there.
    values : array of real numbers, shape (z, y, x)
        Voxels.
    grid : Grid
        Where they lie.
    unit : str
        Of a value, such as 'HU' or 'Gy'. A NIfTI has none.

    Raises
    ------
    ValueError
        For a shape that is not the grid's.
    OSError
        For another ending, doubles that no float holds, a folder that takes no file.
    """
    voxels = _host_array(values, "write_volume: values")
    if voxels.shape != grid.shape or voxels.dtype.kind not in "biuf":
        raise ValueError(
            f"write_volume: values of shape {voxels.shape} and {voxels.dtype} (real numbers of "
            f"shape {grid.shape} are needed); give those"
        )
    _images.write_image(path, floats_of(path, voxels), grid, unit)


def _voxels(values: npt.ArrayLike, grid: Grid, what: str) -> npt.NDArray[Any]:
    """Return the values of a grid's voxels as an array of real numbers."""
    voxels = _host_array(values, what)
    if voxels.shape != grid.shape or voxels.dtype.kind not in "biuf":
        raise ValueError(
            f"{what} of shape {voxels.shape} and {voxels.dtype} (real numbers of shape "
            f"{grid.shape} are needed); give those"
        )
    return voxels


def read_ct(folder: Path, *, recursive: bool = False) -> CtSeries:
    """Read the CT series in a folder, and in the folders within where ``recursive``.

    Slices are put in the order of their positions, and their values rescaled to Hounsfield units.

    Parameters
    ----------
    folder : path-like
        It may hold other files of DICOM too.
    recursive : bool
        Look into the folders within too.

    Returns
    -------
    CtSeries

    Raises
    ------
    OSError
        No folder; no CT image; two series; missing, doubled or unevenly spaced slices; oblique or
        tilted planes; slices that differ; values in other units; damaged files.
    """
    return CtSeries(*_dicom.read_series(folder, bool(recursive)))


def write_ct(
    folder: Path, hounsfield: npt.ArrayLike, grid: Grid, *, like: Path | None = None
) -> None:
    """Write a CT series, a DICOM file for each slice.

    Parameters
    ----------
    folder : path-like
        A new folder, or an empty one. It holds all files, or stays as it was.
    hounsfield : array of real numbers, shape (z, y, x)
        Hounsfield units, which are rounded to whole ones of 16 bits.
    grid : Grid
        Where the voxels lie in the patient's coordinates, mm.
    like : path-like, optional
        A DICOM file, or the folder of a series, of whose patient, study and frame of reference it
        is. By default there is no patient, and a new study and frame.

    Raises
    ------
    ValueError
        For a shape that is not the grid's.
    OSError
        For a folder that is not empty, values that 16 bits do not hold, ``like`` that is no DICOM.

    Notes
    -----
    UIDs are made of the content: the same volume, with the same ``like``, gives the same files.
    """
    voxels = _voxels(hounsfield, grid, "write_ct: hounsfield")
    _dicom_writer.write_series(folder, voxels, grid, like)


def read_rt_dose(path: Path, *, any_unit: bool = False, slice_thickness: float = 0.0) -> RtDose:
    """Read an RT Dose.

    Parameters
    ----------
    path : path-like
        The file.
    any_unit : bool
        Read doses of other units than Gy too.
    slice_thickness : float
        Of one frame that does not state it, mm; 0: such a file is refused.

    Returns
    -------
    RtDose

    Raises
    ------
    OSError
        No RT Dose; other units; frames missing, doubled or unevenly spaced; oblique planes;
        compressed pixels, fewer or more than the header says; a damaged file.
    """
    thickness = _number(slice_thickness, "read_rt_dose: slice_thickness")
    values, grid, identity, meaning, stated = _dicom.read_dose(path, bool(any_unit), thickness)
    return RtDose(values, grid, *meaning, stated, identity)


def write_rt_dose(
    path: Path,
    dose: npt.ArrayLike,
    grid: Grid,
    *,
    like: Path | None = None,
    plan: Path | None = None,
) -> None:
    """Write a dose as RT Dose: physical, of a plan, in whole numbers of 32 bits.

    Parameters
    ----------
    path : path-like
        The file, which is replaced whole or stays as it was.
    dose : array of real numbers, shape (z, y, x)
        Gy. Values are rounded to multiples of the largest over 2^32 - 1.
    grid : Grid
        Where the voxels lie in the patient's coordinates, mm.
    like : path-like, optional
        A DICOM file, or the folder of a series, of whose patient, study and frame of reference it
        is. By default those of ``plan``; else there is no patient, and a new study and frame.
    plan : path-like, optional
        The RT Plan that it is of; by default ``like`` where that is one, else a UID of no file.

    Raises
    ------
    ValueError
        For a shape that is not the grid's.
    OSError
        For values that are negative or not finite, ``plan`` that is no RT Plan, ``like`` and
        ``plan`` of two frames of reference, a file that cannot be written.

    Notes
    -----
    UIDs are made of the content: the same dose, with the same ``like`` and ``plan``, gives the same
    file.
    """
    _dicom_writer.write_dose(path, _voxels(dose, grid, "write_rt_dose: dose"), grid, like, plan)


def read_structures(path: Path) -> StructureSet:
    """Read an RT Structure Set.

    Contours that cannot be used are told in the `Drawing.refusal` of their structure; the others of
    the set can be used.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    StructureSet

    Raises
    ------
    OSError
        No RT Structure Set, or a damaged one.
    """
    identity, drawn = _dicom.read_structure_set(path)
    return StructureSet(
        [
            Drawing(d.name, d.number, d.colour, d.type, d.frame, d.contours, d.other, d.refusal)
            for d in drawn
        ],
        identity,
    )


def read_identity(path: Path) -> Identity:
    """Return what a DICOM file is and belongs to.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Identity

    Raises
    ------
    OSError
        No DICOM file, or a damaged one.
    """
    return _dicom.read_identity(path)


def read_stack(
    path: Path, *, dtype: npt.DTypeLike | None = None, with_geometry: bool = True
) -> Stack:
    """Read projections from HDF5.

    Parameters
    ----------
    path : path-like
        .h5 or .hdf5 with the dataset /projections; integers of 16 bits become offset + scale times
        the integer by the attributes of these names.
    dtype : float32 or float64, optional
        By default what the file has.
    with_geometry : bool
        False: leave the dataset /geometry alone, whatever it is.

    Returns
    -------
    Stack

    Raises
    ------
    OSError
        No HDF5, a truncated or damaged file, no such dataset, a value that is not finite.
    ValueError
        For a geometry that makes no sense.
    """
    to = None if dtype is None else np.dtype(dtype)
    if to is not None and to not in (np.float32, np.float64):
        raise TypeError(f"read_stack: dtype {to} (float32 and float64 are possible); choose one")
    values, unit, text = _hdf5.read_stack(path, to, bool(with_geometry))
    geometry = Geometry.from_json(text) if text else None
    if geometry is not None and geometry.shape != values.shape:
        refuse(
            path,
            f"has projections of shape {values.shape} and a geometry of {geometry.shape}; write "
            "the geometry that belongs to them",
        )
    return Stack(values, geometry, unit)


def write_stack(
    path: Path, values: npt.ArrayLike, geometry: Geometry | None = None, *, unit: str = "1"
) -> None:
    """Write projections as HDF5, which the tool ``iso`` reads.

    Parameters
    ----------
    path : path-like
        .h5 or .hdf5. The file is complete or not there, and bears checksums.
    values : array of float32 or float64, shape (view, v, u)
        Readings, in their own precision.
    geometry : Geometry, optional
        The scan.
    unit : str
        '1': line integrals of attenuation.

    Raises
    ------
    ValueError
        For a shape that is not the geometry's.
    OSError
        For another ending, a folder that takes no file.
    """
    readings = _host_array(values, "write_stack: values")
    if readings.ndim != 3 or readings.dtype not in (np.float32, np.float64):
        raise ValueError(
            f"write_stack: values of shape {readings.shape} and {readings.dtype} (float32 or "
            "float64 of shape (view, v, u) are needed); give those"
        )
    if geometry is not None and readings.shape != geometry.shape:
        raise ValueError(
            f"write_stack: values of shape {readings.shape} ({geometry.shape} is needed); give "
            "those of the geometry"
        )
    _hdf5.write_stack(path, readings, unit, "" if geometry is None else geometry.to_json())


def read_images(name: Path) -> Stack:
    """Read detector images from TIFF files.

    Parameters
    ----------
    name : path-like
        A file, which may hold several images, or a folder, of which all TIFF files are taken in the
        order of the last number in their names.

    Returns
    -------
    Stack
        Shape (view, v, u) in float32: column 0 is u = 0, and the bottom row is v = 0. It has no
        geometry, and no unit.

    Raises
    ------
    OSError
        Nothing there; a number that is missing or stands twice; images of two sizes or types; other
        pixels than one channel of uint8, uint16, float32 or float64; a damaged file.
    """
    values, _ = _tiff.read_images(name)
    return Stack(values, None, "")


def write_images(
    folder: Path, views: npt.ArrayLike, *, stored: Literal["uint16", "float32"] = "float32"
) -> None:
    """Write detector images, a TIFF file for each view.

    Parameters
    ----------
    folder : path-like
        A new folder, or an empty one. It holds all files, or stays as it was.
    views : array of real numbers, shape (view, v, u)
        Images; the row v = 0 is the bottom one.
    stored : {'float32', 'uint16'}
        The type of a pixel; 'uint16': values are rounded, and lie from 0 to 65535.

    Raises
    ------
    ValueError
        For another shape, or another type of pixels.
    OSError
        For a folder that is not empty, or values that do not fit.
    """
    images = _host_array(views, "write_images: views")
    if images.ndim != 3 or images.dtype.kind not in "biuf":
        raise ValueError(
            f"write_images: views of shape {images.shape} and {images.dtype} (real numbers of "
            "shape (view, v, u) are needed, without a mask); give those"
        )
    if stored not in ("uint16", "float32"):
        raise ValueError(
            f"write_images: stored is {_shown(stored)} (there are 'uint16' and 'float32'); choose "
            "one of them"
        )
    _tiff.write_images(folder, images, stored)


def read_matrix(path: Path) -> Any:
    """Read a sparse matrix, for `DoseMatrix`.

    Parameters
    ----------
    path : path-like
        .h5 or .hdf5 in SciPy's layout, or .mtx (Matrix Market, coordinate).

    Returns
    -------
    scipy.sparse.csr_array
        Values as they are stored: float32 or float64; halves become float32. Of .mtx float64.

    Raises
    ------
    OSError
        Another ending, a damaged file, a value that is not finite or that no double is, a column
        outside of the matrix; in .mtx an entry twice.
    """
    end = ending(path)
    if end not in (".h5", ".hdf5", ".mtx"):
        refuse(path, f"has the ending '{end}' (.h5, .hdf5 and .mtx are read); name one of these")
    sparse = library("scipy.sparse", "matrices are held")
    parts = _market.read_market(path) if end == ".mtx" else _hdf5.read_matrix(path)
    data, indices, indptr, shape = parts
    if data.dtype == np.float16:
        data = data.astype(np.float32)
    return sparse.csr_array((data, indices, indptr), shape=tuple(int(n) for n in shape))


def write_matrix(path: Path, matrix: Any, *, values: npt.DTypeLike | None = None) -> None:
    """Write a sparse matrix as .h5, .hdf5 or .mtx.

    Parameters
    ----------
    path : path-like
        The ending chooses the format.
    matrix : scipy.sparse array or matrix
        Any that becomes CSR.
    values : dtype, optional
        float16, float32 or float64 in place of the matrix's own.

    Raises
    ------
    OSError
        For another ending, values that are not finite, in .mtx an entry twice.
    """
    end = ending(path)
    if end not in (".h5", ".hdf5", ".mtx"):
        refuse(path, f"has the ending '{end}' (.h5, .hdf5 and .mtx are written); choose one")
    csr = matrix.tocsr()
    to = np.dtype(csr.data.dtype if values is None else values)
    if to not in (np.float16, np.float32, np.float64):
        raise TypeError(
            f"write_matrix: values of {to} (float16, float32 and float64 are written); give values="
        )
    with np.errstate(over="ignore"):
        data = csr.data.astype(to)
    indptr, indices = csr.indptr.astype(np.int64), csr.indices.astype(np.int64)
    _hdf5.check_matrix(path, data, indices, indptr, csr.shape)
    write = _market.write_market if end == ".mtx" else _hdf5.write_matrix
    write(path, data, indices, indptr, csr.shape)


def read_vector(path: Path) -> npt.NDArray[np.float64]:
    """Read the numbers of a vector that goes with a matrix.

    Parameters
    ----------
    path : path-like
        .h5 or .hdf5 with the dataset /values.

    Returns
    -------
    ndarray of float64, shape (n,)

    Raises
    ------
    OSError
        No HDF5, a damaged file, a number that is not finite.
    """
    return _hdf5.read_vector(path)


def write_vector(path: Path, values: npt.ArrayLike) -> None:
    """Write a vector in float64.

    Parameters
    ----------
    path : path-like
        .h5 or .hdf5.
    values : array_like, shape (n,)
        Any unit.
    """
    numbers = _doubles(values, "write_vector: values")
    if numbers.ndim != 1:
        raise ValueError(
            f"write_vector: values of {numbers.ndim} axes (one is needed); flatten them"
        )
    _hdf5.write_vector(path, numbers)
