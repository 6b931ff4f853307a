#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of scripts/sweep_merge.py and scripts/sweep_report.py on results that are made up."""
import copy
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import sweep_merge  # noqa: E402
import sweep_records  # noqa: E402
import sweep_report  # noqa: E402
from sweep_merge import compare, merge, merge_files  # noqa: E402
from sweep_records import Refused, Results  # noqa: E402
from sweep_text import heading, ranges, verdict_lines  # noqa: E402


def point(rank, size, round_, slowdown):
    """A point whose nine samples vary by half a per cent, differently in each process."""
    typical = slowdown * 1e-9 * size ** 4
    return {"record": "point", "operation": "fdk", "precision": "float", "size": size,
            "backend": "openmp", "threads": 2, "groups_per_launch": 0, "round": round_,
            "seconds": [typical * (1 + 0.005 * math.sin(1 + 2.3 * i + 0.7 * (rank + 10 * round_)))
                        for i in range(9)],
            "calls": 1, "bytes": 1e3 * size, "cache_bytes": 0, "flops": 1e4 * size ** 4,
            "bound": "fp32", "min_seconds": 0.5e-9 * size ** 4, "waited": 0, "error": 1e-7,
            "hash": "00000000deadbeef"}


def process(rank, ranks, slowdown=1.0, **header):
    return Results(
        f"rank{rank}",
        {"record": "sweep", "format": 2, "isocenter": "0.1.0", "revision": "abc", "sweep": "0123",
         "rank": rank, "ranks": ranks, "threads": 2, "node": f"n{rank // 2}", "device": "",
         "points": 3, "rounds": 2, "exponents": {"fdk": 4}, "host": f"h{rank // 2}",
         "compiler": "GNU 12.2.0", "date": f"2026-11-24T12:34:{56 - rank % 50:02}Z", **header},
        [{"record": "ceilings", "backend": "openmp", "threads": 2, "round": round_,
          "processor": "a <processor>", "rates": {"read": 2e10 + 1e8 * rank, "fp32": 1e11}}
         for round_ in range(2)],
        [point(rank, size, round_, slowdown) for round_ in range(2) for size in (32, 64, 128)],
        [], False)


def processes(ranks, slow=(), slowdown=1.0, nodes=0):
    return [process(rank, ranks, slowdown if rank in slow else 1,
                    **({"node": f"n{rank * nodes // ranks}"} if nodes else {}))
            for rank in range(ranks)]


def change(results, *, rank=None, size=None, round_=None, factor=1.0, **fields):
    """Changes the points that are named: their times by a factor, and their fields."""
    for one in results:
        for p in one.points:
            if (rank in (None, one.header["rank"]) and size in (None, p["size"])
                    and round_ in (None, p["round"])):
                p["seconds"] = [factor * s for s in p["seconds"]]
                p.update(fields)
    return results


def fastest(result, size, *rounds):
    return min(s for p in result.points if p["size"] == size and p["round"] in rounds
               for s in p["seconds"])


