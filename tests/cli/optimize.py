#!/usr/bin/env python3
"""Tests `jprof optimize`: with a shell script as `java`, whose collections are made up, and with a
JVM if there is one. What is compared with times is not tested here.

  optimize.py JPROF
"""
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from page import Page

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))

# Writes the log that -Xlog asks for: 20 young collections of 20 ms, or 2 with -Xmn; then $THEN.
JAVA = r"""#!/bin/bash
count=20
for word; do
  case $word in
    -Xlog:*) log=${word#*file=\"}; log=${log%%\"*} ;;
    -Xmn*) count=${WITH_XMN:-2} ;;
  esac
done
if [[ -n ${log-} ]]; then
  {
    echo "[0.005s][info][gc] Using G1"
    for ((i = 0; i < count; ++i)); do
      echo "[0.1s][info][gc] GC($i) Pause Young (Normal) (G1 Evacuation Pause) 40M->4M(388M) 20.000ms"
    done
    echo "[1.000s][info][gc,heap,exit]  garbage-first heap   total 388M, used 4096K [0x1, 0x2)"
  } >"$log"
fi
eval "${THEN-}"
"""

CHURN = """
public class Churn {
  public static void main(String[] words) {
    byte[][] live = new byte[1000][];
    long sum = 0;
    for (int i = 0; i < 1_500_000; ++i) {
      live[i % live.length] = new byte[1000];
      sum += live[i % live.length].length;
    }
    System.out.println(sum);
  }
}
"""


