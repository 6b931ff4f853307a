#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what `iso matrix bench --json BENCH.json` measured: one roofline a backend.

The roof is that of the machine, measured in the same run: memory read rate times intensity, and
the rate of fma in double. A point is a variant of the product: its operations over the bytes that
it must move at least, and its operations a second. Needs matplotlib (scripts/setup.sh makes
.deps/venv).

Usage: matrix_roofline.py BENCH.json FIGURE.png
       matrix_roofline.py --self-test
"""
import json
import os
import pathlib
import sys
import tempfile

MARKERS = {"csr32": "o", "csr16": "s", "grouped2": "^", "grouped4": "D", "grouped8": "v"}
COLOURS = {"half": "tab:blue", "float": "tab:orange", "double": "tab:green"}


def points(document, backend):
    """(intensity in flop/byte, Gflop/s, row) of every variant of one backend."""
    for row in document["rows"]:
        if row["backend"] == backend:
            yield row["flops"] / row["bytes"], row["flops"] / row["time_ms"] / 1e6, row


def draw_one(axes, document, machine):
    read, most = machine["ceilings"]["read"] / 1e9, machine["ceilings"]["fp64"] / 1e9
    all_points = list(points(document, machine["backend"]))
    low = min(p[0] for p in all_points) / 2
    high = max([p[0] for p in all_points] + [most / read]) * 2
    corner = most / read
    axes.loglog([low, corner, high], [low * read, most, most], color="black", linewidth=1)
    for intensity, rate, row in all_points:
        marker = MARKERS[row["format"].split("x")[0]]
        filled = row["sum"] == "order-free"
        colour = COLOURS[row["values"]]
        axes.plot(intensity, rate, marker, color=colour, fillstyle="full" if filled else "none",
                  markersize=9 if row["chosen"] else 6)
    axes.set_title(f"{machine['backend']}: {machine.get('processor', '')}\n"
                   f"read {read:.4g} GB/s, fp64 {most:.4g} Gflop/s", fontsize=9)
    axes.set_xlabel("flop / byte")
    axes.set_ylabel("Gflop/s")
    axes.grid(True, which="both", linewidth=0.3)


def legend(figure, lines):
    handles = [lines([], [], marker=m, color="gray", linestyle="", fillstyle="none", label=name)
               for name, m in MARKERS.items()]
    handles += [lines([], [], marker="o", color=c, linestyle="", label=name)
                for name, c in COLOURS.items()]
    handles.append(lines([], [], marker="o", color="gray", linestyle="", fillstyle="none",
                         label="ordered"))
    handles.append(lines([], [], marker="o", color="gray", linestyle="", label="order-free"))
    figure.legend(handles=handles, loc="lower center", ncols=5, fontsize=8)


def draw(document, target):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import lines, pyplot

    machines = [m for m in document["machine"]["backends"]
                if any(points(document, m["backend"]))]
    figure, axes = pyplot.subplots(1, len(machines), figsize=(5 * len(machines), 5), squeeze=False)
    for one, machine in zip(axes[0], machines):
        draw_one(one, document, machine)
    legend(figure, lines.Line2D)
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    part = pathlib.Path(f"{target}.part.png")
    figure.savefig(part, dpi=150)
    os.replace(part, target)


def self_test():
    row = {"backend": "serial", "values": "half", "format": "grouped4x8", "sum": "ordered",
           "chosen": True, "flops": 2e6, "bytes": 4e6, "time_ms": 0.5}
    document = {"rows": [row], "machine": {"backends": [
        {"backend": "serial", "ceilings": {"read": 1e10, "fp64": 1e11}}]}}
    if [p[:2] for p in points(document, "serial")] != [(0.5, 4.0)]:
        return 1
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "roofline.png"
        draw(document, target)
        return 0 if target.read_bytes().startswith(b"\x89PNG") else 1


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 2:
        print(__doc__)
        return 2
    with open(arguments[0], encoding="utf-8") as source:
        document = json.load(source)
    if document.get("operation") != "matrix bench":
        print(f"'{arguments[0]}' was not written by `iso matrix bench --json`", file=sys.stderr)
        return 2
    draw(document, arguments[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
