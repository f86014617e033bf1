#!/usr/bin/env python3
"""Tests jprof objects: a program's allocations against the JVM's own account of its thread, and
against the objects that it is known to allocate.

    objects_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N]

bench/accuracy/objects_counts.py runs all modes, collectors and layouts.
"""
import csv
import os
import subprocess
import sys

import attaching
import child
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
    "natives": {"Objects$Point": 1, "[I": 1, "[LObjects$Point;": 1},
    "nothing": {},
}
# What the bytecode of each call asks for, by kind.
ASKED = {kind: OBJECTS[kind] for kind in ("scalars", "arrays", "dimensions", "boxes", "varargs",
                                          "exceptions", "nothing")}
ASKED |= {"removed": {"Objects$Tick": 1}, "natives": {}, "clones": {}}
# Kinds whose objects are exactly those above.
COMPLETE = ("scalars", "arrays", "dimensions", "clones", "copies", "boxes", "varargs", "natives",
            "nothing")
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

    def sums(self, kind, metric):
        """By class, what is below a kind's method."""
        sums = {}
        for row in self.below(kind):
            value = self.value(row, metric)
            if value:
                sums[row["name"]] = sums.get(row["name"], 0) + value
        return sums

    def beside(self, kinds):
        """The bytes of those that are below no kind's method: of names that the JVM makes."""
        methods = {f"Objects.{kind}(I)V" for kind in kinds}
        return sum(self.value(row, "bytes") for row, path in self.measured()
                   if not methods.intersection(path))


def native_flags(lab):
    return ["--enable-native-access=ALL-UNNAMED"] if lab.jdk.major >= 24 else []


def check_kind(tree, kind, calls, bytes_of_vm, complaints):
    """Returns how many bytes the JVM counts beyond those below the kind's method."""
    objects = tree.sums(kind, "objects")
    total = sum(tree.sums(kind, "bytes").values())
    if total > bytes_of_vm:
        complaints.append(f"{kind}: {total} bytes, the JVM counts {bytes_of_vm}: {objects}")
    wanted = {name: n * calls for name, n in OBJECTS.get(kind, {}).items() if name not in OF_NAMES}
    found = {name: objects.get(name, 0) for name in wanted}
    if kind in COMPLETE:
        found = {name: n for name, n in objects.items() if name not in OF_NAMES}
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


def check_asked(tree, kind, calls, complaints):
    """What the bytecode asks for, whatever the compilers remove."""
    asked = tree.sums(kind, "asked")
    wanted = {name: n * calls for name, n in ASKED[kind].items() if name not in OF_NAMES}
    found = {name: n for name, n in asked.items() if name not in OF_NAMES}
    if kind == "exceptions":  # the elements of their stack traces depend on the depth
        found = {name: asked.get(name, 0) for name in wanted}
    if found != wanted:
        complaints.append(f"{kind}: {found} asked for in {calls} calls, not {wanted}")


def run_case(lab, mode="tiered", counter="woven", flags=(), virtual=0, removed=False):
    """The complaints about one run, and what was not seen, by thread."""
    calls = COUNT.get(mode, USUAL_COUNT)
    with lab.folder() as folder:
        out = os.path.join(folder, "p.jprof")
        done = lab.run(lab.command("Objects", calls, virtual, flags=(
            *jvms.MODES[mode]("Objects"), *native_flags(lab), *flags),
            agent=f"objects,counter={counter},out={out}{',removed' if removed else ''}"))
        if done.returncode != 0:
            return [f"status {done.returncode}: {done.stderr[:500]} {done.stdout[:200]}"], {}
        report = reports.log_rt(lab.jprof, out)
    tree = Tree(report)
    complaints = reports.check_losses(report, "objects")
    complaints += [f"damaged: {damage}" for damage in report["damages"]]
    complaints += check_kinds(tree, done.stdout.splitlines(), removed)
    unseen = check_totals(tree, complaints)
    if virtual:
        ticks = sum(tree.value(row, "objects") for row in tree.rows.values()
                    if row["name"] == "Objects$Tick" and "virtual" in row["thread"])
        if ticks != virtual * TICKS:
            complaints.append(f"{ticks} objects of virtual threads, not {virtual * TICKS}")
    return complaints, unseen


def check_kinds(tree, lines, removed=False):
    """The complaints about what the program prints of each kind."""
    complaints, more = [], {}
    for line in lines:
        if line.startswith("["):  # a warning of the JVM, about class data sharing
            continue
        kind, count, total = line.split()
        more[kind] = check_kind(tree, kind, int(count), int(total), complaints)
        if removed and kind in ASKED:
            check_asked(tree, kind, int(count), complaints)
    if sum(more.values()) > tree.beside(more):
        complaints.append(f"the JVM counts {more} bytes more, and {tree.beside(more)} are elsewhere")
    return complaints


@case.on_one_jdk
def interpreted(lab):
    return run_case(lab, mode="int")[0]


@case
def tiered(lab):
    return run_case(lab)[0]


@case.on_one_jdk
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
def what_is_asked_for(lab):
    return run_case(lab, removed=True)[0]


