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
import pathlib
import re
import sys
import traceback
from collections import Counter, defaultdict
from statistics import median
from typing import Any, Callable, Iterable, NamedTuple, NoReturn

from python_modules import missing

try:
    missing("numpy")
    import numpy as np
except ImportError:
    sys.stderr.write("iso: error: sweep: Python has no NumPy (it merges and compares results); "
                     "install it: python3 -m pip install numpy\n")
    sys.exit(2)

Record = dict[str, Any]
Check = Callable[[Any], "str | None"]

SUCCESS, BITS_DIFFER, BAD_INPUT, FAILURE, SLOWER, NOTHING_COMPARED = 0, 1, 2, 4, 5, 6
# iso::files::sweep_format: files of different formats are not merged.
RESULTS_FORMAT = 2
REPORT_FORMAT = 1
# A thread that waited longer for a core, as a share of the time, makes the point disturbed.
MAX_WAITED = 0.02
# With fewer processes or nodes there is no telling which is the slow one.
MIN_COMPARED = 4
# A slowdown of the median by less is not worth a search for its cause.
MIN_SLOWDOWN = 0.01
# The exponent of the two largest sizes may exceed the expected one by this. It is lower wherever
# calls do not fill the machine.
MAX_EXCESS_EXPONENT = 0.15
BOOTSTRAP_DRAWS = 2000
# The medians of so many processes say enough: their rounds and samples are not drawn anew.
MANY_PROCESSES = 8


class Refused(Exception):
    """The input is not what it should be; the text is a sentence for the user."""


class OtherFormat(Refused):
    """A file is of another version of the format: it is not damaged, but ends the merge."""


def shown(name: str) -> str:
    """Without its middle where it is long: the end of a path says more."""
    return name if len(name) <= 200 else f"{name[:97]}...{name[-100:]}"


def refuse(name: str, sentence: str) -> NoReturn:
    raise Refused(f"'{shown(name)}': {sentence}")


# Reading and checking. A check returns what it complains of, as the end of a sentence.


def of_kind(kind: type, wanted: str) -> Check:
    return lambda value: None if isinstance(value, kind) else f"is not {wanted}"


def number(low: float, high: float, kind: Any = (int, float), wanted: str = "a number") -> Check:
    def check(value: Any) -> str | None:
        if isinstance(value, bool) or not isinstance(value, kind):
            return f"is not {wanted}"
        in_range = low <= value <= high
        return None if in_range else f"is {value!r}; expected: from {low:g} to {high:g}"
    return check


def whole(low: float, high: float) -> Check:
    return number(low, high, int, "a whole number")


def numbers(check: Check, kind: type = list) -> Check:
    """Checks every number of a list that is not empty, or of an object."""
    def check_all(values: Any) -> str | None:
        if not isinstance(values, kind) or values == []:
            return "is not an object" if kind is dict else "is not a list with a number"
        every = values.values() if isinstance(values, dict) else values
        return next(filter(None, map(check, every)), None)
    return check_all


TEXT, LIST = of_kind(str, "text"), of_kind(list, "a list")
# A value outside these ranges is damage: no machine counts, moves or computes more in a call.
SECONDS = number(1e-15, 1e15)
WORK = number(0, 1e30)
THREADS = whole(1, 1e6)
ROUND = whole(0, 1e6)
KEY = {"operation": TEXT, "precision": TEXT, "size": whole(1, 1e15), "backend": TEXT,
       "threads": THREADS, "groups_per_launch": whole(0, 1e15)}
FIELDS: dict[str, dict[str, Check]] = {
    "sweep": {"isocenter": TEXT, "revision": TEXT, "sweep": TEXT, "date": TEXT, "host": TEXT,
              "compiler": TEXT, "ranks": whole(1, 1 << 24), "rank": whole(0, 1 << 24),
              "threads": THREADS, "node": TEXT, "device": TEXT, "points": whole(0, 1e9),
              "rounds": whole(1, 1e6), "exponents": numbers(number(0, 100), dict)},
    # A rate of 0 is one that the backend does not have.
    "ceilings": {"backend": TEXT, "threads": THREADS, "round": ROUND, "processor": TEXT,
                 "rates": numbers(WORK, dict)},
    "point": KEY | {"round": ROUND, "seconds": numbers(SECONDS), "calls": whole(1, 1e15),
                    "bytes": WORK, "cache_bytes": WORK, "flops": WORK, "bound": TEXT,
                    "min_seconds": number(0, 1e15), "waited": number(0, 1e6), "hash": TEXT,
                    "error": lambda value: None if value is None else WORK(value)},
    "gap": KEY | {"reason": TEXT},
}
NO_RECORD = "is not a record of a sweep"
NO_REPORT = "is not a report of iso sweep --merge"


