#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The roofline of the dose-matrix products, and the sweep of block sizes, from a benchmark's JSON.

    iso_bench_spmv --benchmark_filter=cuda --benchmark_out=rows.json --benchmark_out_format=json
    plot_roofline.py rows.json --backend cuda --matrix liver --output figures

Writes roofline_<matrix>_<backend>.png and .json: measured ceilings of the machine as lines, every
variant and peer of that matrix as a point (operations a byte that must move, and operations a
second); and, where the file has such rows, configurations_<matrix>_<backend>.png and .json: what
each kernel reaches by threads a block. Nothing is typed in: both figures come from the rows alone.
The axes are those of figures 3 and 4 of Liu et al. 2021.
"""
import argparse
import json
import pathlib
import re
import sys

FAMILIES = ("spmv", "peer", "raw")


def rows_of(paths):
    """All rows of the files that ran, and the context of the first."""
    rows, context = [], None
    for path in paths:
        result = json.loads(path.read_text(encoding="utf-8"))
        context = context or result["context"]
        rows += [r for r in result["benchmarks"] if not r.get("error_occurred")]
    return rows, context


def parts_of(name):
    """A row's name without what the benchmark library appends."""
    return [p for p in name.split("/") if p != "manual_time" and not p.startswith("iterations:")]


def ceilings_of(rows, backend):
    for row in rows:
        if parts_of(row["name"])[:2] == ["ceilings", backend]:
            return {k: row[k] for k in ("read", "copy", "l2", "fp32", "fp64") if row.get(k, 0) > 0}
    raise SystemExit(f"no row ceilings/{backend}: run the benchmark with it")


def point_of(row):
    family, matrix, way, product, total, backend = parts_of(row["name"])
    return {
        "family": family,
        "matrix": matrix,
        "product": ("" if way == "A" else "A^T ") + product + ("" if total == "-" else f" {total}"),
        "transposed": way != "A",
        "backend": backend,
        "operations_per_byte": row["flops"] / row["bytes"],
        "gflops": row["gflops"],
        "gbytes_per_second": row["bytes"] * row["gflops"] / row["flops"],
        "share_of_read_ceiling": row["share_of_ceiling"],
        "milliseconds": 1e-6 * row["flops"] / row["gflops"],
        "error": row["error"],
    }


def points_of(rows, backend, matrix, transposed):
    points = []
    for row in rows:
        parts = parts_of(row["name"])
        if len(parts) == 6 and parts[0] in FAMILIES and parts[5] == backend and parts[1] == matrix:
            if "gflops" in row and (transposed or parts[2] == "A"):
                points.append(point_of(row))
    return sorted(points, key=lambda p: -p["gflops"])


def draw_roofline(plt, points, ceilings, title, path):
    figure, axes = plt.subplots(figsize=(10, 6.5))
    least = 0.6 * min(p["operations_per_byte"] for p in points)
    most = max(2.5 * max(p["operations_per_byte"] for p in points), 4 * least)
    edges = [least * (most / least) ** (i / 99) for i in range(100)]
    peak = ceilings.get("fp64")
    for name, style in (("read", "-"), ("l2", ":")):
        if name in ceilings:
            roof = [1e-9 * min(ceilings[name] * x, peak or 1e99) for x in edges]
            axes.plot(edges, roof, "k" + style, lw=1.2,
                      label=f"{name} ceiling, {1e-9 * ceilings[name]:.0f} GB/s")
    styles = {"spmv": ("o", "tab:blue", "this library"), "peer": ("s", "tab:red", "peers"),
              "raw": ("^", "tab:green", "by hand")}
    for family, (marker, colour, label) in styles.items():
        own = [p for p in points if p["family"] == family]
        if own:
            axes.scatter([p["operations_per_byte"] for p in own], [p["gflops"] for p in own],
                         marker=marker, c=colour, s=32, label=label, zorder=3,
                         edgecolors="white", linewidths=0.5)
    # Names stand beside the figure, in the order of the points' heights.
    for number, point in enumerate(points[:30], 1):
        axes.annotate(str(number), (point["operations_per_byte"], point["gflops"]), fontsize=6,
                      textcoords="offset points", xytext=(4, 3))
    names = [f"{i:2d} {p['product']}  {p['gflops']:.0f}" for i, p in enumerate(points[:30], 1)]
    figure.text(0.665, 0.93, "GFLOP/s\n" + "\n".join(names), fontsize=6.5, va="top",
                family="monospace")
    axes.set(xscale="log", yscale="log", xlabel="operations a byte (matrix and vectors once)",
             ylabel="GFLOP/s", title=title)
    axes.set_ylim(bottom=0.5 * min(p["gflops"] for p in points))
    axes.grid(True, which="both", alpha=0.25)
    axes.legend(fontsize=8, loc="lower right")
    figure.subplots_adjust(left=0.08, right=0.65)
    figure.savefig(path, dpi=160)
    plt.close(figure)


def sweep_of(rows, backend, matrix):
    """GFLOP/s by threads a block, for each kernel of the configuration rows."""
    sweep = {}
    for row in rows:
        parts = parts_of(row["name"])
        if parts[0] != "configurations" or parts[1] != matrix or parts[5] != backend:
            continue
        found = re.fullmatch(r"(.+)_t(\d+)", parts[3])
        if found and "gflops" in row:
            kernel = found[1] + ("" if parts[4] == "-" else f" {parts[4]}")
            sweep.setdefault(kernel, {})[int(found[2])] = row["gflops"]
    return {kernel: dict(sorted(points.items())) for kernel, points in sweep.items()}


def draw_sweep(plt, sweep, title, path):
    figure, axes = plt.subplots(figsize=(8, 5))
    for kernel, points in sweep.items():
        axes.plot(list(points), list(points.values()), "o-", label=kernel)
    ticks = sorted({t for points in sweep.values() for t in points})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [str(t) for t in ticks])
    axes.set(xlabel="threads a block", ylabel="GFLOP/s", title=title)
    axes.set_ylim(bottom=0)
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=160)
    plt.close(figure)


def write(path, content):
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=pathlib.Path, nargs="+", help="JSON of iso_bench_spmv")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--matrix", default="liver")
    parser.add_argument("--transposed", action="store_true", help="the rows AT too")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), help="folder")
    return parser.parse_args()


def main():
    given = arguments()
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    rows, context = rows_of(given.rows)
    points = points_of(rows, given.backend, given.matrix, given.transposed)
    if not points:
        raise SystemExit(f"no rows of {given.matrix} on {given.backend} in {given.rows[0]}")
    ceilings = ceilings_of(rows, given.backend)
    machine = context.get(f"{given.backend}.processor", given.backend)
    given.output.mkdir(parents=True, exist_ok=True)
    stem = f"{given.matrix}_{given.backend}"
    title = f"{given.matrix}: {machine}"
    draw_roofline(plt, points, ceilings, title, given.output / f"roofline_{stem}.png")
    write(given.output / f"roofline_{stem}.json",
          {"matrix": given.matrix, "machine": machine, "ceilings": ceilings, "points": points,
           "context": context})
    print(given.output / f"roofline_{stem}.png")
    sweep = sweep_of(rows, given.backend, given.matrix)
    if sweep:
        draw_sweep(plt, sweep, title, given.output / f"configurations_{stem}.png")
        write(given.output / f"configurations_{stem}.json",
              {"matrix": given.matrix, "machine": machine, "gflops_by_threads": sweep,
               "context": context})
        print(given.output / f"configurations_{stem}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
