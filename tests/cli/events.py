#!/usr/bin/env python3
"""Tests `jprof events generate|check|show` and libjprof-events: what is generated compiles without
a warning and runs, and babeltrace2 and jprof read the same events from the traces.

  events.py JPROF SOURCE_ROOT LIBRARY CC CXX

Without babeltrace2, gfortran or a JDK, what requires these is skipped.
"""
import collections
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

JPROF, ROOT, LIBRARY, CC, CXX = (sys.argv.pop(1) for _ in range(5))
JPROF, ROOT, LIBRARY = (os.path.abspath(path) for path in (JPROF, ROOT, LIBRARY))
SOURCES = os.path.join(ROOT, "tests", "cli", "events")
JAR = os.path.join(os.path.dirname(LIBRARY), "..", "share", "jprof", "jprof-events.jar")
RUNTIME = os.path.join(ROOT, "events", "runtime")
LANGUAGES = ("c", "c++", "java", "fortran", "html", "tsdl")
NORMAL, WRAP, CONTINUOUS = "0", "1", "2"


def small_specification():
    """That of the unit tests."""
    path = os.path.join(ROOT, "tests", "unit", "events", "small_specification.h")
    with open(path, encoding="utf-8") as file:
        return re.search(r'R"\((.*?)\)"', file.read(), re.S).group(1)