class Optimize(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof optimize "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.java = self.write("jdk/bin/java", JAVA)
        self.write("jdk/lib/modules", "")
        self.database = os.path.join(self.folder, "data/jprof/optimize.db")
        self.env = {"PATH": f"{self.folder}/jdk/bin:/usr/bin:/bin", "HOME": self.folder,
                    "XDG_DATA_HOME": os.path.join(self.folder, "data"), "TMPDIR": self.folder}

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def optimize(self, *words, status=0, **env):
        done = child.run([JPROF, "optimize", *words], 120, cwd=self.folder,
                         env={**self.env, **env})
        self.assertEqual(done.returncode, status, done)
        return done

    def java_runs(self, *words, status=0, **env):
        return self.optimize("--agent", "jvm-heap", *words, "--", "java", "Main", status=status,
                             **env).stderr.splitlines()

    def refused(self, *words, said, status=2, **env):
        done = self.optimize(*words, status=status, **env)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for text in [said] if isinstance(said, str) else said:
            self.assertIn(text, done.stderr)

    def explained(self):
        return json.loads(self.optimize("explain", "--format", "json").stdout)["programs"]

    def check_database(self):
        with sqlite3.connect(self.database) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            self.assertEqual(database.execute("PRAGMA foreign_key_check").fetchall(), [])
        database.close()

    def test_the_life_of_a_directive(self):
        lines = self.java_runs("--runs", "6")
        self.assertEqual(len(lines), 6, lines)
        options = r"java-heap options: -XX:\+UseParallelGC -Xmn\d+m -Xms\d+m"
        for line, expected in zip(lines, [
                rf"run 1 of Main: measured; jvm-heap proposes 1 directive \({options}; 0.\d+ s less "
                r"collection pauses predicted\)$",
                rf"run 2 of Main: applied 1 directive \({options}\); collection pauses 0.400 s -> "
                r"0.040 s$",
                r"run 3 of Main: without directives, to compare; collection pauses 0.400 s "
                r"\(0.040 s with directives\)$",
                r"run 4 of Main: without directives",
                rf"run 5 of Main: applied 1 directive .*; validated {options}: collection pauses "
                r"fell by 0.360 s \[0.360 s, 0.360 s\] in 4 runs, 0.\d+ s predicted; CPU time changed by",
                r"run 6 of Main: applied 1 validated directive \("]):
            self.assertRegex(line, "^jprof optimize: " + expected)
        directive = self.explained()[0]["directives"][0]
        self.assertEqual(directive["state"], "validated")
        pauses = [one for one in directive["observed"] if one["figure"] == "collection pauses"]
        self.assertAlmostEqual(pauses[0]["benefit"], 0.36)
        # Never without being asked for.
        self.assertIn("applied nothing; jvm-heap has validated", self.java_runs()[0])
        self.check_database()

    def test_one_that_does_not_help_is_withdrawn(self):
        lines = self.java_runs("--runs", "5", WITH_XMN="19")
        self.assertRegex(lines[-1], "; withdrew java-heap .*: less than half$")
        self.assertIn("applied nothing: no directive is left", self.java_runs("--runs", "1")[0])
        text = self.optimize("explain", "Main").stdout
        self.assertRegex(text, r"(?m)^  withdrawn, jvm-heap: ")
        self.assertRegex(text, r"(?m)^    reason     collection pauses fell by 0.020 s")
        self.assertRegex(text, r"(?m)^  run 2 +trial, 1 of 1 applied .*collection pauses 0.380 s")

    def test_status_forget_and_the_next_run(self):
        self.assertIn("no program is known", self.optimize("status").stdout)
        dry = self.optimize("apply", "--dry-run", "--agent", "jvm-heap", "--", "java",
                            "Main").stdout
        self.assertIn("run 1 of Main: measured by jvm-heap", dry)
        self.assertFalse(os.path.exists(self.database))
        self.java_runs()
        text = self.optimize("status").stdout
        self.assertRegex(text, r"(?m)^Main +1 +1 +0 +0 +0$")
        self.assertIn("jvm-heap", text)
        self.assertIn("reads      the log of collections", text)
        dry = self.optimize("apply", "--dry-run", "--agent", "jvm-heap", "--runs", "1", "--",
                            "java", "Main").stdout
        self.assertRegex(dry, r"(?m)^  starts java .*-Xmn\d+m -Xms\d+m Main$")
        self.optimize("forget", "Main")
        self.refused("forget", "Main", said="nothing is known of Main")
        self.refused("explain", "Main", said="nothing is known of Main")
        self.refused("explain", "--", "java", "Main", said="nothing is known of java")
        self.assertIn("run 1 of Main: measured", self.java_runs()[0])

    def test_measuring_again(self):
        self.java_runs()
        self.assertIn("run 2 of Main: measured", self.java_runs("--measure")[0])

    def test_the_program_runs_as_without_jprof(self):
        done = child.run([JPROF, "optimize", "--agent", "jvm-heap", "--runs", "2", "--", "java", "Main"], 60,
                         cwd=self.folder, env={**self.env, "THEN": "cat; exit 7"}, input="typed\n")
        self.assertEqual(done.returncode, 7, done)
        self.assertEqual(done.stdout, "typed\ntyped\n")
        done = self.optimize("--agent", "jvm-heap", "--", "java", "Main", status=128 + signal.SIGSEGV, THEN="kill -SEGV $$")
        self.assertIn("not compared: signal 11 ended it", done.stderr)

    def test_ctrl_c_ends_all_runs(self):
        with subprocess.Popen([JPROF, "optimize", "--agent", "jvm-heap", "--runs", "5", "--",
                               "java", "Main"], cwd=self.folder, stderr=subprocess.PIPE, text=True,
                              env={**self.env, "THEN": ": >begun; exec sleep 60"}) as process:
            while not os.path.exists(os.path.join(self.folder, "begun")):
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 128 + signal.SIGINT, said)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("it was interrupted", said)

    def test_wrong_use(self):
        self.refused("explian", said=["did you mean 'explain'?", "behind --"])
        self.refused("apply", "--", "java", "Main", said="apply needs --dry-run")
        self.refused("--dry-run", "--", "java", "Main", said="jprof optimize apply")
        self.refused("--agent", "jvm-hepa", "--", "java", "Main", said="did you mean 'jvm-heap'?")
        self.refused("--", "jaava", said="there is no 'jaava' in PATH")
        self.refused("--agent", "jvm-heap", "--", "sort",
                     said="jvm-heap: it is not a java command; nothing was started")
        self.refused("--agent", "jvm-heap", "--", "java", "-version", said="it only asks the JVM")
        self.refused("--agent", "jvm-heap", "--", "java", "-Xmn5m", "Main", said="by -Xmn5m")
        self.refused(said="jprof optimize -- java -jar app.jar")
        self.refused("forget", said="jprof optimize status")
        self.assertFalse(os.path.exists(self.database))

    def test_the_page_has_what_explain_has(self):
        self.refused("view", "--no-open", said="no program is known; the first run: jprof optimize")
        self.java_runs("--runs", "6")
        self.refused("view", "other", said=["nothing is known of other", "jprof optimize status"])
        self.refused("view", "--", "true", said="nothing is known of true")
        self.refused("-o", "x.html", "--", "java", "Main", said="`jprof optimize view`")
        done = self.optimize("view", "Main", "-o", "main.html")
        self.assertEqual((done.stdout, done.stderr), ("", "jprof: view:    main.html\n"
                         "jprof: next:    open main.html in a browser\n"))
        with open(os.path.join(self.folder, "main.html"), encoding="utf-8") as file:
            page = Page(file.read())
        self.assertEqual((page.header["kind"], page.header["title"]), ("optimize", "Main"))
        self.assertEqual(json.loads(page.column(page.header["optimized"])),
                         json.loads(self.optimize("explain", "--format", "json").stdout))
        self.java_runs("--measure", THEN="exit 3", status=3)
        for words in ([], ["--", "java", "Main"]):
            page = Page(self.optimize("view", "-o", "-", *words).stdout)
            self.assertEqual(json.loads(page.column(page.header["optimized"]))["programs"],
                             self.explained())
        done = self.optimize("view", "--no-open", TMPDIR=self.folder)
        self.assertRegex(done.stderr, r"^jprof: view:    \S*jprof-view-\w+/Main.html\n")

    def test_runs_name_what_they_tried(self):
        self.java_runs("--runs", "6")
        runs = self.explained()[0]["runs"]
        self.assertEqual([(run["applied"], run["left_out"]) for run in runs],
                         [([], []), (["options"], []), ([], ["options"]), ([], ["options"]),
                          (["options"], []), ([], [])])

    def test_a_database_that_cannot_be_used(self):
        started = os.path.join(self.folder, "started")
        command = ("--", "java", "Main")
        self.write("text", "no database " * 100)
        os.mkdir(os.path.join(self.folder, "dir"))
        for name, said in [("text", "not a database; move it away"),
                           ("dir", "it is not a regular file"),
                           ("/proc/optimize.db", "--database")]:
            self.refused("--database", name, *command, status=1, said=[name, said],
                         THEN=f"touch '{started}'")
        self.java_runs()
        with sqlite3.connect(self.database) as database:
            database.execute("PRAGMA user_version = 9")
        database.close()
        self.refused(*command, status=1, said="of a newer jprof", THEN=f"touch '{started}'")
        self.assertFalse(os.path.exists(started))

    def test_a_disk_that_is_full(self):
        self.java_runs()
        done = child.run(["bash", "-c", 'ulimit -f 4; exec "$0" optimize -- java Main', JPROF], 60,
                         cwd=self.folder, env=self.env)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("free space on its disk", done.stderr)
        self.check_database()
        self.java_runs()

    def test_kills_at_any_time(self):
        random.seed(3)
        for number in range(40):
            process = subprocess.Popen(
                [JPROF, "optimize", "--agent", "jvm-heap", "--runs", "3", "--", "java", "Main"],
                cwd=self.folder, env=self.env, stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(random.uniform(0, 0.12))
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if os.path.exists(self.database) and number % 4 == 0:
                self.optimize("status")
        lines = self.java_runs("--runs", "8")
        self.check_database()
        self.assertEqual(len(lines), 8)
        program = self.explained()[0]
        self.assertEqual(program["directives"][0]["state"], "validated", program)
        self.assertEqual([run for run in program["runs"] if run["state"] == "running"], [])

    def test_sixteen_at_a_time(self):
        processes = [subprocess.Popen(
            [JPROF, "optimize", "--agent", "jvm-heap", "--runs", "3", "--", "java", "Main"],
            cwd=self.folder, env=self.env, stderr=subprocess.PIPE, text=True) for _ in range(16)]
        numbers = []
        for process in processes:
            said = process.communicate(timeout=120)[1]
            self.assertEqual(process.returncode, 0, said)
            numbers += [int(number) for number in re.findall(r"(?m): run (\d+) of Main:", said)]
        self.assertEqual(sorted(numbers), list(range(1, 49)))
        self.check_database()
        # How many runs ended with the directive depends on how many began before it was made.
        self.java_runs("--runs", "8")
        self.assertEqual(self.explained()[0]["directives"][0]["state"], "validated")

    @unittest.skipUnless(shutil.which("javac"), "requires a JDK")
    def test_a_real_jvm(self):
        self.write("Churn.java", CHURN)
        env = {**os.environ, "XDG_DATA_HOME": self.env["XDG_DATA_HOME"]}
        child.run(["javac", "Churn.java"], 120, cwd=self.folder, env=env, check=True)
        done = child.run([JPROF, "optimize", "--agent", "jvm-heap", "--runs", "2", "--", "java",
                          "-Xmx512m", "-cp", ".", "Churn"], 300, cwd=self.folder, env=env)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout, "1500000000\n" * 2)
        lines = done.stderr.splitlines()
        self.assertRegex(lines[0], "run 1 of Churn: measured; jvm-heap (proposes|has nothing)")
        self.assertIn("run 2 of Churn: applied", lines[1])
        program = json.loads(child.run([JPROF, "optimize", "explain", "--format", "json"], 60,
                                       cwd=self.folder, env=env).stdout)["programs"][0]
        figures = {one["name"]: one["value"] for one in program["runs"][0]["figures"]}
        self.assertAlmostEqual(figures["allocated"], 1.53e9, delta=2e8)
        self.assertGreater(figures["collections"], 3)


if __name__ == "__main__":
    unittest.main()
