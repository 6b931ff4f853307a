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
import csv
import pathlib
import sys
import tempfile

HEADER = ["dose", "structure", "dose_gy", "cumulative_cm3", "cumulative_percent",
          "differential_cm3"]


def read(text):
    """{(dose, structure): (doses, per cents)}; raises ValueError."""
    rows = csv.reader(text.splitlines())
    if next(rows, None) != HEADER:
        raise ValueError("it was not written by `iso dvh --csv`")
    curves = {}
    for row in rows:
        curve = curves.setdefault((row[0], row[1]), ([], []))
        for numbers, column in zip(curve, (2, 4)):
            numbers.append(float(row[column]))
    if not curves:
        raise ValueError("it has no curves")
    return curves


def draw(curves, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    doses = list(dict.fromkeys(dose for dose, _ in curves))
    structures = list(dict.fromkeys(structure for _, structure in curves))
    figure, axis = pyplot.subplots(figsize=(9, 5.5), layout="constrained")
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
    if curves["a", "lung, left"][1][1] != 70 or len(curves) != 2:
        return 1
    for wrong in ("", "a,b\n1,2\n", ",".join(HEADER) + "\n"):
        try:
            read(wrong)
            return 1
        except ValueError:
            pass
    with tempfile.TemporaryDirectory() as folder:
        picture = pathlib.Path(folder) / "c.png"
        draw(curves, picture)
        return 0 if picture.read_bytes().startswith(b"\x89PNG") else 1


def main(words):
    if words == ["--self-test"]:
        return self_test()
    if len(words) != 2 or words[0].startswith("-"):
        print(__doc__)
        return 2
    try:
        curves = read(pathlib.Path(words[0]).read_text(encoding="utf-8"))
    except (OSError, ValueError, IndexError) as failure:
        print(f"'{words[0]}' cannot be read: {failure}", file=sys.stderr)
        return 2
    draw(curves, words[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
