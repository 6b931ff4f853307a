# SPDX-License-Identifier: BSD-3-Clause
"""Two real scans with noise, by the iterations of Isocenter and of RTK: errors beside each other.

    noisy_scans.py --iso build/openmp/apps/iso/iso [--photons 1e4] [--json noisy_scans.json
                   --machine WHAT]

- chest: the CT of scripts/get_example_data.sh in voxels of 6 mm, projected by exact lengths, 2 x 2
  rays a pixel, onto 120 views; each pixel counts Poisson numbers of --photons in the open beam.
  Errors are root mean squares beside the CT, in Hounsfield units, in the body.
- radiograph: scripts/radiograph_iterations.py's, copied to 180 views, 20 x 20 pixels averaged: the
  noise is the detector's. Errors are mean absolute differences from the scanner's own slice, 0
  beside the bar and 1 inside it, of the inner pixels.

Both programs begin at 0 with the same readings, Joseph's method and its transpose, on processors.
RTK's SART divides by a ray's length in the volume where SIRT and OS-SART divide by A 1, and takes
views in an order of its own. Columns: the error of Isocenter's iterates in float, in double, and of
RTK's; the largest difference of a voxel of float and double over the largest voxel, where the sum
of the voxel's column exceeds a hundredth of the largest, and of all voxels; the relative l2
difference of RTK's and ours, at least three voxels from the faces. Status 1 where float's error is
above both others' by more than a hundredth, or float and double differ by more than 1e-5 of those
voxels, CGLS by 1e-4.
"""
import argparse
import dataclasses
import datetime
import importlib.metadata
import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "perf/support"), str(TOP / "scripts")]
from scripts import markdown, need, write_json  # noqa: E402

need("numpy", "scipy", "itk", install="numpy scipy itk-rtk==2.7.0")

import numpy as np  # noqa: E402
import low_dose_chest  # noqa: E402
import radiograph_iterations as radiograph  # noqa: E402
from iterations import apart, by_rtk, isocenter  # noqa: E402

# RTK's method and views a subset, ours and its words, iterations.
METHODS = (("CG", None, "cgls", (), 10), ("SART", None, "sirt", (), 20),
           ("SART", 10, "os-sart", ("--block", 10), 5))


@dataclasses.dataclass(frozen=True)
class circle:
    """A scan on a circle, in by_rtk's words; its volume and detector have any extents."""

    views: int
    source_axis: float
    source_detector: float
    pixels: tuple
    pitch: float
    extent: tuple
    voxel: float
    offset: float = 0.0

    def angles(self):
        return 2 * np.pi * np.arange(self.views) / self.views

    def geometry(self):
        return {"type": "circular_cone", "source_axis_mm": self.source_axis,
                "source_detector_mm": self.source_detector,
                "detector": {"pixels": list(self.pixels), "pitch_mm": [self.pitch] * 2,
                             "offset_mm": [self.offset, 0]},
                "angles_deg": {"range": 360, "count": self.views}}


def chest(given, folder):
    """(scan, readings, error of a volume, its unit)."""
    fine, (spacing, *_), _ = low_dose_chest.read_nifti(given.data / "chest_ct.nii.gz")
    by = 4
    fine = low_dose_chest.cropped(np.maximum(fine, -1000), by)
    truth = low_dose_chest.averaged(fine, by)
    water = low_dose_chest.WATER
    asked = low_dose_chest.geometry_of(spacing * by, 120)
    s = circle(120, asked["source_axis_mm"], asked["source_detector_mm"],
               tuple(asked["detector"]["pixels"]), asked["detector"]["pitch_mm"][0], truth.shape,
               spacing * by)
    exact = isocenter(given, folder, s.geometry(), fine.shape, spacing).project(
        water * (1 + fine / 1000), "--method", "branchless", "--oversampling", 2)
    counts = np.random.default_rng(4).poisson(given.photons * np.exp(-exact))
    readings = np.log(given.photons / np.maximum(counts, 0.5))
    counted = truth > -950
    eighth = truth.shape[2] // 8
    counted[:, :, :eighth] = counted[:, :, truth.shape[2] - eighth:] = False

    def error(volume):
        return float(np.sqrt(np.mean((1000 * (volume / water - 1) - truth)[counted] ** 2)))

    return s, readings, error, "HU"


