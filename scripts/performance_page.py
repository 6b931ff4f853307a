#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes docs/performance.md, and the README's table of figures, from perf/results/*.json.

A run is one file, <date>-<machine>-<topic>.json: an object with "date", "machine", "revision",
"command" and "topic", which hold for all its "rows"; a row may have its own. A row has "what", and
as far as they apply "value", "unit", "gflops", "peer", "peer_value", "ratio" (how many times as
fast as the peer; above 1 Isocenter is faster), "error", "share" (of the measured ceiling),
"bytes_in" and "bytes_out" (carried to a device and from it, 10^9), "formula_in" and "formula_out"
(what the documentation says of them) and "case" (a column, in topics that have "cases"). To add a
run, add a file and start this script: of rows with equal topic, machine, what, case, unit and peer
the one of the newest date counts, of equal dates that of the last file by name. Older files may
stay. Numbers are printed as they are written in the JSON. perf/results/page.json has the topics in
their order, the rows of each that the page shows ("shown", 60 in all at most; a topic without it
is not on the page), the figures that the README shows ("headlines", which the page has too) and the
goals; a goal that the newest row misses is a shortfall, with its "why". The page lists shortfalls
of the rows that it shows; these are no further rows to choose by, and are not counted. A topic with
"rows_at_least" has a goal for each row whose ratio is below it.

Of the topics PROJECTIONS each row that the page shows is of a tilted scan, or has "tilted": which
row of the page is the same call of a tilted scan, or why there is none.

Where the page is made it takes the day, and marks rows that were older than two weeks on that day.

Usage: performance_page.py               writes docs/performance.md and the table in README.md
       performance_page.py --check       status 1 where either is stale
       performance_page.py --check-ages  the same, and where a row has grown old since, unmarked
       performance_page.py --all         prints every row that counts, and all shortfalls
       performance_page.py --self-test
"""
import datetime
import json
import re
import sys

from harness import TOP, markdown, words_of

RESULTS = TOP / "perf" / "results"
PAGE, README = TOP / "docs" / "performance.md", TOP / "README.md"
COMMON = ("date", "machine", "revision", "command", "topic")
KEY = ("topic", "machine", "what", "case", "unit", "peer")
KNOWN = {*COMMON, *KEY, "value", "gflops", "peer_value", "ratio", "error", "share", "bytes_sent",
         "bytes_by_table", "bytes_in", "bytes_out", "formula_in", "formula_out"}
MARKS = "<!-- figures: scripts/performance_page.py -->", "<!-- end of figures -->"
OLD = 14  # days
MAX_SHOWN = 60  # rows of the page, to choose by
# Topics whose calls take a scan, and what the rows of tilted ones say.
PROJECTIONS = ("projection", "projection-methods", "adjoint", "scans", "iterations", "streamed",
               "ranks", "reconstruction")
TILTED = re.compile(r"tilted|pitched|rolled|laminography|along z")
HEAD = """# Performance

Made from `perf/results/*.json` by `scripts/performance_page.py`; do not edit.

What a method, a precision or a format costs, to choose by. Times hold for one machine. *Measured*
gives the date and the revision that recorded them, on {day}; the age stands beside rows that were
older than {old} days. *Ratio* is how many times as fast as the peer Isocenter is, both timed
alternately unless a table says otherwise; above 1 Isocenter is faster.

All {count} rows, the commands that recorded them and what else was measured (phantoms, builds,
sweeps, errors of `iso::math`, ceilings of the machines) are in `perf/results/`;
`scripts/performance_page.py --all` prints them. [Peers](peers.md) describes how peers are run,
[product benchmarks](product_benchmarks.md) how dose matrices are timed.
"""
MADE = re.compile(r"that recorded them, on (\d{4}-\d\d-\d\d);")


class bad_results(Exception):
    pass


def load(path):
    """Numbers stay the texts that they are in the file."""
    return json.loads(path.read_text(encoding="utf-8"), parse_float=str, parse_int=str)


def key(row):
    return tuple(row.get(name, "") for name in KEY)


def newest(files):
    """The rows of (name, document) that count, in the order in which their keys first appear."""
    rows = {}
    for name, document in sorted(files):
        common = {field: document[field] for field in COMMON if field in document}
        for given in document["rows"]:
            row = {"unit": "", **common, **given}
            missing = [field for field in (*COMMON, "what") if field not in row]
            unknown = sorted(set(row) - KNOWN)
            if missing or unknown:
                raise bad_results(f"{name}: row {given}: missing {missing}, unknown {unknown}")
            if key(row) not in rows or rows[key(row)]["date"] <= row["date"]:
                rows[key(row)] = row
    return list(rows.values())


def unique(items):
    return list(dict.fromkeys(items))


def table(head, lines):
    """Without the columns that are empty in every line."""
    kept = [i for i in range(len(head)) if any(line[i] for line in lines)]
    head, *lines = [[line[i] for i in kept] for line in (head, *lines)]
    return markdown(head, lines)


def with_unit(number, unit):
    return f"{number} {unit}".strip() if number else ""


def source(row):
    return f"{row['date']}, {row['revision']}"


def age(row, day):
    """A mark behind a row that is old on a day."""
    days = (day - datetime.date.fromisoformat(row["date"])).days
    return f" (**{days} days old**)" if days > OLD else ""


def carried(row):
    """What crossed a device's bus, and what the formulas say in brackets."""
    if "bytes_in" not in row:
        return ""
    return (f"{row['bytes_in']}, {row['bytes_out']} "
            f"({row['formula_in']}, {row['formula_out']})")


