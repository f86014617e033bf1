#!/usr/bin/env python3
"""Tests libjprof-pages.so: what it logs of programs in C, C++, Fortran and Java that print where
their memory is, what directives do, and that programs go on as without it.

  pages_test.py LIBRARY PRINT_PAGES_LOG CC CXX

Where a compiler or a JDK is missing, what requires it is skipped. Large pages are required of the
kernel for what directives do.
"""
import dataclasses
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import jvms

LIBRARY, PRINT, CC, CXX = (os.path.abspath(path) if os.path.exists(path) else path
                           for path in (sys.argv.pop(1) for _ in range(4)))
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pages")
SETTING = "/sys/kernel/mm/transparent_hugepage/enabled"
MB = 1 << 20
LARGE = 2 * MB


def large_pages():
    try:
        with open(SETTING, encoding="utf-8") as file:
            return re.search(r"\[(\w+)\]", file.read())[1]
    except OSError:
        return "never"


@dataclasses.dataclass
class Group:
    kind: str
    key: str
    advised: int
    large: int
    most_large: int
    refused: int


@dataclasses.dataclass
class Placed:
    group: Group
    start: int
    size: int
    begin: int
    end: int  # None if it was there at the end


class Log:
    def __init__(self, path):
        text = subprocess.run([PRINT, path], check=True, capture_output=True, text=True).stdout
        self.groups, self.placed, self.modules, self.notes = [], [], {}, []
        for line in text.splitlines():
            word, _, rest = line.partition(" ")
            getattr(self, "read_" + word)(rest)

    def read_log(self, rest):
        numbers = [int(word) for word in rest.split()]
        self.pid, self.large_page, self.threshold, self.began = numbers[:4]
        self.exited, self.lost, self.damaged = numbers[5:]

    def read_faults(self, rest):
        self.faults = int(rest.split()[0])

    def read_total(self, rest):
        self.total_large = int(rest.split()[0])

    def read_note(self, rest):
        self.notes.append(rest)

    def read_module(self, rest):
        begin, size, path = rest.split(" ", 2)
        self.modules[os.path.basename(path)] = (int(begin, 16), int(size, 16), path)

    def read_group(self, rest):
        *numbers, kind, key = rest.split(" ", 5)
        advised, large, most, refused = map(int, numbers)
        self.groups.append(Group(kind, key, advised, large, most, refused))

    def read_placed(self, rest):
        group, start, size, begin, end = rest.split()
        self.placed.append(Placed(self.groups[int(group)], int(start, 16), int(size, 16),
                                  int(begin), None if int(end) == 2**64 - 1 else int(end)))

    def group(self, kind, key=None):
        return next((g for g in self.groups if g.kind == kind and key in (None, g.key)), None)

    def at(self, start, size):
        """The placements that begin and end exactly so."""
        return [p for p in self.placed if (p.start, p.size) == (start, size)]


