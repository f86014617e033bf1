#!/usr/bin/env python3
"""Compares the counts of woven counting and of probes, method by method, in one program.

    bench/accuracy/woven_counts.py                               javac compiles a few files, every JDK
    bench/accuracy/woven_counts.py --jdk 17 --files 100
    bench/accuracy/woven_counts.py -- -cp app.jar com.acme.Main  any program that repeats exactly

Both count what the program's main method calls, on the thread `main`. Left out of the comparison is
what woven code does not count (docs/WOVEN.md): native methods, those with an intrinsic, hidden
classes, and methods that the probes see below an intrinsic's. What differs otherwise is printed,
for example what the program does differently from run to run (--sources probe,probe shows that).

Exit status 1 if the calls that differ are more than --most percent of all.
"""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import javac_program as javac  # noqa: E402
import measure  # noqa: E402
import jvms  # noqa: E402
import raw_profile  # noqa: E402

MAIN = ".main([Ljava/lang/String;)V"
HIDDEN = re.compile(r"\$\$Lambda|/0x[0-9a-f]+|LambdaForm|\$Holder\.|^java/lang/invoke/.*Species_")


def counts(args, jdk, source, command, work):
    """{method: calls} of the thread main, without what woven code does not count."""
    out = os.path.join(work, f"{source}.jprof")
    run = [args.jprof, "calltree", "--counter", source, "--threads", "main", "--fold-recursion",
           "--tree-memory", "2G", "-o", out, "--", *jdk.java("-Xshare:auto", *command)]
    done = subprocess.run(run, cwd=work, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{' '.join(run)}: exit status {done.returncode}: {done.stderr[-800:]}")
    nodes = raw_profile.RawProfile(out).calls().nodes
    shutil.rmtree(out)
    return below_main(nodes)


def below_main(nodes):
    """({method: calls} below the program's main method, {method: methods that call it}). Parents
    come before their children."""
    inside, calls, callers = set(), collections.Counter(), collections.defaultdict(set)
    for key, (parent, name, count) in nodes.items():
        if parent in inside:
            inside.add(key)
            calls[name] += count
            callers[name].add(nodes[parent][1])
        elif name.endswith(MAIN):
            inside.add(key)
    return calls, callers


def compile_some(args, jdk, work):
    archive = javac.source_zip(jdk)
    if archive is None:
        sys.exit(f"JDK {jdk.version}: src.zip is missing (Debian: openjdk-{jdk.major}-source)")
    words = os.path.join(work, "words")
    with open(words, "w", encoding="utf-8") as f:
        f.write("\n".join(javac.unpack(archive, work, args.files)))
    return ["-m", "jdk.compiler/com.sun.tools.javac.Main", "-proc:none", "-nowarn",
            "-XDignore.symbol.file", "-implicit:none", "--patch-module",
            f"java.xml={os.path.join(work, 'java.xml')}", "-d", os.path.join(work, "classes"),
            "@" + words]


def compare(found, most):
    """Prints the comparison; returns whether it is good."""
    (first, callers), (second, _) = found
    uncounted = {m for m in first if m not in second or HIDDEN.search(m)}
    uncounted |= {m for m in second if HIDDEN.search(m)}
    both = sorted(m for m in set(first) & set(second) - uncounted
                  if callers[m].isdisjoint(uncounted))
    equal = [m for m in both if first[m] == second[m]]
    all_calls = sum(first[m] for m in both)
    difference = sum(abs(first[m] - second[m]) for m in both)
    print(f"  methods in both {len(both)}, equal {len(equal)}; calls {all_calls}, "
          f"difference {difference} ({100 * difference / max(1, all_calls):.4f} %)")
    only = sorted(uncounted, key=lambda m: -first.get(m, 0))
    print(f"  only in the first, or hidden: {len(only)} methods, "
          f"{sum(first.get(m, 0) for m in only)} calls; most: "
          + ", ".join(f"{m} {first.get(m, 0)}" for m in only[:6]))
    apart = sorted((m for m in both if first[m] != second[m]),
                   key=lambda m: -abs(first[m] - second[m]))
    for m in apart[:8]:
        print(f"  {first[m]:>12} {second[m]:>12}  {m}")
    return 100 * difference <= most * max(1, all_calls)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jprof", default=os.path.join(measure.ROOT, "build/release/bin/jprof"))
    parser.add_argument("--jdk", type=int)
    parser.add_argument("--files", type=int, default=60, help="that javac compiles (60)")
    parser.add_argument("--sources", default="probe,woven")
    parser.add_argument("--most", type=float, default=0.1, help="percent of calls (0.1)")
    parser.add_argument("command", nargs="*", help="arguments of java, after --")
    args = parser.parse_args()
    args.jprof = os.path.abspath(args.jprof)
    sources = args.sources.split(",")
    good = True
    for jdk in jvms.needed_jdks([args.jdk] if args.jdk else ()):
        with tempfile.TemporaryDirectory(prefix="jprof-woven-counts-") as work:
            os.makedirs(os.path.join(work, "classes"))
            command = args.command or compile_some(args, jdk, work)
            print(f"JDK {jdk.version}: {sources[0]} and {sources[1]}", flush=True)
            good &= compare([counts(args, jdk, source, command, work) for source in sources],
                            args.most)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
