#!/usr/bin/env python3
"""`jprof timeline`: stretches of threads, as the program and the kernel know them.

    timeline_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N]

Skips where this user may not load programs into the kernel.
"""
import collections
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import child
from cases import Cases
from lab import Skip

case = Cases()
THREADS, ROUNDS = 4, 1250  # 10,000 waits


def record(lab, folder, *command, options=()):
    out = f"{folder}/t.jprof"
    done = child.run([lab.jprof, "timeline", *options, "-o", out, "--", *command], timeout=300)
    if "jprof: the kernel " in done.stderr:
        raise Skip(done.stderr.strip().splitlines()[-1])
    if done.returncode:
        raise ValueError(f"{done.returncode}: {done.stdout} {done.stderr}")
    if " were lost" in done.stderr:
        raise Skip("the machine is too busy: " + done.stderr.strip())
    return out, done.stdout


def report(lab, name, out, *options):
    return child.run([lab.jprof, "report", name, *options, out], check=True, timeout=300).stdout


def loaded_programs():
    """The ids of the programs in the kernel that have one of our names."""
    listed = child.run(["bpftool", "prog", "-j"], check=True).stdout
    return {p["id"] for p in json.loads(listed) if p.get("name", "").startswith("on_")}


@case
def known(lab):
    """Dispatches are those of /proc; each stretch ends in the phase that ran; the time of each
    thread is that of the kernel; threads, idle time and interrupts are all of the time."""
    failures = []
    with lab.folder(in_memory=True) as folder:
        out, printed = record(lab, folder, *lab.command("TimelineKnown", THREADS, ROUNDS))
        found = json.loads(report(lab, "timeline", out, "--format", "json"))
        threads = {t["tid"]: t for t in found["threads"]}
        for line in re.findall(r"^thread (.*)$", printed, re.M):
            tid, voluntary, involuntary = map(int, line.split())
            dispatches = threads[tid]["dispatches"]
            # After it has read its status, the thread still runs for a while.
            if not voluntary + involuntary < dispatches < voluntary + involuntary + 500:
                failures.append(f"{threads[tid]['name']}: {dispatches} dispatches, the kernel said "
                                f"{voluntary} + {involuntary}")
        phases = collections.Counter()
        for stretch in found["stretches"]:
            if not stretch["thread"].startswith("worker-"):
                continue
            for phase in ("parking", "sleeping", "computing"):
                if f"TimelineKnown.{phase}(" in stretch["context"]:
                    phases[phase, stretch["then"]] += 1
        print(dict(phases))
        waits = THREADS * ROUNDS
        # A thread may be woken by something else once or twice, and wait again.
        for phase, reason in (("parking", "park"), ("sleeping", "sleep")):
            # Or not wait, if it ran so late that the time has passed.
            if not 0.95 * waits < phases[phase, reason] < 1.05 * waits:
                failures.append(f"{phases[phase, reason]} stretches end in {phase}, not {waits}")
        # The kernel and the JVM may stop a thread anywhere for a moment, and the agent when it makes a
        # file for its events, but the thread parks and sleeps where it does.
        wrong = {key: n for key, n in phases.items() if key[1] in ("park", "sleep", "wait") and
                 key not in (("parking", "park"), ("sleeping", "sleep"))}
        # The JVM says what a thread waits for in its own locks by times that are some us off.
        if sum(wrong.values()) > 0.001 * 2 * waits:
            failures.append(f"waits in other phases: {wrong}")
        if shutil.which("babeltrace2") is not None:
            failures += check_times(lab, out, found)
            failures += check_contexts(lab, out, found)
    return failures


