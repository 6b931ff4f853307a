#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Command lines of reframe_ranks.py, and what it reads off the table that they end with.

One job is run by one process and by several: `iso project`, `iso reconstruct --method fdk` and the
like on the phantom, then `iso sweep --scaling` of what they wrote by --json, which compares the
hashes and finds the efficiency.

Usage: ranks_checks.py --run ISO LAUNCHER...   two processes of a small job on this machine;
                                               LAUNCHER is `mpirun -n 2`
       ranks_checks.py --self-test
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import words_of  # noqa: E402

JOBS = {
    "forward": ["project", "--sum", "reproducible"],
    "fdk": ["reconstruct", "--method", "fdk"],
    "sirt": ["reconstruct", "--method", "sirt", "--iterations", "2", "--sum", "reproducible"],
    "cgls": ["reconstruct", "--method", "cgls", "--iterations", "2", "--sum", "reproducible"],
}
ALONE, SHARED, TABLE = "alone.json", "shared.json", "scaling.json"


def geometry(size, views):
    """A cone scan with as many pixels a side as voxels, of a phantom of 256 mm."""
    pitch = 256 * 1.6 / size
    return {"type": "circular_cone",
            "detector": {"pixels": [size, size], "pitch_mm": [pitch, pitch]},
            "source_axis_mm": 1000, "source_detector_mm": 1500,
            "angles_deg": {"range": 360, "count": views}}


def options_of(job, size, repeats, document):
    """The arguments of `iso` for one run of a job."""
    words = JOBS[job]
    shape = (["--size", str(size)] if words[0] == "project"
             else ["--extent", str(size), str(size), str(size)])
    return [*words, "--phantom", "shepp-logan", "--width", "256", *shape,
            "--geometry", "scan.json", "--repeats", str(repeats), "--json", document]


def table_options():
    return ["sweep", "--scaling", ALONE, SHARED, "--output", TABLE]


def problems_of(scaling, ranks):
    """Sentences that say what is wrong with the table of a job by one process and by `ranks`."""
    if scaling is None:
        return ["no table was written (see the standard error)"]
    tables = [table for table in scaling["tables"] if table["scaling"] == "strong"]
    if len(tables) != 1:
        return [f"{len(tables)} tables of strong scaling (one job has one)"]
    found = [row["ranks"] for row in tables[0]["rows"]]
    problems = [] if found == [1, ranks] else [f"processes {found}, not {[1, ranks]}"]
    if not tables[0]["same_bits"]:
        problems.append("the results of one and of several processes differ in their bits")
    return problems


def efficiency_of(scaling):
    """The efficiency of the largest number of processes."""
    return max(scaling["tables"][0]["rows"], key=lambda row: row["ranks"])["efficiency"]


def self_test():
    def table(found, same=True):
        return {"tables": [{"scaling": "strong", "same_bits": same,
                            "rows": [{"ranks": n, "efficiency": 1 / n} for n in found]}]}
    assert problems_of(table([1, 4]), 4) == []
    assert efficiency_of(table([1, 4])) == 0.25
    assert "differ in their bits" in problems_of(table([1, 4], False), 4)[0]
    assert problems_of(table([1, 2]), 4) == ["processes [1, 2], not [1, 4]"]
    assert len(problems_of(table([1, 2], False), 4)) == 2
    assert "no table" in problems_of(None, 4)[0]
    assert "0 tables" in problems_of({"tables": []}, 4)[0]
    assert "--extent" in options_of("fdk", 8, 1, ALONE)
    assert "--size" in options_of("forward", 8, 1, ALONE)


def run(iso, launcher):
    """Runs every job on a small size, as reframe_ranks.py does; fails where one has a problem."""
    for job in JOBS:
        with tempfile.TemporaryDirectory() as folder:
            def call(words, folder=folder):
                subprocess.run(words, cwd=folder, check=True)
            scan = pathlib.Path(folder) / "scan.json"
            scan.write_text(json.dumps(geometry(24, 16)), encoding="utf-8")
            call([iso, *options_of(job, 24, 1, ALONE)])
            call([*launcher, iso, *options_of(job, 24, 1, SHARED)])
            call([iso, *table_options()])
            text = (pathlib.Path(folder) / TABLE).read_text(encoding="utf-8")
            problems = problems_of(json.loads(text), 2)
            assert not problems and efficiency_of(json.loads(text)) > 0, (job, problems)


def main():
    if sys.argv[1:2] == ["--run"]:
        run(sys.argv[2], sys.argv[3:])
        return
    words_of(__doc__, self_test, most=0)


if __name__ == "__main__":
    main()