def plain_table(rows, day=None, machines=False):
    head = ("", "machine", "Isocenter", "GFLOP/s", "peer", "peer's value", "ratio",
            "relative error", "share of ceiling", "10^9 bytes to it and from it (formula)",
            "measured")
    return table(head, [(
        ", ".join(filter(None, (row["what"], row.get("case")))) if machines else row["what"],
        row["machine"] if machines else "",
        with_unit(row.get("value"), row["unit"]), row.get("gflops", ""),
        row.get("peer", ""), with_unit(row.get("peer_value"), row["unit"]), row.get("ratio", ""),
        row.get("error", ""), row.get("share", ""), carried(row),
        source(row) + (age(row, day) if day else ""))
        for row in rows])


def case_table(rows, field):
    cases = unique(row["case"] for row in rows)
    lines = []
    for line in unique((row["what"], row["unit"], row.get("peer", "")) for row in rows):
        cells = {row["case"]: row for row in rows
                 if (row["what"], row["unit"], row.get("peer", "")) == line}
        lines.append((line[0], line[1] if field == "value" else "", line[2],
                      *(cells[case].get(field, "") if case in cells else "" for case in cases),
                      "; ".join(unique(map(source, cells.values())))))
    return table(("", "unit", "peer", *cases, "measured"), lines)


def is_wanted(row, wanted):
    return all(row.get(name, "") == wanted[name] for name in KEY if name in wanted)


def find(rows, wanted):
    for row in rows:
        if is_wanted(row, wanted):
            return row
    raise bad_results(f"page.json: no row has {wanted}")


def missed(goal, row):
    measured = float(row[goal["of"]])
    return measured < float(goal["at_least"]) if "at_least" in goal else (
        measured > float(goal["at_most"]))


def shortfalls(goals, rows, shown=None):
    """Of all rows, or of those shown alone."""
    lines = []
    for goal in goals:
        row = find(rows, goal["row"])
        if missed(goal, row) and (shown is None or row in shown):
            units = {"ratio": "times", "gflops": "GFLOP/s", "share": "of the ceiling"}
            unit = units.get(goal["of"], row["unit"])
            bound = f"at least {goal['at_least']}" if "at_least" in goal else (
                f"at most {goal['at_most']}")
            name = ", ".join(t for t in (row["what"], row.get("case"), row.get("peer") and
                                         f"beside {row['peer']}", row["machine"]) if t)
            found = with_unit(row[goal["of"]], unit)
            lines.append((name, with_unit(bound, unit), found, goal["why"]))
    return table(("", "goal", "measured", "why"), lines) if lines else "None.\n"


def check_topics(layout, rows):
    names = [topic["name"] for topic in layout["topics"]]
    strangers = unique(row["topic"] for row in rows if row["topic"] not in names)
    if strangers:
        raise bad_results(f"page.json: topics that it does not have: {', '.join(strangers)}")


def check_ratios(layout, rows):
    """That what is below a topic's bound is a shortfall with a reason."""
    for topic in layout["topics"]:
        bound = topic.get("rows_at_least")
        if bound is None:
            continue
        known = [key(find(rows, goal["row"])) for goal in layout["goals"] if goal["of"] == "ratio"]
        for row in rows:
            low = row["topic"] == topic["name"] and float(row.get("ratio", bound)) < float(bound)
            if low and key(row) not in known:
                raise bad_results(f"page.json: '{row['what']}', {row['machine']}, has the ratio "
                                  f"{row['ratio']} (rows of {topic['name']} are to have {bound}); "
                                  "give it a goal, with its reason")


