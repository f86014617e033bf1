#!/usr/bin/env python3
"""What callstack sampling costs, interleaved runs on every JDK:

  share   CPU time of javac on JDK sources, the whole process, turn by turn in one warm JVM: one with samples, one without, at
          100 and 1,000 samples a second of each thread's CPU time. Bounds: below 1 % and 4 %, with the 95 % interval of the
          pairs' median. Beside it what the profile says was spent in the signal handler (the kernel's part of a signal, 1 to
          2 us, comes on top), and a JVM with the agent that does not sample to one without the agent.
  depth   microseconds of CPU time for one sample by depth of the stack, compiled and interpreted: what a thread takes longer
          for fixed work at --rate samples a second, over the samples it got.

Usage: scs_cost.py [--build DIR] [--pairs N] [--files N] [--rounds N] [--rate N] [--only share|depth] [--jdk N]
Exits with 1 if an interval is not below its bound.
"""
import argparse
import math
import os
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "e2e"))
import accuracy  # noqa: E402
import measure  # noqa: E402
import sampled  # noqa: E402

BOUNDS = {100: 1.0, 1000: 4.0}  # samples a second: % of CPU


def agent(lab, rate, *more):
    """The JVM's option that loads the agent, as `jprof scs` gives it, and the profile's folder."""
    out = os.path.join(lab.work, f"cost{rate}.jprof")
    shutil.rmtree(out, ignore_errors=True)
    return "-agentpath:" + lab.agent + "=" + ",".join([f"SCS=TIME={1_000_000_000 // rate}", f"OUT={out}", *more]), out


class Compiler:
    """A JVM that compiles the same files again and again, one turn at a time."""

    def __init__(self, lab, jdk, arguments, rate=None):
        flags, self.out = [], None
        if rate:
            option, self.out = agent(lab, rate, "NOSTART")
            flags = [option]
        self.jprof = lab.jprof
        self.process = subprocess.Popen([jdk.tool("java"), *flags, "-cp", lab.work, "CompileTurns", *arguments],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def turn(self):
        """Its CPU time, seconds."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        sampled.check(line, "javac ended")
        return int(line) / 1e9

    def sampled_turn(self):
        self.control("start")
        try:
            return self.turn()
        finally:
            self.control("stop")

    def control(self, command):
        done = subprocess.run([self.jprof, "ctl", str(self.process.pid), command], capture_output=True, text=True)
        sampled.check(done.returncode == 0, done.stderr)

    def end(self):
        self.process.stdin.close()
        sampled.check(self.process.wait() == 0, f"javac: status {self.process.returncode}")


def describe(name, ratios):
    """Prints the median of the pairs' ratios less 1, with its 95 % interval (order statistics); answers both ends."""
    ratios = sorted(100 * (r - 1) for r in ratios)
    n = len(ratios)
    reach = 1.96 * math.sqrt(n) / 2
    low, high = ratios[max(0, math.floor(n / 2 - reach))], ratios[min(n - 1, math.ceil(n / 2 + reach))]
    print(f"{name} {statistics.median(ratios):+6.2f} % CPU (95 %: {low:+.2f} to {high:+.2f}; {n} pairs)", end="")
    return low, high


def share(lab, jdk, options):
    arguments = accuracy.javac_arguments(lab.work, options.files)
    source = os.path.join(HERE, "java", "CompileTurns.java")
    subprocess.run([jdk.tool("javac"), "-d", lab.work, source], check=True)
    missed = []
    for rate, bound in BOUNDS.items():
        plain, loaded = Compiler(lab, jdk, arguments), Compiler(lab, jdk, arguments, rate)
        for _ in range(options.warm):
            plain.turn(), plain.turn(), loaded.turn(), loaded.sampled_turn()
        on, idle, taking = [], [], []
        for i in range(options.pairs):
            none = plain.turn()
            if i % 2:
                off, with_samples = loaded.turn(), loaded.sampled_turn()
            else:
                with_samples, off = loaded.sampled_turn(), loaded.turn()
            on.append(with_samples / off)
            idle.append(off / none)
            taking.append(with_samples)
        plain.end(), loaded.end()
        stacks = lab.tree(loaded.out).report["stacks"]
        low, high = describe(f"{jdk.name} javac {rate:5}/s: sampling to not", on)
        verdict = "ok" if high < bound else "MISSED" if low >= bound else "not shown: the interval holds the bound"
        print(f"   bound {bound} %: {verdict}")
        share = 100 * stacks["cost_ns"] / 1e9 / (sum(taking) + options.warm * statistics.median(taking))
        print(f"{jdk.name} javac {rate:5}/s: in the handler {share:.2f} % of the CPU time, {stacks['taken']} stacks")
        describe(f"{jdk.name} javac {rate:5}/s: agent loaded to none, two JVMs", idle)
        print(flush=True)
        if verdict != "ok":
            missed.append(f"{rate}/s on {jdk.name}")
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

            runs = measure.interleaved([0, options.rate], options.rounds, once)
            plain = statistics.median(t for t, _ in runs[0])
            busy, samples = (statistics.median(column) for column in zip(*runs[options.rate]))
            print(f"{jdk.name} depth {frames:<5} {mode:<12} {(busy - plain) / samples:6.1f} us a sample "
                  f"({samples:.0f} samples, {plain / 1e6:.2f} s and {busy / 1e6:.2f} s of CPU)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    build = os.path.join(HERE, "..", "build", "release")
    sampled.arguments(parser, build)
    parser.add_argument("--warm", type=int, default=30, help="turns of each kind before it counts: javac needs that many")
    parser.add_argument("--pairs", type=int, default=60, help="turns with and without samples")
    parser.add_argument("--files", type=int, default=60, help="how many sources javac gets")
    parser.add_argument("--rounds", type=int, default=7, help="of depth")
    parser.add_argument("--steps", type=int, default=1000, help="millions of steps of the work at depth")
    parser.add_argument("--rate", type=int, default=1000, help="samples a second, of depth")
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
