#!/usr/bin/env python3
"""Tests `jprof callflow --time-every`: every call is counted, some intervals are timed, and reports
say so. The calls of the program (sparse/Estimates.java) are known.

  time_every_test.py JPROF [TEST...]
"""
import json
import os
import re
import shutil
import sys
import tempfile
import unittest

import child
import jvms

HERE = os.path.dirname(os.path.abspath(__file__))
JPROF = os.path.abspath(sys.argv.pop(1))
JDKS = jvms.needed_jdks()
ROUNDS = 200_000
CALLS = {"main": 1, "loop": 1, "middle": ROUNDS, "leaf": 2 * ROUNDS, "rare": 10}


class TimeEvery(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof-time-every-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.env = child.own_environment(cls.folder)
        child.run([JDKS[0].tool("javac"), "--release", "17", "-d", cls.folder,
                   os.path.join(HERE, "sparse", "Estimates.java")], check=True)

    def jprof(self, *arguments, status=0):
        done = child.run([JPROF, *arguments], env=self.env)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def record(self, jdk, name, *options):
        out = os.path.join(self.folder, name)
        self.jprof("callflow", "--force", *options, "-o", out, "--", jdk.tool("java"), "-cp",
                   self.folder, "Estimates")
        return out

    def methods(self, profile):
        """Name -> (calls, ns below it) of the program's methods."""
        report = json.loads(
            self.jprof("report", "log-rt", "--cumulative", "--format", "json", profile).stdout)
        found = {}
        for thread in report["threads"]:
            for node in thread["nodes"]:
                name = re.search(r"Estimates\.(\w+)\(", node["name"])
                if name:
                    calls, time = found.get(name[1], (0, 0))
                    found[name[1]] = (calls + node["calls"], time + node["cumulative"][0])
        return found

    def test_counts_are_exact_and_times_are_marked_as_estimates(self):
        for jdk in JDKS:
            with self.subTest(jdk.version):
                profile = self.record(jdk, "some", "--time-every", "16")
                methods = self.methods(profile)
                self.assertEqual({name: calls for name, (calls, _) in methods.items()}, CALLS)
                # Ten calls of 10 ms, all of them timed.
                self.assertGreater(methods["rare"][1], 80e6)
                self.assertLess(methods["rare"][1], 250e6)
                self.assertGreater(methods["loop"][1], methods["rare"][1])
                head = self.jprof("report", "log-rt", profile).stdout.split("\n\n")[0]
                self.assertIn("callflow, one interval in 16 timed,", head)
                text = self.jprof("info", "--quality", profile).stdout
                self.assertIn("time is estimated from one interval in 16", " ".join(text.split()))

    def test_reads_the_clock_for_few_intervals(self):
        profile = self.record(JDKS[0], "few", "--time-every", "64")
        text = " ".join(self.jprof("info", "--quality", profile).stdout.split())
        timed = int(re.search(r"(\d+) intervals were timed", text)[1])
        self.assertGreater(timed, 6 * ROUNDS / 64)
        self.assertLess(timed, 6 * ROUNDS)

    def test_merged_profiles_add_up(self):
        parts = [self.record(JDKS[0], f"part{i}", "--time-every", "16") for i in range(2)]
        merged = os.path.join(self.folder, "merged")
        self.jprof("merge", "-o", merged, *parts)
        calls = {name: calls for name, (calls, _) in self.methods(merged).items()}
        self.assertEqual(calls, {name: 2 * count for name, count in CALLS.items()})
        text = " ".join(self.jprof("info", "--quality", merged).stdout.split())
        self.assertIn("time is estimated from one interval in 16", text)

    def test_refuses_what_times_every_event(self):
        for arguments, names in ((("trace", "--time-every", "16"), "--time-every"),
                                 (("callflow", "--time-every", "16", "--distribution", "a.B.c"),
                                  "--distribution"),
                                 (("callflow", "--time-every", "0"), "--time-every")):
            done = self.jprof(*arguments, "--", "true", status=2)
            self.assertIn(names, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
