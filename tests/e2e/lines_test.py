#!/usr/bin/env python3
"""Tests source lines: shares of two hot lines of one method against the program's own times, and
exact counts of calls by the place of the call.

    lines_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N]
"""
import json
import math
import os
import sys

import jvms
import reports
from cases import Cases

case = Cases()

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "SourceLines.java")
SECONDS = 4
POINTS = 3           # beyond chance, by which a line's share may differ from the program's own measurement
CALLS = {"int": 5000}
USUAL_CALLS = 60000


def marked_lines():
    """The number of each line by the comment at its end."""
    lines = {}
    with open(SOURCE, encoding="utf-8") as f:
        for number, text in enumerate(f, 1):
            if text.rstrip().rpartition(" // ")[0].strip():
                lines[text.rstrip().rpartition(" // ")[2]] = number
    return lines


LINES = marked_lines()


def lines_of(lab, out, method):
    """The rows of report lines of one method."""
    report = json.loads(reports.run_report(lab.jprof, "lines", out, "--format", "json", method))
    return [row for row in report["lines"] if row["method"].startswith(method + "(")]


def hot_lines(lab, mode):
    """The complaints about the shares of the two hot lines."""
    with lab.folder() as folder:
        out = os.path.join(folder, "p.jprof")
        done = lab.run(lab.command("SourceLines", SECONDS, 0, flags=jvms.MODES[mode]("SourceLines"),
                                   agent=f"scs,scs_rate=1000,out={out}"))
        if done.returncode != 0:
            return [f"status {done.returncode}: {done.stderr[:500]}"]
        rows = lines_of(lab, out, "SourceLines.hot")
    own = {row["line"]: row["self"] for row in rows if row["line"] and not row["callee"]}
    samples = sum(own.values())
    if samples < 500:
        return [f"{samples} samples only: {own}"]
    share = 100 * own.get(LINES["first"], 0) / samples
    other = 100 * own.get(LINES["second"], 0) / samples
    truth = float(done.stdout)
    # What chance does to a share, with 95 % probability, is no fault.
    bound = POINTS + 1.96 * math.sqrt(truth * (100 - truth) / samples)
    if abs(share - truth) > bound or abs(other - (100 - truth)) > bound:
        return [f"{share:.2f} and {other:.2f} %, the program measured {truth:.2f} %: {own}"]
    return []


@case
def hot_lines_interpreted(lab):
    return hot_lines(lab, "int")


@case
def hot_lines_by_c1(lab):
    return hot_lines(lab, "c1")


@case
def hot_lines_by_c2(lab):
    return hot_lines(lab, "tiered")


def expected_calls(times):
    """By line, the calls of each place, in the order of the bytecode, and the callee."""
    thrown = (times + 4) // 5
    chains = (times + 99) // 100
    leaf, down = "SourceLines.leaf(I)I", "SourceLines.down(I)I"
    calls = {
        LINES["one"]: [(leaf, times)],
        LINES["two"]: [(leaf, (times + 2) // 3)] * 2,
        LINES["throws"]: [(leaf, times)],
        LINES["caught"]: [(leaf, thrown)],
        LINES["down"]: [(down, chains)],
    }
    recursive = {LINES["third"]: [(down, 3 * chains)], LINES["others"]: [(down, 6 * chains)]}
    return calls, recursive


def found_calls(rows):
    found = {}
    for row in rows:
        if row["callee"] and row["callee"].startswith("SourceLines."):
            found.setdefault(row["line"], []).append((row["callee"], row["calls"]))
    return found


def call_sites(lab, mode, counter):
    times = CALLS.get(mode, USUAL_CALLS)
    with lab.folder() as folder:
        out = os.path.join(folder, "p.jprof")
        options = f"calltree,call_sites,counter={counter}"
        done = lab.run(lab.command("SourceLines", 0, times, flags=jvms.MODES[mode]("SourceLines"),
                                   agent=f"{options},out={out}"))
        if done.returncode != 0:
            return [f"status {done.returncode}: {done.stderr[:500]}"]
        calls, recursive = expected_calls(times)
        found = found_calls(lines_of(lab, out, "SourceLines.calls"))
        below = found_calls(lines_of(lab, out, "SourceLines.down"))
        clock = {row["line"]: row["calls"] for row in lines_of(lab, out, "SourceLines.calls")
                 if row["callee"] == "java/lang/System.nanoTime()J"}
        folded = reports.log_rt(lab.jprof, out)
        apart = reports.log_rt(lab.jprof, out, "--call-sites")
    failures = reports.check_losses(folded, "calltree")
    if found != calls:
        failures.append(f"{found}, not {calls}")
    natives = {LINES["clock"]: times, LINES["rare clock"]: (times + 3) // 4}
    if counter == "probe" and clock != natives:  # woven code does not count native methods
        failures.append(f"native methods: {clock}, not {natives}")
    if below != recursive:
        failures.append(f"recursion: {below}, not {recursive}")
    return failures + check_trees(folded, apart, times)


def leaves(report):
    """The rows of leaf below calls: line (if any) and calls."""
    found = []
    for thread in report["threads"]:
        names = {node["id"]: node["name"] for node in thread["nodes"]}
        found += [(node.get("line"), node["calls"]) for node in thread["nodes"]
                  if node["name"] == "SourceLines.leaf(I)I"
                  and names.get(node["parent"]) == "SourceLines.calls(I)I"]
    return found


def check_trees(folded, apart, times):
    """Without the option all calls of one method in one context are one row, with it there is one
    for each place."""
    whole = leaves(folded)
    parts = leaves(apart)
    total = 2 * times + 2 * ((times + 2) // 3) + (times + 4) // 5
    failures = []
    if whole != [(None, total)]:
        failures.append(f"{whole}, not one row with {total}")
    if sum(calls for _, calls in parts) != total or len(parts) != 5:
        failures.append(f"{parts}, not 5 rows with {total}")
    return failures


@case
def probes_interpreted(lab):
    return call_sites(lab, "int", "probe")


@case
def probes_by_c1(lab):
    return call_sites(lab, "c1", "probe")


@case
def probes_by_c2(lab):
    return call_sites(lab, "c2", "probe")


@case
def woven_interpreted(lab):
    return call_sites(lab, "int", "woven")


@case
def woven_by_c1(lab):
    return call_sites(lab, "c1", "woven")


@case
def woven_by_c2(lab):
    return call_sites(lab, "tiered", "woven")


if __name__ == "__main__":
    sys.exit(case.main(__doc__))
