# SPDX-License-Identifier: BSD-3-Clause
"""The records of a sweep: what `iso sweep` writes, a line each, and the report that
sweep_merge.py makes of them. FIELDS has the names of all fields, once for all scripts; the test
app_sweep_report compares them with those that sweep_records.cpp writes.
"""
from __future__ import annotations

import json
import pathlib
from typing import Any, Callable, NamedTuple, NoReturn

Record = dict[str, Any]
Check = Callable[[Any], "str | None"]

# iso::files::sweep_format: files of different formats are not merged.
RESULTS_FORMAT = 2
REPORT_FORMAT = 1


class Refused(Exception):
    """The input is not what it should be; the text is a sentence for the user."""


class OtherFormat(Refused):
    """A file is of another version of the format: it is not damaged, but ends the merge."""


def shown(name: str) -> str:
    """Without its middle where it is long: the end of a path says more."""
    return name if len(name) <= 200 else f"{name[:97]}...{name[-100:]}"


def refuse(name: str, sentence: str) -> NoReturn:
    raise Refused(f"'{shown(name)}': {sentence}")


# Reading and checking. A check returns what it complains of, as the end of a sentence.


def of_kind(kind: type, wanted: str) -> Check:
    return lambda value: None if isinstance(value, kind) else f"is not {wanted}"


def number(low: float, high: float, kind: Any = (int, float), wanted: str = "a number") -> Check:
    def check(value: Any) -> str | None:
        if isinstance(value, bool) or not isinstance(value, kind):
            return f"is not {wanted}"
        in_range = low <= value <= high
        return None if in_range else f"is {value!r}; expected: from {low:g} to {high:g}"
    return check


def whole(low: float, high: float) -> Check:
    return number(low, high, int, "a whole number")


def numbers(check: Check, kind: type = list) -> Check:
    """Checks every number of a list that is not empty, or of an object."""
    def check_all(values: Any) -> str | None:
        if not isinstance(values, kind) or values == []:
            return "is not an object" if kind is dict else "is not a list with a number"
        every = values.values() if isinstance(values, dict) else values
        return next(filter(None, map(check, every)), None)
    return check_all


TEXT, LIST = of_kind(str, "text"), of_kind(list, "a list")
# A value outside these ranges is damage: no machine counts, moves or computes more in a call.
SECONDS = number(1e-15, 1e15)
WORK = number(0, 1e30)
THREADS = whole(1, 1e6)
ROUND = whole(0, 1e6)
KEY = {"operation": TEXT, "precision": TEXT, "size": whole(1, 1e15), "backend": TEXT,
       "threads": THREADS, "groups_per_launch": whole(0, 1e15)}
FIELDS: dict[str, dict[str, Check]] = {
    "sweep": {"isocenter": TEXT, "revision": TEXT, "sweep": TEXT, "date": TEXT, "host": TEXT,
              "compiler": TEXT, "ranks": whole(1, 1 << 24), "rank": whole(0, 1 << 24),
              "threads": THREADS, "node": TEXT, "device": TEXT, "points": whole(0, 1e9),
              "rounds": whole(1, 1e6), "exponents": numbers(number(0, 100), dict)},
    # A rate of 0 is one that the backend does not have.
    "ceilings": {"backend": TEXT, "threads": THREADS, "round": ROUND, "processor": TEXT,
                 "rates": numbers(WORK, dict)},
    "point": KEY | {"round": ROUND, "seconds": numbers(SECONDS), "calls": whole(1, 1e15),
                    "bytes": WORK, "cache_bytes": WORK, "flops": WORK, "bound": TEXT,
                    "min_seconds": number(0, 1e15), "waited": number(0, 1e6), "hash": TEXT,
                    "error": lambda value: None if value is None else WORK(value)},
    "gap": KEY | {"reason": TEXT},
}
# What a point's line has beside, for readers of the lines: merging computes it anew.
FOR_READERS = {"median_seconds", "lower_quartile", "upper_quartile", "share_of_ceiling", "shares",
               "disturbed"}
# A report has these beside "record" and "format", and its lists rows of these.
ANY: Check = lambda _: None
FLAG = of_kind(bool, "true or false")
REPORT: dict[str, Check] = {
    "isocenter": TEXT, "revision": TEXT, "sweep": TEXT, "date": TEXT, "bits_agree": ANY} | {
        name: LIST for name in ("hosts", "compilers", "ranks", "missing_ranks", "unusable",
                                "differences", "slow_ranks", "slow_nodes", "slow_points", "growth",
                                "ceilings", "points", "notes")}
REPORT_ROWS: dict[str, dict[str, Check]] = {
    "ranks": {"rank": whole(0, 1 << 24), "node": TEXT, "device": TEXT, "file": TEXT,
              "planned": whole(0, 1e15), "measured": whole(0, 1e15), "disturbed": whole(0, 1e15),
              "cut_short": FLAG, "gaps": LIST},
    "ceilings": {"processor": TEXT, "backend": TEXT, "threads": THREADS,
                 "rates": numbers(WORK, dict)},
    "points": KEY | {"processor": TEXT, "median_seconds": SECONDS, "lower_quartile": SECONDS,
                     "upper_quartile": SECONDS, "fastest_seconds": SECONDS, "disturbed": FLAG,
                     "share_of_ceiling": number(0, 1e30), "bound": TEXT, "bytes": WORK,
                     "cache_bytes": WORK, "flops": WORK, "error": FIELDS["point"]["error"],
                     "ranks": LIST},
    "growth": {name: check for name, check in KEY.items() if name != "size"} | {
        "processor": TEXT, "sizes": LIST, "exponent": ANY, "last_exponent": ANY, "expected": ANY},
}
RANK_OF_POINT = {"rank": whole(0, 1 << 24), "median_seconds": SECONDS,
                 "interquartile_seconds": number(0, 1e15), "hashes": LIST,
                 "disturbed_rounds": ROUND, "shares": LIST}
