#!/usr/bin/env python3
"""Measures javac compiling at least 400 of the JDK's source files, with and without the profiler.

    bench/cost/javac_side_by_side.py [--rounds 5] [--quick] [--files 400] [--jdk 17]
                                     [--out /dev/shm]
    bench/cost/javac_side_by_side.py --against OTHER/lib/libjprof.so

Prints CPU time (user and system, all threads, compilers included) as a ratio to the untraced run,
beside the project's bounds, and to the run without inlining, which is the best that probed code can
reach; also the ratio of the elapsed times. Rows "1 in N" are recorded with --time-every N. Exit
status 1 if a bound is exceeded. Files: a part of java.xml, from the src.zip of the JDK.

With --against: the folded recordings by this agent and by another one, interleaved, and the ratio
of their CPU times. Exit status 1 if this agent is more than 3 % slower.
"""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import javac_program  # noqa: E402
import measure  # noqa: E402

# name -> (JVM options, agent options or None, bound)
CONFIGURATIONS = {
    "untraced": ([], None, None),
    "untraced -Inline": (["-XX:-Inline"], None, None),
    "calltree": ([], "calltree", 3.0),
    "callflow": ([], "callflow", 4.5),
    "calltree folded": ([], "calltree,fold_recursion", 2.0),
    "callflow folded": ([], "callflow,fold_recursion", 3.3),
    "callflow 1 in 16": ([], "callflow,time_every=16", None),
    "folded 1 in 16": ([], "callflow,fold_recursion,time_every=16", 2.0),
    "folded 1 in 64": ([], "callflow,fold_recursion,time_every=64", 2.0),
}
COMPARED = ("calltree folded", "callflow folded")  # with --against


def show(compilation, jprof, results):
    def elapsed(runs):
        return measure.median(runs, lambda run: run.wall)

    untraced = measure.median(results["untraced"])
    no_inline = measure.median(results["untraced -Inline"])
    broken = 0
    print(f"{'':18} {'CPU s':>8} {'+-':>5} {'ratio':>6} {'bound':>6} {'to -Inline':>10} "
          f"{'elapsed':>8} "
          f"{'events':>13} {'contexts':>10} {'ns/event':>9}")
    for name, runs in results.items():
        agent, bound = CONFIGURATIONS[name][1:]
        cpu = measure.median(runs)
        line = (f"{name:18} {cpu:8.2f} {measure.spread(runs):5.0%} {cpu / untraced:6.2f} "
                f"{bound or '':>6} {cpu / no_inline:10.2f} "
                f"{elapsed(runs) / elapsed(results['untraced']):8.2f}")
        if agent:
            figures = measure.figures(jprof, compilation.profile(name))
            # The cost of the probes, without the cost of disabled inlining.
            per_event = (cpu - no_inline) / figures.events * 1e9
            line += f" {figures.events:13d} {figures.contexts:10d} {per_event:9.1f}"
            line += f"  lost: {figures.lost}" if figures.lost else ""
            shutil.rmtree(compilation.profile(name))
        if bound and cpu / untraced > bound:
            broken += 1
            line += "  exceeds its bound"
        print(line, flush=True)
    return broken


def compare(compilation, args, rounds):
    """Prints the ratio of the CPU times by two agents; returns how many are above 1.03."""
    runs = [(name, library) for name in COMPARED for library in (args.agent, args.against)]
    results = measure.interleaved(runs, rounds, lambda run: compilation.once(*run))
    slower = 0
    for name in COMPARED:
        this, other = results[name, args.agent], results[name, args.against]
        ratio = measure.median(this) / measure.median(other)
        slower += ratio > 1.03
        print(f"{name:18} {measure.median(this):8.2f} s +-{measure.spread(this):.0%}, other agent "
              f"{measure.median(other):.2f} s +-{measure.spread(other):.0%}: ratio {ratio:.3f}",
              flush=True)
    return slower


def main():
    parser = measure.arguments(__doc__)
    parser.add_argument("--against", help="the agent's library of another build to compare with")
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--tree-memory", default="4G", help="memory for the full tree (4G)")
    parser.add_argument("--quick", action="store_true", help="one round")
    args = parser.parse_args()
    if args.against is not None and not os.path.isfile(args.against):
        parser.error(f"--against: {args.against!r} is not a file")
    rounds = 1 if args.quick else args.rounds
    broken = compared = 0
    for jdk, work, files in javac_program.unpacked(args, "javac", 6, 16):
        compilation = javac_program.Compilation(args, jdk, work, files, CONFIGURATIONS)
        print(f"JDK {jdk.version}: javac on {len(files)} files of java.xml, {rounds} "
              f"interleaved rounds, medians",
              flush=True)
        compared += 1
        if args.against:
            broken += compare(compilation, args, rounds)
            continue
        results = measure.interleaved(CONFIGURATIONS, rounds, compilation.once)
        broken += show(compilation, args.jprof, results)
    if not compared:
        print("nothing compared: no JDK with its sources is installed")
        return 77
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
