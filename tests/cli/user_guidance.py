#!/usr/bin/env python3
"""Tests what guides a user: `jprof` alone, --help, doctor, completion and manual pages. Requires no
JVM.

  user_guidance.py JPROF
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))

# Prints COMPREPLY for the words of the command line, the last of which is being completed.
COMPLETE = """
source <("$JPROF" completion bash)
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"
_jprof jprof "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Guidance(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof cli "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.folder, "JPROF": JPROF}

    def run_jprof(self, *words, **env):
        return child.run([JPROF, *words], 60, cwd=self.folder, env={**self.env, **env})

    def write(self, name, text=""):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def commands(self):
        shown = self.run_jprof("completion", "bash").stdout
        return shown.split("_jprof_commands='")[1].split("'")[0].split()

    def test_start_page(self):
        shown = self.run_jprof()
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        lines = shown.stdout.splitlines()
        self.assertLessEqual(len(lines), 22)
        questions = shown.stdout.split("All commands:")[0]
        self.assertRegex(questions, r"(?m)^My Java program is slow +jprof profile -- java -jar ")
        for asked in ("server that runs", "C or C++", "whole machine", "became slower"):
            self.assertRegex(questions, rf"(?m)^.*{re.escape(asked)}.* jprof ")
        self.assertNotIn("calibrat", questions)
        self.assertNotIn("Newest profile", shown.stdout)
        for command in self.commands():
            self.assertRegex(shown.stdout, rf"(?m)[ ,]{command}\b")

    def test_start_page_knows_the_situation(self):
        self.write("my app.jprof/runs.json", "{}")
        shown = self.run_jprof().stdout
        self.assertIn("jprof report 'my app.jprof'", shown)

    def test_help_groups_commands(self):
        shown = self.run_jprof("--help").stdout
        groups = ("Profile Java and C++:", "Read results:", "Measure any program:", "Prepare:")
        self.assertEqual(sorted(groups, key=shown.index), list(groups))

    def test_help_of_every_command(self):
        for command in self.commands():
            shown = self.run_jprof(command, "--help")
            self.assertEqual((shown.returncode, shown.stderr), (0, ""), command)
            text = shown.stdout
            self.assertIn(f"\nUsage: jprof {command} ", text)
            self.assertRegex(text, rf"\nExamples:\n  .*jprof {command}\b")
            self.assertNotRegex(text, r"UINT|FLOAT|REQUIRED|Excludes|Needs:")
            self.assertLessEqual(max(map(len, text.splitlines())), 100, command)
            self.assertIn("  -h, --help ", text.split("\nOptions:\n")[1])

    def test_long_help_has_groups(self):
        text = self.run_jprof("scs", "--help").stdout
        headings = ("Options:", "What is recorded:", "Memory:", "Rarely needed:", "Examples:")
        self.assertEqual(sorted(headings, key=lambda heading: text.index("\n" + heading)),
                         list(headings))
        rare = text.split("\nRarely needed:\n")[1]
        for option in ("--force-rate", "--timer", "--agent"):
            self.assertIn(option, rare)
        self.assertIn("--pid", text.split("\nWhat is recorded:")[0])

    def complete(self, *words, program="jprof"):
        done = subprocess.run(["bash", "--norc", "-c", COMPLETE, "bash", program, *words],
                              cwd=self.folder, env=self.env, capture_output=True, text=True,
                              timeout=600)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_completion(self):
        for path in ("app.jprof/control", "two.jprof/control", "other/x", "addresses"):
            self.write(path)
        self.assertEqual(self.complete("rep"), ["report"])
        self.assertEqual(sorted(self.complete("c")), sorted(
            name for name in self.commands() if name.startswith("c")))
        self.assertEqual(self.complete("profile", "--cou"), ["--counted"])
        self.assertEqual(self.complete("profile", "--counted", "callf"), ["callflow"])
        self.assertEqual(self.complete("report", "--format", "=", "js"), ["json"])
        self.assertEqual(self.complete("scs", "--timer", ""), ["auto", "perf", "posix"])
        self.assertEqual(self.complete("scs", "--rate", ""), [])
        self.assertEqual(self.complete("man", "cali"), ["calibrate"])
        self.assertEqual(sorted(self.complete("report", "log-rt", "")), ["app.jprof", "two.jprof"])
        self.assertEqual(self.complete("report", "--format", "json", "log-r"), ["log-rt"])
        self.assertEqual(self.complete("report", "ap"), ["app.jprof"])
        self.assertEqual(self.complete("info", "t"), ["two.jprof"])
        self.assertEqual(self.complete("a2n", "-e", "addr"), ["addresses"])
        self.assertEqual(self.complete("callflow", "-o", "oth"), ["other"])
        self.assertIn("mkdir", self.complete("callflow", "--", "mkdi"))
        self.assertEqual(self.complete("callflow", "--", "cat", "addr"), ["addresses"])
        self.assertIn("--", self.complete("callflow", "--"))

    def test_bash_completes_metrics(self):
        """Bash splits words at "=" and ":"."""
        def complete(*words):
            return self.complete(*words, program=JPROF)

        self.assertEqual(complete("callflow", "--metrics", "ti"), ["time"])
        self.assertEqual(complete("callflow", "--metrics", "time+disp"), ["time+dispatches"])
        self.assertEqual(complete("callflow", "--metrics", "=", "time,DISP"), ["time,dispatches"])
        self.assertEqual(complete("stat", "-e", "dispatches,dis"), [])
        names = [name for name in self.run_jprof("metrics", "--events").stdout.split()
                 if "::" in name]
        if not names:
            self.skipTest("no event with :: can be counted here")
        kind, event = names[0].split("::")
        self.assertIn(event, complete("callflow", "--metrics", "time+" + kind, "::", event[:-1]))
        self.assertIn(event, complete("stat", "--events", "=", kind, "::"))
        self.assertIn(event, complete("events", "--together", f"time,{kind}", "::",
                                      f"NAME,{kind}", "::", event[:-1].lower()))

    def check_script(self, shell, check, query, expected):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        script = self.write("script", self.run_jprof("completion", shell).stdout)
        for words in ([shell, *check, script], [shell, *query]):
            done = child.run(words, 60, cwd=self.folder, env=self.env)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        self.assertIn(expected, done.stdout)

    def test_fish_completion(self):
        self.check_script("fish", ["--no-execute"], [
            "--no-config", "-c", "source script; complete -C 'jprof scs --timer p'"], "posix")
        self.check_script("fish", ["--no-execute"], [
            "--no-config", "-c",
            f"source script; complete -C '{JPROF} callflow --metrics time+disp'"],
            "time+dispatches")

    def test_zsh_completion(self):
        self.check_script("zsh", ["-n"], [
            "-f", "-c", "autoload -U compinit; compinit -u -D; source ./script; "
            "print $_comps[jprof]"], "_jprof")

    def test_man_pages(self):
        done = self.run_jprof("man", "--write", "man")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        names = sorted(os.listdir(os.path.join(self.folder, "man")))
        self.assertEqual(names, sorted(
            ["jprof.1"] + [f"jprof-{command}.1" for command in self.commands()]))
        for checker in (["groff", "-man", "-Tutf8", "-ww", "-z"],
                        ["mandoc", "-Tlint", "-Wwarning"]):
            if shutil.which(checker[0]):
                done = child.run(checker + names, 60, cwd=os.path.join(self.folder, "man"),
                                 env=self.env)
                self.assertEqual((done.stdout, done.stderr), ("", ""), checker)
        page = self.run_jprof("man", "callflow").stdout
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "FILES",
                        "ENVIRONMENT", "SEE ALSO"):
            self.assertIn(f".SH {section}\n", page)
        self.assertIn(".SH EXAMPLES\n", self.run_jprof("man", "profile").stdout)

    def test_wrong_words(self):
        for words, said in ((("man", "repot"), "did you mean 'report'?"),
                            (("completion", "csh"), "did you mean 'zsh'? Choose one of: bash, zsh, fish"),
                            (("doctor", "--java", "nowhere"), "--java"),
                            (("doctor", "--format", "xml"), "--format"),
                            (("java", "App"), "to profile a program: jprof profile -- java"),
                            (("--", "java", "App"), "jprof profile -- java ..."),
                            (("scs",), "name the program to profile: jprof scs -- java"),
                            (("merge",), "needs PROFILES, for example: jprof merge rank-*.jprof"),
                            (("info",), "needs DIR, for example: jprof info app.jprof"),
                            (("detach",), "needs PID, for example: jprof detach 1234"),
                            (("completion",), "needs SHELL, for example: source <(jprof"),
                            (("merge", "--wrong"), "jprof merge has no option '--wrong'"),
                            (("scs", "--wrong"), "'--wrong'; `jprof scs --help` lists them"),
                            (("tprof", "./app"), "put -- before the program: jprof tprof -- ./app"),
                            (("itrace", "app"), "put -- before the program: jprof itrace -- app"),
                            (("tprof", "--duration", "-1"), "'-1' is not a number above 0"),
                            (("tprof", "--rate", "0"), "'0' is not a whole number from 1 to 20000"),
                            (("tprof", "--delay", "-1"), "'-1' is not 0 or a number above"),
                            (("ptt", "app"), "PID: 'app' is not a whole number"),
                            (("report", "--depth", "x"), "--depth: 'x' is not a whole number"),
                            (("itrace", "--engine", "x"), "choose one of: auto, block, step"),
                            (("push", "http://x", "--max-size", "x"), "'x' is not a size"),
                            (("report", "no.jprof"), "no.jprof: cannot be opened"),
                            (("report", "."), "give a directory that jprof recorded"),
                            (("report", ".", "methods"), "jprof report methods ."),
                            (("view",), "or make one: jprof profile -- java -jar app.jar")):
            done = self.run_jprof(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(said, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_doctor(self):
        """With a `java` that cannot be profiled."""
        java = self.write("jdk/bin/java", "#!/bin/sh\necho 'no agents here'\nexit 3\n")
        os.chmod(java, 0o755)
        agent = self.write("agent.so")
        temporary = os.path.join(self.folder, "tmp")
        os.mkdir(temporary)
        done = self.run_jprof("doctor", "--java", "jdk", "--agent", agent, TMPDIR=temporary)
        self.assertEqual((done.returncode, done.stderr), (1, ""), done)
        self.assertRegex(done.stdout, r"(?m)^no +JVM +jdk/bin/java .*status 3")
        self.assertRegex(done.stdout, r"(?m)^no +profile, callflow, calltree, trace ")
        self.assertRegex(done.stdout, r"(?m)^(ok|note) +stack sampling ")
        self.assertRegex(done.stdout, r"(?m)^ok +attaching \(--pid\) +to running JVMs of ")
        self.assertRegex(done.stdout, r"(?m)^(ok|note|no) +HTTP \(push, fleet\) +")
        self.assertRegex(done.stdout, r"(?m)^ok +spool of fleet pushes +.*nothing waits")
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 140)
        shown = json.loads(self.run_jprof("doctor", "--java", "jdk", "--agent", agent,
                                          "--format", "json").stdout)
        self.assertEqual(sorted(shown), ["commands", "java", "jprof", "machine", "servers"])
        self.assertIn("scs", [row["name"] for row in shown["commands"]])
        self.assertEqual(os.listdir(temporary), [])


if __name__ == "__main__":
    unittest.main()
