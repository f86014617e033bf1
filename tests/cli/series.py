#!/usr/bin/env python3
"""Tests counts over time with real JVMs (docs/SERIES.md): --series, --window, report series.

  series.py JPROF
"""
import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
import unittest


sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
from phases import JDK, MODES, PhasesTest  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))

class Series(PhasesTest):
    JPROF = JPROF

    def record(self, mode, name, ms=800, interval="200ms"):
        self.jprof(*MODES[mode], "--series", interval, "-o", name, "--force", "--", *JDK.java(),
                   "Phases", ms)

    def test_intervals_add_up_exactly(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                name = f"{mode}.jprof"
                self.record(mode, name)
                series = self.info(name)["series"]
                self.assertGreaterEqual(series["snapshots"], 3)
                self.assertTrue(series["ended"])
                table = self.report(name, "--uncalibrated", report="series")
                ends = [0, *table["ends_s"]]
                self.assertEqual(len(ends) - 1, series["snapshots"])
                total = {}
                for begin, end in zip(ends, ends[1:]):
                    window = self.rows(name, "--window", f"{begin:.6f}s..{end:.6f}s")
                    self.add(total, window)
                whole = {path: values for path, values in self.rows(name).items() if any(values)}
                total = {path: values for path, values in total.items() if any(values)}
                self.assertEqual(set(total), set(whole))
                for path, values in whole.items():
                    self.assertEqual(total[path][0], values[0], path)
                    for one, other in zip(total[path][1:], values[1:]):
                        # JSON has a decimal: each interval is rounded.
                        self.assertAlmostEqual(one, other, delta=0.1 * len(ends) + 1e-9 * other,
                                               msg=path)
                for method in table["methods"]:
                    self.assertEqual(sum(method["calls_at"]), method["calls"], method)

    def test_windows_show_the_phases(self):
        self.record("callflow", "phases.jprof", ms=1500)
        table = self.report("phases.jprof", "--uncalibrated", report="series")
        at = {row["name"].split(".")[-1].split("(")[0]: row["calls_at"] for row in table["methods"]
              if row["name"].startswith("Phases")}
        first, second = at["first"], at["second"]
        self.assertGreater(sum(first), 0)
        self.assertLessEqual(sum(1 for a, b in zip(first, second) if a and b), 1,
                             "the phases share an interval at most")
        border = next(i for i, calls in enumerate(second) if calls)
        split = table["ends_s"][border]
        done = json.loads(self.jprof(
            "compare", "phases.jprof", "--base-window", f"..{table['ends_s'][border - 2]}s",
            "--new-window", f"{split}s..", "--uncalibrated", "--format", "json").stdout)
        text = json.dumps(done)
        self.assertIn("Phases.first", text.replace("/", "."))
        self.assertIn("Phases.second", text.replace("/", "."))
        before = self.rows("phases.jprof", "--window", f"..{table['ends_s'][border - 2]}s")
        after = self.rows("phases.jprof", "--window", f"{split}s..")
        self.assertTrue(any("Phases.first" in path[-1].replace("/", ".") for path in before))
        self.assertFalse(any("Phases.second" in path[-1].replace("/", ".") for path in before))
        self.assertFalse(any("Phases.first" in path[-1].replace("/", ".") for path in after))
        head = self.jprof("report", "--window", "0s..1s", "phases.jprof").stdout
        self.assertRegex(head, r"window +0\.000 s to \d\.\d+ s of the recording")
        rows = list(csv.DictReader(io.StringIO(self.jprof(
            "report", "series", "--format", "csv", "--uncalibrated", "phases.jprof").stdout)))
        self.assertEqual(sum(int(rows[0][f"calls_at_{i + 1}"])
                             for i in range(len(table["ends_s"]))), int(rows[0]["calls"]))
        text = self.jprof("report", "series", "--uncalibrated", "phases.jprof").stdout
        self.assertRegex(text, "TREND +NAME")
        self.assertIn("UNCALIBRATED: the profiler's own cost is in time", text)
        self.jprof("view", "--window", "0s..1s", "phases.jprof", "-o", "part.html")
        self.jprof("view", "phases.jprof", "-o", "phases.html")
        self.jprof("export", "--window", "0s..1s", "phases.jprof", "-o", "part.pb.gz")

    def start(self, name):
        process = self.enterContext(child.running(
            [JPROF, "calltree", "--series", "100ms", "-o", name, "--", *JDK.java(), "Phases", "700",
             "wait"], cwd=self.folder, env=self.env, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True))
        self.assertEqual(process.stdout.readline(), "phase 2\n")
        with open(os.path.join(self.folder, name, "meta.json"), encoding="utf-8") as file:
            return process, json.load(file)["pid"]

    def test_a_killed_program_has_all_its_intervals(self):
        process, pid = self.start("killed.jprof")
        os.kill(pid, signal.SIGKILL)
        process.communicate()
        self.assertTrue(self.info("killed.jprof")["series"]["ended"])
        table = self.report("killed.jprof", report="series")
        total = {}
        for begin, end in zip([0, *table["ends_s"]], table["ends_s"]):
            self.add(total, self.rows("killed.jprof", "--window", f"{begin:.6f}s..{end:.6f}s"))
        whole = self.rows("killed.jprof")
        self.assertEqual({path: values for path, values in total.items() if any(values)},
                         {path: values for path, values in whole.items() if any(values)})

    def test_a_killed_jprof_leaves_what_it_has_written(self):
        process, pid = self.start("orphan.jprof")
        self.addCleanup(lambda: os.kill(pid, signal.SIGKILL))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        series = self.info("orphan.jprof")["series"]
        self.assertFalse(series["ended"])
        self.assertGreater(series["snapshots"], 2)
        self.assertTrue(self.rows("orphan.jprof", "--window", "0%..50%"))

    def test_a_running_jvm_and_several(self):
        script = os.path.join(self.folder, "two.sh")
        with open(script, "w", encoding="utf-8") as file:
            java = " ".join(JDK.java())
            file.write(f"{java} Phases 300\n{java} Phases 301\n")
        self.jprof("calltree", "--series", "100ms", "--children=all", "-o", "two.jprof", "--", "sh",
                   script)
        folder = os.path.join(self.folder, "two.jprof")
        profiles = [os.path.join(folder, name) for name in os.listdir(folder)]
        self.assertEqual(len(profiles), 2)
        for profile in profiles:
            self.assertTrue(self.info(profile)["series"]["ended"])
        process = self.enterContext(child.running(
            [*JDK.java(), "Phases", "4000"], cwd=self.folder, env=self.env, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True))
        time.sleep(1)
        self.jprof("calltree", "--series", "200ms", "--pid", process.pid, "--duration", "2", "-o",
                   "attached.jprof")
        self.assertTrue(self.info("attached.jprof")["series"]["ended"])
        table = self.report("attached.jprof", report="series")
        for method in table["methods"]:
            self.assertEqual(sum(method["calls_at"]), method["calls"])

    def test_wrong_use(self):
        for words, text in (
                (["calltree", "--series", ""], "--series '' is no interval"),
                (["callflow", "--distribution", ""], "--distribution: '' names no method"),
                (["callflow", "--within", ""], "--within: '' names no method"),
                (["calltree", "--series", "1x"], "--series '1x' is no interval"),
                (["calltree", "--series", "10ms"], "from 100ms to 1h"),
                (["callflow", "--series", "0s"], "--series '0s' is no interval")):
            self.assertIn(text, self.jprof(*words, "--", *JDK.java(), "Phases", "1", status=2).stderr)
        done = self.jprof("calltree", "--series", "1h", "-o", "hour.jprof", "--", *JDK.java(),
                          "Phases", "1")
        self.assertRegex(done.stderr, r"series:  1 snapshot, .*; jprof report series hour.jprof\n")
        self.jprof("merge", "hour.jprof", "-o", "merged.jprof")
        self.assertIn("a merged profile has none: name one that it was made of",
                      self.jprof("report", "series", "merged.jprof", status=2).stderr)
        self.assertIn("--series", self.jprof("objects", "--series", "1s", "--", "true",
                                             status=2).stderr)
        plain = os.path.join(self.folder, "plain.jprof")
        self.jprof("calltree", "-o", plain, "--", *JDK.java(), "Phases", "10")
        for words in (["report", "--window", "..1s"], ["report", "series"],
                      ["export", "--window", "..1s", "-o", "-"], ["view", "--window", "..1s", "-o", "-"]):
            self.assertIn("record it with --series", self.jprof(*words, plain, status=2).stderr)
        self.record("woven", "wrong.jprof", ms=200)
        self.assertIn("is no window", self.jprof("report", "--window", "soon", "wrong.jprof",
                                                 status=2).stderr)
        self.assertIn("begins after the last snapshot",
                      self.jprof("report", "--window", "5h..", "wrong.jprof", status=2).stderr)
        self.assertIn("--window is for servers of continuous profiling", self.jprof(
            "push", "clickhouse://127.0.0.1:1/db", "--window", "..1s", plain, status=2).stderr)
        self.assertIn("need both", self.jprof("compare", "wrong.jprof", "--base-window", "..1s",
                                              status=2).stderr)


if __name__ == "__main__":
    unittest.main()
