# SPDX-License-Identifier: BSD-3-Clause
"""Writes CT series by pydicom, as the library's own writer does."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt

from .._geometry import Grid
from . import _dicom
from ._common import Path, check_coordinate, check_spacing, filling, library, refuse

_CT_IMAGE = "1.2.840.10008.5.1.4.1.1.2"
_EXPLICIT = "1.2.840.10008.1.2.1"
#: What a series has from the patient and the study that it belongs to.
_OF_STUDY = (
    "SpecificCharacterSet",
    "PatientName",
    "PatientID",
    "PatientBirthDate",
    "PatientSex",
    "StudyDate",
    "StudyTime",
    "StudyID",
    "AccessionNumber",
    "ReferringPhysicianName",
    "StudyInstanceUID",
    "FrameOfReferenceUID",
)


def _of_study(like: Path | None, uid: Any) -> dict[str, Any]:
    """Return elements of the study: those of another file, or of none."""
    if like is None:
        found: dict[str, Any] = dict.fromkeys(_OF_STUDY, "")
        found["SpecificCharacterSet"] = "ISO_IR 192"
        found["StudyInstanceUID"], found["FrameOfReferenceUID"] = uid("study"), uid("frame")
        return found
    files = sorted(pathlib.Path(like).iterdir()) if os.path.isdir(like) else [like]
    for file in files:
        item = _dicom.load(file)
        if item is not None and "StudyInstanceUID" in item:
            return {name: item.get(name, "") for name in _OF_STUDY}
    refuse(like, "has no DICOM file with a study (a series belongs to one); name another")


def _stored(folder: Path, hounsfield: npt.NDArray[Any]) -> npt.NDArray[np.int16]:
    """Return whole numbers, half away from zero, of 16 bits."""
    if not np.isfinite(hounsfield).all():
        refuse(folder, "cannot hold values that are not finite; replace them by numbers")
    size = np.floor(np.abs(hounsfield.astype(np.float64)) + 0.5)
    whole = np.copysign(size, hounsfield)
    if whole.size and not -32768 <= whole.min() <= whole.max() <= 32767:
        refuse(
            folder,
            f"cannot hold values from {whole.min():g} to {whole.max():g} (HU from -32768 to 32767 "
            "are possible); clip them",
        )
    return np.asarray(whole, dtype="<i2")


def _header(grid: Grid, study: dict[str, Any], series: str) -> Any:
    """Return what all slices have alike."""
    pydicom = library("pydicom", "DICOM is written")
    short = pydicom.valuerep.format_number_as_ds
    item = pydicom.Dataset()
    for name, value in study.items():
        setattr(item, name, value)
    nx, ny, _ = grid.size
    dx, dy, dz = grid.spacing
    alike = {
        "ImageType": ["DERIVED", "SECONDARY", "AXIAL"],
        "SOPClassUID": _CT_IMAGE,
        "Modality": "CT",
        "Manufacturer": "Isocenter",
        "SeriesDescription": "Isocenter",
        "SliceThickness": short(dz),
        "KVP": "",
        "PatientPosition": "HFS",
        "SeriesInstanceUID": series,
        "SeriesNumber": "",
        "AcquisitionNumber": "",
        "ImageOrientationPatient": ["1", "0", "0", "0", "1", "0"],
        "Laterality": "",
        "PositionReferenceIndicator": "",
        "SamplesPerPixel": 1,
        "PhotometricInterpretation": "MONOCHROME2",
        "Rows": ny,
        "Columns": nx,
        "PixelSpacing": [short(dy), short(dx)],
        "BitsAllocated": 16,
        "BitsStored": 16,
        "HighBit": 15,
        "PixelRepresentation": 1,
        "RescaleIntercept": "0",
        "RescaleSlope": "1",
        "RescaleType": "HU",
    }
    for name, value in alike.items():
        setattr(item, name, value)
    item.file_meta = pydicom.dataset.FileMetaDataset()
    item.file_meta.MediaStorageSOPClassUID = _CT_IMAGE
    item.file_meta.TransferSyntaxUID = pydicom.uid.UID(_EXPLICIT)
    return item


def write_series(
    folder: Path, hounsfield: npt.NDArray[Any], grid: Grid, like: Path | None
) -> None:
    """Write a file for each slice into a new or empty folder: all of them, or none."""
    pydicom = library("pydicom", "DICOM is written")
    if max(grid.size) > 65535:
        refuse(folder, f"cannot hold {grid.size} voxels (65535 an axis are possible); crop them")
    for length, first in zip(grid.spacing, grid.origin, strict=True):
        check_spacing(folder, length)
        check_coordinate(folder, first)
    stored = _stored(folder, hounsfield)
    contents = [np.ascontiguousarray(plane).tobytes() for plane in stored]
    named = [repr((grid.size, grid.spacing, grid.origin)), *(data.hex() for data in contents)]

    def uid(what: str) -> str:
        # Of the content: the same volume gives the same files.
        return str(pydicom.uid.generate_uid(entropy_srcs=[what, *named]))

    study = _of_study(like, uid)
    named.append(str(study["StudyInstanceUID"]))
    item = _header(grid, study, uid("series"))
    short = pydicom.valuerep.format_number_as_ds
    with filling(folder) as made:
        x, y, z = grid.origin
        for k, data in enumerate(contents):
            item.SOPInstanceUID = uid(f"slice {k}")
            item.file_meta.MediaStorageSOPInstanceUID = item.SOPInstanceUID
            item.InstanceNumber = str(k + 1)
            height = z + k * grid.spacing[2]
            item.ImagePositionPatient = [short(x), short(y), short(height)]
            item.PixelData = data if len(data) % 2 == 0 else data + b"\0"
            item["PixelData"].VR = "OW"
            item.save_as(made / f"slice{k + 1:05d}.dcm", enforce_file_format=True)
