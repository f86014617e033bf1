#!/usr/bin/env python3
"""Attaches the agent to a loaded program and detaches it, many times, on every JDK. Prints what
remains in the program, and its CPU time per unit of work before the first and after the last time,
relative to an undisturbed JVM beside it.

Usage: attach.py --jprof JPROF --agent LIB --programs DIR [--cycles 100] [--jdk N] [--rounds 7]

Exit status 1 after a crash, a wrong answer, or something that remains.
"""
import argparse
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "e2e"))
import attaching  # noqa: E402
import jvms  # noqa: E402
from lab import Lab  # noqa: E402

SAMPLED = ("SCS", "TPROF", "SCS=ALLOCATED_BYTES")
PROBED = ("SCS", "CALLFLOW", "CALLFLOW,FOCUS=AttachLoad*", "CALLTREE")
LAST_WITH_PROBE = 23


def cost(program, seconds=0.5):
    """CPU time per unit of work, in us."""
    units, cpu, _ = program.state()
    time.sleep(seconds)
    more, later, _ = program.state()
    return (later - cpu) / max(1, more - units) / 1000


def costs(program, beside, rounds):
    """Medians of interleaved measurements: the program's, and those of the program beside it."""
    pairs = [(cost(program), cost(beside)) for _ in range(rounds)]
    return [statistics.median(values) for values in zip(*pairs)]


def cycle(lab, program, number):
    choices = PROBED if lab.jdk.major <= LAST_WITH_PROBE else SAMPLED
    options = choices[number % len(choices)]
    program.load(f"{options},OUT={program.folder}/{number}.jprof")
    time.sleep(0.2)
    program.detach()


def measure(lab, cycles, rounds):
    """Runs all cycles on one JDK. Returns whether nothing remained."""
    with lab.folder() as folder, attaching.program(lab, folder, 1) as program, \
            attaching.program(lab, folder, 1) as beside:
        time.sleep(30)  # both are compiled
        before, undisturbed = costs(program, beside, rounds)
        cycle(lab, program, 0)
        first = program.remains()
        for number in range(1, cycles):
            cycle(lab, program, number)
        time.sleep(30)
        after, undisturbed_after = costs(program, beside, rounds)
        last = program.remains()
        heap = beside.remains()["rss"]
    ratio = (after / before) / (undisturbed_after / undisturbed)
    print(f"{lab.jdk.name}: {cycles} cycles, no crash, no wrong answer")
    for what in ("threads", "fds", "maps"):
        print(f"  {what}: {len(first[what])} after the first cycle, {len(last[what])} at the end")
    print(f"  resident: {first['rss']} KiB after the first cycle, {last['rss']} KiB at the end, "
          f"{heap} KiB in the JVM beside it")
    print(f"  CPU per unit: {before:.2f} us before, {after:.2f} us after; beside it "
          f"{undisturbed:.2f} and {undisturbed_after:.2f} us; ratio {ratio:.3f}", flush=True)
    return len(last["fds"]) <= len(first["fds"]) + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("jprof", "agent", "programs"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--jdk", type=int)
    args = parser.parse_args()
    good = True
    for jdk in jvms.needed_jdks([args.jdk] if args.jdk else ()):
        lab = Lab(os.path.abspath(args.jprof), os.path.abspath(args.agent),
                  os.path.abspath(args.programs), jdk)
        good = measure(lab, args.cycles, args.rounds) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
