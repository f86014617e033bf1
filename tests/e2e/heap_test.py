#!/usr/bin/env python3
"""Tests `jprof heap --pid` with real JVMs: its histogram equals that of jcmd of the same moment,
with every layout of objects; what a known program holds; compressed dumps.

  heap_test.py --jprof JPROF --case CASE
  heap_test.py --list
"""
import argparse
import contextlib
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

import child
import jvms

PROGRAM = """
import java.util.*;
public class Held {
    static final class Odd extends Super { byte b; long l; boolean c; Object o; short s; }
    static class Super { byte first; int second; Object third; }
    static final Map<String, long[]> CACHE = new HashMap<>();
    static byte small; static long large; static Object reference;
    public static void main(String[] words) throws Exception {
        for (int i = 0; i < 2000; i++) CACHE.put("key " + i, new long[i % 9]);
        Object[] local = new Object[1000];
        for (int i = 0; i < local.length; i++) local[i] = new Odd();
        char[][] chars = new char[30][];
        for (int i = 0; i < chars.length; i++) chars[i] = new char[i];
        System.out.println("ready");
        System.in.read();
        System.out.println(local.length + chars.length);
    }
}
"""
# Layouts of objects: flags, and the first release that has them.
LAYOUTS = {
    "default": ([], 17),
    "serial": (["-XX:+UseSerialGC"], 17),
    "parallel": (["-XX:+UseParallelGC"], 17),
    "wide-references": (["-XX:-UseCompressedOops"], 17),
    "wide-classes": (["-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"], 17),
    "wide-classes-alone": (["-XX:-UseCompressedClassPointers"], 17),
    "aligned": (["-XX:ObjectAlignmentInBytes=16"], 17),
    "compact-headers": (["-XX:+UseCompactObjectHeaders"], 25),
}
PRIMITIVES = dict(zip("ZCFDBSIJ", "boolean char float double byte short int long".split()))


def source_name(name):
    """The name of a class in source code, of that in the histogram of jcmd."""
    dimensions = len(name) - len(name.lstrip("["))
    name = name[dimensions:]
    if dimensions:
        name = name[1:-1] if name.startswith("L") else PRIMITIVES[name]
    return name + "[]" * dimensions


def jcmd_histogram(jdk, pid):
    """{class: (objects, bytes)} of the live objects, without hidden classes."""
    text = child.run([jdk.tool("jcmd"), str(pid), "GC.class_histogram"], 120, check=True).stdout
    rows = re.findall(r"^ *\d+: +(\d+) +(\d+) +(\S+)", text, re.M)
    return sums((source_name(name), count, size) for count, size, name in rows if "0x" not in name)


def comparable(histogram):
    """The histogram as the dump has it: what fills gaps of the heap are arrays of int there."""
    found = dict(histogram)
    filler = found.pop("jdk.internal.vm.FillerElement[]", (0, 0))
    found["int[]"] = tuple(map(sum, zip(found["int[]"], filler)))
    return found


def sums(rows):
    found = {}
    for name, count, size in rows:
        objects, total = found.get(name, (0, 0))
        found[name] = objects + int(count), total + int(size)
    return found