def run(*command, status=0, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != status:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def babeltrace(trace):
    """The lines that babeltrace2 prints, and its warnings; skips the test if there is none."""
    if shutil.which("babeltrace2") is None:
        raise unittest.SkipTest("babeltrace2 is not installed")
    done = run("babeltrace2", trace)
    return done.stdout.splitlines(), done.stderr


def counts_of(lines):
    return collections.Counter(re.search(r"(\w+::\w+::\w+): ", line).group(1) for line in lines)


def shown(trace):
    return json.loads(run(JPROF, "events", "show", trace, "--format", "json").stdout)


def logged(trace):
    return {one["event"]: one["logged"] for one in shown(trace)["events"] if one["logged"]}


class Events(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="jprof-events-")
        cls.folder = cls.place.name
        cls.spec = cls.write("shop.xml", small_specification())
        for language in LANGUAGES:
            run(JPROF, "events", "generate", cls.spec, "--language", language, "--out", cls.folder)
        cls.object = cls.path("shop_events.o")
        run(CC, "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wno-sign-conversion",
            "-Werror", "-O1", "-I", RUNTIME, "-c", cls.path("shop_events.c"), "-o", cls.object)
        cls.program = cls.path("program")
        run(CC, "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-I", RUNTIME, "-I",
            cls.folder, os.path.join(SOURCES, "program.c"), *cls.link(), "-o", cls.program)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def write(cls, name, text):
        with open(cls.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return cls.path(name)

    @classmethod
    def link(cls):
        return [cls.object, LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY), "-lpthread"]

    def trace(self, mode, packets, what, count=0, status=0):
        """Runs the program; returns its trace and what it printed."""
        trace = self.path(f"{self.id().split('.')[-1]}-{what}-{mode}-{count}")
        done = run(self.program, trace, mode, str(packets), what, str(count), status=status)
        return trace, done.stdout

    def refused(self, status, arguments, *texts):
        said = run(JPROF, "events", *arguments, status=status).stderr
        for text in texts:
            self.assertIn(text, said)

    def test_command_line(self):
        ids = run(JPROF, "events", "check", self.spec).stdout
        self.assertEqual(len(ids.splitlines()), 4)
        self.assertIn("a0ac1746", ids)
        kept = self.write("kept.txt", "# comment\n" + ids)
        run(JPROF, "events", "check", self.spec, "--identities", kept)
        changed = self.write("changed.xml", small_specification().replace('unit="ms"', 'unit="s"'))
        self.refused(1, ["check", changed, "--identities", kept],
                     "shop::orders::order_end", "raise its version to 3")
        bad = self.write("bad.xml", small_specification().replace('type="uint16"', 'type="short"'))
        self.refused(1, ["check", bad], f"{bad}:30:7: Element 'field', attribute 'type': The value")
        self.refused(1, ["check", self.path("none.xml")], "none.xml: No such file or directory")
        self.refused(2, ["generate"], "jprof events generate requires SPEC")
        self.refused(2, ["generate", self.spec, "--language", "c"], "--out DIR")
        self.refused(2, ["generate", self.spec, "--language", "rust", "--out", self.folder], "rust")
        self.refused(2, ["cache", self.spec], "generate|check|show")
        self.refused(1, ["show", self.folder], "is not a trace of events")
        self.refused(1, ["generate", self.spec, "--language", "c", "--out", self.spec], self.spec)

    def test_own_specifications_generate_code_that_compiles(self):
        folder = self.path("own")
        for name in ("kernel", "threads", "jvm"):
            spec = os.path.join(ROOT, "events", "spec", name + ".xml")
            run(JPROF, "events", "generate", spec, "--language", "c++", "--out", folder)
            source = self.write(f"{name}.cpp", f'#include "own/{name}_events.hpp"\n')
            run(CXX, "-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                "-I", RUNTIME, source)
            run(CC, "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", RUNTIME,
                os.path.join(folder, f"{name}_events.c"))

    def test_modes(self):
        for mode, count in ((CONTINUOUS, 3000), (WRAP, 3000), (NORMAL, 500), (NORMAL, 3000)):
            trace, _ = self.trace(mode, 2, "threads", count)
            events, discarded = logged(trace), shown(trace)["discarded"]
            total = sum(events.values())
            self.assertEqual(shown(trace)["damaged_files"], 0)
            if mode == CONTINUOUS or count == 500:
                self.assertEqual(events, {f"shop::orders::{name}": 3 * count
                                          for name in ("order_begin", "order_end", "nothing")})
            elif mode == NORMAL:
                self.assertEqual(total + discarded, 9 * count)
            else:
                self.assertTrue(0 < total < 9 * count and discarded == 0)
            lines, warnings = babeltrace(trace)
            self.assertEqual(counts_of(lines), events)
            self.assertEqual("discarded" in warnings, discarded != 0, warnings)
            if discarded == 0:
                self.assertEqual(warnings, "")

    def test_wrap_keeps_the_newest(self):
        trace, _ = self.trace(WRAP, 4, "threads", 10000)
        lines, _ = babeltrace(trace)
        found = re.findall(r"order_end.* number = (\d+)", "\n".join(lines))
        numbers = [int(number) for number in found]
        self.assertEqual(max(numbers), 9999)
        self.assertGreater(min(numbers), 5000)

    def test_a_thread_that_ends_leaves_a_short_file(self):
        trace, _ = self.trace(NORMAL, 2, "threads", 10)
        sizes = [os.path.getsize(path) for path in glob.glob(trace + "/thread-*")]
        self.assertGreater(len(sizes), 1)
        self.assertLess(max(sizes), 64 << 10)

    def test_a_killed_process_has_written_everything(self):
        trace, _ = self.trace(CONTINUOUS, 2, "killed", 2500, status=-signal.SIGKILL)
        self.assertEqual(set(logged(trace).values()), {4 * 2500})
        lines, warnings = babeltrace(trace)
        self.assertEqual((len(lines), warnings), (3 * 4 * 2500, ""))

    def test_values(self):
        trace, _ = self.trace(NORMAL, 2, "extremes")
        lines, warnings = babeltrace(trace)
        self.assertEqual(warnings, "")
        self.assertIn(
            "{ a = 255, b = 65535, c = 4294967295, d = 18446744073709551615, e = -128, f = -32768, "
            "g = -2147483648, h = -9223372036854775808, i = 1e+300, j = 0xDEADBEEF, k = \""
            + "x" * 254 + "\", l = \"\" }", lines[0])
        self.assertEqual(self.trace(NORMAL, 3, "read", 0)[1], "32 1 7 0 0\n")

    def test_time_is_that_of_the_system(self):
        trace, _ = self.trace(NORMAL, 2, "extremes", 1)
        lines, _ = babeltrace(trace)
        seconds = float(run("babeltrace2", "--clock-seconds", trace).stdout[1:].split("]")[0])
        self.assertLess(abs(seconds - os.stat(os.path.join(trace, "metadata")).st_mtime), 5)
        self.assertEqual(len(lines), 1)

    def test_levels(self):
        trace, said = self.trace(NORMAL, 2, "levels", 5)
        # Values -2 to 2; 5 calls after the reset; those that were off do not count.
        self.assertEqual(said, "first 5 0 -2 2 3 1\nreset 0 0 0 0 0 0\noff 5 0 -2 2 3 1\nnone 0\n")
        events = {one["event"]: one for one in shown(trace)["events"]}
        self.assertEqual(set(events), {"shop::orders::order_begin", "shop::orders::order_end"})
        end = events["shop::orders::order_end"]
        self.assertEqual([end[key] for key in ("logged", "count", "sum", "min", "max", "mean")],
                         [0, 5, 0, -2, 2, 0])
        self.assertEqual(events["shop::orders::order_begin"]["logged"], 15)

    def test_signals_within_events(self):
        trace, said = self.trace(CONTINUOUS, 2, "signals")
        written, discarded = (int(word) for word in said.split())
        self.assertEqual(sum(logged(trace).values()) + discarded, written)
        self.assertEqual(shown(trace)["damaged_files"], 0)
        babeltrace(trace)

    def test_forks(self):
        trace, said = self.trace(NORMAL, 2, "forks", 10)
        self.assertEqual(said, "0\n")
        self.assertEqual(set(logged(trace).values()), {20})
        self.assertEqual(logged(trace + "-child"), {"shop::orders::order_begin": 1})

    def test_opening_fails(self):
        said = run(self.program, self.folder, NORMAL, "2", "none", status=1).stderr
        self.assertIn("File exists", said)
        said = run(self.program, self.path("x"), NORMAL, "1", "none", status=1).stderr
        self.assertIn("packets: must be from 2", said)
        limited = f"ulimit -f 64; exec {self.program} {self.path('y')} 0 2 none"
        self.assertIn("ulimit -f", run("sh", "-c", limited, status=1).stderr)

    def test_the_library_can_be_loaded_at_run_time(self):
        run(sys.executable, "-c", f"import ctypes; ctypes.CDLL({LIBRARY!r})")

    def test_damaged_traces(self):
        trace, _ = self.trace(NORMAL, 3, "threads", 100)
        packets = sorted(name for name in os.listdir(trace) if name.startswith("thread-"))
        self.assertEqual(len(packets), 3)
        os.truncate(os.path.join(trace, packets[0]), 70000 // 2)
        with open(os.path.join(trace, packets[0]), "r+b") as file:
            file.truncate(120)
        with open(os.path.join(trace, packets[1]), "r+b") as file:
            file.write(b"none")
        done = run(JPROF, "events", "show", trace, "--format", "json")
        self.assertEqual(json.loads(done.stdout)["damaged_files"], 2)
        self.assertEqual(set(logged(trace).values()), {100})
        self.assertIn(packets[0] + ": has another size than it says", done.stderr)
        self.assertIn(packets[1] + ": is not a packet of events", done.stderr)

    def test_cpp(self):
        program = self.path("program_cpp")
        run(CXX, "-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-I", RUNTIME, "-I",
            self.folder, os.path.join(SOURCES, "program.cpp"), *self.link(), "-o", program)
        trace = self.path("cpp")
        run(program, trace, "10")
        self.assertEqual(logged(trace), {"shop::orders::order_begin": 10})
        self.assertEqual(shown(trace)["events"][1]["sum"], 45)
        lines, warnings = babeltrace(trace)
        self.assertEqual((len(lines), warnings), (10, ""))

    def test_fortran(self):
        if shutil.which("gfortran") is None:
            self.skipTest("gfortran is not installed")
        program, trace = self.path("program_f90"), self.path("fortran")
        run("gfortran", "-Wall", "-Werror", "-O1", "-J", self.folder, self.path("shop_events.f90"),
            os.path.join(SOURCES, "program.f90"), *self.link(), "-o", program)
        run(program, trace)
        self.assertEqual(logged(trace), {
            "shop::orders::order_begin": 1000, "shop::orders::order_end": 1000,
            "shop::orders::everything": 1})
        lines, warnings = babeltrace(trace)
        self.assertEqual((len(lines), warnings), (2001, ""))
        self.assertIn('customer = "Fortran", kind = ( "card"', lines[0])

    def test_java(self):
        if shutil.which("javac") is None or not os.path.exists(JAR):
            self.skipTest("a JDK with javac is not installed")
        classes = self.path("classes")
        for name in ("kernel", "threads", "jvm"):
            spec = os.path.join(ROOT, "events", "spec", name + ".xml")
            run(JPROF, "events", "generate", spec, "--language", "java", "--out", self.folder)
        stubs = [self.path(name + "Events.java") for name in ("Shop", "Kernel", "Threads", "Jvm")]
        run("javac", "--release", "17", "-Xlint:all", "-Werror", "-cp", JAR, "-d", classes, *stubs,
            os.path.join(SOURCES, "Program.java"))

        def java(mode, packets, what, count, status=0):
            trace = self.path(f"java-{what}-{mode}-{count}")
            said = run("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
                       f"{JAR}:{classes}", "Program", trace, mode, packets, what, str(count),
                       status=status).stdout
            lines, warnings = babeltrace(trace)
            self.assertEqual(counts_of(lines), logged(trace))
            self.assertEqual(shown(trace)["damaged_files"], 0)
            self.assertEqual("discarded" in warnings, shown(trace)["discarded"] != 0, warnings)
            return trace, said, lines

        trace, said, lines = java(CONTINUOUS, "2", "threads", 2000)
        self.assertEqual((set(logged(trace).values()), said), ({6000}, "0\n"))
        self.assertIn('customer = "m\u00e4\U0001f600", kind = ( "card"', lines[0])
        trace, said, _ = java(NORMAL, "2", "threads", 3000)
        self.assertEqual(sum(logged(trace).values()) + int(said), 9 * 3000)
        trace, _, lines = java(WRAP, "2", "threads", 5000)
        self.assertEqual(max(int(number) for number in re.findall(
            r"order_end.* number = (\d+)", "\n".join(lines))), 4999)
        trace, _, _ = java(CONTINUOUS, "2", "killed", 500, status=9)
        self.assertEqual(set(logged(trace).values()), {2000})
        _, _, lines = java(NORMAL, "2", "extremes", 0)
        self.assertIn("d = 18446744073709551615, e = -128, f = -32768, g = -2147483648, "
                      "h = -9223372036854775808, i = 1e+300, j = 0xDEADBEEF, k = \""
                      + "x" * 254 + "\", l = \"\"", lines[0])
        trace, said, _ = java(NORMAL, "2", "levels", 5)
        end = [one for one in shown(trace)["events"] if one["event"].endswith("order_end")][0]
        self.assertEqual([end[key] for key in ("logged", "count", "sum", "min", "max")],
                         [0, 5, 0, -2, 2])
        self.assertEqual(said, "0\n0\n")

    def test_documented_example(self):
        with open(os.path.join(ROOT, "docs", "EVENTS.md"), encoding="utf-8") as file:
            blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```$", file.read(), re.M | re.S))
        folder = self.path("documented")
        os.mkdir(folder)
        self.write("documented/shop.xml", blocks["xml"])
        self.write("documented/shop.c", blocks["c"])
        *_, compile_line, run_line, _, _ = blocks["sh"].splitlines()
        run(JPROF, "events", "generate", "shop.xml", "--language", "c", "--out", ".", cwd=folder)
        words = compile_line.replace("-ljprof-events", f"{LIBRARY} -I{RUNTIME}").split()
        run(CC, *words[1:], "-Wall", "-Werror", "-Wl,-rpath," + os.path.dirname(LIBRARY),
            cwd=folder)
        command, expected = run_line.split("#")
        self.assertEqual(run(command.strip(), cwd=folder).stdout.strip(), expected.strip())
        self.assertEqual(logged(os.path.join(folder, "shop-trace")),
                         {"shop::orders::order_begin": 1000, "shop::orders::order_end": 1000})

    def test_html_and_metadata(self):
        with open(self.path("shop_events.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("Who &lt;orders&gt; &quot;it&quot;.", page)
        self.assertEqual(page.count("<h3 "), 4)
        with open(self.path("metadata"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("/* CTF 1.8 */"))


unittest.main(verbosity=1)