def check_tilted(topic, own, shown):
    """That each upright row of a topic has its tilted twin on the page, or a reason."""
    for wanted, row in zip(topic["shown"], own):
        if topic["name"] not in PROJECTIONS or TILTED.search(row["what"]):
            continue
        twin = wanted.get("tilted")
        if not twin:
            raise bad_results(f"page.json: '{row['what']}' is of an upright scan (a calibrated "
                              'scan is tilted); name its tilted twin by "tilted", or say why it '
                              "has none")
        if isinstance(twin, dict):
            twin = {"topic": topic["name"], **twin}
            if not any(is_wanted(other, twin) and TILTED.search(other["what"]) for other in shown):
                raise bad_results(f"page.json: '{twin['what']}', twin of '{row['what']}', is not "
                                  "on the page, or not of a tilted scan; show one that is")


def page(layout, rows, day):
    """The rows to choose by, as they were on a day."""
    check_topics(layout, rows)
    check_ratios(layout, rows)
    text = HEAD.format(count=len(rows), day=day.isoformat(), old=OLD)
    shown, of_topics = [], []
    for topic in layout["topics"]:
        if "shown" not in topic:
            continue
        own = [find(rows, {"topic": topic["name"], **wanted}) for wanted in topic["shown"]]
        shown += own
        of_topics.append((topic, own))
        text += f"\n## {topic['title']}\n\n{topic.get('shown_text', topic['text'])}\n\n"
        text += plain_table(own, day, machines=True)
    for topic, own in of_topics:
        check_tilted(topic, own, shown)
    if len(shown) > MAX_SHOWN:
        raise bad_results(f"page.json: {len(shown)} rows are shown (a page to choose by has at "
                          f"most {MAX_SHOWN}); show fewer: all stay in perf/results")
    for headline in layout["headlines"]:
        if find(rows, headline["row"]) not in shown:
            raise bad_results(f"page.json: the README's figure '{headline['label']}' is no row of "
                              "the page (a reader looks it up there); show it")
    goals = layout["goals"]
    count = sum(missed(goal, find(rows, goal["row"])) for goal in goals)
    return text + ("\n## Shortfalls\n\nThe newest measurements miss "
                   f"{count} of {len(goals)} goals; `scripts/performance_page.py --all` lists "
                   "them. Two more are missed on\npages of their own: "
                   "[gamma](algorithms/gamma.md) beside pymedphys, and "
                   "[histograms](algorithms/dvh.md#ideal-bodies) of ideal bodies\n"
                   "with contours every 1 mm and 3 mm. Of the rows above:\n\n"
                   + shortfalls(goals, rows, shown))


def all_rows(layout, rows):
    check_topics(layout, rows)
    text = ""
    for topic in layout["topics"]:
        text += f"\n## {topic['title']}\n\n{topic['text']}\n"
        own = [row for row in rows if row["topic"] == topic["name"]]
        for machine in unique(row["machine"] for row in own):
            here = [row for row in own if row["machine"] == machine]
            text += f"\n{machine}:\n\n"
            text += case_table(here, topic["cases"]) if "cases" in topic else plain_table(here)
            text += "".join(f"\n    {command}" for command in unique(r["command"] for r in here))
            text += "\n"
    return text + "\n## Shortfalls\n\n" + shortfalls(layout["goals"], rows)


def headlines(layout, rows, day):
    lines = []
    for headline in layout["headlines"]:
        row = find(rows, headline["row"])
        lines.append((headline["label"], row["peer"], row["ratio"],
                      row["machine"] + age(row, day)))
    if len(lines) > 6:
        raise bad_results("page.json: more than six headlines")
    return table(("", "peer", "times as fast", "machine"), lines)


def with_figures(readme, figures):
    begin, end = MARKS
    pattern = re.compile(re.escape(begin) + r"\n.*?" + re.escape(end), re.S)
    if len(pattern.findall(readme)) != 1:
        raise bad_results(f"README.md: needs one {begin} ... {end}")
    return pattern.sub(lambda _: f"{begin}\n\n{figures}\n{end}", readme)