def check_contexts(lab, out, found):
    """log-rt has the dispatches and interrupts of each context: those of the stretches and events."""
    rows = list(csv.DictReader(report(lab, "log-rt", out, "--threads", "merged", "--format",
                                      "csv").splitlines()))
    failures = []
    for phase in ("parking", "sleeping", "computing"):
        # A phase stops in the methods that it calls, too.
        below, level, dispatches = False, 0, 0
        for row in rows:
            if below and int(row["level"]) <= level:
                below = False
            if f"TimelineKnown.{phase}(" in row["name"]:
                below, level = True, int(row["level"])
            dispatches += int(row["ds"]) if below else 0
        stretches = sum(f"TimelineKnown.{phase}(" in s["context"] and s["then"] != "runs"
                        for s in found["stretches"])
        if dispatches != stretches:
            failures.append(f"log-rt has {dispatches} dispatches in {phase}, not {stretches}")
    # Other JVMs with the agent may run, which have calling contexts, too.
    process = next(t["pid"] for t in found["threads"] if t["name"].startswith("worker-"))
    runs, begun = {}, 0
    for line in child.run(["babeltrace2", f"{out}/events/kernel"]).stdout.splitlines():
        if dispatch := re.search(r"::dispatch: .*processor = (\d+) .*next_process = (\d+)", line):
            runs[dispatch[1]] = int(dispatch[2])
        elif begin := re.search(r"interrupt_begin: .*processor = (\d+), calling_context = [1-9]",
                                line):
            begun += runs.get(begin[1]) == process
    interrupts = sum(int(row["in"]) for row in rows)
    print(f"interrupts: {interrupts} in log-rt, {begun} with a calling context")
    # The end of some is not recorded, as the thread stops before.
    if not 0.98 * begun - 5 <= interrupts <= begun or interrupts == 0:
        failures.append(f"IN is {interrupts}; the events have {begun}")
    return failures


def check_times(lab, out, found):
    """The kernel's own account of each thread that ended; and the sums of each processor."""
    done = child.run(["babeltrace2", f"{out}/events/kernel"])
    if done.returncode or done.stderr:
        return [f"babeltrace2: {done.stderr}"]
    shown = json.loads(child.run([lab.jprof, "events", "show", "--format", "json",
                                  f"{out}/events/kernel"], check=True).stdout)
    failures = []
    if done.stdout.count("\n") != sum(e["logged"] for e in shown["events"]):
        failures.append("babeltrace2 finds another number of events")
    exits = {int(tid): list(map(int, numbers)) for tid, *numbers in re.findall(
        r"threads::exit: .*thread = (\d+) \}, \{ cpu_time = (\d+), voluntary = (\d+), "
        r"involuntary = (\d+)", done.stdout)}
    cpu = {tid: numbers[0] for tid, numbers in exits.items()}
    counted, until_exit = collections.Counter(), {}
    for line in done.stdout.splitlines():
        if " kernel::processor::dispatch: " in line:
            counted[int(re.search(r"previous_thread = (\d+)", line)[1])] += 1
        elif " kernel::threads::exit: " in line:
            tid = int(re.findall(r" thread = (\d+)", line)[-1])
            until_exit[tid] = counted[tid]
    new = [t for t in found["threads"] if t["tid"] in exits and t["began_ns"]]
    for thread in new:
        _, voluntary, involuntary = exits[thread["tid"]]
        if until_exit[thread["tid"]] != voluntary + involuntary:
            failures.append(f"{thread['name']}: {until_exit[thread['tid']]} dispatches before its "
                            f"end; the kernel counts {voluntary} + {involuntary}")
        # Those after it are of the thread's end.
        if thread["dispatches"] < until_exit[thread["tid"]]:
            failures.append(f"{thread['name']}: {thread['dispatches']} dispatches")
    print(f"dispatches of {len(new)} threads are those that the kernel counts")
    kernel = ours = 0
    for thread in found["threads"]:
        if thread["name"].startswith("worker-") and thread["tid"] in cpu:
            kernel += cpu[thread["tid"]]
            ours += thread["ran_ns"] + thread["interrupts_ns"]
    print(f"CPU time of the workers: {kernel} ns by the kernel, {ours} ns of stretches")
    # The stretches are 50 us long, and the kernel decides some time before the dispatch, which is
    # long where the processors are busy.
    if not 0.5 < ours / kernel < 1.2:
        failures.append(f"the workers' stretches last {ours} ns, the kernel says {kernel}")
    rows = list(csv.DictReader(report(lab, "utilisation", out, "--format", "csv").splitlines()))
    all_time = sum(int(r["idle_ns"]) + int(r["threads_ns"]) + int(r["interrupts_ns"]) +
                   int(r["unseen_ns"]) for r in rows)
    share = all_time / (found["duration_ns"] * len({r["processor"] for r in rows}))
    unseen = sum(int(r["unseen_ns"]) for r in rows) / all_time
    print(f"threads, idle and interrupts: {100 * share:.2f} % of the time; of this, unseen "
          f"{100 * unseen:.2f} %")
    if not 0.99 < share < 1.01:
        failures.append(f"threads, idle and interrupts are {100 * share:.2f} % of the time")
    return failures


