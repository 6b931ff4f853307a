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

import argparse
import base64
import html
import io
import json
import pathlib
import statistics
from typing import Any

from sweep_merge import (REPORT_FORMAT, Record, Refused, count_of, heading, parse, read_bytes,
                         verdict_lines)

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
    lines = []
    for ceilings in report["ceilings"]:
        points = [{"name": label_of(p), "operation": p["operation"], "precision": p["precision"],
                   "size": p["size"], "operations_per_byte": p["flops"] / p["bytes"],
                   "operations_per_second": p["flops"] / p["median_seconds"],
                   "share_of_ceiling": p["share_of_ceiling"], "bound": p["bound"]}
                  for p in report["points"]
                  if device_of(p) == device_of(ceilings) and p["flops"] > 0 and p["bytes"] > 0]
        lines.append({"processor": ceilings["processor"], "backend": ceilings["backend"],
                      "threads": ceilings["threads"], "rates": ceilings["rates"],
                      "points": points})
    return lines


def heat_map(report: Record) -> Record:
    """Gives the times of ranks (rows) over the median of all, for each kernel (columns).

    A cell is the median of the kernel's sizes, or None where the rank has not measured it.
    """
    ratios = {}  # of kernel, rank: one a size
    for p in report["points"]:
        for r in p["ranks"]:
            of_kernel = ratios.setdefault((p["processor"], label_of(p, size=False)), {})
            of_kernel.setdefault(r["rank"], []).append(r["median_seconds"] / p["median_seconds"])
    medians = {kernel: {rank: statistics.median(all_) for rank, all_ in ranks.items()}
               for kernel, ranks in ratios.items()}
    worst = {}
    for ranks in medians.values():
        for rank, slow in ranks.items():
            worst[rank] = max(worst.get(rank, 0), slow)
    # Where there is no room for all: those that stand out most.
    shown = sorted(sorted(report["ranks"], key=lambda r: -worst.get(r["rank"], 0))[:MAX_RANKS],
                   key=lambda r: r["rank"])
    kernels = sorted(sorted(medians, key=lambda k: -max(medians[k].values()))[:MAX_KERNELS])
    several = len({name for _, name in kernels}) < len(kernels)
    return {"ranks": [f"{r['rank']} {r['node']}" for r in shown],
            "kernels": [f"{name}, {processor}" if several else name
                        for processor, name in kernels],
            "slowdown": [[medians[kernel].get(rank["rank"]) for kernel in kernels]
                         for rank in shown]}


def growth(report: Record) -> list[Record]:
    series = []
    for fit in report["growth"]:
        points = sorted((p["size"], p["fastest_seconds"]) for p in report["points"]
                        if label_of(p, size=False) == label_of(fit, size=False)
                        and p["processor"] == fit["processor"])
        series.append({"name": label_of(fit, size=False), "processor": fit["processor"],
                       "operation": fit["operation"], "exponent": fit["exponent"],
                       "last_exponent": fit["last_exponent"], "expected": fit["expected"],
                       "sizes": [s for s, _ in points], "seconds": [t for _, t in points]})
    return series


def draw_roofline(axis: Any, line: Record) -> None:
    rates = line["rates"]
    points = line["points"]
    intensities = [p["operations_per_byte"] for p in points] or [1]
    low, high = min(intensities + [0.05]) / 2, max(intensities + [50]) * 2
    levels = [name for name in ("fp16", "fp32", "fp64") if rates.get(name)]
    top = max((rates[name] for name in levels), default=0)
    for name, style in (("read", "-"), ("l2", "--")):
        if rates.get(name) and top:
            knee = min(top / rates[name], high)
            axis.plot([low, knee], [rates[name] * low, rates[name] * knee], style, color="0.3",
                      lw=1, label=f"{name}: {1e-9 * rates[name]:.4g} GB/s")
    for name, style in zip(levels, ("-.", "-", ":")[-len(levels):]):
        axis.axhline(rates[name], color="0.3", lw=1, ls=style,
                     label=f"{name}: {1e-9 * rates[name]:.4g} GFLOP/s")
    markers = "os^vD<>PX*hp8d"
    for i, operation in enumerate(sorted({p["operation"] for p in points})):
        labelled = False
        for precision in sorted({p["precision"] for p in points}):
            mine = [p for p in points
                    if p["operation"] == operation and p["precision"] == precision]
            if mine:
                axis.plot([p["operations_per_byte"] for p in mine],
                          [p["operations_per_second"] for p in mine],
                          markers[i % len(markers)], color=f"C{i % 10}", ms=4, ls="",
                          fillstyle="none" if precision == "double" else "full",
                          label=None if labelled else operation)
                labelled = True
                for p in mine:
                    axis.annotate(p["size"], (p["operations_per_byte"],
                                              p["operations_per_second"]), fontsize=4,
                                  textcoords="offset points", xytext=(3, 2))
    axis.set(xscale="log", yscale="log", xlim=(low, high), xlabel="operations a byte of memory",
             ylabel="operations a second",
             title=line["processor"] + ("" if line["backend"] == "cuda" else
                                        f"\n{line['backend']}, threads: {line['threads']}") +
             ("\nopen: double" if any(p["precision"] == "double" for p in points) else ""))
    axis.title.set_fontsize(8)
    axis.legend(fontsize=6, loc="center left", bbox_to_anchor=(1.01, 0.5))


