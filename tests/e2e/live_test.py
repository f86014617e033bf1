#!/usr/bin/env python3
"""Tests jprof objects --live: which objects still exist, against programs that know it.

    live_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N]

bench/accuracy/live_counts.py runs all modes, collectors and layouts.
"""
import csv
import io
import json
import os
import sys

import jvms
import reports
from cases import Cases
from lab import Skip
from objects_test import Tree

case = Cases()

COUNT = {"int": 200}  # objects of each method, by mode
USUAL_COUNT = 20000


def record(lab, program, *args, options, flags=()):
    """What the program has printed, and the tree of its objects."""
    with lab.folder() as folder:
        out = os.path.join(folder, "p.jprof")
        done = lab.run(lab.command(program, *args, flags=flags, agent=f"objects,{options},out={out}"))
        if done.returncode != 0 or done.stderr:
            raise AssertionError(f"status {done.returncode}: {done.stderr[:500]} {done.stdout[:200]}")
        return done.stdout, Tree(reports.log_rt(lab.jprof, out))


def sums(tree, method, type_name):
    """The sums of a class below a method, by metric."""
    found = dict.fromkeys(tree.metrics, 0)
    for row in tree.rows.values():
        if row["type"] != "-" or row["name"] != type_name:
            continue
        if any(f".{method}(" in name for name in tree.path(row)):
            for metric in tree.metrics:
                found[metric] += tree.value(row, metric)
    return found


def exact_case(lab, mode="tiered", counter="woven", flags=()):
    """The complaints about one run of Live."""
    printed, tree = record(lab, "Live", COUNT.get(mode, USUAL_COUNT),
                           options=f"live=exact,counter={counter}",
                           flags=(*jvms.MODES[mode]("Live"), *flags))
    complaints = []
    for line in printed.splitlines():
        method, type_name, count = line.split()
        found = sums(tree, method, type_name)
        size = found["bytes"] / found["objects"] if found["objects"] else 0
        if found["live_objects"] != int(count) or found["live_bytes"] != int(count) * size:
            complaints.append(f"{line}: {found}")
    return complaints


@case
def tiered(lab):
    return exact_case(lab)


@case
def z_collector(lab):
    return exact_case(lab, flags=jvms.VARIANTS["z"])


@case
def halt_during_a_snapshot(lab):
    """This collector never acknowledges a request that the end of the JVM overtakes."""
    with lab.folder() as folder:
        done = lab.run(lab.command("Leak", 200, 400, "halt", flags=jvms.VARIANTS["z"],
                                   agent=f"objects,live=exact,out={folder}/p.jprof"), timeout=60)
        report = lab.cli("report", "objects", f"{folder}/p.jprof")
    complaints = [] if done.returncode == 0 else [f"status {done.returncode}: {done.stderr[:500]}"]
    if " in all, exact" not in report.stdout:
        complaints.append(report.stdout[:500] + report.stderr[:500])
    return complaints


@case.on_one_jdk
def interpreted(lab):
    return exact_case(lab, mode="int")


@case.on_one_jdk
def probes(lab):
    return exact_case(lab, mode="c2", counter="probe")


def method_of(row):
    """A row of `report objects` in CSV: the simple name of its method."""
    return row["method"].split("(")[0].rpartition(".")[2]


def intervals(lab, runs):
    """How many intervals of live objects and bytes hold the numbers that Live knows, of how many."""
    held = total = 0
    for _ in range(runs):
        with lab.folder() as folder:
            out = os.path.join(folder, "p.jprof")
            done = lab.run(lab.command("Live", USUAL_COUNT, agent="objects,live=sampled,"
                                       f"live_interval=8K,out={out}"))
            table = reports.run_report(lab.jprof, "objects", out, "--format", "csv")
        rows = {(method_of(row), row["class"]): row for row in csv.DictReader(io.StringIO(table))}
        for line in done.stdout.splitlines():
            method, type_name, count = line.split()
            row = rows.get((method, type_name))
            if row is None or not row["live_objects_low"]:
                continue
            size = int(row["bytes"]) / int(row["objects"])
            for metric, truth in (("live_objects", int(count)), ("live_bytes", int(count) * size)):
                held += int(row[metric + "_low"]) <= truth <= int(row[metric + "_high"])
                total += 1
    return held, total


@case
def sampled(lab):
    """95 % of the intervals hold the number: of some 30, hardly ever less than 80 %."""
    held, total = intervals(lab, 3)
    return [] if total >= 30 and held >= 0.8 * total else [f"{held} of {total} intervals"]


def growth_of_leak(lab, live, milliseconds=4500):
    """The rows of `report growth` about Leak: the method of the class, and the row."""
    with lab.folder() as folder:
        out = os.path.join(folder, "p.jprof")
        done = lab.run(lab.command("Leak", milliseconds, 2, agent=f"objects,live={live},"
                                   f"snapshots=1,live_interval=16K,out={out}"))
        if done.returncode != 0:
            raise AssertionError(done.stderr[:500])
        return json.loads(reports.run_report(lab.jprof, "growth", out, "--format", "json"))


def leak_case(lab, live):
    report = growth_of_leak(lab, live)
    complaints = []
    if "Leak.leak(I)V" not in report["contexts"][0]["context"]:
        complaints.append(f"the first is {report['contexts'][0]}")
    for row in report["contexts"]:
        leaks = "Leak.leak(I)V" in row["context"] and row["class"] == "[B"
        if leaks and not row["certain"]:
            complaints.append(f"not certain: {row}")
        if row["certain"] and "Leak.keep()V" in row["context"] and row["class"] == "[B":
            complaints.append(f"certain: {row}")
    return complaints


@case.on_one_jdk
def leak_sampled(lab):
    return leak_case(lab, "sampled")


@case.on_one_jdk
def leak_exact(lab):
    return leak_case(lab, "exact")


if __name__ == "__main__":
    sys.exit(case.main(__doc__))
