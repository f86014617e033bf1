#!/usr/bin/env python3
"""Shares of known programs' parts, as the program itself measured them and as sampled, in every mode of every JDK: methods at
1:2:4 (compiled apart, and inlined), deep recursion, a native loop, calls through vtable and itable stubs, string intrinsics and
copies, lambdas and streams. Bounds: 3 points, and 0.5 % of the stacks unknown.

Usage: scs_known.py [--seconds N] [--rate N] [--mode NAME]... [--jdk N]
"""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "e2e"))
import sampled  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sampled.arguments(parser, os.path.join(HERE, "..", "build", "release"))
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--mode", action="append", choices=list(sampled.PART_MODES))
    options = parser.parse_args()
    missed = []
    for jdk in sampled.jdks_of(options):
        for mode in options.mode or sampled.PART_MODES:
            with sampled.folder() as work:
                rows, tree = sampled.known_parts(sampled.lab_of(options, work), jdk, mode, options.seconds, options.rate)
            sampled.print_parts(f"{jdk.name} {mode}", rows, tree)
            sys.stdout.flush()
            missed += [f"{name} ({jdk.name} {mode})" for name, true, got in rows if abs(true - got) >= 3]
            if tree.unknown_percent() >= 0.5:
                missed.append(f"unknown {tree.unknown_percent():.2f} % ({jdk.name} {mode})")
    if missed:
        sys.exit("missed: " + ", ".join(missed))


if __name__ == "__main__":
    main()
