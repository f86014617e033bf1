#!/usr/bin/env python3
"""Tests `jprof import`: recordings that each JDK makes of the two-phase program, whose shares are
those of `jfr print`; together with exact counts; stacks of other formats; what is refused.

  import.py JPROF [--print]    --print: only print the shares of each JDK beside those of jfr print
"""
import collections
import csv
import gzip
import io
import json
import os
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
PRINT = "--print" in sys.argv and sys.argv.remove("--print") is None
PROGRAM = os.path.join(HERE, os.pardir, os.pardir, "trainers", "TwoPhases.java")
MAIN = "jprof.trainers.TwoPhases"
CHUNKS = 1500
ARGUMENTS = [str(CHUNKS), str(CHUNKS), "scan", "10"]
WARM_UP = 100 * 100  # chunks
DEEP = """
public class Deep {
    static long down(int n) {
        long sum = n;
        if (n > 0) return down(n - 1) + 1;
        for (int i = 0; i < 100_000; ++i) sum = sum * 31 + i;
        return sum;
    }
    public static void main(String[] words) {
        long sum = 0, end = System.nanoTime() + 2_000_000_000L;
        while (System.nanoTime() < end) sum += down(300);
        System.out.println(sum);
    }
}
"""
PERF = """java 12/34 [001] 100.000000:   10000000 cpu-clock:u:
\t    7f00001234 void app.Work.run(int)+0x14 (/tmp/perf-12.map)
\t    7f00000034 void app.Main.main(java.lang.String[])+0x4 (/tmp/perf-12.map)

"""


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof import "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.env = child.own_environment(self.folder)

    def run_in(self, command, status=0, **how):
        done = child.run(command, 300, cwd=self.folder, env=self.env, **how)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def jprof(self, *words, status=0, **how):
        return self.run_in([JPROF, *words], status, **how)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return name

    def rows(self, profile, *options):
        text = self.jprof("report", *options, profile, "--format", "csv").stdout
        return list(csv.DictReader(io.StringIO(text)))

    def info(self, profile):
        return json.loads(self.jprof("info", profile, "--format", "json").stdout)

    def samples(self, profile):
        """Own samples by method."""
        found = collections.Counter()
        for row in self.rows(profile, "scs"):
            if row["level"] != "0":
                found[row["name"]] += int(row["samples:samples"])
        return +found


