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
import dataclasses
import importlib.metadata
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import (  # noqa: E402
    TOP, fetched, markdown, need, output_of, parser_of, record, recorded_options)

need("numpy", "scipy", "itk", install="numpy scipy itk-rtk==2.7.0")

import numpy as np  # noqa: E402
import low_dose_chest  # noqa: E402
import radiograph_iterations as radiograph  # noqa: E402
from iterations import apart, by_rtk, isocenter  # noqa: E402
from reconstructions import circular_cone  # noqa: E402

# RTK's method and views a subset, ours and its words, iterations.
METHODS = (("CG", None, "cgls", {}, 10), ("SART", None, "sirt", {}, 20),
           ("SART", 10, "os-sart", {"block": 10}, 5))


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
    turned = False

    def angles(self):
        return 2 * np.pi * np.arange(self.views) / self.views

    def geometry(self):
        return circular_cone(self.source_axis, self.source_detector, self.pixels, self.pitch,
                             self.views, self.offset)


def chest(given, folder):
    """(scan, readings, error of a volume, its unit)."""
    by = 4
    fine, truth, spacing, counted = low_dose_chest.prepared(given.data / "chest_ct.nii.gz", by)
    water = low_dose_chest.WATER
    asked = low_dose_chest.geometry_of(spacing * by, 120)
    s = circle(120, asked["source_axis_mm"], asked["source_detector_mm"],
               tuple(asked["detector"]["pixels"]), asked["detector"]["pitch_mm"][0], truth.shape,
               spacing * by)
    exact = isocenter(given, folder, s.geometry(), fine.shape, spacing).project(
        water * (1 + fine / 1000), method="branchless", oversampling=2)
    counts = np.random.default_rng(4).poisson(given.photons * np.exp(-exact))
    readings = np.log(given.photons / np.maximum(counts, 0.5))

    def error(volume):
        return float(np.sqrt(np.mean((1000 * (volume / water - 1) - truth)[counted] ** 2)))

    return s, readings, error, "HU"


def bar(given, _):
    """The same of the radiograph."""
    folder = given.data / "cone_beam"
    s, readings, fine = radiograph.scan_of(folder, 20, 180)
    theirs = radiograph.slice_of_scanner(folder)
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
    for theirs, block, ours, options, count in METHODS:
        single, double = (iso.iterate(ours, False, readings, count, precision=precision,
                                      **options) for precision in ("float", "double"))
        peer = rtk.iterate(theirs, "joseph", readings, count, block)
        off = np.abs(single - double) / np.abs(double).max()
        yield {"scan": name, "unit": unit, "method": ours, "iterations": count,
               "rtk": theirs if block is None else f"{theirs}, {block} views a subset",
               "error_float": error(single), "error_double": error(double),
               "error_rtk": error(peer),
               "float_double": float(off[seen].max()), "float_double_all": float(off.max()),
               "apart": apart(single, peer, border=3)}


def main():
    a = parser_of(__doc__)
    a.add_argument("--iso", required=True)
    a.add_argument("--data", type=pathlib.Path, default=TOP / ".deps/data")
    a.add_argument("--photons", type=float, default=1e4)
    a.add_argument("--threads", type=int, default=1, help="of RTK")
    given = recorded_options(a)
    for file in ("chest_ct.nii.gz", "cone_beam/radiogram.tif"):
        fetched(given.data / file)
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for name, made in (("chest", chest), ("radiograph", bar))
                for row in compare(given, name, made, pathlib.Path(folder))]
    print(markdown(
        ["scan", "method", "RTK's", "iterations", "error: float", "double", "RTK", "float - double",
         "all voxels", "RTK - ours"],
        [[r["scan"], r["method"], r["rtk"], r["iterations"],
          *(f"{r[k]:.4g}" for k in ("error_float", "error_double", "error_rtk")),
          *(f"{r[k]:.0e}" for k in ("float_double", "float_double_all", "apart"))] for r in rows]))
    record(given, isocenter=output_of([given.iso, "--version"]).strip(),
           rtk=importlib.metadata.version("itk-rtk"), topic="noisy_scans", rows=rows,
           command=f"perf/peers/noisy_scans.py --photons {given.photons:g}")
    return int(any(r["error_float"] > 1.01 * max(r["error_double"], r["error_rtk"])
                   or r["float_double"] > (1e-4 if r["method"] == "cgls" else 1e-5) for r in rows))


if __name__ == "__main__":
    sys.exit(main())
