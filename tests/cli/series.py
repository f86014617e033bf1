#!/usr/bin/env python3
"""Tests counts over time with real JVMs (docs/SERIES.md): --series, --window, report series.

  series.py JPROF
"""
import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest


sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
import jvms  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))
JDK = jvms.needed_jdks()[0]

# Two phases that call different methods, and methods that are compiled meanwhile.
PROGRAM = """
public class Phases {
    static int first(int n) { return n % 7 == 0 ? 1 : small(n); }
    static int second(int n) { return n % 5 == 0 ? 2 : small(n + 1); }
    static int small(int n) { return n & 3; }
    static int run(boolean one, long ms) {
        int sum = 0, n = 0;
        for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end; ) {
            for (int i = 0; i < 1000; ++i) sum += one ? first(n++) : second(n++);
        }
        return sum;
    }
    public static void main(String[] words) throws Exception {
        long ms = Long.parseLong(words[0]);
        Thread other = new Thread(() -> run(true, ms), "other");
        other.start();
        int sum = run(true, ms);
        other.join();
        System.out.println("phase 2");
        sum += run(false, ms);
        System.out.println("done " + (sum != 42));
        if (words.length > 1) Thread.sleep(60_000);
    }
}
"""
MODES = {
    "callflow": ["callflow"],
    "probes": ["calltree", "--counter", "probe"],
    "woven": ["calltree"],
    "samples": ["scs", "--rate", "1000"],
    "both": ["calltree", "--sample"],
    "events": ["scs", "--event", "WALL", "--event", "ALLOCATED_BYTES"],
}


class Series(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof series "))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        with open(os.path.join(cls.folder, "Phases.java"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        child.run([JDK.tool("javac"), "--release", "17", "Phases.java"], cwd=cls.folder, check=True)
        cls.env = {**os.environ, "XDG_DATA_HOME": os.path.join(cls.folder, "data")}
        for name in ("JAVA_TOOL_OPTIONS", "JPROFOPTS"):
            cls.env.pop(name, None)

    def jprof(self, *words, status=0):
        done = child.run([JPROF, *map(str, words)], 240, cwd=self.folder, env=self.env)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def record(self, mode, name, ms=800, interval="200ms"):
        self.jprof(*MODES[mode], "--series", interval, "-o", name, "--force", "--", *JDK.java(),
                   "Phases", ms)

    def report(self, name, *words, report="log-rt"):
        return json.loads(self.jprof("report", report, "--format", "json", *words, name).stdout)

    def info(self, name):
        return json.loads(self.jprof("info", "--format", "json", name).stdout)

    def rows(self, name, *words):
        """Calls, raw values and samples of each path of each thread."""
        report = self.report(name, "--uncalibrated", "--threads", "separate", *words)
        sums = {}
        for thread in report["threads"]:
            paths = {None: (thread["tid"], thread["name"])}
            for node in thread["nodes"]:
                path = (*paths[node["parent"]], node["name"])
                paths[node["id"]] = path
                values = [node["calls"], *node["raw"]]
                before = sums.get(path, [0] * len(values))
                sums[path] = [a + b for a, b in zip(before, values)]
        return sums

    def add(self, total, more):
        for path, values in more.items():
            before = total.setdefault(path, [0] * len(values))
            total[path] = [a + b for a, b in zip(before, values)]

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