def check_fields(record: object, fields: dict[str, Check], name: str, refusal: str) -> None:
    """Refuses a record that lacks one of the fields or has one that its check complains of."""
    if not isinstance(record, dict):
        refuse(name, f"{refusal} (it is not an object); name another file")
    for key, check in fields.items():
        complaint = check(record[key]) if key in record else "is missing"
        if complaint:
            refuse(name, f"{refusal} (field /{key} {complaint}); name another file")


def unique_fields(pairs: list[tuple[str, Any]]) -> Record:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field stands there twice")
    return fields


def parse(data: bytes, name: str) -> Any:
    """Returns the value of a JSON text and refuses what is none."""
    zero = data.find(b"\0")
    if zero >= 0:
        refuse(name, f"is not JSON (byte {zero} is zero); fetch or write it again")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=unique_fields)
    except (ValueError, RecursionError) as failure:
        refuse(name, f"is not JSON ({failure}); fetch or write it again")


def read_bytes(path: str) -> bytes:
    try:
        return pathlib.Path(path).read_bytes()
    except OSError as failure:
        raise Refused(f"'{shown(str(path))}' cannot be opened ({failure.strerror}); name another "
                      "file") from None


class Results(NamedTuple):
    """Holds the lines of one process' file, by their kinds."""
    file: str
    header: Record
    ceilings: list[Record]
    points: list[Record]
    gaps: list[Record]
    cut_short: bool  # The last line has no end, as a killed process leaves it, and is left out.


def read_results(path: str) -> Results:
    *lines, rest = read_bytes(path).split(b"\n")
    if not lines:
        refuse(path, "holds no whole line (a sweep's results are expected); name another file")
    found: dict[str, list[Record]] = {kind: [] for kind in FIELDS}
    for line_number, line in enumerate(lines, 1):
        name = f"{path} line {line_number}"
        record = parse(line, name)
        check_fields(record, {"record": TEXT}, name, NO_RECORD)
        kind = record["record"]
        if kind not in FIELDS:
            refuse(name, f"field /record is '{kind}' (expected: {', '.join(FIELDS)}); name another "
                         "file")
        if (kind == "sweep") != (line_number == 1):
            refuse(name, "begins a second sweep (a file holds one); write each to a file of its own"
                   if kind == "sweep" else "is not the beginning of a sweep's results (its field "
                   "/record is not 'sweep'); name another file")
        if kind == "sweep" and record.get("format") != RESULTS_FORMAT:
            raise OtherFormat(f"'{name}': is of format {record.get('format')} (this program reads "
                              f"format {RESULTS_FORMAT}); use the program that wrote it, or "
                              "measure again")
        if "least_seconds" in record:  # as it was called
            record.setdefault("min_seconds", record.pop("least_seconds"))
        check_fields(record, FIELDS[kind], name, NO_RECORD)
        found[kind].append(record)
        header = found["sweep"][0]
        limits = {"rank": whole(0, header["ranks"] - 1), "round": whole(0, header["rounds"] - 1)}
        check_fields(record, {key: limits[key] for key in limits if key in record}, name, NO_RECORD)
    return Results(path, header, found["ceilings"], found["point"], found["gap"], rest != b"")


# Merging.


def key_of(record: Record) -> tuple:
    return tuple(record[name] for name in KEY)


def rounded(x: float) -> float:
    """Rounds to four digits, which is more than times repeat to."""
    return float(f"{x:.4g}")


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


def slow_limit(values: list[float], noise: float = 0) -> float:
    """Returns a limit that lies three times the spread above the median.

    Slow values lie above the median. Where they are more than a quarter they stretch the
    interquartile range, but never what lies below the median.
    """
    lower, middle, upper = quartiles(values)
    spread = min(upper - lower, 2 * (middle - lower))
    return middle + max(3 * max(spread, noise), MIN_SLOWDOWN * middle)


