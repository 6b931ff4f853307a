# SPDX-License-Identifier: BSD-3-Clause
"""The rows of a benchmark: of a run, or of the JSON that one has written."""
import json
import os
import pathlib
import subprocess
import tempfile


def document_of(program, pattern=".*"):
    """What a benchmark writes of the rows whose names match, or the whole of a JSON file."""
    program = pathlib.Path(program)
    if program.suffix == ".json":
        return _read(program)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "rows.json"
        # Threads that wait must not count as work.
        environment = {"OMP_WAIT_POLICY": "passive"} | os.environ
        try:
            run = subprocess.run([program.resolve(), f"--benchmark_filter={pattern}",
                                  f"--benchmark_out={out}", "--benchmark_out_format=json"],
                                 check=False, capture_output=True, text=True, env=environment)
        except OSError as failure:
            raise SystemExit(f"{program}: {failure.strerror}") from None
        if run.returncode != 0:
            last = run.stderr.strip().rpartition("\n")[2]
            raise SystemExit(f"{program}: ended with status {run.returncode}: {last}")
        return _read(out)


def _read(path):
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as failure:
        raise SystemExit(f"{path}: {failure.strerror}") from None
    except ValueError as failure:
        raise SystemExit(f"{path}: no JSON ({failure})") from None
    if not isinstance(document, dict) or "benchmarks" not in document:
        raise SystemExit(f"{path}: no rows of a benchmark")
    return document
