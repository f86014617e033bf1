#!/usr/bin/env python3
"""The same program under callflow (calibrated) and under callstack sampling: do both find the same ten hottest contexts, and
in the same order? javac on JDK sources, and SampledParts. Both run with -XX:-Inline, which callflow does anyway: the contexts
are then the same ones. Native frames are left out of the samples (--java-only): callflow does not see them. javac has
thousands of contexts of a thousandth each: it is sampled ten times as often, and its recursion is folded in both.

Usage: scs_against_callflow.py [--build DIR] [--files N] [--rate N] [--rounds N] [--jdk N] [--focus P] [--only parts|javac]
With --focus (e.g. '*'), callflow runs with --focus P --keep-intrinsics: C2 then makes of a probed method what it makes of it
unprobed, and the two see the same program.
Needs a calibration table for each JVM (jprof calibrate --java JAVA) and a JDK's src.zip for javac.
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "e2e"))
import accuracy  # noqa: E402
import sampled  # noqa: E402


def compare(lab, a, b):
    done = subprocess.run([lab.jprof, "compare", a, b, "--format", "json", "--top", "100000"], capture_output=True, text=True)
    sampled.check(done.returncode == 0, f"jprof compare: {done.stderr.strip()}")
    return json.loads(done.stdout)


def ranks(values):
    order = sorted(values, key=lambda k: -values[k])
    return {k: i for i, k in enumerate(order)}


def spearman(a, b, keys):
    """Over `keys`; a and b: value by key."""
    ra, rb = ranks({k: a.get(k, 0) for k in keys}), ranks({k: b.get(k, 0) for k in keys})
    n = len(keys)
    return 1 - 6 * sum((ra[k] - rb[k]) ** 2 for k in keys) / (n * (n * n - 1)) if n > 1 else float("nan")


def methods(rows):
    """The same of the methods, whatever called them."""
    a, b = ({r["name"]: r[side]["value"] for r in rows} for side in "ab")
    top_a, top_b = (set(sorted(side, key=lambda k: -side[k])[:10]) for side in (a, b))
    return len(top_a & top_b), spearman(a, b, top_a)


def leaf(path):
    names = [p if isinstance(p, str) else p.get("name", "?") for p in path]
    return f"{names[-1]}  < " + " < ".join(reversed(names[-4:-1]))


def one(lab, name, command, rate, focus, *more):
    focused = ["--focus", focus, "--keep-intrinsics"] if focus else []
    _, exact = lab.record(["--tree-memory", "2G", *focused, *more], command, "exact", "callflow", timeout=900)
    _, samples = lab.record(["--tree-memory", "2G", "--rate", str(rate), "--java-only", *more], command, "sampled", timeout=900)
    found = compare(lab, exact, samples)
    top = found["top"]
    print(f"{name}: top {top['size']} contexts: {top['both']} in both; Spearman {top['spearman_a']} over callflow's, "
          f"{top['spearman_b']} over the samples', {top['spearman_either']} over the {top['either']} of either", flush=True)
    both, rank = methods(found["methods"])
    print(f"    methods: {both} of the top ten in both, Spearman {rank:.2f} over callflow's")
    # The context lists are sorted by difference: again by share.
    rows = found["contexts"]
    value = lambda row, side: row[side]["value"]
    for row in sorted(rows, key=lambda r: -value(r, "a"))[:10]:
        print(f"    {100 * value(row, 'a'):6.2f} %  {100 * value(row, 'b'):6.2f} %  {leaf(row['path'])[:150]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    build = os.path.join(HERE, "..", "build", "release")
    sampled.arguments(parser, build)
    parser.add_argument("--trainers", default=os.path.join(build, "share", "jprof", "trainers.jar"))
    parser.add_argument("--files", type=int, default=400, help="how many sources javac gets")
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=200, help="of SampledParts")
    parser.add_argument("--focus", help="what callflow looks at, with intrinsics kept")
    parser.add_argument("--only", choices=["parts", "javac"])
    options = parser.parse_args()
    for jdk in sampled.jdks_of(options):
        with sampled.folder() as work:
            lab = sampled.lab_of(options, work)
            parts = lab.java(jdk, "SampledParts", -options.rounds, "partSeparate=5000", "partFib=100", "partLambdas=1000",
                             "partVirtualCalls=5000", "partInterfaceCalls=5000", jvm=["-XX:-Inline"])
            if options.only != "javac":
                one(lab, f"{jdk.name} SampledParts", parts, options.rate, options.focus)
            if options.only != "parts":
                javac = [jdk.tool("java"), "-XX:-Inline", "-cp", options.trainers, "jprof.trainers.TimedCompile",
                         *accuracy.javac_arguments(work, options.files)]
                one(lab, f"{jdk.name} javac, recursion folded", javac, 10 * options.rate, options.focus, "--fold-recursion")


if __name__ == "__main__":
    main()
