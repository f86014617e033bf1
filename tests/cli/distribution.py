#!/usr/bin/env python3
"""Tests `jprof callflow --distribution` and `jprof report distribution` with a program that times
its own calls, on every JDK found: its histograms against those of the profile.

  distribution.py JPROF
"""
import bisect
import csv
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, os.pardir, "e2e"))
import child  # noqa: E402
import jvms  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))
JDKS = jvms.needed_jdks()
SOURCE = os.path.join(HERE, "TimedCalls.java")
MEASURED = ("bimodal", "recursive", "thrower")  # by the program, too
WATCHED = ("--distribution", "TimedCalls.bimodal,TimedCalls.recursive",
           "--distribution", "TimedCalls.thr*", "--distribution", "TimedCalls.sleeper",
           "--distribution", "TimedCalls.parked", "--distribution", "TimedCalls.missing")


class Own:
    """A line of the program: how it has timed the calls of a method, in ns of CPU time."""

    def __init__(self, line):
        _, self.name, *times = line.split()
        self.times = sorted(map(int, times))
        self.calls = len(times)

    def below(self, ns):
        return bisect.bisect_left(self.times, ns)


def own_lines(text):
    """By the name of the method, as far as the program has printed them."""
    return {own.name: own for own in map(Own, (line for line in text.splitlines()
                                               if line.startswith("times ")))}


