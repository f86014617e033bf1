#!/usr/bin/env python3
"""Compares what `jprof objects` counts with the JVM's own account of the thread, and with the
objects that a program is known to allocate (tests/e2e/objects_test.py), in every mode and with
every collector and layout of objects, on every JDK found.

    bench/accuracy/objects_counts.py [--build DIR] [--jdk N]

Exit status: 1 if a count differs.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402  (it makes tests/e2e importable)

import objects_test  # noqa: E402
from lab import Lab  # noqa: E402

COLLECTORS = ("serial", "parallel", "z", "shenandoah")
MODES = ("int", "c1", "c2", "tiered")
LAYOUTS = ("wide-pointers", "wide-classes", "compact-headers")


def cases_of(jdk):
    for counter in ("woven", "probe"):
        for mode in measure.jvms.MODES:
            yield {"mode": mode, "counter": counter}
    for mode in measure.jvms.MODES:
        yield {"mode": mode, "removed": True}
    for variant in (*COLLECTORS, *LAYOUTS):
        for mode in MODES if variant in COLLECTORS else ("int", "tiered"):
            yield {"mode": mode, "flags": tuple(measure.jvms.VARIANTS[variant])}
    if jdk.major >= 21:
        for counter in ("woven", "probe"):
            yield {"counter": counter, "virtual": 2000}


def main():
    options = measure.build_arguments(__doc__)
    options.add_argument("--jdk", type=int)
    args = options.parse_args()
    wrong = 0
    for jdk in measure.jdks_of(args):
        lab = Lab.with_libraries(os.path.join(args.build, "bin", "jprof"),
                                 os.path.join(args.build, "lib", "libjprof.so"),
                                 os.path.join(args.build, "tests", "e2e", "programs"), jdk)
        for how in cases_of(jdk):
            flags = how.get("flags", ())
            if flags and lab.run(jdk.java(*flags, "-version")).returncode != 0:
                continue
            complaints, unseen = objects_test.run_case(lab, **how)
            wrong += bool(complaints)
            names = " ".join(name if value is True else f"{value}" for name, value in how.items())
            print(f"{jdk.name} {names}: {'; '.join(complaints) or 'exact'}; not seen: "
                  f"{sum(unseen.values())} bytes", flush=True)
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