NO_RECORD = "is not a record of a sweep"
NO_REPORT = "is not a report of iso sweep --merge"


def check_fields(record: object, fields: dict[str, Check], name: str, refusal: str) -> None:
    """Refuses a record that lacks one of the fields or has one that its check complains of."""
    if not isinstance(record, dict):
        refuse(name, f"{refusal} (it is not an object); name another file")
    for key, check in fields.items():
        complaint = check(record[key]) if key in record else "is missing"
        if complaint:
            refuse(name, f"{refusal} (field /{key} {complaint}); name another file")


def unique_fields(pairs: list[tuple[str, Any]]) -> Record:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field stands there twice")
    return fields


def parse(data: bytes, name: str) -> Any:
    """Returns the value of a JSON text and refuses what is none."""
    zero = data.find(b"\0")
    if zero >= 0:
        refuse(name, f"is not JSON (byte {zero} is zero); fetch or write it again")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=unique_fields)
    except (ValueError, RecursionError) as failure:
        refuse(name, f"is not JSON ({failure}); fetch or write it again")


def read_bytes(path: str) -> bytes:
    try:
        return pathlib.Path(path).read_bytes()
    except OSError as failure:
        raise Refused(f"'{shown(str(path))}' cannot be opened ({failure.strerror}); name another "
                      "file") from None


class Results(NamedTuple):
    """Holds the lines of one process' file, by their kinds."""
    file: str
    header: Record
    ceilings: list[Record]
    points: list[Record]
    gaps: list[Record]
    cut_short: bool  # The last line has no end, as a killed process leaves it, and is left out.


def read_results(path: str) -> Results:
    *lines, rest = read_bytes(path).split(b"\n")
    if not lines:
        refuse(path, "holds no whole line (a sweep's results are expected); name another file")
    found: dict[str, list[Record]] = {kind: [] for kind in FIELDS}
    for line_number, line in enumerate(lines, 1):
        name = f"{path} line {line_number}"
        record = parse(line, name)
        check_fields(record, {"record": TEXT}, name, NO_RECORD)
        kind = record["record"]
        if kind not in FIELDS:
            refuse(name, f"field /record is '{kind}' (expected: {', '.join(FIELDS)}); name another "
                         "file")
        if (kind == "sweep") != (line_number == 1):
            refuse(name, "begins a second sweep (a file holds one); write each to a file of its own"
                   if kind == "sweep" else "is not the beginning of a sweep's results (its field "
                   "/record is not 'sweep'); name another file")
        if kind == "sweep" and record.get("format") != RESULTS_FORMAT:
            raise OtherFormat(f"'{name}': is of format {record.get('format')} (this program reads "
                              f"format {RESULTS_FORMAT}); use the program that wrote it, or "
                              "measure again")
        if "least_seconds" in record:  # as it was called
            record.setdefault("min_seconds", record.pop("least_seconds"))
        check_fields(record, FIELDS[kind], name, NO_RECORD)
        found[kind].append(record)
        header = found["sweep"][0]
        limits = {"rank": whole(0, header["ranks"] - 1), "round": whole(0, header["rounds"] - 1)}
        check_fields(record, {key: limits[key] for key in limits if key in record}, name, NO_RECORD)
    return Results(path, header, found["ceilings"], found["point"], found["gap"], rest != b"")


def rounded(x: float) -> float:
    """Rounds to four digits, which is more than times repeat to."""
    return float(f"{x:.4g}")


def key_of(record: Record) -> tuple:
    return tuple(record[name] for name in KEY)


def read_report(path: str) -> Record:
    data = read_bytes(path)
    try:
        report = parse(data, path)
    except Refused:  # Results are a document a line, a report is one.
        refuse(path, f"{NO_REPORT} (it is not JSON as a whole); name another file")
    check_fields(report, {"record": TEXT}, path, NO_REPORT)
    if report["record"] != "report":
        refuse(path, f"{NO_REPORT} (its field /record is not 'report'); name another file")
    if report.get("format") != REPORT_FORMAT:
        refuse(path, f"is of format {report.get('format')} (this program reads format "
                     f"{REPORT_FORMAT}); merge its files anew")
    return report


def check_report(report: Record, path: str) -> None:
    """Refuses a report that has not all that one is drawn from."""
    check_fields(report, REPORT, path, NO_REPORT)
    for name, fields in REPORT_ROWS.items():
        for row in report[name]:
            check_fields(row, fields, path, NO_REPORT)
    for point in report["points"]:
        for rank in point["ranks"]:
            check_fields(rank, RANK_OF_POINT, path, NO_REPORT)
