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
import pathlib
import shutil
import sys

from python_modules import need

need("numpy", "matplotlib")

import numpy as np  # noqa: E402
from harness import CHEST_CT, fetched  # noqa: E402
from reconstructions import (  # noqa: E402
    circular_cone, draw, in_folder, parser_of, rms, tell)
from volumes import read_nifti, write_mha  # noqa: E402

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
    return circular_cone(1000, 1536, (round(768 / pitch), round(576 / pitch)), pitch, views)


def setting_of(options):
    return ", ".join(f"{name} {value}" if name != "window" else value
                     for name, value in options.items() if name not in ("method", "lower"))


def prepared(ct, coarse):
    """(values in voxels of the CT, in coarse ones, the former's width, which of the latter
    count)"""
    volume, (spacing, *_), _ = read_nifti(ct)
    fine = cropped(np.maximum(volume, -1000), coarse)
    truth = averaged(fine, coarse)
    counted = truth > -950
    eighth = truth.shape[2] // 8
    counted[:, :, :eighth] = counted[:, :, truth.shape[2] - eighth:] = False
    return fine, truth, spacing, counted


def run(iso, given):
    fine, truth, spacing, counted = prepared(given.ct, given.coarse)
    folder = iso.folder
    voxel = spacing * given.coarse
    write_mha(folder / "fine.mha", fine, spacing, "HU")
    write_mha(folder / "coarse.mha", truth, voxel, "HU")
    geometry = iso.write_json(geometry_of(voxel, given.views))
    show = truth.shape[2] // 2
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
                volume, _ = iso.volume(
                    "reconstruct", projections=scan / "projection_*.tif", flats=scan / "flat_*.tif",
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
    draw(given.picture, panels, 1 + len(methods), WINDOW, "HU", width=2.1)
    return 1 if shortfalls else 0


def main(words):
    parser = parser_of(__doc__)
    parser.add_argument("--ct", type=pathlib.Path, default=CHEST_CT)
    parser.add_argument("--coarse", type=int, default=4)
    parser.add_argument("--views", type=int, default=180)
    parser.add_argument("--photons", type=float, nargs="+", default=[1e4, 1e5, 1e6])
    given = parser.parse_args(words)
    fetched(given.ct)
    return in_folder(given, run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