class Recordings(Folder):
    @classmethod
    def setUpClass(cls):
        cls.programs = tempfile.mkdtemp(prefix="jprof import ")
        cls.addClassCleanup(shutil.rmtree, cls.programs)
        child.run([jvms.needed_jdks()[0].tool("javac"), "-g", "--release", "17", "-d",
                   cls.programs, PROGRAM], check=True)

    def recorded(self, jdk, *settings):
        """A recording of the two-phase program, which is made once."""
        if not os.path.exists(jdk.tool("jfr")):
            self.skipTest(f"{jdk.name} has no tool jfr")
        name = os.path.join(self.programs, f"{jdk.name}-{len(settings)}.jfr")
        if not os.path.exists(name):
            # These settings take twice as many samples as the default ones.
            options = ",".join([f"filename={name}", "settings=profile", *settings])
            self.run_in(jdk.java(f"-XX:StartFlightRecording={options}", "-cp", self.programs, MAIN,
                                 *ARGUMENTS))
        return name

    def printed(self, jdk, recording, event):
        """Own samples by method as `jfr print` shows them, and the number of all."""
        text = self.run_in([jdk.tool("jfr"), "print", "--json", "--events", event, "--stack-depth",
                            "64", recording]).stdout
        found = collections.Counter()
        events = json.loads(text)["recording"]["events"]
        for one in events:
            stack = one["values"]["stackTrace"]
            frames = stack["frames"] if stack else []
            if not frames:
                found["(no stack in the imported file)"] += 1
                continue
            method = frames[0]["method"]
            class_name = method["type"]["name"].replace(".", "/")
            found[f"{class_name}.{method['name']}{method['descriptor']}"] += 1
        return found, len(events)

    def test_shares_are_those_of_jfr_print(self):
        for jdk in jvms.needed_jdks():
            with self.subTest(jdk=jdk.name):
                recording = self.recorded(jdk)
                printed, count = self.printed(jdk, recording, "jdk.ExecutionSample")
                self.assertGreater(count, 20)
                profile = f"{jdk.name}.jprof"
                done = self.jprof("import", recording, "-o", profile)
                self.assertIn(f"{count} samples jdk.ExecutionSample", done.stderr)
                imported = self.samples(profile)
                if PRINT:
                    self.show(jdk, printed, imported, count)
                self.assertEqual(imported, printed)
                info = self.info(profile)
                self.assertEqual(info["imported"]["format"], "jfr")
                self.assertIn(MAIN, " ".join(info["command"]))
                self.assertIn("threads that execute Java code", info["imported"]["notes"][0])
                head = self.jprof("report", profile).stdout
                self.assertIn("imported from", head)

    @staticmethod
    def show(jdk, printed, imported, count):
        print(f"{jdk.name} ({jdk.version}): {count} samples\n  jfr print    jprof  method")
        for name, samples in printed.most_common():
            print(f"  {100 * samples / count:7.2f} % {100 * imported[name] / count:7.2f} %  {name}")

    def test_samples_with_exact_counts(self):
        for jdk in jvms.needed_jdks():
            with self.subTest(jdk=jdk.name):
                recording = self.recorded(jdk)
                self.jprof("import", recording, "-o", "sampled.jprof", "--force")
                self.jprof("calltree", "-o", "counted.jprof", "--force", "--",
                           *jdk.java("-cp", self.programs), MAIN, *ARGUMENTS)
                self.jprof("combine", "counted.jprof", "sampled.jprof", "-o", "both.jprof",
                           "--force")
                calls, samples = collections.Counter(), collections.Counter()
                for row in self.rows("both.jprof", "combined"):
                    method = row["name"].removeprefix("jprof/trainers/TwoPhases.")
                    if row["calls"] not in ("", "0"):  # the counted run has the context
                        calls[method] += int(row["calls"])
                        samples[method] += float(row["samples"])
                self.assertEqual(calls["scan()V"], 1000 * (WARM_UP + CHUNKS))
                self.assertEqual(calls["plainScans()V"], WARM_UP + CHUNKS)
                # All samples of these are in contexts that the counted run has.
                imported = self.samples("sampled.jprof")
                for method in ("scan()V", "plainScans()V"):
                    self.assertGreater(samples[method], 10)
                    self.assertEqual(samples[method],
                                     imported[f"jprof/trainers/TwoPhases.{method}"])

    def test_samples_of_cpu_time(self):
        newer = [jdk for jdk in jvms.needed_jdks() if jdk.major >= 25]
        if not newer:
            self.skipTest("jdk.CPUTimeSample is of JDK 25 and later")
        jdk = newer[0]
        recording = self.recorded(jdk, "jdk.CPUTimeSample#enabled=true",
                                  "jdk.CPUTimeSample#throttle=10ms")
        printed, count = self.printed(jdk, recording, "jdk.CPUTimeSample")
        self.assertGreater(count, 20)
        done = self.jprof("import", recording, "-o", "cpu.jprof")
        self.assertIn("jdk.ExecutionSample are not imported", done.stderr)
        with open(os.path.join(self.folder, "cpu.jprof", "meta.json"), encoding="utf-8") as file:
            metric = json.load(file)["metrics"][0]
        self.assertEqual((metric["period_clock"], metric["period_unit"]), ("cpu", "ns"))
        if "another period" not in done.stderr:
            self.assertEqual(self.samples("cpu.jprof"), printed)
        self.jprof("import", recording, "-o", "java.jprof", "--event", "ExecutionSample")

    def test_stacks_deeper_than_the_jvm_records(self):
        jdk = jvms.needed_jdks()[0]
        self.write("Deep.java", DEEP)
        self.run_in([jdk.tool("javac"), "Deep.java"])
        self.run_in(jdk.java("-XX:StartFlightRecording=filename=deep.jfr,settings=profile",
                             "-XX:CompileCommand=quiet",
                             "-XX:CompileCommand=dontinline,Deep::down", "Deep"))
        done = self.jprof("import", "deep.jfr")
        self.assertRegex(done.stderr, r"\d+ stacks are cut")
        rows = self.rows("deep.jprof", "scs")
        note = next(i for i, row in enumerate(rows)
                    if row["name"] == "(outer frames were not recorded)")
        self.assertEqual((rows[note]["level"], rows[note + 1]["name"]), ("1", "Deep.down(I)J"))
        self.assertLessEqual(max(int(row["level"]) for row in rows), 64 + 1)
        self.assertIn("are cut at the depth limit",
                      self.jprof("info", "--quality", "deep.jprof").stdout)

    def test_a_jvm_that_is_killed(self):
        jdk = jvms.needed_jdks()[-1]
        recording = self.recorded(jdk)
        with open(recording, "rb") as file:
            whole = file.read()
        for part in (0.3, 0.9):
            cut = self.write("cut.jfr", whole[:int(part * len(whole))])
            done = subprocess.run([JPROF, "import", cut, "-o", "cut.jprof", "--force"],
                                  capture_output=True, text=True, cwd=self.folder, timeout=60)
            self.assertIn(done.returncode, (0, 1))
            self.assertIn("cut.jfr: ", done.stderr)


