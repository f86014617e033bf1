#!/usr/bin/env python3
"""Compares the live objects of `jprof objects --live exact` with those that a program knows
(tests/e2e/live_test.py), in every mode and with every collector and layout of objects, on every JDK
found; and counts how often the intervals of `--live sampled` hold the exact number.

    bench/accuracy/live_counts.py [--build DIR] [--jdk N] [--runs 20]

Exit status: 1 if an exact count differs.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402  (it makes tests/e2e importable)

import live_test  # noqa: E402
from lab import Lab  # noqa: E402

VARIANTS = ("serial", "parallel", "z", "shenandoah", "wide-pointers", "wide-classes", "no-archive")


def cases():
    for counter in ("woven", "probe"):
        for mode in measure.jvms.MODES:
            yield {"mode": mode, "counter": counter}
    for variant in VARIANTS:
        for mode in ("int", "tiered"):
            yield {"mode": mode, "flags": tuple(measure.jvms.VARIANTS[variant])}


def main():
    options = measure.build_arguments(__doc__)
    options.add_argument("--jdk", type=int)
    options.add_argument("--runs", type=int, default=20)
    args = options.parse_args()
    wrong = 0
    for jdk in measure.jdks_of(args):
        lab = Lab.with_libraries(os.path.join(args.build, "bin", "jprof"),
                                 os.path.join(args.build, "lib", "libjprof.so"),
                                 os.path.join(args.build, "tests", "e2e", "programs"), jdk)
        for how in cases():
            flags = how.get("flags", ())
            if flags and lab.run(jdk.java(*flags, "-version")).returncode != 0:
                continue
            complaints = live_test.exact_case(lab, **how)
            wrong += bool(complaints)
            names = " ".join(f"{value}" for value in how.values())
            print(f"{jdk.name} {names}: {'; '.join(complaints) or 'exact'}", flush=True)
        held, total = live_test.intervals(lab, args.runs)
        print(f"{jdk.name} sampled: {held} of {total} intervals hold the number", flush=True)
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