def bar(given, _):
    """The same of the radiograph."""
    folder = given.data / "cone_beam"
    s, readings, fine = radiograph.scan_of(folder, 20, 180)
    theirs = radiograph.image_of(folder / "recon_by_external_software.tif").T[:, ::-1]
    theirs = radiograph.normalised(theirs)[:, ::-1]
    counted = radiograph.inner(theirs)

    def error(volume):
        ours = radiograph.normalised(radiograph.half_plane(volume, s["voxel"], fine))
        return float(np.abs(ours - theirs)[counted].mean())

    return circle(**s), np.repeat(readings[None], 180, 0), error, "0 to 1"


def compare(given, name, made, folder):
    s, readings, error, unit = made(given, folder)
    iso = isocenter(given, folder, s.geometry(), s.extent, s.voxel)
    rtk = by_rtk(s, given.threads)
    columns = iso.back_project(np.ones(readings.shape))
    seen = columns > 0.01 * columns.max()
    for theirs, block, ours, words, count in METHODS:
        single, double = (iso.iterate(ours, False, readings, count, precision, words)
                          for precision in ("float", "double"))
        peer = rtk.iterate(theirs, "joseph", readings, count, block)
        off = np.abs(single - double) / np.abs(double).max()
        yield {"scan": name, "unit": unit, "method": ours, "iterations": count,
               "rtk": theirs if block is None else f"{theirs}, {block} views a subset",
               "error_float": error(single), "error_double": error(double),
               "error_rtk": error(peer),
               "float_double": float(off[seen].max()), "float_double_all": float(off.max()),
               "apart": apart(single, peer, border=3)}


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    a.add_argument("--iso", required=True)
    a.add_argument("--data", type=pathlib.Path, default=TOP / ".deps/data")
    a.add_argument("--photons", type=float, default=1e4)
    a.add_argument("--threads", type=int, default=1, help="of RTK")
    a.add_argument("--json")
    a.add_argument("--machine", help="what it runs on, for the file")
    given = a.parse_args()
    if given.json and not given.machine:
        a.error("--json wants --machine")
    for file in ("chest_ct.nii.gz", "cone_beam/radiogram.tif"):
        if not (given.data / file).is_file():
            raise SystemExit(f"{given.data / file} is missing (it is not part of the source); "
                             "run scripts/get_example_data.sh")
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for name, made in (("chest", chest), ("radiograph", bar))
                for row in compare(given, name, made, pathlib.Path(folder))]
    print(markdown(
        ["scan", "method", "RTK's", "iterations", "error: float", "double", "RTK", "float - double",
         "all voxels", "RTK - ours"],
        [[r["scan"], r["method"], r["rtk"], r["iterations"],
          *(f"{r[k]:.4g}" for k in ("error_float", "error_double", "error_rtk")),
          *(f"{r[k]:.0e}" for k in ("float_double", "float_double_all", "apart"))] for r in rows]))
    said = subprocess.run([given.iso, "--version"], check=True, capture_output=True, text=True)
    write_json(given.json, {
        "date": datetime.date.today().isoformat(), "machine": given.machine,
        "isocenter": said.stdout.strip(), "rtk": importlib.metadata.version("itk-rtk"),
        "command": f"perf/peers/noisy_scans.py --photons {given.photons:g}",
        "topic": "noisy_scans", "rows": rows})
    return int(any(r["error_float"] > 1.01 * max(r["error_double"], r["error_rtk"])
                   or r["float_double"] > (1e-4 if r["method"] == "cgls" else 1e-5) for r in rows))


if __name__ == "__main__":
    sys.exit(main())
