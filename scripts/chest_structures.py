#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes an RT Structure Set for the chest CT of scripts/get_example_data.sh: both lungs, and a
target for the fields of examples/plans/chest_ct.json.

    chest_structures.py [--ct .deps/data/chest_ct.nii.gz] structures.dcm

The lungs are the air inside the body (below -400 HU), outlined every 3 mm and parted at the middle
of their box. The target is a ball of 48 mm about the fields' isocentre. Nobody has checked them:
they are an example.
"""
import hashlib
import pathlib
import struct

from python_modules import need

need("numpy", "scipy", "contourpy")

import numpy as np  # noqa: E402
from harness import CHEST_CT, parser_of  # noqa: E402
from volumes import read_nifti  # noqa: E402

AIR = -400  # HU
EVERY = 2  # slices
MIN_AREA = 300  # mm2 of an outline
ISOCENTRE, RADIUS = (70, -150, 690), 24  # mm
STRUCTURE_SET = "1.2.840.10008.5.1.4.1.1.481.3"
LONG = ("OB", "OW", "SQ")


def lungs(ct):
    """Whether each voxel is air within the body."""
    from scipy import ndimage

    parts, _ = ndimage.label(ct < AIR)
    sides = [parts[face] for face in (0, -1)] + [parts[:, face] for face in (0, -1)]
    outside = np.unique(np.concatenate([side.ravel() for side in sides]))
    sizes = np.bincount(parts.ravel())
    sizes[outside] = 0
    sizes[0] = 0
    return parts == sizes.argmax()


def outlines(mask, spacing, origin):
    """Contours of a mask, vessels within it included."""
    import contourpy
    from scipy import ndimage

    contours = []
    for k in range(0, mask.shape[2], EVERY):
        filled = ndimage.binary_fill_holes(ndimage.binary_closing(mask[:, :, k], iterations=2))
        smooth = np.pad(ndimage.gaussian_filter(filled.astype(float), 1), 2)
        for line in contourpy.contour_generator(z=smooth.T).lines(0.5):
            x, y = ((line[:, axis] - 2) * spacing[axis] + origin[axis] for axis in (0, 1))
            area = abs(np.dot(x[:-1], y[1:]) - np.dot(x[1:], y[:-1])) / 2
            if area >= MIN_AREA:
                z = np.full(len(x) - 1, origin[2] + k * spacing[2])
                contours.append(np.stack([x[:-1], y[:-1], z], 1))
    return contours


def ball(middle, radius, step):
    angles = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    contours = []
    for z in np.arange(step / 2 - radius, radius, step):
        r = np.sqrt(radius**2 - z**2)
        contours.append(np.stack([middle[0] + r * np.cos(angles), middle[1] + r * np.sin(angles),
                                  np.full(72, middle[2] + z)], 1))
    return contours


def uid(of):
    number = hashlib.sha256(f"chest structures of Isocenter: {of}".encode()).digest()[:16]
    return "UI", "2.25." + str(int.from_bytes(number, "big"))


def encoded(elements):
    """Elements {(group, element): (kind, value)} as explicit little endian; lists are sequences."""
    data = b""
    for (group, element), (kind, value) in sorted(elements.items()):
        if kind == "SQ":
            items = [encoded(item) for item in value]
            value = b"".join(struct.pack("<HHI", 0xFFFE, 0xE000, len(i)) + i for i in items)
        elif not isinstance(value, bytes):
            value = value.encode("ascii")
            value += (b"\0" if kind == "UI" else b" ") * (len(value) % 2)
        data += struct.pack("<HH", group, element) + kind.encode()
        data += struct.pack("<HI" if kind in LONG else "<H", *([0] if kind in LONG else []),
                            len(value)) + value
    return data


def file_of(kind, instance, modality, series, elements):
    """The bytes of a DICOM file of the study: `kind` is its class, `series` name and number of its
    series."""
    elements = elements | {
        (8, 0x16): ("UI", kind), (8, 0x18): uid(instance), (8, 0x20): ("DA", ""),
        (8, 0x30): ("TM", ""), (8, 0x50): ("SH", ""), (8, 0x60): ("CS", modality),
        (8, 0x70): ("LO", "Isocenter"), (8, 0x90): ("PN", ""), (0x10, 0x10): ("PN", ""),
        (0x10, 0x20): ("LO", ""), (0x10, 0x30): ("DA", ""), (0x10, 0x40): ("CS", ""),
        (0x20, 0x0D): uid("study"), (0x20, 0x0E): uid(series[0]), (0x20, 0x10): ("SH", ""),
        (0x20, 0x11): ("IS", series[1])}
    meta = encoded({(2, 1): ("OB", b"\0\1"), (2, 2): elements[8, 0x16], (2, 3): elements[8, 0x18],
                    (2, 0x10): ("UI", "1.2.840.10008.1.2.1"), (2, 0x12): uid("implementation")})
    size = encoded({(2, 0): ("UL", struct.pack("<I", len(meta)))})
    return bytes(128) + b"DICM" + size + meta + encoded(elements)


def structure_set(structures):
    frame = uid("frame of reference")
    elements = {
        (0x3006, 2): ("SH", "example"), (0x3006, 8): ("DA", ""), (0x3006, 9): ("TM", ""),
        (0x3006, 0x10): ("SQ", [{(0x20, 0x52): frame}]),
    }
    names, contours, kinds = [], [], []
    for number, (name, kind, colour, shapes) in enumerate(structures, 1):
        own = ("IS", str(number))
        names.append({(0x3006, 0x22): own, (0x3006, 0x24): frame, (0x3006, 0x26): ("LO", name),
                      (0x3006, 0x36): ("CS", "AUTOMATIC")})
        contours.append({(0x3006, 0x2A): ("IS", colour), (0x3006, 0x84): own,
                         (0x3006, 0x40): ("SQ", [
            {(0x3006, 0x42): ("CS", "CLOSED_PLANAR"), (0x3006, 0x46): ("IS", str(len(points))),
             (0x3006, 0x50): ("DS", "\\".join(f"{x:.2f}" for x in points.ravel()))}
            for points in shapes])})
        kinds.append({(0x3006, 0x82): own, (0x3006, 0x84): own, (0x3006, 0xA4): ("CS", kind),
                      (0x3006, 0xA6): ("PN", "")})
    elements[0x3006, 0x20] = ("SQ", names)
    elements[0x3006, 0x39] = ("SQ", contours)
    elements[0x3006, 0x80] = ("SQ", kinds)
    return file_of(STRUCTURE_SET, "instance", "RTSTRUCT", ("series", "1"), elements)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--ct", type=pathlib.Path, default=CHEST_CT)
    parser.add_argument("output", type=pathlib.Path)
    words = parser.parse_args()
    words.output.write_bytes(structures_of(*read_nifti(words.ct)))


def structures_of(ct, spacing, origin):
    """The file's bytes."""
    both = lungs(ct)
    inside = np.flatnonzero(both.any((1, 2)))
    middle = (inside[0] + inside[-1]) // 2
    right, left = both.copy(), both
    right[middle:] = False
    left[:middle] = False
    return structure_set([
        ("Target", "PTV", r"230\0\0", ball(ISOCENTRE, RADIUS, EVERY * spacing[2])),
        ("Left lung", "ORGAN", r"0\110\230", outlines(left, spacing, origin)),
        ("Right lung", "ORGAN", r"0\160\90", outlines(right, spacing, origin)),
    ])


if __name__ == "__main__":
    main()
