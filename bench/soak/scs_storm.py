#!/usr/bin/env python3
"""Stress test of sampling: threads load and unload classes, throw, allocate, hold arrays in JNI,
overflow their stacks, wait and start threads, sampled and with every trigger, on every JDK, with
and without ZGC.

The program must neither crash nor hang, and must print what it prints without the profiler; the
profile must be readable. Runs 40 threads at 1 kHz. --threads and --rate can raise the load until
the machine stalls: then run nothing else on it.

Usage: scs_storm.py [--seconds N] [--threads N] [--rate N] [--storm NAME]... [--flags FLAGS]...
                    [--jdk N] [--keep DIR]
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402
from measure import sampled  # noqa: E402


def main():
    parser = measure.sampling_arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--threads", type=int, default=40)
    parser.add_argument("--rate", type=int, default=1000,
                        help="samples per second of CPU time of a thread (1000)")
    parser.add_argument("--storm", action="append", choices=list(sampled.STORMS),
                        help="default: all")
    parser.add_argument("--flags", action="append",
                        help="JVM flags (default: none, then -XX:+UseZGC)")
    parser.add_argument("--keep", help="folder in which profiles and crash reports are kept")
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
                        tree, _ = sampled.storm(lab, jdk, name, options.seconds, flags.split(),
                                                options.threads, options.rate)
                    except (sampled.Bad, sampled.reports.ReportFailed) as bad:
                        failed.append(what)
                        print(f"{what}: FAILED: {bad}", flush=True)
                        continue
                    took = time.monotonic() - started
                    figures = "its report is readable" if isinstance(tree, dict) else (
                        f"{tree.taken} samples, unknown {tree.unknown_percent():.3f} %, truncated "
                        f"{tree.report['stacks']['truncated']}, own "
                        f"{tree.report['stacks']['own']}, lost {tree.report['stacks']['lost']}")
                    print(f"{what}: ok in {took:.0f} s; {figures}", flush=True)
    if failed:
        sys.exit("failed: " + ", ".join(failed))


if __name__ == "__main__":
    main()