class Distribution(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof-distribution-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        child.run([JDKS[0].tool("javac"), "--release", "17", "-d", cls.folder, SOURCE], check=True)
        cls.env = child.own_environment(cls.folder)
        cls.own = {}  # by the name of the JDK
        for jdk in JDKS:
            done = cls.jprof("callflow", "--focus", "TimedCalls", *WATCHED, "-o", f"{jdk.name}.jprof",
                             "--", *jdk.java(), "TimedCalls")
            assert done.returncode == 0, done.stderr
            cls.own[jdk.name] = own_lines(done.stdout)

    @classmethod
    def jprof(cls, *words):
        return child.run([JPROF, *words], 300, cwd=cls.folder, env=cls.env)

    def text(self, *words):
        """What it prints, in one line."""
        return " ".join(self.good("report", "distribution", *words).split())

    def good(self, *words):
        done = self.jprof(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, profile, *options):
        report = json.loads(self.good("report", "distribution", profile, "--format", "json",
                                      *options))
        self.assertEqual(report["damages"], [])
        self.assertEqual(report["losses"]["lost_durations"], 0)
        for row in report["contexts" if "--contexts" in options else "methods"]:
            row["from"] = report["bucket_from_ns"]
        return report["contexts" if "--contexts" in options else "methods"]

    def by_method(self, profile, *options):
        return {re.search(r"\.(\w+)\(", row["name"])[1]: row
                for row in self.rows(profile, *options)}

    def each_jdk(self):
        for jdk in JDKS:
            with self.subTest(jdk=jdk.name):
                yield jdk, self.own[jdk.name], f"{jdk.name}.jprof"

    def test_against_the_programs_own_histogram(self):
        for _, own, profile in self.each_jdk():
            rows = self.by_method(profile)
            for name in MEASURED:
                row, mine = rows[name], own[name]
                self.assertEqual((row["calls"], row["entered"]), (mine.calls, mine.calls), name)
                self.assertEqual(sum(row["cpu_calls"]), mine.calls)
                self.assertEqual(sum(row["elapsed_calls"]), mine.calls)
                self.same_histogram(row, mine)
                # A quantile is known to a quarter of its value.
                for quantile, q in (("p50", 0.5), ("p90", 0.9)):
                    time = mine.times[math.ceil(q * mine.calls) - 1]
                    self.assertGreater(row[f"cpu_{quantile}_ns"], 0.7 * time, name)
                    self.assertLess(row[f"cpu_{quantile}_ns"], 1.3 * time, name)

    def same_histogram(self, row, mine):
        """At each boundary of buckets as many calls are below it by both, but for one in a hundred
        and those whose times are within 6 % of it: the program times its calls from outside."""
        below, slack = 0, 2 + mine.calls / 100
        for calls, end in zip(row["cpu_calls"], row["from"][1:]):
            below += calls
            told = (mine.name, end, below, mine.times)
            self.assertLessEqual(mine.below(0.94 * end) - slack, below, told)
            self.assertGreaterEqual(mine.below(1.06 * end) + slack, below, told)

    def test_the_shape_is_bimodal(self):
        for _, _, profile in self.each_jdk():
            row = self.by_method(profile)["bimodal"]
            # A tenth of the calls is 16 times as long as the others.
            self.assertGreater(row["cpu_p99_ns"], 8 * row["cpu_p50_ns"])
            middle = 4 * row["cpu_p50_ns"]
            longer = sum(calls for calls, begin in zip(row["cpu_calls"], row["from"])
                         if begin >= middle)
            self.assertTrue(70 <= longer <= 150, longer)

    def test_waiting_is_in_the_elapsed_time_only(self):
        for jdk, _, profile in self.each_jdk():
            rows = self.by_method(profile)
            sleeper = rows["sleeper"]
            self.assertEqual(sleeper["calls"], 5)
            self.assertGreaterEqual(sleeper["elapsed_min_ns"], 29e6)
            self.assertLess(sleeper["cpu_max_ns"], 15e6)
            if jdk.major < 21:
                continue
            parked = rows["parked"]  # by virtual threads, which change their carriers
            self.assertEqual((parked["calls"], parked["entered"]), (80, 80))
            self.assertGreaterEqual(parked["elapsed_min_ns"], 10e6)
            self.assertTrue(1e6 < parked["cpu_p50_ns"] < 5e6, parked)

    def test_recursive_calls_have_their_contexts(self):
        for _, own, profile in self.each_jdk():
            rows = [row for row in self.rows(profile, "--contexts")
                    if ".recursive(" in row["name"].split(" < ")[0]]
            self.assertEqual(len(rows), 5)
            by_depth = sorted(rows, key=lambda row: row["name"].count(" < "))
            self.assertEqual([row["calls"] for row in by_depth], [50] * 5)
            means = [row["cpu_mean_ns"] for row in by_depth]
            for depth, mean in enumerate(means):  # 5 parts, 4 parts, ...
                self.assertAlmostEqual(mean / means[4], 5 - depth, delta=0.3 * (5 - depth))
            self.assertEqual(sum(row["calls"] for row in rows), own["recursive"].calls)

    def test_the_sum_is_that_of_the_tree(self):
        for _, _, profile in self.each_jdk():
            tree = json.loads(self.good("report", "log-rt", profile, "--format", "json",
                                        "--cumulative"))
            inclusive = sum(node["cumulative"][0] for thread in tree["threads"]
                            for node in thread["nodes"] if ".bimodal(" in node["name"])
            row = self.by_method(profile)["bimodal"]
            self.assertAlmostEqual(row["calls"] * row["cpu_mean_ns"] / inclusive, 1, delta=0.05)

    def test_text_and_csv(self):
        for _, own, profile in self.each_jdk():
            text = self.good("report", "distribution", profile)
            self.assertIn("no method that was called matches TimedCalls.missing",
                          self.text(profile))
            line = next(line for line in text.splitlines() if ".bimodal(" in line)
            self.assertEqual(line.split()[0], str(own["bimodal"].calls))
            self.assertRegex(line, "[▁-█] *[▁-█]")
            self.assertRegex(text, "HISTOGRAM: from [0-9.]+ .s to [0-9.]+ .s, by factors of 2")
            self.assertIn("logarithm", self.good("report", "distribution", profile, "--legend"))
            table = csv.DictReader(io.StringIO(
                self.good("report", "distribution", profile, "--format", "csv")))
            for row in table:
                calls = sum(int(value) for name, value in row.items()
                            if name.startswith("cpu_calls_from"))
                self.assertEqual(calls, int(row["calls"]))

    def test_merged_distributions_are_the_sums(self):
        profile = f"{JDKS[-1].name}.jprof"
        shutil.copytree(os.path.join(self.folder, profile), os.path.join(self.folder, "copy.jprof"))
        self.good("merge", profile, "copy.jprof", "-o", "both.jprof")
        one, both = self.by_method(profile), self.by_method("both.jprof")
        self.assertEqual(set(one), set(both))
        for name, row in both.items():
            self.assertEqual(row["calls"], 2 * one[name]["calls"])
            self.assertEqual(row["cpu_calls"], [2 * calls for calls in one[name]["cpu_calls"]])
            self.assertAlmostEqual(row["cpu_mean_ns"] / one[name]["cpu_mean_ns"], 1, delta=1e-3)
        self.assertIn("matches TimedCalls.missing", self.text("both.jprof"))

    def test_a_killed_program_loses_no_call(self):
        with child.running([JPROF, "callflow", "--focus", "TimedCalls", *WATCHED, "-o", "kill.jprof", "--",
                          *JDKS[0].java(), "TimedCalls", "wait"], cwd=self.folder, env=self.env,
                           stdout=subprocess.PIPE, text=True) as program:
            text = ""
            for line in program.stdout:
                text += line
                if text.count("times ") == len(MEASURED):
                    break
            own = own_lines(text)
            pid = int(json.loads(self.good("info", "kill.jprof", "--format", "json"))["pid"])
            os.kill(pid, 9)
            program.communicate()
        rows = self.by_method("kill.jprof")
        for name in MEASURED:
            self.assertEqual(rows[name]["calls"], own[name].calls)

    def test_damage_is_named_and_the_rest_is_read(self):
        profile = os.path.join(self.folder, "damaged.jprof")
        shutil.copytree(os.path.join(self.folder, f"{JDKS[0].name}.jprof"), profile)
        size = 64 + 2 * 194 * 32
        path = os.path.join(profile, "distributions")
        with open(path, "r+b") as file:  # calls of the first record that no clock measures
            file.seek(64 + 3 * 32)
            file.write((5).to_bytes(8, "little") + (1 << 60).to_bytes(8, "little"))
        self.assertIn("distributions are not valid", self.text("damaged.jprof"))
        os.truncate(path, size * 2 + 7)
        quality = self.good("info", "--quality", "damaged.jprof")
        self.assertIn("distributions: cut off: some are missing", " ".join(quality.split()))
        self.assertIn("TimedCalls.", self.text("damaged.jprof"))
        os.remove(path)
        self.good("report", "distribution", "damaged.jprof")
        self.good("report", "log-rt", "damaged.jprof")

    def test_what_is_refused(self):
        java = JDKS[0].java()
        for words, said in (
                (("--metrics", "page-faults"), "only if time is the one metric"),
                (("--metrics", "time,page-faults"), "only if time is the one metric")):
            done = self.jprof("callflow", "--distribution", "A.b", *words, "-o", "no.jprof", "--",
                              *java, "TimedCalls")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertIn("--distribution", done.stderr)
        done = self.jprof("callflow", "--distribution=-A.b", "-o", "no.jprof", "--", *java,
                          "TimedCalls")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("name the methods to be timed", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "no.jprof")))
        self.good("callflow", "-o", "plain.jprof", "--", *java, "-version")
        done = self.jprof("report", "distribution", "plain.jprof")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--distribution METHOD", done.stderr)


if __name__ == "__main__":
    unittest.main()
