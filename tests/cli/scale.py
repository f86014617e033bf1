#!/usr/bin/env python3
"""Tests `jprof scale`: with a shell script as `java`, whose profiles are made up, and with kernels
whose calls grow by known laws (skipped without a JDK, and with sanitizers).

  scale.py JPROF
"""
import csv
import io
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import made
from page import Page

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, os.pardir, "e2e"))
import child  # noqa: E402
import jvms  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))
KERNELS = os.path.join(HERE, "Growing.java")

SAMPLES = [{"name": "TIME", "unit": "samples", "scale": 1, "kind": "samples", "period": 1000000,
            "period_unit": "ns", "period_clock": "cpu"}]

# Copies the profile that the agent would make: $MADE/calltree-N of size N, or $MADE/scs; then
# executes $THEN.
JAVA = """#!/bin/sh
options=${1#-agentpath:*=}
mode=$(echo "$options" | sed 's/[,=].*//' | tr A-Z a-z)
out=$(echo "$options" | sed -n 's/.*OUT=\\([^,]*\\).*/\\1/p')
[ "$mode" = scs ] || mode=calltree-$3
cp -r "$MADE/$mode" "$out"
echo "$mode $3" >> "$MADE/log"
eval "${THEN-}"
"""


class Made(unittest.TestCase):
    """Everything but the laws, without a JVM."""

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof-scale-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.agent = self.path("agent.so")
        open(self.agent, "w", encoding="ascii").close()
        os.mkdir(self.path("bin"))
        with open(self.path("bin/java"), "w", encoding="ascii") as file:
            file.write(JAVA)
        os.chmod(self.path("bin/java"), 0o755)
        made.profile(self.path("made/scs"), mode="scs", metrics=SAMPLES)
        for size in (10, 20, 40, 80):
            made.profile(self.path(f"made/calltree-{size}"), mode="calltree", metrics=[],
                         calls=size * size)
        self.env = {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "HOME": self.folder,
                    "MADE": self.path("made")}

    def path(self, name):
        return os.path.join(self.folder, name)

    def jprof(self, *words, stdin=subprocess.DEVNULL, **env):
        return subprocess.run([JPROF, *words], stdin=stdin, capture_output=True, text=True,
                              cwd=self.folder, env={**self.env, **env}, timeout=600, check=False)

    def scale(self, *options, sizes="10,20,40,80", then="", command=("java", "App", "{n}"), **how):
        return self.jprof("scale", "--sizes", sizes, "--agent", self.agent, *options, "--",
                          *command, THEN=then, **how)

    def refused(self, result, *said):
        self.assertEqual(result.returncode, 2, result.stderr)
        for text in said:
            self.assertIn(text, result.stderr)
        self.assertFalse(os.path.exists(self.path("App.jprof")))

    def meta(self):
        with open(self.path("App.jprof/scale.json"), encoding="utf-8") as file:
            return json.load(file)

    def log(self):
        with open(self.path("made/log"), encoding="utf-8") as file:
            return file.read().split("\n")[:-1]

    def test_a_result(self):
        done = self.scale()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(self.log(), [line for n in (10, 20, 40, 80)
                                      for line in (f"scs {n}", f"calltree-{n} {n}")])
        for said in ("n = 20 (2 of 4): run 1 of 2: sampled", "n = 80 (4 of 4): run 2 of 2: counted",
                     "result:  App.jprof", "java App {n}", "n = 10, 20, 40, 80",
                     "Main.run(): calls ~ n^2.00", "jprof view App.jprof"):
            self.assertIn(said, done.stderr)
        self.assertEqual(self.meta()["sizes"], [10, 20, 40, 80])
        self.assertEqual(self.meta()["command"], ["java", "App", "{n}"])
        again = self.jprof("scale", "App.jprof")
        self.assertIn("calls ~ n^2.00", again.stdout)
        self.assertIn("n^2.00", self.jprof("report", "App.jprof").stdout)
        self.assertIn("n^2.00", self.jprof("report").stdout)  # the newest one here
        self.assertIn("10 20 40 80", re.sub(r"\D+", " ", " ".join(
            re.findall(r"n = (\d+)", self.jprof("info", "App.jprof").stdout))))
        info = json.loads(self.jprof("info", "App.jprof", "--format", "json").stdout)
        self.assertEqual(info["sizes"][3], {"size": 80, "profile": "App.jprof/n80"})
        # Each size is a combined profile.
        self.assertEqual(self.jprof("report", "App.jprof/n40").returncode, 0)

    def test_formats_have_the_same_rows(self):
        self.scale("-o", "r.jprof")
        data = json.loads(self.jprof("report", "r.jprof", "--format", "json").stdout)
        self.assertEqual((data["report"], data["sizes"]), ("scale", [10, 20, 40, 80]))
        row = data["rows"][0]
        self.assertEqual((row["name"], row["calls"], row["calls_grow"], row["law"]),
                         ("app/Main.run()V", [100, 400, 1600, 6400], "n^2.00", "power"))
        table = list(csv.DictReader(io.StringIO(
            self.jprof("report", "r.jprof", "--format", "csv").stdout)))
        self.assertEqual([(one["name"], one["calls_80"], float(one["exponent"])) for one in table],
                         [("app/Main.run()V", "6400", 2)])
        self.assertIn("| n^2.00 |", self.jprof("report", "r.jprof", "--format", "markdown").stdout)
        self.assertEqual(self.jprof("view", "r.jprof", "-o", "r.html").returncode, 0)
        with open(self.path("r.html"), encoding="utf-8") as file:
            page = Page(file.read())
        self.assertEqual(page.header["kind"], "scale")
        self.assertEqual(json.loads(page.column(page.header["scale"]))["rows"], data["rows"])

    def test_html_writes_the_page(self):
        done = self.scale("--html", "app.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.exists(self.path("app.html")))

    def test_only_counted(self):
        done = self.scale("--runs", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.log(), [f"calltree-{n} {n}" for n in (10, 20, 40, 80)])
        self.assertIn("only counted", done.stderr)
        self.assertIn("calls ~ n^2.00", done.stderr)

    def test_wrong_use_is_refused_before_anything_runs(self):
        self.refused(self.scale(command=("java", "App")), "no argument of the command has {n}")
        self.refused(self.jprof("scale", "--", "java", "App", "{n}"), "--sizes is required")
        self.refused(self.jprof("scale", "--sizes", "1,2"), "name the program")
        self.refused(self.jprof("scale", "--sizes", "1,2", "java"), "put -- before the program")
        self.refused(self.jprof("scale", "nothing.jprof"), "nothing.jprof")
        self.refused(self.jprof("scale", "bin"), "not a result of jprof scale")
        self.refused(self.scale(command=("no-such-program", "{n}")), "no-such-program")
        self.refused(self.scale("--runs", "21"), "from 0 to 20")
        self.refused(self.scale("--html", "none/x.html"), "--html: cannot write to none")
        self.refused(self.jprof("scale"), "--sizes 1000,2000,4000,8000 -- java -jar app.jar {n}")
        self.refused(self.scale(JPROFOPTS="OUT=x"), "JPROFOPTS")
        self.refused(self.scale("--frobnicate"), "--frobnicate")
        self.refused(self.scale("other.jprof"), "other.jprof is before the --")
        for sizes, said in (("10", "is one size"), ("10,x", "'x' is no size"),
                            ("0,1", "'0' is no size"), ("10,10", "10 comes twice"),
                            ("", "--sizes"), ("10,,20", "'' is no size"),
                            ("-1,5", "'-1' is no size"), ("1.5,3", "'1.5' is no size"),
                            ("8k..1k", "goes down"), ("1..2M", "at most 20"),
                            ("1,99999999999999999999", "no size"),
                            ("1,9999999999999G", "is above")):
            self.refused(self.scale(sizes=sizes), said)
        self.assertFalse(os.path.exists(self.path("made/log")))

    def test_an_existing_directory_is_kept(self):
        os.mkdir(self.path("mine"))
        with open(self.path("mine/file"), "w", encoding="ascii"):
            pass
        self.refused(self.scale("-o", "mine"), "exists and is not a profile")
        self.scale("-o", "a.jprof")
        self.refused(self.scale("-o", "a.jprof"), "--force")
        done = self.scale("-o", "a.jprof", "--force", sizes="20,40")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(self.path("a.jprof"))), ["n20", "n40", "scale.json"])

    def test_sizes_in_other_forms(self):
        for size in (1000, 2000, 4000):
            made.profile(self.path(f"made/calltree-{size}"), mode="calltree", metrics=[],
                         calls=size)
        done = self.scale(sizes="1k..4K")
        self.assertIn("calls ~ n^1.00", done.stderr)
        self.assertEqual(self.meta()["sizes"], [1000, 2000, 4000])

    def test_another_exit_status_ends_it(self):
        done = self.scale(then="[ $3 -lt 40 ] || exit 3")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("n = 40 is left out: it ended with exit status 3, n = 10 with 0", done.stderr)
        self.assertEqual(self.meta()["sizes"], [10, 20])
        self.assertNotIn("calltree-80 80", self.log())
        self.assertIn("calls ~ n^2.00", done.stderr)
        # A program that always ends with the same status is scaled.
        done = self.scale("-o", "b.jprof", then="exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertIn("n = 10, 20, 40, 80", done.stderr)

    def test_a_killed_run_is_no_size(self):
        done = self.scale(then="[ $3 -lt 40 ] || kill -9 $$")
        self.assertEqual(done.returncode, 137, done.stderr)
        self.assertEqual(self.meta()["sizes"], [10, 20])
        done = self.scale("-o", "none.jprof", then="kill -9 $$")
        self.assertEqual(done.returncode, 137, done.stderr)
        self.assertIn("none of 4 sizes were recorded", done.stderr)

    def test_an_interrupt_ends_it(self):
        """A Ctrl-C comes to jprof and to the program."""
        process = subprocess.Popen(
            [JPROF, "scale", "--sizes", "10,20,40", "--agent", self.agent, "--", "java", "App",
             "{n}"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.folder,
            env={**self.env, "THEN": "[ $3 -lt 40 ] || { echo waits >&2; sleep 60; }"},
            start_new_session=True)
        with process:
            for line in process.stderr:
                if "waits" in line:
                    break
            os.killpg(process.pid, signal.SIGINT)
            said = process.stderr.read()
        self.assertEqual(process.returncode, 130, said)
        self.assertEqual(self.meta()["sizes"], [10, 20])
        self.assertIn("calls ~ n^2.00", said)

    def test_every_size_gets_the_input(self):
        reads, writes = os.pipe()
        os.write(writes, b"the input\n")
        os.close(writes)
        with os.fdopen(reads) as stdin:
            self.scale(then='cat >> "$MADE/input"', stdin=stdin)
        with open(self.path("made/input"), encoding="ascii") as file:
            self.assertEqual(file.read(), "the input\n" * 8)

    def test_damaged_results(self):
        self.scale()
        path = self.path("App.jprof/scale.json")
        with open(path, encoding="utf-8") as file:
            good = file.read()
        for text in ("", "[]", "{}", good.replace('"format": 1', '"format": 9'),
                     good.replace("20", "10"), good.replace("20", '"x"'), good[:-9]):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            for words in (("scale", "App.jprof"), ("report", "App.jprof"), ("info", "App.jprof"),
                          ("view", "App.jprof", "-o", "x.html")):
                done = self.jprof(*words)
                self.assertIn(done.returncode, (1, 2), (text, done.stdout))
                self.assertIn("scale.json", done.stderr)
        with open(path, "w", encoding="utf-8") as file:
            file.write(good)
        shutil.rmtree(self.path("App.jprof/n20"))
        done = self.jprof("scale", "App.jprof")
        self.assertEqual(done.returncode, 2)
        self.assertIn("n20", done.stderr)

    def test_other_commands_say_what_it_is(self):
        self.scale()
        for words in (("compare", "App.jprof", "App.jprof"), ("report", "log-rt", "App.jprof"),
                      ("export", "App.jprof", "-o", "x.pb.gz"), ("report", "combined", "App.jprof"),
                      ("push", "http://127.0.0.1:1", "App.jprof")):
            done = self.jprof(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("jprof scale", done.stderr, words)
        self.refused_report = self.jprof("scale", "App.jprof", "--runs", "3")
        self.assertEqual(self.refused_report.returncode, 2)
        self.assertIn("--runs is for running a program", self.refused_report.stderr)


class Kernels(unittest.TestCase):
    """Exponents of kernels that are known, within 0.05."""

    @classmethod
    def setUpClass(cls):
        if "JPROF_SANITIZED" in os.environ:
            raise unittest.SkipTest("no JVM can load the agent with sanitizers")
        jdks = [jdk for jdk in jvms.find_jdks() if jdk.major >= 17]
        if not jdks:
            raise unittest.SkipTest("no JDK")
        cls.jdk = jdks[0]
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof-scale-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        child.run([cls.jdk.tool("javac"), "-d", cls.folder, KERNELS], check=True)
        cls.env = child.own_environment(cls.folder)

    def jprof(self, *words):
        done = child.run([JPROF, *words], 300, cwd=self.folder, env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_known_laws(self):
        sizes = (32, 64, 128, 256)
        self.jprof("scale", "--sizes", ",".join(map(str, sizes)), "-o", "g.jprof", "--",
                   *self.jdk.java("-cp", self.folder, "Growing", "{n}"))
        rows = json.loads(self.jprof("report", "g.jprof", "--format", "json").stdout)["rows"]
        methods = {re.match(r"Growing\.(\w+)", row["name"])[1]: row for row in rows
                   if row["name"].startswith("Growing.") and row["level"] == 0}
        for name, calls, exponent in (
                ("startup", lambda n: 500, 0), ("linear", lambda n: n, 1),
                ("shared", lambda n: 3000 + 10 * n, 1), ("pair", lambda n: n * (n - 1) // 2, 2),
                ("triple", lambda n: n ** 3, 3),
                ("quarter", lambda n: (4 ** (n.bit_length()) - 1) // 3, 2)):
            self.assertEqual(methods[name]["calls"], [calls(n) for n in sizes], name)
            self.assertAlmostEqual(methods[name]["exponent"], exponent, delta=0.05, msg=name)
        self.assertEqual(methods["startup"]["calls_grow"], "n^0")
        merges = methods["merge"]
        self.assertEqual(merges["calls"], [n * (n.bit_length() - 1) for n in sizes])
        self.assertEqual(merges["calls_grow"], "n log n")
        for name in ("merge", "less"):  # of which the latter depends on what is sorted
            calls = methods[name]["calls"]
            truth = math.log(calls[-1] / calls[0]) / math.log(sizes[-1] / sizes[0])
            self.assertAlmostEqual(methods[name]["exponent"], truth, delta=0.05, msg=name)
        # What would take the most time at ten times the largest size comes first.
        own = [row["name"].split("(")[0] for row in rows if row["name"].startswith("Growing.")]
        self.assertIn(own[0], ("Growing.triple", "Growing.triples"))


unittest.main()
