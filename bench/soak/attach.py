#!/usr/bin/env python3
"""Attaches the agent to a loaded program and detaches it, many times, on every JDK. Prints what
remains in the program, and its CPU time per unit of work after the last time against that before
the first.

Usage: attach.py --jprof JPROF --agent LIB --programs DIR [--cycles 100] [--jdk N] [--windows 30]

Two undisturbed JVMs run beside it. Speeds differ by up to 4 % between JVMs that run the same
program, as the compilers decide differently, so each JVM is compared with itself; one of the two
shows what the machine changed meanwhile, and the other the error of this comparison. In a window
one JVM runs, on one CPU, and the others are stopped. The figure is the 10 % quantile of the CPU
times of its batches of 0.2 ms: other programs on the same core slow down most batches.

Exit status 1 after a crash, a wrong answer, if something remains, if the cost differs by more than
2 %, or if the error of the comparison is more than 1 %.
"""
import argparse
import contextlib
import os
import shutil
import signal
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import attaching  # noqa: E402
import jvms  # noqa: E402
from lab import Lab  # noqa: E402

SAMPLED = ("SCS", "TPROF", "SCS=ALLOCATED_BYTES")
PROBED = ("SCS", "CALLFLOW", "CALLFLOW,FOCUS=AttachLoad*", "CALLTREE")
LAST_WITH_PROBE = 23
FLAGS = ("-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC")
WINDOW = 0.2  # seconds
MOST_CHANGE, MOST_ERROR = 0.02, 0.01


def threads_of(program):
    return [int(tid) for tid in os.listdir(f"/proc/{program.pid}/task")]


def compiler_ticks(program):
    """CPU time of the compiler threads, in clock ticks."""
    ticks = 0
    for tid in threads_of(program):
        with contextlib.suppress(OSError):
            with open(f"/proc/{program.pid}/task/{tid}/stat", encoding="utf-8") as f:
                name, fields = f.read().split("(", 1)[1].rsplit(")", 1)
            if name.startswith(("C1 Compiler", "C2 Compiler")):
                ticks += sum(map(int, fields.split()[11:13]))
    return ticks


def settle(programs, quiet=4, most=90):
    """Waits until the compilers do almost nothing for some seconds."""
    time.sleep(10)
    end = time.monotonic() + most
    while time.monotonic() < end:
        before = [compiler_ticks(p) for p in programs]
        time.sleep(quiet)
        if all(compiler_ticks(p) - ticks < 3 for p, ticks in zip(programs, before)):
            return


def run_on(program, cpus):
    for tid in threads_of(program):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(tid, cpus)


def window(program):
    os.kill(program.pid, signal.SIGCONT)
    program.batches()
    time.sleep(WINDOW)
    taken = program.batches()
    os.kill(program.pid, signal.SIGSTOP)
    return taken


def costs(programs, windows):
    """CPU time per unit of work of each, in us."""
    cpus = os.sched_getaffinity(0)
    batches = [[] for _ in programs]
    for program in programs:
        run_on(program, {max(cpus)})
        os.kill(program.pid, signal.SIGSTOP)
    for _ in range(windows):
        for program, own in zip(programs, batches):
            own.extend(window(program))
    for program in programs:
        os.kill(program.pid, signal.SIGCONT)
        run_on(program, cpus)
    return [sorted(own)[len(own) // 10] / 1000 / attaching.BATCH for own in batches]


def cycle(lab, program, number):
    choices = PROBED if lab.jdk.major <= LAST_WITH_PROBE else SAMPLED
    out = f"{program.folder}/{number}.jprof"
    program.load(f"{choices[number % len(choices)]},OUT={out}")
    time.sleep(0.2)
    program.detach()
    shutil.rmtree(out)


def lacks(first, last, change, error):
    """What is wrong, as texts."""
    if len(last["fds"]) > len(first["fds"]) + 1:
        yield f"descriptors remain: {last['fds']}"
    if [name for name in last["threads"] if name.startswith("jprof")]:
        yield f"threads remain: {last['threads']}"
    if [line for line in last["maps"] if ".jprof" in line]:
        yield "mapped profiles remain"
    if abs(error) > MOST_ERROR:
        yield f"the machine is too noisy: two undisturbed JVMs differ by {error:.1%}"
    elif abs(change) > MOST_CHANGE:
        yield f"the cost changed by {change:.1%}"


def measure(lab, cycles, windows):
    """Runs all cycles on one JDK. Returns whether nothing remained."""
    with lab.folder() as folder, contextlib.ExitStack() as running:
        programs = [running.enter_context(attaching.program(lab, folder, 1, FLAGS, pause=0))
                    for _ in range(3)]
        program, beside, _ = programs
        settle(programs)
        before = costs(programs, windows)
        cycle(lab, program, 0)
        first, beside_first = program.remains(), beside.remains()
        for number in range(1, cycles):
            cycle(lab, program, number)
        last, beside_last = program.remains(), beside.remains()
        settle(programs)
        after = costs(programs, windows)
    changes = [a / b for a, b in zip(after, before)]
    change, error = (changes[i] / changes[1] - 1 for i in (0, 2))
    print(f"{lab.jdk.name}: {cycles} cycles, no crash, no wrong answer")
    for what in ("threads", "fds", "maps"):
        print(f"  {what}: {len(first[what])} after the first cycle, {len(last[what])} at the end; in "
              f"an undisturbed JVM {len(beside_first[what])} and {len(beside_last[what])}")
    print(f"  resident: {first['rss']} KiB after the first cycle, {last['rss']} KiB at the end; in "
          f"an undisturbed JVM {beside_first['rss']} and {beside_last['rss']} KiB")
    for name, b, a in zip(("program", "undisturbed", "undisturbed"), before, after):
        print(f"  CPU per unit, {name}: {b:.3f} us before, {a:.3f} us after, ratio {a / b:.4f}")
    print(f"  change by attaching {change:+.2%}; of the undisturbed JVMs {error:+.2%}", flush=True)
    wrong = list(lacks(first, last, change, error))
    for text in wrong:
        print(f"  FAILED: {text}", flush=True)
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("jprof", "agent", "programs"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--windows", type=int, default=30)
    parser.add_argument("--jdk", type=int)
    args = parser.parse_args()
    good = True
    for jdk in jvms.needed_jdks([args.jdk] if args.jdk else ()):
        lab = Lab(os.path.abspath(args.jprof), os.path.abspath(args.agent),
                  os.path.abspath(args.programs), jdk)
        good = measure(lab, args.cycles, args.windows) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
