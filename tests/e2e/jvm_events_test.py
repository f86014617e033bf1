#!/usr/bin/env python3
"""The trace of the JVM's events (agent option EVENTS), read by babeltrace2 and compared with the
numbers that the program knows, on every JDK found.

    jvm_events_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N]
"""
import collections
import dataclasses
import re
import shutil
import sys

import attaching
import child
from cases import Cases
from lab import Skip
from raw_profile import RawProfile

case = Cases()
TIMES = {"collections": 3, "contentions": 5, "waits": 4, "parks": 6, "threads": 7}
FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|[^ ,]+)')


@dataclasses.dataclass
class Event:
    name: str    # without the layer
    thread: int  # that wrote it
    fields: dict

    def __getattr__(self, name):
        return self.fields[name]


class Trace:
    def __init__(self, directory):
        if shutil.which("babeltrace2") is None:
            raise Skip("babeltrace2 is not installed")
        done = child.run(["babeltrace2", f"{directory}/events/jvm"])
        if done.returncode or done.stderr:
            raise ValueError(f"babeltrace2: {done.returncode} {done.stderr}")
        self.events = list(map(self.event, done.stdout.splitlines()))
        # The main thread becomes that which waits for the others at the end.
        self.titles = {e.fields["thread"]: e.title
                       for e in reversed(self.of("threads::thread_begin"))}

    @staticmethod
    def event(line):
        name, rest = re.match(r"\[.*?\] \(.*?\) \w+::(\S+): (.*)", line).groups()
        fields = [(key, value[1:-1] if value[0] == '"' else int(value, 0))
                  for key, value in FIELD.findall(rest)]
        return Event(name, dict(reversed(fields))["thread"], dict(fields))

    def of(self, name, **wanted):
        return [e for e in self.events if e.name == name
                and all(e.fields[key] == value for key, value in wanted.items())]

    def by(self, title, name):
        """The events of the threads with this title."""
        return [e for e in self.of(name) if self.titles.get(e.thread) == title]


def record(lab, folder, *arguments, counter, flags=()):
    out = f"{folder}/{counter}.jprof"
    done = child.run([lab.jprof, "calltree", "--jvm-events", "--counter", counter, "-o", out, "--",
                      *lab.command("JvmEvents", *arguments, flags=flags)],
                     timeout=600)
    if done.returncode or "warning" in done.stdout:
        raise ValueError(f"{done.returncode}: {done.stdout} {done.stderr}")
    return out, done.stdout


def differences(what, found, expected):
    return [] if found == expected else [f"{what}: {found}, not {expected}"]


def check_monitors(trace, rounds):
    main = [tid for tid, title in trace.titles.items() if title == "main"]
    contended = trace.of("monitors::contended", class_name="JvmEvents$Guard")
    entered = {e.monitor: e for e in trace.of("monitors::entered")}
    failures = differences("contentions", len(contended), rounds * TIMES["contentions"])
    # On a busy machine the owner may have left the monitor before the event looks for it.
    failures += differences("owners", {e.owner for e in contended if e.owner}, set(main))
    failures += differences("who waits", {trace.titles[e.thread] for e in contended}, {"contender"})
    return failures + [f"no end of {e}" for e in contended
                       if e.monitor not in entered or entered[e.monitor].thread != e.thread
                       or entered[e.monitor].duration == 0]


def check_waits(trace, rounds):
    begun, ended = trace.by("waiter", "monitors::wait_begin"), trace.by("waiter", "monitors::wait_end")
    timeouts = [10 + i for i in range(TIMES["waits"])] * rounds
    failures = differences("timeouts", [e.timeout for e in begun], timeouts)
    failures += differences("ended waits", len(ended), len(timeouts))
    return failures + [f"too short: {e}" for e in ended if e.duration < 9_000_000]


def check_parks(trace, rounds):
    begun = trace.of("monitors::park_begin", class_name="JvmEvents$Blocker")
    failures = differences("parks", len(begun), rounds * TIMES["parks"])
    failures += differences("blockers", len({e.blocker for e in begun}), rounds)
    failures += differences("who parks", {trace.titles[e.thread] for e in begun}, {"parker"})
    failures += differences("ended parks", len(trace.by("parker", "monitors::park_end")), len(begun))
    locks = trace.by("locker", "monitors::park_begin")
    return failures + differences("lock", {e.class_name for e in locks},
                                  {"java.util.concurrent.locks.ReentrantLock$NonfairSync"})


