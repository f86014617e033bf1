#!/usr/bin/env python3
"""Compares the ten hottest contexts, and their order, between callflow (calibrated) and callstack
sampling of the same program: javac on JDK sources, and SampledParts.

Both run with -XX:-Inline, which callflow implies, so that the contexts are the same. Samples
exclude native frames (--java-only), which callflow does not record. javac has thousands of contexts
of a thousandth each: it is sampled at ten times the rate, and its recursion is folded in both.

Usage: scs_against_callflow.py [--files N] [--rate N] [--rounds N] [--jdk N] [--focus P]
                               [--only parts|javac]
With --focus (e.g. '*'), callflow runs with --focus P --keep-intrinsics: C2 then compiles a probed
method as it compiles it unprobed, so that both measure the same program.
Requires a calibration table for each JVM (jprof calibrate --java JAVA) and, for javac, a JDK's
src.zip.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import javac_program  # noqa: E402
import measure  # noqa: E402
from measure import sampled  # noqa: E402


def compare(lab, a, b):
    done = subprocess.run([lab.jprof, "compare", a, b, "--format", "json", "--top", "100000"],
                          capture_output=True, text=True)
    sampled.check(done.returncode == 0, f"jprof compare: {done.stderr.strip()}")
    return json.loads(done.stdout)


def ranks(values):
    order = sorted(values, key=lambda k: -values[k])
    return {k: i for i, k in enumerate(order)}


def spearman(a, b, keys):
    """Spearman's rank correlation over `keys`; a and b map keys to values."""
    ra, rb = ranks({k: a.get(k, 0) for k in keys}), ranks({k: b.get(k, 0) for k in keys})
    n = len(keys)
    return 1 - 6 * sum((ra[k] - rb[k]) ** 2 for k in keys) / (n * (n * n - 1)) if n > 1 else float(
        "nan")


def methods(rows):
    """The same for methods, regardless of their callers."""
    a, b = ({r["name"]: r[side]["value"] for r in rows} for side in "ab")
    top_a, top_b = (set(sorted(side, key=lambda k: -side[k])[:10]) for side in (a, b))
    return len(top_a & top_b), spearman(a, b, top_a)


def leaf(path):
    names = [p if isinstance(p, str) else p.get("name", "?") for p in path]
    return f"{names[-1]}  < " + " < ".join(reversed(names[-4:-1]))


def one(lab, name, command, rate, focus, *more):
    focused = ["--focus", focus, "--keep-intrinsics"] if focus else []
    _, exact = lab.record(["--tree-memory", "2G", *focused, *more], command, "exact", "callflow",
                          timeout=900)
    _, samples = lab.record(["--tree-memory", "2G", "--rate", str(rate), "--java-only", *more],
                            command, "sampled", timeout=900)
    found = compare(lab, exact, samples)
    top = found["top"]
    print(f"{name}: top {top['size']} contexts: {top['both']} in both; Spearman "
          f"{top['spearman_a']} over callflow's, "
          f"{top['spearman_b']} over the samples', {top['spearman_either']} over the "
          f"{top['either']} of either", flush=True)
    both, rank = methods(found["methods"])
    print(f"    methods: {both} of the top ten in both, Spearman {rank:.2f} over callflow's")
    # The contexts are sorted by difference; sorts them by share.
    rows = found["contexts"]
    value = lambda row, side: row[side]["value"]
    for row in sorted(rows, key=lambda r: -value(r, "a"))[:10]:
        print(
            f"    {100 * value(row, 'a'):6.2f} %  {100 * value(row, 'b'):6.2f} %  "
            f"{leaf(row['path'])[:150]}")


def main():
    parser = measure.sampling_arguments(__doc__)
    parser.add_argument(
        "--trainers", default=os.path.join(measure.BUILD, "share", "jprof", "trainers.jar"))
    parser.add_argument("--files", type=int, default=400, help="sources that javac compiles")
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=200, help="of SampledParts")
    parser.add_argument("--focus", help="focus of callflow, with intrinsics kept")
    parser.add_argument("--only", choices=["parts", "javac"])
    options = parser.parse_args()
    for jdk in sampled.jdks_of(options):
        with sampled.folder() as work:
            lab = sampled.lab_of(options, work)
            parts = lab.java(jdk, "SampledParts", -options.rounds, "partSeparate=5000",
                             "partFib=100", "partLambdas=1000",
                             "partVirtualCalls=5000", "partInterfaceCalls=5000",
                             jvm=["-XX:-Inline"])
            if options.only != "javac":
                one(lab, f"{jdk.name} SampledParts", parts, options.rate, options.focus)
            if options.only != "parts":
                javac = [jdk.tool("java"), "-XX:-Inline", "-cp", options.trainers,
                         "jprof.trainers.TimedCompile",
                         *javac_program.arguments(work, options.files)]
                one(lab, f"{jdk.name} javac, recursion folded", javac, 10 * options.rate,
                    options.focus, "--fold-recursion")


if __name__ == "__main__":
    main()
