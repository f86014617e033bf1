#!/usr/bin/env python3
"""Compares the exponents of `jprof scale` with the laws of kernels that are known, on every JDK.

    bench/accuracy/scale_known.py
    bench/accuracy/scale_known.py --jdk 17 --sizes 50,100,200,400 --most 0.05

The program is tests/cli/Growing.java. Exit status 1 if a count differs from the true one, or an
exponent by more than --most.
"""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "shared"))
import measure  # noqa: E402
import jvms  # noqa: E402

KERNELS = os.path.join(measure.ROOT, "tests", "cli", "Growing.java")

# Method: (the law as text, its true count; None where the input decides).
LAWS = {
    "startup": ("500", lambda n: 500),
    "linear": ("n", lambda n: n),
    "shared": ("3000 + 10 n", lambda n: 3000 + 10 * n),
    "merge": ("n log n", None),
    "less": ("n log n - O(n)", None),
    "pair": ("n (n - 1) / 2", lambda n: n * (n - 1) // 2),
    "triple": ("n^3", lambda n: n ** 3),
}
TRUTH = {"startup": 0, "linear": 1, "shared": 1, "pair": 2, "triple": 3}


def rows_of(args, jdk, work):
    """{method: row of the report}."""
    out = os.path.join(work, f"{jdk.name}.jprof")
    run = [args.jprof, "scale", "--sizes", args.sizes, "-o", out, "--",
           *jdk.java("-cp", work, "Growing", "{n}")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=1800)
    if done.returncode != 0:
        sys.exit(f"{' '.join(run)}: exit status {done.returncode}: {done.stderr[-800:]}")
    report = subprocess.run([args.jprof, "report", out, "--format", "json"], check=True,
                            capture_output=True, text=True)
    return {row["name"].split(".")[1].split("(")[0]: row
            for row in json.loads(report.stdout)["rows"]
            if row["name"].startswith("Growing.") and row["level"] == 0}


def time_text(row):
    if row["time_exponent"] is None:
        return "-"
    return f"{row['time_exponent']:.2f} +- {row['time_exponent_high'] - row['time_exponent']:.2f}"


def check(args, jdk, work):
    """Prints the exponents on one JDK. Returns whether all are right."""
    sizes = [int(size) for size in args.sizes.split(",")]
    rows = rows_of(args, jdk, work)
    good = True
    print(f"\n{jdk.name} ({jdk.version}), n = {args.sizes}\n\n"
          "| method | true calls | found | exponent | true | time |\n|---|---|---|---|---|---|")
    for name, (law, count) in LAWS.items():
        row = rows[name]
        calls = row["calls"]
        slope = math.log(calls[-1] / calls[0]) / math.log(sizes[-1] / sizes[0])
        truth = TRUTH.get(name, slope)
        wrong = abs(row["exponent"] - truth) > args.most
        wrong |= count is not None and calls != [count(n) for n in sizes]
        good &= not wrong
        print(f"| {name} | {law} | {row['calls_grow']} | {row['exponent']:.3f} | {truth:.3f} "
              f"| {time_text(row)} |{' WRONG' if wrong else ''}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jprof", default=os.path.join(measure.BUILD, "bin", "jprof"))
    parser.add_argument("--jdk", type=int, action="append", help="only this version")
    parser.add_argument("--sizes", default="64,128,256,512")
    parser.add_argument("--most", type=float, default=0.05, help="how far exponents may be off")
    args = parser.parse_args()
    args.jprof = os.path.abspath(args.jprof)
    work = tempfile.mkdtemp(prefix="jprof-scale-")
    try:
        jdks = jvms.needed_jdks(args.jdk or (), least=17)
        subprocess.run([jdks[0].tool("javac"), "-d", work, KERNELS], check=True)
        good = all([check(args, jdk, work) for jdk in jdks])
    finally:
        shutil.rmtree(work)
    sys.exit(0 if good else 1)


main()