def check_threads(trace, rounds):
    expected = collections.Counter({f"short-{i}": rounds for i in range(TIMES["threads"])})
    begun = [e for e in trace.of("threads::thread_begin") if e.title.startswith("short-")]
    ended = {e.number: e for e in trace.of("threads::thread_end")}
    failures = differences("threads", collections.Counter(e.title for e in begun), expected)
    return failures + [f"no end of {e}" for e in begun
                       if e.number not in ended or ended[e.number].thread != e.thread
                       or ended[e.number].cpu_time == 0]


def check_collections(trace, rounds):
    begun, ended = trace.of("collector::collection_begin"), trace.of("collector::collection_end")
    asked = [e for e in ended if e.cause == "System.gc()"]
    failures = differences("numbers", [e.number for e in begun], list(range(len(begun))))
    failures += differences("ends", [e.number for e in ended], [e.number for e in begun])
    failures += differences("collections", len(asked), rounds * TIMES["collections"])
    # The array of 1 MiB is still used.
    return failures + [f"nothing is used, or no time: {e}" for e in asked
                       if e.used < 1 << 20 or e.duration == 0]


def check_contexts(trace, profile, woven, jdk):
    """The methods in whose contexts threads wait."""
    def names(events):
        return {profile.names[profile.nodes[e.calling_context].method].split("(")[0] for e in events}

    # The native method is Object.wait or, on later JDKs, one that it calls.
    calls_wait0 = jdk.major >= 21
    waits = "java/lang/Object.wait0" if calls_wait0 else "java/lang/Object.wait"
    parks = "jdk/internal/misc/Unsafe.park"
    if woven:  # the caller of the native method
        waits = "java/lang/Object.wait" if calls_wait0 else "JvmEvents.waitForNobody"
        parks = "java/util/concurrent/locks/LockSupport.parkNanos"
    guarded = trace.of("monitors::contended", class_name="JvmEvents$Guard")
    return (differences("contended in", names(guarded), {"JvmEvents.enter"})
            + differences("waits in", names(trace.by("waiter", "monitors::wait_begin")), {waits})
            + differences("parks in", names(trace.by("parker", "monitors::park_begin")), {parks}))


def check_all(trace, rounds=1):
    return (check_collections(trace, rounds) + check_monitors(trace, rounds)
            + check_waits(trace, rounds) + check_parks(trace, rounds)
            + check_threads(trace, rounds))


def check_recording(lab, counter):
    with lab.folder() as folder:
        out, printed = record(lab, folder, counter=counter, flags=["-XX:+UseSerialGC"])
        trace = Trace(out)
        failures = differences("the program's numbers", dict(
            (key, int(value)) for key, value in re.findall(r"(\w+)=(\d+)", printed)), TIMES)
        failures += check_all(trace) + check_contexts(trace, RawProfile(out), counter == "woven",
                                                       lab.jdk)
        loaded = collections.Counter(e.class_name for e in trace.of("classes::loaded"))
        failures += differences("loaded", loaded["JvmEvents$Guard"], 1)
        if not any(1 <= e.tier <= 4 and e.size for e in trace.of("compiler::compiled")):
            failures.append("no compiled method with a level")
        return failures


@case
def probes(lab):
    return check_recording(lab, "probe")


@case
def woven(lab):
    return check_recording(lab, "woven")


@case
def collectors(lab):
    """Those that stop the program once for each collection, and those that do so several times."""
    failures = []
    for name, exact in (("Parallel", True), ("G1", True), ("Shenandoah", False), ("Z", False)):
        flag = f"-XX:+Use{name}GC"
        if child.run(lab.jdk.java(flag, "-version")).returncode:
            continue  # not in this JVM
        with lab.folder() as folder:
            out, _ = record(lab, folder, "collect", counter="probe", flags=[flag])
            trace = Trace(out)
            if exact:
                failures += [f"{name}: {line}" for line in check_collections(trace, 1)]
            elif len(trace.of("collector::collection_end", cause="System.gc()")) < TIMES["collections"]:
                failures.append(f"{name}: too few pauses")
    return failures


@case
def attached(lab):
    """Twice in one JVM; nothing of the traces remains in it."""
    failures = []
    with lab.folder() as folder, attaching.program(
            lab, folder, workers="again", name="JvmEvents") as jvm:
        for out in (f"{folder}/first.jprof", f"{folder}/second.jprof"):
            reply = jvm.load(f"CALLTREE,COUNTER=woven,EVENTS,OUT={out}")
            failures += [reply] if "no events" in reply else []
            jvm.ask("go")
            jvm.detach()
            jvm.ask("go")  # what is not recorded
            failures += check_all(Trace(out))
        failures += [line for line in jvm.remains()["maps"] if ".jprof" in line]
    return failures


if __name__ == "__main__":
    sys.exit(case.main(__doc__))
