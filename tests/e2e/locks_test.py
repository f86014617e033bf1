#!/usr/bin/env python3
"""`jprof locks` of programs whose locks are known, on every JDK found.

    locks_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N]
"""
import json
import os
import re
import subprocess
import sys

import child
import count_attached
import reports
from cases import Cases

case = Cases()
HERE = os.path.dirname(os.path.abspath(__file__))
WOVEN = os.path.join(HERE, "..", "..", "jprof", "weave", "java", "java", "lang")


def recorded(lab, program, *options, modes=()):
    """The program's output and the report of a recording of its locks."""
    with lab.folder() as folder:
        profile = os.path.join(folder, "p.jprof")
        done = lab.cli("locks", *options, "--agent", lab.agent, "-o", profile, "--",
                       *lab.command(program, flags=modes))
        if done.returncode != 0:
            raise reports.ReportFailed(f"status {done.returncode}: {done.stderr[-2000:]}")
        report = json.loads(reports.run_report(lab.jprof, "log-jlm", profile, "--format", "json",
                                               "--contexts"))
    return done.stdout, report


def attached(lab, program):
    """The same of a recording that begins while the program waits for input."""
    flags = ["-XX:+EnableDynamicAgentLoading"] if lab.jdk.major >= 21 else []
    with lab.folder() as folder:
        profile = os.path.join(folder, "p.jprof")
        command = lab.command(program, "wait", flags=flags)
        with child.running(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           text=True) as process:
            if process.stdout.readline() != "ready\n":
                raise reports.ReportFailed("the program did not start")
            recording, messages = count_attached.begin(lab.jprof, lab.agent, profile, process.pid,
                                                       "locks")
            output, _ = process.communicate("\n", timeout=300)
            messages.append(recording.communicate(timeout=300)[1])
        if recording.returncode != 0:
            raise reports.ReportFailed("".join(messages))
        return output, json.loads(reports.run_report(lab.jprof, "log-jlm", profile, "--format",
                                                     "json", "--contexts"))


def rows_of(report, kind):
    return [row for row in report["locks"] if row["kind"] == kind]


def locks_of(report):
    return {row["lock"]: row for row in rows_of(report, "lock")}


def wrong_counts(output, report):
    """Compares what the program prints with the report: GETS, NONREC and, unless it is -1, SLOW."""
    locks = locks_of(report)
    for line in output.splitlines():
        name, *numbers = line.split()
        gets, nonrec, slow = map(int, numbers)
        row = locks.get(name)
        if row is None:
            yield f"{name}: not in the report"
            continue
        found = (row["gets"], row["nonrec"], row["rec"])
        if found != (gets, nonrec, gets - nonrec):
            yield f"{name}: gets, nonrec, rec {found}, not {(gets, nonrec, gets - nonrec)}"
        if slow >= 0 and row["slow"] != slow:
            yield f"{name}: slow {row['slow']}, not {slow}"
        if row["miss_percent"] is None or abs(row["miss_percent"] - 100 * row["slow"] / nonrec) > 0.06:
            yield f"{name}: %MISS {row['miss_percent']}"


def wrong_holds(report):
    """Compares times that are held by their order: a wait inside is not part of them."""
    hold = {name.split("$")[-1]: row["hold_ns"] for name, row in locks_of(report).items()}
    if not hold["LongHold"] > hold["ShortHold"] > hold["Waiting"] > 0:
        yield f"hold times: {hold}"


def wrong_contexts(report):
    """Who waits for whom, and the inversion, which is the only one of the program's own locks."""
    waits = [(row["context"].split("(")[0], row["owner"].split("(")[0])
             for row in rows_of(report, "wait")]
    for name in ("takeContended", "pass"):
        found = [(waiter, owner) for waiter, owner in waits
                 if waiter.endswith("." + name) and owner.endswith("." + name)]
        if not found:
            yield f"no wait in {name} for {name}: {waits}"
    cycles = [{order["has"]["lock"] for order in cycle["orders"]}
              for cycle in report["cycles"] if cycle["same_objects"]]
    for pair in ({"LocksKnown$Left", "LocksKnown$Right"}, {"LocksKnown$Second", "LocksKnown$Third"}):
        if pair not in cycles:
            yield f"{pair} is not among the cycles: {cycles}"


def counted_in(report, method, kind):
    """The sums of the contexts of LocksConcurrent in which this method is the innermost."""
    sums = dict.fromkeys(("gets", "nonrec", "rec", "slow", "hold_ns"), 0)
    for row in rows_of(report, "context"):
        own = [frame for frame in row["context"].split(" < ")
               if frame.startswith("LocksConcurrent.")]
        if row["type"] == kind and own and own[0].startswith(f"LocksConcurrent.{method}("):
            for name in sums:
                sums[name] += row[name] or 0
    return sums


