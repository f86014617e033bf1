#!/usr/bin/env python3
"""Tests options of reports: tprof's on programs with known shares, lines and callers; --table,
--static-letters and how text looks on a profile that the test creates.

  reports.py JPROF
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import made
import terminal

JPROF = os.path.abspath(sys.argv.pop(1))

# twice() takes two thirds of the time, before() all of the first 0.4 s.
PROGRAM = r"""
#include <time.h>
static volatile long sum;
double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}
__attribute__((noinline)) void work(long n) {
  for (long i = 0; i < n; ++i)
    sum += i * i;  /* the hot line */
}
__attribute__((noinline)) void twice(void) { work(200000); __asm__ volatile(""); }
__attribute__((noinline)) void once(void) { work(100000); __asm__ volatile(""); }
__attribute__((noinline)) void before(void) { for (int i = 0; i < 100000; ++i) sum += i; }
int main(int words, char** word) {
  if (words > 1) {
    const double start = now(CLOCK_MONOTONIC);
    while (now(CLOCK_MONOTONIC) < start + 0.4) before();
    while (now(CLOCK_MONOTONIC) < start + 1.6) once();
    return 0;
  }
  while (now(CLOCK_PROCESS_CPUTIME_ID) < 1.0) { twice(); once(); }
  return 0;
}
"""
HOT_LINE = 1 + PROGRAM[: PROGRAM.index("the hot line")].count("\n")


class Known(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="jprof-reports-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        made.write(cls.folder, "known.c", PROGRAM.encode())
        subprocess.run([os.environ.get("CC", "gcc"), "-g", "-O0", "-o", "known", "known.c"],
                       cwd=cls.folder,
                       check=True)  # optimised, GCC gives leaf functions no frame pointer
        done = cls.run_jprof("tprof", "--rate", "500", "--chains", "-o", "known.jprof", "--",
                             "./known")
        if done.returncode == 1 and "forbids" in done.stderr:
            raise unittest.SkipTest(done.stderr)
        assert done.returncode == 0, done
        rows = cls.rows("known.jprof")
        cls.total = sum(row["ticks"] for row in rows)
        cls.work = sum(row["ticks"] for row in rows if row["symbol"] == "work")
        assert cls.work > 100, rows

    @classmethod
    def run_jprof(cls, *words):
        return subprocess.run([JPROF, *words], cwd=cls.folder, capture_output=True, text=True,
                              timeout=600)

    @classmethod
    def rows(cls, recording):
        return json.loads(
            cls.run_jprof("tprof", "--format", "json", "--from", recording).stdout)["rows"]

    def tprof(self, *words, status=0):
        done = self.run_jprof("tprof", *words)
        self.assertEqual(done.returncode, status, done)
        return done.stdout if status == 0 else done.stderr

    # Call chains.

    def test_collapsed_stacks_hold_every_tick_once_outermost_first(self):
        text = self.run_jprof("report", "tprof", "--format", "collapsed", "known.jprof").stdout
        self.assertEqual(text, self.tprof("--format", "collapsed", "--from", "known.jprof"))
        stacks = dict(line.rsplit(" ", 1) for line in text.splitlines())
        self.assertEqual(sum(map(int, stacks.values())), self.total)
        for caller, share in (("twice", 2 / 3), ("once", 1 / 3)):
            ticks = sum(
                int(n) for stack, n in stacks.items() if re.search(rf";main;{caller};work$", stack))
            self.assertAlmostEqual(ticks / self.work, share, delta=0.1, msg=text)
        self.assertTrue(all(re.match(r"known_[0-9a-f]+;tid_known_[0-9a-f]+;", stack)
                            for stack in stacks
                            if stack.endswith(";work")), text)

    def test_callers_with_their_shares(self):
        text = self.tprof("--callers", "work", "--from", "known.jprof")
        head = re.match(r"work: (\d+) ticks in it and below, ([\d.]+) % of all; (\d+) in itself\n",
                        text)
        self.assertTrue(head, text)
        self.assertEqual(int(head.group(3)), self.work)
        rows = re.findall(r"^ +(\d+) +([\d.]+)  (.+)$", text, re.M)
        self.assertEqual(sum(int(row[0]) for row in rows), int(head.group(1)))
        self.assertEqual([row[2] for row in rows[:2]], ["twice", "once"], text)
        self.assertAlmostEqual(float(rows[0][1]), 66.7, delta=10)
        main = self.tprof("--callers", "twice", "--from", "known.jprof")
        self.assertRegex(main, r"(?m)^ +\d+ +(9\d|100)\.\d\d  main$")

    def test_callers_without_chains_are_refused(self):
        self.assertIn("no call chain with a symbol whose name contains 'nobody'",
                      self.tprof("--callers", "nobody", "--from", "known.jprof", status=2))
        bare = made.recording(os.path.join(self.folder, "bare"),
                              made.record(made.SAMPLE, pid=5, tid=5, address=64))
        self.assertIn("record with jprof tprof --chains",
                      self.tprof("--callers", "x", "--from", bare, status=2))
        self.assertEqual(self.tprof("--format", "collapsed", "--from", bare),
                         "unknown_0005;tid_unknown_0005;[NoModule] 1\n")

    # Stanzas.

    def test_by_line_names_the_hot_line(self):
        text = self.tprof("--by-line", "--from", "known.jprof")
        stanza = text[text.index(")) Module_Symbol\n"):]
        work = re.search(r"^     SYM +(\d+) .* work\n((?:      LIN.*\n)+)", stanza, re.M)
        self.assertTrue(work, stanza[:2000])
        self.assertEqual(int(work.group(1)), self.work)
        lines = {int(line): int(ticks)
                 for ticks, line in re.findall(r"LIN +(\d+) .*/known\.c:(\d+)$", work.group(2),
                                               re.M)}
        self.assertEqual(sum(lines.values()), self.work)
        self.assertGreater(lines[HOT_LINE - 1] + lines[HOT_LINE], 0.95 * self.work, lines)
        self.assertGreater(lines[HOT_LINE], self.work / 20, lines)
        self.assertNotIn("LIN", self.tprof("--from", "known.jprof"))

    def test_clip_sums_up_what_is_below(self):
        user = made.record(made.SAMPLE, pid=5, tid=5, address=64)
        kernel = made.record(made.SAMPLE, pid=5, tid=5, kernel=1, address=0xffffffff81000010)
        recording = made.recording(os.path.join(self.folder, "clipped"), *[user] * 9, kernel)
        whole, clipped = (self.tprof("--clip", clip, "--from", recording) for clip in ("0", "20"))
        shares = [
            float(share)
            for share in re.findall(r"^ +(?:PID|TID|MOD|SYM) +\d+ +([\d.]+) ", clipped, re.M)]
        self.assertGreaterEqual(min(shares), 20)
        self.assertRegex(clipped, r"(?m)^ +\.\.\. +\d+ +[\d.]+ +\(\d+ below 20 %\)$")
        self.assertLess(clipped.count("\n"), whole.count("\n"))
        for text in (whole, clipped):  # nothing is dropped
            stanza = text[text.index(")) Module\n"):text.index(")) Module_Symbol\n")]
            self.assertEqual(
                sum(map(int, re.findall(r"^    (?:MOD|\.\.\.) +(\d+) ", stanza, re.M))), 10)

    def test_delay_leaves_out_what_ran_before(self):
        self.tprof("--rate", "500", "--delay", "0.9", "-o", "late.jprof", "--", "./known", "phases")
        ticks = {row["symbol"]: row["ticks"] for row in self.rows("late.jprof")}
        self.assertNotIn("before", ticks)
        self.assertGreater(ticks.get("work", 0), 0, ticks)
        self.tprof("--rate", "500", "-o", "all.jprof", "--", "./known", "phases")
        self.assertIn("before", {row["symbol"] for row in self.rows("all.jprof")})
        with open(os.path.join(self.folder, "late.jprof/samples"), "rb") as samples:
            unix, start = struct.unpack("<24xQQ", samples.read(40))  # one moment
        self.assertAlmostEqual((unix - start) / 1e9, time.time() - time.monotonic(), delta=0.3)

    # Instructions.

    def test_annotate_shows_each_instruction_with_its_ticks_and_line(self):
        text = self.tprof("--annotate", "work", "--from", "known.jprof")
        head = re.match(
            r"work \[.*/known\] at [0-9a-f]+: (\d+) ticks, [\d.]+ % of all\n   TICKS      %  "
            r"OFFSET  INSTR", text)
        self.assertTrue(head, text)
        self.assertEqual(int(head.group(1)), self.work)
        body = text.split("\n\n")[0]
        hit = re.findall(r"^ +(\d+) +[\d.]+ +[0-9a-f]+  \w+", body, re.M)
        self.assertEqual(sum(map(int, hit)), self.work, body)
        self.assertIn(f" known.c:{HOT_LINE}\n", body)
        if os.uname().machine == "x86_64":
            self.assertRegex(body, r"(?m)^ +0  push\w* %rbp$")
            self.assertRegex(body, r"(?m)  imul\w* ")
            self.assertRegex(body, r"(?m)  ret\w*")
        self.assertIn("no ticks in a symbol",
                      self.tprof("--annotate", "nobody", "--from", "known.jprof", status=2))


class Made(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="jprof-reports-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.profile = made.profile(os.path.join(self.folder, "made.jprof"), method_flags=1)

    def table(self, cpu, name, repeat=0.5):
        cost = {"count": 9, "observed": 1010, "truth": 10, "overhead": 1000, "minimum": 900,
                "spread": 2,
                "repeat": repeat, "context": 0}
        keys = {f"{previous}-{one}-{event}-{other}": cost for previous in ("En", "Ex")
                for event in ("En", "Ex")
                for one in "ITi" for other in "ITi"}
        return made.write(self.folder, name, json.dumps(
            {"version": 2, "made_at": "2026-01-01T00:00:00Z", "fingerprint": {"cpu": cpu},
             "metrics": [
                 {"name": "time", "unit": "ns", "granularity": 1, "bias": 0,
                  "keys": keys}]}).encode())

    def report(self, *words, status=0):
        done = subprocess.run([JPROF, "report", "log-rt", self.profile, *words], cwd=self.folder,
                              capture_output=True,
                              text=True, env={"HOME": self.folder}, timeout=600)
        self.assertEqual(done.returncode, status, done)
        return done.stdout if status == 0 else done.stderr

    def on_terminal(self, *words, columns=80, command=("report", "log-rt"), **environment):
        """What a terminal of so many columns shows of the report."""
        return terminal.run(
            [JPROF, *command, self.profile, *words], columns, cwd=self.folder,
            env={"HOME": self.folder, "PATH": os.environ["PATH"], "NO_COLOR": "1",
                 **environment})[0]

    def test_a_terminal_has_a_pager_and_its_width(self):
        paged = self.on_terminal(TERM="xterm", PAGER="sed s/^/P:/")
        self.assertTrue(all(line.startswith("P:") for line in paged.splitlines()), paged)
        plain = self.on_terminal(TERM="xterm", PAGER="cat")
        self.assertEqual(paged.replace("P:", ""), plain)
        for words, environment in (((), {"TERM": "dumb", "PAGER": "sed s/^/P:/"}),
                                   (("--no-pager",), {"TERM": "xterm", "PAGER": "sed s/^/P:/"}),
                                   ((), {"TERM": "xterm", "PAGER": ""}),
                                   ((), {"TERM": "xterm", "PAGER": "no-such-pager-here"}),
                                   ((), {"TERM": "xterm", "PAGER": self.folder}),
                                   ((), {"PAGER": "sed s/^/P:/"})):
            self.assertEqual(self.on_terminal(*words, **environment), plain, (words, environment))
        # A user who leaves the pager early does not make the report fail.
        self.assertEqual(self.on_terminal(TERM="xterm", PAGER="head -1").count("\n"), 1)
        for command in (("report", "log-rt"), ("info", "--quality")):
            text = self.on_terminal(PAGER="", columns=60, command=command)
            self.assertLessEqual(max(len(line) for line in text.splitlines()
                                     if "jprof info --quality" not in line), 60, text)

    def test_an_empty_no_color_allows_colour(self):
        self.assertNotIn("\x1b[", self.on_terminal(TERM="dumb"))
        self.assertIn("\x1b[1m", self.on_terminal(TERM="dumb", NO_COLOR=""))

    def test_a_width_that_is_none_is_wrong_use(self):
        for width in ("0", "-1", "abc", "", "99999999999999999999"):
            self.assertIn(f"--width: '{width}' is not a whole number ",
                          self.report("--width", width, status=2))
        self.assertIn("options of --quality",
                      self.run_jprof("info", self.profile, "--width", "80", status=2))
        explained = self.run_jprof("info", "--quality", self.profile, "--width", "50")
        self.assertLessEqual(max(map(len, explained.splitlines()[1:])), 50, explained)

    def test_an_empty_name_is_not_the_newest_profile(self):
        for command in (("report",), ("report", "log-rt"), ("compare",), ("view", "--no-open"),
                        ("export",), ("info",), ("info", "--quality")):
            self.assertIn("an empty name", self.run_jprof(*command, "", status=2))

    def test_text_has_three_forms_of_names_and_no_other_format_has(self):
        for form, name in (("full", "app.Main.run()"), ("short", "Main.run"),
                           ("jvm", "app/Main.run()V")):
            self.assertRegex(self.report("--names", form), rf"(?m) I:{re.escape(name)}$")
            self.assertIn("app/Main.run()V", self.report("--format", "json"))
        for option in (["--names", "short"], ["--all"], ["--legend"], ["--width", "80"],
                       ["--no-pager"]):
            self.assertIn(option[0], self.report(*option, "--format", "csv", status=2))
        self.assertIn("did you mean", self.report("--names", "shrt", status=2))
        for limit in (["--depth", "1"], ["--min-percent", "5"]):
            self.assertIn("--all", self.report("--all", *limit, status=2))

    def test_static_letters(self):
        self.assertIn(" I:app.Main.run()", self.report())
        self.assertIn(" i:app.Main.run()", self.report("--static-letters"))

    def test_a_table_corrects(self):
        before = json.loads(self.report("--format", "json"))["metrics"][0]
        self.assertFalse(before["calibrated"])
        fits = self.table("c", "fits.json")
        after = json.loads(self.report("--format", "json", "--table", fits))["metrics"][0]
        self.assertTrue(after["calibrated"])
        self.assertEqual(after["raw"], before["raw"])
        self.assertGreater(after["removed"], 0)
        explained = self.run_jprof("info", "--quality", self.profile, "--table", fits)
        self.assertIn(f"calibrated with {fits} (made 2026-01-01", " ".join(explained.split()))

    def test_info_explains_the_quality(self):
        text = self.run_jprof("info", "--quality", self.profile)
        self.assertRegex(text, r"\Aquality of .*: fair\n\n major +UNCALIBRATED: ")
        self.assertRegex(text, r"(?m)^ +to do +jprof calibrate$")
        explained = json.loads(self.run_jprof("info", "--quality", self.profile, "--format", "json"))
        reported = json.loads(self.report("--format", "json"))
        self.assertEqual(explained["grade"], "fair")
        self.assertEqual([fact["text"] for fact in explained["quality"]],
                         [fact["text"] for fact in reported["quality"]])
        self.assertIn("options of --quality",
                      self.run_jprof("info", self.profile, "--uncalibrated", status=2))
        self.run_jprof("info", "--quality", "nowhere", status=2)

    def test_a_damaged_profile_is_evident_at_once(self):
        with open(os.path.join(self.profile, "nodes"), "r+b") as nodes:
            nodes.truncate(100)
        head = self.report().splitlines()
        self.assertTrue(any(line.startswith(" quality   poor: damaged: nodes:") for line in head),
                        head)

    def test_info_explains_the_quality_of_a_combined_profile(self):
        combined, _, _ = self.combine()
        facts = json.loads(self.run_jprof("info", "--quality", combined, "--format", "json"))
        self.assertIn("one sampled run: how much runs differ is not known",
                      [fact["text"] for fact in facts["quality"]])
        self.assertEqual(facts["grade"], "fair")

    def test_a_damaged_run_does_not_hide_the_quality_of_the_others(self):
        combined, counted, sampled = self.combine()
        os.truncate(os.path.join(sampled, "control"), 10)
        text = self.run_jprof("info", "--quality", combined)
        self.assertRegex(text, r"\Aquality of .*: poor\n")
        self.assertRegex(text, r"(?m)^ severe +sampled-1: damaged: .*sampled-1: not a jprof profile")
        self.assertRegex(text, r"(?m)^ major +counted: UNCALIBRATED")
        facts = json.loads(self.run_jprof("info", "--quality", combined, "--format", "json"))
        self.assertEqual(facts["profile"], combined)
        os.truncate(os.path.join(counted, "control"), 10)
        self.run_jprof("info", "--quality", combined, status=2)

    def test_a_table_of_another_machine_needs_force(self):
        other = self.table("d", "other.json")
        said = self.report("--table", other, status=2)
        self.assertIn("does not fit this profile: cpu: table has d, profile has c", said)
        self.assertIn("BY FORCE (cpu: table has d, profile has c)",
                      self.report("--table", other, "--force"))
        self.assertIn("cannot read the calibration table",
                      self.report("--table", "nowhere.json", status=2))
        self.report("--table", other, "--uncalibrated", status=2)

    SAMPLES = {"name": "samples", "unit": "samples", "scale": 1, "kind": "samples",
               "period": 1000, "period_unit": "ns", "period_clock": "cpu"}

    def combine(self):
        """A combined profile of a counted run of 70,000 ns in a method, and one with 60 samples of
        1,000 ns in it."""
        combined = os.path.join(self.folder, "app.jprof")
        shutil.copytree(self.profile, os.path.join(combined, "counted"))
        sampled = made.profile(os.path.join(combined, "sampled-1"), mode="scs", method_flags=1,
                               self_time=60, metrics=[self.SAMPLES])
        made.write(combined, "runs.json", json.dumps(
            {"format": 1, "runs": [{"role": "counted", "profile": "counted"},
                                   {"role": "sampled", "profile": "sampled-1"}]}).encode())
        return combined, os.path.join(combined, "counted"), sampled

    def run_jprof(self, *words, status=0):
        done = subprocess.run([JPROF, *words], cwd=self.folder, capture_output=True, text=True,
                              env={"HOME": self.folder}, timeout=600)
        self.assertEqual(done.returncode, status, done)
        return done.stdout if status == 0 else done.stderr

    def write_runs(self, combined, *runs):
        made.write(combined, "runs.json", json.dumps(
            {"format": 1, "from": "profile", "command": ["java", "Demo"], "runs": [
                {"role": role, "profile": profile} for role, profile in runs]}).encode())

    def test_combined_is_the_report_of_a_combined_profile(self):
        combined, _, _ = self.combine()
        text = self.run_jprof("report", "combined", combined)
        self.assertEqual(text, self.run_jprof("report", combined))
        self.assertRegex(text, r"(?m)^ 1 +1 +60 +60\.0 us +60\.0 us .* I:app\.Main\.run\(\)$")
        self.assertIn("how much runs differ is not known", " ".join(text.split()))
        root = json.loads(self.run_jprof("report", "combined", combined, "--format", "json"))
        self.assertEqual([(node["level"], node["calls"], node["samples"])
                          for node in root["nodes"]], [(0, None, [5]), (1, 1, [60])])
        self.assertEqual(root["nodes"][1]["time_ns"]["value"], 60_000)

    def test_runs_of_a_combined_profile_are_in_any_order(self):
        combined, counted, sampled = self.combine()
        os.rename(counted, os.path.join(combined, "b"))
        os.rename(sampled, os.path.join(combined, "c"))
        shutil.copytree(os.path.join(combined, "c"), os.path.join(combined, "a"))
        self.write_runs(combined, ("sampled", "c"), ("counted", "b"), ("sampled", "a"))
        root = json.loads(self.run_jprof("report", "combined", combined, "--format", "json"))
        self.assertEqual(root["nodes"][1]["calls"], 1)
        self.assertEqual(root["nodes"][1]["samples"], [60, 60])
        self.assertEqual([run["profile"] for run in root["sampled_runs"]], ["c", "a"])
        self.assertIn("I:app.Main.run()", self.run_jprof("report", "log-rt", combined))

    def test_other_reports_of_a_combined_profile_are_of_its_counted_run(self):
        combined, counted, _ = self.combine()
        self.assertEqual(self.run_jprof("report", "methods", combined),
                         self.run_jprof("report", "methods", counted))
        both = json.loads(self.run_jprof("report", "log-rt", combined, "--format", "json"))
        node = both["threads"][0]["nodes"][1]
        self.assertEqual((node["calls"], node["production_samples"]), (1, 60))
        self.assertIn("P-CUM/CALL", self.run_jprof("report", "log-rt", combined))
        self.assertNotIn("P-CUM/CALL", self.run_jprof("report", "log-rt", counted))

    def test_a_report_of_another_kind_than_the_directory_is_refused(self):
        combined, counted, _ = self.combine()
        for report, directory, says in (
                ("arc", counted, "has no branches"), ("combined", counted, "not a combined profile"),
                ("tprof", counted, "cannot read"), ("arc", combined, "is a combined profile; its "),
                ("tprof", combined, "is a combined profile; its report: jprof report combined")):
            self.assertIn(says, self.run_jprof("report", report, directory, status=2))

    def test_files_of_the_working_directory_make_no_recording_of_it(self):
        shutil.copytree(self.profile, os.path.join(self.folder, "newest.jprof"))
        os.mkdir(os.path.join(self.folder, "branches"))
        self.run_jprof("compare")

    def test_samples_alone_are_a_recording_of_ticks(self):
        recording = os.path.join(self.folder, "ticks.jprof")
        os.mkdir(recording)
        made.write(recording, "samples", b"x")
        self.assertIn("is not a recording of jprof tprof",
                      self.run_jprof("report", recording, status=2))

    def test_what_is_wrong_with_a_combined_profile_is_named(self):
        combined, counted, sampled = self.combine()
        said = self.run_jprof("report", "combined", counted, status=2)
        self.assertIn("not a combined profile", said)
        self.assertIn("I:app.Main.run()", self.run_jprof("report", "combined"))  # the newest
        shutil.rmtree(sampled)
        self.assertIn("sampled-1", self.run_jprof("report", combined, status=2))
        self.write_runs(combined, ("counted", "counted"))
        self.assertIn("needs at least one counted and one sampled run, has 1 and 0",
                      self.run_jprof("report", combined, status=2))
        self.write_runs(combined, ("sampled", "sampled-1"))
        self.assertIn("has no counted run", self.run_jprof("report", "log-rt", combined, status=2))
        made.write(combined, "runs.json", b'{"format": 1, "runs"')
        for words in (["report", combined], ["report", "log-rt", combined], ["info", combined]):
            said = self.run_jprof(*words, status=1)
            self.assertIn("runs.json: damaged: not a JSON object", said)
            self.assertIn("jprof combine", said)

    def test_info_describes_a_combined_profile(self):
        combined, counted, sampled = self.combine()
        self.write_runs(combined, ("sampled", "sampled-1"), ("counted", "counted"))
        text = self.run_jprof("info", combined)
        self.assertIn("(combined)", text)
        self.assertRegex(text, rf"(?m)^sampled +{re.escape(sampled)}$")
        self.assertRegex(text, rf"(?m)^counted +{re.escape(counted)}$")
        self.assertIn(f"jprof report {combined};", text)
        root = json.loads(self.run_jprof("info", combined, "--format", "json"))
        self.assertEqual(root["mode"], "combined")
        self.assertEqual(root["runs"], [{"role": "sampled", "profile": sampled},
                                        {"role": "counted", "profile": counted}])

    def test_compare_uses_a_sampled_run_of_a_combined_profile(self):
        combined, counted, sampled = self.combine()
        expected = self.run_jprof("compare", counted, sampled)
        self.assertEqual(self.run_jprof("compare", counted, combined), expected)
        self.assertIn(f"compare of {sampled}", self.run_jprof("compare", combined))

    def test_help_lists_combined(self):
        text = self.run_jprof("report", "--help")
        self.assertRegex(text, r"(?m)^ +combined  a combined profile")
        self.assertIn("jprof report app.jprof", text)
        self.assertIn("did you mean 'combined'", self.run_jprof("report", "combind", status=2))

    def test_a_table_is_that_of_the_counted_run(self):
        combined, _, sampled = self.combine()
        path = os.path.join(sampled, "meta.json")
        with open(path, encoding="utf-8") as file:
            meta = json.load(file)
        meta["fingerprint"] = {"cpu": "c", "metrics": "samples"}  # of what it measures itself
        with open(path, "w", encoding="utf-8") as file:
            json.dump(meta, file)
        table = self.table("c", "fits.json")
        self.assertIn("I:app.Main.run()",
                      self.run_jprof("report", "combined", combined, "--table", table))

    def check(self, *words, status=0):
        done = subprocess.run([JPROF, "calibrate", "--check", *words], cwd=self.folder,
                              capture_output=True, text=True, env={"HOME": self.folder},
                              timeout=600)
        self.assertEqual(done.returncode, status, done)
        return done.stdout if status == 0 else done.stderr

    def test_check_prints_the_overhead_that_samples_show(self):
        combined, counted, sampled = self.combine()
        table = self.table("c", "fits.json", repeat=5000)  # hardly known: samples say more
        text = self.check(combined, "--output", table)
        self.assertIn("60 samples of one run, in 1 methods; 0.0 % of the time", text)
        self.assertRegex(text, r"time +counted 70000 ns; sampled 60000 ns: 10000 ns more")
        self.assertRegex(text, r"(?m)^Ex-i-Ex-T +1 +1000\.00 +[2-9]\d\d\d\.")
        self.assertEqual(text, self.check(counted, sampled, "--output", table).replace(
            counted, os.path.join(combined, "counted")))

    def test_check_names_what_is_missing(self):
        combined, counted, sampled = self.combine()
        self.assertIn("run jprof calibrate", self.check(combined, status=1))
        self.assertIn("is no combined profile: name the sampled profiles",
                      self.check(counted, status=2))
        os.remove(os.path.join(combined, "runs.json"))
        self.assertIn("is no combined profile", self.check(combined, status=2))

    def test_refit_is_used_and_said(self):
        combined, counted, sampled = self.combine()
        table = self.table("c", "fits.json", repeat=5000)  # hardly known: samples say more
        self.profile = counted
        trained = self.report("--table", table)
        self.assertNotIn("refitted", trained)
        refitted = self.report("--table", table, f"--refit={sampled}")
        self.assertIn("refitted to 60 samples of one run", refitted)
        removed = lambda *more: json.loads(
            self.report("--table", table, "--format", "json", *more))["metrics"][0]["removed"]
        self.assertGreater(removed(f"--refit={sampled}"), removed())
        self.assertIn("is no combined profile", self.report("--refit", status=2))
        self.profile = combined
        self.assertIn("refitted to 60 samples of one run",
                      self.report("--table", table, "--refit"))
        self.report("--refit", "--uncalibrated", status=2)

    def test_a_combined_profile_takes_no_other_samples(self):
        self.profile, _, sampled = self.combine()
        for named in (sampled, "yes"):
            said = self.report(f"--refit={named}", status=2)
            self.assertIn(f"which has samples of its own: leave out '{named}'", said)

    def test_a_combined_profile_is_refitted_to_its_samples(self):
        combined, counted, _ = self.combine()
        table = self.table("c", "fits.json", repeat=5000)  # hardly known: samples say more
        removed = lambda report, profile, *more: json.loads(self.run_jprof(
            "report", report, profile, "--table", table, "--format", "json",
            *more))["metrics"][0]["removed"]
        trained = removed("log-rt", counted)
        for report in ("log-rt", "methods"):
            self.assertGreater(removed(report, combined), trained)
            self.assertEqual(removed(report, combined), removed(report, combined, "--refit"))
            self.assertEqual(removed(report, combined, "--refit=no"), trained)
        self.profile = combined
        for words in (("--table", table), ("--table", table, "--refit")):
            self.assertRegex(self.report(*words), r"refitted to 60 samples of one run of the "
                             r"unmodified program:\s+\d+\.\d\d times "
                             r"\(-?\d+\.\d\d to \d+\.\d\d\)\s+what the table would remove")
        self.assertNotIn("refitted", self.report("--table", table, "--refit=no"))
        self.assertNotIn("refitted", self.report("--uncalibrated"))
        factor = json.loads(self.report("--table", table, "--format", "json"))["profile"][
            "refit_factor"]
        self.assertLess(factor["low"], factor["value"])
        self.assertLess(factor["value"], factor["high"])

    def test_samples_of_another_program_do_not_refit(self):
        combined, _, sampled = self.combine()
        shutil.rmtree(sampled)
        made.profile(sampled, class_name="other/Main", mode="scs", method_flags=1, self_time=60,
                     metrics=[self.SAMPLES])
        said = self.run_jprof("report", "methods", combined, "--table",
                              self.table("c", "fits.json"), "--format", "json")
        facts = {fact["name"]: fact["text"] for fact in json.loads(said)["quality"]}
        self.assertIn("the costs are as trained", facts["not_refitted"])

    def test_no_more_is_removed_than_a_method_has(self):
        """20,000 calls of 500 ns, from which a table would take 1,000 ns each. It takes as much from
        the thread that makes them, which had none: that is too far off to be more than an
        outlier."""
        self.profile = made.profile(os.path.join(self.folder, "tight.jprof"), method_flags=8,
                                    calls=20_000, self_time=10_000_000)
        table = self.table("c", "fits.json")
        report = json.loads(self.report("--table", table, "--format", "json"))
        metric = report["metrics"][0]
        self.assertEqual([lowered["type"] for lowered in metric["lowered"]], ["I"])
        self.assertAlmostEqual(metric["lowered"][0]["factor"], 0.5, delta=0.05)
        self.assertAlmostEqual(metric["removed"], 30_000_000, delta=1_000_000)
        self.assertIn("table_too_large", [fact["name"] for fact in report["quality"]])
        metric = json.loads(self.report("--table", table, "--format", "json", "--refit=no"))[
            "metrics"][0]
        self.assertEqual(metric["removed"], 40_000_000)
        self.assertNotIn("lowered", metric)
        self.assertIn("too large for this program", self.report("--table", table))

    def test_threads_of_a_combined_profile_are_merged(self):
        combined, _, _ = self.combine()
        said = self.run_jprof("report", "log-rt", combined, "--threads", "separate", status=2)
        self.assertIn("the threads of a combined profile are merged", said)
        self.assertIn("P-CUM/CALL",
                      self.run_jprof("report", "log-rt", combined, "--threads", "merged"))


def listed_options(suffix=""):
    """Returns report -> its options, of the table of docs/REPORTS.md, without --format."""
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/REPORTS.md")
    with open(page, encoding="utf-8") as file:
        table = re.search(r"(?m)^\| report \| options \|\n.*\n((?:\|.*\n)+)", file.read()).group(1)
    rows = re.findall(rf"(?m)^\| ([\w-]+){re.escape(suffix)} \| (.*) \|$", table)
    return {report: set(re.findall(r"--[\w-]+", options)) - {"--format"}
            for report, options in rows}


class Options(unittest.TestCase):
    """Tries each option with each report: it is refused before anything is opened, or accepted, as
    the table of docs/REPORTS.md states."""
    OPTIONS = listed_options()
    STACKS = listed_options(" `--format collapsed`")
    VALUES = {"--threads": "merged", "--sort": "calls", "--min-percent": "1", "--depth": "1",
              "--metric": "time", "--static-letters": None, "--cumulative": None, "--raw": None,
              "--refit": None, "--table": "t.json", "--uncalibrated": None,
              "--force": None, "--top": "1", "--function": "x", "--tid": "1", "--listing": None,
              "--out": "x.html", "--all": None, "--names": "short", "--legend": None,
              "--width": "80", "--no-pager": None, "--contexts": None,
              "--from": "x", "--to": "y", "--by": "site", "--source-path": ".",
              "--call-sites": None, "--window": "..1s"}

    def said(self, *words):
        done = subprocess.run([JPROF, "report", *words], capture_output=True, text=True,
                              timeout=600)
        self.assertIn(done.returncode, (1, 2), done)
        return done.stderr

    def check(self, reports, *more):
        self.assertIn("log-rt", reports)
        for report, options in reports.items():
            for option, value in self.VALUES.items():
                words = [report, "nowhere.jprof", option, *([value] if value else []), *more]
                if option == "--force":
                    words += ["--table", "t.json"]
                said = self.said(*words)
                name = " ".join([report, *more])
                if option in options:
                    self.assertNotIn("has no", said.replace("has no recording", ""), words)
                    self.assertIn("nowhere", said, words)
                else:
                    self.assertRegex(said, f"^jprof: report {name} has no --", words)
                    self.assertEqual(said.count("\n"), 1, said)

    def test_a_report_refuses_what_it_does_not_have(self):
        self.check(self.OPTIONS)

    def test_and_so_do_collapsed_stacks(self):
        self.check(self.STACKS, "--format", "collapsed")

    def test_the_help_has_no_other_option(self):
        text = subprocess.run([JPROF, "report", "--help"], capture_output=True, text=True,
                              timeout=600).stdout
        listed = set(re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", text))
        self.assertEqual(listed - {"--help", "--format"}, set(self.VALUES))

    def test_values_are_checked_for_each_report(self):
        for report, options in self.OPTIONS.items():
            for option in {"--sort", "--threads"} & options:
                self.assertIn("'nonsense' is unknown",
                              self.said(report, "nowhere", option, "nonsense"))
            if report != "html":
                self.assertIn("'nonsense' is unknown",
                              self.said(report, "nowhere", "--format", "nonsense"))
        self.assertIn("is not printed as collapsed", self.said("methods", "nowhere", "--format", "collapsed"))
        self.assertIn("--force", self.said("log-rt", "nowhere", "--force"))


if __name__ == "__main__":
    unittest.main()
