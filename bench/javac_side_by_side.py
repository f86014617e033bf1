#!/usr/bin/env python3
"""A real program: javac compiling at least 400 of the JDK's own source files, with and without the profiler.

    bench/javac_side_by_side.py [--rounds 5] [--quick] [--files 400] [--jdk 17] [--out /dev/shm]

CPU time (user and system, all threads, compilers included) as a ratio to the untraced run, next to the bounds that
the project set itself; and to the run without inlining, which is what probed code can at best be. Exit status 1 if a bound is broken. Files: a part of java.xml, from the src.zip of the JDK itself.
"""
import os
import shutil
import sys
import zipfile

import measure

# name -> (JVM options, agent options or None, bound)
CONFIGURATIONS = {
    "untraced": ([], None, None),
    "untraced -Inline": (["-XX:-Inline"], None, None),
    "calltree": ([], "calltree", 3.0),
    "callflow": ([], "callflow", 4.5),
    "calltree folded": ([], "calltree,fold_recursion", 2.0),
    "callflow folded": ([], "callflow,fold_recursion", 3.3),
}
PACKAGES = ("java.xml/com/sun/org/apache/xerces/", "java.xml/com/sun/org/apache/xalan/", "java.xml/")


def source_zip(jdk):
    """The sources of this very JDK: Debian keeps them beside it, by major version."""
    for path in (os.path.join(jdk.home, "lib", "src.zip"), f"/usr/lib/jvm/openjdk-{jdk.major}/src.zip",
                 f"/usr/lib/jvm/openjdk-{jdk.major}/lib/src.zip"):
        if os.path.exists(path):
            return path
    return None


def unpack(archive, folder, least):
    """The first `least` sources of java.xml, by PACKAGES and name; the rest of the module comes from the JDK."""
    with zipfile.ZipFile(archive) as sources:
        names = sorted(n for n in sources.namelist() if n.endswith(".java") and n.startswith("java.xml/")
                       and not n.endswith(("module-info.java", "package-info.java")))
        names.sort(key=lambda n: next(i for i, p in enumerate(PACKAGES) if n.startswith(p)))
        if len(names) < least:
            raise SystemExit(f"{archive} has only {len(names)} files of java.xml, not {least}")
        sources.extractall(folder, names[:least])
    return [os.path.join(folder, n) for n in names[:least]]


class Compilation:
    def __init__(self, args, jdk, work, files):
        self.args, self.jdk, self.work = args, jdk, work
        self.profiles = os.path.join(work, f"javac-{jdk.major}")
        self.words = os.path.join(work, "words")
        self.classes = os.path.join(work, "classes")
        with open(self.words, "w", encoding="utf-8") as f:
            f.write("\n".join(files))
        self.source = os.path.join(work, "java.xml")

    def once(self, name):
        flags, agent, _ = CONFIGURATIONS[name]
        shutil.rmtree(self.classes, ignore_errors=True)
        command = [self.jdk.tool("javac"), *("-J" + f for f in flags)]
        if agent:
            profile = self.profile(name)
            shutil.rmtree(profile, ignore_errors=True)
            command.append(f"-J-agentpath:{os.path.abspath(self.args.agent)}={agent},"
                           f"tree_memory={self.args.tree_memory},out={profile}")
        command += ["-proc:none", "-nowarn", "-XDignore.symbol.file", "-implicit:none",
                    "--patch-module", f"java.xml={self.source}", "-d", self.classes, "@" + self.words]
        done = measure.run(command)
        if done.status != 0:
            raise SystemExit(f"{name}: javac ended with status {done.status}")
        return done

    def profile(self, name):
        return f"{self.profiles}-{name.replace(' ', '-')}"


def show(compilation, jprof, results):
    untraced = measure.median(results["untraced"])
    no_inline = measure.median(results["untraced -Inline"])
    broken = 0
    print(f"{'':18} {'CPU s':>8} {'+-':>5} {'ratio':>6} {'bound':>6} {'to -Inline':>10} {'events':>13} {'contexts':>10} {'ns/event':>9}")
    for name, runs in results.items():
        agent, bound = CONFIGURATIONS[name][1:]
        cpu = measure.median(runs)
        line = f"{name:18} {cpu:8.2f} {measure.spread(runs):5.0%} {cpu / untraced:6.2f} {bound or '':>6} {cpu / no_inline:10.2f}"
        if agent:
            facts = measure.facts(jprof, compilation.profile(name))
            # The probes' own cost: what the JVM loses by not inlining is not theirs.
            line += f" {facts.events:13d} {facts.contexts:10d} {(cpu - no_inline) / facts.events * 1e9:9.1f}"
            line += f"  lost: {facts.lost}" if facts.lost else ""
            shutil.rmtree(compilation.profile(name))
        if bound and cpu / untraced > bound:
            broken += 1
            line += "  over its bound"
        print(line, flush=True)
    return broken


def main():
    parser = measure.arguments(__doc__)
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--tree-memory", default="4G", help="room for the full tree (4G)")
    parser.add_argument("--quick", action="store_true", help="one round")
    args = parser.parse_args()
    rounds = 1 if args.quick else args.rounds
    broken = compared = 0
    for jdk in measure.jdks_of(args):
        archive = source_zip(jdk)
        if archive is None:
            print(f"skipped JDK {jdk.version}: no src.zip of it (Debian: openjdk-{jdk.major}-source)")
            continue
        with measure.folder("javac", 6, 16, args.out) as work:
            files = unpack(archive, work, args.files)
            compilation = Compilation(args, jdk, work, files)
            print(f"JDK {jdk.version}: javac on {len(files)} files of java.xml, {rounds} interleaved rounds, medians",
                  flush=True)
            results = measure.interleaved(CONFIGURATIONS, rounds, compilation.once)
            broken += show(compilation, args.jprof, results)
            compared += 1
    if not compared:
        print("nothing compared: no JDK with its sources here")
        return 77
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