class Test:
    def __init__(self, jprof):
        self.jprof = jprof
        self.stack = contextlib.ExitStack()
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="jprof-heap-"))
        with open(os.path.join(self.folder, "Held.java"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        self.jdks = jvms.needed_jdks()
        child.run([self.jdks[0].tool("javac"), "--release", "17", "Held.java"], cwd=self.folder,
                  check=True)

    @contextlib.contextmanager
    def held(self, jdk, flags=()):
        with child.running([*jdk.java(*flags, "-cp", self.folder, "Held")], text=True,
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE) as jvm:
            while jvm.stdout.readline() != "ready\n":  # the JVM warns of old flags
                assert jvm.poll() is None
            yield jvm
            out, _ = jvm.communicate("x", 60)
            assert out == "1030\n", out

    def heap(self, *words):
        done = child.run([self.jprof, "heap", *map(str, words)], 120, cwd=self.folder)
        assert done.returncode == 0, done
        return done.stdout

    def csv(self, *words):
        return list(csv.DictReader(io.StringIO(self.heap(*words, "--format", "csv"))))

    def histogram(self, *words):
        rows = self.csv(*words, "--report", "histogram")
        return sums((row["class"], row["objects"], row["shallow"])
                    for row in rows if "0x" not in row["class"])

    def histogram_equals_that_of_jcmd(self):
        # Each layout on one of the JDKs that have it, in turn.
        for i, (name, (flags, least)) in enumerate(LAYOUTS.items()):
            jdks = [jdk for jdk in self.jdks if jdk.major >= least]
            if jdks:
                jdk = jdks[i % len(jdks)]
                with self.held(jdk, flags) as jvm:
                    self.check_histogram(jdk, jvm.pid, name)

    def histogram_without_an_archive_has_all_classes(self):
        # The archive of the JDK has objects of classes that are not loaded, which no dump contains.
        for jdk in self.jdks:
            with self.held(jdk, ["-Xshare:off"]) as jvm:
                same = self.check_histogram(jdk, jvm.pid, "no archive", all_classes=True)
                assert "java.lang.Class" in same, same

    def check_histogram(self, jdk, pid, layout, all_classes=False):
        jcmd_histogram(jdk, pid)  # the first one leaves objects behind
        before = comparable(jcmd_histogram(jdk, pid))
        ours = self.histogram("--pid", pid)
        after = comparable(jcmd_histogram(jdk, pid))
        # The JVM itself allocates now and then; what did not change was the same in between.
        same = {name: value for name, value in before.items() if after.get(name) == value
                and (all_classes or name != "java.lang.Class")}
        wrong = {name: (value, ours.get(name)) for name, value in same.items()
                 if ours.get(name) != value}
        print(f"{jdk.name} {layout}: {len(same)} of {len(before)} classes unchanged, "
              f"{len(wrong)} differ {wrong}")
        assert len(same) > 0.9 * len(before) > 100 and not wrong
        return same

    def what_a_program_holds(self):
        for jdk in self.jdks:
            with self.held(jdk) as jvm:
                kept = os.path.join(self.folder, f"{jdk.name}.hprof")
                self.heap("--pid", jvm.pid, "-o", kept)
                path = json.loads(self.heap(kept, "--path-to", "Held$Odd", "--format", "json"))
                assert "main" in path["path"][0]["object"], path
                path = json.loads(self.heap(kept, "--path-to", "long[]", "--format", "json"))
                assert path["path"], path
                rows = {row["class"]: row for row in self.csv(kept, "--report", "histogram")}
                odd = rows["Held$Odd"]
                assert odd["objects"] == "1000" and odd["shallow"] == odd["retained"], odd
                assert int(rows["Held$Super"]["objects"]) == 0 if "Held$Super" in rows else True
                maps = {row["class"]: row for row in self.csv(kept, "--report", "collections")}
                assert int(maps["java.util.HashMap"]["elements"]) >= 2000, maps

    def compressed_dumps(self):
        for jdk in self.jdks:
            with self.held(jdk) as jvm:
                plain, packed = (os.path.join(self.folder, f"{jdk.name}.{end}")
                                 for end in ("hprof", "hprof.gz"))
                for path, more in ((plain, []), (packed, ["-gz=1"])):
                    child.run([jdk.tool("jcmd"), str(jvm.pid), "GC.heap_dump", *more, path],
                              check=True)
                name = "Held$Odd"
                assert self.histogram(plain)[name] == self.histogram(packed)[name]

    def nothing_is_left_in_tmp(self):
        with self.held(self.jdks[0]) as jvm:
            self.heap("--pid", jvm.pid)
            ours = f"jprof-heap-{jvm.pid}-"
            left = [name for name in os.listdir("/tmp") if name.startswith(ours)]
            assert not left, left


CASES = ["histogram_equals_that_of_jcmd", "histogram_without_an_archive_has_all_classes",
         "what_a_program_holds", "compressed_dumps", "nothing_is_left_in_tmp"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jprof")
    parser.add_argument("--agent")
    parser.add_argument("--programs")
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        return print("\n".join(CASES))
    test = Test(os.path.abspath(arguments.jprof))
    with test.stack:
        for case in [arguments.case] if arguments.case else CASES:
            getattr(test, case)()


if __name__ == "__main__":
    sys.exit(main())
