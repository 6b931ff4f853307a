#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the report of a sweep: a roofline of every device, ranks x kernels, growth with size.

    iso sweep --file examples/sweeps/quick.json --output results.jsonl
    iso sweep --merge results.jsonl --output report.json
    sweep_report.py report.json --output sweep        # sweep.html, sweep.png, sweep.json

sweep.html is one page without links to anything: the verdict, the pictures, a table of all points.
sweep.png holds the pictures alone, sweep.json the numbers that they show. A roofline has the
measured ceilings as lines and every operation as a point: operations a byte of memory, operations
a second. Operations that compute nothing are in the table alone. In the
heat map a cell is a process' time over the median of all processes, the median of a kernel's sizes:
1 is as fast as most. One process has none. Needs matplotlib (scripts/setup.sh makes .deps/venv).

Usage: sweep_report.py REPORT.json --output NAME
       sweep_report.py --self-test
"""
import argparse
import base64
import html
import io
import json
import pathlib
import statistics
import sys
import tempfile

MOST_KERNELS = 60
MOST_RANKS = 200


def name_of(point, size=True):
    parts = [point["operation"]]
    if size:
        parts.append(str(point["size"]))
    parts += [point["precision"], point["backend"]]
    if point["threads"] > 1:
        parts.append(f"x{point['threads']}")
    if point["groups_per_launch"]:
        parts.append(f"/{point['groups_per_launch']}")
    return " ".join(parts)


def device_of(row):
    return (row["processor"], row["backend"], row["threads"])


def rooflines(report):
    """One a device: its ceilings, and its points that compute anything."""
    lines = []
    for ceilings in report["ceilings"]:
        points = [{"name": name_of(p), "operation": p["operation"], "precision": p["precision"],
                   "size": p["size"], "operations_per_byte": p["flops"] / p["bytes"],
                   "operations_per_second": p["flops"] / p["median_seconds"],
                   "share_of_ceiling": p["share_of_ceiling"], "bound": p["bound"]}
                  for p in report["points"]
                  if device_of(p) == device_of(ceilings) and p["flops"] > 0 and p["bytes"] > 0]
        lines.append({"processor": ceilings["processor"], "backend": ceilings["backend"],
                      "threads": ceilings["threads"], "rates": ceilings["rates"],
                      "points": points})
    return lines


def heat_map(report):
    """Times of ranks (rows) over the median of all, a kernel (columns) the median of its sizes.

    None where a rank has not measured a kernel."""
    ratios = {}  # of kernel, rank: one a size
    for p in report["points"]:
        for r in p["ranks"]:
            of_kernel = ratios.setdefault((p["processor"], name_of(p, size=False)), {})
            of_kernel.setdefault(r["rank"], []).append(r["median_seconds"] / p["median_seconds"])
    medians = {kernel: {rank: statistics.median(all_) for rank, all_ in ranks.items()}
               for kernel, ranks in ratios.items()}
    worst = {}
    for ranks in medians.values():
        for rank, slow in ranks.items():
            worst[rank] = max(worst.get(rank, 0), slow)
    # Where there is no room for all: those that stand out most.
    shown = sorted(sorted(report["ranks"], key=lambda r: -worst.get(r["rank"], 0))[:MOST_RANKS],
                   key=lambda r: r["rank"])
    kernels = sorted(sorted(medians, key=lambda k: -max(medians[k].values()))[:MOST_KERNELS])
    several = len({name for _, name in kernels}) < len(kernels)
    return {"ranks": [f"{r['rank']} {r['node']}" for r in shown],
            "kernels": [f"{name}, {processor}" if several else name
                        for processor, name in kernels],
            "slowdown": [[medians[kernel].get(rank["rank"]) for kernel in kernels]
                         for rank in shown]}


def growth(report):
    series = []
    for fit in report["growth"]:
        points = sorted((p["size"], p["fastest_seconds"]) for p in report["points"]
                        if name_of(p, size=False) == name_of(fit, size=False)
                        and p["processor"] == fit["processor"])
        series.append({"name": name_of(fit, size=False), "processor": fit["processor"],
                       "operation": fit["operation"], "exponent": fit["exponent"],
                       "last_exponent": fit["last_exponent"], "expected": fit["expected"],
                       "sizes": [s for s, _ in points], "seconds": [t for _, t in points]})
    return series


def draw_roofline(axis, line):
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


def draw_heat_map(axis, heat):
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


def draw_growth(figure, processor, operations):
    """One panel an operation; a grey line has the expected slope."""
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


def draw(parts):
    """All pictures, PNG."""
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


def join_pictures(pictures):
    """One below the other."""
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


def count_of(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def ranges(pairs, most=5):
    text = ", ".join(f"{a} to {b}" if b > a else str(a) for a, b in pairs[:most])
    others = sum(b - a + 1 for a, b in pairs[most:])
    return f"{text} and {others} more" if others else text


def slow_points(report, most=3):
    """A sentence a rank, with its worst points."""
    of_rank = {}
    for s in report["slow_points"]:
        of_rank.setdefault((s["rank"], s["node"]), []).append(s)
    said = []
    for (rank, node), points in sorted(of_rank.items()):
        points.sort(key=lambda s: -s["seconds"] / s["median_seconds"])
        worst = ", ".join(f"{name_of(s)} ({1e3 * s['seconds']:.4g} ms, "
                          f"median {1e3 * s['median_seconds']:.4g} ms)" for s in points[:most])
        count = f"{len(points)}, the worst: " if len(points) > most else ""
        said.append(f"slow {'point' if len(points) == 1 else 'points'}: rank {rank} on {node}, "
                    f"{count}{worst}")
    return said


def verdict(report):
    """Sentences, the worst first."""
    said = []
    for d in report["differences"]:
        said.append(f"{d['operation']} {d['size']} {d['precision']}: bits differ: " + "; ".join(
            f"{h}: {', '.join(where)}" for h, where in d["results"].items()))
    for c in report.get("regressions", []):
        said.append(f"regression: {name_of(c)}: {c['share_now']:.3g} of the ceiling, was "
                    f"{c['share_before']:.3g}; ratio {c['ratio']:.3f}, 95 % interval "
                    f"{c['interval'][0]:.3f} to {c['interval'][1]:.3f}")
    for s in report["slow_nodes"]:
        said.append(f"slow node: {s['name']}, {s['slowdown']:.2f} times the median")
    for s in report["slow_ranks"]:
        said.append(f"slow: {s['name']}, {s['slowdown']:.2f} times the median")
    said += slow_points(report)
    for r in report["ranks"]:
        if r["measured"] < r["planned"]:
            said.append(f"incomplete: rank {r['rank']} on {r['node']} has "
                        f"{r['measured']} of {r['planned']} measurements")
        if r["disturbed"]:
            said.append(f"disturbed: rank {r['rank']} on {r['node']}: other processes took its "
                        f"cores during {r['disturbed']} of {r['measured']} measurements")
        said += [f"left out by rank {r['rank']}: {g['reason']}" for g in r["gaps"]]
    if report["missing_ranks"]:
        said.append("missing ranks: " + ranges(report["missing_ranks"]))
    said += [f"unusable: {u['reason']}" for u in report["unusable"]]
    if report["bits_agree"]:
        said.append("bits agree on every rank, backend, thread count and launch shape")
    return said + report["notes"]


def table(report):
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
img { max-width: 100%; display: block; margin: 1em 0; }"""


