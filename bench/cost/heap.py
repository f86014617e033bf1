#!/usr/bin/env python3
"""Measures `jprof heap`: seconds, CPU seconds and peak memory for a dump of 20 million objects of
several shapes (at least 1 GB), and for those of javac, H2 and Jython at their ends.

Usage: bench/cost/heap.py [--jprof JPROF] [--jdk N] [--out DIR] [--objects MILLIONS]

Goals, for the large dump: at most 15 s, and memory of at most half the file. Exits with 1 if the
memory exceeds it; the time depends on what else runs on the machine, and is only printed."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure as common  # noqa: E402
import debian_programs  # noqa: E402
import javac_program  # noqa: E402
from big_report import measure  # noqa: E402

SHAPES = os.path.join(common.ROOT, "bench", "java", "HeapShapes.java")
# An agent would change the heap: a shutdown hook of this class dumps it.
HOOK = """
import java.lang.instrument.Instrumentation;
public class DumpAtEnd {
    public static void premain(String path, Instrumentation unused) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                java.lang.management.ManagementFactory.getPlatformMXBean(
                    com.sun.management.HotSpotDiagnosticMXBean.class).dumpHeap(path, false);
            } catch (java.io.IOException failed) {
                throw new java.io.UncheckedIOException(failed);
            }
        }));
    }
}
"""


def hook_jar(jdk, work):
    with open(os.path.join(work, "DumpAtEnd.java"), "w", encoding="utf-8") as file:
        file.write(HOOK)
    with open(os.path.join(work, "manifest"), "w", encoding="utf-8") as file:
        file.write("Premain-Class: DumpAtEnd\n")
    subprocess.run([jdk.tool("javac"), "DumpAtEnd.java"], cwd=work, check=True)
    classes = [name for name in os.listdir(work) if name.startswith("DumpAtEnd")
               and name.endswith(".class")]
    subprocess.run([jdk.tool("jar"), "cfm", "hook.jar", "manifest", *classes], cwd=work, check=True)
    return os.path.join(work, "hook.jar")


def shapes(jdk, work, millions):
    path = os.path.join(work, "shapes.hprof")
    subprocess.run([jdk.tool("javac"), "-d", work, SHAPES], check=True)
    subprocess.run([jdk.tool("java"), "-Xmx4g", "-cp", work, "HeapShapes", path, str(millions)],
                   check=True, stdout=subprocess.DEVNULL)
    return path


def programs(jdk, work):
    """(name, command of the program with an agent for its path)"""
    jar = hook_jar(jdk, work)
    for name in ("javac", "h2", "jython"):
        path = os.path.join(work, name + ".hprof")
        agent = f"-javaagent:{jar}={path}"
        if name == "javac":
            words = javac_program.arguments(work, 400)
            yield name, path, [jdk.tool("javac"), "-J" + agent, *words]
        elif os.path.exists(debian_programs.PROGRAMS[name][0]):
            yield name, path, debian_programs.command(jdk, name, work, [agent])


def row(name, jprof, path):
    csv = ["--report", "histogram", "--format", "csv"]
    wall, cpu, gib = measure([jprof, "heap", path, *csv])
    text = subprocess.run([jprof, "heap", path, "--width", "1000"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    objects = int(re.search(r"in (\d+) objects", text)[1])
    size, peak = os.path.getsize(path) / 1e6, gib * 2**30 / 1e6
    print(f"| {name} | {size:.0f} | {objects / 1e6:.2f} | {wall:.1f} | {cpu:.1f} | {peak:.0f} | "
          f"{peak / size:.2f} |", flush=True)
    return peak / size


def main():
    parser = common.arguments(__doc__)
    parser.add_argument("--objects", type=int, default=20, help="millions of the large dump (20)")
    args = parser.parse_args()
    jdk = common.jdks_of(args)[0]
    with common.folder("heap", 6, 3, args.out) as work:
        print(f"{jdk.name}\n\n| dump | MB | million live objects | s | CPU s | peak MB "
              "| of the file |\n|---|---|---|---|---|---|---|", flush=True)
        share = row("shapes", args.jprof, shapes(jdk, work, args.objects))
        for name, path, command in programs(jdk, work):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            row(name, args.jprof, path)
        if share > 0.5:
            print(f"FAILED: the peak is {share:.2f} of the file, more than 0.5")
        return share > 0.5


if __name__ == "__main__":
    sys.exit(main())
