#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The roofline of the dose-matrix products: every variant and every peer, one figure a backend.

    iso matrix bench plan.h5 --json bench.json
    matrix_roofline.py bench.json --output figures

    iso_pack_matrix plan.h5 plan.raw                    # peers on the same matrix
    ISO_BENCH_MATRIX=plan.raw iso_bench_spmv --benchmark_filter='^(ceilings|peer/real)/' \\
        --benchmark_out=peers.json --benchmark_out_format=json
    matrix_roofline.py bench.json peers.json --output figures

    iso_bench_spmv --benchmark_out=rows.json --benchmark_out_format=json
    matrix_roofline.py rows.json --matrix prostate --output figures

Reads JSON of `iso matrix bench` and of `iso_bench_spmv`, any number of files of one machine. Writes
roofline_<name>_<backend>.png and .json: the machine's measured ceilings as lines, every variant and
peer as a point (operations a byte that must move, and operations a second); and, where there are
such rows, configurations_<name>_<backend>.png and .json: what each kernel reaches by threads a
block. Nothing is typed in: figures come from the rows alone. The axes are those of figures 3 and 4
of Liu et al. 2021. Needs matplotlib (scripts/setup.sh makes .deps/venv).
"""
import pathlib
import re
import tempfile

from harness import is_png, parser_of, pyplot, read_json, save, write_json
from roofline import draw_roofs

FAMILIES = {
    # rows' first name: marker, colour, legend
    "spmv": ("o", "tab:blue", "this library"),
    "peer": ("s", "tab:red", "peers"),
    "raw": ("^", "tab:green", "by hand"),
}
MAX_NAMES = 60


def point(family, product, backend, flops, byte_count, seconds, row):
    return {
        "family": family,
        "product": product,
        "backend": backend,
        "chosen": bool(row.get("chosen")),
        "operations_per_byte": flops / byte_count,
        "gflops": 1e-9 * flops / seconds,
        "gbytes_per_second": 1e-9 * byte_count / seconds,
        "share_of_ceiling": row["share_of_ceiling"],
        "milliseconds": 1e3 * seconds,
        "error": row["error"],
    }


class tool_file:
    """What `iso matrix bench --json` wrote: one matrix, no peers."""

    def __init__(self, document):
        self.rows = document["rows"]
        self.machines = {m["backend"]: m for m in document["machine"]["backends"]}

    def backends(self, _):
        return {row["backend"] for row in self.rows}

    def ceilings(self, backend):
        return self.machines.get(backend, {}).get("ceilings", {})

    def processor(self, backend):
        return self.machines.get(backend, {}).get("processor", "")

    def points(self, backend, _):
        for row in self.rows:
            if row["backend"] == backend:
                yield point("spmv", row["variant"], backend, row["flops"], row["bytes"],
                            1e-3 * row["time_ms"], row)

    def sweep(self, _backend, _matrix):
        return {}


class benchmark_file:
    """What `iso_bench_spmv --benchmark_out` wrote: several matrices, peers, ceilings as rows."""

    def __init__(self, document):
        self.context = document["context"]
        self.rows = []
        for row in document["benchmarks"]:
            if not row.get("error_occurred"):
                name = [p for p in row["name"].split("/")
                        if p != "manual_time" and not p.startswith("iterations:")]
                self.rows.append((name, row))

    def products(self, matrix):
        for name, row in self.rows:
            if len(name) == 6 and name[0] in FAMILIES and name[1] == matrix and "gflops" in row:
                yield name, row

    def backends(self, matrix):
        return {name[5] for name, _ in self.products(matrix)}

    def ceilings(self, backend):
        for name, row in self.rows:
            if name[:2] == ["ceilings", backend]:
                return {k: row[k] for k in ("read", "copy", "l2", "fp32", "fp64") if row.get(k)}
        return {}

    def processor(self, backend):
        return self.context.get(f"{backend}.processor", "")

    def points(self, backend, matrix):
        for name, row in self.products(matrix):
            if name[5] == backend:
                product = ("" if name[2] == "A" else "A^T ") + name[3]
                product += "" if name[4] == "-" else f" {name[4]}"
                yield point(name[0], product, backend, row["flops"], row["bytes"],
                            1e-9 * row["flops"] / row["gflops"], row)

    def sweep(self, backend, matrix):
        """GFLOP/s by threads a block, for each kernel of the configuration rows."""
        sweep = {}
        for name, row in self.rows:
            if name[0] != "configurations" or name[1] != matrix or name[5] != backend:
                continue
            found = re.fullmatch(r"(.+)_t(\d+)", name[3])
            if found and "gflops" in row:
                kernel = found[1] + ("" if name[4] == "-" else f" {name[4]}")
                sweep.setdefault(kernel, {})[int(found[2])] = row["gflops"]
        return {kernel: dict(sorted(points.items())) for kernel, points in sweep.items()}


def opened(path):
    document = read_json(path)
    if document.get("operation") == "matrix bench":
        return tool_file(document)
    if "benchmarks" in document:
        return benchmark_file(document)
    raise SystemExit(f"'{path}' has no products (a file of `iso matrix bench` or iso_bench_spmv is "
                     "expected); name one")


def named(points):
    """The points that a figure names, by family: what is not the library's first."""
    own = {family: [p for p in points if p["family"] == family] for family in FAMILIES}
    left = MAX_NAMES
    for family in sorted(own, key=lambda f: f == "spmv"):
        own[family] = own[family][:left]
        left -= len(own[family])
    return {family: best for family, best in own.items() if best}


