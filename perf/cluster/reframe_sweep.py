# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame test of a machine: `iso sweep`, its bits, and its shares of the measured ceilings.

    pip install reframe-hpc
    reframe -c perf/cluster/reframe_sweep.py -r --performance-report \\
        -S sweep_of_isocenter.iso=$PWD/build/openmp/apps/iso/iso

References are shares of the machine's own ceilings (shares.json), not times: one file serves every
machine, and a clock that was lowered for all kernels alike does not fail the test, while a kernel
that lost against its ceiling does. A share may fall by `allowed`; higher ones always pass.

Variables, set with -S: `iso`, the program; `sweep`, what to measure; `shares`, the references;
`allowed`; `num_tasks`, processes: more than one through the launcher of the partition.
"""
import json
import pathlib
import sys

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import run_before, sanity_function, variable

HERE = pathlib.Path(__file__).resolve().parent
SWEEPS = HERE.parent.parent / "examples" / "sweeps"
sys.path.insert(0, str(HERE))
from shares_of import largest_points  # noqa: E402


@rfm.simple_test
class sweep_of_isocenter(rfm.RunOnlyRegressionTest):
    descr = "Kernels of Isocenter against the machine's own ceilings"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    iso = variable(str, value="iso")
    sweep = variable(str, value=str(SWEEPS / "quick.json"))
    shares = variable(str, value=str(HERE / "shares.json"))
    allowed = variable(float, value=0.3)
    sourcesdir = None
    num_tasks = 1
    time_limit = "30m"

    @run_before("run")
    def command(self):
        self.executable = self.iso
        self.executable_opts = ["sweep", "--file", self.sweep, "--output", "results.jsonl"]
        results = "results.jsonl" if self.num_tasks == 1 else "results.rank*.jsonl"
        self.postrun_cmds = [f"{self.iso} sweep --merge {results} --output report.json"]
        self.keep_files = [results, "report.json"]

    def report(self):
        path = pathlib.Path(self.stagedir) / "report.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    @sanity_function
    def bits_agree_and_all_is_there(self):
        report = self.report()
        if report is None:
            return sn.assert_true(False, msg="no report was written (see the standard error)")
        incomplete = [r["rank"] for r in report["ranks"]
                      if r["measured"] < r["planned"]]
        return sn.all([
            sn.assert_ne(report["bits_agree"], False, msg="bits differ: see report.json"),
            sn.assert_eq(report["missing_ranks"], [], msg="ranks are missing: {0}"),
            sn.assert_eq(report["unusable"], [], msg="files are unusable: {0}"),
            sn.assert_eq(incomplete, [], msg="ranks are incomplete: {0}"),
            sn.assert_eq([s["name"] for s in report["slow_nodes"]], [], msg="slow nodes: {0}"),
        ])

    @run_before("performance")
    def take_shares(self):
        known = json.loads(pathlib.Path(self.shares).read_text(encoding="utf-8"))["shares"]
        self.perf_variables = {}
        references = {}
        for (backend, what, threads), point in largest_points(self.report()).items():
            name = f"{what.replace(' ', '_')}_{backend}_x{threads}"
            self.perf_variables[name] = sn.make_performance_function(
                sn.defer(point["share_of_ceiling"]), "share")
            if what in known.get(backend, {}):
                references[name] = (known[backend][what], -self.allowed, None, "share")
        self.reference = {"*": references}
