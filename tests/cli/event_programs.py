"""What tests of programs with events share: a specification, what is generated of it, and a program
in C. They are called with JPROF SOURCE_ROOT LIBRARY CC CXX.
"""
import collections
import json
import os
import re
import shutil
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


def shown(trace, *options):
    return json.loads(run(JPROF, "events", "show", trace, "--format", "json", *options).stdout)


def logged(trace):
    return {one["event"]: one["logged"] for one in shown(trace)["events"] if one["logged"]}


class Programs(unittest.TestCase):
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
