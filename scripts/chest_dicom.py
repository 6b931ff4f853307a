#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a DICOM folder as a hospital exports it, of the chest CT of scripts/get_example_data.sh: a
CT series, a file for each slice, and the RT Structure Set of scripts/chest_structures.py.

    chest_dicom.py [--ct .deps/data/chest_ct.nii.gz] FOLDER

The folder must be new or empty. Patient and dates are empty.
"""
import pathlib
import struct

from chest_structures import file_of, structures_of, uid
from harness import CHEST_CT, parser_of
from python_modules import np
from volumes import read_nifti

CT_IMAGE = "1.2.840.10008.5.1.4.1.1.2"
SERIES = "series of slices", "2"
LOWEST = -1024  # HU, stored as 0


def slices(ct, spacing, origin):
    """(name, bytes) of each slice, from the feet to the head."""
    def number(n):
        return "US", struct.pack("<H", n)

    for k in range(ct.shape[2]):
        position = (origin[0], origin[1], origin[2] + k * spacing[2])
        pixels = np.clip(np.rint(ct[:, :, k].T) - LOWEST, 0, 4095).astype("<u2")
        yield f"ct.{k + 1:05}.dcm", file_of(CT_IMAGE, f"slice {k}", "CT", SERIES, {
            (8, 8): ("CS", "ORIGINAL\\PRIMARY\\AXIAL"), (0x18, 0x50): ("DS", f"{spacing[2]:g}"),
            (0x18, 0x60): ("DS", ""), (0x18, 0x5100): ("CS", "HFS"), (0x20, 0x12): ("IS", ""),
            (0x20, 0x13): ("IS", str(k + 1)),
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
    parser = parser_of(__doc__)
    parser.add_argument("--ct", type=pathlib.Path, default=CHEST_CT)
    parser.add_argument("folder", type=pathlib.Path)
    words = parser.parse_args()
    scan = read_nifti(words.ct)
    words.folder.mkdir(parents=True, exist_ok=True)
    if any(words.folder.iterdir()):
        raise SystemExit(f"'{words.folder}' is not empty (its files would be mixed with others); "
                         "name a new folder")
    for name, data in slices(*scan):
        (words.folder / name).write_bytes(data)
    (words.folder / "structures.dcm").write_bytes(structures_of(*scan))
    print(f"{words.folder}: {scan[0].shape[2]} slices and structures.dcm")


if __name__ == "__main__":
    main()
