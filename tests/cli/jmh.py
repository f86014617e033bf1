#!/usr/bin/env python3
"""Tests the profiler of JMH with a harness that does what JMH does, on the oldest and newest JDK.

  jmh.py JPROF JPROF-JMH.JAR TESTS/JMH
"""
import glob
import os
import re
import shutil
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
import jvms  # noqa: E402

JPROF, JAR, SOURCES = map(os.path.abspath, (sys.argv.pop(1) for _ in range(3)))
JDKS = jvms.needed_jdks(least=17)


class Jmh(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof jmh "))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        sources = glob.glob(os.path.join(SOURCES, "**", "*.java"), recursive=True)
        child.run([JDKS[0].tool("javac"), "-d", os.path.join(cls.folder, "classes"), *sources],
                  check=True)
        cls.env = {**child.own_environment(cls.folder), "TMPDIR": cls.folder}
        cls.path = os.path.join(cls.folder, "classes")

    def harness(self, options, benchmark="work", operations=1000, per_call=1, jdk=JDKS[0],
                name="bench.Table.Inner"):
        forked = jdk.java("-cp", self.path, "bench.Table", benchmark, str(operations))
        done = child.run(jdk.java(f"-Djava.io.tmpdir={self.folder}", "-cp", f"{self.path}:{JAR}",
                                  "Harness", options, f"{name}.{benchmark}", str(per_call),
                                  *forked),
                         120, cwd=self.folder, env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def results(self, text):
        return {label: float(value) for label, value in
                re.findall(r"^(jprof\.calls\S*) = (\S+) calls/op$", text, re.M)}

    def test_exact_calls_of_an_operation(self):
        for jdk in {JDKS[0], JDKS[-1]}:
            with self.subTest(jdk=jdk.name):
                text = self.harness(f"command={JPROF}", jdk=jdk)
                self.assertIn("found jprof: exact numbers of calls per operation", text)
                self.assertIn("status 0", text)
                self.assertEqual(self.results(text), {
                    "jprof.calls": 4, "jprof.calls.Table.find": 3, "jprof.calls.Table.visit": 1})
                self.assertIn("of 1000 operations", text)
                tree = [line.split() for line in text.splitlines()
                        if re.match(r" +\d+\.\d{3} ", line)]
                self.assertEqual(tree, [["1.000", "bench.Table.Inner.work"],
                                        ["2.000", "Table.find"], ["1.000", "Table.visit"],
                                        ["1.000", "Table.find"]])
        self.assertEqual([name for name in os.listdir(self.folder) if "jprof-jmh" in name], [])

    def test_operations_per_invocation_and_top(self):
        text = self.harness(f"command={JPROF};top=1", benchmark="pairs", per_call=2)
        self.assertEqual(self.results(text), {"jprof.calls": 2, "jprof.calls.Table.find": 1})

    def test_profiles_are_kept(self):
        self.harness(f"command={JPROF};dir=kept profiles")
        kept = os.path.join(self.folder, "kept profiles", "bench.Table.Inner.work-1.jprof")
        self.assertIn("Table.find", child.run([JPROF, "report", kept], 60, env=self.env).stdout)

    def test_a_benchmark_that_was_not_called(self):
        self.assertIn("No call of bench.Table.Inner.none was counted",
                      self.harness(f"command={JPROF}", benchmark="none"))

    def test_wrong_options_are_refused(self):
        for options, said in (("command=/nowhere/jprof", "/nowhere/jprof"),
                              ("frob=1", "no option 'frob'"), ("top=x", "no whole number"),
                              ("top=-1", "below 0"), ("dir=", "has no value"),
                              ("top", "has no value"), ("dir=/proc/none", "cannot make the directory")):
            self.assertRegex(self.harness(options), f"refused: .*{re.escape(said)}")


unittest.main()
