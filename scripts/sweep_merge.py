#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Merges the results of a sweep's processes into one report, and compares it with an earlier one.

`iso sweep --merge` runs this program with its own options:

    sweep_merge.py results.rank*.jsonl --output report.json --against earlier.json

docs/sweep.md explains the report. The exit code is 0, or 1 where bits differ, 2 where the input is
bad, 4 where anything else failed, 5 where a share of the ceiling fell, and 6 where no point was
left to compare. The program needs NumPy.
"""
from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import sys
import traceback
from collections import Counter, defaultdict
from statistics import median
from typing import Iterable

from harness import put
from python_modules import missing
from sweep_records import (
    KEY, REPORT_FORMAT, OtherFormat, Record, Refused, Results, key_of, read_results, refuse,
    rounded)
from sweep_text import configuration, count_of, heading, verdict_lines

try:
    missing("numpy")
    import numpy as np
    from sweep_compare import compare
except ImportError:
    sys.stderr.write("iso: error: sweep: Python has no NumPy (it merges and compares results); "
                     "install it: python3 -m pip install numpy\n")
    sys.exit(2)

SUCCESS, BITS_DIFFER, BAD_INPUT, FAILURE, SLOWER, NOTHING_COMPARED = 0, 1, 2, 4, 5, 6
# A thread that waited longer for a core, as a share of the time, makes the point disturbed.
MAX_WAITED = 0.02
# With fewer processes or nodes most of them may be slow: the fastest process is the measure then.
MIN_COMPARED = 4
# Two processors of one kind may differ by this without a fault.
MIN_SLOWDOWN_OF_FEW = 0.05
# A slowdown of the median by less is not worth a search for its cause.
MIN_SLOWDOWN = 0.01
# The exponent of the two largest sizes may exceed the expected one by this. It is lower wherever
# calls do not fill the machine.
MAX_EXCESS_EXPONENT = 0.15


def quartiles(values: list[float]) -> tuple[float, float, float]:
    lower, middle, upper = np.quantile(values, (0.25, 0.5, 0.75))
    return float(lower), float(middle), float(upper)


def is_disturbed(point: Record) -> bool:
    return point["waited"] > MAX_WAITED


def shares_of(point: Record) -> list[float]:
    """Returns the share of the ceiling, as it was in that round, for each sample."""
    return [point["min_seconds"] / seconds for seconds in point["seconds"]]


def calls_of(rounds: Iterable[Record]) -> list[float]:
    return [seconds for point in rounds for seconds in point["seconds"]]


def check_alike(results: list[Results]) -> None:
    """Refuses files that do not belong to one sweep, and two of one rank."""
    first = results[0]
    files: dict[int, str] = {}
    for one in results:
        for what, name in (("version", "isocenter"), ("revision", "revision"), ("sweep", "sweep"),
                           ("number of ranks", "ranks"), ("number of rounds", "rounds")):
            if one.header[name] != first.header[name]:
                refuse(one.file, f"is of {what} {one.header[name]}, '{first.file}' of {what} "
                                 f"{first.header[name]} (one report is of one); merge them apart")
        rank = one.header["rank"]
        if rank in files:
            refuse(one.file, f"is of rank {rank}, as '{files[rank]}' (each rank counts once); name "
                             "one of them, or give each process its --rank")
        files[rank] = one.file


def merge_rank(results: Results) -> Record:
    """Says what one process measured; a gap that was measured later is none."""
    header = results.header
    measured = {key_of(point) for point in results.points}
    counts = Counter((key_of(point), point["round"]) for point in results.points)
    for (key, number_of_round), times in counts.items():
        if times > 1:
            refuse(results.file, f"has {' '.join(map(str, key))} {times} times in round "
                                 f"{number_of_round} (a round measures each once); measure again")
    gaps = {key_of(gap): gap["reason"] for gap in reversed(results.gaps)}
    return {"rank": header["rank"], "node": header["node"], "device": header["device"],
            "file": results.file, "planned": header["points"] * header["rounds"],
            "measured": len(results.points), "disturbed": sum(map(is_disturbed, results.points)),
            "cut_short": results.cut_short,
            "gaps": [dict(zip(KEY, key), reason=gaps[key])
                     for key in dict.fromkeys(map(key_of, results.gaps)) if key not in measured]}


def find_missing(present: Iterable[int], ranks: int) -> list[list[int]]:
    """Returns the ranges of ranks that have no file, both ends included."""
    missing, following = [], 0
    for rank in [*present, ranks]:
        if rank > following:
            missing.append([following, rank - 1])
        following = rank + 1
    return missing


def note_shared_devices(ranks: list[Record]) -> list[str]:
    users = defaultdict(list)
    for one in ranks:
        if one["device"]:
            users[one["node"], one["device"]].append(str(one["rank"]))
    return [f"ranks {', '.join(names)} of node {node} computed on one GPU ({device}): their times "
            "are not those of a GPU each"
            for (node, device), names in sorted(users.items()) if len(names) > 1]


def merge_ceilings(results: list[Results]) -> list[Record]:
    """Takes the median of each rate over the processes with one processor."""
    rates: dict[tuple, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in results:
        for ceilings in one.ceilings:
            where = (ceilings["processor"], ceilings["backend"], ceilings["threads"])
            for name, rate in ceilings["rates"].items():
                rates[where][name].append(rate)
    return [{"processor": processor, "backend": backend, "threads": threads,
             "rates": {name: median(values) for name, values in sorted(of_place.items())}}
            for (processor, backend, threads), of_place in sorted(rates.items())]


def merge_rounds(rank: int, rounds: list[Record]) -> Record:
    """Summarises the rounds of one process at one point."""
    lower, middle, upper = quartiles(calls_of(rounds))
    return {"rank": rank, "median_seconds": middle, "interquartile_seconds": upper - lower,
            "hashes": list(dict.fromkeys(point["hash"] for point in rounds)),
            "disturbed_rounds": sum(map(is_disturbed, rounds)),
            "shares": [[rounded(share) for share in shares_of(point)]
                       for point in rounds
                       if point["min_seconds"] > 0 and not is_disturbed(point)]}


def merge_point(key: tuple, processor: str, measured: dict[int, list[Record]]) -> Record:
    """Summarises one point on all processes with one processor.

    The share and the fastest call are those of undisturbed rounds, or of all where every round was
    disturbed.
    """
    quiet = {rank: [point for point in rounds if not is_disturbed(point)]
             for rank, rounds in measured.items()}
    quiet = {rank: rounds for rank, rounds in quiet.items() if rounds}
    counted = (quiet or measured).values()
    ranks = [merge_rounds(rank, rounds) for rank, rounds in measured.items()]
    lower, _, upper = quartiles([s for rounds in measured.values() for s in calls_of(rounds)])
    share = median(median([share for point in rounds for share in shares_of(point)])
                   for rounds in counted)
    first = next(iter(measured.values()))[0]
    return {**dict(zip(KEY, key)), "processor": processor,
            "median_seconds": median(r["median_seconds"] for r in ranks),
            "lower_quartile": lower, "upper_quartile": upper,
            "fastest_seconds": min(min(calls_of(rounds)) for rounds in counted),
            "disturbed": not quiet, "share_of_ceiling": rounded(share),
            **{name: first[name] for name in ("bound", "bytes", "cache_bytes", "flops", "error")},
            "ranks": ranks}


def merge_points(results: list[Results]) -> list[Record]:
    measured: dict[tuple, dict[int, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for one in results:
        processors = {(c["backend"], c["threads"]): c["processor"] for c in reversed(one.ceilings)}
        for point in one.points:
            processor = processors.get((point["backend"], point["threads"]), "unknown")
            measured[key_of(point), processor][one.header["rank"]].append(point)
    return [merge_point(key, processor, of_ranks)
            for (key, processor), of_ranks in sorted(measured.items())]


def compare_bits(points: list[Record]) -> tuple[bool | None, list[Record]]:
    """Says whether all hashes agree (None: no operation ran twice), and which differ."""
    owners: dict[tuple, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for point in points:
        hashes = owners[point["operation"], point["precision"], point["size"]]
        for one in point["ranks"]:
            for value in one["hashes"]:
                hashes[value].append(f"rank {one['rank']} {configuration(point)}")
    repeated = any(sum(map(len, hashes.values())) > 1 for hashes in owners.values())
    differences = [{"operation": operation, "precision": precision, "size": size,
                    "results": dict(sorted(hashes.items()))}
                   for (operation, precision, size), hashes in sorted(owners.items())
                   if len(hashes) > 1]
    return not differences if repeated else None, differences


def usual(values: list[float]) -> float:
    """Returns what values are held against: their median, of few the least."""
    return min(values) if len(values) < MIN_COMPARED else median(values)


def slow_limit(values: list[float], noise: float = 0) -> float:
    """Returns a limit that lies three times the spread above the usual value.

    Slow values lie above the median. Where they are more than a quarter they stretch the
    interquartile range, but never what lies below the median. Few values have no spread to go by.
    """
    middle = usual(values)
    if len(values) < MIN_COMPARED:
        return middle + max(3 * noise, MIN_SLOWDOWN_OF_FEW * middle)
    lower, _, upper = quartiles(values)
    spread = min(upper - lower, 2 * (middle - lower))
    return middle + max(3 * max(spread, noise), MIN_SLOWDOWN * middle)


def slow_among(slowdowns: dict[str, list[float]], least: int) -> list[Record]:
    """Finds the processes or nodes that are slower than others, over all points.

    Args:
        least: how many there must be to compare them
    """
    medians = {name: median(values) for name, values in sorted(slowdowns.items())}
    if len(medians) < least:
        return []
    limit = slow_limit(list(medians.values()))
    measure = "fastest" if len(medians) < MIN_COMPARED else "median"
    return [{"name": name, "slowdown": rounded(slowdown), "limit": rounded(limit),
             "measure": measure}
            for name, slowdown in medians.items() if slowdown > limit]


def find_slow(points: list[Record], ranks: list[Record]) -> tuple[Record, list[str]]:
    nodes = {one["rank"]: one["node"] for one in ranks}
    most = max((len(point["ranks"]) for point in points), default=0)
    least = 2 if most < MIN_COMPARED else MIN_COMPARED
    of_ranks, of_nodes, slow_points = defaultdict(list), defaultdict(list), []
    for point in points:
        times = {one["rank"]: one["median_seconds"] for one in point["ranks"]}
        if len(times) < least:
            continue
        middle = usual(list(times.values()))
        limit = slow_limit(list(times.values()),
                           median(one["interquartile_seconds"] for one in point["ranks"]))
        for rank, seconds in times.items():
            of_ranks[f"rank {rank} on {nodes[rank]}"].append(seconds / middle)
            of_nodes[nodes[rank]].append(seconds / middle)
            if seconds > limit:
                slow_points.append({**{name: point[name] for name in KEY}, "rank": rank,
                                    "node": nodes[rank], "seconds": seconds,
                                    "median_seconds": middle, "limit_seconds": limit,
                                    "measure": "fastest" if least == 2 else "median"})
    notes = []
    if not of_nodes:
        notes.append("no point was measured by 2 processes on one kind of processor: slow ones "
                     "cannot be told")
    elif least < MIN_COMPARED:
        notes.append(f"{most} processes are held against the fastest of them (of {MIN_COMPARED} "
                     "and more the median is the measure)")
    elif 1 < len(of_nodes) < MIN_COMPARED:
        notes.append(f"{len(of_nodes)} nodes are too few to compare ({MIN_COMPARED} are wanted): a "
                     "slow one cannot be told")
    return {"slow_ranks": slow_among(of_ranks, least),
            "slow_nodes": slow_among(of_nodes, MIN_COMPARED), "slow_points": slow_points}, notes


def fit_growth(points: list[Record], exponents: dict[str, float]) -> tuple[list[Record], list[str]]:
    """Fits log time over log size by a line, through the fastest calls: disturbances slow them."""
    series, growth, notes, two_sizes = defaultdict(list), [], [], set()
    names = [name for name in KEY if name != "size"]
    for point in points:
        if not point["disturbed"]:
            series[tuple(point[name] for name in names), point["processor"]].append(point)

    # A tilted scan beside its upright one.
    def place(item):
        (operation, *rest), processor = item[0]
        return operation.removesuffix("_tilted"), rest, processor, operation

    for (key, processor), of_sizes in sorted(series.items(), key=place):
        if len(of_sizes) == 2:
            two_sizes.add(of_sizes[0]["operation"])
        if len(of_sizes) < 3:
            continue
        sizes = [point["size"] for point in of_sizes]
        x, y = np.log(sizes), np.log([point["fastest_seconds"] for point in of_sizes])
        last = float((y[-1] - y[-2]) / (x[-1] - x[-2]))
        smaller, larger = of_sizes[-2:]
        expected = exponents.get(larger["operation"], 0)
        growth.append({**dict(zip(names, key)), "processor": processor, "sizes": sizes,
                       "exponent": rounded(np.polyfit(x, y, 1)[0]), "last_exponent": rounded(last),
                       "expected": expected})
        # Past the end of a cache the larger one may cost more: another ceiling binds it, or the
        # smaller one exceeds the ceiling.
        alike = larger["bound"] == smaller["bound"] and smaller["share_of_ceiling"] <= 1
        if alike and 0 < expected < last - MAX_EXCESS_EXPONENT:
            notes.append(f"{larger['operation']} {larger['precision']} {larger['backend']} "
                         f"x{larger['threads']} grows too fast: with the power {last:.2f} of its "
                         f"size from {sizes[-2]} to {sizes[-1]} (expected: {expected:g})")
    if two_sizes:
        notes.append(f"growth needs three sizes; measured at two: {', '.join(sorted(two_sizes))}")
    return growth, notes


def merge(results: list[Results], unusable: Iterable[Record] = ()) -> Record:
    """Makes the report of one file or more, in whatever order they are."""
    results = sorted(results, key=lambda one: (one.header["rank"], one.file))
    check_alike(results)
    header = results[0].header
    ranks = [merge_rank(one) for one in results]
    points = merge_points(results)
    bits_agree, differences = compare_bits(points)
    slow, slow_notes = find_slow(points, ranks)
    exponents = {name: x for one in results for name, x in one.header["exponents"].items()}
    growth, growth_notes = fit_growth(points, exponents)
    return {"record": "report", "format": REPORT_FORMAT, "isocenter": header["isocenter"],
            "revision": header["revision"], "sweep": header["sweep"],
            "date": min(one.header["date"] for one in results),
            "hosts": sorted({one.header["host"] for one in results}),
            "compilers": sorted({one.header["compiler"] for one in results}),
            "ranks": ranks,
            "missing_ranks": find_missing((one["rank"] for one in ranks), header["ranks"]),
            "unusable": list(unusable), "bits_agree": bits_agree, "differences": differences,
            **slow, "growth": growth, "ceilings": merge_ceilings(results), "points": points,
            "notes": note_shared_devices(ranks) + slow_notes + growth_notes}


def merge_files(files: list[str]) -> Record:
    """Merges what can be read. Damaged files are left out and named in the report."""
    results, unusable = [], []
    for file in files:
        try:
            results.append(read_results(file))
        except OtherFormat:
            raise
        except Refused as failure:
            unusable.append({"file": file, "reason": str(failure)})
    unusable.sort(key=lambda one: one["file"])
    if not results:
        none = f"none of the {len(files)} files is usable: " if len(files) > 1 else ""
        raise Refused(none + unusable[0]["reason"])
    return merge(results, unusable)


def exit_code(report: Record) -> int:
    if report["bits_agree"] is False:
        return BITS_DIFFER
    if report.get("regressions"):
        return SLOWER
    return NOTHING_COMPARED if report.get("compared_points") == 0 else SUCCESS


def encoded(content: str) -> bytes:
    """Encodes as UTF-8; a byte of a file's name that is no character becomes U+FFFD."""
    return re.sub("[\ud800-\udfff]", "\ufffd", content).encode("utf-8")


