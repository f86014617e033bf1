#!/usr/bin/env python3
"""Tests marks, jprof_mark and jprof.events.Mark, and the traces that they open in the folder which
JPROF_EVENTS_FOLDER names.

  events_marks.py JPROF SOURCE_ROOT LIBRARY CC CXX

Without a JDK, what requires it is skipped.
"""
import os
import re
import shutil
import tempfile
import unittest

from event_programs import (CC, CXX, JAR, LIBRARY, ROOT, RUNTIME, SOURCES, babeltrace, logged, run,
                            shown)

MARK = "process::marks::mark"
VARIABLE = "JPROF_EVENTS_FOLDER"
LONG = "x" + "\u00e4" * 200
CUT = "x" + "\u00e4" * 127  # 255 bytes
NOT_SET = VARIABLE + ": is not set, and no trace is open"


def javas():
    """Each Java 17 and later that is installed."""
    folder = "/usr/lib/jvm"
    found = {os.path.realpath(os.path.join(folder, name, "bin", "java"))
             for name in (os.listdir(folder) if os.path.isdir(folder) else [])}
    return sorted(java for java in found if os.access(java, os.X_OK))


def texts(trace):
    """What babeltrace2 reads. It escapes what is not printed."""
    lines, warnings = babeltrace(trace)
    if warnings:
        raise AssertionError(warnings)
    return [re.search(r'text = "(.*)" }$', line).group(1) for line in lines]


def place(trace):
    """The process and the thread of the first mark, as babeltrace2 reads them."""
    line = babeltrace(trace)[0][0]
    return tuple(int(re.search(rf"{key} = (\d+)", line).group(1)) for key in ("process", "thread"))


