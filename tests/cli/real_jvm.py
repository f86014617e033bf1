#!/usr/bin/env python3
"""Tests the recording commands with real JVMs, on every JDK found: exit status, signals, filters,
children, unusual paths.

  real_jvm.py JPROF
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
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
import jvms  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))
JDKS = jvms.needed_jdks()

PROGRAM = """
public class Work {
    static int count(int n) { return n == 0 ? 0 : 1 + count(n - 1); }
    public static void main(String[] words) throws Exception {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("bye")));
        Thread other = new Thread(() -> count(7), "other");
        other.start();
        other.join();
        System.out.println("counted " + count(100));
        String what = words.length > 0 ? words[0] : "0";
        if (what.equals("wait")) Thread.sleep(60_000);
        if (what.equals("pause")) Thread.sleep(800);
        long end = System.nanoTime() + 400_000_000;
        while (what.equals("burn") && System.nanoTime() < end) count(100);
        System.exit(Character.isDigit(what.charAt(0)) ? Integer.parseInt(what) : 0);
    }
}
"""

LOOPS, CALLS = 12, 1_200_000  # of each loop
TIGHT = """
public class Tight {
    static int tiny(int x) { return x ^ x >>> 7; }
%s
    public static void main(String[] words) {
        int x = 1;
        for (int i = 0; i < 60; i++) x = %s;
        System.out.println(x);
    }
}
""" % ("\n".join(f"    static int loop{i}(int x) {{\n"
                 f"        for (int i = 0; i < {CALLS // 60}; i++) x = tiny(x);\n"
                 "        return x;\n    }" for i in range(LOOPS)),
       "".join(f"loop{i}(" for i in range(LOOPS)) + "x" + LOOPS * ")")


class RealJvm(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof, 100% + "))
        self.addCleanup(shutil.rmtree, self.folder)
        with open(os.path.join(self.folder, "Work.java"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        child.run([JDKS[0].tool("javac"), "--release", "17", "Work.java"], cwd=self.folder,
                  check=True)
        self.env = child.own_environment(self.folder)

    def jprof(self, *words):
        return child.run([JPROF, *words], 120, cwd=self.folder, env=self.env)

    def info(self, profile):
        done = self.jprof("info", profile, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def each_jdk(self):
        for jdk in JDKS:
            with self.subTest(jdk=jdk.name):
                yield jdk
                for name in os.listdir(self.folder):
                    if name.startswith("Work.jprof") or name.startswith("kids"):
                        shutil.rmtree(os.path.join(self.folder, name))

    def test_merged_counts_are_the_sums(self):
        for jdk in self.each_jdk():
            for number in "12":
                done = self.jprof("callflow", "-o", f"kids-{number}.jprof", "--", *jdk.java(),
                                  "Work")
                self.assertEqual(done.returncode, 0, done.stderr)
            done = self.jprof("merge", "kids-1.jprof", "kids-2.jprof", "-o", "kids.jprof")
            self.assertEqual(done.returncode, 0, done.stderr)
            calls = [self.info(f"kids{end}.jprof")["calls"] for end in ("-1", "-2", "")]
            self.assertEqual(calls[0] + calls[1], calls[2])
            text = self.jprof("report", "log-rt", "kids.jprof", "--format", "csv").stdout
            rows = [row for row in csv.DictReader(io.StringIO(text))
                    if row["name"] == "Work.count(I)I"]
            self.assertEqual(sum(int(row["calls"]) for row in rows), 2 * (101 + 8))
            self.assertEqual({(row["runs"], row["calls_min"], row["calls_max"]) for row in rows},
                             {("2", "1", "1")})

    def test_status_and_output_are_the_programs(self):
        for jdk in self.each_jdk():
            done = self.jprof("callflow", "--", *jdk.java(), "Work", "42")
            self.assertEqual(
                (done.returncode, done.stdout), (42, "counted 100\nbye\n"), done.stderr
            )
            self.assertEqual(
                [line.split(":")[1].strip() for line in done.stderr.splitlines()[-4:]],
                ["profile", "lost", "detail", "next"],
            )
            info = self.info("Work.jprof")
            self.assertEqual((info["mode"], info["finished"]), ("callflow", True))

    def test_a_signal_ends_the_program_in_order(self):
        for jdk in self.each_jdk():
            with child.running(
                [JPROF, "calltree", "--", *jdk.java(), "Work", "wait"],
                cwd=self.folder,
                env=self.env,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as program:
                self.assertEqual(program.stdout.readline(), "counted 100\n")
                program.send_signal(signal.SIGTERM)
                rest, said = program.communicate(timeout=600)
            self.assertEqual((rest, program.returncode), ("bye\n", 128 + signal.SIGTERM), said)
            self.assertTrue(self.info("Work.jprof")["finished"])

    def test_filters(self):
        for jdk in self.each_jdk():
            done = self.jprof("calltree", "--methods", "Work.count", "--", *jdk.java(), "Work")
            self.assertEqual(done.returncode, 0, done.stderr)
            info = self.info("Work.jprof")
            self.assertEqual((info["methods"], info["calls"], info["exits"]), (1, 101 + 8, 101 + 8))
            done = self.jprof("calltree", "--methods", "no.such*", "--", *jdk.java(), "Work")
            self.assertEqual((done.returncode, done.stdout), (2, "counted 100\nbye\n"))
            self.assertIn("no method matched --methods", done.stderr)
            done = self.jprof(
                "calltree",
                "-o",
                "Work.jprof",
                "--force",
                "--threads",
                "nobody",
                "--",
                *jdk.java(),
                "Work",
                "7",
            )
            self.assertEqual(done.returncode, 7)
            self.assertIn("no thread matched --threads", done.stderr)

    def test_one_thread(self):
        for jdk in self.each_jdk():
            done = self.jprof(
                "calltree",
                "--threads",
                "other",
                "--methods",
                "Work.count",
                "--",
                *jdk.java(),
                "Work",
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.info("Work.jprof")["calls"], 8)

    def test_tools_of_the_jdk(self):
        for jdk in self.each_jdk():
            done = self.jprof(
                "calltree", "-o", "Work.jprof", "--", jdk.tool("javac"), "-d", "out", "Work.java"
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(os.path.exists(os.path.join(self.folder, "out/Work.class")))
            self.assertGreater(self.info("Work.jprof")["methods"], 1000)

    def script(self, jdk, text, *options):
        return self.jprof("calltree", "-o", "kids", *options, "--", "sh", "-c", text,
                          jdk.tool("java"))

    def test_several_jvms_make_a_directory_of_profiles(self):
        for jdk in self.each_jdk():
            done = self.script(jdk, '"$0" Work 0; "$0" Work burn; '
                               'env -u JAVA_TOOL_OPTIONS "$0" Work pause; exit 5')
            self.assertEqual(
                (done.returncode, done.stdout), (5, 3 * "counted 100\nbye\n"), done.stderr
            )
            names = os.listdir(os.path.join(self.folder, "kids"))
            self.assertEqual(len(names), 2, names)
            for name in names:
                self.assertRegex(name, r"^Work-\d+$")
            said = [line for line in done.stderr.splitlines() if line.startswith("jprof: ")]
            self.assertRegex(said[0], r"^jprof: \d+ \S+ Work pause was not profiled: .*without JAVA")
            self.assertEqual(said[1], "jprof: profiles: 2 of JVMs in kids, the busiest first")
            busiest = said[2].split(":")[1].strip()
            self.assertEqual(said[4], f"jprof: next:    jprof report kids/{busiest}")
            self.assertEqual(self.info(f"kids/{busiest}")["command"][-1], "burn")
            self.assertEqual(self.info("kids")["command"][-1], "burn")
            done = self.jprof("report", "methods", "kids")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"jprof: using kids/{busiest}, the busiest JVM; others: Work-",
                          done.stderr)

    def test_the_only_jvm_of_a_script_has_the_requested_name(self):
        for jdk in self.each_jdk():
            done = self.script(jdk, '"$0" -version 2>/dev/null; exec "$0" Work 5')
            self.assertEqual(
                (done.returncode, done.stdout), (5, "counted 100\nbye\n"), done.stderr
            )
            self.assertIn("jprof: profile: kids (", done.stderr)
            self.assertNotIn("was not profiled", done.stderr)
            self.assertEqual(self.info("kids")["command"][-2:], ["Work", "5"])

    def test_a_script_reads_what_java_prints_as_without_jprof(self):
        for jdk in self.each_jdk():
            with open(os.path.join(self.folder, "Parent.java"), "w", encoding="utf-8") as file:
                file.write(
                    """public class Parent { public static void main(String[] words) throws
                    Exception { System.exit(new ProcessBuilder(words[0], "Work", "burn")
                    .inheritIO().start().waitFor()); } }"""
                )
            text = '"$0" -version 2>&1 | head -1; "$0" Parent.java "$0"'
            done = self.script(jdk, text)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, '^openjdk version ".*\ncounted 100\nbye\n$')
            self.assertNotIn("Picked up", done.stderr)
            commands = [self.info(f"kids/{name}")["command"]
                        for name in os.listdir(os.path.join(self.folder, "kids"))]
            self.assertEqual({words[-1] for words in commands}, {jdk.tool("java"), "burn"})

    def test_a_jvm_that_does_not_start(self):
        for jdk in self.each_jdk():
            done = self.jprof("calltree", "-o", "Work.jprof", "--", *jdk.java(), "-Xms100000g",
                              "-Xmx100000g", "Work")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("jprof: no profile: the JVM did not start", done.stderr)
            self.assertNotIn("next:", done.stderr)
            self.assertNotIn("lost:", done.stderr)
            self.assertFalse(os.path.exists(os.path.join(self.folder, "Work.jprof")))

    def test_the_first_jvm_only(self):
        done = self.script(JDKS[0], '"$0" -version 2>/dev/null; "$0" Work 0; "$0" Work 7',
                           "--children=first")
        self.assertEqual(
            (done.returncode, done.stdout), (7, 2 * "counted 100\nbye\n"), done.stderr
        )
        self.assertIn("jprof: profile: kids (", done.stderr)
        self.assertEqual(self.info("kids")["command"][-2:], ["Work", "0"])

    def test_a_jvm_that_outlives_the_command_is_named(self):
        jdk = JDKS[0]
        done = self.script(jdk, '"$0" Work wait > out 2>&1 & echo $!; '
                           'until grep -q counted out; do sleep 0.1; done')
        pid = int(done.stdout)
        try:
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"jprof: Work (PID {pid}) still runs: its profile kids/Work-{pid} is not "
                          "finished", done.stderr)
            self.assertIn("(still running)", done.stderr)
        finally:
            os.kill(pid, signal.SIGKILL)
        self.assertGreater(self.info("kids")["methods"], 0)

    def test_children_are_left_alone_otherwise(self):
        for jdk in self.each_jdk():
            with open(os.path.join(self.folder, "Parent.java"), "w", encoding="utf-8") as file:
                file.write(
                    """public class Parent { public static void main(String[] words) throws
                    Exception { System.exit(new ProcessBuilder(words[0], "Work",
                    "0").inheritIO().start().waitFor()); } }"""
                )
            done = self.jprof(
                "calltree", "-o", "kids", "--", *jdk.java(), "Parent.java", jdk.tool("java")
            )
            self.assertEqual((done.returncode, done.stdout), (0, "counted 100\nbye\n"), done.stderr)
            self.assertEqual([n for n in os.listdir(self.folder) if n.startswith("kids")], ["kids"])

    def test_profile_runs_the_program_sampled_and_counted(self):
        for jdk in self.each_jdk():
            for counted in ("calltree", "callflow"):
                done = self.jprof("profile", "--force", "-o", "Work.jprof", "--counted", counted,
                                  "--", *jdk.java(), "Work", "7")
                self.assertEqual(done.returncode, 7, done.stderr)
                self.assertTrue(done.stdout.startswith(3 * "counted 100\nbye\n"), done.stdout)
                with open(os.path.join(self.folder, "Work.jprof/runs.json"),
                          encoding="utf-8") as file:
                    runs = json.load(file)["runs"]
                self.assertEqual([run["exit_status"] for run in runs], [7, 7, 7])
                self.assertEqual([run.get("output") for run in runs], [None, "equal", "equal"])
                self.assertEqual([self.info(f"Work.jprof/{run['profile']}")["mode"]
                                  for run in runs], ["scs", "scs", counted])
            done = self.jprof("combine", "Work.jprof/counted", "Work.jprof/sampled-2", "-o",
                              "Work.jprof-combined")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_table_that_is_too_large_is_lowered(self):
        """Loops around a tiny method have hardly any work of their own: what their calls cost is near
        what was recorded for them. A table of 1.5 times that is made, as on a machine whose training
        was wrong. It has to be lowered to what was recorded."""
        with open(os.path.join(self.folder, "Tight.java"), "w", encoding="utf-8") as file:
            file.write(TIGHT)
        child.run([JDKS[0].tool("javac"), "--release", "17", "Tight.java"], cwd=self.folder,
                  check=True)
        for jdk in self.each_jdk():
            done = self.jprof("callflow", "-o", "tight.jprof", "--force", "--", *jdk.java(), "Tight")
            self.assertEqual(done.returncode, 0, done.stderr)

            def report(*words):
                done = self.jprof("report", "methods", "tight.jprof", "--format", "json", *words)
                self.assertEqual(done.returncode, 0, done.stderr)
                report = json.loads(done.stdout)
                rows = [row for row in report["methods"] if row["name"].startswith("Tight.loop")]
                self.assertEqual(len(rows), LOOPS)
                raw, base = (sum(row[name][0] for row in rows) for name in ("raw", "base"))
                return report["metrics"][0], raw, raw - base

            with open(os.path.join(self.folder, "tight.jprof/meta.json"), encoding="utf-8") as file:
                meta = json.load(file)
            _, recorded, _ = report("--uncalibrated")
            cost = 1.5 * recorded / (LOOPS * CALLS) / meta["metrics"][0]["scale"]
            value = {"count": 9, "observed": cost, "truth": 0, "overhead": cost, "minimum": 1,
                     "spread": cost, "repeat": cost / 10, "context": cost / 10}
            keys = {f"{before}-{running}-{event}-{other}": value for before in ("En", "Ex")
                    for event in ("En", "Ex") for running in "IJRNT" for other in "IJRNT"}
            table = {"version": 4, "made_at": "2026-01-01T00:00:00Z",
                     "fingerprint": meta["fingerprint"],
                     "metrics": [{"name": "time", "unit": "ticks", "granularity": 1, "bias": 0,
                                  "keys": keys}]}
            with open(os.path.join(self.folder, "table.json"), "w", encoding="utf-8") as file:
                json.dump(table, file)
            _, _, removed = report("--table", "table.json", "--refit=no")
            self.assertGreater(removed, 1.4 * recorded)
            metric, _, removed = report("--table", "table.json")
            self.assertIn("R", [one["type"] for one in metric.get("lowered", ())])
            # The tiny method itself may show that it is even less.
            self.assertLess(removed, 1.15 * recorded)
            self.assertGreater(removed, 0.3 * recorded)

    def test_profile_ends_when_its_jvm_does_not_start(self):
        for jdk in self.each_jdk():
            done = self.jprof("profile", "--", *jdk.java(), "-XX:NoSuchOption", "Work")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("no profile: the JVM did not start", done.stderr)
            self.assertFalse(os.path.exists(os.path.join(self.folder, "Work.jprof")))

    def test_a_jvm_that_does_not_start(self):
        for jdk in self.each_jdk():
            done = self.jprof("calltree", "--", *jdk.java(), "-XX:NoSuchOption", "Work")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("no profile: the JVM did not start", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
