#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the curves of `iso dvh --csv`: cumulative dose-volume histograms.

    iso dvh --dose dose.dcm --structures structures.dcm --csv dvh.csv
    dvh_plot.py dvh.csv dvh.png

A colour is a structure: its own in the structure set (ROI Display Color), another where the set has
none; light ones have a grey edge. The first dose is solid, further ones are dashed and dotted.
Volumes are per cent of what lies within the dose's voxels.

Usage: dvh_plot.py CURVES.csv PICTURE.png
       dvh_plot.py --self-test
"""
import re
import sys

import curve_table
from harness import pyplot, save

HEADER = ["dose", "structure", "dose_gy", "cumulative_cm3", "cumulative_percent",
          "differential_cm3", "colour"]


def read(text):
    """{(dose, structure): (doses, per cents, colour or "")}; raises ValueError."""
    curves = {}
    for row in curve_table.rows_of(text, HEADER, "iso dvh --csv"):
        if row[6] and not re.fullmatch("#[0-9a-f]{6}", row[6]):
            raise ValueError(f"'{row[6]}' is no colour")
        curve = curves.setdefault((row[0], row[1]), ([], [], row[6]))
        for numbers, column in zip(curve, (2, 4)):
            numbers.append(float(row[column]))
    return curves


def colours_of(structures, curves):
    """{structure: colour}."""
    own = {structure: colour for (_, structure), (_, _, colour) in curves.items()}
    return {name: own[name] or f"C{n % 10}" for n, name in enumerate(structures)}


def is_light(colour):
    """Whether a line of an own colour hardly shows on white."""
    red, green, blue = (int(colour[n:n + 2], 16) for n in (1, 3, 5))
    return 0.3 * red + 0.59 * green + 0.11 * blue > 200


def draw(curves, path):
    doses = list(dict.fromkeys(dose for dose, _ in curves))
    structures = list(dict.fromkeys(structure for _, structure in curves))
    colours = colours_of(structures, curves)
    figure, axis = pyplot().subplots(figsize=(10, 5.5), layout="constrained")
    from matplotlib.patheffects import withStroke

    for (dose, structure), (position, percent, own) in curves.items():
        edge = [withStroke(linewidth=3, foreground="0.5")] if own and is_light(own) else None
        axis.plot(position, percent, color=colours[structure], path_effects=edge,
                  linestyle=("-", "--", ":", "-.")[doses.index(dose) % 4],
                  label=structure if len(doses) == 1 else f"{structure}, {dose}")
    axis.set(xlabel="dose, Gy", ylabel="volume that gets it or more, %", xlim=(0, None),
             ylim=(0, 102))
    axis.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False, fontsize="small")
    save(figure, path)


def self_test():
    text = ",".join(HEADER) + "\n"
    for dose in "ab":
        text += "".join(f'"{dose}","lung, left",{x},{3 - x},{100 - 30 * x},1,#ff8000\n'
                        f'"{dose}",heart,{x},{3 - x},{100 - 30 * x},1,\n' for x in range(4))
    curves = read(text)
    return (curves["a", "lung, left"][1][1] == 70 and len(curves) == 4 and
            is_light("#ffff00") and not is_light("#ff8000") and
            colours_of(["lung, left", "heart"], curves)
            == {"lung, left": "#ff8000", "heart": "C1"} and
            curve_table.works(read, draw, HEADER, text))


if __name__ == "__main__":
    sys.exit(curve_table.main(__doc__, read, draw, self_test))
