#!/usr/bin/env python3
"""Runs `jprof scs` at a high rate on a program that starts 2,000 threads, each with a few ms of CPU
time. The output must be that of the program alone. At the rate that jprof announces, at most 10 %
of the CPU time may be in interrupts according to /proc/stat, and at most 20 % in interrupts and the
delivery of signals.

Prints three figures, from runs with and without samples:
  - the share of irq and softirq in /proc/stat;
  - the number of samples times the cost of an interrupt on this machine (signal included), as a
    share of the CPU time, because many kernels attribute interrupts to the interrupted thread.
    jprof bounds it by lowering the rate until the period is 5 times this cost;
  - the additional CPU time for the same work, which also includes the stacks and the opening of
    each thread's timer.

The machine may become slow: run nothing else on it. The benchmark never forces the rate.

Usage: scs_threads.py [--rate N] [--threads N] [--alive N] [--units N] [--rounds N] [--jdk N]
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402
from measure import sampled  # noqa: E402
from sampled import child, reports  # noqa: E402


def interrupts():
    """Ticks of all CPUs since boot: (in interrupts, in total)."""
    with open("/proc/stat", encoding="utf-8") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    return ticks[5] + ticks[6], sum(ticks)


def cpu_of_children():
    times = os.times()
    return times.children_user + times.children_system


def run(command, work):
    """(output, standard error, CPU seconds, % of all CPUs' time in interrupts during the run)"""
    (irq, total), cpu = interrupts(), cpu_of_children()
    done = child.run(command, 120, cwd=work)
    irq_after, total_after = interrupts()
    sampled.check(done.returncode == 0, f"status {done.returncode}: {done.stderr[-1000:]}")
    share = 100 * (irq_after - irq) / max(1, total_after - total)
    return done.stdout, done.stderr, cpu_of_children() - cpu, share


def run_all(options, jdk, work):
    """(runs without samples, runs with samples, folder of the last profile)"""
    numbers = map(str, (options.threads, options.alive, options.units))
    java = [jdk.tool("java"), "-Xmx512m", "-cp", work, "ManyThreads", *numbers]
    out = os.path.join(work, "profile")
    scs = [options.jprof, "scs", "--agent", options.agent, "--rate", str(options.rate), "-o", out]
    alone, with_samples = [], []
    for _ in range(options.rounds):
        alone.append(run(java, work))
        shutil.rmtree(out, ignore_errors=True)
        with_samples.append(run([*scs, "--", *java], work))
    return alone, with_samples, out


def median(runs, at):
    return statistics.median(each[at] for each in runs)


def compare(options, jdk, work):
    alone, with_samples, out = run_all(options, jdk, work)
    sampled.check(len({each[0] for each in alone + with_samples}) == 1, "the output differs")
    messages = "".join(each[1] for each in with_samples)
    announced = set(re.findall(r"sampling at ([0-9,]+)/s", messages))
    shown = reports.run_report(options.jprof, "scs", out, "--format", "json", "--threads", "merged")
    stacks = json.loads(shown)["stacks"]
    before, after = median(alone, 2), median(with_samples, 2)
    share = median(with_samples, 3)
    print(f"{jdk.name}: {options.threads} threads, {options.alive} at a time; requested "
          f"{options.rate}/s, announced {', '.join(announced) or 'nothing: not lowered'}")
    print(f"    {stacks['taken']} samples, {stacks['lost']} lost; CPU time {before:.2f} s alone, "
          f"{after:.2f} s with samples: {100 * (after / before - 1):+.1f} %")
    with open(os.path.join(out, "meta.json"), encoding="utf-8") as file:
        interrupt_ns = json.load(file)["options"]["interrupt_ns"]
    cost = 100 * stacks["taken"] * interrupt_ns / 1e9 / with_samples[-1][2]
    print(f"    irq and softirq in /proc/stat: {median(alone, 3):.2f} % alone, {share:.2f} % with "
          f"samples; {interrupt_ns / 1000:.1f} us per sample: {cost:.1f} % of the CPU time")
    sampled.check(share <= 10, f"{share:.1f} % in interrupts, by /proc/stat")
    sampled.check(cost <= 20, f"{cost:.1f} % in interrupts and signals")


def main():
    parser = measure.sampling_arguments(__doc__)
    parser.add_argument("--rate", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=2_000)
    parser.add_argument("--alive", type=int, default=50, help="threads at a time")
    parser.add_argument("--units", type=int, default=5, help="of work, about 1 ms each")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for jdk in sampled.jdks_of(options):
        with sampled.folder() as work:
            source = os.path.join(measure.ROOT, "bench", "java", "ManyThreads.java")
            subprocess.run([jdk.tool("javac"), "-d", work, source], check=True)
            try:
                lab = sampled.lab_of(options, work)
                options.jprof, options.agent = lab.jprof, lab.agent
                compare(options, jdk, work)
            except sampled.Bad as bad:
                sys.exit(f"FAILED: {bad}")


if __name__ == "__main__":
    main()
