#!/usr/bin/env python3
"""Measures what counting allocated objects costs: ns of CPU time an allocation in two loops, with
escaping objects of 24 bytes and arrays of 80 bytes, and in one whose objects the compiler removes;
and the CPU time of javac.

    bench/cost/objects.py [--rounds 5] [--jdk 17] [--count 20000000] [--part loops|javac]...

plain       without an agent
probe only  -XX:+DTraceAllocProbes with the VM's own handler
objects     jprof objects
exact       the same with --live exact
sampled     the same with --live sampled
jvmti       JVMTI's SampledObjectAlloc at interval 0: jprof scs with ALLOCATIONS, one stack in 10^9
calltree    jprof calltree with woven counting, for javac: what the contexts alone cost

The least of the rounds is printed for the loops, the median for javac. Goals: objects at most 10 ns
above plain on JDK 24 and later and 30 before; javac at most 2.2 times plain.
"""
import os
import shutil
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import javac_program as javac  # noqa: E402
import measure  # noqa: E402

SOURCE = os.path.join(measure.ROOT, "bench", "java", "Allocations.java")
LOOPS = ("objects", "arrays", "removed")
AGENTS = {"plain": None, "probe only": None, "objects": "objects",
          "exact": "objects,live=exact", "sampled": "objects,live=sampled",
          "jvmti": "scs=ALLOCATIONS=1000000000"}


def flags_of(args, name, work):
    flags = ["-XX:+UseParallelGC", "-Xmx512m", "-Xmn300m"]
    if name == "probe only":
        flags.append("-XX:+DTraceAllocProbes")
    if AGENTS[name]:
        profile = os.path.join(work, "profile")
        shutil.rmtree(profile, ignore_errors=True)
        flags.append(f"-agentpath:{os.path.abspath(args.agent)}={AGENTS[name]},out={profile}")
    return flags


def loops(args, jdk):
    with measure.folder("objects", 1, 1, args.out) as work:
        built = measure.run([jdk.tool("javac"), "-d", work, SOURCE])
        assert built.status == 0

        def once(name):
            count = args.count // 10 if name == "jvmti" else args.count
            done = measure.run([jdk.tool("java"), *flags_of(args, name, work), "-cp", work,
                                "Allocations", str(count), "3"])
            assert done.status == 0, name
            return {loop: float(ns) for loop, ns in map(str.split, done.stdout.decode().splitlines())}

        results = measure.interleaved(AGENTS, args.rounds, once)
    print(f"\nJDK {jdk.version}: ns an allocation, the least of {args.rounds} runs")
    print(f"{'':12}" + "".join(f"{loop:>12}" for loop in LOOPS))
    for name, runs in results.items():
        print(f"{name:12}" + "".join(f"{min(run[loop] for run in runs):12.2f}" for loop in LOOPS),
              flush=True)


def compile_java_xml(args, jdk):
    archive = javac.source_zip(jdk)
    if archive is None:
        return print(f"javac: skipped: no src.zip of JDK {jdk.version}")
    with measure.folder("objects", 4, 4, args.out) as work:
        args.tree_memory = "2G"
        compilation = javac.Compilation(
            args, jdk, work, javac.unpack(archive, work, args.files),
            {"plain": ([], None), "calltree": ([], "calltree,counter=woven"),
             "objects": ([], "objects"), "exact": ([], "objects,live=exact"),
             "sampled": ([], "objects,live=sampled")})
        results = measure.interleaved(("plain", "calltree", "objects", "exact", "sampled"),
                                      args.rounds, compilation.once)
    plain = statistics.median(run.cpu for run in results["plain"])
    print(f"\nJDK {jdk.version}: javac on {args.files} files, CPU seconds, median of {args.rounds}")
    for name, runs in results.items():
        cpu = statistics.median(run.cpu for run in runs)
        print(f"{name:12}{cpu:10.2f} s {cpu / plain:6.2f} of plain", flush=True)


def main():
    options = measure.arguments(__doc__)
    options.add_argument("--count", type=int, default=20_000_000)
    options.add_argument("--files", type=int, default=400, help="sources that javac compiles (400)")
    options.add_argument("--part", action="append", choices=("loops", "javac"))
    args = options.parse_args()
    for jdk in measure.jdks_of(args):
        if not args.part or "loops" in args.part:
            loops(args, jdk)
        if not args.part or "javac" in args.part:
            compile_java_xml(args, jdk)


if __name__ == "__main__":
    main()
