#!/usr/bin/env python3
"""What callstack sampling costs, interleaved runs on every JDK:

  share   CPU time of javac on JDK sources, the whole process: without the agent, with it loaded but not sampling, and at 100
          and 1,000 samples a second of each thread's CPU time. Bounds: below 1 % and 4 % of what it takes not sampling. And
          what the same runs' profiles say was spent in the signal handler, which does not suffer from the machine's noise,
          but for what the handler was interrupted; the kernel's part of a signal (1 to 2 us) comes on top.
  depth   microseconds of CPU time for one sample by depth of the stack, compiled and interpreted: what a thread takes longer
          for fixed work at 10,000 samples a second, over the samples it got.

Usage: scs_cost.py [--build DIR] [--rounds N] [--files N] [--only share|depth] [--jdk N]
Exits with 1 if a median misses its bound.
"""
import argparse
import os
import shutil
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "e2e"))
import accuracy  # noqa: E402
import measure  # noqa: E402
import sampled  # noqa: E402

BOUNDS = {"100": 1.0, "1000": 4.0}


def agent(lab, rate, *more):
    """The JVM's option that loads the agent, as `jprof scs` gives it, and the profile's folder."""
    out = os.path.join(lab.work, "cost.jprof")
    shutil.rmtree(out, ignore_errors=True)
    return "-agentpath:" + lab.agent + "=" + ",".join([f"SCS=TIME={1_000_000_000 // rate}", f"OUT={out}", *more]), out


def share(lab, jdk, options):
    arguments = accuracy.javac_arguments(lab.work, options.files)
    modes = {"none": [], "idle": [100, "NOSTART"], "100": [100], "1000": [1000]}

    handlers = {name: [] for name in BOUNDS}

    def once(name):
        option, out = agent(lab, *modes[name]) if modes[name] else (None, None)
        flags = [option] if option else []
        done = measure.run([jdk.tool("java"), *flags, "-cp", options.trainers, "jprof.trainers.TimedCompile", *arguments])
        sampled.check(done.status == 0, f"javac: status {done.status}")
        if name in handlers:
            stacks = lab.tree(out).report["stacks"]
            handlers[name].append((stacks["cost_ns"] / 1e9 / done.cpu, stacks["taken"] / done.cpu))
        return done

    runs = measure.interleaved(list(modes), options.rounds, once)
    base = measure.median(runs["idle"])
    missed = []
    for name in modes:
        # The rounds' own ratios: what slows the machine down slows a whole round.
        ratios = [100 * (r.cpu / i.cpu - 1) for r, i in zip(runs[name], runs["idle"])]
        more = 100 * (measure.median(runs[name]) / base - 1)
        bound = BOUNDS.get(name)
        verdict = "" if bound is None else f"   bound {bound} %: {'ok' if more < bound else 'MISSED'}"
        print(f"{jdk.name} javac {name:<5} {measure.median(runs[name]):7.2f} s CPU, {more:+6.2f} % (median of the rounds' own: "
              f"{statistics.median(ratios):+.2f} %, spread +-{100 * measure.spread(runs[name]):.1f} %){verdict}", flush=True)
        if name in handlers:
            spent, taken = (statistics.median(part) for part in zip(*handlers[name]))
            print(f"{jdk.name} javac {name:<5} in the handler {100 * spent:.2f} % of the CPU time, {taken:.0f} stacks per second of it",
                  flush=True)
        if bound is not None and more >= bound:
            missed.append(f"{name}/s on {jdk.name}")
    return missed


def depth(lab, jdk, options):
    for mode, steps in (("compiled", options.steps), ("interpreted", options.steps // 40)):
        flags = ["-Xint"] if mode == "interpreted" else []
        for frames in (20, 200, 1000):
            def once(rate):
                option, out = agent(lab, rate or 100, *([] if rate else ["NOSTART"]))
                done = measure.run(lab.java(jdk, "SampledDepth", frames, steps, jvm=[*flags, "-Xss16m", option]))
                sampled.check(done.status == 0, f"SampledDepth: status {done.status}")
                samples = 0
                if rate:
                    samples = sum(n for path, n in lab.tree(out).rows("main") if sum(".down(" in f for _, f in path) >= frames)
                return int(done.stdout.split()[1]) / 1000, samples

            runs = measure.interleaved([0, 10_000], options.rounds, once)
            plain = statistics.median(t for t, _ in runs[0])
            busy, samples = (statistics.median(column) for column in zip(*runs[10_000]))
            print(f"{jdk.name} depth {frames:<5} {mode:<12} {(busy - plain) / samples:6.1f} us a sample "
                  f"({samples:.0f} samples, {plain / 1e6:.2f} s and {busy / 1e6:.2f} s of CPU)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    build = os.path.join(HERE, "..", "build", "release")
    sampled.arguments(parser, build)
    parser.add_argument("--trainers", default=os.path.join(build, "share", "jprof", "trainers.jar"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--files", type=int, default=400, help="how many sources javac gets")
    parser.add_argument("--steps", type=int, default=1000, help="millions of steps of the work at depth")
    parser.add_argument("--only", choices=["share", "depth"])
    options = parser.parse_args()
    missed = []
    for jdk in sampled.jdks_of(options):
        with sampled.folder() as work:
            lab = sampled.lab_of(options, work)
            if options.only != "share":
                depth(lab, jdk, options)
            if options.only != "depth":
                missed += share(lab, jdk, options)
    if missed:
        sys.exit("missed: " + ", ".join(missed))


if __name__ == "__main__":
    main()