def self_test():
    def run(date, value, **more):
        return {"date": date, "machine": "m", "revision": "r", "command": "c", "topic": "t",
                "rows": [{"what": "w", "unit": "ms", "value": value, **more}]}

    rows = newest([("b", run("2026-01-02", "2.50")), ("c", run("2026-01-01", "9")),
                   ("a", run("2026-01-02", "1"))])
    goal = {"row": {"what": "w"}, "of": "value", "why": "y"}
    layout = {"topics": [{"name": "t", "title": "T", "text": "x", "shown": [{"what": "w"}]},
                         {"name": "u", "title": "U", "text": "x"}],
              "goals": [{**goal, "at_most": "2"}, {**goal, "at_most": "2.5"}],
              "headlines": [{"label": "l", "row": {"topic": "t", "what": "w"}}]}
    rows += newest([("d", {**run("2026-01-02", "3"), "topic": "u"})])
    young, old = (page(layout, rows, datetime.date(2026, 1, d)) for d in (16, 17))
    made = all_rows(layout, rows)
    short = "| w, m | at most 2 ms | 2.50 ms | y |"
    good = len(rows) == 2 and "| w | 2.50 ms | 2026-01-02, r |" in made and made.count(short) == 1
    good = good and "## U" in made and "## U" not in young and young.count(short) == 1
    good = good and "| w | m | 2.50 ms | 2026-01-02, r |" in young and "1 of 2 goals" in young
    good = good and "2026-01-02, r (**15 days old**) |" in old and "days old" not in young
    good = good and MADE.search(old).group(1) == "2026-01-17"
    first, *others = layout["topics"]
    many = {**layout, "topics": [{**first, "shown": [{"what": "w"}] * (MAX_SHOWN + 1)}, *others]}
    absent = {**layout, "headlines": [{"label": "l", "row": {"topic": "u", "what": "w"}}]}
    scans = [{**run("2026-01-02", "1", ratio=ratio), "topic": "scans"} for ratio in ("0.9", "0.5")]
    scans[1]["rows"][0]["what"] = "w, tilted"
    rows += newest([("s", scans[0]), ("t", scans[1])])

    def of_scans(shown, *more, **bound):
        return {**layout, "topics": [*layout["topics"], {"name": "scans", "title": "S", "text": "x",
                                                         "shown": shown, **bound}],
                "goals": [*layout["goals"], *more]}

    low = {"row": {"what": "w, tilted"}, "of": "ratio", "at_least": "0.7", "why": "z"}
    pair = [{"what": "w", "tilted": {"what": "w, tilted"}}, {"what": "w, tilted"}]
    for accepted in (of_scans([{"what": "w", "tilted": "because"}]),
                     of_scans(pair, low, rows_at_least="0.7"), of_scans(pair, rows_at_least="0.4")):
        page(accepted, rows, datetime.date(2026, 1, 16))
    for refused in (many, absent, of_scans([{"what": "w"}]), of_scans(pair[:1]),
                    of_scans([{"what": "w", "tilted": {"what": "w"}}]),
                    of_scans(pair, rows_at_least="0.7")):
        try:
            page(refused, rows, datetime.date(2026, 1, 16))
            good = False
        except bad_results:
            pass
    for bad in ({**run("d", "1"), "rows": [{"value": "1"}]}, run("d", "1", typo="x")):
        try:
            newest([("a", bad)])
            good = False
        except bad_results:
            pass
    return good and "at most 2.5" not in made


def main():
    arguments = sys.argv[1:]
    if arguments not in (["--check"], ["--check-ages"], ["--all"]):
        arguments = words_of(__doc__, self_test, least=0, most=0)
    try:
        rows = newest([(path.name, load(path)) for path in RESULTS.glob("[0-9]*.json")])
        layout = load(RESULTS / "page.json")
        if arguments == ["--all"]:
            print(all_rows(layout, rows).strip())
            return 0
        readme = README.read_text(encoding="utf-8")
        day = today = datetime.date.today()
        made = MADE.search(PAGE.read_text(encoding="utf-8")) if PAGE.is_file() else None
        if arguments and made:
            day = datetime.date.fromisoformat(made.group(1))
        wanted = {PAGE: page(layout, rows, day),
                  README: with_figures(readme, headlines(layout, rows, day))}
        if arguments == ["--check-ages"] and (
                page(layout, rows, today).count("days old") > wanted[PAGE].count("days old")):
            wanted[PAGE] = None
    except bad_results as error:
        print(f"performance_page.py: {error}", file=sys.stderr)
        return 1
    stale = [path for path, text in wanted.items()
             if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if arguments:
            name = path.relative_to(TOP)
            print(f"{name} is stale; run scripts/performance_page.py", file=sys.stderr)
        else:
            path.write_text(wanted[path], encoding="utf-8")
    return 1 if arguments and stale else 0


if __name__ == "__main__":
    sys.exit(main())
