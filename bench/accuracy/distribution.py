#!/usr/bin/env python3
"""Compares the quantiles of `jprof callflow --distribution` with the lengths that a program gives
its calls, and measures what timing a call by itself costs.

Each length is a run of its own, of tests/cli/TimedCalls.java. The true length is the CPU time of
the calls of an unprofiled run, divided by their number. The first 20,000 calls of a run are short:
they have the methods compiled. The cost is the CPU time of the same calls under callflow with
--distribution less that under callflow without, divided by their number; the median of the runs.

Usage: distribution.py [--runs N] [--jdk N] [--calibrate]
  --calibrate  first calibrates callflow, quickly, for this machine and JDK, in a data directory of its own
"""
import argparse
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.append(os.path.join(ROOT, "tests", "e2e"))
import jvms  # noqa: E402

JPROF = os.path.join(ROOT, "build", "release", "bin", "jprof")
LENGTHS = ("1000", "10000", "100000", "1000000", "1000:50000000")
SHORT = 20_000  # calls before those that are measured


def output_of(command, **more):
    done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **more)
    return done.stdout


class Bench:
    def __init__(self, folder, jdk):
        self.folder, self.jdk, self.rounds = folder, jdk, None
        self.env = {**os.environ, "XDG_DATA_HOME": os.path.join(folder, "data")}
        source = os.path.join(ROOT, "tests", "cli", "TimedCalls.java")
        output_of([jdk.tool("javac"), "-d", folder, source])

    def run(self, length, *jprof):
        """The number of calls, and their mean in ns as the program measures it."""
        java = self.jdk.java(*([f"-Drounds={self.rounds}"] if self.rounds else []), "TimedCalls",
                             length)
        text = output_of([*jprof, *java], cwd=self.folder, env=self.env,
                         stderr=subprocess.DEVNULL)
        self.rounds = self.rounds or re.search(r"^rounds (\S+)", text, re.M)[1]
        _, calls, mean = text.splitlines()[-1].split()
        return int(calls), float(mean)

    def profiled(self, length, *options):
        profile = os.path.join(self.folder, "calls.jprof")
        shutil.rmtree(profile, ignore_errors=True)
        calls, mean = self.run(length, JPROF, "callflow", "-o", profile, *options, "--")
        return calls, mean, profile

    def row(self, profile):
        text = output_of([JPROF, "report", "distribution", profile, "--format", "json"],
                         env=self.env)
        report = json.loads(text)
        return report["methods"][0], report["metrics"][0]["calibrated"]


def octaves(times_and_counts):
    """How many calls took from 2^k to 2^(k+1) ns, by k."""
    found = {}
    for time, count in times_and_counts:
        k = math.floor(math.log2(max(1, time)))
        found[k] = found.get(k, 0) + count
    return found


def print_histogram(bench):
    """The calls of `bimodal` as the program has timed each of them, and as the profile has them."""
    profile = os.path.join(bench.folder, "bimodal.jprof")
    text = output_of([JPROF, "callflow", "--focus", "TimedCalls", "-o", profile, "--distribution",
                      "TimedCalls.bimodal", "--", *bench.jdk.java(), "TimedCalls"],
                     cwd=bench.folder, env=bench.env, stderr=subprocess.DEVNULL)
    own = next(line.split()[2:] for line in text.splitlines() if line.startswith("times bimodal"))
    row, _ = bench.row(profile)
    theirs = octaves((int(time), 1) for time in own)
    ours = octaves((mean, count) for mean, count in zip(row["cpu_bucket_mean_ns"], row["cpu_calls"])
                   if count)
    print("| CPU time of a call of `bimodal` | by the program | by jprof |\n|---|---|---|")
    for k in sorted({*theirs, *ours}):
        print(f"| {2 ** k / 1000:.0f} to {2 ** (k + 1) / 1000:.0f} us | {theirs.get(k, 0)} | "
              f"{ours.get(k, 0)} |")
    print()


def without_short(row, calls):
    """The quantiles of the last `calls` calls of a row: those before them are shorter."""
    times = []
    for count, mean in zip(row["cpu_calls"], row["cpu_bucket_mean_ns"]):
        times += [mean] * count
    times = sorted(times)[-calls:]
    return [times[max(0, -(-len(times) * q // 100) - 1)] for q in (50, 90, 99)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jdk", type=int, default=17)
    parser.add_argument("--calibrate", action="store_true")
    options = parser.parse_args()
    jdk = next(one for one in jvms.find_jdks() if one.major == options.jdk)
    folder = tempfile.mkdtemp(prefix="jprof-distribution-")
    try:
        bench = Bench(folder, jdk)
        if options.calibrate:
            subprocess.run([JPROF, "calibrate", "--quick", "--java", jdk.tool("java")], check=True,
                           env=bench.env, stdout=subprocess.DEVNULL)
        print_histogram(bench)
        print("| length, ns | calls | true mean | P50 | P90 | P99 | MAX | P50 / true |")
        print("|---|---|---|---|---|---|---|---|")
        calibrated = None
        for length in LENGTHS:
            calls, true = bench.run(length)
            if ":" in length:  # the mean of the short ones
                true = (true * calls - 3 * float(length.split(":")[1])) / calls
            _, _, profile = bench.profiled(length, "--distribution", "TimedCalls.length")
            row, calibrated = bench.row(profile)
            assert row["calls"] == calls + SHORT, (row["calls"], calls)
            p50, p90, p99 = without_short(row, calls)
            print(f"| {length} | {calls} | {true:.0f} | {p50:.0f} | {p90:.0f} | {p99:.0f} | "
                  f"{row['cpu_max_ns']:.0f} | {p50 / true:.3f} |", flush=True)
        print("calibrated" if calibrated else "not calibrated")
        costs = []
        for _ in range(options.runs):
            plain = bench.profiled("1000")[1]
            watched = bench.profiled("1000", "--distribution", "TimedCalls.length")[1]
            costs.append(watched - plain)
        print(f"cost of a watched call: {statistics.median(costs):.0f} ns "
              f"({min(costs):.0f} to {max(costs):.0f})")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
