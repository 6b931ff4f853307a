#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Says how the speed of one job grows with the number of processes that share it.

`iso sweep --scaling` runs this program with its own options:

    sweep_scaling.py one.json two.json four.json --output scaling.json

Each file is what `iso project`, `back-project` or `reconstruct` wrote by --json, alone or under
mpirun, best with --repeats. docs/sweep.md explains the table. The exit code is 0, or 1 where
results of one job differ in their bits, 2 where the input is bad.
"""
from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from statistics import median
from typing import Any

from harness import put
from sweep_records import Record, Refused, refuse

SUCCESS, BITS_DIFFER, BAD_INPUT = 0, 1, 2
# What one table is of: files that differ in it are of jobs that have nothing to do with each other.
JOB = ("operation", "method", "precision", "backend", "projector", "iterations", "window")
NUMBERS = ("voxels", "views")
# Shares of a process count as alike up to this ratio: sizes are whole numbers of voxels a side.
MAX_UNEQUAL = 1.5


def read_run(name: str) -> Record:
    """Reads one document of a job, and returns what the table needs of it."""
    try:
        with open(name, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as failure:
        refuse(name, f"cannot be read ({failure.strerror}); name a file that iso wrote by --json")
    except ValueError:
        refuse(name, "is no JSON; name a file that iso wrote by --json")
    if not isinstance(document, dict):
        refuse(name, "is no JSON object; name a file that iso wrote by --json")
    for field in ("operation", "hash", "time_ms", *NUMBERS):
        if field not in document:
            refuse(name, f"has no {field} (it is of another command, or of another version); name "
                         "what iso project, back-project or reconstruct wrote by --json")
    runs = document.get("repeats")
    seconds = (median(run["seconds"] for run in runs) if runs else document["time_ms"] / 1e3)
    if not seconds > 0:
        refuse(name, f"took {seconds} s (a time above 0 is needed); run it with --repeats")
    ranks = document.get("ranks", 1)
    return {"file": name, "job": tuple(str(document.get(field, "")) for field in JOB),
            "ranks": ranks, "idle": document.get("idle_ranks", 0), "seconds": seconds,
            "runs": len(runs) if runs else 0, "work": document["voxels"] * document["views"],
            "hash": document["hash"], "of": [document[field] for field in NUMBERS],
            "carried_by": document.get("carried_by", "")}


def efficiency(run: Record, base: Record) -> float:
    """The work of a process and second, over that of the base."""
    return ((run["work"] / (run["ranks"] * run["seconds"]))
            / (base["work"] / (base["ranks"] * base["seconds"])))


def row(run: Record, base: Record) -> Record:
    return {"file": run["file"], "ranks": run["ranks"], "voxels": run["of"][0],
            "views": run["of"][1], "seconds": run["seconds"], "runs": run["runs"],
            "faster": base["seconds"] / run["seconds"], "efficiency": efficiency(run, base)}


def tables_of(runs: list[Record]) -> list[Record]:
    """Returns the tables of strong and weak scaling, of each job that has several rows of one."""
    jobs: dict[Any, list[Record]] = defaultdict(list)
    for run in runs:
        jobs[run["job"]].append(run)
    tables = []
    for job, of_job in jobs.items():
        of_job.sort(key=lambda run: (run["ranks"], run["work"], run["file"]))
        sizes: dict[Any, list[Record]] = defaultdict(list)
        for run in of_job:
            sizes[tuple(run["of"])].append(run)
        for same in sizes.values():
            if len({run["ranks"] for run in same}) > 1:
                tables.append({"scaling": "strong", "job": job,
                               "same_bits": len({run["hash"] for run in same}) == 1,
                               "rows": [row(run, same[0]) for run in same]})
        # From the fewest processes on, each number's job whose share of a process is nearest.
        base = of_job[0]
        share = base["work"] / base["ranks"]
        grown = [min((run for run in of_job if run["ranks"] == ranks),
                     key=lambda run: abs(run["work"] / run["ranks"] / share - 1))
                 for ranks in sorted({run["ranks"] for run in of_job})]
        grown = [run for run in grown
                 if 1 / MAX_UNEQUAL <= run["work"] / run["ranks"] / share <= MAX_UNEQUAL]
        if len(grown) > 1 and len({run["work"] for run in grown}) > 1:
            tables.append({"scaling": "weak", "job": job, "same_bits": True,
                           "rows": [row(run, base) for run in grown]})
    return tables


def text_of(table: Record) -> list[str]:
    name = " ".join(word for word in table["job"] if word)
    lines = [f"{table['scaling']} scaling of {name}:",
             "  processes        voxels   views    seconds   faster  efficiency"]
    lines += [f"  {r['ranks']:9} {r['voxels']:13} {r['views']:7} {r['seconds']:10.4g} "
              f"{r['faster']:8.3g} {r['efficiency']:11.3f}" for r in table["rows"]]
    if not table["same_bits"]:
        lines.append("  results differ in their bits")
    return lines


def run(options: argparse.Namespace) -> int:
    tables = tables_of([read_run(name) for name in options.files])
    if not tables:
        raise Refused("no two files are of one job with different numbers of processes "
                      "(a table compares them); run the same command alone and under "
                      "mpirun, each with its own --json")
    for table in tables:
        print("\n".join(text_of(table)))
    if options.output:
        text = json.dumps({"format": 1, "tables": tables}, indent=2) + "\n"
        put(options.output, text.encode("utf-8"))
    return SUCCESS if all(table["same_bits"] for table in tables) else BITS_DIFFER


def self_test() -> int:
    """Tables of runs whose times are known."""
    def one(ranks: int, voxels: int, seconds: float, result: str = "same") -> Record:
        return {"file": "", "job": ("reconstruct", "fdk"), "ranks": ranks, "seconds": seconds,
                "runs": 3, "work": voxels * 10, "hash": result, "of": [voxels, 10]}
    strong, weak = tables_of([one(4, 800, 1.0), one(1, 800, 3.2), one(1, 100, 0.4),
                              one(8, 800, 0.5)])
    assert [strong["scaling"], weak["scaling"]] == ["strong", "weak"], (strong, weak)
    assert [r["ranks"] for r in strong["rows"]] == [1, 4, 8], strong
    assert [round(r["efficiency"], 9) for r in strong["rows"]] == [1, 0.8, 0.8], strong
    assert [(r["ranks"], r["voxels"]) for r in weak["rows"]] == [(1, 100), (8, 800)], weak
    assert round(weak["rows"][1]["efficiency"], 9) == 0.8, weak
    assert strong["same_bits"]
    assert not tables_of([one(1, 8, 1.0), one(2, 8, 1.0, "other")])[0]["same_bits"]
    assert tables_of([one(1, 8, 1.0), one(1, 9, 1.0)]) == []
    return SUCCESS


def main(arguments: list[str]) -> int:
    if arguments == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("files", nargs="+", help="documents of one job's runs")
    parser.add_argument("--output", help="the tables, JSON")
    try:
        return run(parser.parse_args(arguments))
    except Refused as failure:
        sys.stderr.write(f"iso: error: sweep: {failure}\n")
        return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