def text_of(result):
    return "".join(json.dumps(record) + "\n" for record in
                   (result.header, *result.ceilings, *result.points, *result.gaps)).encode()


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def put(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return str(path)

    def assert_refused(self, words, function, *arguments):
        with self.assertRaises(Refused) as caught:
            function(*arguments)
        for word in words:
            self.assertIn(word, str(caught.exception))


class Merging(unittest.TestCase):
    def test_equal_processes(self):
        report = merge(processes(4))
        self.assertEqual([one["rank"] for one in report["ranks"]], [0, 1, 2, 3])
        self.assertIn("2 nodes are too few to compare", report["notes"][0])
        for name in ("missing_ranks", "slow_ranks", "slow_nodes", "slow_points", "differences"):
            self.assertEqual(report[name], [], name)
        self.assertIs(report["bits_agree"], True)
        (growth,) = report["growth"]
        self.assertAlmostEqual(growth["exponent"], 4, delta=4e-3)
        self.assertEqual((growth["expected"], growth["sizes"]), (4, [32, 64, 128]))
        self.assertAlmostEqual(report["points"][0]["share_of_ceiling"], 0.5, delta=5e-3)
        self.assertAlmostEqual(report["ceilings"][0]["rates"]["read"], 2.015e10)
        self.assertEqual(heading(report), "measured 2026-11-24T12:34:53Z on h0, h1, "
                                          "compiled by GNU 12.2.0")

    def test_order_of_files_changes_nothing(self):
        results = processes(5, slow=(2,), slowdown=2)
        self.assertEqual(json.dumps(merge(results)), json.dumps(merge(results[::-1])))

    def test_quartiles_are_those_of_the_calls(self):
        results = processes(1)
        seconds = sorted(s for p in results[0].points if p["size"] == 32 for s in p["seconds"])
        merged = merge(results)["points"][0]
        for name, place in (("lower_quartile", 4.25), ("upper_quartile", 12.75)):
            below, part = int(place), place % 1
            self.assertAlmostEqual(merged[name],
                                   (1 - part) * seconds[below] + part * seconds[below + 1], 15)
        self.assertLess(merged["lower_quartile"], merged["upper_quartile"])

    def test_growth(self):
        # Small calls that take as long as an empty launch leave the last exponent as it is.
        results = change(processes(1), size=32, factor=16)
        (growth,) = merge(results)["growth"]
        self.assertLess(growth["exponent"], 3)
        self.assertAlmostEqual(growth["last_exponent"], 4, delta=0.08)
        steep = change(processes(1), size=128, factor=1.2)  # the power of 4.26
        cases = ((steep, True), (change(copy.deepcopy(steep), size=128, bound="read"), False),
                 (change(copy.deepcopy(steep), size=64, min_seconds=1.5e-9 * 64 ** 4), False))
        for results, noted in cases:
            notes = " ".join(merge(results)["notes"])
            self.assertEqual("grows too fast: with the power 4.26" in notes, noted, notes)
        # A tilted scan stands beside its upright one, whatever names lie between.
        names = ["fdk", "fdk_tilted", "fdk_reproducible"]
        (one,) = processes(1)
        points = [{**p, "operation": name} for name in names for p in one.points]
        exponents = dict.fromkeys(names, 4)
        several = merge([one._replace(points=points, header={**one.header,
                                                             "exponents": exponents})])
        self.assertEqual([fit["operation"] for fit in several["growth"]], names)
        two_sizes = [one._replace(points=[p for p in one.points if p["size"] > 32])
                     for one in processes(1)]
        report = merge(two_sizes)
        self.assertEqual(report["growth"], [])
        self.assertIn("growth needs three sizes; measured at two: fdk", report["notes"])

    def test_slow_ranks(self):
        for slow in range(4):
            for slowdown in (1.05, 1.3, 10):
                report = merge(processes(4, (slow,), slowdown))
                (found,) = report["slow_ranks"]
                self.assertEqual(found["name"], f"rank {slow} on n{slow // 2}")
                self.assertAlmostEqual(found["slowdown"] / slowdown, 1, delta=0.02)
                self.assertEqual([p["rank"] for p in report["slow_points"]], [slow] * 3)
        # Slow ones do not hide each other while they are fewer than half.
        for ranks, count, nodes in ((6, 2, 3), (8, 3, 2), (24, 8, 3)):
            for slowdown in (1.1, 2):
                slow = range(ranks - count, ranks)
                report = merge(processes(ranks, slow, slowdown, nodes))
                self.assertEqual(len(report["slow_ranks"]), count)
                self.assertEqual(sorted(p["rank"] for p in report["slow_points"]),
                                 sorted(3 * list(slow)))
                self.assertEqual(report["slow_nodes"], [])
                self.assertEqual(len(report["notes"]), 1)
                self.assertIn(f"{nodes} nodes are too few to compare", report["notes"][0])
        report = merge(processes(16, (6, 7), 1.2))
        self.assertEqual([node["name"] for node in report["slow_nodes"]], ["n3"])
        self.assertEqual(len(report["slow_ranks"]), 2)

    def test_slow_one_of_few(self):
        for ranks in (2, 3):
            for slow in range(ranks):
                for slowdown in (1.1, 1.3, 10):
                    results = [process(rank, ranks, slowdown if rank == slow else 1, node="n0",
                                       device=f"0:{rank}:0") for rank in range(ranks)]
                    report = merge(results)
                    (found,) = report["slow_ranks"]
                    self.assertEqual(found["name"], f"rank {slow} on n0")
                    self.assertAlmostEqual(found["slowdown"] / slowdown, 1, delta=0.02)
                    self.assertEqual([p["rank"] for p in report["slow_points"]], [slow] * 3)
                    self.assertEqual(report["slow_nodes"], [])
                    self.assertIn(f"{ranks} processes are held against the fastest",
                                  *report["notes"])
                    lines = "\n".join(verdict_lines(report))
                    self.assertIn(f"slow: rank {slow} on n0 takes {found['slowdown']:.2f} times as "
                                  "long as the fastest", lines)
                    self.assertIn(" ms, fastest ", lines)
            report = merge(processes(ranks, (1,), 1.02))
            self.assertEqual(report["slow_ranks"] + report["slow_points"], [])
        # The fastest of two is not slow where the other is of another kind.
        results = processes(2, (1,), 10)
        for ceilings in results[1].ceilings:
            ceilings["processor"] = "another"
        report = merge(results)
        self.assertEqual(report["slow_ranks"] + report["slow_points"], [])
        self.assertIn("by 2 processes on one kind", *report["notes"])

    def test_fastest_call_is_of_an_undisturbed_round(self):
        results = change(processes(4), rank=0, size=32, round_=0, factor=0.1, waited=0.3)
        others = [fastest(one, 32, 0, 1) for one in results[1:]]
        merged = merge(results)["points"][0]
        self.assertEqual(merged["ranks"][0]["disturbed_rounds"], 1)
        self.assertEqual(merged["fastest_seconds"], min(others + [fastest(results[0], 32, 1)]))
        merged = merge(change(results, rank=0, size=32, round_=1, waited=0.3))["points"][0]
        self.assertFalse(merged["disturbed"])
        self.assertEqual(merged["fastest_seconds"], min(others))
        merged = merge(change(results, size=32, waited=0.3))["points"][0]
        self.assertTrue(merged["disturbed"])
        self.assertEqual(merged["fastest_seconds"], fastest(results[0], 32, 0))

    def test_bits(self):
        cases = ((4, 2, None, {"rank 2 openmp x2"}, 3), (1, 0, 0, {"rank 0 openmp x2"}, 1))
        for ranks, rank, round_, having, others in cases:
            results = change(processes(ranks), rank=rank, size=64, round_=round_, hash="beee")
            report = merge(results)
            self.assertIs(report["bits_agree"], False)
            (difference,) = report["differences"]
            self.assertEqual(difference["size"], 64)
            self.assertEqual(set(difference["results"]["beee"]), having)
            self.assertEqual(len(difference["results"]["00000000deadbeef"]), others)
        self.assertIsNone(merge(processes(1))["bits_agree"])

    def test_what_is_missing(self):
        results = processes(4)
        large = results[1].points[2]
        results[1].gaps.extend(2 * [{**large, "reason": "too large"}])
        results[1] = results[1]._replace(points=[p for p in results[1].points if p["size"] < 128])
        results[0].gaps.append({**large, "reason": "measured later"})
        results[3] = results[3]._replace(cut_short=True)
        report = merge(results[:2] + results[3:])
        self.assertEqual(report["missing_ranks"], [[2, 2]])
        ranks = report["ranks"]
        self.assertEqual((ranks[1]["planned"], ranks[1]["measured"]), (6, 4))
        self.assertEqual([len(one["gaps"]) for one in ranks], [0, 1, 0])
        self.assertTrue(ranks[2]["cut_short"])
        lines = list(verdict_lines(report))
        cut = "incomplete: rank 3 on n1 has 6 of 6 measurements, its last line is cut short"
        for line in (cut, "incomplete: rank 1 on n0 has 4 of 6 measurements",
                     "left out by rank 1: too large", "missing: rank 2"):
            self.assertIn(line, lines)
        for ranks, present, text in ((1 << 24, [12], "0 to 11, 13 to 16777215"),
                                     (20, range(0, 20, 2), "1, 3, 5, 7, 9 and 5 more")):
            report = merge([process(rank, ranks) for rank in present])
            self.assertEqual(ranges(report["missing_ranks"]), text)

    def test_shared_devices(self):
        report = merge([process(rank, 4, node="n0", device="0:27:0" if rank else "0:155:0")
                        for rank in range(4)])
        self.assertIn("ranks 1, 2, 3 of node n0 computed on one GPU (0:27:0)", *report["notes"])

    def test_text_of_slow_points(self):
        report = merge(processes(4, (2,), 2))
        report["slow_points"].append({**report["slow_points"][0], "seconds": 1, "size": 256,
                                      "median_seconds": 1e-3, "groups_per_launch": 9})
        (line,) = (line for line in verdict_lines(report) if line.startswith("slow point"))
        self.assertTrue(line.startswith("slow points: rank 2 on n1, 4, the worst: fdk 256 float "
                                        "openmp x2 in launches of 9 (1000 ms, median 1 ms), fdk"))


class Fields(unittest.TestCase):
    def test_fields_are_those_that_the_tool_writes(self):
        files = TOP / "apps/iso"
        source = (files / "src/files/sweep_records.cpp").read_text(encoding="utf-8")
        parts = re.split(r"^(?:json to_json|void sweep_writer::add)\((sweep_\w+) const&", source,
                         flags=re.M)
        written = {}
        for of, rest in zip(parts[1::2], parts[2::2]):
            body = rest.split("\n}\n")[0]
            names = re.findall(r'\{"(\w+)",|line\["(\w+)"\]', body)
            written.setdefault(of, set()).update(filter(None, (a or b for a, b in names)))
        key = written.pop("sweep_key")
        self.assertEqual(key, {"record", *sweep_records.KEY})
        for kind, of, more in (("sweep", "sweep_header", {"record", "format"}),
                               ("ceilings", "sweep_ceilings", {"record"}),
                               ("point", "sweep_point", sweep_records.FOR_READERS),
                               ("gap", "sweep_gap", set())):
            names = written.pop(of) | (key - {"record"} if kind in ("point", "gap") else set())
            self.assertEqual(names, {*sweep_records.FIELDS[kind], *more}, kind)
        self.assertEqual(written, {})
        header = (files / "include/iso/files/sweep_records.hpp").read_text(encoding="utf-8")
        self.assertIn(f"sweep_format = {sweep_records.RESULTS_FORMAT};", header)

    def test_fields_are_those_that_merging_writes(self):
        report = merge(processes(4))
        self.assertEqual(set(report), {"record", "format", *sweep_records.REPORT})
        for name, fields in sweep_records.REPORT_ROWS.items():
            self.assertEqual(set(report[name][0]), set(fields), name)
        self.assertEqual(set(report["points"][0]["ranks"][0]), set(sweep_records.RANK_OF_POINT))
        sweep_records.check_report(report, "r")


class Files(InFolder):
    def test_damaged_files_are_named(self):
        whole = text_of(process(2, 3))
        files = [self.put(str(rank), text_of(process(rank, 3))) for rank in range(3)]
        second = whole.split(b"\n")[1]

        def with_field(name, value):
            records = [json.loads(line) for line in whole.splitlines()]
            record = next(r for r in records if name in r)
            record[name] = value
            return "".join(json.dumps(r) + "\n" for r in records).encode()

        cases = [
            (b"", ["2'", "no whole line"]), (whole[:20], ["no whole line"]),
            (whole[:900] + bytes(20) + whole[920:], ["line", "zero"]),
            (whole + b'{"record": "poi\n', ["line 10", "not JSON"]),
            (whole + b'{"record": "point"}\n', ["line 10", "not a record", "missing"]),
            (whole + b'{"record": "table"}\n', ["line 10", "table"]),
            (whole + b'{"record": "gap", "record": "gap"}\n', ["line 10", "twice"]),
            (whole + b"\xff\n", ["line 10", "not JSON"]),
            (whole + b"[" * 99999 + b"\n", ["line 10", "not JSON"]),
            (whole + whole, ["line 10", "second sweep"]), (second + b"\n", ["line 1", "beginning"]),
            (b"[1, 2]\n", ["line 1", "not an object"]), (b"{}\n", ["line 1", "/record is missing"])]
        cases += [(with_field(name, value), words) for name, value, words in (
            ("rank", 3, ["line 1", "/rank is 3", "from 0 to 2"]),
            ("round", 2, ["line 2", "/round is 2", "from 0 to 1"]),
            ("ranks", 99999999, ["line 1", "/ranks is 99999999"]),
            ("points", -1, ["/points is -1"]),
            ("rounds", 0, ["/rounds is 0"]), ("node", 7, ["line 1", "/node is not text"]),
            ("rates", {"read": -2e10}, ["line 2", "/rates is -2"]),
            ("rates", [1], ["/rates is not an object"]), ("size", 0, ["line 4", "/size is 0"]),
            ("size", 32.5, ["/size is not a whole number"]), ("size", True, ["not a whole number"]),
            ("flops", -1, ["line 4", "/flops is -1"]), ("min_seconds", 1e99, ["/min_seconds"]),
            ("seconds", [1e308], ["/seconds is 1e+308"]), ("seconds", [], ["/seconds"]),
            ("seconds", {"a": 1}, ["/seconds"]), ("seconds", [math.nan], ["/seconds is nan"]),
            ("error", "small", ["/error is not a number"]), ("hash", None, ["/hash is not text"]))]
        # A name of before is read.
        cases.insert(0, (with_field("min_seconds", 1e99).replace(b"min_sec", b"least_sec"),
                         ["/min_seconds is 1e+99"]))
        for content, words in cases:
            with self.subTest(words=words):
                self.put("2", content)
                report = merge_files(files)
                self.assertEqual(report["missing_ranks"], [[2, 2]])
                (unusable,) = report["unusable"]
                self.assertEqual(unusable["file"], files[2])
                for word in words:
                    self.assertIn(word, unusable["reason"])
                self.assertIn(f"unusable: {unusable['reason']}", list(verdict_lines(report)))
        self.assert_refused(["/hash is not text"], merge_files, files[2:])
        self.put("1", b"")
        self.assert_refused(["no whole line", "none of the 2 files"], merge_files, files[1:])
        self.assert_refused(["cannot be opened"], merge_files, [str(self.folder / "none")])
        self.put("2", with_field("format", 7))
        self.assert_refused(["format 7", "reads format 2"], merge_files, files)
        self.put("2", with_field("error", None))
        self.assertEqual(merge_files(files[2:])["unusable"], [])
        self.put("2", whole + b'{"record": "poi')
        self.assertTrue(merge_files(files[2:])["ranks"][0]["cut_short"])

    def test_files_that_do_not_belong_together(self):
        for header, words in (({"isocenter": "0.2.0"}, ["version 0.2.0", "0.1.0"]),
                              ({"revision": "def"}, ["revision def"]),
                              ({"sweep": "1"}, ["sweep 1"]), ({"ranks": 3}, ["number of ranks 3"]),
                              ({"rounds": 9}, ["number of rounds 9"]),
                              ({"rank": 0}, ["of rank 0", "--rank"])):
            results = processes(2)
            results[1].header.update(header)
            self.assert_refused(words, merge, results)
        results = processes(2)
        results[1].points.append(results[1].points[0])
        self.assert_refused(["2 times in round"], merge, results)

    def test_exit_codes_and_the_written_report(self):
        output = self.folder / "report.json"

        def run(results, *options, stdout=subprocess.PIPE):
            files = [self.put(f"{one.header['rank']}.jsonl", text_of(one)) for one in results]
            found = subprocess.run(
                [sys.executable, "-B", sweep_merge.__file__, "--output", str(output), *options,
                 "--", *files], stdout=stdout, stderr=subprocess.STDOUT, check=False)
            return found.returncode, (found.stdout or b"").decode()

        code, said = run(processes(2))
        self.assertEqual((code, said.splitlines()[0]),
                         (0, "2 ranks, 3 points, version 0.1.0 revision abc"))
        earlier = self.put("earlier.json", output.read_bytes())
        self.assertEqual(json.loads(output.read_text()),
                         merge([one._replace(file=str(self.folder / f"{i}.jsonl"))
                                for i, one in enumerate(processes(2))]))
        against = ("--against", earlier)
        disturbed = change(processes(2), waited=0.5)
        for results, options, expected, words in (
                (processes(2), against, 0, "regressions beyond 5 %: 0 of 3 compared points"),
                (processes(2, (0, 1), 2), against, 5, "regression: fdk 32 float openmp x2: "),
                (processes(2, (0, 1), 0.5), against, 0, "improvement: fdk 32 float openmp x2: "),
                (processes(2, (0, 1), 2), (*against, "--tolerance", "0.9"), 0, "beyond 90 %"),
                (disturbed, against, 6, "0 of 0 compared points"),
                (change(processes(2), rank=1, hash="b"), against, 1, "bits: DIFFER"),
                (processes(1), ("--against", "none"), 2, "iso: error: 'none' cannot be opened")):
            code, said = run(results, *options)
            self.assertEqual(code, expected, said)
            self.assertIn(words, said)
        # A device is written to, not replaced; output that is full is an error of its own.
        self.assertEqual(run(processes(2), "--output", "/dev/null")[0], 0)
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        with open("/dev/full", "wb") as full:
            self.assertEqual(run(processes(2), stdout=full)[0], 4)
        name = "n\udcff\ud800"
        self.assertIn("n\ufffd\ufffd", run([process(0, 1, node=name, points=9)])[1])


class Comparing(InFolder):
    def compared(self, before, now, tolerance=0.05):
        return compare(merge(now), self.put("earlier.json", merge(before)), tolerance)

    def test_regressions(self):
        for ranks in (4, 12):  # of which the rounds and samples are drawn, or only the medians
            slower, faster = (processes(ranks, range(ranks), s) for s in (1.1, 0.9))
            cases = ((processes(ranks), 0.05, 0, 0), (slower, 0.05, 3, 0), (slower, 0.2, 0, 0),
                     (faster, 0.05, 0, 3))
            for now, tolerance, regressions, improvements in cases:
                report = self.compared(processes(ranks), now, tolerance)
                self.assertEqual(len(report["regressions"]), regressions)
                self.assertEqual(len(report["improvements"]), improvements)
            report = self.compared(processes(ranks), slower)
            self.assertEqual(report, self.compared(processes(ranks), slower))
            ratio, (low, high) = (report["regressions"][0][name] for name in ("ratio", "interval"))
            self.assertAlmostEqual(ratio, 1 / 1.1, delta=0.01)
            self.assertTrue(low <= ratio <= high < low + 0.02)

    def test_noise_makes_intervals_wide(self):
        def noisy(factor):
            results = change(processes(1), factor=factor)
            for p in results[0].points:
                p["seconds"] = [s * (1 + i % 2) for i, s in enumerate(p["seconds"])]
            return results

        def drifting(second):
            return change(processes(1), round_=1, factor=second)
        for before, now in ((noisy(1), noisy(1.2)), (drifting(0.8), drifting(1.2))):
            self.assertEqual(self.compared(before, now)["regressions"], [])

    def test_rounds_of_different_lengths(self):
        """Ranks, rounds and samples may be any number: what fills the table up is never drawn."""
        results = processes(3)
        for i, p in enumerate(results[1].points):
            p["seconds"] = p["seconds"][:3 + i]
        change(results, rank=2, round_=0, waited=0.5)
        slower = change(copy.deepcopy(results), factor=1.25)
        for ratio, now in ((1, results), (0.8, slower)):
            report = self.compared(results, now, 0)
            changed = report["regressions"] + report["improvements"]
            self.assertEqual(len(changed), 0 if ratio == 1 else 3)
            for one in changed:
                self.assertAlmostEqual(one["ratio"], ratio, delta=0.001)

    def test_disturbed_points_are_not_compared(self):
        disturbed = change(processes(4), size=32, round_=0, factor=2, waited=0.3)
        change(disturbed, size=64, factor=2, waited=0.3)
        report = self.compared(processes(4), disturbed)
        self.assertEqual(report["ranks"][0]["disturbed"], 3)
        small, middle = report["points"][:2]
        self.assertAlmostEqual(small["share_of_ceiling"], 0.5, delta=5e-3)
        self.assertEqual((small["disturbed"], middle["disturbed"]), (False, True))
        self.assertAlmostEqual(middle["share_of_ceiling"], 0.25, delta=3e-3)
        self.assertEqual(report["growth"], [])  # Two sizes are left.
        self.assertIs(report["bits_agree"], True)
        self.assertEqual((report["compared_points"], report["regressions"]), (2, []))
        self.assertIn("disturbed in one of the reports are not compared: 1", report["notes"][-1])
        report = self.compared(disturbed, processes(4))
        self.assertEqual((report["compared_points"], report["improvements"]), (2, []))

    def test_other_processors_and_points(self):
        before = processes(1)
        for ceilings in before[0].ceilings:
            ceilings["processor"] = "another"
        now = [one._replace(points=[p for p in one.points if p["size"] > 32])
               for one in processes(1)]
        notes = self.compared(before, now)["notes"]
        self.assertIn("shares are compared with those of another processor, another", notes)
        self.assertTrue(any(n.startswith("2 points are in both reports (2 here, 3") for n in notes))

    def test_what_is_no_report_is_refused(self):
        report = merge(processes(1))
        start = b'{"record": "report", "format": '
        cases = [(b"{", ["not a report", "not JSON"]), (b"{}\n{}\n", ["not a report", "not JSON"]),
                 (b"[]", ["not a report"]), (b"{}", ["not a report"]),
                 (b'{"record": 3}', ["not a report"]), (start + b"9}", ["format 9"]),
                 (start + b'"x"}', ["is of format x"]),
                 (start + b"1}", ["not a report", "points"]),
                 (start + b'1, "points": []}', ["no point of this sweep"])]
        for name, value, word in (("ranks", [], "without ranks"), ("size", None, "size"),
                                  ("ranks", [{"shares": 1}], "shares"),
                                  ("ranks", [{"shares": [[]]}], "shares"), ("ranks", [7], "object"),
                                  ("ranks", [{"shares": [[0]]}], "shares")):
            damaged = copy.deepcopy(report)
            damaged["points"][0][name] = value
            cases.append((json.dumps(damaged).encode(), [word]))
        for content, words in cases:
            with self.subTest(words=words):
                self.assert_refused(words, compare, report, self.put("r", content), 0.05)
        compare(report, self.put("r", report), 0.05)


class Drawing(InFolder):
    def test_numbers_of_the_pictures(self):
        results = processes(4, (2,), 2)
        heat = sweep_report.heat_map(merge(results))
        self.assertEqual([round(row[0]) for row in heat["slowdown"]], [1, 1, 2, 1])
        (series,) = sweep_report.growth(merge(results))
        self.assertEqual((round(series["exponent"], 2), series["sizes"]), (4, [32, 64, 128]))
        (line,) = sweep_report.rooflines(merge(results))
        self.assertEqual([p["size"] for p in line["points"]], [32, 64, 128])
        results[3].points.clear()
        self.assertEqual(sweep_report.heat_map(merge(results))["slowdown"][3], [None])

    def test_page(self):
        report = merge(processes(4, (2,), 2))
        parts = sweep_report.write(report, str(self.folder / "sweep"))
        page = (self.folder / "sweep.html").read_text(encoding="utf-8")
        for words in ("a &lt;processor&gt;", "measured 2026-11-24T12:34:53Z on h0, h1, compiled by "
                      "GNU 12.2.0", "slow: rank 2 on n1 takes"):
            self.assertIn(words, page)
        self.assertNotIn("<processor>", page)
        self.assertNotIn("http", page.replace("data:image", ""))
        self.assertEqual(page.count("data:image/png"), 1)
        self.assertTrue((self.folder / "sweep.png").read_bytes().startswith(b"\x89PNG"))
        stored = json.loads((self.folder / "sweep.json").read_text(encoding="utf-8"))
        self.assertEqual(stored, json.loads(json.dumps(parts)))

    def test_damaged_reports(self):
        for content, word in ((b'{"record": "report", "format": 1, "points": 3}', "/isocenter is"),
                              (b"{}", "not a report"), (b"{", "not JSON"),
                              (b'{"record": "report", "format": 9}', "format 9")):
            path = self.put("r.json", content)
            self.assert_refused([word], sweep_report.draw_file, path, str(self.folder / "sweep"))
        report = merge(processes(1))
        report["growth"][0]["sizes"] = [1, 2, 3]
        path = self.put("r.json", report)
        self.assert_refused(["damaged report"], sweep_report.draw_file, path, "sweep")
        path = self.put("r.json", merge(processes(1)))
        self.assert_refused(["overwritten"], sweep_report.draw_file, path, path[:-5])


if __name__ == "__main__":
    unittest.main(warnings="ignore")