class Formats(Folder):
    def test_perf_from_standard_input(self):
        done = self.jprof("import", "-", "-o", "perf.jprof", input=PERF * 3)
        self.assertIn("standard input: 3 samples cpu-clock:u", done.stderr)
        self.assertEqual(self.samples("perf.jprof"), {"app/Work.run(I)V": 3})

    def test_a_file_that_cannot_be_imported_keeps_no_other_from_it(self):
        for name in ("a", "c", "e"):
            self.write(f"{name}.collapsed", "app/Main.main;app/Work.run 5\n")
        self.write("b.gz", gzip.compress(b"main 1\n")[:15])
        self.write("d", "no format")
        done = self.jprof("import", "a.collapsed", "b.gz", "c.collapsed", status=1)
        self.assertIn("b.gz: its compressed data end too early", done.stderr)
        done = self.jprof("import", "b.gz", "d", "e.collapsed", status=2)
        self.assertIn("b.gz: its compressed data end too early", done.stderr)
        self.assertIn("d: its content is of none of the formats", done.stderr)
        for name in ("a", "c", "e"):
            self.assertEqual(self.samples(f"{name}.jprof"), {"app/Work.run": 5})
        self.assertFalse(os.path.exists(os.path.join(self.folder, "b.jprof")))

    def test_collapsed_compressed(self):
        self.write("app.collapsed.gz", gzip.compress(
            b"app/Main.main;app/Work.run 5\napp/Main.main;malloc 2\n"))
        self.jprof("import", "app.collapsed.gz", "--period", "10ms")
        self.assertEqual(self.samples("app.jprof"), {"app/Work.run": 5, "malloc": 2})
        text = self.jprof("info", "app.jprof").stdout
        self.assertIn("from app.collapsed.gz: collapsed", text)

    def test_names_without_signatures_match_counts(self):
        import made
        made.profile(os.path.join(self.folder, "counted.jprof"), calls=7)
        self.write("a.collapsed", "app/Main.run 40\n")
        self.jprof("import", "a.collapsed", "--period", "10ms")
        self.jprof("combine", "counted.jprof", "a.jprof", "-o", "both.jprof")
        row = next(row for row in self.rows("both.jprof", "combined")
                   if row["name"] == "app/Main.run()V")
        self.assertEqual((row["calls"], float(row["samples"])), ("7", 40.0))

    def test_without_a_period_it_cannot_be_combined(self):
        import made
        made.profile(os.path.join(self.folder, "counted.jprof"))
        self.write("a.collapsed", "app/Main.run 40\n")
        self.jprof("import", "a.collapsed")
        done = self.jprof("combine", "counted.jprof", "a.jprof", "-o", "both.jprof", status=2)
        self.assertIn("jprof import a.collapsed --period 10ms", done.stderr)

    def test_exported_profiles_can_be_imported(self):
        self.write("a.collapsed", "app/Main.main;app/Work.run 5\napp/Main.main 2\n")
        self.jprof("import", "a.collapsed", "--period", "10ms")
        self.jprof("export", "a.jprof", "--format", "pprof", "-o", "a.pb.gz")
        self.jprof("import", "a.pb.gz", "-o", "b.jprof")
        self.assertEqual(self.samples("b.jprof"), self.samples("a.jprof"))
        self.jprof("export", "a.jprof", "--format", "collapsed", "-o", "b.collapsed")
        self.jprof("import", "b.collapsed", "-o", "c.jprof")

    def test_several_files(self):
        for name in "ab":
            self.write(f"{name}.collapsed", "x 1\n")
        self.jprof("import", "a.collapsed", "b.collapsed")
        self.assertEqual(self.samples("b.jprof"), {"x": 1})
        done = self.jprof("import", "a.collapsed", "b.collapsed", "-o", "c.jprof", status=2)
        self.assertIn("each of the 2 files becomes a profile of its own", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "c.jprof")))

    def test_merged_profiles_say_that_they_are_imported(self):
        for name in "ab":
            self.write(f"{name}.collapsed", "app/Work.run 10\n")
            self.jprof("import", f"{name}.collapsed", "--period", "10ms")
        done = self.jprof("merge", "a.jprof", "b.jprof", "-o", "both.jprof")
        self.assertIn("2 of 2 profiles are imported from other profilers", done.stderr)
        self.assertEqual(self.samples("both.jprof"), {"app/Work.run": 20})

    def test_what_is_refused(self):
        self.write("text", "hello\n")
        self.write("empty", "")
        self.write("zip.gz", gzip.compress(b"a 1\n" * 1000)[:20])
        for words, status, text in (
                (["text"], 2, "of none of the formats jfr, pprof, perf, collapsed"),
                (["empty"], 1, "empty is empty"),
                (["zip.gz"], 1, "zip.gz: its compressed data end too early"),
                (["none"], 1, "none: cannot open it: No such file"),
                (["text", "--format", "x"], 2, "--format x: choose one of"),
                (["text", "--format", "jfr"], 1, "text: offset 0: no chunk of a recording"),
                (["text", "--period", "soon"], 2, "--period soon: a time from 1ns to 3600s")):
            done = self.jprof("import", *words, "-o", "p.jprof", status=status)
            self.assertIn(text, done.stderr)
            self.assertFalse(os.path.exists(os.path.join(self.folder, "p.jprof")))
        self.write("a.collapsed", "x 1\n")
        self.jprof("import", "a.collapsed")
        self.jprof("import", "a.collapsed", "-o", "a.jprof", status=2)
        self.jprof("import", "a.collapsed", "-o", "a.jprof", "--force")


if __name__ == "__main__":
    unittest.main()
