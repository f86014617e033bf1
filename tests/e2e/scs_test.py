#!/usr/bin/env python3
"""Callstack sampling against what is known: shares of methods of all kinds, virtual threads, what the JVM's own beans
say of blocking and allocation, idle and wall-clock time.

Usage: scs_test.py --jprof JPROF --agent LIB --programs DIR [--native LIB] [--case NAME] [--list]
"""
import argparse
import os
import sys

import jvms
import sampled
from sampled import check

CASES = {}
BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "release")


def case(function):
    CASES[function.__name__] = function
    return function


def parts(lab, jdks, modes, seconds=2.5, rate=1000):
    for jdk in jdks:
        for mode in modes:
            rows, tree = sampled.known_parts(lab, jdk, mode, seconds, rate)
            sampled.print_parts(f"{jdk.name} {mode}", rows, tree)
            # 4 standard errors of a share of 25 % in 2,500 samples are 3.5 points; timers are steadier than chance.
            for name, true, got in rows:
                check(abs(true - got) < 3, f"{jdk.name} {mode}: {name} has {got:.2f} % of the samples and {true:.2f} % of the time")
            check(tree.unknown_percent() < 1, f"{jdk.name} {mode}: {tree.unknown_percent():.2f} % unknown")
            each = tree.report["stacks"]["cost_ns"] / tree.taken
            check(500 < each < 10_000_000, f"{jdk.name} {mode}: a stack cost {each:.0f} ns")
            check(tree.deepest("down400") == 401, f"down400: {tree.deepest('down400')} frames on a stack, not 401")
            check(tree.deepest("down1500") == 1501, f"down1500: {tree.deepest('down1500')} frames, not 1501")
            if lab.native:
                inside, leaf = tree.below("nativeSpin", "main"), tree.below("nativeSpin", "main", leaf="libsampled_parts.so.")
                check(leaf > 0.95 * inside, f"{inside} samples in the native method, {leaf} of them in its C functions")
            if mode in ("c2", "default"):
                inside, inlined = tree.below("inlinedFour", "main"), tree.below("inlinedFour", "main", types="lL")
                check(inlined > 0.7 * inside, f"inlinedFour: {inlined} of {inside} samples are in inlined code")
                check(tree.below("separateFour", "main", types="lL") == 0, "separateFour is not inlined")


@case
def parts_compiled(lab, jdks):
    """Shares of SampledParts' parts as the program measured them: tiered, and C2 alone."""
    parts(lab, jdks, ["default", "c2"])


@case
def parts_other(lab, jdks):
    """The same interpreted, and by C1 alone."""
    parts(lab, jdks, ["int", "c1"])


@case
def virtual(lab, jdks):
    """Virtual threads at 1:2:4: their own stacks, no frame of a carrier, one row for all of a carrier's."""
    for jdk in [j for j in jdks if j.major >= 21] or jvms.needed_jdks(least=21):
        output, directory = lab.record(["--rate", "1000"], lab.java(
            jdk, "SampledVirtual", 20, 3_000_000, jvm=["-Djdk.virtualThreadScheduler.parallelism=1"]))
        check(output == "done\n", output)
        tree = lab.tree(directory)
        counts = [tree.below(name) for name in ("one", "two", "four")]
        shares = [100 * n / sum(counts) for n in counts]
        print(f"{jdk.name}: {counts}: {shares[0]:.1f} {shares[1]:.1f} {shares[2]:.1f} %, unknown {tree.unknown_percent():.2f} %")
        for got, true in zip(shares, (14.29, 28.57, 57.14)):
            check(abs(got - true) < 4, f"shares {shares}, not 1:2:4")
        check(tree.unknown_percent() < 1, f"{tree.unknown_percent():.2f} % unknown")
        check(tree.deepest("four") == 51, f"{tree.deepest('four')} frames of four, not 51")
        carried = sum(n for path, n in tree.rows() if any(".four(" in name for _, name in path)
                      and any("VirtualThread.runContinuation" in name or "ForkJoinPool" in name for _, name in path))
        check(carried == 0, f"{carried} samples of virtual threads with frames of their carrier")


def of_metric(lab, directory, name):
    tree = lab.tree(directory)
    tree.metric = tree.metrics().index(name)
    return tree