# Two processes send datagrams to each other, one computes while its timer expires.
INTERRUPTED = """
import os, signal, socket, time
end = time.time() + 1
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 0))
receiver.settimeout(0.2)
children = []
def child(work):
    pid = os.fork()
    if pid == 0:
        try: work()
        finally: os._exit(0)
    children.append(pid)
def send():
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while time.time() < end:
        for i in range(20): sender.sendto(b"x" * 100, receiver.getsockname())
        time.sleep(0.001)
def receive():
    while time.time() < end: receiver.recv(200)
def compute():
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    while time.time() < end: pass
for work in (send, receive, compute): child(work)
for pid in children: os.waitpid(pid, 0)
"""


@case
def interrupt_load(lab):
    """While many interrupts come, stretches are the CPU time of each thread, and threads, idle time
    and interrupts are all of the time."""
    with lab.folder(in_memory=True) as folder:
        out, _ = record(lab, folder, sys.executable, "-c", INTERRUPTED)
        found = json.loads(report(lab, "timeline", out, "--format", "json"))
        rows = list(csv.DictReader(report(lab, "utilisation", out, "--format", "csv").splitlines()))
        failures = []
        interrupts = sum(int(row["interrupts"]) for row in rows)
        sums = {name: sum(int(row[name]) for row in rows) / found["duration_ns"]
                for name in ("idle_ns", "threads_ns", "interrupts_ns", "unseen_ns")}
        processors = len({row["processor"] for row in rows})
        share = sum(sums.values()) / processors
        print(f"{interrupts} interrupts; of each second: {sums}; together {100 * share:.2f} %")
        if not 0.99 < share < 1.01:
            failures.append(f"threads, idle and interrupts are {100 * share:.2f} % of the time")
        if interrupts < 1000:
            failures.append(f"{interrupts} interrupts")
        if shutil.which("babeltrace2") is None:
            return failures
        events = child.run(["babeltrace2", f"{out}/events/kernel"], check=True).stdout
        cpu = {int(tid): int(nanos) for tid, nanos in re.findall(
            r"threads::exit: .*thread = (\d+) \}, \{ cpu_time = (\d+)", events)}
        for thread in found["threads"]:
            kernel, ours = cpu.get(thread["tid"], 0), thread["ran_ns"] + thread["interrupts_ns"]
            if kernel < 100e6:
                continue
            print(f"{thread['tid']}: {kernel} ns by the kernel in {thread['dispatches']} stretches, "
                  f"{ours / kernel:.4f} of it here")
            # The kernel does not count a part of each dispatch, which takes longer on a busy
            # machine: a tenth of stretches of 50 us.
            most = 1.1 if kernel > 500e3 * thread["dispatches"] else 1.5
            if not 0.9 < ours / kernel < most:
                failures.append(f"{thread['tid']}: {ours} ns, the kernel says {kernel}")
        return failures


@case
def interrupts_of_threads(lab):
    """`jprof ptt` counts the interrupts of a thread as its timeline does."""
    compute = "import time\nend = time.time() + 1\nwhile time.time() < end: pass"
    with lab.folder() as folder:
        out = f"{folder}/t.jprof"
        done = child.run([lab.jprof, "ptt", "--format", "json", "-o", f"{folder}/ptt", "--", lab.jprof, "timeline", "-o",
                          out, "--", sys.executable, "-c", compute], timeout=100)
        if "no INTR column" in done.stderr or "jprof: the kernel " in done.stderr:
            raise Skip(done.stderr.strip())
        counted = {t["tid"]: t["counts"]["interrupts"]
                   for t in json.load(open(f"{folder}/ptt", encoding="utf-8"))["rows"]}
        threads = json.loads(report(lab, "timeline", out, "--format", "json"))["threads"]
        most = max(threads, key=lambda t: t["interrupts"])
        print(f"{most['name']}: {counted[most['tid']]} by ptt, {most['interrupts']} in the timeline")
        # Both began and ended at other times.
        if most["interrupts"] == 0 or not 0.9 < counted[most["tid"]] / most["interrupts"] < 1.1:
            return [f"{counted[most['tid']]} and {most['interrupts']} interrupts"]
        return []


