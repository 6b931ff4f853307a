# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame test of jobs that several processes share: the bits of one process, and the efficiency.

    pip install reframe-hpc
    reframe -C SITE.py -c perf/cluster/reframe_ranks.py -r --performance-report \\
        -S ranks_of_isocenter.iso=$PWD/build/cuda/apps/iso/iso -S ranks_of_isocenter.num_tasks=4

One process runs first, without the launcher, then all through it. The test fails where the hashes
differ, or where the efficiency, the time of one process over that of all and over their number, is
below `least` - `allowed`.

Variables, set with -S: `iso`, the program, built with MPI; `num_tasks`, processes, one a GPU;
`size`, voxels and pixels along a side; `views`; `repeats` of each, whose median counts; `least`;
`allowed`.
"""
import json
import pathlib
import shlex
import sys

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import (parameter, performance_function, run_before, sanity_function,
                                   variable)

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import ranks_checks  # noqa: E402


@rfm.simple_test
class ranks_of_isocenter(rfm.RunOnlyRegressionTest):
    descr = "One job of Isocenter by several processes beside one"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    job_of_ranks = parameter(list(ranks_checks.JOBS))
    iso = variable(str, value="iso")
    size = variable(int, value=512)
    views = variable(int, value=360)
    repeats = variable(int, value=3)
    least = variable(float, value=0.9)
    allowed = variable(float, value=0.1)
    sourcesdir = None
    num_tasks = 2
    time_limit = "30m"

    @run_before("run")
    def command(self):
        scan = json.dumps(ranks_checks.geometry(self.size, self.views))
        alone = ranks_checks.options_of(self.job_of_ranks, self.size, self.repeats,
                                        ranks_checks.ALONE)
        self.prerun_cmds = [f"printf '%s' {shlex.quote(scan)} >scan.json",
                            shlex.join([self.iso, *alone])]
        self.executable = self.iso
        self.executable_opts = ranks_checks.options_of(self.job_of_ranks, self.size, self.repeats,
                                                       ranks_checks.SHARED)
        self.postrun_cmds = [shlex.join([self.iso, *ranks_checks.table_options()])]
        self.keep_files = [ranks_checks.ALONE, ranks_checks.SHARED, ranks_checks.TABLE]
        self.reference = {"*": {"efficiency": (self.least, -self.allowed / self.least, None, "1")}}

    def scaling(self):
        path = pathlib.Path(self.stagedir) / ranks_checks.TABLE
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    @sanity_function
    def bits_are_those_of_one_process(self):
        problems = ranks_checks.problems_of(self.scaling(), self.num_tasks)
        return sn.assert_eq(problems, [], msg="{0}")

    @performance_function("1")
    def efficiency(self):
        return ranks_checks.efficiency_of(self.scaling())