def write(path: str, content: bytes) -> None:
    try:
        put(path, content)
    except OSError as failure:
        raise Refused(f"'{path}' cannot be written ({failure.strerror}); name another file by "
                      "--output") from None


def say(descriptor: int, content: str) -> None:
    """Writes without Python's buffer, which would be written again at the end where that failed."""
    left = encoded(content + "\n")
    while left:
        left = left[os.write(descriptor, left):]


def complain(failure: object) -> None:
    with contextlib.suppress(OSError):  # The exit code tells, too.
        say(2, f"iso: error: {failure}")


def run(given: argparse.Namespace) -> int:
    report = merge_files(given.files)
    if given.against is not None:
        report = compare(report, given.against, given.tolerance)
    lines = [f"{count_of(len(report['ranks']), 'rank')}, {count_of(len(report['points']), 'point')}"
             f", version {report['isocenter']} revision {report['revision']}", heading(report),
             *verdict_lines(report)]
    try:
        say(1, "\n".join(lines))
    except OSError as failure:
        complain(f"standard output cannot be written ({failure.strerror}); check where it leads")
        return FAILURE
    if given.output is not None:
        write(given.output, encoded(json.dumps(report, indent=1, ensure_ascii=False) + "\n"))
    return exit_code(report)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("files", nargs="+", help="results of one sweep's processes")
    parser.add_argument("--output", help="the report, JSON")
    parser.add_argument("--against", help="an earlier report, to compare the shares with")
    parser.add_argument("--tolerance", type=float, default=0.05,
                        help="how far a share may fall (default: 0.05)")
    try:
        return run(parser.parse_args(arguments))
    except Refused as failure:
        complain(failure)
        return BAD_INPUT
    except KeyboardInterrupt:
        return 130
    except Exception:  # The exit code of an uncaught exception, 1, says that bits differ.
        complain(traceback.format_exc())
        return FAILURE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