def slow_among(slowdowns: dict[str, list[float]]) -> list[Record]:
    """Finds the processes or nodes that are slower than most, over all points."""
    medians = {name: median(values) for name, values in sorted(slowdowns.items())}
    if len(medians) < MIN_COMPARED:
        return []
    limit = slow_limit(list(medians.values()))
    return [{"name": name, "slowdown": rounded(slowdown), "limit": rounded(limit)}
            for name, slowdown in medians.items() if slowdown > limit]


def find_slow(points: list[Record], ranks: list[Record]) -> tuple[Record, list[str]]:
    nodes = {one["rank"]: one["node"] for one in ranks}
    of_ranks, of_nodes, slow_points = defaultdict(list), defaultdict(list), []
    for point in points:
        times = {one["rank"]: one["median_seconds"] for one in point["ranks"]}
        if len(times) < MIN_COMPARED:
            continue
        middle = point["median_seconds"]
        limit = slow_limit(list(times.values()),
                           median(one["interquartile_seconds"] for one in point["ranks"]))
        for rank, seconds in times.items():
            of_ranks[f"rank {rank} on {nodes[rank]}"].append(seconds / middle)
            of_nodes[nodes[rank]].append(seconds / middle)
            if seconds > limit:
                slow_points.append({**{name: point[name] for name in KEY}, "rank": rank,
                                    "node": nodes[rank], "seconds": seconds,
                                    "median_seconds": middle, "limit_seconds": limit})
    notes = []
    if not of_nodes:
        notes.append(f"no point was measured by {MIN_COMPARED} processes on one kind of processor: "
                     "slow ones cannot be told")
    elif 1 < len(of_nodes) < MIN_COMPARED:
        notes.append(f"{len(of_nodes)} nodes are too few to compare ({MIN_COMPARED} are wanted): a "
                     "slow one cannot be told")
    return {"slow_ranks": slow_among(of_ranks), "slow_nodes": slow_among(of_nodes),
            "slow_points": slow_points}, notes


def fit_growth(points: list[Record], exponents: dict[str, float]) -> tuple[list[Record], list[str]]:
    """Fits log time over log size by a line, through the fastest calls: disturbances slow them."""
    series, growth, notes, two_sizes = defaultdict(list), [], [], set()
    names = [name for name in KEY if name != "size"]
    for point in points:
        if not point["disturbed"]:
            series[tuple(point[name] for name in names), point["processor"]].append(point)
    for (key, processor), of_sizes in sorted(series.items()):
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


# Comparison with an earlier report.

Shares = list[list[list[float]]]  # Of each process, of each undisturbed round, of each sample.


def quiet_shares(point: Record) -> Shares:
    return [one["shares"] for one in point["ranks"] if one["shares"]]


def read_report(path: str) -> Record:
    data = read_bytes(path)
    try:
        report = parse(data, path)
    except Refused:  # Results are a document a line, a report is one.
        refuse(path, f"{NO_REPORT} (it is not JSON as a whole); name another file")
    check_fields(report, {"record": TEXT}, path, NO_REPORT)
    if report["record"] != "report":
        refuse(path, f"{NO_REPORT} (its field /record is not 'report'); name another file")
    if report.get("format") != REPORT_FORMAT:
        refuse(path, f"is of format {report.get('format')} (this program reads format "
                     f"{REPORT_FORMAT}); merge its files anew")
    return report


def read_earlier(path: str) -> dict[tuple, dict[str, Shares]]:
    """Reads the shares of each point and processor."""
    report = read_report(path)
    check_fields(report, {"points": LIST}, path, NO_REPORT)
    points: dict[tuple, dict[str, Shares]] = defaultdict(dict)
    for point in report["points"]:
        check_fields(point, KEY | {"processor": TEXT, "ranks": LIST}, path, NO_REPORT)
        if not point["ranks"]:
            refuse(path, f"{NO_REPORT} (it has a point without ranks); name another file")
        for one in point["ranks"]:
            check_fields(one, {"shares": LIST}, path, NO_REPORT)
            for samples in one["shares"]:
                check_fields({"shares": samples}, {"shares": numbers(SECONDS)}, path, NO_REPORT)
        points[key_of(point)][point["processor"]] = quiet_shares(point)
    return points


