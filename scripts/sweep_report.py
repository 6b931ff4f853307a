#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the report of a sweep: a roofline of every device, ranks x kernels, growth with size.

    iso sweep --file examples/sweeps/quick.json --output results.jsonl
    iso sweep --merge results.jsonl --output report.json
    sweep_report.py report.json --output sweep        # sweep.html, sweep.png, sweep.json

sweep.html is one page without links to anything: the verdict, the pictures, a table of all points.
sweep.png holds the pictures alone, sweep.json the numbers that they show. A roofline has the
measured ceilings as lines and every operation as a point: operations a byte of memory, operations
a second. Operations that compute nothing are in the table alone. In the heat map a cell is a
process' time over the median of all processes, the median of a kernel's sizes: 1 is as fast as
most. One process has none. The program needs matplotlib (scripts/setup.sh makes .deps/venv).
"""
from __future__ import annotations

import base64
import html
import pathlib
import sys
from collections import defaultdict
from statistics import median
from typing import Any

from harness import need, parser_of, picture_of, put, pyplot, write_json
from roofline import draw_roofs
from sweep_records import Record, Refused, check_report, read_report
from sweep_text import count_of, heading, verdict_lines

need("numpy", "matplotlib")

import numpy as np  # noqa: E402

MARKERS = "os^vD<>PX*hp8d"
MAX_KERNELS = 60
MAX_RANKS = 200


def label_of(point: Record, size: bool = True) -> str:
    parts = [point["operation"]]
    if size:
        parts.append(str(point["size"]))
    parts += [point["precision"], point["backend"]]
    if point["threads"] > 1:
        parts.append(f"x{point['threads']}")
    if point["groups_per_launch"]:
        parts.append(f"/{point['groups_per_launch']}")
    return " ".join(parts)


def device_of(row: Record) -> tuple:
    return (row["processor"], row["backend"], row["threads"])


def rooflines(report: Record) -> list[Record]:
    """Gives the ceilings of each device, and its points that compute anything."""
    return [{**ceilings, "points": [
        {"name": label_of(p), "operation": p["operation"], "precision": p["precision"],
         "size": p["size"], "operations_per_byte": p["flops"] / p["bytes"],
         "operations_per_second": p["flops"] / p["median_seconds"],
         "share_of_ceiling": p["share_of_ceiling"], "bound": p["bound"]}
        for p in report["points"]
        if device_of(p) == device_of(ceilings) and p["flops"] > 0 and p["bytes"] > 0]}
        for ceilings in report["ceilings"]]


def heat_map(report: Record) -> Record:
    """Gives the times of ranks (rows) over the median of all, for each kernel (columns).

    A cell is the median of the kernel's sizes, or None where the rank has not measured it.
    """
    ratios: dict[tuple, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for p in report["points"]:
        for r in p["ranks"]:
            ratios[p["processor"], label_of(p, size=False)][r["rank"]].append(
                r["median_seconds"] / p["median_seconds"])
    cells = {kernel: {rank: median(all_) for rank, all_ in ranks.items()}
             for kernel, ranks in ratios.items()}
    worst = {r["rank"]: max((ranks.get(r["rank"], 0) for ranks in cells.values()), default=0)
             for r in report["ranks"]}
    # Where there is no room for all: those that stand out most.
    shown = sorted(report["ranks"], key=lambda r: -worst[r["rank"]])[:MAX_RANKS]
    shown.sort(key=lambda r: r["rank"])
    kernels = sorted(sorted(cells, key=lambda k: -max(cells[k].values()))[:MAX_KERNELS])
    several = len({name for _, name in kernels}) < len(kernels)
    return {"ranks": [f"{r['rank']} {r['node']}" for r in shown],
            "kernels": [f"{name}, {processor}" if several else name
                        for processor, name in kernels],
            "slowdown": [[cells[kernel].get(r["rank"]) for kernel in kernels] for r in shown]}


def growth(report: Record) -> list[Record]:
    """Gives the fastest calls behind each slope of the report."""
    points: dict[tuple, dict[int, float]] = defaultdict(dict)
    for p in report["points"]:
        points[p["processor"], label_of(p, size=False)][p["size"]] = p["fastest_seconds"]
    return [{**fit, "name": label_of(fit, size=False),
             "seconds": [points[fit["processor"], label_of(fit, size=False)][size]
                         for size in fit["sizes"]]} for fit in report["growth"]]


def draw_roofline(figure: Any, line: Record) -> None:
    axis = figure.subplots()
    rates = line["rates"]
    points = line["points"]
    intensities = [p["operations_per_byte"] for p in points] or [1]
    low, high = min(intensities + [0.05]) / 2, max(intensities + [50]) * 2
    levels = [name for name in ("fp16", "fp32", "fp64") if rates.get(name)]
    top = max((rates[name] for name in levels), default=0)
    draw_roofs(axis, rates if top else {}, (low, high), top, {"read": "-", "l2": "--"},
               "{}: {:.4g} GB/s", color="0.3", lw=1)
    for name, style in zip(levels, ("-.", "-", ":")[-len(levels):]):
        axis.axhline(rates[name], color="0.3", lw=1, ls=style,
                     label=f"{name}: {1e-9 * rates[name]:.4g} GFLOP/s")
    operations = sorted({p["operation"] for p in points})
    groups = defaultdict(list)
    for p in points:
        groups[p["operation"], p["precision"]].append(p)
        axis.annotate(p["size"], (p["operations_per_byte"], p["operations_per_second"]),
                      fontsize=4, textcoords="offset points", xytext=(3, 2))
    labelled = set()
    for (operation, precision), group in sorted(groups.items()):
        i = operations.index(operation)
        axis.plot([p["operations_per_byte"] for p in group],
                  [p["operations_per_second"] for p in group], MARKERS[i % len(MARKERS)],
                  color=f"C{i % 10}", ms=4, ls="",
                  fillstyle="none" if precision == "double" else "full",
                  label=None if operation in labelled else operation)
        labelled.add(operation)
    axis.set(xscale="log", yscale="log", xlim=(low, high), xlabel="operations a byte of memory",
             ylabel="operations a second",
             title=line["processor"] + ("" if line["backend"] == "cuda" else
                                        f"\n{line['backend']}, threads: {line['threads']}") +
             ("\nopen: double" if any(p["precision"] == "double" for p in points) else ""))
    axis.title.set_fontsize(8)
    axis.legend(fontsize=6, loc="center left", bbox_to_anchor=(1.01, 0.5))


def draw_heat_map(figure: Any, heat: Record) -> None:
    axis = figure.subplots()
    image = axis.imshow(np.array(heat["slowdown"], dtype=float), aspect="auto", vmin=0.8, vmax=1.5,
                        cmap="RdYlGn_r", interpolation="nearest")
    axis.set_xticks(range(len(heat["kernels"])), heat["kernels"], rotation=90, fontsize=5)
    if len(heat["ranks"]) <= 64:
        axis.set_yticks(range(len(heat["ranks"])), heat["ranks"], fontsize=6)
    axis.set(title="time over the median of all ranks", ylabel="rank, node")
    axis.title.set_fontsize(8)
    figure.colorbar(image, ax=axis, shrink=0.6)


def draw_growth(figure: Any, processor: str, operations: dict[str, list[Record]]) -> None:
    """Draws a panel for each operation; a grey line has the expected slope."""
    columns = min(3, len(operations))
    axes = figure.subplots(-(-len(operations) // columns), columns, squeeze=False).flat
    for (operation, series), axis in zip(operations.items(), axes):
        for i, one in enumerate(series):
            name = one["name"].removeprefix(operation + " ")
            axis.plot(one["sizes"], one["seconds"], "o-", color=f"C{i % 10}", ms=3, lw=0.8,
                      label=f"{name}: {one['exponent']:.2f}, {one['last_exponent']:.2f}")
        slowest = max(series, key=lambda one: one["seconds"][-1])
        sizes = slowest["sizes"]
        axis.plot(sizes, [1.5 * slowest["seconds"][-1] * (size / sizes[-1]) ** slowest["expected"]
                          for size in sizes], color="0.7", lw=2, zorder=0)
        axis.set(xscale="log", yscale="log", title=f"{operation} ({slowest['expected']:g})",
                 xlabel="size (unit: iso sweep --list)", ylabel="fastest call in seconds")
        # The ticks of a logarithmic axis are powers of ten; few sizes are.
        ticks = sorted({size for one in series for size in one["sizes"]})
        axis.set_xticks(ticks, [f"{tick:.4g}" for tick in ticks])
        axis.set_xticks([], minor=True)
        for label in (axis.xaxis.label, axis.yaxis.label):
            label.set_fontsize(6)
        axis.title.set_fontsize(8)
        axis.tick_params(labelsize=6, which="both")
        axis.legend(fontsize=5, loc="upper left")
    for axis in axes:  # those that are left
        axis.set_axis_off()
    figure.suptitle(f"{processor}: seconds of the fastest call over size; exponents of all sizes "
                    "and of the two largest (expected: grey)", fontsize=8)


def draw(parts: Record) -> bytes:
    """Draws all pictures, one below the other, as one PNG; empty where there are none."""
    heat = parts["heat_map"]
    pictures = [((8, 4.6), draw_roofline, line) for line in parts["rooflines"]]
    if len(heat["ranks"]) > 1 and heat["kernels"]:
        pictures.append(((max(6.4, 0.16 * len(heat["kernels"]) + 2),
                          max(3.6, 0.12 * len(heat["ranks"]) + 3)),
                         draw_heat_map, heat))
    processors = defaultdict(lambda: defaultdict(list))
    for one in parts["growth"]:
        processors[one["processor"]][one["operation"]].append(one)
    for name, operations in processors.items():
        pictures.append(((3.6 * min(3, len(operations)), 2.8 * -(-len(operations) // 3) + 0.4),
                         draw_growth, name, operations))
    if not pictures:
        return b""
    sizes = [size for size, *_ in pictures]
    heights = [height for _, height in sizes]
    figure = pyplot().figure(figsize=(max(width for width, _ in sizes), sum(heights)),
                             layout="constrained")
    places = figure.subfigures(len(pictures), 1, squeeze=False, height_ratios=heights).flat
    for (_, function, *what), place in zip(pictures, places):
        function(place, *what)
    content = picture_of(figure, 140)
    pyplot().close(figure)
    return content


def table(report: Record) -> str:
    head = ("operation", "size", "type", "backend", "threads", "groups a launch", "processor",
            "ranks", "median ms", "quartiles ms", "share of ceiling", "bound", "error", "hash")
    rows = ["<tr>" + "".join(f"<th>{h}</th>" for h in head) + "</tr>"]
    for p in report["points"]:
        hashes = sorted({h for r in p["ranks"] for h in r["hashes"]})
        cells = (p["operation"], p["size"], p["precision"], p["backend"], p["threads"],
                 p["groups_per_launch"] or "all", p["processor"], len(p["ranks"]),
                 f"{1e3 * p['median_seconds']:.4g}",
                 f"{1e3 * p['lower_quartile']:.4g} to {1e3 * p['upper_quartile']:.4g}",
                 f"{100 * p['share_of_ceiling']:.1f} %" + (
                     " (disturbed)" if p["disturbed"] else ""), p["bound"],
                 "" if p["error"] is None else f"{p['error']:.2e}", " ".join(hashes))
        rows.append("<tr>" + "".join(f"<td>{html.escape(str(c))}</td>" for c in cells) + "</tr>")
    return "<table>\n" + "\n".join(rows) + "\n</table>"


STYLE = """body { font-family: sans-serif; max-width: 1200px; margin: 2em auto; }
table { border-collapse: collapse; font-size: 11px; }
td, th { border: 1px solid #ccc; padding: 2px 5px; text-align: left; }
pre { white-space: pre-wrap; }
img { max-width: 100%; display: block; margin: 1em 0; }"""


def page(report: Record, picture: bytes) -> str:
    data = base64.b64encode(picture).decode("ascii")
    image = (f'<img alt="rooflines, times of all ranks, growth" src="data:image/png;base64,{data}">'
             if picture else "")
    ranks = count_of(len(report["ranks"]), "rank")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Sweep, {ranks}, Isocenter {html.escape(report["isocenter"])}</title>
<style>
{STYLE}
</style>
</head>
<body>
<h1>Sweep of {ranks}</h1>
<p>Isocenter {html.escape(report["isocenter"])}, revision {html.escape(report["revision"])},
{count_of(len(report["points"]), "point")}; {html.escape(heading(report))}.</p>
<pre>
{html.escape(chr(10).join(verdict_lines(report)))}
</pre>
{image}
{table(report)}
</body>
</html>
"""


def write(report: Record, output: str) -> Record:
    """Writes the page, the pictures and their numbers."""
    parts = {"rooflines": rooflines(report), "heat_map": heat_map(report),
             "growth": growth(report), "verdict": list(verdict_lines(report))}
    picture = draw(parts)
    put(output + ".html", page(report, picture).encode())
    if picture:
        put(output + ".png", picture)
    write_json(output + ".json", parts)
    return parts


def draw_file(path: str, output: str) -> None:
    if pathlib.Path(output + ".json").resolve() == pathlib.Path(path).resolve():
        raise Refused(f"'{path}': would be overwritten (--output names files of the drawing) give "
                      "another name by --output")
    report = read_report(path)
    check_report(report, path)
    try:
        write(report, output)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError,
            ZeroDivisionError) as failure:
        raise Refused(f"'{path}': is a damaged report ({type(failure).__name__}: {failure}) merge "
                      "its results anew") from None


def main() -> None:
    parser = parser_of(__doc__.splitlines()[0])
    parser.add_argument("report", help="what iso sweep --merge has written")
    parser.add_argument("--output", required=True, help="name of the files, without ending")
    given = parser.parse_args()
    try:
        draw_file(given.report, given.output)
    except (ImportError, OSError, Refused) as failure:
        sys.exit(f"sweep_report.py: {failure}")


if __name__ == "__main__":
    main()
