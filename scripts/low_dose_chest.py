#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A chest CT in 180 noisy views: FDK, SIRT, CGLS and total variation beside each other.

    low_dose_chest.py [--coarse 4] [--photons 1e4 1e5 1e6] [--picture chest.png] [--table chest.csv]

The chest CT of scripts/get_example_data.sh (--ct) stands for the patient. Its voxels of 1.5 mm are
projected by exact lengths, 2 x 2 rays a pixel, onto a circle of --views views, and a detector
counts so many photons a pixel in the open beam (iso project --scan). The volumes have voxels of
--coarse times 1.5 mm and the iterations one linear Joseph ray a pixel, so that data and model
differ. A pixel is as wide at the axis as such a voxel. --coarse 1 is the CT's own size, for a GPU.

Each method runs with each of its settings below, and the one of the least error counts, so that
none loses by a poor choice. Errors are in Hounsfield units, beside the CT averaged over the coarse
voxels, in the body (above -950 HU) without the top and bottom eighth of the slices. The picture
shows the middle slice of each method by rows of exposure, in one window. Status 1 where total
variation has not the least error.
"""
import gzip
import pathlib
import shutil
import struct
import sys

from python_modules import need

need("numpy", "matplotlib")

import numpy as np  # noqa: E402
from reconstructions import (  # noqa: E402
    TOP, draw, in_folder, missing, parser_of, rms, tell, tool, write_json, write_mha)

WATER = 0.01707  # 1/mm
WINDOW = (-1000, 500)


def tried(coarse):
    """The settings of each method. Voxels of half the width want more iterations, and total
    variation a quarter of the weight."""
    fine = coarse < 4
    return {
        "FDK": [{"method": "fdk", "window": w} for w in ("ram-lak", "hann", "shepp-logan")],
        "SIRT": [{"method": "sirt", "lower": 0, "iterations": n}
                 for n in ((100, 200, 400, 800) if fine else (50, 100, 200))],
        "CGLS": [{"method": "cgls", "iterations": n}
                 for n in ((16, 24, 36, 48) if fine else (8, 12, 16, 24))],
        "TV": [{"method": "tv", "lower": 0, "iterations": 300, "weight": w * coarse**2}
               for w in ((0.06, 0.12, 0.25, 0.5, 1) if fine else (0.12, 0.25, 0.5))],
    }


def read_nifti(path):
    """([x, y, z], spacing, first voxel's middle) of a NIfTI-1 file of 16-bit integers whose axes
    run to the patient's left, back and head; ValueError otherwise."""
    data = gzip.decompress(pathlib.Path(path).read_bytes())
    size = struct.unpack_from("<8h", data, 40)
    spacing = struct.unpack_from("<8f", data, 76)[1:4]
    start, slope, shift = struct.unpack_from("<3f", data, 108)
    axes = np.array(struct.unpack_from("<12f", data, 280)).reshape(3, 4)
    wanted = np.diag([-1, -1, 1]) * spacing
    if size[0] != 3 or data[70:72] != b"\x04\0" or not np.allclose(axes[:, :3], wanted, atol=1e-4):
        raise ValueError(f"{path}: not three axes of 16-bit integers along the patient's")
    voxels = np.frombuffer(data, "<i2", int(np.prod(size[1:4])), int(start))
    volume = voxels.reshape(size[1:4], order="F").astype(np.float32)
    values = volume * np.float32(slope or 1) + np.float32(shift)
    return values, spacing, axes[:, 3] * (-1, -1, 1)


def averaged(volume, by):
    x, y, z = (n // by for n in volume.shape)
    return volume.reshape(x, by, y, by, z, by).mean((1, 3, 5))


def cropped(volume, by):
    """So that each axis is a multiple of `by`, the middle where it was or half a voxel aside."""
    for axis, n in enumerate(volume.shape):
        first = n % by // 2
        volume = np.take(volume, range(first, first + n // by * by), axis)
    return volume


def geometry_of(voxel, views):
    pitch = voxel * 1.536
    return {"type": "circular_cone", "source_axis_mm": 1000, "source_detector_mm": 1536,
            "detector": {"pixels": [round(768 / pitch), round(576 / pitch)],
                         "pitch_mm": [pitch, pitch]},
            "angles_deg": {"range": 360, "count": views}}


def setting_of(options):
    return ", ".join(f"{name} {value}" if name != "window" else value
                     for name, value in options.items() if name not in ("method", "lower"))


def run(given, folder):
    try:
        volume, (spacing, *_), _ = read_nifti(given.ct)
    except ValueError as failure:
        raise SystemExit(str(failure)) from None
    fine = cropped(np.maximum(volume, -1000), given.coarse)
    truth = averaged(fine, given.coarse)
    voxel = spacing * given.coarse
    write_mha(folder / "fine.mha", fine, spacing, "HU")
    write_mha(folder / "coarse.mha", truth, voxel, "HU")
    geometry = write_json(folder / "geometry.json", geometry_of(voxel, given.views))
    counted = truth > -950
    eighth = truth.shape[2] // 8
    counted[:, :, :eighth] = counted[:, :, truth.shape[2] - eighth:] = False
    show = truth.shape[2] // 2
    iso = tool(given, folder)
    methods = tried(given.coarse)
    rows, panels, shortfalls = [], [], 0
    for photons in map(int, given.photons):
        scan = folder / "scan"
        shutil.rmtree(scan, ignore_errors=True)
        iso.run("project", "--hounsfield", volume=folder / "fine.mha", geometry=geometry,
                method="branchless", oversampling=2, scan=scan, photons=photons, gain_spread=0,
                dead_share=0, flat_images=100)
        panels.append((f"CT, {photons:.0e} photons", truth[:, ::-1, show]))
        errors = {}
        for name, settings in methods.items():
            found = []
            for options in settings:
                volume, _ = iso.reconstruct(
                    projections=scan / "projection_*.tif", flats=scan / "flat_*.tif",
                    darks=scan / "dark_*.tif", geometry=scan / "geometry.json", water=WATER,
                    like=folder / "coarse.mha", **options)
                apart = (volume - truth)[counted]
                found.append((rms(apart), float(np.abs(apart).mean()), float(apart.mean()),
                              setting_of(options), volume[:, ::-1, show]))
                print(f"{photons} {name} {found[-1][3]}: {found[-1][0]:.1f} HU", file=sys.stderr)
            best = min(found, key=lambda one: one[0])
            errors[name] = best[0]
            rows.append([f"{photons:.0e}", name, best[3], *(f"{x:.1f}" for x in best[:3])])
            panels.append((f"{name}: {best[0]:.0f} HU", best[4]))
        shortfalls += min(errors, key=errors.get) != "TV"
    tell(["photons", "method", "setting", "rms, HU", "mean absolute error", "mean error"], rows,
         given.table)
    if given.picture:
        draw(given.picture, panels, 1 + len(methods), WINDOW, "HU", width=2.1)
    return 1 if shortfalls else 0


def main(words):
    parser = parser_of(__doc__)
    parser.add_argument("--ct", type=pathlib.Path, default=TOP / ".deps/data/chest_ct.nii.gz")
    parser.add_argument("--coarse", type=int, default=4)
    parser.add_argument("--views", type=int, default=180)
    parser.add_argument("--photons", type=float, nargs="+", default=[1e4, 1e5, 1e6])
    given = parser.parse_args(words)
    if not given.ct.is_file():
        return missing(given.ct, "low_dose_chest.py")
    return in_folder(given, lambda folder: run(given, folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
