#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the curves of `iso dose --curves`: depth dose and profiles of every beam.

    iso dose --plan examples/plans/slab_phantom.json --phantom slab --curves curves.csv
    dose_curves.py curves.csv curves.png

A row of the picture is a beam. On the left stands the dose along its central axis, with the density
in grey behind it. Then follow the inline and the crossline profiles, at the isocentre and at the
maximum of the depth dose. Dose is that of the whole plan, in Gy.

Usage: dose_curves.py CURVES.csv PICTURE.png
       dose_curves.py --self-test
"""
import sys

import curve_table
from harness import pyplot, save

HEADER = ["beam", "curve", "position_mm", "x_mm", "y_mm", "z_mm", "density_g_cm3", "dose_gy"]


def read(text):
    """{beam: {curve: (positions, densities, doses)}}; raises ValueError."""
    beams = {}
    for row in curve_table.rows_of(text, HEADER, "iso dose --curves",
                                   "it has no curves (no beam's axis meets the volume)"):
        curve = beams.setdefault(int(row[0]), {}).setdefault(row[1], ([], [], []))
        for numbers, column in zip(curve, (2, 6, 7)):
            numbers.append(float(row[column]))
    return beams


def draw(beams, path):
    figure, rows = pyplot().subplots(
        len(beams), 3, figsize=(13, 3.6 * len(beams)), squeeze=False, layout="constrained")
    for (beam, curves), axes in zip(sorted(beams.items()), rows):
        if "depth_dose" in curves:
            position, density, dose = curves["depth_dose"]
            behind = axes[0].twinx()
            behind.fill_between(position, density, color="0.85", step="mid")
            behind.set_ylabel("density, g/cm3", color="0.5")
            behind.set_ylim(0, max(2.0, 1.1 * max(density)))
            axes[0].set_zorder(behind.get_zorder() + 1)
            axes[0].patch.set_visible(False)
            axes[0].plot(position, dose, color="C3")
        axes[0].set(title=f"beam {beam}: depth dose", xlabel="behind the volume's surface, mm",
                    ylabel="dose, Gy")
        for axis, name in ((axes[1], "inline"), (axes[2], "crossline")):
            for place, colour in (("maximum", "C3"), ("isocentre", "C0")):
                if f"{name}_{place}" in curves:
                    position, _, dose = curves[f"{name}_{place}"]
                    axis.plot(position, dose, color=colour, label=f"at the {place}")
                    axis.legend(frameon=False)
            axis.set(title=f"beam {beam}: {name}", xlabel="from the axis, mm")
        for axis in axes:
            axis.set_ylim(bottom=0)
            axis.grid(alpha=0.3)
    save(figure, path)


def self_test():
    text = "# units\n" + ",".join(HEADER) + "\n"
    for curve in ("depth_dose", "inline_isocentre", "crossline_maximum"):
        text += "".join(f"1,{curve},{x},0,{x},0,1,{1e-12 / (x + 1)}\n" for x in range(5))
    beams = read(text)
    return (beams[1]["depth_dose"][2][1] == 5e-13 and len(beams[1]) == 3 and
            curve_table.works(read, draw, HEADER, text))


if __name__ == "__main__":
    sys.exit(curve_table.main(__doc__, read, draw, self_test))