def draw_roofline(points, ceilings, title, path):
    figure, axes = pyplot().subplots(figsize=(10, 6.5))
    least = 0.6 * min(p["operations_per_byte"] for p in points)
    most = max(2.5 * max(p["operations_per_byte"] for p in points), 4 * least)
    draw_roofs(axes, ceilings, (least, most), ceilings.get("fp64", 1e99),
               {"read": "k-", "l2": "k:"}, "{} ceiling, {:.4g} GB/s", 1e-9, bent=True, lw=1.2)
    for family, (marker, colour, label) in FAMILIES.items():
        own = [p for p in points if p["family"] == family]
        if own:
            axes.scatter([p["operations_per_byte"] for p in own], [p["gflops"] for p in own],
                         marker=marker, c=colour, s=[70 if p["chosen"] else 28 for p in own],
                         label=label, zorder=3, edgecolors="white", linewidths=0.5)
    # Names stand beside the figure, each family's in the order of its points' heights.
    lines, number = ["GFLOP/s"], 0
    for family, own in named(points).items():
        lines += ["", FAMILIES[family][2]]
        for p in own:
            number += 1
            axes.annotate(str(number), (p["operations_per_byte"], p["gflops"]), fontsize=6,
                          textcoords="offset points", xytext=(4, 3))
            lines.append(f"{number:2d} {p['product']}  {p['gflops']:.4g}"
                         f"{'  chosen' if p['chosen'] else ''}")
    figure.text(0.665, 0.98, "\n".join(lines), fontsize=5.5, va="top", family="monospace")
    axes.set(xscale="log", yscale="log", xlabel="operations a byte (matrix and vectors once)",
             ylabel="GFLOP/s", title=title)
    axes.set_ylim(bottom=0.5 * min(p["gflops"] for p in points))
    axes.grid(True, which="both", alpha=0.25)
    axes.legend(fontsize=8, loc="lower right")
    figure.subplots_adjust(left=0.08, right=0.65)
    close(figure, path)


def draw_sweep(sweep, title, path):
    figure, axes = pyplot().subplots(figsize=(8, 5))
    for kernel, points in sweep.items():
        axes.plot(list(points), list(points.values()), "o-", label=kernel)
    ticks = sorted({t for points in sweep.values() for t in points})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [str(t) for t in ticks])
    axes.set(xlabel="threads a block", ylabel="GFLOP/s", title=title)
    axes.set_ylim(bottom=0)
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    figure.tight_layout()
    close(figure, path)


def close(figure, path):
    save(figure, path, 160)
    pyplot().close(figure)
    print(path)


def first(found):
    return next((x for x in found if x), None)


def draw(files, backend, matrix, name, transposed, folder):
    """The files of one backend; false where they have no point of it."""
    points = [p for f in files for p in f.points(backend, matrix)
              if transposed or not p["product"].startswith("A^T")]
    if not points:
        return False
    if not any(p["gflops"] > 0 for p in points):
        raise SystemExit(f"{name}, {backend}: the matrix has no non-zeros (nothing to draw); "
                         "name another")
    points.sort(key=lambda p: -p["gflops"])
    ceilings = first(f.ceilings(backend) for f in files)
    if not ceilings:
        raise SystemExit(f"no ceilings of {backend} (the roof is made of them); run the benchmark "
                         "with its rows ceilings/")
    machine = first(f.processor(backend) for f in files) or backend
    folder.mkdir(parents=True, exist_ok=True)
    title, stem = f"{name}, {backend}: {machine}", f"{name}_{backend}"
    about = {"matrix": name, "machine": machine, "backend": backend}
    draw_roofline(points, ceilings, title, folder / f"roofline_{stem}.png")
    write_json(folder / f"roofline_{stem}.json", about | {"ceilings": ceilings, "points": points})
    sweep = first(f.sweep(backend, matrix) for f in files)
    if sweep:
        draw_sweep(sweep, title, folder / f"configurations_{stem}.png")
        write_json(folder / f"configurations_{stem}.json", about | {"gflops_by_threads": sweep})
    return True


