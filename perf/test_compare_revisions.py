#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""compare_revisions.py on builds of programs that take the times they are told."""
import contextlib
import io
import pathlib
import re
import sys
import tempfile
import textwrap
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import compare_revisions  # noqa: E402

ALL = compare_revisions.ROWS
SOME = [row for row in ALL if row[1] in ("back_project", "fdk")]
# A benchmark whose rows all take `times[n]` in its n-th run, then the last of them.
BENCHMARK = """\
    #!{python} -IS
    import json, re, sys
    rows, times, slow, views = {rows}, {times}, {slow}, {views}
    options = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
    if "--benchmark_list_tests" in sys.argv:
        print(*(row + "/iterations:3/manual_time" for row in rows), sep="\\n")
        sys.exit()
    with open(sys.argv[0] + ".count", "a+") as count:
        run = count.tell()
        count.write("x")
    found = []
    for row in rows:
        name = row + "/iterations:3/manual_time"
        if re.search(options["--benchmark_filter"], name):
            time = times[min(run, len(times) - 1)] * (2 if row in slow else 1)
            found.append({{"name": name, "real_time": time * views, "ms_per_view": time,
                          "forward_ms_per_view": time / 2, "fdk_ms": time, "error": 1e-7}})
    with open(options["--benchmark_out"], "w") as file:
        json.dump({{"benchmarks": found}}, file)
"""
ONE_TURN = ("--turns", 1, "--max-turns", 1)
PARITY = """\
    #!{python} -IS
    print("dot float 0123456789abcdef")
    print("dot double {hash}")
    {more}
"""


class CompareRevisions(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.top = pathlib.Path(self._folder.name)
        self.rows(SOME)

    def rows(self, rows):
        patch = mock.patch.object(compare_revisions, "ROWS", rows)
        patch.start()
        self.addCleanup(patch.stop)

    def program(self, build, name, text, **values):
        path = self.top / build / "perf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).format(python=sys.executable, **values))
        path.chmod(0o755)

    def build(self, name, times=(10,), slow=(), lacks="nothing", device="host",
              hash_of_double="fedcba9876543210", more="", views=1):
        rows = compare_revisions.rows_of_device(device)
        for program in {row[1] for row in rows}:
            own = sorted({row for _, of, row, _ in rows if of == program and row != lacks})
            self.program(name, f"iso_bench_{program}", BENCHMARK, rows=own, times=times,
                         slow=list(slow), views=views)
        self.program(name, "iso_parity", PARITY, hash=hash_of_double, more=more)
        return self.top / name

    def run_script(self, *arguments):
        out, err, code = io.StringIO(), "", 0
        with contextlib.redirect_stdout(out), mock.patch.object(
                sys, "argv", ["compare_revisions.py", *map(str, arguments)]):
            try:
                compare_revisions.main()
            except SystemExit as end:
                code, err = (end.code, "") if isinstance(end.code, int) else (1, end.code)
        return code, out.getvalue(), err

    def test_equal_builds(self):
        self.rows(ALL)
        for device in ("host", "cuda"):
            with self.subTest(device=device):
                code, out, err = self.run_script(
                    self.build("old" + device, device=device),
                    self.build("new" + device, device=device), "--device", device,
                    *ONE_TURN)
                self.assertEqual(code, 0, err)
                self.assertEqual(out.count("| 1.000 | 1.000 | 1.000 | 1 |"), len(ALL))
                self.assertIn("2 of 2 hashes", out)

    def test_counter_in_place_of_the_time(self):
        out = self.run_script(self.build("old"), self.build("new"), *ONE_TURN)[1]
        self.assertIn("| forward, tilted | 5 | 5 |", out)
        self.assertIn("| adjoint, tilted | 10 | 10 |", out)

    def test_other_numbers_of_views(self):
        code, out, err = self.run_script(self.build("old", views=4), self.build("new", views=16),
                                         *ONE_TURN)
        self.assertEqual(code, 0, err)
        self.assertIn("| adjoint, tilted | 10 | 10 |", out)

    def test_slow_row(self):
        slow = "fdk/ram_lak/float/serial/128"
        code, out, err = self.run_script(self.build("old"), self.build("new", slow=[slow]))
        self.assertEqual(code, 1)
        self.assertIn("| FDK | 10 | 20 | **0.500** | 0.500 | 0.500 | 9 |", out)
        self.assertEqual(out.count("| 1.000 | 1.000 | 1.000 | 3 |"), len(SOME) - 1)
        self.assertIn("1 rows lie below 0.98", err)

    def test_least_time_of_more_turns(self):
        """What the machine did besides, in the first turns, does not count."""
        code, out, err = self.run_script(self.build("old"),
                                         self.build("new", times=(14, 13, 12, 12, 10)))
        self.assertEqual(code, 0, err)
        self.assertIn("| FDK | 10 | 10 | 1.000 | 0.714 | 1.000 | 5 |", out)

    def test_missing_row(self):
        lacks = "fdk/ram_lak/float/serial/128"
        for old, new, place in (("nothing", lacks, "new"), (lacks, "nothing", "old")):
            with self.subTest(place=place):
                code, out, _ = self.run_script(self.build("old", lacks=old),
                                               self.build("new", lacks=new), *ONE_TURN)
                self.assertEqual(code, 1)
                self.assertRegex(out, f"FDK \\| missing in .*{place}: {lacks}")

    def test_missing_program(self):
        old, new = self.build("old"), self.build("new")
        (new / "perf/iso_bench_fdk").unlink()
        code, _, err = self.run_script(old, new)
        self.assertEqual(code, 1)
        self.assertIn("0 programs iso_bench_fdk", err)

    def test_other_hash(self):
        code, out, _ = self.run_script(self.build("old"),
                                       self.build("new", hash_of_double="0" * 16),
                                       *ONE_TURN)
        self.assertEqual(code, 1)
        self.assertIn("1 of 2 hashes", out)
        self.assertIn("dot double: fedcba9876543210 and 0000000000000000", out)

    def test_backends_apart(self):
        more = 'print("DIFFERS: dot float on cuda: value 0: 1 and 2"); raise SystemExit(1)'
        code, out, _ = self.run_script(self.build("old"), self.build("new", more=more),
                                       *ONE_TURN)
        self.assertEqual(code, 1)
        self.assertIn("DIFFERS: dot float on cuda", out)

    def test_rows_by_name(self):
        code, out, err = self.run_script(self.build("old"), self.build("new"), "--rows", "^fdk/",
                                         "--programs", "fdk", "--no-hashes")
        self.assertEqual(code, 0, err)
        self.assertEqual(len(re.findall(r"^\| fdk/", out, re.M)), 1)
        self.assertEqual(len(out.splitlines()), 3)

    def test_list(self):
        code, out, _ = self.run_script("--list")
        self.assertEqual((code, len(out.splitlines())), (0, len(SOME)))
        build = self.build("new", lacks="fdk/ram_lak/float/serial/128")
        code, out, _ = self.run_script("--list", build)
        self.assertEqual(code, 1)
        self.assertIn("fdk/ram_lak/float/serial/128 (missing)", out)


if __name__ == "__main__":
    unittest.main()