@case
def marks(lab):
    """The critical path between two marks of a program, which reports and exports have, too."""
    library = os.path.join(os.path.dirname(lab.agent), "libjprof-events.so")
    program = f"""
import ctypes, threading, time
mark = ctypes.CDLL("{library}").jprof_mark
time.sleep(0.1)
mark(b"begin")
worker = threading.Thread(target=lambda: time.sleep(0.1))
worker.start()
worker.join()
mark(b"end")
time.sleep(0.2)
"""
    with lab.folder() as folder:
        out, _ = record(lab, folder, sys.executable, "-c", program)
        found = json.loads(report(lab, "timeline", out, "--format", "json"))
        failures = []
        if [mark["text"] for mark in found["marks"]] != ["begin", "end"]:
            failures.append(f"marks: {found['marks']}")
        path = json.loads(report(lab, "critical-path", out, "--format", "json", "--from", "begin",
                                 "--to", "end"))
        begin, end = (mark["time_ns"] for mark in found["marks"])
        if not begin <= path["begin_ns"] < path["end_ns"] == end:
            failures.append(f"from {begin} to {end}: {path}")
        # On a busy machine the other thread begins to sleep late, and is ready for a while.
        if "sleep" not in {row["what"] for row in path["rows"]}:
            failures.append(f"the sleep of the other thread is not on the path: {path}")
        if sum(row["time_ns"] for row in path["rows"]) != path["end_ns"] - path["begin_ns"]:
            failures.append(f"the rows are not the path: {path}")
        for options, said in ((["--to", "ends"], "did you mean 'end'"),
                              (["--from", "end", "--to", "begin"], "not after"),
                              (["--from", "end", "--to", "end"], "not after")):
            done = child.run([lab.jprof, "report", "critical-path", *options, out])
            if done.returncode != 2 or said not in done.stderr:
                failures.append(f"{options}: {done.returncode} {done.stderr}")
        child.run([lab.jprof, "export", "--format", "chrome", "-o", f"{folder}/x.json", out],
                  check=True)
        with open(f"{folder}/x.json", encoding="utf-8") as file:
            instants = [e["name"] for e in json.load(file)["traceEvents"] if e.get("ph") in "iI"]
        if instants != ["begin", "end"]:
            failures.append(f"instants of the export: {instants}")
        child.run([lab.jprof, "export", "--format", "ctf", "-o", f"{folder}/x.ctf", out], check=True)
        if not os.path.isdir(f"{folder}/x.ctf/programs"):
            failures.append("the export has no events of the program")
        # The events of programs are part of the recording: it can be replaced.
        child.run([lab.jprof, "timeline", "--force", "-o", out, "--", "true"], check=True)
        return failures


@case
def counters(lab):
    """What is counted in the stretches of a thread is what happened in the thread."""
    touch = ("import mmap\nm = mmap.mmap(-1, 64 << 20)\nm.madvise(mmap.MADV_NOHUGEPAGE)\n"
             "for i in range(0, 64 << 20, 4096): m[i] = 1")
    with lab.folder() as folder:
        out, _ = record(lab, folder, sys.executable, "-c", touch,
                        options=["-e", "page-faults,context-switches", "-e", "task-clock"])
        found = json.loads(report(lab, "timeline", out, "--format", "json"))
        thread = max(found["threads"], key=lambda one: one["ran_ns"])
        counts = thread["counts"]
        print(thread)
        failures = []
        # Python itself has some thousands.
        if not 64 << 8 <= counts["page-faults"] < 1.5 * (64 << 8):
            failures.append(f"{counts['page-faults']} page faults")
        # After a dispatch that was not seen, it is not known whose the counts are.
        unseen = thread["dispatches"] - counts["context-switches"]
        if not 0 <= unseen <= 5 + 0.1 * thread["dispatches"]:
            failures.append(f"{counts['context-switches']} context switches")
        # The clock of the task runs for some us more at each dispatch, while the kernel switches.
        ran, switches = thread["ran_ns"] + thread["interrupts_ns"], thread["dispatches"] * 50e3
        if not 0.98 * ran < counts["task-clock"] < 1.02 * ran + switches:
            failures.append(f"{counts['task-clock']} ns of task-clock")
        for options, said in ((["-e", "a,b"], "a"), (["-e", "time"], "without being requested"),
                              (["-e", "page-faults,minor-faults,major-faults,task-clock,cpu-clock"],
                               "at most 4")):
            done = child.run([lab.jprof, "timeline", *options, "-o", f"{folder}/no", "--", "true"])
            if done.returncode != 2 or said not in done.stderr:
                failures.append(f"{options}: {done.returncode} {done.stderr}")
        return failures


