#!/usr/bin/env python3
"""Measures what counting allocated objects costs: ns of CPU time an allocation in two loops, with
escaping objects of 24 bytes and arrays of 80 bytes, and in one whose objects the compiler removes;
and the CPU time of javac and of H2 (package libh2-java).

    bench/cost/objects.py [--rounds 5] [--jdk 17] [--count 20000000] [--part loops|javac|h2]...
                          [--row objects]... [--async-profiler LIB]

plain       without an agent
probe only  -XX:+DTraceAllocProbes with the VM's own handler
objects     jprof objects
exact       the same with --live exact
sampled     the same with --live sampled
jvmti       JVMTI's SampledObjectAlloc at interval 0: jprof scs with ALLOCATIONS, one stack in 10^9
async       async-profiler's event alloc at its default interval, if LIB, its library, is given
calltree    jprof calltree with woven counting, for javac and H2: what the contexts alone cost

The least of the rounds is printed for the loops, the median for javac and H2. Goals: objects at
most 10 ns above plain on JDK 24 and later and 30 before; javac at most 2.2 times plain.
"""
import os
import shutil
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import javac_program as javac  # noqa: E402
import measure  # noqa: E402

JAVA = os.path.join(measure.ROOT, "bench", "java")
H2 = "/usr/share/java/h2.jar"
LOOPS = ("objects", "arrays", "removed")
# Options of jprof's agent, with the parts that need the row.
AGENTS = {"plain": (None, "loops javac h2"), "probe only": (None, "loops"),
          "calltree": ("calltree,counter=woven", "javac h2"),
          "objects": ("objects", "loops javac h2"),
          "exact": ("objects,live=exact", "loops javac h2"),
          "sampled": ("objects,live=sampled", "loops javac h2"),
          "jvmti": ("scs=ALLOCATIONS=1000000000", "loops javac h2"),
          "async": (None, "loops javac h2")}


def rows_of(args, part):
    return [name for name, (_, parts) in AGENTS.items()
            if part in parts.split() and (name != "async" or args.async_profiler)
            and (name in ("plain", *args.row) or not args.row)]


def own_flags(args, name, work):
    """The JVM's options of a row that has no agent of jprof."""
    if name == "probe only":
        return ["-XX:+DTraceAllocProbes"]
    if name == "async":
        out = os.path.join(work, "async.txt")
        return [f"-agentpath:{os.path.abspath(args.async_profiler)}=start,event=alloc,file={out}"]
    return []


def run_java(args, jdk, name, work, words):
    flags = ["-XX:+UseParallelGC", "-Xmx512m", "-Xmn300m", *own_flags(args, name, work)]
    agent = AGENTS[name][0]
    if agent:
        profile = os.path.join(work, "profile")
        shutil.rmtree(profile, ignore_errors=True)
        flags.append(f"-agentpath:{os.path.abspath(args.agent)}={agent},out={profile}")
    done = measure.run([jdk.tool("java"), *flags, "-cp", f"{work}:{H2}", *words])
    if done.status != 0:
        raise SystemExit(f"{name}: {words[0]} ended with status {done.status}")
    return done


def print_times(what, results, rounds):
    plain = statistics.median(run.cpu for run in results["plain"])
    print(f"\n{what}: CPU seconds, median of {rounds}")
    for name, runs in results.items():
        cpu = statistics.median(run.cpu for run in runs)
        print(f"{name:12}{cpu:10.2f} s {cpu / plain:6.2f} of plain", flush=True)


def compiled(jdk, name, work):
    source = os.path.join(JAVA, name + ".java")
    built = measure.run([jdk.tool("javac"), "-d", work, "-cp", H2, source])
    if built.status != 0:
        raise SystemExit(f"cannot compile {name}.java")


def loops(args, jdk):
    with measure.folder("objects", 1, 1, args.out) as work:
        compiled(jdk, "Allocations", work)

        def once(name):
            count = args.count // 10 if name == "jvmti" else args.count
            lines = run_java(args, jdk, name, work, ["Allocations", str(count), "3"]).stdout
            words = map(str.split, lines.decode().splitlines())  # async-profiler prints lines, too
            return {line[0]: float(line[1]) for line in words if line[0] in LOOPS}

        results = measure.interleaved(rows_of(args, "loops"), args.rounds, once)
    print(f"\nJDK {jdk.version}: ns an allocation, the least of {args.rounds} runs")
    print(f"{'':12}" + "".join(f"{loop:>12}" for loop in LOOPS))
    for name, runs in results.items():
        print(f"{name:12}" + "".join(f"{min(run[loop] for run in runs):12.2f}" for loop in LOOPS),
              flush=True)


def h2(args, jdk):
    if not os.path.exists(H2):
        return print(f"h2: skipped: there is no {H2}")
    with measure.folder("objects", 1, 1, args.out) as work:
        compiled(jdk, "H2Work", work)
        results = measure.interleaved(
            rows_of(args, "h2"), args.rounds,
            lambda name: run_java(args, jdk, name, work, ["H2Work", str(args.orders)]))
    print_times(f"JDK {jdk.version}: H2, {args.orders} orders", results, args.rounds)


def compile_java_xml(args, jdk):
    archive = javac.source_zip(jdk)
    if archive is None:
        return print(f"javac: skipped: no src.zip of JDK {jdk.version}")
    with measure.folder("objects", 4, 4, args.out) as work:
        args.tree_memory = "2G"
        rows = rows_of(args, "javac")
        compilation = javac.Compilation(
            args, jdk, work, javac.unpack(archive, work, args.files),
            {name: (own_flags(args, name, work), AGENTS[name][0]) for name in rows})
        results = measure.interleaved(rows, args.rounds, compilation.once)
    print_times(f"JDK {jdk.version}: javac, {args.files} files", results, args.rounds)


PARTS = {"loops": loops, "javac": compile_java_xml, "h2": h2}


def main():
    options = measure.arguments(__doc__)
    options.add_argument("--count", type=int, default=20_000_000)
    options.add_argument("--files", type=int, default=400, help="sources that javac compiles (400)")
    options.add_argument("--orders", type=int, default=60_000, help="in H2's database (60000)")
    options.add_argument("--part", action="append", choices=PARTS)
    options.add_argument("--row", action="append", default=[], choices=AGENTS,
                         help="only these rows beside plain")
    options.add_argument("--async-profiler", metavar="LIB", help="libasyncProfiler.so")
    args = options.parse_args()
    for jdk in measure.jdks_of(args):
        for part in args.part or PARTS:
            PARTS[part](args, jdk)


if __name__ == "__main__":
    main()