@dataclasses.dataclass
class Run:
    status: int
    output: str
    errors: str
    logs: list

    @property
    def log(self):
        return self.logs[0]

    def blocks(self, name):
        """(address, bytes) of each line of the program that begins with the name."""
        found = re.findall(rf"^{name} ([0-9a-f]+) ([0-9a-f]+)$", self.output, re.M | re.I)
        return [(int(address, 16), int(size, 16)) for address, size in found]

    def key(self, name):
        """The site of the last block of this name."""
        return self.log.at(*self.blocks(name)[-1])[-1].group.key

    def number(self, name):
        return int(re.search(rf"^{name} (\d+)$", self.output, re.M)[1])


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.mkdtemp(prefix="jprof-pages-")
        source = os.path.join(SOURCES, "blocks.c")
        cls.blocks = cls.compile([CC, "-O1", source, "-lpthread", "-ldl"], "blocks")
        cls.loaded = cls.compile([CC, "-O1", "-shared", "-fPIC", os.path.join(SOURCES, "loaded.c")],
                                 "libloaded.so")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work, ignore_errors=True)

    @classmethod
    def compile(cls, command, name):
        path = os.path.join(cls.work, name)
        subprocess.run([*command, "-o", path], check=True)
        return path

    def run_with(self, command, directives=(), check=True, threshold=128 << 10, **settings):
        """Runs a command with the library; directives: (pages, kind, key)."""
        folder = tempfile.mkdtemp(dir=self.work)
        plan = os.path.join(folder, "plan")
        with open(plan, "w", encoding="utf-8") as file:
            file.write(f"jprof-pages 1\nlog {folder}\nthreshold {threshold}\n")
            for pages, kind, key in directives:
                file.write(f"large {pages} {kind} {key}\n")
        environment = dict(os.environ, JPROF_PAGES=plan, LD_PRELOAD=LIBRARY)
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300,
                              check=False, **settings)
        if check:
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        paths = glob.glob(os.path.join(folder, "pages.*"))
        logs = sorted((Log(path) for path in paths), key=lambda log: log.began)
        for log in logs:
            self.assertEqual(log.damaged, 0)
        return Run(done.returncode, done.stdout, done.stderr, logs)

    def need_large_pages(self):
        if large_pages() == "never":
            self.skipTest(f"{SETTING} is never")

    # What is logged.
    def test_blocks_are_where_the_program_prints_them(self):
        run = self.run_with([self.blocks, "sites"])
        for name in ("First", "Second", "Inner", "Zeroed", "Aligned", "Posix", "Memaligned",
                     "Mapped", "Resized"):
            for address, size in run.blocks(name):
                placed = run.log.at(address, size)
                if size < 128 << 10:
                    self.assertEqual(placed, [])
                    continue
                self.assertEqual([p.group.kind for p in placed], ["site"], name)
                self.assertRegex(placed[0].group.key, r"^blocks\+0x[0-9a-f]+(<blocks\+0x[0-9a-f]+)*$")
        address, size = run.blocks("static")[0]
        around = [p for p in run.log.placed
                  if p.start <= address and address + size <= p.start + p.size]
        self.assertEqual([(p.group.kind, p.group.key) for p in around], [("static", "blocks")])
        self.assertEqual(run.errors, "")
        self.assertEqual(run.log.lost, 0)
        self.assertTrue(run.log.exited)

    def test_sites_are_told_apart_and_the_same_in_every_run(self):
        runs = [self.run_with([self.blocks, "sites"]) for _ in range(3)]
        names = ("First", "Second", "OuterOne", "OuterTwo", "Zeroed", "Aligned", "Posix",
                 "Memaligned", "Mapped")
        keys = [[run.key(name) for name in names] for run in runs]
        self.assertEqual(len(set(keys[0])), len(names))
        self.assertEqual(keys[0], keys[1])
        self.assertEqual(keys[0], keys[2])
        if len({run.blocks("static")[0] for run in runs}) == 1:
            self.skipTest("the kernel gives all runs the same addresses")

    def test_return_addresses_are_the_callers(self):
        run = self.run_with([self.blocks, "sites"])
        symbols = subprocess.run(["nm", self.blocks], check=True, capture_output=True, text=True)
        starts = sorted((int(line.split()[0], 16), line.split()[2])
                        for line in symbols.stdout.splitlines() if len(line.split()) == 3)
        offsets = [int(frame.split("+")[1], 16) for frame in run.key("OuterOne").split("<")]
        functions = [max(start for start in starts if start[0] < offset)[1] for offset in offsets]
        self.assertEqual(functions[:2], ["Inner", "OuterOne"])

    def test_blocks_end(self):
        run = self.run_with([self.blocks, "ends"])
        for name in ("First", "Mapped", "Resized", "Second"):
            placed = run.log.at(*run.blocks(name)[0])
            self.assertEqual(len(placed), 1)
            self.assertIsNotNone(placed[0].end, name)
            self.assertGreaterEqual(placed[0].end, placed[0].begin)
        address, size = run.blocks("Second")[0]
        after = [p for p in run.log.placed if p.start <= address < p.start + p.size
                 and p.begin >= run.log.at(address, size)[0].end]
        self.assertEqual(after[0].group.kind, "heap")

    def test_cpp_and_fortran(self):
        with self.subTest("C++"):
            program = self.compile([CXX, "-O1", "-std=c++17",
                                    os.path.join(SOURCES, "vectors.cc")], "vectors")
            run = self.run_with([program])
            self.assertNotEqual(run.key("Longs"), run.key("Wides"))
            self.assertRegex(run.key("Longs"), r"^vectors\+0x")
        with self.subTest("Fortran"):
            if shutil.which("gfortran") is None:
                self.skipTest("gfortran is not installed")
            program = self.compile(["gfortran", "-O1", os.path.join(SOURCES, "arrays.f90")],
                                   "arrays")
            run = self.run_with([program])
            self.assertNotEqual(run.key("first"), run.key("second"))
            self.assertRegex(run.key("first"), r"^arrays\+0x")

    # What directives do.
    def faults(self, megabytes, pages=None):
        program = [self.blocks, "faults", str(megabytes)]
        key = self.run_with([self.blocks, "faults", "1"]).key("First")
        return self.run_with(program, [(pages, "site", key)] if pages is not None else [])

    def test_large_pages_of_a_site(self):
        self.need_large_pages()
        before, after = self.faults(512), self.faults(512, 1000)
        if large_pages() == "madvise":
            self.assertGreater(before.number("faults"), 131_000)
            self.assertEqual(before.log.total_large, 0)
        self.assertLess(after.number("faults"), 300)
        address, size = after.blocks("First")[0]
        self.assertEqual(address % LARGE, 0)
        group = after.log.at(address, size)[0].group
        self.assertEqual((group.advised, group.large, group.refused), (512 * MB, 512 * MB, 0))

    def test_a_claim_is_not_exceeded(self):
        self.need_large_pages()
        run = self.faults(64, 5)
        group = run.log.at(*run.blocks("First")[0])[0].group
        self.assertEqual((group.advised, group.refused), (5 * LARGE, 27 * LARGE))
        if large_pages() == "madvise":
            self.assertEqual(group.large, 5 * LARGE)
            self.assertGreater(run.number("faults"), 27 * 512)
        none = self.faults(64, 0)
        group = none.log.at(*none.blocks("First")[0])[0].group
        self.assertEqual((group.advised, group.large), (0, 0))

    def test_freed_blocks_give_their_pages_back(self):
        self.need_large_pages()
        key = self.run_with([self.blocks, "reuses"]).key("First")
        run = self.run_with([self.blocks, "reuses"], [(32, "site", key)])
        group = run.log.group("site", key)
        self.assertEqual((group.advised, group.most_large, group.refused), (0, 64 * MB, 0))

    def test_memory_is_what_it_must_be(self):
        plain = self.run_with([self.blocks, "contents"])
        self.assertEqual(plain.log.lost, 0)
        keys = {g.key for g in plain.log.groups if g.kind == "site"}
        for pages in (3, 1000):
            run = self.run_with([self.blocks, "contents"],
                                [(pages, "site", key) for key in sorted(keys)])
            if large_pages() != "never":
                self.assertGreater(max(g.most_large for g in run.log.groups), 0)

    def test_static_data(self):
        self.need_large_pages()
        before = self.run_with([self.blocks, "static"])
        after = self.run_with([self.blocks, "static"], [(100, "static", "blocks")])
        self.assertEqual(after.log.group("static", "blocks").large // LARGE, 3)
        if large_pages() == "madvise":
            self.assertEqual(before.log.group("static", "blocks").large, 0)
            self.assertLess(after.number("faults"), before.number("faults") - 3 * 500)

    def test_stacks_of_threads(self):
        self.need_large_pages()
        run = self.run_with([self.blocks, "threads"], [(100, "stack", "threads")])
        self.assertGreater(run.log.group("stack", "threads").advised, 0)
        self.assertEqual(
            len([p for p in run.log.placed if p.group.kind == "stack" and p.end is not None]), 8)

    # That programs go on.
    def test_errors_are_those_of_the_c_library(self):
        self.run_with([self.blocks, "errors"])
        key = "blocks+0x0"
        self.run_with([self.blocks, "errors"], [(10, "site", key)])

    def test_eight_threads(self):
        keys = {g.key for g in self.run_with([self.blocks, "threads"]).log.groups
                if g.kind == "site"}
        for directives in ([], [(64, "site", key) for key in keys]):
            run = self.run_with([self.blocks, "threads"], directives)
            self.assertTrue(run.log.exited)
            self.assertLess(run.log.lost, 50)
            live = [p for p in run.log.placed if p.end is None and p.group.kind == "site"
                    and p.group.key in keys and p.size != 3 * MB]  # of atexit
            self.assertEqual(live, [])

    def test_children(self):
        run = self.run_with([self.blocks, "forks"])
        self.assertEqual(len(run.logs), 21)
        self.assertEqual(len({log.pid for log in run.logs}), 21)
        seconds = run.blocks("Second")
        children = [log for log in run.logs if any(log.at(*block) for block in seconds)]
        self.assertGreaterEqual(len(children), 20)
        self.assertTrue(all(log.exited for log in children))

    def test_exec(self):
        run = self.run_with([self.blocks, "executes"])
        self.assertEqual(len(run.logs), 2)
        self.assertEqual(run.logs[0].pid, run.logs[1].pid)
        self.assertFalse(run.logs[0].exited)
        self.assertEqual(len(run.logs[1].at(*run.blocks("Mapped")[0])), 1)
        shell = self.run_with(["/bin/sh", "-c", f"{self.blocks} faults 3; {self.blocks} faults 4"])
        sizes = [size for _, size in shell.blocks("First")]
        self.assertEqual(sizes, [3 * MB, 4 * MB])
        found = [any(log.at(*block) for log in shell.logs) for block in shell.blocks("First")]
        self.assertEqual(found, [True, True])

    def test_kill(self):
        run = self.run_with([self.blocks, "dies"], check=False)
        self.assertEqual(run.status, -signal.SIGKILL)
        self.assertFalse(run.log.exited)
        for name in ("First", "Second"):
            self.assertEqual(len(run.log.at(*run.blocks(name)[0])), 1)

    def test_signals_closed_descriptors_and_limits(self):
        for case in ("signals", "closed", "limited"):
            with self.subTest(case):
                plain = self.run_with([self.blocks, case])
                self.assertEqual(len(plain.log.at(*plain.blocks("First")[0])), 1)
                self.run_with([self.blocks, case], [(200, "site", plain.key("First"))])

    def test_at_the_end_of_the_program(self):
        run = self.run_with([self.blocks, "faults", "1"])
        self.assertEqual(len(run.log.at(*run.blocks("Second")[-1])), 1)  # of atexit

    def test_a_library_that_is_loaded_later(self):
        keys = set()
        for _ in range(2):
            run = self.run_with([self.blocks, "loads", self.loaded])
            keys.add(run.key("LoadedBlock"))
            begin, size, path = run.log.modules["libloaded.so"]
            self.assertEqual(path, self.loaded)
        self.assertEqual(len(keys), 1)
        self.assertRegex(keys.pop(), r"^libloaded\.so\+0x[0-9a-f]+<blocks\+0x")

    def test_nothing_is_done_without_a_plan(self):
        environment = dict(os.environ, LD_PRELOAD=LIBRARY)
        for plan in (None, "", "/nowhere/plan", "/dev/null", self.blocks):
            if plan is not None:
                environment["JPROF_PAGES"] = plan
            done = subprocess.run([self.blocks, "sites"], env=environment, capture_output=True,
                                  text=True, check=True)
            self.assertEqual(done.stderr, "")
        run = self.run_with(["/bin/true"], threshold=1)
        self.assertEqual(run.logs, [])

    def test_a_folder_that_cannot_be_written(self):
        folder = os.path.join(self.work, "gone")
        plan = os.path.join(self.work, "gone.plan")
        with open(plan, "w", encoding="utf-8") as file:
            file.write(f"jprof-pages 1\nlog {folder}\nthreshold 131072\n")
        done = subprocess.run([self.blocks, "sites"], capture_output=True, text=True, check=True,
                              env=dict(os.environ, LD_PRELOAD=LIBRARY, JPROF_PAGES=plan))
        self.assertEqual(done.stderr, "")

    # JVMs.
    def test_java(self):
        jdks = [jdk for jdk in jvms.find_jdks()]
        if not jdks:
            self.skipTest(f"no JDK under {jvms.JVM_FOLDER}")
        source = os.path.join(SOURCES, "Live.java")
        subprocess.run([jdks[0].tool("javac"), "-d", self.work, "--release", str(jdks[0].major),
                        source], check=True)
        directives = [(100, "java-heap", "HotSpot"), (4, "code-cache", "HotSpot"),
                      (2, "class-space", "HotSpot")]
        for jdk in jdks:
            for collector in ("G1", "Parallel", "Serial"):
                with self.subTest(jdk=jdk.name, collector=collector):
                    self.check_java(jdk, collector, directives)

    def test_regions_are_those_of_the_vm(self):
        jdks = jvms.find_jdks()
        if not jdks:
            self.skipTest(f"no JDK under {jvms.JVM_FOLDER}")
        for jdk in jdks:
            with self.subTest(jdk=jdk.name):
                run = self.run_with([jdk.tool("java"), "-Xmx64m", "-XX:+PrintCodeCache",
                                     "-Xlog:gc+heap+coops=debug,gc+metaspace=info", "-version"])
                heap = re.search(r"Heap address: 0x(\w+), size: (\d+) MB", run.output)
                self.check_region(run.log, "java-heap", int(heap[1], 16), int(heap[2]) * MB)
                bounds = re.findall(r"bounds \[0x(\w+), 0x\w+, 0x(\w+)\]", run.output)
                begin, end = (min(int(b, 16) for b, _ in bounds), max(int(e, 16) for _, e in bounds))
                self.check_region(run.log, "code-cache", begin, end - begin)
                base = re.search(r"Narrow klass base: 0x0*(\w+)", run.output)
                space = re.search(r"class space mapped at: 0x(\w+)-.*: (\d+)", run.output)
                if int(base[1], 16) != 0:
                    self.check_region(run.log, "class-space", int(space[1], 16), int(space[2]))

    def check_region(self, log, kind, begin, size):
        live = [p for p in log.placed if p.group.kind == kind and p.end is None]
        self.assertEqual((min(p.start for p in live), max(p.start + p.size for p in live)),
                         (begin, begin + size), kind)

    def check_java(self, jdk, collector, directives):
        command = [jdk.tool("java"), f"-XX:+Use{collector}GC", "-Xms96m", "-Xmx96m", "-cp",
                   self.work, "Live"]
        plain = self.run_with(command)
        self.assertRegex(plain.output, r"^sum \d+\n$")
        kinds = {group.kind for group in plain.log.groups}
        self.assertLessEqual({"java-heap", "code-cache", "stack", "site"}, kinds)
        heap = sum(p.size for p in plain.log.placed
                   if p.group.kind == "java-heap" and p.end is None)
        self.assertGreaterEqual(heap, 96 * MB)
        self.assertEqual(plain.log.lost, 0)
        run = self.run_with(command, directives)
        self.assertEqual(run.output, plain.output)
        if large_pages() == "never":
            self.assertEqual(len(run.log.notes), 1)
            return
        self.assertGreater(run.log.group("java-heap").large, 32 * MB)
        self.assertLessEqual(run.log.group("java-heap").advised, 100 * LARGE)
        self.assertLessEqual(run.log.group("code-cache").advised, 4 * LARGE)
        self.assertGreater(run.log.group("code-cache").advised, 0)


if __name__ == "__main__":
    unittest.main(verbosity=1)
