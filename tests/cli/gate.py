#!/usr/bin/env python3
"""Tests conditions of `jprof compare` and `jprof profile --save` and `--baseline` with made profiles,
and with a shell script as `java`: requires no JVM.

  gate.py JPROF
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import made  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))


def counted(directory, calls, **more):
    """A profile in which app/Main.run was called so often."""
    made.profile(directory, mode="calltree", metrics=[], **more)
    with open(os.path.join(directory, "nodes"), "r+b") as file:
        file.seek(128)
        file.write(made.node(made.INTERPRETED + 1, 1, calls, calls))
    return directory


class Gate(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof-gate-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.agent = self.path("agent.so")
        open(self.agent, "w", encoding="ascii").close()
        made.java(self.path("bin"))
        made.profile(self.path("made/scs"), mode="scs", metrics=made.SAMPLES)
        self.make(5)
        self.env = {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "HOME": self.folder,
                    "MADE": self.path("made")}
        counted(self.path("a.jprof"), 5)
        counted(self.path("b.jprof"), 6)

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, calls):
        shutil.rmtree(self.path("made/calltree"), ignore_errors=True)
        counted(self.path("made/calltree"), calls)

    def jprof(self, *words, **env):
        return subprocess.run([JPROF, *words], capture_output=True, text=True, cwd=self.folder,
                              env={**self.env, **env}, timeout=600, check=False)

    def profile(self, *options, then=""):
        return self.jprof("profile", "--agent", self.agent, *options, "--", "java", "App", THEN=then)

    def compare(self, *words, status=0):
        done = self.jprof("compare", "a.jprof", "b.jprof", *words)
        self.assertEqual((done.returncode, done.stderr), (status, ""), done)
        return done.stdout

    def refused(self, done, *said):
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for words in said:
            self.assertIn(words, done.stderr)

    # jprof compare.

    def test_one_more_call_fails(self):
        text = self.compare("--fail-if", "calls > 0%", status=1)
        self.assertTrue(text.startswith("jprof gate: FAILED: 1 of 1 condition is violated\n"), text)
        self.assertIn(")) FAILED: calls > 0%: 5 -> 6 (+1, +20.00 %)", text)
        self.assertIn("app.Main.run()", text)
        self.assertTrue(self.compare("--fail-if", "calls > 20%").startswith("jprof gate: passed"))
        self.assertIn("not known", self.compare("--fail-if", "calls > +1"))

    def test_formats(self):
        conditions = ("--fail-if", "calls > 0%", "--fail-if", "calls of app.Main.run > 20%")
        verdict = json.loads(self.compare(*conditions, "--format", "json", status=1))
        self.assertEqual([one["violated"] for one in verdict["conditions"]], [True, False])
        root = xml.etree.ElementTree.fromstring(
            self.compare(*conditions, "--format", "junit", status=1))
        self.assertEqual((root.get("tests"), root.get("failures")), ("2", "1"))
        cases = root.findall("./testsuite/testcase")
        self.assertEqual([case.get("name") for case in cases], list(conditions[1::2]))
        self.assertEqual([len(case.findall("failure")) for case in cases], [1, 0])
        self.assertIn("### jprof gate: FAILED",
                      self.compare(*conditions, "--format", "markdown", status=1))
        for name, begin in (("x.json", "{"), ("x.xml", "<?xml"), ("x.md", "### ")):
            self.assertEqual(self.compare(*conditions, "-o", name, status=1), "")
            with open(self.path(name), encoding="utf-8") as file:
                self.assertTrue(file.read().startswith(begin), name)

    def test_files_beside_the_text(self):
        with open(self.path("summary.md"), "w", encoding="utf-8") as file:
            file.write("before\n")
        self.compare("--fail-if", "calls > 0%", "--junit", "gate.xml", "--summary", "summary.md",
                     status=1)
        xml.etree.ElementTree.parse(self.path("gate.xml"))
        with open(self.path("summary.md"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("before\n### jprof gate: FAILED"))

    def test_wrong_use(self):
        run = lambda *words: self.jprof("compare", *words)  # noqa: E731
        both = ("a.jprof", "b.jprof")
        self.refused(run(*both, "--fail-if", "calls"), "--fail-if 'calls': it has no bound")
        self.refused(run(*both, "--fail-if", "cycles > 3%"), "neither profile has a metric 'cycles'")
        self.refused(run(*both, "--fail-if", "calls of app.Min.run > 0%"),
                     "no method of either profile matches 'app.Min.run'; did you mean "
                     "'app.Main.run'?")
        self.refused(run("a.jprof", "--fail-if", "calls > 0%"),
                     "jprof compare BASE NEW --fail-if 'calls > 0%'")
        self.refused(run(*both, "--fail-if", "calls > 0%", "--format", "html"), "junit")
        self.refused(run(*both, "--fail-if", "calls > 0%", "--absolute"), "--absolute is not for")
        self.refused(run("no.jprof", "b.jprof", "--fail-if", "calls > 0%"), "no.jprof")
        self.refused(run(*both, "--fail-if", "calls > 0%", "--junit", "no/folder/x"), "no/folder")
        self.refused(run(*both, "--fail-if", "calls > 0%", "--summary", "no/folder/x"), "--summary")
        self.refused(run(*both, "--format", "junit"), "junit")

    def test_a_damaged_profile_is_no_base(self):
        with open(self.path("a.jprof/nodes"), "r+b") as file:
            file.truncate(70)
        done = self.jprof("compare", "a.jprof", "b.jprof", "--fail-if", "calls > 0%")
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertIn("a.jprof is damaged", done.stderr)

    def test_merged_profiles_show_what_varies(self):
        for name, calls in (("1", 5), ("2", 7), ("3", 9), ("4", 9)):
            counted(self.path(name), calls)
        self.assertEqual(self.jprof("merge", "1", "2", "-o", "varies").returncode, 0)
        self.assertEqual(self.jprof("merge", "3", "4", "-o", "same").returncode, 0)
        done = self.jprof("compare", "varies", "same", "--fail-if", "calls > 0%")
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout, r"5 to 7 +9  app.Main.run\(\)")
        done = self.jprof("compare", "same", "same", "--fail-if", "calls > 9")
        self.assertEqual(done.returncode, 0, done)

    # jprof profile.

    def test_save_and_baseline(self):
        saved = self.profile("--save", "main")
        self.assertEqual(saved.returncode, 0, saved)
        place = self.path(".local/share/jprof/saved/main.jprof")
        with open(os.path.join(place, "runs.json"), encoding="utf-8") as file:
            runs = [run["profile"] for run in json.load(file)["runs"]]
        self.assertEqual(runs, ["sampled-1", "sampled-2", "sampled-3", "counted", "counted-2",
                                "counted-3"])
        self.assertIn("saved as main (", saved.stderr)
        same = self.profile("--baseline", "main", "--junit", "gate.xml")
        self.assertEqual(same.returncode, 0, same)
        self.assertIn("jprof gate: passed: 1 condition holds", same.stderr)
        self.assertIn("no calls of the program vary from run to run (3 and 3 runs)", same.stderr)
        self.make(6)
        more = self.profile("--baseline", "main", "--fail-if", "calls > 0%", "--runs", "1")
        self.assertEqual(more.returncode, 1, more)
        self.assertIn("5 -> 6 (+1, +20.00 %)", more.stderr)
        done = self.jprof("compare", "main", "App.jprof", "--fail-if", "calls > 0%")
        self.assertEqual(done.returncode, 0, done)
        again = self.profile("--save", "main", "--runs", "1")
        self.assertEqual(again.returncode, 0, again)
        done = self.jprof("compare", "main", "b.jprof", "--fail-if", "calls > 0%")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(os.listdir(os.path.dirname(place)), ["main.jprof"])

    def test_a_name_with_a_slash_is_a_path(self):
        self.assertEqual(self.profile("--save", "./base").returncode, 0)
        self.assertTrue(os.path.exists(self.path("base/runs.json")))
        self.assertEqual(self.profile("--baseline", "./base").returncode, 0)

    def test_a_run_that_failed_is_neither_saved_nor_compared(self):
        self.assertEqual(self.profile("--save", "main").returncode, 0)
        failed = self.profile("--save", "main", then="exit 7")
        self.assertEqual(failed.returncode, 7, failed)
        self.assertIn("nothing is saved as main: the program ended with 7", failed.stderr)
        self.assertEqual(self.profile("--baseline", "main").returncode, 0)
        failed = self.profile("--baseline", "main", then="exit 7")
        self.assertEqual(failed.returncode, 7, failed)
        self.assertIn("not compared with main", failed.stderr)

    def test_wrong_use_starts_nothing(self):
        for words, said in [
            (("--baseline", "main"), "no profile is saved as main ("),
            (("--fail-if", "calls > 0%"), "need --baseline NAME"),
            (("--save", ""), "is no name of a saved profile"),
            (("--save", "-x"), ""),
            (("--save", "no/folder/x"), "no/folder"),
            (("--save", "x", "-o", "y"), "--save"),
        ]:
            done = self.profile(*words)
            self.refused(done, said)
            self.assertFalse(os.path.exists(self.path("made/log")), words)
        self.assertEqual(self.profile("--save", "main").returncode, 0)
        self.refused(self.profile("--baseline", "mian"), "did you mean 'main'?", "saved are: main")
        os.remove(self.path("made/log"))
        self.refused(self.profile("--baseline", "main", "--fail-if", "calls"), "it has no bound")
        self.assertFalse(os.path.exists(self.path("made/log")))
        os.makedirs(self.path("full/x"))
        self.refused(self.profile("--save", "./full"), "full")


if __name__ == "__main__":
    unittest.main()
