# SPDX-License-Identifier: BSD-3-Clause
"""The report of a sweep as sentences."""
from __future__ import annotations

from collections import defaultdict
from typing import Iterable

from sweep_records import Record


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
            yield (f"{kind}: {one['name']} takes {one['slowdown']:.2f} times as long as the "
                   f"{one.get('measure', 'median')} "
                   f"(limit {one['limit']:.2f})")
    of_ranks = defaultdict(list)
    for point in report["slow_points"]:
        of_ranks[point["rank"]].append(point)
    for rank, points in sorted(of_ranks.items()):
        points.sort(key=lambda point: -point["seconds"] / point["median_seconds"])
        worst = ", ".join(f"{name_of(point)} ({1e3 * point['seconds']:.4g} ms, "
                          f"{point.get('measure', 'median')} "
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