@case
def with_times(lab):
    """`--metrics noints` measures time, and computes it without the interrupts of each context."""
    with lab.folder() as folder:
        out, _ = record(lab, folder, *lab.command("TimelineKnown", 1, 100),
                        options=["--metrics", "noints"])
        rows = list(csv.DictReader(report(lab, "log-rt", out, "--threads", "merged", "--raw",
                                          "--format", "csv").splitlines()))
        time_ns = sum(float(row["raw:time"]) for row in rows)
        without = sum(float(row["raw:noints"]) for row in rows)
        interrupts = sum(int(row["in"]) for row in rows)
        print(f"{interrupts} interrupts are {(time_ns - without) / 1e6:.2f} ms")
        if (time_ns > without) != (interrupts > 0) or without < 0.5 * time_ns:
            return [f"{time_ns} ns, without {interrupts} interrupts {without} ns"]
        return []


@case
def without_counting(lab):
    """A program that is not counted has stretches, with the system calls in which they end."""
    failures = []
    with lab.folder() as folder:
        out, _ = record(lab, folder, "sh", "-c", "sleep 0.2; sleep 0.1", options=["--system-calls"])
        found = json.loads(report(lab, "timeline", out, "--format", "json"))
        sleeps = [s for s in found["stretches"] if s["then"] == "sleep"]
        if len(sleeps) != 2 or any(s["call"] not in ("clock_nanosleep", "nanosleep") for s in sleeps):
            failures.append(f"sleeps: {sleeps}")
        path = json.loads(report(lab, "critical-path", out, "--format", "json"))
        # On a busy machine the shell may still be ready when the program that it waits for has ended.
        # The kernel may hide the wakeup of the shell: then the wait for the child itself is the cause.
        by_what = collections.Counter()
        for row in path["rows"]:
            by_what[row["what"]] += row["time_ns"]
        # It may also have been ready, and not have got a processor, before that program sleeps.
        waited = by_what["sleep"] + by_what["ready"] + by_what["child"]
        if not 290e6 < waited < found["duration_ns"]:
            failures.append(f"the path has other waits than the two sleeps: {path}")
        for form in ("chrome", "perfetto", "ctf"):
            child.run([lab.jprof, "export", "--format", form, "-o", f"{folder}/x.{form}", out],
                      check=True)
        events = json.load(open(f"{folder}/x.chrome", encoding="utf-8"))["traceEvents"]
        # Those of other programs are in it, too.
        if sum(e.get("name", "").startswith("sleep: clock_nanosleep") for e in events) < 2:
            failures.append("the export does not have the two sleeps")
        again = child.run([lab.jprof, "timeline", "--force", "-o", out, "--", "true"])
        if again.returncode:
            failures.append(f"--force: {again.stderr}")
    return failures


@case
def whole_machine(lab):
    """`jprof system-trace` has events of other processes, and all kinds of them."""
    with lab.folder() as folder:
        other = subprocess.Popen(["sh", "-c", "while :; do sleep 0.05; done"])
        try:
            done = child.run([lab.jprof, "system-trace", "--duration", "1", "-o", f"{folder}/s.jprof"])
        finally:
            other.kill()
            other.wait()
        if "jprof: the kernel " in done.stderr:
            raise Skip(done.stderr.strip())
        shown = json.loads(child.run([lab.jprof, "events", "show", "--format", "json",
                                      f"{folder}/s.jprof/events/kernel"], check=True).stdout)
        names = {e["event"].split("::")[-1] for e in shown["events"] if e["logged"]}
        wanted = {"dispatch", "interrupt_begin", "interrupt_end", "wakeup", "fork", "exec", "exit",
                  "page_fault", "system_call_begin", "system_call_end"}
        rows = list(csv.DictReader(report(lab, "utilisation", f"{folder}/s.jprof", "--format",
                                          "csv").splitlines()))
        failures = [f"no events {wanted - names}"] if wanted - names else []
        if not any(int(r["kernel_ns"]) for r in rows):
            failures.append("no time in the kernel")
        return failures


@case
def nothing_stays(lab):
    """After kill -9 of jprof, its programs are no longer in the kernel."""
    if shutil.which("bpftool") is None:
        raise Skip("bpftool is not installed")
    with lab.folder() as folder:
        before = loaded_programs()
        process = subprocess.Popen([lab.jprof, "system-trace", "-o", f"{folder}/k.jprof"],
                                   stderr=subprocess.PIPE, text=True)
        try:
            for _ in range(300):
                own = loaded_programs() - before
                if own or process.poll() is not None:
                    break
                time.sleep(0.05)
            if process.poll() is not None:
                raise Skip(process.stderr.read().strip())
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        for _ in range(200):  # the kernel frees them a little later
            left = loaded_programs() & own
            if not left:
                return []
            time.sleep(0.05)
        return [f"these programs stay: {left}"]


if __name__ == "__main__":
    sys.exit(case.main(__doc__))