def process_medians(ranks: Shares) -> list[float]:
    return [median(share for samples in rounds for share in samples) for rounds in ranks]


def drawn_shares(ranks: Shares, random: np.random.Generator) -> np.ndarray:
    """Draws with repetition, as often as BOOTSTRAP_DRAWS says, and takes the share of each draw.

    Processes are drawn and, of a few, their rounds and the samples of these: samples of one round
    are alike in what changes slowly, such as a clock.
    """
    draws, count = BOOTSTRAP_DRAWS, len(ranks)
    if count >= MANY_PROCESSES:
        return np.median(random.choice(process_medians(ranks), (draws, count)), axis=1)
    # Shorter lists are filled up with numbers that are never drawn.
    rounds = max(len(one) for one in ranks)
    samples = max(len(one) for of_rank in ranks for one in of_rank)
    table = np.full((count, rounds, samples), np.nan)
    lengths = np.ones((count, rounds), dtype=int)
    for i, of_rank in enumerate(ranks):
        for j, one in enumerate(of_rank):
            table[i, j, :len(one)] = one
            lengths[i, j] = len(one)
    number_of_rounds = np.array([len(one) for one in ranks])
    rank = random.integers(count, size=(draws, count, 1, 1))
    round_ = random.integers(number_of_rounds[rank], size=(draws, count, rounds, 1))
    sample = random.integers(lengths[rank, round_], size=(draws, count, rounds, samples))
    drawn = table[rank, round_, sample]
    beyond = (np.arange(samples) >= lengths[rank, round_]) | (
        np.arange(rounds)[:, None] >= number_of_rounds[rank])
    drawn[beyond] = np.nan
    return np.median(np.nanmedian(drawn.reshape(draws, count, -1), axis=2), axis=1)


def change_of(point: Record, before: Shares, now: Shares) -> Record:
    """Divides the share now by that before; the 95 % interval comes from a fixed seed."""
    random = np.random.default_rng(1)
    then = drawn_shares(before, random)
    low, high = np.quantile(drawn_shares(now, random) / then, (0.025, 0.975))
    share_before, share_now = median(process_medians(before)), median(process_medians(now))
    return {**{name: point[name] for name in KEY}, "processor": point["processor"],
            "share_before": rounded(share_before), "share_now": rounded(share_now),
            "ratio": rounded(share_now / share_before), "interval": [rounded(low), rounded(high)]}


def compare(report: Record, earlier: str, tolerance: float) -> Record:
    """Adds regressions and improvements: changes whose whole interval lies beyond."""
    before = read_earlier(earlier)
    found, changes, other_processors = 0, [], set()
    for point in report["points"]:
        processors = before.get(key_of(point), {})
        processor = point["processor"]
        if processor not in processors and len(processors) == 1:
            processor = next(iter(processors))
            other_processors.add(processor)
        if processor not in processors or point["share_of_ceiling"] <= 0:
            continue
        found += 1
        then, now = processors[processor], quiet_shares(point)
        if then and now:
            changes.append(change_of(point, then, now))
    if found == 0:
        refuse(earlier, "has no point of this sweep (there is nothing to compare); name a report "
                        "of the same sweep file")
    notes = [f"shares are compared with those of another processor, {other}"
             for other in sorted(other_processors)]
    here = len(report["points"])
    if found < max(here, len(before)):
        notes.append(f"{found} points are in both reports ({here} here, {len(before)} in "
                     f"'{earlier}'): only those are compared")
    if len(changes) < found:
        notes.append("points that were disturbed in one of the reports are not compared: "
                     f"{found - len(changes)}")
    return {**report, "tolerance": tolerance, "compared_points": len(changes),
            "regressions": [c for c in changes if c["interval"][1] < 1 - tolerance],
            "improvements": [c for c in changes if c["interval"][0] > 1 + tolerance],
            "notes": report["notes"] + notes}


# The report as text.


def configuration(point: Record) -> str:
    groups = point["groups_per_launch"]
    launches = f" in launches of {groups}" if groups > 0 else ""
    return f"{point['backend']} x{point['threads']}{launches}"


def name_of(point: Record) -> str:
    return f"{point['operation']} {point['size']} {point['precision']} {configuration(point)}"