@case.on_one_jdk
def what_is_asked_for_interpreted(lab):
    return run_case(lab, mode="int", removed=True)[0]


def removed_ticks(lab, out, options):
    """The row of the report of objects that the compiler removes."""
    done = lab.run(lab.command("Objects", USUAL_COUNT, 0, agent=f"objects{options},out={out}", flags=(
        *jvms.MODES["c2"]("Objects"), "-Xbatch", *native_flags(lab))))
    if done.returncode != 0:
        raise ValueError(done.stderr)
    return sum(n for name, n in Tree(reports.log_rt(lab.jprof, out)).sums("removed", "objects").items()
               if name == "Objects$Tick")


@case
def removed_objects_stay_removed(lab):
    """Counting them does not make the compiler keep them, and the report says how many they are."""
    with lab.folder() as folder:
        out = os.path.join(folder, "p.jprof")
        with_count = removed_ticks(lab, out, ",removed")
        without = removed_ticks(lab, os.path.join(folder, "q.jprof"), "")
        report = lab.cli("report", "removed", "--format", "csv", out)
    if report.returncode != 0:
        return [report.stderr]
    rows = {(row["class"], row["method"]): row for row in csv.DictReader(report.stdout.splitlines())}
    row = rows["Objects$Tick", "Objects.removed(I)V"]
    asked = USUAL_COUNT + 1 + 30
    failures = []
    if with_count > asked // 2 + 2000 or abs(with_count - without) > asked // 10:
        failures.append(f"{with_count} are allocated, {without} without --removed")
    if int(row["asked"]) != asked or int(row["removed"]) < asked // 3:
        failures.append(f"removed: {row}")
    natives = rows["[LObjects$Point;", "Objects.natives(I)V"]
    if int(natives["without_new"]) != asked or int(natives["removed"]) != 0:
        failures.append(f"by JNI: {natives}")
    return failures


def check_late_threads(tree, threads, complaints):
    """A thread that runs already has one record, and the row of what was not seen has nothing that
    it has allocated before."""
    for name in ("main", "loop"):
        if threads.count(name) != 1:
            complaints.append(f"{threads.count(name)} threads {name}")
    sums = {}
    for row in tree.rows.values():
        if row["thread"] == "loop" and row["type"] != "T":
            sums[row["name"]] = sums.get(row["name"], 0) + tree.value(row, "bytes")
    if not sums.get("[B") or sums.get("(not seen by the probe)"):
        complaints.append(f"loop: {sums}")


def attach_and_measure(lab, flags, options=""):
    """The complaints about two recordings of a running JVM that has compiled the code before."""
    complaints = []
    command = lab.command("Objects", USUAL_COUNT, 0, "ask", flags=(
        *flags, *native_flags(lab), *(["-XX:+EnableDynamicAgentLoading"] if lab.jdk.major >= 21 else [])))
    with lab.folder() as folder, child.running(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout.readline() != "ready\n":
            return ["the program did not start"]
        program = attaching.Program(lab, process, folder)
        for number in range(2):
            out = f"{folder}/{number}.jprof"
            program.load(f"OBJECTS,COUNTER=woven{options},OUT={out}")
            lines = program.ask("measure").strip(";").split(";")
            program.detach()
            program.ask("measure")  # is not recorded
            report = reports.log_rt(lab.jprof, out)
            tree = Tree(report)
            check_late_threads(tree, [thread["name"] for thread in report["threads"]], complaints)
            complaints += check_kinds(tree, lines, bool(options))
            check_totals(tree, complaints)
        process.communicate("end\n", timeout=60)
    return complaints


@case
def attached(lab):
    """Also a second time, when compiled code without the probe exists again."""
    return attach_and_measure(lab, jvms.MODES["tiered"]("Objects"), ",REMOVED")


@case.on_one_jdk
def attached_to_interpreted_code(lab):
    return attach_and_measure(lab, jvms.MODES["int"]("Objects"))


@case.on_one_jdk
def unloaded_classes(lab):
    """A class that is loaded where another one was has its own objects, and their size, although
    its name may be the same."""
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
    same = sum(rows.value(row, "bytes") for row in rows.rows.values()
               if row["type"] == "-" and row["name"] == "ObjectsUnload$Same0000")
    unloaded = done.stdout.count("unloading class ObjectsUnload$Made")
    failures = [] if done.returncode == 0 else [f"status {done.returncode}: {done.stderr[:500]}"]
    if unloaded < generations // 2:
        failures.append(f"{unloaded} classes were unloaded: nothing is tested")
    if objects != wanted:
        failures.append(f"{set(objects.items()) ^ set(wanted.items())}")
    if same != generations // 3 * 50 * (2 * 32 + 64):
        failures.append(f"{same} bytes of the classes of one name")
    return failures


@case
def other_headers(lab):
    name = "wide-classes" if lab.jdk.major < 24 else "compact-headers"
    return run_case(lab, mode="int", flags=jvms.VARIANTS[name])[0]


if __name__ == "__main__":
    sys.exit(case.main(__doc__))
