#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the histograms of `iso gamma --csv`: how many points have which gamma.

    iso gamma reference.mha evaluated.mha --criterion 3%/3mm --criterion 2%/2mm --csv gamma.csv
    gamma_plot.py gamma.csv gamma.png

A colour is a criterion. Points are per cent of those compared, on a logarithmic axis; the line at 1
is where points stop to pass. The dashed lines are the per cent of points that have more. The last
bin holds the points at the maximum gamma too. Slices of gamma: `iso gamma --png`.

Usage: gamma_plot.py HISTOGRAMS.csv PICTURE.png
       gamma_plot.py --self-test
"""
import sys

import curve_table

HEADER = ["criterion", "gamma_from", "gamma_to", "points"]


def read(text):
    """{criterion: (edges of bins, points)}; raises ValueError."""
    histograms = {}
    for criterion, low, high, points in curve_table.rows_of(text, HEADER, "iso gamma --csv"):
        edges, counts = histograms.setdefault(criterion, ([float(low)], []))
        if float(low) != edges[-1]:
            raise ValueError(f"the bins of {criterion} do not follow each other")
        edges.append(float(high))
        counts.append(int(points))
    return histograms


def percents(points):
    """Of each bin, and of all bins from each on."""
    whole = sum(points) or 1
    each = [100 * n / whole for n in points]
    beyond = [100 * sum(points[n:]) / whole for n in range(len(points) + 1)]
    return each, beyond


def draw(histograms, path):
    figure, axis = curve_table.pyplot().subplots(figsize=(9, 5.5), layout="constrained")
    for n, (criterion, (edges, points)) in enumerate(histograms.items()):
        each, beyond = percents(points)
        axis.stairs(each, edges, color=f"C{n}", fill=True, alpha=0.4, label=criterion)
        axis.plot(edges, beyond, color=f"C{n}", linestyle="--")
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set(xlabel="gamma", ylabel="points, %", yscale="log", xlim=(0, None), ylim=(1e-3, 110))
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=100)


def self_test():
    text = ",".join(HEADER) + "\n"
    for criterion in ("3%/3mm", "2%/2mm"):
        text += "".join(f"{criterion},{0.5 * n:g},{0.5 * (n + 1):g},{8 >> n}\n" for n in range(4))
    histograms = read(text)
    each, beyond = percents(histograms["3%/3mm"][1])
    try:
        read(text + "2%/2mm,9,10,1\n")
        return False
    except ValueError:
        pass
    return (len(histograms) == 2 and histograms["2%/2mm"][0] == [0, 0.5, 1, 1.5, 2] and
            each[0] == 100 * 8 / 15 and beyond[0] == 100 and beyond[3] == 100 / 15 and
            beyond[4] == 0 and curve_table.works(read, draw, HEADER, text))


if __name__ == "__main__":
    sys.exit(curve_table.main(sys.argv[1:], __doc__, read, draw, self_test))
