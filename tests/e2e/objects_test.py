#!/usr/bin/env python3
"""Tests jprof objects: a program's allocations against the JVM's own account of its thread, and
against the objects that it is known to allocate.

    objects_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N]

bench/accuracy/objects_counts.py runs all modes, collectors and layouts.
"""
import os
import sys

import jvms
import reports
from cases import Cases
from lab import Skip

case = Cases()

COUNT = {"int": 300, "comp": 3000}   # calls of each kind of allocation, by mode
USUAL_COUNT = 20000
VIRTUAL_THREADS = 50
TICKS = 10                          # objects of each virtual thread

# The objects of each call, by kind and class. The others depend on the JDK.
OBJECTS = {
    "scalars": {"Objects$Point": 2, "Objects$Tick": 1},
    "arrays": {"[Z": 1, "[B": 1, "[C": 1, "[S": 1, "[I": 1, "[J": 1, "[F": 1, "[D": 1,
               "[LObjects$Point;": 1, "[Ljava/lang/String;": 1},
    "dimensions": {"[[[I": 1, "[[I": 2, "[I": 6, "[[LObjects$Point;": 1, "[LObjects$Point;": 2,
                   "[[J": 1},
    "clones": {"Objects$Point": 1, "[I": 1, "[Ljava/lang/Object;": 1},
    "copies": {"[I": 2, "[Ljava/lang/Object;": 1},
    "reflected": {"Objects$Point": 1, "[LObjects$Tick;": 1},
    "lambdas": {"Objects$Point": 1},
    "boxes": {"java/lang/Integer": 1, "java/lang/Long": 1, "java/lang/Double": 1,
              "java/lang/Character": 1},
    "varargs": {"[Ljava/lang/Object;": 2},
    "exceptions": {"java/lang/IllegalStateException": 1},
    "nothing": {},
}
# Kinds whose objects are exactly those above.
COMPLETE = ("scalars", "arrays", "dimensions", "clones", "copies", "boxes", "varargs", "nothing")
# Before a method is compiled, the JVM asks its class loader for the classes of its signature: it
# makes their names, when it likes.
OF_NAMES = ("java/lang/String", "[B")


class Tree:
    """The rows of log-rt in JSON, of all threads."""

    def __init__(self, report):
        self.rows = {}
        self.metrics = [metric["name"] for metric in report["metrics"]]
        for thread in report["threads"]:
            for row in thread["nodes"]:
                self.rows[row["id"]] = row | {"thread": thread["name"]}

    def value(self, row, metric):
        return int(row["base"][self.metrics.index(metric)])

    def path(self, row):
        while row:
            yield row["name"]
            row = self.rows.get(row["parent"])

    def measured(self):
        """The rows of classes below the method that measures, each with its path."""
        for row in self.rows.values():
            path = list(self.path(row)) if row["type"] == "-" else []
            if "Objects.measured(II)J" in path:
                yield row, path

    def below(self, kind):
        """Those below a kind's method."""
        return (row for row, path in self.measured() if f"Objects.{kind}(I)V" in path)

    def beside(self, kinds):
        """The bytes of those that are below no kind's method: of names that the JVM makes."""
        methods = {f"Objects.{kind}(I)V" for kind in kinds}
        return sum(self.value(row, "bytes") for row, path in self.measured()
                   if not methods.intersection(path))


def check_kind(tree, kind, calls, bytes_of_vm, complaints):
    """Returns how many bytes the JVM counts beyond those below the kind's method."""
    objects = {}
    total = 0
    for row in tree.below(kind):
        objects[row["name"]] = objects.get(row["name"], 0) + tree.value(row, "objects")
        total += tree.value(row, "bytes")
    if total > bytes_of_vm:
        complaints.append(f"{kind}: {total} bytes, the JVM counts {bytes_of_vm}: {objects}")
    wanted = {name: n * calls for name, n in OBJECTS.get(kind, {}).items() if name not in OF_NAMES}
    found = {name: objects.get(name, 0) for name in wanted}
    if kind in COMPLETE:
        found = {name: n for name, n in objects.items() if n and name not in OF_NAMES}
    if found != wanted:
        complaints.append(f"{kind}: {found} objects in {calls} calls, not {wanted}")
    return bytes_of_vm - total


