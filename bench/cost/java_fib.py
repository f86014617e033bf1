#!/usr/bin/env python3
"""Measures the cost per event (an entry or an exit) in a recursive Java fib, and of one clock read.

    bench/cost/java_fib.py [--rounds 5] [--jdk 17] [--n 27] [--times 10]

The tree is small and stays in the cache: this is the cost of the probe itself.
bench/cost/hot_path_bench.cc checks the bounds.
"""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402

CONFIGURATIONS = {
    "untraced": ([], None),
    "untraced -Inline": (["-XX:-Inline"], None),
    "calltree": ([], "calltree"),
    "callflow": ([], "callflow"),
    "callflow 1 in 16": ([], "callflow,time_every=16"),
    "callflow 1 in 64": ([], "callflow,time_every=64"),
    "trace": ([], "trace,trace_mode=wrap,trace_memory=1M"),
}


def main():
    parser = measure.arguments(__doc__)
    parser.add_argument("--n", type=int, default=27)
    parser.add_argument("--times", type=int, default=10)
    args = parser.parse_args()
    source = os.path.join(measure.ROOT, "bench", "java", "Fib.java")
    for jdk in measure.jdks_of(args):
        with measure.folder("fib", 2, 1, args.out) as work:
            subprocess.run([jdk.tool("javac"), "-d", work, source], check=True)
            profile = os.path.join(work, "fib-profile")

            def once(name):
                flags, agent = CONFIGURATIONS[name]
                shutil.rmtree(profile, ignore_errors=True)
                if agent:
                    flags = [f"-agentpath:{os.path.abspath(args.agent)}={agent},out={profile}"]
                done = measure.run(
                    [jdk.tool("java"), *flags, "-cp", work, "Fib", str(args.n), str(args.times)])
                if done.status != 0:
                    raise SystemExit(f"{name}: status {done.status}")
                calls, nanos, _ = map(int, done.stdout.split())
                read = measure.figures(
                    args.jprof, profile).clock_read_ns if name == "callflow" else 0.0
                return nanos / (2 * calls), read

            results = measure.interleaved(CONFIGURATIONS, args.rounds, once)
            time_of = lambda name: measure.median(results[name], lambda r: r[0])
            base = time_of("untraced -Inline")
            read = measure.median(results["callflow"], lambda r: r[1])
            print(f"JDK {jdk.version}: fib({args.n}), {args.rounds} interleaved rounds, medians; "
                  f"one clock read {read:.1f} ns")
            print(f"{'':18} {'ns/event':>9} {'added':>7} {'of a clock read':>16}")
            for name in CONFIGURATIONS:
                added = time_of(name) - base if CONFIGURATIONS[name][1] else 0.0
                share = f"{added / read:16.2f}" if added else ""
                print(f"{name:18} {time_of(name):9.2f} {added:7.2f} {share}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
