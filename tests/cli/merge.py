#!/usr/bin/env python3
"""Tests `jprof merge` on profiles that the test creates: sums, spread, threads, what is refused, and
that a failure leaves nothing behind.

  merge.py JPROF
"""
import csv
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import made

JPROF = os.path.abspath(sys.argv.pop(1))
METRICS = [{"name": "time", "unit": "ns", "scale": 1, "kind": "time"}]


class Merge(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="jprof merge ")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def made(self, name, **how):
        made.profile(self.path(name), **how)
        return name

    def jprof(self, *words, status=0, **how):
        done = subprocess.run([JPROF, *words], capture_output=True, text=True, timeout=600,
                              cwd=self.folder, **how)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def rows(self, profile, report="log-rt"):
        text = self.jprof("report", report, profile, "--format", "csv").stdout
        return list(csv.DictReader(io.StringIO(text)))

    def test_sums_and_spread(self):
        for number, time in enumerate((10, 30, 80, 20), 1):
            self.made(f"{number}.jprof", self_time=time)
        done = self.jprof("merge", "1.jprof", "2.jprof", "3.jprof", "4.jprof", "-o", "m.jprof")
        self.assertEqual(done.stdout, "")
        self.assertIn("merged 4 profiles (4 calls) into m.jprof", done.stderr)
        self.assertIn("peak memory", done.stderr)
        row = self.rows("m.jprof")[1]
        self.assertEqual(row["name"], "app/Main.run()V")
        self.assertEqual((row["calls"], row["base:time"], row["runs"]), ("4", "140", "4"))
        self.assertEqual([row[f"raw_{key}:time"] for key in ("min", "median", "max")],
                         ["10", "20", "80"])
        info = json.loads(self.jprof("info", "m.jprof", "--format", "json").stdout)
        self.assertEqual([one["path"] for one in info["merged"]["profiles"]],
                         ["1.jprof", "2.jprof", "3.jprof", "4.jprof"])
        self.assertEqual(info["calls"], 4)
        self.assertIn("4 profiles; threads: by-name", self.jprof("info", "m.jprof").stdout)

    def test_merged_profiles_can_be_merged(self):
        for name in "abc":
            self.made(f"{name}.jprof", self_time=50)
        self.jprof("merge", "a.jprof", "b.jprof", "-o", "ab.jprof")
        self.jprof("merge", "ab.jprof", "c.jprof", "-o", "abc.jprof")
        self.assertEqual(self.rows("abc.jprof", "methods")[0]["calls"], "3")

    def test_threads(self):
        self.made("a.jprof", thread=b"main")
        self.made("b.jprof", thread=b"other")
        for how, threads in (("by-name", {"main", "other"}), ("merge", {"(all threads)"}),
                             ("keep", {"1: main", "2: other"})):
            out = f"{how}.jprof"
            self.jprof("merge", "a.jprof", "b.jprof", "--threads", how, "-o", out)
            names = {row["name"] for row in self.rows(out) if row["level"] == "0"}
            self.assertEqual(names, threads)
        done = self.jprof("merge", "a.jprof", "-o", "x.jprof", "--threads", "names", status=2)
        self.assertIn("by-name, keep, merge", done.stderr)

    def test_a_directory_of_several_profiles_is_all_of_them(self):
        for pid in (7, 8):
            self.made(f"kids.jprof/java-{pid}")
        self.made("one.jprof")
        done = self.jprof("merge", "kids.jprof", "one.jprof", "-o", "m.jprof")
        self.assertIn("merged 3 profiles", done.stderr)

    def refused(self, *words, says):
        before = sorted(os.listdir(self.folder))
        done = self.jprof("merge", *words, status=2)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for text in says:
            self.assertIn(text, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_what_is_refused(self):
        self.made("a.jprof")
        self.made("b.jprof")
        self.made("tree.jprof", mode="calltree", metrics=[])
        self.made("events.jprof", metrics=[{**METRICS[0], "name": "PAPI_TOT_INS", "unit": "events",
                                            "kind": "count"}])
        self.made("bytes.jprof", metrics=[{**METRICS[0], "unit": "bytes"}])
        self.made("trace.jprof", mode="trace")
        os.mkdir(self.path("empty"))
        self.refused("a.jprof", "b.jprof", says=["-o is required"])
        self.refused("a.jprof", "events.jprof", "-o", "m.jprof",
                     says=["a.jprof has the metrics time", "events.jprof has PAPI_TOT_INS"])
        self.refused("a.jprof", "bytes.jprof", "-o", "m.jprof", says=["time", "in ns and in bytes"])
        self.refused("a.jprof", "tree.jprof", "-o", "m.jprof", says=["callflow", "calltree"])
        self.refused("trace.jprof", "-o", "m.jprof", says=["mode trace"])
        self.refused("a.jprof", "nothing.jprof", "-o", "m.jprof", says=["nothing.jprof"])
        self.refused("a.jprof", "empty", "-o", "m.jprof", says=["empty"])
        self.refused("a.jprof", "./a.jprof", "-o", "m.jprof", says=["the same profile"])
        self.refused("a.jprof", "b.jprof", "-o", "b.jprof", says=["--force"])
        self.refused("a.jprof", "b.jprof", "-o", "b.jprof", "--force", says=["b.jprof"])
        self.refused("a.jprof", "b.jprof", "-o", "a.jprof/m", says=["a.jprof"])
        self.refused("a.jprof", "b.jprof", "-o", "missing/m.jprof", says=["missing"])

    def test_a_combined_profile_names_its_runs(self):
        self.made("c.jprof/counted", mode="calltree", metrics=[])
        made.write(self.path("c.jprof"), "runs.json", json.dumps(
            {"format": 1, "runs": [{"role": "counted", "profile": "counted"}]}).encode())
        self.refused("c.jprof", "-o", "m.jprof", says=["c.jprof/counted"])

    def test_force_replaces_a_profile_and_nothing_else(self):
        self.made("a.jprof")
        self.made("old.jprof", self_time=5)
        self.jprof("merge", "a.jprof", "-o", "old.jprof", "--force")
        self.assertEqual(self.rows("old.jprof")[1]["base:time"], "70000")
        self.jprof("merge", "a.jprof", "-o", "old.jprof", "--force")  # has files of a merged one
        made.write(self.path("old.jprof"), "notes.txt", b"mine")
        self.refused("a.jprof", "-o", "old.jprof", "--force", says=["notes.txt"])

    def test_damaged_profiles_are_merged_as_far_as_they_go(self):
        self.made("a.jprof")
        self.made("b.jprof", node_count=9)
        done = self.jprof("merge", "a.jprof", "b.jprof", "-o", "m.jprof")
        self.assertIn("jprof: b.jprof: ", done.stderr)
        self.assertEqual(self.rows("m.jprof")[1]["calls"], "2")
        info = json.loads(self.jprof("info", "m.jprof", "--format", "json").stdout)
        self.assertTrue(info["merged"]["profiles"][1]["damages"])

    def test_profiles_of_other_machines_stay_raw(self):
        self.made("a.jprof")
        self.made("b.jprof", fingerprint={"cpu": "other"})
        done = self.jprof("merge", "a.jprof", "b.jprof", "-o", "m.jprof")
        self.assertIn("no calibration table fits them all", done.stderr)
        explained = " ".join(self.jprof("info", "--quality", "m.jprof").stdout.split())
        self.assertIn("no calibration table fits them all", explained)
        self.assertIn("UNCALIBRATED", self.jprof("report", "log-rt", "m.jprof").stdout)

    def test_a_full_disk_leaves_nothing(self):
        self.made("a.jprof")
        self.made("b.jprof")
        before = sorted(os.listdir(self.folder))

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        done = self.jprof("merge", "a.jprof", "b.jprof", "-o", "m.jprof", status=1,
                          preexec_fn=limit)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_help(self):
        done = self.jprof("merge", "--help")
        self.assertIn("Examples:", done.stdout)


if __name__ == "__main__":
    unittest.main()
