#!/usr/bin/env python3
"""Compares the sampled shares of a known program's parts with those that the program itself
measures, in every mode of every JDK.

The parts: methods at 1:2:4 (compiled separately, and inlined), deep recursion, a native loop, calls
through vtable and itable stubs, string intrinsics and copies, lambdas and streams. Bounds: a
difference of 3 points, and 0.5 % unknown stacks.

Usage: scs_known.py [--seconds N] [--rate N] [--mode NAME]... [--jdk N]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402
from measure import sampled  # noqa: E402


def main():
    parser = measure.sampling_arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--mode", action="append", choices=list(sampled.PART_MODES))
    options = parser.parse_args()
    missed = []
    for jdk in sampled.jdks_of(options):
        for mode in options.mode or sampled.PART_MODES:
            with sampled.folder() as work:
                rows, tree = sampled.known_parts(sampled.lab_of(options, work), jdk, mode,
                                                 options.seconds, options.rate)
            sampled.print_parts(f"{jdk.name} {mode}", rows, tree)
            sys.stdout.flush()
            missed += [
                f"{name} ({jdk.name} {mode})" for name, true, got in rows if abs(true - got) >= 3]
            if tree.unknown_percent() >= 0.5:
                missed.append(f"unknown {tree.unknown_percent():.2f} % ({jdk.name} {mode})")
    if missed:
        sys.exit("missed: " + ", ".join(missed))


if __name__ == "__main__":
    main()