def wrong_concurrent(output, report):
    """Compares what LocksConcurrent prints with the report."""
    for line in output.splitlines():
        what, method, *rest = line.split(" ", 5 if line.startswith("counts") else 4)
        *numbers, kind = rest
        found = counted_in(report, method, kind)
        if what == "hold":
            least, most = map(int, numbers)
            if not least <= found["hold_ns"] <= most:
                yield f"{method}: {kind}: held {found['hold_ns']}, not {least} to {most} ns"
            continue
        gets, nonrec, slow = map(int, numbers)
        wanted = {"gets": gets, "nonrec": nonrec, "rec": gets - nonrec, "slow": slow}
        wrong = [f"{name} {found[name]}, not {value}" for name, value in wanted.items()
                 if found[name] != value and value >= 0]
        if wrong:
            yield f"{method}: {kind}: {', '.join(wrong)}"


def wrong_concurrent_contexts(report):
    """Who waits for whom, the inversion, and the kinds that no thread holds."""
    waits = [row for row in rows_of(report, "wait") if "LocksConcurrent.waits(" in row["context"]]
    for kind in ("lock", "read lock", "write lock"):
        if not any(row["type"] == kind and "LocksConcurrent.contend(" in row["owner"]
                   for row in waits):
            yield f"no wait for a {kind} that contend() has: {waits}"
    orders = [{order[side]["context"].split(" < ")[1].split("(")[0]
               for order in cycle["orders"] for side in ("has", "asks_for")}
              for cycle in report["cycles"] if cycle["same_objects"]]
    for pair in ({"LocksConcurrent.leftThenRight", "LocksConcurrent.rightThenLeft"},
                 {"LocksConcurrent.behindTried", "LocksConcurrent.back"}):
        if pair not in orders:
            yield f"{pair} is not among the cycles: {orders}"
    held = {row["type"] for row in report["locks"] if row["hold_ns"] is not None}
    if held != {"monitor", "lock", "read lock", "write lock"}:
        yield f"hold times of {held}"


def call_instead(native):
    """The method with a body that calls the test's method of this name."""
    result, name, parameters = native.groups()
    arguments = ", ".join(parameter.split()[-1] for parameter in parameters.split(","))
    return f"static {result} {name}({parameters}) {{ return JprofLocksTest.{name}({arguments}); }}"


@case.on_one_jdk
def own_classes(lab):
    """JprofLocks and its like by themselves: see JprofLocksTest.java."""
    with lab.folder() as folder:
        sources = [os.path.join(HERE, "locks", "java", "lang", name + ".java")
                   for name in ("JprofCounter", "JprofLocksTest")]
        for name in ("JprofHeld", "JprofLocks", "JprofConcurrent"):
            with open(os.path.join(WOVEN, name + ".java"), encoding="utf-8") as file:
                text = re.sub(r"static native (\w+) (\w+)\(([^)]*)\);", call_instead, file.read())
            sources.append(os.path.join(folder, name + ".java"))
            with open(sources[-1], "w", encoding="utf-8") as file:
                file.write(text)
        classes = os.path.join(folder, "classes")
        patch = f"java.base={folder}:{os.path.join(HERE, 'locks')}"
        child.run([lab.jdk.tool("javac"), "-nowarn", "--patch-module", patch, "-d", classes,
                   *sources], check=True)
        done = lab.run(lab.jdk.java("--patch-module", f"java.base={classes}") +
                       ["-m", "java.base/java.lang.JprofLocksTest"])
    return [] if done.returncode == 0 else [done.stdout + done.stderr]


@case
def concurrent(lab):
    output, report = recorded(lab, "LocksConcurrent")
    return [*wrong_concurrent(output, report), *wrong_concurrent_contexts(report)]


@case
def concurrent_attached(lab):
    output, report = attached(lab, "LocksConcurrent")
    return [*wrong_concurrent(output, report), *wrong_concurrent_contexts(report)]


@case.on_one_jdk
def concurrent_interpreted(lab):
    output, report = recorded(lab, "LocksConcurrent", modes=["-Xint"])
    return list(wrong_concurrent(output, report))


@case
def known_counts(lab):
    output, report = recorded(lab, "LocksKnown")
    return [*wrong_counts(output, report), *wrong_holds(report), *wrong_contexts(report)]


@case.on_one_jdk
def interpreted(lab):
    output, report = recorded(lab, "LocksKnown", modes=["-Xint"])
    return list(wrong_counts(output, report))


@case.on_one_jdk
def compiled_by_c1(lab):
    output, report = recorded(lab, "LocksKnown", modes=["-XX:TieredStopAtLevel=1"])
    return list(wrong_counts(output, report))


@case.on_one_jdk
def lite(lab):
    output, report = recorded(lab, "LocksKnown", "--lite")
    held = [row for row in report["locks"] if row["hold_ns"] is not None]
    return [*wrong_counts(output, report), *wrong_contexts(report),
            *(f"--lite has hold times: {row}" for row in held[:3])]


if __name__ == "__main__":
    sys.exit(case.main(__doc__))
