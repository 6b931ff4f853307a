# SPDX-License-Identifier: BSD-3-Clause
"""Compares the report of a sweep with an earlier one: shares of the ceiling, with intervals."""
from __future__ import annotations

from collections import defaultdict
from statistics import median

from python_modules import np
from sweep_records import (
    KEY, NO_REPORT, RANK_OF_POINT, REPORT, REPORT_ROWS, SECONDS, Record, check_fields, key_of,
    numbers, read_report, refuse, rounded)

BOOTSTRAP_DRAWS = 2000
# The medians of so many processes say enough: their rounds and samples are not drawn anew.
MANY_PROCESSES = 8

Shares = list[list[list[float]]]  # Of each process, of each undisturbed round, of each sample.


def quiet_shares(point: Record) -> Shares:
    return [one["shares"] for one in point["ranks"] if one["shares"]]


def read_earlier(path: str) -> dict[tuple, dict[str, Shares]]:
    """Reads the shares of each point and processor."""
    report = read_report(path)
    check_fields(report, {"points": REPORT["points"]}, path, NO_REPORT)
    points: dict[tuple, dict[str, Shares]] = defaultdict(dict)
    for point in report["points"]:
        check_fields(point, {name: REPORT_ROWS["points"][name]
                             for name in (*KEY, "processor", "ranks")}, path, NO_REPORT)
        if not point["ranks"]:
            refuse(path, f"{NO_REPORT} (it has a point without ranks); name another file")
        for one in point["ranks"]:
            check_fields(one, {"shares": RANK_OF_POINT["shares"]}, path, NO_REPORT)
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
