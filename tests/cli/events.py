#!/usr/bin/env python3
"""Tests `jprof events generate|check|show` and libjprof-events: what is generated compiles without
a warning and runs, and babeltrace2 and jprof read the same events from the traces.

  events.py JPROF SOURCE_ROOT LIBRARY CC CXX

Without babeltrace2, gfortran or a JDK, what requires these is skipped.
"""
import glob
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import unittest

from event_programs import (CC, CONTINUOUS, CXX, JAR, JPROF, LANGUAGES, LIBRARY, NORMAL, ROOT,
                            RUNTIME, SOURCES, WRAP, Programs, babeltrace, counts_of, logged, run,
                            shown, small_specification)


class Events(Programs):
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
        for name in ("kernel", "threads", "jvm", "marks"):
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

    def test_statistics_without_lzcnt(self):
        """A processor from before 2013, emulated, finds the same buckets."""
        emulator = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
        if emulator is None or platform.machine() != "x86_64":
            self.skipTest("needs an x86 processor and qemu-x86_64")
        _, wanted = self.trace(NORMAL, 2, "levels", 5)
        said = run(emulator, "-cpu", "core2duo", self.program, self.path("core2duo"), NORMAL, "2",
                   "levels", "5").stdout
        self.assertEqual(said, wanted)

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
        self.assertGreater(json.loads(done.stdout)["unread_bytes"], 100 * 20)
        self.assertEqual(set(logged(trace).values()), {100})
        self.assertIn(packets[0] + ": from byte 104 on, ", done.stderr)
        self.assertIn(" bytes cannot be read: the packet ends within a record of "
                      "shop::orders::order_begin", done.stderr)
        self.assertIn(packets[1] + ": is not a packet of events", done.stderr)

    def test_damaged_records_are_named_with_their_place(self):
        trace, _ = self.trace(NORMAL, 2, "threads", 100)
        with open(os.path.join(trace, "thread-0-0"), "r+b") as file:
            head = file.read(104)
            first = 12 + 4 + 8 + 3 + 1  # an order_begin
            file.seek(104 + first + 8)
            file.write(b"none")  # the id of the second record
            bits = int.from_bytes(head[48:56], "little")
        said = run(JPROF, "events", "show", trace).stderr
        self.assertEqual(said, f"jprof: {trace}/thread-0-0: from byte {104 + first} on, "
                         f"{bits // 8 - 104 - first} bytes cannot be read: no specification of "
                         "the trace has an event with the id 656e6f6e\n")

    def test_hostile_traces(self):
        trace, _ = self.trace(NORMAL, 2, "threads", 50)

        def said(*changes):
            for name, change in changes:
                os.rename(os.path.join(trace, name), self.path("aside"))
                change(os.path.join(trace, name))
            try:
                done = subprocess.run([JPROF, "events", "show", trace], capture_output=True,
                                      text=True, timeout=60)
                self.assertIn(done.returncode, (0, 1))
                return done.stderr
            finally:
                for name, _ in changes:
                    if os.path.lexists(os.path.join(trace, name)):
                        os.remove(os.path.join(trace, name))
                    os.rename(self.path("aside"), os.path.join(trace, name))

        def link_to_itself(path):
            os.symlink(path, path)

        self.assertEqual(said(), "")
        self.assertIn("specifications/shop.xml: is no regular file",
                      said(("specifications/shop.xml", os.mkfifo)))
        self.assertIn("is no regular file", said(("specifications/shop.xml", link_to_itself)))
        self.assertIn("metadata: is missing: other tools cannot read",
                      said(("metadata", lambda _: None)))
        self.assertIn("thread-0-0: is not a packet", said(("thread-0-0", os.mkfifo)))
        self.assertIn("statistics/events: is missing or empty",
                      said(("statistics/events", os.mkfifo)))
        os.mkfifo(os.path.join(trace, "specifications", "other.xml"))  # the events are known
        os.mkfifo(os.path.join(trace, "statistics", "thread-9"))
        more = said()
        self.assertIn("other.xml: is no regular file", more)
        self.assertIn("statistics/thread-9: is not a file of statistics", more)
        self.assertEqual(set(logged(trace).values()), {150})

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
        for name in ("kernel", "threads", "jvm", "marks"):
            spec = os.path.join(ROOT, "events", "spec", name + ".xml")
            run(JPROF, "events", "generate", spec, "--language", "java", "--out", self.folder)
        stubs = [self.path(name + "Events.java") for name in ("Shop", "Kernel", "Threads", "Jvm",
                                                          "Marks")]
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

    def wanted_of_readers(self):
        """A trace of C with all events, and what the programs that read it print."""
        trace, _ = self.trace(NORMAL, 2, "orders-and-extremes", 2)
        orders = [line for number in range(2) for line in
                  (f"begin 1 {number} [me] 7", f"end {number} {number - 2} 0.5", "nothing")]
        return trace, orders + ["everything -1 -1 -1 -1 -128 -32768 -2147483648 "
                                "-9223372036854775808 254 0"]

    def test_readers_of_fortran(self):
        if shutil.which("gfortran") is None:
            self.skipTest("gfortran is not installed")
        trace, wanted = self.wanted_of_readers()
        program = self.path("read_f90")
        run("gfortran", "-std=f2008", "-Wall", "-Werror", "-O1", "-J", self.folder,
            self.path("shop_events.f90"), os.path.join(SOURCES, "read.f90"), *self.link(), "-o",
            program)
        said = run(program, os.path.join(trace, "thread-0-0")).stdout
        self.assertEqual(said.splitlines(), wanted)

    def test_readers_of_java(self):
        if shutil.which("javac") is None or not os.path.exists(JAR):
            self.skipTest("a JDK with javac is not installed")
        trace, wanted = self.wanted_of_readers()
        classes = self.path("readers")
        run("javac", "--release", "17", "-Xlint:all", "-Werror", "-cp", JAR, "-d", classes,
            self.path("ShopEvents.java"), os.path.join(SOURCES, "Read.java"))
        java = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{JAR}:{classes}"]
        self.assertEqual(run(*java, "Read", trace).stdout.splitlines(), wanted)
        packet = os.path.join(trace, "thread-0-0")
        with open(packet, "r+b") as file:  # the last record is not complete
            head = file.read(104)
            bits = int.from_bytes(head[48:56], "little") - 8
            file.seek(48)
            file.write(bits.to_bytes(8, "little"))
        done = run(*java, "Read", trace, status=1)
        self.assertEqual(done.stdout.splitlines(), wanted[:-1])
        self.assertIn("IllegalStateException", done.stderr)

    def test_versions_of_an_event(self):
        """A library has the old version of an event, the program a new one with another field."""
        old, new = self.path("old"), self.path("new")
        spec = small_specification().replace(
            'name="order_end" version="2"', 'name="order_end" version="3"').replace(
            '<field name="stock"', '<field name="weight" type="uint16"><meaning>w</meaning></field>'
            '\n      <field name="stock"')
        self.write("newer.xml", spec)
        run(JPROF, "events", "generate", self.spec, "--language", "c", "--out", old)
        run(JPROF, "events", "generate", self.path("newer.xml"), "--language", "c", "--out", new)
        library, program = self.path("libold.so"), self.path("versions")
        rpath = "-Wl,-rpath," + os.path.dirname(LIBRARY)
        run(CC, "-shared", "-fPIC", "-fvisibility=hidden", "-I", RUNTIME, "-I", old,
            os.path.join(SOURCES, "old_version.c"), os.path.join(old, "shop_events.c"), LIBRARY,
            rpath, "-o", library)
        run(CC, "-I", RUNTIME, "-I", new, os.path.join(SOURCES, "new_version.c"),
            os.path.join(new, "shop_events.c"), library, LIBRARY, rpath,
            "-Wl,-rpath," + self.folder, "-o", program)
        name = "shop::orders::order_end"
        for what, counts in (("old", {2: 2}), ("new", {3: 3}), ("both", {2: 2, 3: 3})):
            trace = self.path("versions-" + what)
            run(program, trace, what)
            self.assertEqual(sorted(os.listdir(os.path.join(trace, "specifications"))),
                             ["marks.xml", "shop-1.xml", "shop.xml"])
            rows = shown(trace)["events"]
            self.assertEqual({row["version"]: row["logged"] for row in rows}, counts)
            self.assertEqual({row["event"] for row in rows}, {name})
            self.assertEqual({row["version"]: row["sum"] for row in rows},
                             {version: count * 10 * version for version, count in counts.items()})
            lines = run(JPROF, "events", "follow", trace).stdout
            self.assertEqual(lines.count("weight=7 stock=0.5\n"), counts.get(3, 0))
            self.assertEqual(lines.count(" stock=0.25\n"), counts.get(2, 0))
            printed, warnings = babeltrace(trace)
            self.assertEqual((len(printed), warnings), (sum(counts.values()), ""))

    def test_documented_example(self):
        with open(os.path.join(ROOT, "docs", "EVENTS.md"), encoding="utf-8") as file:
            section = file.read().split("\n## A complete example\n")[1].split("\n## ")[0]
        blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```$", section, re.M | re.S))
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
