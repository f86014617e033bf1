#!/usr/bin/env python3
"""Tests `jprof profile` and `jprof combine` with made profiles, and with a shell script as `java`:
requires no JVM.

  profile_runs.py JPROF
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import made  # noqa: E402
import terminal  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof-runs-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.agent = self.path("agent.so")
        open(self.agent, "w", encoding="ascii").close()
        made.java(self.path("bin"))
        self.made = self.path("made")
        made.profile(self.path("made/calltree"), mode="calltree", metrics=[])
        made.profile(self.path("made/callflow"))
        made.profile(self.path("made/scs"), mode="scs", metrics=made.SAMPLES)
        self.env = {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "HOME": self.folder,
                    "MADE": self.made}

    def path(self, name):
        return os.path.join(self.folder, name)

    def jprof(self, *words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, **env):
        return subprocess.run([JPROF, *words], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE,
                              text=True, cwd=self.folder, env={**self.env, **env}, timeout=600,
                              check=False)

    def profile(self, *options, then="", command=("java", "App"), **how):
        return self.jprof("profile", "--agent", self.agent, *options, "--", *command, THEN=then,
                          **how)

    def runs(self, name="App.jprof"):
        with open(self.path(name + "/runs.json"), encoding="utf-8") as file:
            return json.load(file)

    def outputs(self):
        return [run.get("output", run.get("output_note", "")) for run in self.runs()["runs"]]

    def log(self):
        """The agent's options of each run."""
        try:
            with open(self.path("made/log"), encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def refused(self, result, *said):
        """Checks: exit status 2, one line on stderr with these texts, nothing started or made."""
        self.assertEqual(result.returncode, 2, result)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for words in said:
            self.assertIn(words, result.stderr)
        self.assertEqual(self.log(), [])
        self.assertFalse(os.path.exists(self.path("App.jprof")))

    # jprof profile: what it runs.

    def test_runs_sampled_twice_then_counted(self):
        result = self.profile()
        self.assertEqual(result.returncode, 0, result)
        modes = [(options.split(",")[0].split("=")[0], "FOLD_RECURSION" in options)
                 for options in self.log()]
        self.assertEqual(modes, [("SCS", False), ("SCS", False), ("CALLTREE", True)])
        self.assertIn("SCS_RATE=1000", self.log()[0])
        self.assertNotIn("SCS_RATE", self.log()[2])
        runs = self.runs()
        self.assertEqual(runs["from"], "profile")
        self.assertEqual(runs["command"], ["java", "App"])
        self.assertEqual([(run["role"], run["profile"], run["exit_status"])
                          for run in runs["runs"]],
                         [("sampled", "sampled-1", 0), ("sampled", "sampled-2", 0),
                          ("counted", "counted", 0)])
        for run in runs["runs"]:
            self.assertGreater(run["wall_seconds"], 0)
            self.assertGreaterEqual(run["cpu_seconds"], 0)
            self.assertTrue(os.path.exists(self.path(f"App.jprof/{run['profile']}/control")))
        for words in ("run 1 of 3: sampled, ", "run 2 of 3: sampled, ", "run 3 of 3: counted"):
            self.assertEqual(result.stderr.count(words), 1, result.stderr)

    def test_options_reach_the_runs(self):
        result = self.profile("--runs", "1", "--counted", "callflow", "--metrics", "time",
                              "--tree-memory", "8M", "--rate", "100", "-o", "out")
        self.assertEqual(result.returncode, 0, result)
        sampled, counted = self.log()
        self.assertNotIn("METRICS", sampled)
        self.assertIn("CALLFLOW", counted)
        self.assertIn("METRICS=time", counted)
        for options in (sampled, counted):
            self.assertIn("TREE_MEMORY=8M", options)
        self.assertEqual([run["profile"] for run in self.runs("out")["runs"]],
                         ["sampled-1", "counted"])

    def test_the_exit_status_is_that_of_the_first_run(self):
        then = 'n=$(wc -l < "$MADE/log"); exit $((n + 4))'
        result = self.profile(then=then)
        self.assertEqual(result.returncode, 5, result)
        self.assertEqual([run["exit_status"] for run in self.runs()["runs"]], [5, 6, 7])

    def test_wrong_use_is_reported_before_anything_starts(self):
        for words, said in [
            (("--runs", "0"), "--runs: '0' is neither auto nor a whole number from 1 to 20"),
            (("--runs", "21"), "--runs: '21' is neither auto nor a whole number from 1 to 20"),
            (("--runs", "two"), "--runs: 'two' is neither auto nor a whole number"),
            (("--runs", "auto", "--counted", "callflow"), "--runs auto needs --counted calltree"),
            (("--counted", "callfow"), "did you mean 'callflow'?"),
            (("--metrics", "time"), "--metrics needs --counted callflow"),
            (("--rate", "0"), "--rate: '0' is not a whole number"),
            (("--tree-memory", "8Q"), "--tree-memory: '8Q' is not a size"),
            (("--run", "2"), "jprof profile has no option '--run'; did you mean --runs?"),
            (("-o", "no/such/folder"), "cannot make the profile directory"),
        ]:
            self.refused(self.profile(*words), said)
        self.refused(self.jprof("profile", "java", "App"),
                     "put -- before the program: jprof profile -- java ...")
        self.refused(self.jprof("profile"),
                     "name the program to profile: jprof profile -- java -jar app.jar")
        self.refused(self.profile(command=("no-such-program",)), "no-such-program")
        self.refused(self.profile("--children=no", command=("true",)), "true is not java",
                     "--children=all")
        self.refused(self.profile(JPROFOPTS="OUT=elsewhere"), "JPROFOPTS sets the mode or OUT")

    def test_an_existing_profile_is_replaced_only_with_force(self):
        self.assertEqual(self.profile("-o", "out").returncode, 0)
        again = self.profile("-o", "out")
        self.assertEqual(again.returncode, 2)
        self.assertIn("out is already a profile", again.stderr)
        self.assertIn("--force", again.stderr)
        self.assertEqual(self.profile("--runs", "1", "-o", "out", "--force").returncode, 0)
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["counted", "runs.json", "sampled-1"])
        made.write(self.path("out/counted"), "mine.txt", b"")
        kept = self.profile("-o", "out", "--force")
        self.assertEqual(kept.returncode, 2)
        self.assertIn("mine.txt, which is not part of a profile; nothing was removed", kept.stderr)
        self.assertTrue(os.path.exists(self.path("out/runs.json")))

    def test_without_a_profile_the_status_is_2(self):
        result = self.profile(then="exit 1", NO_PROFILE="1")
        self.assertEqual(result.returncode, 2)
        self.assertIn("the JVM did not start", result.stderr)
        self.assertEqual(len(self.log()), 1)
        self.assertFalse(os.path.exists(self.path("App.jprof")))

    def test_a_command_that_is_not_java(self):
        result = self.profile(command=("sh", "-c", "exec java ${JAVA_TOOL_OPTIONS}"))
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual([run["profile"] for run in self.runs("sh.jprof")["runs"]],
                         ["sampled-1", "sampled-2", "counted"])

    def test_of_several_jvms_the_report_is_about_one(self):
        two = "java ${JAVA_TOOL_OPTIONS}; java ${JAVA_TOOL_OPTIONS}"
        result = self.profile("--runs", "1", command=("sh", "-c", two))
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("sampled-1: 2 JVMs were recorded; the report is about sampled-1/App-",
                      result.stderr)
        self.assertEqual(len(self.runs("sh.jprof")["notes"]), 2)
        for run in self.runs("sh.jprof")["runs"]:
            self.assertRegex(run["profile"], r"^(sampled-1|counted)/App-\d+$")
        self.assertEqual(self.jprof("report", "combined", "sh.jprof").returncode, 0)
        result = self.profile("--runs", "1", "-o", "sh.jprof", "--force", command=("java", "App"))
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(sorted(os.listdir(self.path("sh.jprof"))),
                         ["counted", "runs.json", "sampled-1"])

    # The end of a sequence.

    def test_a_signal_that_ends_the_program_ends_the_sequence(self):
        result = self.profile(then="kill -KILL $$")
        self.assertEqual(result.returncode, 128 + signal.SIGKILL)
        self.assertIn("java was ended by signal 9 (Killed); no further run is started",
                      result.stderr)
        self.assertIn("jprof report scs App.jprof/sampled-1", result.stderr)
        self.assertEqual(len(self.log()), 1)
        self.assertFalse(os.path.exists(self.path("App.jprof/runs.json")))
        self.assertEqual(self.profile("-o", "App.jprof", "--force").returncode, 0)

    def test_what_was_recorded_is_combined_if_the_last_run_is_ended_by_a_signal(self):
        then = 'if [ $(wc -l < "$MADE/log") = 3 ]; then kill -KILL $$; fi'
        result = self.profile(then=then)
        self.assertEqual(result.returncode, 0)
        self.assertIn("run 3 of 3: java was ended by signal 9", result.stderr)
        self.assertEqual([run["exit_status"] for run in self.runs()["runs"]], [0, 0, 137])

    def interrupt(self, number, then):
        with subprocess.Popen(
                [JPROF, "profile", "--agent", self.agent, "--", "java", "App"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True, cwd=self.folder, env={**self.env, "THEN": then}) as jprof:
            jprof.stdout.readline()
            jprof.send_signal(number)
            errors = jprof.communicate(timeout=600)[1]
        return jprof.returncode, errors

    def test_an_interruption_reaches_the_program_and_ends_the_sequence(self):
        wait = "while :; do sleep 0.01; done"
        for number in (signal.SIGINT, signal.SIGTERM):
            status, errors = self.interrupt(number,
                                            f"trap 'exit 9' INT TERM; echo ready; {wait}")
            self.assertEqual(status, 9, errors)
            self.assertIn(f"interrupted by {number.name}; no further run is started", errors)
        self.assertEqual(len(self.log()), 2)

    # Progress, and the end.

    def ends_with(self, result, command):
        """Checks: at most 40 lines after the last run, the last of them the only next command."""
        lines = result.stderr.splitlines()
        last_run = max(i for i, line in enumerate(lines) if line.startswith("jprof: run "))
        self.assertLessEqual(len(lines) - last_run - 1, 40)
        self.assertEqual(lines[-1], "jprof: next:    " + command)
        self.assertEqual(result.stderr.count("next:"), 1)

    HISTORY = ".local/share/jprof/runs.jsonl"

    def learn(self, records):
        """Makes these the earlier profiles of the machine."""
        os.makedirs(os.path.dirname(self.path(self.HISTORY)), exist_ok=True)
        with open(self.path(self.HISTORY), "w", encoding="ascii") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)

    def usual(self, profile):
        with open(self.path(profile + "/runs.json"), encoding="utf-8") as file:
            return json.load(file)["usual_spread"]

    def test_profiles_learn_how_much_runs_differ(self):
        self.profile("-o", "first")
        self.profile("-o", "second")
        self.profile("-o", "other", command=("java", "Other"))
        self.assertEqual([self.usual(name)["profiles"] for name in ("first", "second", "other")],
                         [0, 1, 2])
        self.assertEqual(self.usual("second")["total"]["freedom"],
                         self.usual("first")["total"]["freedom"] + 1)
        self.assertEqual(self.usual("other")["total"]["freedom"],
                         self.usual("first")["total"]["freedom"])
        before = os.stat(self.path(self.HISTORY)).st_size
        self.profile("-o", "alone", "--runs", "1")  # shows no difference
        self.assertEqual(os.stat(self.path(self.HISTORY)).st_size, before)
        report = self.jprof("info", "--quality", "alone").stdout
        self.assertIn("known from 3 earlier profiles on this machine", " ".join(report.split()))

    def test_a_history_that_cannot_be_kept_is_named(self):
        os.makedirs(self.path(self.HISTORY))
        result = self.profile()
        self.assertIn("how much the runs differ is not kept: cannot write", result.stderr)
        self.ends_with(result, "jprof view App.jprof")

    def test_the_next_command_is_the_one_that_helps_most(self):
        self.ends_with(self.profile(), "jprof view App.jprof")
        made.profile(self.path("made/scs"), mode="scs", metrics=made.SAMPLES, self_time=1)
        self.ends_with(self.profile("-o", "few", command=("java", "-ea", "App", "a b")),
                       "jprof profile --runs 5 -- java -ea App 'a b'")
        self.learn([{"program": 1, "total": [0.9, 19], "share": [0.5, 19]}] * 50)
        self.ends_with(self.profile("-o", "more", "--runs", "5"),
                       "jprof profile --runs 20 -- java App")
        self.ends_with(self.profile("-o", "most", "--runs", "20"), "jprof view most")
        result = self.combine("made/calltree", "made/scs", "-o", "both")
        self.assertEqual(result.stderr.splitlines()[-1], "jprof: next:    jprof view both")

    def test_progress_without_a_terminal_is_a_line_for_each_run(self):
        result = self.profile(then="sleep 1; echo text")
        self.assertEqual(result.stdout, "text\n" * 3)
        self.assertNotIn("\r", result.stderr)
        runs = [line for line in result.stderr.splitlines() if line.startswith("jprof: run ")]
        self.assertEqual(len(runs), 3, result.stderr)
        self.assertEqual(runs[0], "jprof: run 1 of 3: sampled, 1000/s")
        self.assertRegex(runs[1], r"^jprof: run 2 of 3: sampled, 1000/s, about \d+ s left$")
        self.assertRegex(runs[2], r"^jprof: run 3 of 3: counted, about \d+ s left$")

    def on_a_terminal(self, then, stdout):
        """The output on the terminal, and that on stdout if it is a pipe."""
        return terminal.run([JPROF, "profile", "--agent", self.agent, "--", "java", "App"],
                            stdout=stdout, cwd=self.folder, env={**self.env, "THEN": then})

    def test_progress_on_a_terminal_is_one_line_that_disappears(self):
        shown, printed = self.on_a_terminal("sleep 2; echo text", subprocess.PIPE)
        self.assertEqual(printed, "text\n" * 3)
        self.assertIn("\r\x1b[Kjprof: run 1 of 3: sampled, 1000/s, 1 s so far", shown)
        self.assertRegex(shown, r"\r\x1b\[Kjprof: run 2 of 3: sampled, 1000/s, about \d+ s left")
        left = [line.rsplit("\r\x1b[K", 1)[-1] for line in shown.split("\n")]
        self.assertFalse([line for line in left if line.startswith("jprof: run ")], left)
        self.assertEqual(left[-2], "jprof: next:    jprof view App.jprof")

    def test_progress_leaves_alone_what_the_program_prints_on_the_same_terminal(self):
        self.profile("-o", "before")  # measures the cost of an interrupt, which is shown once
        shown, _ = self.on_a_terminal("printf half; sleep 1.5; echo done", None)
        self.assertNotIn("\x1b[K", shown)
        self.assertEqual(shown.count("halfdone\n"), 3, shown)
        self.assertEqual(shown.count("jprof: run "), 3, shown)

    def test_with_auto_the_number_of_runs_is_a_limit(self):
        self.assertIn("run 1 of at most 3: counted and sampled",
                      self.profile("--runs", "auto").stderr)

    # Input and output.

    def test_output_to_a_pipe(self):
        result = self.profile(then="echo text; echo error >&2")
        self.assertEqual(result.stdout[:15], "text\ntext\ntext\n", result)
        self.assertEqual(result.stderr.count("error\n"), 3)
        self.assertEqual(self.outputs(), ["", "equal", "equal"])

    def test_output_to_a_file(self):
        for flags in (0, os.O_APPEND):
            out = os.open(self.path("out.txt"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | flags)
            self.profile("--force", "-o", "App.jprof", then="echo text", stdout=out)
            os.close(out)
            with open(self.path("out.txt"), encoding="ascii") as file:
                self.assertEqual(file.read()[:15], "text\ntext\ntext\n")
            self.assertEqual(self.outputs(), ["", "equal", "equal"])

    def test_output_that_differs(self):
        then = "head -c 16 /dev/urandom | od -x"
        self.profile(then=then)
        self.assertEqual(self.outputs(), ["", "different", "different"])
        with open(self.path("out.txt"), "wb") as out:
            self.profile("--force", "-o", "App.jprof", then=then, stdout=out)
        self.assertEqual(self.outputs(), ["", "different", "different"])

    def test_output_to_a_terminal_or_a_device_is_not_compared(self):
        with terminal.opened() as (_, theirs):
            self.profile(then="test -t 1 && echo text", stdout=theirs)
        self.assertEqual(self.outputs(), ["a terminal"] * 3)
        self.assertEqual({run["exit_status"] for run in self.runs()["runs"]}, {0})
        self.profile("--force", "-o", "App.jprof", stdout=subprocess.DEVNULL)
        self.assertEqual(self.outputs(), ["a device"] * 3)

    def test_a_reader_that_closes_the_pipe(self):
        read, write = os.pipe()
        os.close(read)
        result = self.profile(then="exec yes", stdout=write)
        os.close(write)
        self.assertEqual(result.returncode, 128 + signal.SIGPIPE, result)

    def test_every_run_gets_the_input(self):
        text = "line\n" * 50_000
        with open(self.path("in.txt"), "w", encoding="ascii") as file:
            file.write(text)
        then = "wc -c; echo done"
        expected = f"{len(text)}\ndone\n" * 3
        with open(self.path("in.txt"), encoding="ascii") as file:
            result = self.profile(then=then, stdin=file)
        self.assertTrue(result.stdout.startswith(expected), result)
        with subprocess.Popen(["cat", self.path("in.txt")], stdout=subprocess.PIPE) as cat:
            result = self.profile(then=then, stdin=cat.stdout)
        self.assertTrue(result.stdout.startswith(expected), result)

    def test_an_input_that_stays_open_does_not_keep_it_from_ending(self):
        read, write = os.pipe()
        os.write(write, b"line\n")
        result = self.profile(then="read word; echo $word", stdin=read)
        self.assertTrue(result.stdout.startswith("line\n" * 3), result)

    def test_an_input_from_a_terminal_is_announced(self):
        with terminal.opened() as (_, theirs):
            result = self.profile("--runs", "1", then="test -t 0 && echo text", stdin=theirs)
        self.assertTrue(result.stdout.startswith("text\n" * 2), result)
        self.assertIn("the program may ask for input again", result.stderr)

    # jprof combine.

    def combine(self, *words):
        return self.jprof("combine", *words)

    def test_combines_profiles(self):
        result = self.combine("made/calltree", "made/scs", "-o", "out")
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("combined profile: out", result.stderr)
        runs = self.runs("out")
        self.assertEqual(runs["from"], "combine")
        self.assertEqual(runs["command"], ["java", "Demo"])
        self.assertEqual([(run["role"], run["profile"]) for run in runs["runs"]],
                         [("counted", "counted"), ("sampled", "sampled-1")])
        for ours, theirs in (("out/counted", "made/calltree"), ("out/sampled-1", "made/scs")):
            self.assertEqual(sorted(os.listdir(self.path(ours))),
                             sorted(os.listdir(self.path(theirs))))
            for name in os.listdir(self.path(ours)):
                with open(self.path(f"{ours}/{name}"), "rb") as one, \
                        open(self.path(f"{theirs}/{name}"), "rb") as other:
                    self.assertEqual(one.read(), other.read())

    def test_only_regular_files_of_the_profile_are_copied_with_their_holes(self):
        made.lengthen(self.path("made/scs"), "nodes")
        os.symlink("/etc/passwd", self.path("made/scs/trace"))
        os.mkfifo(self.path("made/scs/jitlog"))
        made.write(self.path("made/scs"), "notes.txt", b"mine")
        result = self.combine("made/calltree", "made/scs", "-o", "out")
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(sorted(os.listdir(self.path("out/sampled-1"))),
                         ["control", "meta.json", "methods", "nodes"])
        about = os.stat(self.path("out/sampled-1/nodes"))
        self.assertEqual(about.st_size, 1 << 38)
        self.assertLess(about.st_blocks * 512, 1 << 20)

    def test_a_damaged_profile_is_copied_with_a_note(self):
        made.profile(self.path("cut"), mode="scs", metrics=made.SAMPLES, thread_count=9)
        with open(self.path("cut/control"), "r+b") as control:
            control.seek(88)
            control.write(bytes(4))
        result = self.combine("made/callflow", "cut", "made/scs", "-o", "out")
        self.assertEqual(result.returncode, 0, result)
        notes = self.runs("out")["notes"]
        self.assertTrue(any(note.startswith("sampled-1: control: cut off") for note in notes),
                        notes)
        self.assertNotIn("sampled-2", " ".join(notes))

    def refused_combining(self, result, *said):
        self.assertEqual(result.returncode, 2, result)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for words in said:
            self.assertIn(words, result.stderr)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_the_wrong_order_is_explained(self):
        self.refused_combining(
            self.combine("made/scs", "made/calltree", "-o", "out"),
            "made/calltree is the counted profile (calltree), made/scs is sampled",
            "jprof combine made/calltree made/scs -o out")

    def test_other_kinds_are_refused(self):
        made.profile(self.path("trace"), mode="trace")
        made.profile(self.path("altered"), mode="calltree", metrics=made.SAMPLES)
        made.profile(self.path("idle"), mode="scs", metrics=[
            {"name": "IDLE", "unit": "samples", "scale": 1, "kind": "samples", "period": 1,
             "period_unit": "ns", "period_clock": "elapsed"}])
        for words, said in [
            (("made/calltree", "made/callflow"), "no samples of the unmodified program"),
            (("made/calltree", "altered"), "samples of altered code"),
            (("made/calltree", "idle"), "its samples are not of CPU time"),
            (("trace", "made/scs"), "a profile of trace does not count calls"),
            (("made/scs", "made/scs"), "a profile of scs does not count calls"),
            (("made/calltree", "missing"), "missing: cannot be opened"),
            (("made/calltree", "bin"), "bin: not a jprof profile"),
            (("made/calltree",), "at least one sampled profile"),
            ((), "at least one sampled profile"),
            (("made/calltree", "made/scs", "made/scs"), "made/scs is named twice"),
        ]:
            self.refused_combining(self.combine(*words, "-o", "out"), said)
        self.refused_combining(self.combine("made/calltree", "made/scs"), "-o is required")

    def test_a_combined_profile_is_no_input(self):
        self.assertEqual(self.combine("made/calltree", "made/scs", "-o", "both").returncode, 0)
        self.refused_combining(self.combine("both", "made/scs", "-o", "out"),
                               "both is a combined profile", "both/counted, both/sampled-1")

    def test_out_may_not_exist_or_contain_the_profiles(self):
        os.mkdir(self.path("mine"))
        made.write(self.path("mine"), "a.txt", b"a")
        result = self.combine("made/calltree", "made/scs", "-o", "mine", "--force")
        self.assertEqual(result.returncode, 2)
        self.assertIn("mine exists and is not a profile", result.stderr)
        self.assertEqual(self.combine("made/calltree", "made/scs", "-o", "both").returncode, 0)
        again = self.combine("made/calltree", "made/scs", "-o", "both")
        self.assertEqual(again.returncode, 2)
        self.assertIn("both is already a profile", again.stderr)
        for out in ("both", "both/counted"):
            inside = self.combine("both/counted", "both/sampled-1", "-o", out, "--force")
            self.assertEqual(inside.returncode, 2, inside)
            self.assertIn("which is to be copied", inside.stderr)
        self.assertEqual(
            self.combine("made/calltree", "made/scs", "-o", "both", "--force").returncode, 0)

    # Help.

    def test_help_names_both(self):
        text = self.jprof("--help").stdout
        self.assertLess(text.index("\n  profile"), text.index("\n  callflow"))
        self.assertIn("jprof profile -- java -jar app.jar", text)
        for command, words in (("profile", ("--runs", "--tree-memory", "Examples:")),
                               ("combine", ("--force", "Examples:"))):
            text = self.jprof(command, "--help").stdout
            for word in words:
                self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
