# SPDX-License-Identifier: BSD-3-Clause
"""CT series, RT Doses and RT Structure Sets by pydicom.

No message says a patient's name or number, nor the name of a file in a folder, which may hold one.
"""

from __future__ import annotations

import io
import os
import pathlib
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._common import (
    Floats,
    Path,
    along_world,
    axis_along,
    check_coordinate,
    check_range,
    check_regular,
    check_spacing,
    ending,
    largest_of,
    library,
    refuse,
)
from .._geometry import Grid

CT_IMAGE = "1.2.840.10008.5.1.4.1.1.2"
RT_DOSE = "1.2.840.10008.5.1.4.1.1.481.2"
RT_STRUCTURES = "1.2.840.10008.5.1.4.1.1.481.3"
DICOMDIR = "1.2.840.10008.1.3.10"
_AROUND = " \0\t\r\n"
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\x00-\x1f\x7f-\x9f\ufffd]")


class Identity(NamedTuple):
    """What a DICOM file is and belongs to; empty where it does not say.

    Attributes
    ----------
    modality : str
        'CT', 'RTDOSE', 'RTSTRUCT', ...
    sop_class, sop_instance, series, study, frame_of_reference : str
        UIDs. Coordinates of one frame of reference can be compared.
    patient_position : str
        'HFS' or another code, 'unknown' where the text is no code.
    """

    modality: str
    sop_class: str
    sop_instance: str
    series: str
    study: str
    frame_of_reference: str
    patient_position: str