class Marks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="jprof-marks-")
        cls.program = os.path.join(cls.place.name, "mark")
        run(CC, "-std=c11", "-D_GNU_SOURCE", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1",
            "-I", RUNTIME, os.path.join(SOURCES, "mark.c"), LIBRARY,
            "-Wl,-rpath," + os.path.dirname(LIBRARY), "-lpthread", "-o", cls.program)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def setUp(self):
        self.folder = os.path.join(self.place.name, self.id().split(".")[-1])
        os.mkdir(self.folder)

    def run_in(self, folder, *command, **more):
        """What the command prints with the variable set to the folder."""
        environment = {key: value for key, value in os.environ.items() if key != VARIABLE}
        if folder is not None:
            environment[VARIABLE] = folder
        return run(*command, env=environment, **more).stdout.splitlines()

    def mark(self, *words, folder="own"):
        return self.run_in(self.folder if folder == "own" else folder, self.program, *words)

    def traces(self):
        return [os.path.join(self.folder, name) for name in sorted(os.listdir(self.folder))]

    def only_trace(self):
        (trace,) = self.traces()
        return trace

    def is_complete(self, trace, count):
        self.assertEqual(logged(trace), {MARK: count})
        more = shown(trace)
        self.assertEqual((more["damaged_files"], more["discarded"]), (0, 0))
        with open(os.path.join(trace, "metadata"), encoding="utf-8") as file:
            return "closed = 1;" in file.read()

    def test_texts(self):
        self.assertEqual(self.mark("say", "one", LONG, "\x1b[31m\r\n\t", ""), ["0 "] * 4)
        trace = self.only_trace()
        self.assertTrue(self.is_complete(trace, 4))
        self.assertEqual(texts(trace), ["one", CUT, r"\e[31m\r\n\t", ""])
        with open(os.path.join(trace, "thread-0-0"), "rb") as file:
            self.assertIn(b"\x1b[31m\r\n\t\0", file.read())
        self.assertEqual(place(trace), (int(os.path.basename(trace)),) * 2)
        self.assertEqual(os.path.getsize(os.path.join(trace, "thread-0-0")), 65536)
        with open(os.path.join(trace, "specifications", "marks.xml"), encoding="utf-8") as file:
            self.assertIn('<marker field="text"/>', file.read())

    def test_null_is_an_empty_text(self):
        self.assertEqual(self.mark("null"), ["0 "])
        self.assertEqual(texts(self.only_trace()), [""])

    def test_threads_open_one_trace_and_lose_no_mark(self):
        self.mark("threads")
        trace = self.only_trace()
        self.assertTrue(self.is_complete(trace, 24 * 5000))
        self.assertEqual(set(texts(trace)), {"of a thread"})

    def test_children_have_traces_of_their_own(self):
        for what, wanted in (("forks", {0: ["before", "even"], 1: ["odd"], 2: ["even"], 3: ["odd"]}),
                             ("late-fork", {2: ["even"], 3: ["odd"]})):
            with self.subTest(what):
                pids = dict(line.split()[1:] for line in self.mark(what) if line[:4] == "pid ")
                found = {}
                for generation, pid in pids.items():
                    trace = os.path.join(self.folder, pid)
                    found[int(generation)] = texts(trace)
                    self.assertTrue(self.is_complete(trace, len(found[int(generation)])))
                    self.assertEqual(place(trace), (int(pid),) * 2)
                self.assertEqual(found, wanted)

    def test_a_program_that_follows_another_one_in_its_process(self):
        self.assertEqual(self.mark("exec"), ["0 ", "0 "])
        first, second = self.traces()
        self.assertEqual(second, first + "-1")
        self.assertEqual(texts(first) + texts(second), ["before exec", "after exec"])

    def test_no_variable(self):
        for folder in (None, ""):
            said = self.mark("say", "a", "b", folder=folder)
            self.assertEqual(said, ["-1 " + NOT_SET] * 2)
            said = self.mark("open", folder=folder)
            self.assertEqual(said[0], "-1 " + NOT_SET)
        self.assertEqual(self.traces(), [])

    def test_folders_in_which_nothing_can_be_made(self):
        for folder, why in (("/proc", None), (os.path.join(self.folder, "none"), "No such file"),
                            (self.program, "Not a directory"), ("x" * 5000, "File name too long")):
            for words in (("say", "a", "b"), ("open",)):
                for line in self.mark(*words, folder=folder):
                    self.assertRegex(line, "^-1 .*" + (why or "/proc/"))
        self.assertEqual({line[:3] for line in self.mark("forks", folder="/proc")}, {"-1 ", "pid"})
        self.assertEqual(self.mark("errno", folder="/proc"), ["77"])
        self.assertEqual(self.traces(), [])

    @unittest.skipIf(os.geteuid() == 0 and shutil.which("setpriv") is None, "requires setpriv")
    def test_a_folder_of_another_user(self):
        os.chmod(self.place.name, 0o755)
        os.chmod(self.folder, 0o555)
        other = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        done = self.run_in(self.folder, *other, self.program, "say", "a", "b")
        self.assertEqual([line.split(": ")[1] for line in done], ["Permission denied"] * 2)

    def test_a_full_disk_is_no_end(self):
        """Files may have 32 KiB: no packet can be made, and SIGXFSZ must not come."""
        limited = f"ulimit -f 32; exec {self.program} say a b"
        for line in self.run_in(self.folder, "sh", "-c", limited):
            self.assertIn("ulimit -f", line)

    def test_the_program_opens_the_trace(self):
        said = self.mark("open")
        self.assertEqual(said, ["0 ", "0 ", "-1 JPROF_EVENTS_FOLDER: this process has opened a "
                                "trace before; it can open one"])
        self.assertEqual(texts(self.only_trace()), ["opened"])
        trace = os.path.join(self.place.name, "named")
        for folder in ("own", None):
            shutil.rmtree(trace, ignore_errors=True)
            self.assertEqual(self.mark("open", trace, folder=folder)[:2], ["0 ", "0 "])
            self.assertEqual(texts(trace), ["opened"])
        self.only_trace()

    def test_consumers_and_errno(self):
        self.assertEqual(self.mark("consumer", folder=None), ["consumed a mark", "-1 " + NOT_SET])
        self.assertEqual(self.mark("errno"), ["77"])

    def test_a_mark_without_a_trace_costs_less_than_a_system_call(self):
        mark, call = (float(word) for word in self.mark("cost", folder=None)[0].split())
        self.assertLess(mark, call)

    def test_programs_with_more_rights_ignore_the_variable(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("requires root and setpriv")
        os.chmod(self.place.name, 0o755)
        os.chmod(self.folder, 0o777)
        program = os.path.join(self.place.name, "privileged")
        shutil.copy(self.program, program)
        os.chmod(program, 0o6755)
        said = self.run_in(self.folder, "setpriv", "--reuid=65534", "--regid=65534",
                           "--clear-groups", program, "say", "a")
        self.assertEqual((said, self.traces()), (["-1 " + NOT_SET], []))

    def test_cpp(self):
        source = os.path.join(self.folder, "mark.cpp")
        program = os.path.join(self.place.name, "mark_cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write('#include <jprof-events.h>\nint main() { return jprof_mark("C++"); }\n')
        run(CXX, "-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-I", RUNTIME, source,
            LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY), "-o", program)
        os.remove(source)
        self.run_in(self.folder, program)
        self.assertEqual(texts(self.only_trace()), ["C++"])

    def test_documented_examples(self):
        with open(os.path.join(ROOT, "docs", "EVENTS.md"), encoding="utf-8") as file:
            section = file.read().split("\n## Marks\n")[1].split("\n## ")[0]
        blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```$", section, re.M | re.S))
        at = os.path.join(self.place.name, "documented")
        os.mkdir(at)
        for name, language in (("shop.c", "c"), ("Shop.java", "java")):
            with open(os.path.join(at, name), "w", encoding="utf-8") as file:
                file.write(blocks[language])
        run(CC, "-Wall", "-Werror", "-I", RUNTIME, "shop.c", LIBRARY,
            "-Wl,-rpath," + os.path.dirname(LIBRARY), "-o", "shop", cwd=at)
        self.run_in(self.folder, os.path.join(at, "shop"))
        self.assertEqual(texts(self.only_trace()), ["the shop opens", "the shop closes"])
        if shutil.which("javac") is None or not os.path.exists(JAR):
            self.skipTest("a JDK with javac is not installed")
        shutil.rmtree(self.only_trace())
        self.run_in(self.folder, "java", "-cp", JAR, os.path.join(at, "Shop.java"))
        self.assertEqual(texts(self.only_trace()), ["the shop opens", "the shop closes"])

    def test_java(self):
        if shutil.which("javac") is None or not os.path.exists(JAR) or not javas():
            self.skipTest("a JDK with javac is not installed")
        classes = os.path.join(self.place.name, "classes")
        run("javac", "--release", "17", "-Xlint:all", "-Werror", "-cp", JAR, "-d", classes,
            os.path.join(SOURCES, "MarkProgram.java"))
        for java in javas():
            with self.subTest(java):
                self.java([java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
                           f"{JAR}:{classes}", "MarkProgram"])

    def java(self, program):
        def mark(*words, folder=self.folder):
            return self.run_in(folder, *program, *words)

        def taken():
            trace = self.only_trace()
            count = sum(logged(trace).values())
            self.assertEqual(shown(trace)["damaged_files"] + shown(trace)["discarded"], 0)
            found = texts(trace)
            self.assertEqual(len(found), count)
            self.assertEqual(place(trace)[0], int(os.path.basename(trace)))
            shutil.rmtree(trace)
            return found

        self.assertEqual(mark("say", "one", LONG), ["true"] * 2)
        self.assertEqual(taken(), ["one", CUT])
        mark("odd")
        self.assertEqual(taken(), [r"a\e[31m\n" + "\u00e4" * 124])
        self.assertEqual(mark("null"), ["true"])
        self.assertEqual(taken(), [""])
        mark("threads")
        self.assertEqual(taken(), ["of a thread"] * 8 * 2000)
        self.assertEqual(mark("open"), ["true", "false"])
        self.assertEqual(taken(), ["opened"])
        named = os.path.join(self.folder, "named")
        self.assertEqual(mark("open", named), ["true", "false"])
        self.assertEqual(texts(named), ["opened"])
        shutil.rmtree(named)
        for folder in (None, ""):
            self.assertEqual(mark("say", "a", "b", folder=folder), ["false"] * 2)
            self.assertEqual(mark("open", folder=folder),
                             [VARIABLE + " is not set", "false", "false"])
        for folder in ("/proc", named, self.program):
            self.assertEqual(mark("say", "a", "b", folder=folder), ["false"] * 2)
        self.assertEqual(self.traces(), [])


if __name__ == "__main__":
    unittest.main(verbosity=1)
