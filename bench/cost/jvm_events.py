#!/usr/bin/env python3
"""Measures what the events of the JVM (EVENTS) cost beside counting alone: CPU time of javac on
sources of the JDK, with each counter.

    bench/cost/jvm_events.py [--rounds 7] [--files 200] [--jdk 17] [--out /dev/shm]

Prints the medians of interleaved runs, their ratio and the number of events. Exit status 1 if a
ratio is above 1.02.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import javac_program  # noqa: E402
import measure  # noqa: E402

MOST = 1.02
CONFIGURATIONS = {f"{counter}{' with events' if events else ''}":
                  ([], f"calltree,counter={counter},fold_recursion{events}")
                  for counter in ("probe", "woven") for events in ("", ",events")}


def events_in(jprof, profile):
    shown = subprocess.run([jprof, "events", "show", f"{profile}/events/jvm", "--format", "json"],
                           capture_output=True, text=True, check=True).stdout
    return sum(row["logged"] for row in json.loads(shown)["events"])


def show(compilation, args, results):
    above = 0
    for counter in ("probe", "woven"):
        alone, both = results[counter], results[f"{counter} with events"]
        ratio = measure.median(both) / measure.median(alone)
        above += ratio > MOST
        events = events_in(args.jprof, compilation.profile(f"{counter} with events"))
        print(f"  {counter}: {measure.median(alone):.2f} s +-{measure.spread(alone):.0%} alone, "
              f"{measure.median(both):.2f} s +-{measure.spread(both):.0%} with {events} events: "
              f"ratio {ratio:.3f}", flush=True)
    return above


def main():
    parser = measure.arguments(__doc__)
    parser.set_defaults(rounds=7)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--tree-memory", default="1G", help="memory for the tree (1G)")
    args = parser.parse_args()
    above = 0
    for jdk, work, files in javac_program.unpacked(args, "events", 6, 16):
        compilation = javac_program.Compilation(args, jdk, work, files, CONFIGURATIONS)
        print(f"JDK {jdk.version}: javac on {len(files)} files, {args.rounds} rounds")
        results = measure.interleaved(CONFIGURATIONS, args.rounds, compilation.once)
        above += show(compilation, args, results)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