def first_bytes(path: Path) -> bytes:
    """Return what tells whether a file was meant to be DICOM; nothing of what is no file."""
    if not os.path.isfile(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(4096)
    except OSError:
        return b""


def is_dicom(path: Path) -> bool:
    """Return whether a path is taken for DICOM: a folder, .dcm, or a file with its mark."""
    from ._images import ENDINGS

    marked = first_bytes(path)[128:132] == b"DICM"
    return os.path.isdir(path) or ending(path) == ".dcm" or (ending(path) not in ENDINGS and marked)


def _is_whole(item: Any) -> bool:
    """Return whether no element of a data set, or of its items, is cut short."""
    for tag in list(item.keys()):
        raw = item.get_item(tag)
        size = getattr(raw, "length", 0xFFFFFFFF)
        if isinstance(raw.value, bytes) and size != 0xFFFFFFFF and len(raw.value) != size:
            return False
        if raw.VR is None and not item.is_implicit_VR:
            return False
        if _kind(item, tag) == "SQ" and not all(map(_is_whole, item[tag].value or [])):
            return False
    return True


def load(path: Path) -> Any | None:
    """Return the data set of a DICOM file; None where it is none or damaged."""
    pydicom = library("pydicom", "DICOM is read")
    try:
        with open(path, "rb") as file:
            content = file.read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            marked = content[128:132] == b"DICM"
            found = pydicom.dcmread(io.BytesIO(content), force=not marked)
            return found if (marked or "SOPClassUID" in found) and _is_whole(found) else None
    except Exception:  # noqa: BLE001: pydicom raises whatever it meets in damaged files
        return None


class _Syntax(NamedTuple):
    """How pixels stand in a file."""

    packed: bool
    big: bool


def _syntax_of(item: Any) -> _Syntax:
    uid_of_it = item.file_meta.get("TransferSyntaxUID") if hasattr(item, "file_meta") else None
    try:
        packed = uid_of_it is not None and uid_of_it.is_encapsulated
        big = uid_of_it is not None and not uid_of_it.is_little_endian
    except ValueError:  # no transfer syntax: a damaged header before one that is read
        packed = big = False
    return _Syntax(packed, big)


_TEXTS = "AE AS CS DA DS DT IS LO LT PN SH ST TM UC UI UR UT".split()


def _kind(item: Any, name: Any) -> str:
    """Return the kind of an element, by the dictionary where the file does not say it."""
    pydicom = library("pydicom", "DICOM is read")
    kind = item.get_item(name).VR
    if kind in (None, "UN"):
        try:
            return str(pydicom.datadict.dictionary_VR(name))
        except KeyError:
            return ""
    return str(kind)


def _raw(item: Any, name: str) -> str:
    """Return the text of an element as it is in the file, without blanks around it."""
    if name not in item or _kind(item, name) not in _TEXTS:
        return ""
    value = item.get_item(name).value
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("latin-1").strip(_AROUND)
    if isinstance(value, (list, tuple)) or type(value).__name__ == "MultiValue":
        return "\\".join(str(getattr(x, "original_string", x)) for x in value).strip(_AROUND)
    return str(getattr(value, "original_string", value)).strip(_AROUND)


def _shown(word: str) -> str:
    """Return what of a value can be told: it may hold anything."""
    return re.sub(r"[^0-9+\-.,eE ]", "?", word)[:24]


def _values(path: Path, item: Any, name: str, form: re.Pattern[str], kind: str) -> list[str]:
    if name in item and item.get_item(name).value and _kind(item, name) not in _TEXTS:
        refuse(
            path, f"holds {name} of kind {_kind(item, name)} (text is expected); export it again"
        )
    text = _raw(item, name)
    words = [word.strip(_AROUND) for word in text.split("\\")] if text else []
    for word in words:
        if not form.fullmatch(word):
            refuse(path, f"holds '{_shown(word)}' as {name} ({kind} is expected); export it again")
    return words


def decimals(path: Path, item: Any, name: str) -> list[float]:
    """Return decimal strings (DS)."""
    words = _values(path, item, name, _DECIMAL, "a number with a decimal point")
    numbers = [float(word) for word in words]
    for word, number in zip(words, numbers):
        digits = re.split("[eE]", word)[0]
        if np.isinf(number) or (number == 0 and re.search("[1-9]", digits)):
            refuse(path, f"holds '{_shown(word)}' as {name} (no double is it); export it again")
    return numbers


def _only(path: Path, values: Sequence[Any], name: str) -> Any:
    if len(values) > 1:
        refuse(path, f"holds {len(values)} values of {name} (one is expected); export it again")
    return values[0] if values else None


def decimal(path: Path, item: Any, name: str) -> float | None:
    """Return one decimal string."""
    found: float | None = _only(path, decimals(path, item, name), name)
    return found


def integer(path: Path, item: Any, name: str) -> int | None:
    """Return one integer string (IS) of 32 bits."""
    words = _values(path, item, name, _WHOLE, "a whole number")
    numbers = [int(word) for word in words]
    if any(not -(2**31) <= number < 2**31 for number in numbers):
        refuse(path, f"holds '{_shown(words[0])}' as {name} (a whole number is expected)")
    found: int | None = _only(path, numbers, name)
    return found


def count(path: Path, item: Any, name: str) -> int | None:
    """Return one number of kind US."""
    if name not in item:
        return None
    try:
        element = item[name]
    except (NotImplementedError, ValueError):
        refuse(path, f"holds {name} of an unknown kind (one number of US is expected)")
    if element.value is None or element.value == "":
        return None
    if element.VR != "US" or not isinstance(element.value, int):
        refuse(path, f"holds {name} of kind {element.VR} (one number of US is expected)")
    return int(element.value)


def uid(item: Any, name: str) -> str:
    """Return a UID, all of it or nothing."""
    text = _raw(item, name)
    return text if re.fullmatch("[0-9.]{1,64}", text) else ""


def code(item: Any, name: str) -> str:
    """Return a code of capitals, all of it or nothing."""
    text = _raw(item, name)
    return text if re.fullmatch("[A-Z0-9 _]{1,16}", text) else ""


def stated_code(item: Any, name: str) -> str:
    """Return a code, or 'unknown' for a text that is none."""
    return code(item, name) or ("unknown" if _raw(item, name) else "")


def items(item: Any, name: str) -> list[Any]:
    """Return the items of a sequence."""
    if name not in item or _kind(item, name) != "SQ":
        return []
    return list(item[name].value or [])


def identity_of(item: Any) -> Identity:
    """Return what a data set is."""
    frame = uid(item, "FrameOfReferenceUID")
    frames = items(item, "ReferencedFrameOfReferenceSequence")
    if not frame and frames:
        frame = uid(frames[0], "FrameOfReferenceUID")
    return Identity(
        code(item, "Modality"),
        uid(item, "SOPClassUID"),
        uid(item, "SOPInstanceUID"),
        uid(item, "SeriesInstanceUID"),
        uid(item, "StudyInstanceUID"),
        frame,
        stated_code(item, "PatientPosition"),
    )


def _is_grey(item: Any) -> bool:
    photometric = _raw(item, "PhotometricInterpretation")
    return not photometric or photometric.startswith("MONOCHROME")


def align_planes(path: Path, orientation: list[float]) -> tuple[tuple[int, int], ...]:
    """Return along which of the patient's axes columns, rows and frames run."""
    if len(orientation) != 6:
        refuse(
            path,
            f"has {len(orientation)} numbers of Image Orientation (Patient) (six are expected); "
            "export it again",
        )
    row, column = axis_along(tuple(orientation[:3])), axis_along(tuple(orientation[3:]))
    if row is None or column is None or row[0] == column[0]:
        refuse(
            path,
            "has oblique planes (only planes whose sides run along the patient's axes are read); "
            "resample it to such planes",
        )
    turn = 1 if (row[0] + 1) % 3 == column[0] else -1
    return row, column, (3 - row[0] - column[0], turn * row[1] * column[1])


def even_distance(path: Path, what: str, axis: str, places: list[float]) -> float:
    """Return the mean distance of ascending places, or refuse uneven ones."""
    distances = np.diff(places)
    for at, distance in enumerate(distances):
        if not distance >= 1e-4:
            refuse(path, f"has two {what}s at {axis} = {places[at + 1]} mm; remove one of them")
    median = float(np.sort(distances)[len(distances) // 2])
    for at, distance in enumerate(distances):
        if not abs(distance - median) <= 0.01 * median + 0.01:
            refuse(
                path,
                f"has {what}s {distance:.6g} mm apart at {axis} = {places[at]} mm (the others are "
                f"{median:.6g} mm apart); find what is missing, or resample it",
            )
    return (places[-1] - places[0]) / len(distances)


class _Slice(NamedTuple):
    item: Any
    identity: Identity
    size: tuple[int, int]
    pixel: list[float]
    position: list[float]
    how: tuple[tuple[int, int], ...]
    thickness: float
    rescale: tuple[float, float]
    patient: str


def _slice_of(folder: Path, item: Any) -> _Slice:
    """Return what a slice says, or refuse it: in the name of the folder."""
    image_type = _raw(item, "ImageType")
    if "LOCALIZER" in image_type:
        refuse(folder, "holds a localizer among its CT images (it is no slice); remove it")
    how = align_planes(folder, decimals(folder, item, "ImageOrientationPatient"))
    how = (how[0], how[1], (how[2][0], 1))
    tilt = decimal(folder, item, "GantryDetectorTilt") or 0.0
    if not abs(tilt) <= 1e-3:
        refuse(folder, f"was scanned with the gantry tilted by {tilt} degrees; resample it")
    size = (count(folder, item, "Columns") or 0, count(folder, item, "Rows") or 0)
    position = decimals(folder, item, "ImagePositionPatient")
    pixel = decimals(folder, item, "PixelSpacing")
    if len(position) != 3 or len(pixel) != 2 or min(size) < 1:
        refuse(folder, "holds a slice without position, pixel spacing or pixels; export it again")
    allocated, stored = count(folder, item, "BitsAllocated"), count(folder, item, "BitsStored")
    high = count(folder, item, "HighBit")
    known = allocated in (8, 16) and 1 <= (stored or 0) <= allocated and high == (stored or 0) - 1
    if not known:
        refuse(folder, "holds pixels of another kind (the low bits of 8 or 16 are expected)")
    for spacing in pixel:
        check_spacing(folder, spacing)
    for coordinate in position:
        check_coordinate(folder, coordinate)
    if (count(folder, item, "SamplesPerPixel") or 1) != 1 or not _is_grey(item):
        refuse(folder, "holds an image of colours or several numbers a pixel; export it without")
    slope, intercept = (
        decimal(folder, item, name) for name in ("RescaleSlope", "RescaleIntercept")
    )
    if slope is None or intercept is None or slope == 0:
        refuse(folder, "holds a slice without Rescale Slope or Rescale Intercept, or with 0")
    unit = stated_code(item, "RescaleType")
    if unit not in ("", "HU", "US"):
        refuse(folder, "holds values in another unit (Hounsfield units are expected)")
    thickness = decimal(folder, item, "SliceThickness") or 0.0
    return _Slice(
        item,
        identity_of(item),
        size,
        pixel,
        position,
        how,
        thickness,
        (slope, intercept),
        _raw(item, "PatientID"),
    )


def _check_alike(folder: Path, first: _Slice, s: _Slice) -> None:
    slack = 0.01
    x, y = s.how[0][0], s.how[1][0]
    problem = ""
    if s.patient != first.patient:
        problem = "slices that name two patients"
    elif (
        s.size != first.size
        or abs(s.pixel[0] - first.pixel[0]) * s.size[1] > slack
        or abs(s.pixel[1] - first.pixel[1]) * s.size[0] > slack
    ):
        problem = "slices of different sizes or pixels"
    elif s.how != first.how:
        problem = "slices whose rows or columns run along different axes"
    elif max(abs(s.position[a] - first.position[a]) for a in (x, y)) > slack:
        problem = "slices that begin at different places along x, y (the stack leans)"
    elif s.identity.frame_of_reference != first.identity.frame_of_reference:
        problem = "slices of several frames of reference"
    if problem:
        refuse(folder, f"holds {problem} (all must be alike); put each into a folder of its own")


def _may_name_dicom(file: pathlib.Path) -> bool:
    end = ending(file)
    return end in (".dcm", ".ima", ".dicom") or not re.search("[a-z]", end)


def _reason_to_tell(file: pathlib.Path, head: bytes) -> str:
    """Return why a file that is not read may have been a slice; empty where it was none."""
    if file.name.startswith("."):
        return ""
    if not os.access(file, os.R_OK):
        return "closed to this user"
    if head.startswith(b"PK\3\4"):
        return "zip archive"
    if len(head) < 132:
        return ("cut short" if head else "empty") if _may_name_dicom(file) else ""
    named = ending(file) in (".dcm", ".ima", ".dicom")
    return "damaged or no DICOM" if named or b"1.2.840.10008." in head else ""


def _object(folder: Path, item: Any) -> bool:
    """Return whether an object of a folder is a slice, or refuse it."""
    modality, kind = code(item, "Modality"), uid(item, "SOPClassUID")
    other = not modality or modality.startswith("RT") or modality in ("REG", "SR", "PR")
    if kind != CT_IMAGE and other:
        return False
    if kind == CT_IMAGE and modality != "CT":
        refuse(folder, "holds a CT image of another modality (its header is damaged or changed)")
    if kind != CT_IMAGE or (integer(folder, item, "NumberOfFrames") or 1) != 1:
        refuse(folder, "holds an image that is no CT image of one frame; keep the series alone")
    if not uid(item, "SeriesInstanceUID"):
        refuse(folder, "holds a CT image that names no series (its header is cut short)")
    return True


def _files(folder: Path, recursive: bool) -> Iterator[pathlib.Path]:
    top = pathlib.Path(folder)
    try:
        yield from sorted(top.rglob("*") if recursive else top.iterdir())
    except OSError as error:
        refuse(folder, f"cannot be read ({error.strerror}); check its permissions")


def _content(folder: Path, recursive: bool) -> tuple[list[_Slice], int, list[tuple[str, str]]]:
    """Return the slices of a folder, the number of other objects, and what is not read and why."""
    if not os.path.isdir(folder):
        refuse(folder, "is not a folder (a CT series is one, with a file for each slice)")
    slices, others, unread = [], 0, []
    for file in _files(folder, recursive):
        if file.is_dir():
            continue
        if not file.is_file():
            if _may_name_dicom(file) and not file.name.startswith("."):
                why = "no regular file" if file.exists() else "a link to nothing"
                unread.append((str(file), why))
            continue
        item, head = load(file), first_bytes(file)
        if item is not None and uid(item, "SOPClassUID") == DICOMDIR:
            continue
        if item is not None and item.get("MediaStorageDirectory") is None:
            if "DirectoryRecordSequence" in item:
                continue
            if _object(folder, item):
                slices.append(_slice_of(folder, item))
            else:
                others += 1
            continue
        if not head.startswith(b"PK\3\4") and (
            head[128:132] == b"DICM" or CT_IMAGE.encode() in head
        ):
            refuse(folder, "holds a DICOM file that is truncated or damaged; fetch it again")
        if reason := _reason_to_tell(file, head):
            unread.append((str(file), reason))
    if not slices:
        refuse(folder, "holds no CT image; name the folder of the slices")
    return slices, others, unread


def _unpacked(folder: Path, s: _Slice) -> npt.NDArray[Any]:
    """Return the pixels of a compressed slice by what pydicom finds to decode them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: npt.NDArray[Any] = s.item.pixel_array
    except Exception as error:  # noqa: BLE001: decoders raise whatever they meet
        known = "missing" not in str(error)
        refuse(
            folder,
            "holds a slice whose compressed pixels cannot be read ("
            + (
                "they are damaged); fetch it again"
                if known
                else "no decoder of theirs is installed)"
            )
            + ("" if known else "; call pip install 'pylibjpeg[all]'"),
        )
    if found.shape != (s.size[1], s.size[0]):
        refuse(folder, "holds a slice of another size than its header says")
    return found


def _stored_pixels(folder: Path, s: _Slice) -> npt.NDArray[Any]:
    """Return a slice's pixels as they are stored, shape (rows, columns)."""
    item = s.item
    syntax = _syntax_of(item)
    bits, signed = int(item.BitsStored), item.get("PixelRepresentation", 0) == 1
    size = s.size[0] * s.size[1]
    if syntax.packed:
        return _unpacked(folder, s)
    data = item.get("PixelData") or b""
    width = int(item.BitsAllocated) // 8
    if len(data) < size * width or len(data) >= 2 * size * width:
        refuse(folder, "holds a slice with fewer or more pixels than its header says")
    words = np.frombuffer(data, (">" if syntax.big else "<") + f"u{width}", size).astype(np.uint16)
    high = words << (16 - bits)
    shifted = high.view(np.int16) >> (16 - bits) if signed else high >> (16 - bits)
    return shifted.reshape(s.size[1], s.size[0])


def read_series(
    folder: Path, recursive: bool
) -> tuple[Floats, Grid, Identity, int, list[tuple[str, str]]]:
    """Read a CT series: voxels, shape (z, y, x), in Hounsfield units."""
    slices, others, unread = _content(folder, recursive)
    if len({s.identity.series for s in slices}) > 1:
        refuse(folder, "holds several CT series (one is read); put each into a folder of its own")
    axis = slices[0].how[2][0]
    slices.sort(key=lambda s: s.position[axis])
    first = slices[0]
    for s in slices:
        _check_alike(folder, first, s)
    heights = [s.position[axis] for s in slices]
    if len(slices) == 1:
        distance = first.thickness
        if not distance > 0:
            refuse(folder, "holds one slice without a thickness (its voxels have no height)")
    else:
        distance = even_distance(folder, "slice", "xyz"[axis], heights)
    check_spacing(folder, distance)
    stated = {s.identity.patient_position for s in slices} - {""}
    if len(stated) > 1:
        refuse(folder, "holds slices of patients in several positions (one series has one)")
    voxels = np.empty((len(slices), first.size[1], first.size[0]), np.float32)
    for k, s in enumerate(slices):
        slope, intercept = s.rescale
        values = slope * _stored_pixels(folder, s).astype(np.float64) + intercept
        check_range(folder, largest_of(values))
        voxels[k] = values
    spacing = (first.pixel[1], first.pixel[0], distance)
    turned, grid = along_world(folder, voxels, spacing, tuple(first.position), first.how)
    identity = first.identity._replace(patient_position=next(iter(stated), ""))
    return turned, grid, identity, others, unread


def _load_object(path: Path, kind: str, what: str) -> Any:
    if os.path.isdir(path):
        refuse(path, f"is a folder, no {what} (each of these is one file); name the file")
    check_regular(path)
    item = load(path)
    if item is None:
        refuse(path, "is no DICOM file, or a damaged one; fetch or write it again, or name another")
    if uid(item, "SOPClassUID") != kind:
        told = code(item, "Modality") or "not said"
        refuse(path, f"is no {what} (its modality is {told}); name another file")
    return item


def read_identity(path: Path) -> Identity:
    """Return what a DICOM file is."""
    check_regular(path)
    item = load(path)
    if item is None:
        refuse(path, "is no DICOM file, or a damaged one; fetch or write it again, or name another")
    return identity_of(item)


class Meaning(NamedTuple):
    """What an RT Dose is of."""

    unit: str
    type: str
    summation: str
    plans: list[str]
    beams: list[int]
    structure_sets: list[str]


def _meaning(path: Path, item: Any, any_unit: bool) -> Meaning:
    word = _raw(item, "DoseUnits")
    unit = {"GY": "Gy", "RELATIVE": "relative"}.get(word, word)
    if not re.fullmatch("[A-Za-z]{0,16}", unit):
        unit = "unknown units"
    if unit != "Gy" and not any_unit:
        refuse(path, f"has a dose in {unit or 'units that it does not say'} (Gy are needed)")

    def references(name: str) -> list[str]:
        return [uid(each, "ReferencedSOPInstanceUID") for each in items(item, name)]

    beams = [
        integer(path, beam, "ReferencedBeamNumber")
        for plan in items(item, "ReferencedRTPlanSequence")
        for group in items(plan, "ReferencedFractionGroupSequence")
        for beam in items(group, "ReferencedBeamSequence")
    ]
    return Meaning(
        unit,
        stated_code(item, "DoseType"),
        stated_code(item, "DoseSummationType"),
        references("ReferencedRTPlanSequence"),
        [number for number in beams if number is not None],
        references("ReferencedStructureSetSequence"),
    )


def _heights(
    path: Path, item: Any, first: float, how: tuple[tuple[int, int], ...], frames: int
) -> list[float]:
    """Return the coordinates of frames along the axis that they follow."""
    offsets = decimals(path, item, "GridFrameOffsetVector")
    if frames == 1 and len(offsets) <= 1:
        return [first]
    if len(offsets) != frames:
        refuse(path, f"has {len(offsets)} frame offsets for {frames} frames; export it again")
    relative, plain = offsets[0] == 0, how == ((0, 1), (1, 1), (2, 1))
    if not relative and (not plain or abs(offsets[0] - first) > 0.01):
        refuse(path, f"has frame offsets from {offsets[0]} mm on (from 0 are expected)")
    return [first + how[2][1] * offset for offset in offsets] if relative else offsets


def _dose_words(path: Path, item: Any, size: int, frames: int) -> npt.NDArray[np.float64]:
    """Return the stored numbers of a dose."""
    bits = count(path, item, "BitsAllocated") or 0
    syntax = _syntax_of(item)
    if bits not in (16, 32):
        refuse(path, f"has pixels of {bits} bits (16 or 32 are expected)")
    if not _is_grey(item) or (count(path, item, "SamplesPerPixel") or 1) > 1:
        refuse(path, "has pixels of colours or of several numbers; export it without")
    if bits == 32 and syntax.big:
        refuse(path, "has big-endian pixels of 32 bits (their halves may be in either order)")
    if syntax.packed:
        refuse(path, "has compressed pixels (only plain ones are read); export it uncompressed")
    data = item.get("PixelData") or b""
    needed = size * bits // 8
    if len(data) < needed:
        refuse(path, "is truncated (it has fewer pixels than its header says); fetch it again")
    if (len(data) - needed) // 2 >= needed // 2 // frames:
        refuse(path, f"holds more pixels than the {frames} frames that its header says")
    signed = count(path, item, "PixelRepresentation") == 1
    kind = (">" if syntax.big else "<") + ("i" if signed else "u") + str(bits // 8)
    return np.frombuffer(data, kind, size).astype(np.float64)


def read_dose(
    path: Path, any_unit: bool, thickness: float
) -> tuple[Floats, Grid, Identity, Meaning, bool]:
    """Read an RT Dose: voxels, shape (z, y, x), and whether it states the thickness of a frame."""
    item = _load_object(path, RT_DOSE, "RT Dose")
    if "PixelData" not in item:
        refuse(path, "has no pixels (an RT Dose of histograms alone is not read)")
    meaning = _meaning(path, item, any_unit)
    how = align_planes(path, decimals(path, item, "ImageOrientationPatient"))
    position = decimals(path, item, "ImagePositionPatient")
    pixel = decimals(path, item, "PixelSpacing")
    rows, columns = count(path, item, "Rows") or 0, count(path, item, "Columns") or 0
    frames = integer(path, item, "NumberOfFrames")
    frames = 1 if frames is None else frames
    if len(position) != 3 or len(pixel) != 2 or min(rows, columns, frames) < 1:
        refuse(path, "states no position, pixel spacing or pixels; export it again")
    scaling = decimal(path, item, "DoseGridScaling") or 0.0
    if not scaling > 0:
        refuse(path, f"has a dose grid scaling of {scaling} (a positive number is expected)")
    stored = _dose_words(path, item, rows * columns * frames, frames)
    axis = how[2][0]
    heights = _heights(path, item, position[axis], how, frames)
    how = (how[0], how[1], (axis, -1 if heights[-1] < heights[0] else 1))
    ascending = heights[:: how[2][1]]
    stated = True
    if frames > 1:
        distance = even_distance(path, "frame", "xyz"[axis], ascending)
    else:
        own = decimal(path, item, "SliceThickness") or 0.0
        stated = own > 0
        distance = own if stated else thickness
        if not distance > 0:
            refuse(path, "has one frame without a thickness (its voxels have no height)")
    values = scaling * stored
    check_range(path, largest_of(values))
    voxels = values.astype(np.float32).reshape(frames, rows, columns)
    for spacing in (*pixel, distance):
        check_spacing(path, spacing)
    place = list(position)
    place[axis] = heights[0]
    turned, grid = along_world(path, voxels, (pixel[1], pixel[0], distance), tuple(place), how)
    origin = list(grid.origin)
    origin[axis] = ascending[0]
    for coordinate in origin:
        check_coordinate(path, coordinate)
    return turned, Grid(grid.size, grid.spacing, origin), identity_of(item), meaning, stated


class Drawn:
    """A structure of a set while it is read."""

    def __init__(self, name: str = "", frame: str = "", number: int = 0) -> None:
        self.name, self.frame, self.number = name, frame, number
        self.type, self.other, self.refusal = "", "", ""
        self.colour: tuple[int, int, int] | None = None
        self.contours: list[npt.NDArray[np.float64]] = []


def _name_of(root: Any, item: Any) -> str:
    """Return a structure's name without what a terminal would obey."""
    if "ROIName" not in item:
        return ""
    raw = item.get_item("ROIName").value
    sets = _raw(item, "SpecificCharacterSet") or _raw(root, "SpecificCharacterSet")
    known = library("pydicom", "DICOM is read").charset.python_encoding
    words = sets.split("\\")
    converts = bool(sets) and sets != "ISO_IR 192" and all(word.strip() in known for word in words)
    if isinstance(raw, bytes) and not converts:
        text = raw.decode("utf-8", "replace")
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = str(item["ROIName"].value)
    return _TURNS.sub("?", " ".join(text.strip(_AROUND).split()))


def _colour_of(item: Any) -> tuple[int, int, int] | None:
    words = [word.strip(_AROUND) for word in _raw(item, "ROIDisplayColor").split("\\")]
    if len(words) != 3 or not all(re.fullmatch(r"\+?[0-9]{1,9}", word) for word in words):
        return None
    red, green, blue = (int(word) for word in words)
    return (red, green, blue) if max(red, green, blue) <= 255 else None


def _add_contour(path: Path, item: Any, to: Drawn) -> None:
    text = _raw(item, "ContourGeometricType")
    kind = text if text == "INTERPOLATED_PLANAR" else stated_code(item, "ContourGeometricType")
    if kind not in ("CLOSED_PLANAR", "CLOSEDPLANAR_XOR"):
        to.other = kind or "no"
        if kind not in ("POINT", "OPEN_PLANAR", "OPEN_NONPLANAR"):
            refuse(path, f"has {kind or 'kindless'} contours (CLOSED_PLANAR ones are read)")
        return
    numbers = decimals(path, item, "ContourData")
    if not numbers or len(numbers) % 3:
        refuse(path, f"has a contour of {len(numbers)} numbers (three a point are expected)")
    told = integer(path, item, "NumberOfContourPoints")
    if told is not None and told != len(numbers) // 3:
        refuse(path, f"has a contour of {len(numbers) // 3} points where {told} are told")
    to.contours.append(np.array(numbers).reshape(-1, 3))


def _number_of(path: Path, item: Any) -> int | None:
    try:
        return integer(path, item, "ReferencedROINumber")
    except OSError:
        return None


def _told(path: Path, drawn: Drawn, error: OSError | str) -> str:
    what = str(error).removeprefix(f"'{os.fspath(path)}': ")
    return f"'{os.fspath(path)}': has a structure '{drawn.name[:64]}' that {what}"


def _named(path: Path, root: Any) -> tuple[list[Drawn], dict[int, int]]:
    """Return the structures that a set names, and where each number stands."""
    all_drawn: list[Drawn] = []
    at: dict[int, int] = {}
    for item in items(root, "StructureSetROISequence"):
        drawn = Drawn(_name_of(root, item), uid(item, "ReferencedFrameOfReferenceUID"))
        try:
            number = integer(path, item, "ROINumber")
            if number is None:
                refuse(path, "has no number (its contours cannot be told); export it again")
            drawn.number = number
            other = at.setdefault(number, len(all_drawn))
            if other < len(all_drawn):
                for one, two in ((drawn, all_drawn[other]), (all_drawn[other], drawn)):
                    why = f"has the number {number}, as '{two.name[:64]}' has; export it again"
                    one.refusal = _told(path, one, why)
        except OSError as error:
            drawn.refusal = _told(path, drawn, error)
        all_drawn.append(drawn)
    return all_drawn, at


def read_structure_set(path: Path) -> tuple[Identity, list[Drawn]]:
    """Read an RT Structure Set; what is wrong with one structure stands in its refusal."""
    root = _load_object(path, RT_STRUCTURES, "RT Structure Set")
    all_drawn, at = _named(path, root)

    def unnamed(name: str, whose: str) -> Drawn:
        drawn = Drawn(name)
        drawn.refusal = f"'{os.fspath(path)}': has contours of {whose}; export it again"
        all_drawn.append(drawn)
        return drawn

    seen = set()
    for item in items(root, "ROIContourSequence"):
        number = _number_of(path, item)
        if number is None:
            unnamed("no number", "a structure whose number it does not tell")
            continue
        if number not in at:
            at[number] = len(all_drawn)
            unnamed(f"number {number}", f"a structure {number} that it does not name")
            all_drawn[-1].number = number
        drawn = all_drawn[at[number]]
        is_first = number not in seen
        seen.add(number)
        if drawn.refusal:
            continue
        if not is_first:
            drawn.refusal = _told(path, drawn, "has two lists of contours; export it again")
            drawn.contours = []
            continue
        drawn.colour = _colour_of(item)
        try:
            for contour in items(item, "ContourSequence"):
                _add_contour(path, contour, drawn)
        except OSError as error:
            drawn.refusal = _told(path, drawn, error)
            drawn.contours = []
    for item in items(root, "RTROIObservationsSequence"):
        number = _number_of(path, item)
        if number in at:
            all_drawn[at[number]].type = code(item, "RTROIInterpretedType")
    return identity_of(root), all_drawn