def refuses_empty(tool, folder):
    """Whether a matrix without non-zeros gets a sentence."""
    empty = tool | {"rows": [tool["rows"][0] | {"flops": 0}]}
    write_json(folder / "empty.json", empty)
    try:
        draw_files([folder / "empty.json"], folder / "out")
    except SystemExit as said:
        return "no non-zeros" in str(said)
    return False


def self_test():
    row = {"backend": "serial", "variant": "half row_block4 ordered", "chosen": True, "flops": 2e6,
           "bytes": 4e6, "time_ms": 0.5, "share_of_ceiling": 0.8, "error": 0}
    tool = {"operation": "matrix bench", "rows": [row], "machine": {"backends": [
        {"backend": "serial", "processor": "X", "ceilings": {"read": 1e10, "fp64": 1e11}}]}}
    peer = {"flops": 2e6, "bytes": 8e6, "gflops": 2.0, "share_of_ceiling": 0.4, "error": 1e-7}
    bench = {"context": {}, "benchmarks": [
        peer | {"name": "peer/real/A/eigen_float/-/serial/iterations:7/manual_time"},
        peer | {"name": "peer/real/AT/eigen_float/-/serial/manual_time"},
        peer | {"name": "peer/liver/A/eigen_float/-/serial/manual_time"},
        peer | {"name": "configurations/real/A/warp_t128/-/serial/manual_time"},
        {"name": "spmv/real/A/csr16_half/-/serial/manual_time", "refused": 1}]}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for stem, document in (("bench", tool), ("peers", bench)):
            write_json(folder / f"{stem}.json", document)
        draw_files([folder / "bench.json", folder / "peers.json"], folder / "out")
        drawn = read_json(folder / "out" / "roofline_bench_serial.json")
        seen = [(p["family"], p["operations_per_byte"], round(p["gflops"], 9), p["chosen"])
                for p in drawn["points"]]
        sweep = read_json(folder / "out" / "configurations_bench_serial.json")
        good = seen == [("spmv", 0.5, 4.0, True), ("peer", 0.25, 2.0, False)]
        good = good and sweep["gflops_by_threads"] == {"warp": {"128": 2.0}}
        many = drawn["points"][1:] + 70 * drawn["points"][:1]
        good = good and {f: len(best) for f, best in named(many).items()} == {"spmv": 59, "peer": 1}
        good = good and refuses_empty(tool, folder)
        return good and is_png(folder / "out" / "roofline_bench_serial.png")


def main():
    parser = parser_of(__doc__.splitlines()[0], self_test)
    parser.add_argument("rows", type=pathlib.Path, nargs="+",
                        help="JSON of `iso matrix bench` or of iso_bench_spmv")
    parser.add_argument("--backend", help="serial, openmp or cuda; all where absent")
    parser.add_argument("--matrix", help="of iso_bench_spmv's: liver where absent; real beside a "
                                         "file of `iso matrix bench`")
    parser.add_argument("--transposed", action="store_true", help="the benchmark's rows AT too")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), help="folder")
    given = parser.parse_args()
    draw_files(given.rows, given.output, given.backend, given.matrix, given.transposed)


def draw_files(paths, folder, backend=None, matrix=None, transposed=False):
    files = [opened(path) for path in paths]
    tools = [path for path, f in zip(paths, files) if isinstance(f, tool_file)]
    matrix = matrix or ("real" if tools else "liver")
    name = tools[0].stem if tools else matrix
    backends = {backend} if backend else {b for f in files for b in f.backends(matrix)}
    drawn = [draw(files, b, matrix, name, transposed, folder) for b in sorted(backends)]
    if not any(drawn):
        raise SystemExit(f"no rows of {matrix} in {', '.join(str(p) for p in paths)}")


if __name__ == "__main__":
    main()
