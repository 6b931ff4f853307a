#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a DICOM folder as a hospital exports it, of the chest CT of scripts/get_example_data.sh: a
CT series, a file for each slice, and the RT Structure Set of scripts/chest_structures.py.

    chest_dicom.py [--ct .deps/data/chest_ct.nii.gz] FOLDER

The folder must be new or empty. Patient and dates are empty.
"""
import argparse
import pathlib
import struct
import subprocess
import sys

import chest_structures
import numpy as np
from chest_structures import encoded, uid
from low_dose_chest import read_nifti
from reconstructions import TOP

CT_IMAGE = "1.2.840.10008.5.1.4.1.1.2"
LOWEST = -1024  # HU, stored as 0


def file_of(elements):
    meta = encoded({(2, 1): ("OB", b"\0\1"), (2, 2): elements[8, 0x16], (2, 3): elements[8, 0x18],
                    (2, 0x10): ("UI", "1.2.840.10008.1.2.1"), (2, 0x12): uid("implementation")})
    size = encoded({(2, 0): ("UL", struct.pack("<I", len(meta)))})
    return bytes(128) + b"DICM" + size + meta + encoded(elements)


def slices(ct, spacing, origin):
    """(name, bytes) of each slice, from the feet to the head."""
    def number(n):
        return "US", struct.pack("<H", n)

    for k in range(ct.shape[2]):
        position = (origin[0], origin[1], origin[2] + k * spacing[2])
        pixels = np.clip(np.rint(ct[:, :, k].T) - LOWEST, 0, 4095).astype("<u2")
        yield f"ct.{k + 1:05}.dcm", file_of({
            (8, 8): ("CS", "ORIGINAL\\PRIMARY\\AXIAL"), (8, 0x16): ("UI", CT_IMAGE),
            (8, 0x18): uid(f"slice {k}"), (8, 0x20): ("DA", ""), (8, 0x30): ("TM", ""),
            (8, 0x50): ("SH", ""), (8, 0x60): ("CS", "CT"), (8, 0x70): ("LO", "Isocenter"),
            (8, 0x90): ("PN", ""), (0x10, 0x10): ("PN", ""), (0x10, 0x20): ("LO", ""),
            (0x10, 0x30): ("DA", ""), (0x10, 0x40): ("CS", ""),
            (0x18, 0x50): ("DS", f"{spacing[2]:g}"), (0x18, 0x60): ("DS", ""),
            (0x18, 0x5100): ("CS", "HFS"), (0x20, 0x0D): uid("study"),
            (0x20, 0x0E): uid("series of slices"), (0x20, 0x10): ("SH", ""),
            (0x20, 0x11): ("IS", "2"), (0x20, 0x12): ("IS", ""), (0x20, 0x13): ("IS", str(k + 1)),
            (0x20, 0x32): ("DS", "\\".join(f"{x:.8g}" for x in position)),
            (0x20, 0x37): ("DS", "1\\0\\0\\0\\1\\0"), (0x20, 0x52): uid("frame of reference"),
            (0x20, 0x1040): ("LO", ""), (0x28, 2): number(1), (0x28, 4): ("CS", "MONOCHROME2"),
            (0x28, 0x10): number(ct.shape[1]), (0x28, 0x11): number(ct.shape[0]),
            (0x28, 0x30): ("DS", f"{spacing[1]:g}\\{spacing[0]:g}"), (0x28, 0x100): number(16),
            (0x28, 0x101): number(16), (0x28, 0x102): number(15), (0x28, 0x103): number(0),
            (0x28, 0x1052): ("DS", str(LOWEST)), (0x28, 0x1053): ("DS", "1"),
            (0x28, 0x1054): ("LO", "HU"), (0x7FE0, 0x10): ("OW", pixels.tobytes()),
        })


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ct", type=pathlib.Path, default=TOP / ".deps/data/chest_ct.nii.gz")
    parser.add_argument("folder", type=pathlib.Path)
    words = parser.parse_args()
    try:
        ct, spacing, origin = read_nifti(words.ct)
        words.folder.mkdir(parents=True, exist_ok=True)
        if any(words.folder.iterdir()):
            raise ValueError(f"'{words.folder}' is not empty; name a new folder")
        for name, data in slices(ct, spacing, origin):
            (words.folder / name).write_bytes(data)
    except (OSError, ValueError) as failure:
        print(f"chest_dicom.py: {failure}", file=sys.stderr)
        return 2
    print(f"{words.folder}: {ct.shape[2]} slices and structures.dcm")
    return subprocess.run([sys.executable, chest_structures.__file__, "--ct", words.ct,
                           words.folder / "structures.dcm"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
