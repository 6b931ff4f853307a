#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the curves of `iso dvh --csv`: cumulative dose-volume histograms.

    iso dvh --dose dose.dcm --structures structures.dcm --csv dvh.csv
    dvh_plot.py dvh.csv dvh.png

A colour is a structure. The first dose is solid, further ones are dashed and dotted. Volumes are
per cent of what lies within the dose's voxels.

Usage: dvh_plot.py CURVES.csv PICTURE.png
       dvh_plot.py --self-test
"""
import sys

import curve_table

HEADER = ["dose", "structure", "dose_gy", "cumulative_cm3", "cumulative_percent",
          "differential_cm3"]


def read(text):
    """{(dose, structure): (doses, per cents)}; raises ValueError."""
    curves = {}
    for row in curve_table.rows_of(text, HEADER, "iso dvh --csv"):
        curve = curves.setdefault((row[0], row[1]), ([], []))
        for numbers, column in zip(curve, (2, 4)):
            numbers.append(float(row[column]))
    return curves


def draw(curves, path):
    doses = list(dict.fromkeys(dose for dose, _ in curves))
    structures = list(dict.fromkeys(structure for _, structure in curves))
    figure, axis = curve_table.pyplot().subplots(figsize=(9, 5.5), layout="constrained")
    for (dose, structure), (position, percent) in curves.items():
        axis.plot(position, percent, color=f"C{structures.index(structure) % 10}",
                  linestyle=("-", "--", ":", "-.")[doses.index(dose) % 4],
                  label=structure if len(doses) == 1 else f"{structure}, {dose}")
    axis.set(xlabel="dose, Gy", ylabel="volume that gets it or more, %", xlim=(0, None),
             ylim=(0, 102))
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=100)


def self_test():
    text = ",".join(HEADER) + "\n"
    for dose in "ab":
        text += "".join(f'"{dose}","lung, left",{x},{3 - x},{100 - 30 * x},1\n' for x in range(4))
    curves = read(text)
    return (curves["a", "lung, left"][1][1] == 70 and len(curves) == 2 and
            curve_table.works(read, draw, HEADER, text))


if __name__ == "__main__":
    sys.exit(curve_table.main(sys.argv[1:], __doc__, read, draw, self_test))
