#!/usr/bin/env python3
"""The storm: threads that load and unload classes, throw, allocate, hold arrays in JNI, overflow their stacks, wait and
start threads, sampled and under every trigger, on every JDK, with and without ZGC. The program must neither crash nor hang,
and print what it prints alone; the profile must be readable. 40 threads at 1 kHz, or more by --threads and --rate: run those
alone, on a machine that may stall.

Usage: scs_storm.py [--seconds N] [--threads N] [--rate N] [--storm NAME]... [--flags FLAGS]... [--jdk N] [--keep DIR]
"""
import argparse
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "e2e"))
import sampled  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sampled.arguments(parser, os.path.join(HERE, "..", "build", "release"))
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--threads", type=int, default=40)
    parser.add_argument("--rate", type=int, default=1000, help="samples a second of a thread's CPU time (default 1000)")
    parser.add_argument("--storm", action="append", choices=list(sampled.STORMS), help="default: all")
    parser.add_argument("--flags", action="append", help="of the JVM (default: none, then -XX:+UseZGC)")
    parser.add_argument("--keep", help="a folder for profiles and crash reports; kept")
    options = parser.parse_args()
    failed = []
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    with sampled.folder() as work:
        lab = sampled.lab_of(options, options.keep or work)
        for jdk in sampled.jdks_of(options):
            for flags in options.flags or ["", "-XX:+UseZGC"]:
                for name in options.storm or sampled.STORMS:
                    what = f"{jdk.name} {name} {flags}".strip()
                    started = time.monotonic()
                    try:
                        tree, _ = sampled.storm(lab, jdk, name, options.seconds, flags.split(), options.threads, options.rate)
                    except (sampled.Bad, sampled.reports.ReportFailed) as bad:
                        failed.append(what)
                        print(f"{what}: FAILED: {bad}", flush=True)
                        continue
                    took = time.monotonic() - started
                    facts = "its report is there" if isinstance(tree, dict) else (
                        f"{tree.taken} samples, unknown {tree.unknown_percent():.3f} %, truncated "
                        f"{tree.report['stacks']['truncated']}, own {tree.report['stacks']['own']}, lost {tree.report['stacks']['lost']}")
                    print(f"{what}: fine in {took:.0f} s; {facts}", flush=True)
    if failed:
        sys.exit("failed: " + ", ".join(failed))


if __name__ == "__main__":
    main()
