#!/usr/bin/env python3
"""What `jprof locks` costs, side by side in one run: plain, `jprof calltree --counter woven`, `jprof
locks --lite` and `jprof locks`.

    bench/cost/locks.py [--jdk 25] [--rounds 5]

  block, method, again   ns of CPU time of a monitor that is taken and released, uncontended, when
                         compiled: in a block, in a synchronized method, and in a block inside another
                         one of the same object; the least of the rounds
  mutex, rwlock          the same of lock_loops.c, a program in C; `calltree` records nothing there
  h2                     CPU time of the process: inserts, selects and joins in a database in memory
                         (package libh2-java), median of the rounds
"""
import argparse
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402
import child  # noqa: E402
import jvms  # noqa: E402

JPROF = os.path.join(measure.BUILD, "bin", "jprof")
JAVA = os.path.join(measure.ROOT, "bench", "java")
H2 = "/usr/share/java/h2.jar"
SOURCES = {"plain": None, "calltree": ["calltree", "--counter", "woven"],
           "lite": ["locks", "--lite"], "full": ["locks"]}


def run(jdk, source, folder, *words):
    command = [jdk.tool("java"), "-Xmx512m", "-XX:+UseParallelGC", "-cp", f"{folder}:{H2}", *words]
    if SOURCES[source]:
        command = [JPROF, *SOURCES[source], "--force", "-o", os.path.join(folder, "p.jprof"), "--",
                   *command]
    done = measure.run(command)
    if done.status != 0:
        sys.exit(f"{source}: {words[0]} failed")
    return done


def loops(jdk, source, folder, turns):
    lines = run(jdk, source, folder, "LockLoops", str(turns)).stdout.decode().splitlines()
    return {name: float(value) for name, value in map(str.split, lines)}


def native(args):
    """The loops of the program in C."""
    rows = {}
    with tempfile.TemporaryDirectory(prefix="locks-") as folder:
        program = os.path.join(folder, "lock_loops")
        source = os.path.join(measure.ROOT, "bench", "cost", "lock_loops.c")
        child.run(["gcc", "-O2", "-pthread", source, "-o", program], check=True)
        for source, words in SOURCES.items():
            if source == "calltree":
                continue
            command = [program, str(args.turns)]
            if words:
                command = [JPROF, *words, "-o", os.path.join(folder, source), "--", *command]
            lines = measure.run(command).stdout.decode().splitlines()
            for name, value in map(str.split, lines):
                rows.setdefault(name, {})[source] = float(value)
    return rows


def measured(jdk, args, folder):
    rows = {}
    for _ in range(args.rounds):
        for source in SOURCES:
            values = loops(jdk, source, folder, args.turns)
            if os.path.exists(H2):
                values["h2"] = run(jdk, source, folder, "H2Work", str(args.orders)).cpu
            for name, value in values.items():
                rows.setdefault(name, {}).setdefault(source, []).append(value)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jdk", type=int, help="only this version")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=5_000_000, help="of the loops")
    parser.add_argument("--orders", type=int, default=20_000, help="in the database")
    args = parser.parse_args()
    for name, columns in native(args).items():
        print(f"{name:8}" + "".join(f"{columns.get(source, float('nan')):10.2f}"
                                    for source in SOURCES), flush=True)
    for jdk in jvms.needed_jdks([args.jdk] if args.jdk else ()):
        with tempfile.TemporaryDirectory(prefix="locks-") as folder:
            sources = [os.path.join(JAVA, f"{name}.java") for name in ("LockLoops", "H2Work")]
            child.run([jdk.tool("javac"), "-d", folder, *sources], check=True)
            rows = measured(jdk, args, folder)
        print(f"JDK {jdk.version}\n{'':8}" + "".join(f"{source:>10}" for source in SOURCES))
        for name, columns in rows.items():
            best = statistics.median if name == "h2" else min
            print(f"{name:8}" + "".join(f"{best(columns[source]):10.2f}" for source in SOURCES),
                  flush=True)


if __name__ == "__main__":
    main()