def count_of(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def ranges(pairs: list[list[int]], limit: int = 5) -> str:
    named = ", ".join(f"{first} to {last}" if last > first else str(first)
                      for first, last in pairs[:limit])
    others = sum(last - first + 1 for first, last in pairs[limit:])
    return f"{named} and {others} more" if others else named


def heading(report: Record, limit: int = 5) -> str:
    hosts = report["hosts"]
    others = f" and {len(hosts) - limit} more" if len(hosts) > limit else ""
    return (f"measured {report['date']} on {', '.join(hosts[:limit])}{others}, compiled by "
            f"{'; '.join(report['compilers'])}")


def rank_lines(report: Record) -> Iterable[str]:
    for one in report["ranks"]:
        rank, node = one["rank"], one["node"]
        if one["measured"] < one["planned"] or one["cut_short"]:
            end = ", its last line is cut short" if one["cut_short"] else ""
            yield (f"incomplete: rank {rank} on {node} has {one['measured']} of {one['planned']} "
                   f"measurements{end}")
        if one["disturbed"]:
            yield (f"disturbed: rank {rank} on {node}: other processes took its cores during "
                   f"{one['disturbed']} of {one['measured']} measurements")
        yield from (f"left out by rank {rank}: {gap['reason']}" for gap in one["gaps"])
    missing = report["missing_ranks"]
    if missing:
        alone = len(missing) == 1 and missing[0][0] == missing[0][1]
        yield f"missing: {'rank' if alone else 'ranks'} {ranges(missing)}"
    yield from (f"unusable: {one['reason']}" for one in report["unusable"])


def slow_lines(report: Record, limit: int = 3) -> Iterable[str]:
    for kind, slow in (("slow node", report["slow_nodes"]), ("slow", report["slow_ranks"])):
        for one in slow:
            yield (f"{kind}: {one['name']} takes {one['slowdown']:.2f} times as long as the median "
                   f"(limit {one['limit']:.2f})")
    of_ranks = defaultdict(list)
    for point in report["slow_points"]:
        of_ranks[point["rank"]].append(point)
    for rank, points in sorted(of_ranks.items()):
        points.sort(key=lambda point: -point["seconds"] / point["median_seconds"])
        worst = ", ".join(f"{name_of(point)} ({1e3 * point['seconds']:.4g} ms, median "
                          f"{1e3 * point['median_seconds']:.4g} ms)" for point in points[:limit])
        count = f"{len(points)}, the worst: " if len(points) > limit else ""
        yield (f"slow {'point' if len(points) == 1 else 'points'}: rank {rank} on "
               f"{points[0]['node']}, {count}{worst}")


def verdict_lines(report: Record) -> Iterable[str]:
    """Puts the report into sentences, the verdict on regressions and bits last."""
    yield from rank_lines(report)
    yield from slow_lines(report)
    for kind in ("regression", "improvement"):
        for change in report.get(kind + "s", []):
            low, high = change["interval"]
            yield (f"{kind}: {name_of(change)}: {change['share_now']:.3g} of the ceiling, was "
                   f"{change['share_before']:.3g}: ratio {change['ratio']:.3f}, 95 % interval "
                   f"{low:.3f} to {high:.3f}")
    yield from (f"note: {note}" for note in report["notes"])
    for one in report["differences"]:
        yield f"{one['operation']} {one['size']} {one['precision']}: results differ"
        yield from (f"  {value}  {'; '.join(where)}" for value, where in one["results"].items())
    if "compared_points" in report:
        yield (f"regressions beyond {100 * report['tolerance']:g} %: {len(report['regressions'])} "
               f"of {count_of(report['compared_points'], 'compared point')}")
    yield {None: "bits: no operation ran twice; nothing to compare",
           True: "bits: agree on every rank, backend, thread count and launch shape",
           False: "bits: DIFFER"}[report["bits_agree"]]


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
    """Puts a file in place as a whole, or leaves what was there; a device is written to."""
    target = pathlib.Path(path).resolve()
    is_file = target.is_file() or not target.exists()
    temporary = target.with_name(f".{target.name}.{os.getpid()}") if is_file else target
    try:
        temporary.write_bytes(content)
        if is_file:
            temporary.replace(target)
    except OSError as failure:
        if is_file:
            temporary.unlink(missing_ok=True)
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