@case
def contention(lab, jdks):
    """MONITOR_CONTENDED_ENTERED's time is ThreadMXBean's blocked time; its samples are the blocked counts."""
    for jdk in jdks:
        output, directory = lab.record(["--event", "MONITOR_CONTENDED_ENTERED", "--event", "MONITOR_CONTENDED_ENTER", "--objects"],
                                       lab.java(jdk, "SampledEvents", "contention", 50))
        beans = [line.split() for line in output.splitlines() if line.startswith("blocked ")]
        blocked, count = sum(int(b[2]) for b in beans) * 1e6, sum(int(b[3]) for b in beans)
        tree = of_metric(lab, directory, "MONITOR_CONTENDED_ENTERED")
        waited, objects = tree.below("contend"), tree.below("contend", leaf="java/lang/Object")
        entered = of_metric(lab, directory, "MONITOR_CONTENDED_ENTERED.samples").below("contend")
        enter = of_metric(lab, directory, "MONITOR_CONTENDED_ENTER").below("contend")
        print(f"{jdk.name}: blocked {blocked / 1e6:.0f} ms, waited {waited / 1e6:.1f} ms: {100 * waited / blocked - 100:+.2f} %; "
              f"counts {count}, {enter}, {entered}")
        check(abs(waited / blocked - 1) < 0.05, "the times differ by more than 5 %")
        check(enter == entered and abs(enter - count) <= 0.05 * count, f"{count} by the bean, {enter} enter, {entered} entered")
        check(objects == waited, f"{objects} of {waited} ns have the object's class as their leaf")


@case
def allocation(lab, jdks):
    """ALLOCATED_BYTES estimates what ThreadMXBean counts, of small and of large objects."""
    for jdk in jdks:
        output, directory = lab.record(["--event", "ALLOCATED_BYTES=8192", "--objects"],
                                       lab.java(jdk, "SampledEvents", "allocation", 200))
        allocated = int(output.split()[1])
        tree = of_metric(lab, directory, "ALLOCATED_BYTES")
        estimate = tree.below("allocation", "main")
        samples = of_metric(lab, directory, "ALLOCATED_BYTES.samples").below("allocation", "main")
        print(f"{jdk.name}: {allocated} bytes allocated, {estimate} estimated from {samples} samples: "
              f"{100 * estimate / allocated - 100:+.2f} %")
        check(abs(estimate / allocated - 1) < 0.05, "the estimate is off by more than 5 %")
        for kind in ("java/lang/StringBuilder", "[B", "[J", "[I"):
            part = tree.below("allocation", "main", leaf=kind)
            print(f"    {kind}: {100 * part / estimate:.1f} %")
            check(part > 0.15 * estimate, f"{part} bytes of {kind} in {estimate}")


@case
def idle(lab, jdks):
    """WALL is every thread's elapsed time; CPU time and IDLE together are, too."""
    for jdk in jdks:
        for events in (["WALL=10"], ["TIME", "IDLE=10"]):
            options = [text for event in events for text in ("--event", event)]
            output, directory = lab.record(["--rate", "1000", *options], lab.java(jdk, "SampledEvents", "idle", 1500))
            trees = [of_metric(lab, directory, event) for event in lab.tree(directory).metrics()]
            for _, name, elapsed, ran in [line.split() for line in output.splitlines() if line.startswith("thread ")]:
                sums = [t.below("timed", name) * t.report["metrics"][t.metric]["period"] for t in trees]
                ratio = sum(sums) / int(elapsed)
                print(f"{jdk.name} {'+'.join(events)} {name:<8} elapsed {int(elapsed) / 1e6:.0f} ms, ran {int(ran) / 1e6:.0f} ms, "
                      f"sampled {' + '.join(f'{s / 1e6:.0f}' for s in sums)} ms: {100 * ratio:.1f} %")
                # What passes between a thread's last tick and its end is not seen.
                check(0.95 < ratio < 1.05, f"{name}: {100 * ratio:.1f} % of its time")


def storms(lab, jdks, names):
    for i, jdk in enumerate(jdks):
        for k, name in enumerate(names):
            flags = ["-XX:+UseZGC"] if (i + k) % 2 else []
            tree = sampled.storm(lab, jdk, name, 5, flags)
            if name == "calltree":
                print(f"{jdk.name} {name} {flags}: fine")
                continue
            print(f"{jdk.name} {name} {flags}: {tree.taken} samples, unknown {tree.unknown_percent():.3f} %")
            check(tree.taken > 1000, f"{tree.taken} samples")
            check(tree.unknown_percent() < 1, f"{tree.unknown_percent():.2f} % unknown")


@case
def storm_time(lab, jdks):
    """40 threads of all kinds at 1 kHz, walking stacks, and charging calltree's nodes."""
    storms(lab, jdks, ["time", "calltree"])


@case
def storm_events(lab, jdks):
    """The same at several events at once."""
    storms(lab, jdks, ["all"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sampled.arguments(parser, BUILD)
    parser.add_argument("--case", choices=list(CASES))
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(CASES))
        return
    for name in [options.case] if options.case else CASES:
        print(f"{name}: {CASES[name].__doc__.splitlines()[0]}", flush=True)
        with sampled.folder() as work:
            try:
                CASES[name](sampled.lab_of(options, work), sampled.jdks_of(options))
            except sampled.Bad as bad:
                sys.exit(f"FAILED: {bad}")


if __name__ == "__main__":
    main()
