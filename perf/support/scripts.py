# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts of perf/ share beside scripts/harness.py: what programs print, rows of
benchmarks, what is recorded, ends of papers."""
import datetime
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from harness import (  # noqa: E402, F401
    CHEST_CT, TOP, fetched, markdown, need, parser_of, pyplot, read_json, save, skip, status_of,
    words_of, write_json)


def surroundings(environment):
    """Threads that wait do not count as work; that they are not bound is said, so that Kokkos does
    not warn."""
    return {"OMP_WAIT_POLICY": "passive", "OMP_PROC_BIND": "false"} | os.environ | environment


def output_of(command, **environment):
    """What a program prints."""
    environment = surroundings(environment)
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    except OSError as failure:
        raise SystemExit(f"{command[0]}: {failure.strerror}") from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
        raise SystemExit(f"{' '.join(map(str, command))}: ended with status {done.returncode}: "
                         + "\n".join(said))
    return done.stdout


def document_of(program, pattern=".*", launcher=(), **environment):
    """What a benchmark writes of the rows whose names match, or those of a JSON file. Without
    aggregates; a row that is an error ends the script."""
    program = pathlib.Path(program)
    if program.suffix == ".json":
        document = read_json(program)
    else:
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "rows.json"
            output_of([*launcher, program.resolve(), f"--benchmark_filter={pattern}",
                       f"--benchmark_out={out}", "--benchmark_out_format=json"], **environment)
            document = read_json(out)
    if not isinstance(document, dict) or "benchmarks" not in document:
        raise SystemExit(f"{program}: has no rows (Google Benchmark's JSON is expected); name a "
                         "benchmark or its file")
    rows = [row for row in document["benchmarks"]
            if re.search(pattern, row["name"]) and row.get("run_type") != "aggregate"]
    for row in rows:
        if row.get("error_occurred"):
            raise SystemExit(f"{row['name']}: {row['error_message']}")
    return document | {"benchmarks": rows}


def figure(x, digits=3):
    """Three digits, without an exponent above 1e-4."""
    if x is None:
        return "-"
    return f"{x:.0f}" if x >= 10 ** digits else f"{x:.{digits}g}"


def slope_of(sizes, times):
    """Of log time over log size, by least squares."""
    x, y = [[math.log(v) for v in values] for values in (sizes, times)]
    x_mean, y_mean = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y))
    return above / sum((a - x_mean) ** 2 for a in x)


def table_of(rows, digits=3):
    """Of rows that all have the names of the first."""
    return markdown(list(rows[0]), [[figure(v, digits) if isinstance(v, float) else v
                                     for v in row.values()] for row in rows])


def recorded_options(parser):
    """The words of a script whose run may be written as perf/results has them."""
    parser.add_argument("--json")
    parser.add_argument("--machine", help="what it runs on, for the file")
    given = parser.parse_args()
    if given.json and not given.machine:
        parser.error("no --machine (the file of --json says what it ran on); give it")
    return given


def record(given, **what):
    """Writes a run, if --json is given."""
    write_json(given.json, {"date": datetime.date.today().isoformat(), "machine": given.machine}
               | what)


def paper_parser(document, self_test):
    """Of a script that repeats a paper's tables; `document` is the help."""
    parser = parser_of(document, self_test)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--backend", default="serial")
    parser.add_argument("--json", type=pathlib.Path)
    return parser