def check_totals(tree, complaints):
    """What is in the tree and was not seen is what the JVM counts, so that no part is below 0."""
    unseen = {}
    for row in tree.rows.values():
        if row["name"] == "(not seen by the probe)":
            unseen[row["thread"]] = tree.value(row, "bytes")
    if "main" not in unseen or any(value < 0 for value in unseen.values()):
        complaints.append(f"not seen: {unseen}")
    return unseen


def run_case(lab, mode="tiered", counter="woven", flags=(), virtual=0):
    """The complaints about one run, and what was not seen, by thread."""
    calls = COUNT.get(mode, USUAL_COUNT)
    with lab.folder() as folder:
        out = os.path.join(folder, "p.jprof")
        done = lab.run(lab.command("Objects", calls, virtual, flags=(
            *jvms.MODES[mode]("Objects"), *flags), agent=f"objects,counter={counter},out={out}"))
        if done.returncode != 0:
            return [f"status {done.returncode}: {done.stderr[:500]} {done.stdout[:200]}"], {}
        tree = Tree(reports.log_rt(lab.jprof, out))
    complaints, more = [], {}
    for line in done.stdout.splitlines():
        kind, count, total = line.split()
        more[kind] = check_kind(tree, kind, int(count), int(total), complaints)
    if sum(more.values()) > tree.beside(more):
        complaints.append(f"the JVM counts {more} bytes more, and {tree.beside(more)} are elsewhere")
    unseen = check_totals(tree, complaints)
    if virtual:
        ticks = sum(tree.value(row, "objects") for row in tree.rows.values()
                    if row["name"] == "Objects$Tick" and "virtual" in row["thread"])
        if ticks != virtual * TICKS:
            complaints.append(f"{ticks} objects of virtual threads, not {virtual * TICKS}")
    return complaints, unseen


@case
def interpreted(lab):
    return run_case(lab, mode="int")[0]


@case
def tiered(lab):
    return run_case(lab)[0]


@case
def compiled_at_once(lab):
    return run_case(lab, mode="c2" if lab.jdk.major < 21 else "c1")[0]


@case
def probes(lab):
    return run_case(lab, counter="probe")[0]


@case
def virtual_threads(lab):
    if lab.jdk.major < 21:
        raise Skip("it has no virtual threads")
    return run_case(lab, mode="int", virtual=VIRTUAL_THREADS)[0]


@case
def unloaded_classes(lab):
    """A class that is loaded where another one was has its own objects."""
    generations = 60
    with lab.folder() as folder:
        out = os.path.join(folder, "p.jprof")
        done = lab.run(lab.command("ObjectsUnload", generations, agent=f"objects,out={out}",
                                   flags=("-Xlog:class+unload=info",)))
        rows = Tree(reports.log_rt(lab.jprof, out))
    objects = {}
    for row in rows.rows.values():
        if row["type"] == "-" and "ObjectsUnload$Made" in row["name"]:
            objects[row["name"]] = objects.get(row["name"], 0) + rows.value(row, "objects")
    names = [f"ObjectsUnload$Made{n:04}" for n in range(1, generations + 1)]
    wanted = {**{name: 50 for name in names}, **{f"[L{name};": 1 for name in names}}
    unloaded = done.stdout.count("unloading class ObjectsUnload$Made")
    failures = [] if done.returncode == 0 else [f"status {done.returncode}: {done.stderr[:500]}"]
    if unloaded < generations // 2:
        failures.append(f"{unloaded} classes were unloaded: nothing is tested")
    if objects != wanted:
        failures.append(f"{set(objects.items()) ^ set(wanted.items())}")
    return failures


@case
def other_headers(lab):
    name = "wide-classes" if lab.jdk.major < 24 else "compact-headers"
    return run_case(lab, mode="int", flags=jvms.VARIANTS[name])[0]


if __name__ == "__main__":
    sys.exit(case.main(__doc__))