def draw_heat_map(axis: Any, heat: Record) -> None:
    import numpy

    cells = numpy.array([[numpy.nan if c is None else c for c in row]
                         for row in heat["slowdown"]], dtype=float)
    image = axis.imshow(cells, aspect="auto", vmin=0.8, vmax=1.5, cmap="RdYlGn_r",
                        interpolation="nearest")
    axis.set_xticks(range(len(heat["kernels"])), heat["kernels"], rotation=90, fontsize=5)
    if len(heat["ranks"]) <= 64:
        axis.set_yticks(range(len(heat["ranks"])), heat["ranks"], fontsize=6)
    axis.set(title="time over the median of all ranks", ylabel="rank, node")
    axis.title.set_fontsize(8)
    axis.figure.colorbar(image, ax=axis, shrink=0.6)


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
                 xlabel="size", ylabel="seconds")
        axis.xaxis.label.set_fontsize(6)
        axis.yaxis.label.set_fontsize(6)
        axis.title.set_fontsize(8)
        axis.tick_params(labelsize=6, which="both")
        axis.legend(fontsize=5, loc="upper left")
    for axis in axes:  # those that are left
        axis.set_axis_off()
    figure.suptitle(f"{processor}: seconds of the fastest call over size; exponents of all sizes "
                    "and of the two largest (expected: grey)", fontsize=8)


def draw(parts: Record) -> list[bytes]:
    """Draws all pictures, as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    lines, heat, series = parts["rooflines"], parts["heat_map"], parts["growth"]
    pictures = [(lambda figure, line=line: draw_roofline(figure.subplots(), line), (8, 4.6))
                for line in lines]
    if len(heat["ranks"]) > 1 and heat["kernels"]:
        pictures.append((lambda figure: draw_heat_map(figure.subplots(), heat),
                         (max(6.4, 0.16 * len(heat["kernels"]) + 2),
                          max(3.6, 0.12 * len(heat["ranks"]) + 3))))
    of_processor = {}
    for one in series:
        of_processor.setdefault(one["processor"], {}).setdefault(one["operation"], []).append(one)
    for processor, operations in of_processor.items():
        pictures.append((lambda figure, name=processor, operations=operations:
                         draw_growth(figure, name, operations),
                         (3.6 * min(3, len(operations)), 2.8 * -(-len(operations) // 3) + 0.4)))
    drawn = []
    for function, inches in pictures:
        figure = pyplot.figure(figsize=inches, layout="constrained")
        function(figure)
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=140, metadata={"Software": None})
        pyplot.close(figure)
        drawn.append(buffer.getvalue())
    return drawn


def join_pictures(pictures: list[bytes]) -> bytes:
    """Puts one picture below the other."""
    import matplotlib
    import numpy

    matplotlib.use("Agg")
    from matplotlib import image

    arrays = [image.imread(io.BytesIO(p))[:, :, :3] for p in pictures]
    width = max((a.shape[1] for a in arrays), default=1)
    rows = [numpy.pad(a, ((0, 0), (0, width - a.shape[1]), (0, 0)), constant_values=1)
            for a in arrays]
    out = io.BytesIO()
    image.imsave(out, numpy.clip(numpy.concatenate(rows), 0, 1), format="png",
                 metadata={"Software": None})
    return out.getvalue()


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


def page(report: Record, pictures: list[bytes]) -> str:
    images = "\n".join(
        f'<img alt="figure {i + 1}" src="data:image/png;base64,'
        f'{base64.b64encode(p).decode("ascii")}">' for i, p in enumerate(pictures))
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
{images}
{table(report)}
</body>
</html>
"""


def read(path: pathlib.Path) -> Record:
    try:
        report = parse(read_bytes(str(path)), str(path))
    except Refused as failure:
        raise SystemExit(str(failure)) from None
    if not isinstance(report, dict) or report.get("record") != "report":
        raise SystemExit(f"{path}: no report (iso sweep --merge writes one)")
    if report.get("format") != REPORT_FORMAT:
        raise SystemExit(f"{path}: a report of format {report.get('format')} (this script reads "
                         f"{REPORT_FORMAT})")
    return report


def write(report: Record, output: pathlib.Path) -> Record:
    parts = {"rooflines": rooflines(report), "heat_map": heat_map(report),
             "growth": growth(report), "verdict": list(verdict_lines(report))}
    pictures = draw(parts)
    name = str(output)
    pathlib.Path(name + ".html").write_text(page(report, pictures), encoding="utf-8")
    if pictures:
        pathlib.Path(name + ".png").write_bytes(join_pictures(pictures))
    pathlib.Path(name + ".json").write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")
    return parts


def draw_file(path: pathlib.Path, output: pathlib.Path) -> None:
    report = read(path)
    try:
        write(report, output)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError,
            ZeroDivisionError) as failure:
        raise SystemExit(f"{path}: a damaged report ({type(failure).__name__}: {failure}); merge "
                         "its results anew") from None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, required=True,
                        help="name of the files, without ending")
    given = parser.parse_args()
    draw_file(given.report, given.output)


if __name__ == "__main__":
    main()