def page(report, pictures):
    sentences = "\n".join(f"<li>{html.escape(s)}</li>" for s in verdict(report))
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
{count_of(len(report["points"]), "point")}.</p>
<ul>
{sentences}
</ul>
{images}
{table(report)}
</body>
</html>
"""


def read(path):
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except OSError as failure:
        raise SystemExit(f"{path}: {failure.strerror}") from None
    except ValueError as failure:
        raise SystemExit(f"{path}: no JSON ({failure})") from None
    if not isinstance(report, dict) or report.get("record") != "report":
        raise SystemExit(f"{path}: no report (iso sweep --merge writes one)")
    if report.get("format") != 1:
        raise SystemExit(f"{path}: a report of format {report.get('format')} (this script reads 1)")
    return report


def write(report, output):
    parts = {"rooflines": rooflines(report), "heat_map": heat_map(report),
             "growth": growth(report), "verdict": verdict(report)}
    pictures = draw(parts)
    name = str(output)
    pathlib.Path(name + ".html").write_text(page(report, pictures), encoding="utf-8")
    if pictures:
        pathlib.Path(name + ".png").write_bytes(join_pictures(pictures))
    pathlib.Path(name + ".json").write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")
    return parts


def draw_file(path, output):
    report = read(path)
    try:
        write(report, output)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError,
            ZeroDivisionError) as failure:
        raise SystemExit(f"{path}: a damaged report ({type(failure).__name__}: {failure}); merge "
                         "its results anew") from None


def made_up(ranks, slow):
    """A report of two operations; rank `slow` takes twice as long."""
    key = {"precision": "float", "backend": "openmp", "threads": 2, "groups_per_launch": 0}
    points = []
    for operation, exponent in (("fdk", 4), ("spmv_csr", 1)):
        for size in (32, 64, 128):
            seconds = 1e-9 * size ** exponent
            points.append({
                "operation": operation, "size": size, **key, "processor": "a <processor>",
                "median_seconds": seconds, "lower_quartile": seconds, "upper_quartile": seconds,
                "fastest_seconds": seconds,
                "disturbed": size == 32, "share_of_ceiling": 0.5, "bound": "fp32",
                "bytes": 1e3 * size, "cache_bytes": 0,
                "flops": 1e4 * size ** exponent, "error": 1e-7,
                "ranks": [{"rank": r, "median_seconds": seconds * (2 if r == slow else 1),
                           "hashes": ["0123"], "shares": [[0.5]]} for r in range(ranks)]})
    return {"record": "report", "format": 1, "isocenter": "0.1.0", "revision": "abc",
            "sweep": "0123",
            "ranks": [{"rank": r, "node": f"n{r // 2}", "device": "", "file": f"r{r}",
                       "planned": 7, "measured": 6, "disturbed": r % 2, "cut_short": False,
                       "gaps": []}
                      for r in range(ranks)],
            "missing_ranks": [[9, 9], [11, 13]], "bits_agree": True, "differences": [],
            "unusable": [{"file": "r10", "reason": "'r10': holds no whole line"}],
            "slow_ranks": [{"name": f"rank {slow}", "slowdown": 2, "limit": 1.1}],
            "slow_nodes": [], "notes": ["a note"],
            "slow_points": [{"operation": "fdk", "size": size, **key, "rank": slow, "node": "n1",
                             "seconds": 1e-3 * size, "median_seconds": 1e-3,
                             "limit_seconds": 2e-3} for size in (32, 64, 128, 256)],
            "growth": [{"operation": o, **key, "processor": "a <processor>",
                        "sizes": [32, 64, 128], "exponent": e, "last_exponent": e, "expected": e}
                       for o, e in (("fdk", 4), ("spmv_csr", 1))],
            "ceilings": [{"processor": "a <processor>", "backend": "openmp", "threads": 2,
                          "rates": {"read": 2e10, "l2": 2e11, "fp32": 1e11, "fp64": 5e10}}],
            "points": points}


def self_test():
    report = made_up(4, 2)
    heat = heat_map(report)
    assert [max(row) for row in heat["slowdown"]] == [1, 1, 2, 1]
    assert len(heat["kernels"]) == 2
    series = growth(report)
    assert [one["exponent"] for one in series] == [4, 1]
    assert series[0]["sizes"] == [32, 64, 128]
    lines = rooflines(report)
    assert len(lines) == 1 and len(lines[0]["points"]) == 6
    assert [p["size"] for p in lines[0]["points"]] == [32, 64, 128] * 2
    said = verdict(report)
    assert any("rank 2" in s for s in said) and "missing ranks: 9, 11 to 13" in said
    assert [s for s in said if s.startswith("slow points")] == [
        "slow points: rank 2 on n1, 4, the worst: fdk 256 float openmp x2 (256 ms, median 1 ms), "
        "fdk 128 float openmp x2 (128 ms, median 1 ms), "
        "fdk 64 float openmp x2 (64 ms, median 1 ms)"]
    assert any("disturbed: rank 3" in s for s in said) and any("r10" in s for s in said)
    assert ranges([[2 * r, 2 * r] for r in range(9)]) == "0, 2, 4, 6, 8 and 4 more"
    assert count_of(1, "rank") == "1 rank" and count_of(2, "rank") == "2 ranks"
    for point in report["points"][:3]:
        point["ranks"].pop()
    assert heat_map(report)["slowdown"][3].count(None) == 1
    with tempfile.TemporaryDirectory() as folder:
        damaged = pathlib.Path(folder) / "damaged.json"
        damaged.write_text('{"record": "report", "format": 1, "points": [{"ranks": 3}]}',
                           encoding="utf-8")
        try:
            draw_file(damaged, "sweep")
            raise AssertionError("a damaged report was drawn")
        except SystemExit as refused:
            assert "damaged" in str(refused), refused
        parts = write(report, pathlib.Path(folder) / "sweep")
        text = (pathlib.Path(folder) / "sweep.html").read_text(encoding="utf-8")
        assert "a &lt;processor&gt;" in text and "<processor>" not in text
        assert "http" not in text.replace("data:image", "")
        assert text.count("data:image/png") == 3
        assert (pathlib.Path(folder) / "sweep.png").read_bytes().startswith(b"\x89PNG")
        stored = json.loads((pathlib.Path(folder) / "sweep.json").read_text(encoding="utf-8"))
        assert stored == json.loads(json.dumps(parts))
    print("sweep_report.py: self-test passed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", nargs="?", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, help="name of the files, without ending")
    parser.add_argument("--self-test", action="store_true")
    given = parser.parse_args()
    if given.self_test:
        return self_test()
    if given.report is None or given.output is None:
        parser.error("a report and --output are expected")
    draw_file(given.report, given.output)
    return None


if __name__ == "__main__":
    sys.exit(main())
