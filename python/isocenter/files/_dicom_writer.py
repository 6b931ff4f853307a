# SPDX-License-Identifier: BSD-3-Clause
"""Writes CT series and RT Doses by pydicom, as the library's own writers do."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt

from .._geometry import Grid
from . import _dicom
from ._common import Path, check_coordinate, check_spacing, filling, library, refuse, replacing

_CT_IMAGE = "1.2.840.10008.5.1.4.1.1.2"
_RT_PLAN = "1.2.840.10008.5.1.4.1.1.481.5"
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


def _plan_of(like: Path | None, plan: Path | None) -> tuple[Path | None, str]:
    """Return the file of whose study a dose is, and the UID of its plan, which may be empty."""
    if plan is not None:
        own = _dicom.read_identity(plan)
        if own.sop_class != _RT_PLAN:
            refuse(plan, f"is no RT Plan (its modality is {own.modality or 'not said'}); name one")
        if like is None:
            return plan, own.sop_instance
        frame = _of_study(like, lambda what: "")["FrameOfReferenceUID"]
        if frame and own.frame_of_reference and frame != own.frame_of_reference:
            refuse(plan, f"has another frame of reference than '{like}'; name those of one patient")
        return like, own.sop_instance
    if like is not None and not os.path.isdir(like):
        own = _dicom.read_identity(like)
        return like, own.sop_instance if own.sop_class == _RT_PLAN else ""
    return like, ""


def _decimal_above(number: float) -> str:
    """Return the least number of ten digits that is no less, as DICOM writes it."""
    more = number
    while float(text := f"{more:.9e}") < number:
        more *= 1 + 1e-10
    return text


def _check_dose(path: Path, dose: npt.NDArray[Any], grid: Grid) -> None:
    if max(grid.size[:2]) > 65535 or dose.size > 1_000_000_000:
        refuse(path, f"cannot hold {grid.size} voxels (65535 along x and y, 1e9 in all); crop them")
    with np.errstate(invalid="ignore"):
        if not (np.isfinite(dose) & (dose >= 0)).all():
            refuse(path, "cannot hold values that are negative or not finite; replace them")
    for length, first in zip(grid.spacing, grid.origin, strict=True):
        check_spacing(path, length)
        check_coordinate(path, first)


def write_dose(
    path: Path, dose: npt.NDArray[Any], grid: Grid, like: Path | None, plan: Path | None
) -> None:
    """Write an RT Dose: physical, of a plan, whole numbers of 32 bits."""
    pydicom = library("pydicom", "DICOM is written")
    short = pydicom.valuerep.format_number_as_ds
    _check_dose(path, dose, grid)
    of, plan_uid = _plan_of(like, plan)
    contents = np.ascontiguousarray(dose, dtype=np.float64).tobytes()
    named = [repr((grid.size, grid.spacing, grid.origin)), contents.hex(), plan_uid]

    def uid(what: str) -> str:
        # Of the content: the same dose gives the same file.
        return str(pydicom.uid.generate_uid(entropy_srcs=[what, *named]))

    study = _of_study(of, uid)
    study["StudyInstanceUID"] = study["StudyInstanceUID"] or uid("study")
    study["FrameOfReferenceUID"] = study["FrameOfReferenceUID"] or uid("frame")
    named += [str(study["StudyInstanceUID"]), str(study["FrameOfReferenceUID"])]
    nx, ny, nz = grid.size
    dx, dy, dz = grid.spacing
    most = float(dose.max())
    scaling = _decimal_above(most / 4294967295.0) if most > 0 else "1"
    offsets = [short(k * dz) for k in range(nz)]
    if len("\\".join(offsets)) > 65534:
        refuse(path, f"cannot hold {nz} frames (their offsets have 65534 characters); crop them")
    reference = pydicom.Dataset()
    reference.ReferencedSOPClassUID = _RT_PLAN
    reference.ReferencedSOPInstanceUID = plan_uid or uid("plan")
    item = pydicom.Dataset()
    stored = {
        **study,
        "SOPClassUID": _dicom.RT_DOSE,
        "SOPInstanceUID": uid("dose"),
        "SeriesInstanceUID": uid("series"),
        "Modality": "RTDOSE",
        "Manufacturer": "Isocenter",
        "SeriesDescription": "Isocenter",
        "SeriesNumber": "",
        "InstanceNumber": "1",
        "OperatorsName": "",
        "PositionReferenceIndicator": "",
        "ReferencedRTPlanSequence": [reference],
        "SliceThickness": short(dz),
        "ImagePositionPatient": [short(x) for x in grid.origin],
        "ImageOrientationPatient": ["1", "0", "0", "0", "1", "0"],
        "PixelSpacing": [short(dy), short(dx)],
        "Rows": ny,
        "Columns": nx,
        "SamplesPerPixel": 1,
        "PhotometricInterpretation": "MONOCHROME2",
        "BitsAllocated": 32,
        "BitsStored": 32,
        "HighBit": 31,
        "PixelRepresentation": 0,
        "DoseUnits": "GY",
        "DoseType": "PHYSICAL",
        "DoseSummationType": "PLAN",
        "TissueHeterogeneityCorrection": "IMAGE",
        "DoseGridScaling": scaling,
    }
    if nz > 1:  # one frame has no increment
        stored |= {"NumberOfFrames": str(nz), "GridFrameOffsetVector": offsets}
        stored["FrameIncrementPointer"] = pydicom.tag.Tag("GridFrameOffsetVector")
    for name, value in stored.items():
        setattr(item, name, value)
    numbers = np.floor(dose.astype(np.float64) / float(scaling) + 0.5)
    item.PixelData = numbers.astype("<u4").tobytes()
    item["PixelData"].VR = "OW"
    item.file_meta = pydicom.dataset.FileMetaDataset()
    item.file_meta.MediaStorageSOPClassUID = _dicom.RT_DOSE
    item.file_meta.MediaStorageSOPInstanceUID = item.SOPInstanceUID
    item.file_meta.TransferSyntaxUID = pydicom.uid.UID(_EXPLICIT)
    with replacing(path) as made:
        item.save_as(made, enforce_file_format=True)
