#!/usr/bin/env python3
"""Tests what limits a recording (docs/TRIGGERS.md): --within and --after, and what a program starts,
stops and marks. The calls of the program (limits/Limits.java) are known, and a recording without
limits has them too: what is below a method there is all that is recorded within it.

  within_test.py JPROF LABEL_JAR HEADERS CC [TEST...]
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import child
import jvms

HERE = os.path.dirname(os.path.abspath(__file__))
JPROF, JAR, HEADERS, CC = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
JDKS = jvms.needed_jdks()
EVERY_TREE = (("callflow",), ("calltree", "--counter", "probe"), ("calltree", "--call-sites"))


class Known(collections.Counter):
    """Path -> calls: what Limits.java calls, slowly."""

    def call(self, *path):
        self[path] += 1

    def work(self, *path):
        self.call(*path, "work")
        self.call(*path, "work", "leaf")
        self.call(*path, "work", "leaf")

    def both(self, *path):
        self.call(*path, "both")
        self.call(*path, "both", "leaf")

    def request(self, depth, fails, *path):
        path = (*path, "request")
        self.call(*path)
        self.work(*path)
        self.both(*path)
        if depth > 0:
            self.request(depth - 1, False, *path)
        self.both(*path)
        if fails:
            self.call(*path, "thrower")

    def requests(self, numbers):
        for i in numbers:
            self.request(i % 3, i % 5 == 0)
        return self

    def phase(self, count, *path):
        self.call(*path, "phase")
        for _ in range(count):
            self.work(*path, "phase")
        return self


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof-within-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.env = child.own_environment(cls.folder)
        child.run([JDKS[0].tool("javac"), "--release", "17", "-cp", JAR, "-d", cls.folder,
                   os.path.join(HERE, "limits", "Limits.java")], check=True)

    def setUp(self):
        self.profile = os.path.join(self.folder, "p.jprof")
        self.addCleanup(shutil.rmtree, self.profile, ignore_errors=True)

    def jprof(self, *words, status=0):
        done = child.run([JPROF, *words], 240, cwd=self.folder, env=self.env)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def command(self, jdk, *program, flags=()):
        return [*jdk.java(*flags), "-cp", f"{JAR}:{self.folder}", "Limits", *map(str, program)]

    def record(self, jdk, how, *program, flags=(), status=0):
        shutil.rmtree(self.profile, ignore_errors=True)
        done = self.jprof(*how, "-o", self.profile, "--", *self.command(jdk, *program, flags=flags),
                          status=status)
        self.assertIn("done", done.stdout)
        return done

    def tree(self):
        return json.loads(self.jprof("report", "log-rt", "--format", "json", "--threads", "merged",
                                     self.profile).stdout)

    def calls(self, below=()):
        """Path -> calls, of the program's methods that no method of the JDK has called. With `below`,
        paths begin with the outermost call of that method."""
        sums = collections.Counter()
        for thread in self.tree()["threads"]:
            paths = {}
            for node in thread["nodes"]:
                if node["level"] == 0:
                    paths[node["id"]] = ()
                    continue
                name = node["name"].split("(")[0].removeprefix("Limits.")
                above = paths.get(node["parent"])
                ours = node["name"].startswith(("Limits.", "label "))
                if below and above == ():
                    path = (name,) if name == below else ()
                else:
                    path = (*above, name) if above is not None and ours else None
                paths[node["id"]] = path
                if path:
                    sums[path] += node["calls"]
        return sums

    def assert_whole(self):
        """Each call has ended, and nothing was lost."""
        text = self.jprof("info", self.profile).stdout
        lines = dict(line.split(None, 1) for line in text.splitlines() if " " in line.strip())
        entered, exited = lines["calls"].replace("(", "").split()[:2]
        self.assertEqual(entered, exited, text)
        self.assertIn("nothing", lines["lost"], text)

    def assert_calls(self, found, expected):
        self.assertEqual(dict(found - expected), {}, "too many")
        self.assertEqual(dict(expected - found), {}, "missing")


class Within(Case):
    def test_is_the_subtree_of_a_whole_recording(self):
        expected = Known()
        for _ in range(8):
            expected.requests(range(400))
        for number, jdk in enumerate(JDKS):
            self.record(jdk, ("callflow",), "threads", 400)
            whole = self.calls(below="request")
            self.assert_calls(whole, expected)
            for how in (EVERY_TREE if number == 0 else EVERY_TREE[:1]):
                self.record(jdk, (*how, "--within", "Limits.request"), "threads", 400)
                self.assert_calls(self.calls(), whole)
                self.assert_whole()

    def test_call_sites(self):
        """Calls of the outermost method itself have their sites, too."""
        self.record(JDKS[-1], ("calltree", "--call-sites", "--within", "Limits.request"), "one", 30)
        text = self.jprof("report", "log-rt", "--call-sites", "--all", self.profile).stdout
        lines = [line for line in text.splitlines()
                 if line.startswith(" 2 ") and "Limits.both" in line]
        self.assertEqual([int(line.split()[1]) for line in lines], [30, 30], text)
        self.assertTrue(all("(line " in line for line in lines), text)

    def test_modes_of_the_jvm(self):
        expected = Known().requests(range(300))
        for flags in (["-Xint"], ["-XX:TieredStopAtLevel=1"], ["-XX:-TieredCompilation"]):
            self.record(JDKS[-1], ("callflow", "--within", "Limits.request"), "one", 300,
                        flags=flags)
            self.assert_calls(self.calls(), expected)
            self.assert_whole()

    def test_events_of_jvmti(self):
        self.record(JDKS[0], ("calltree", "--probe", "jvmti", "--within", "Limits.request"), "one",
                    60)
        self.assert_calls(self.calls(), Known().requests(range(60)))

    def test_several_methods(self):
        """Of two methods, of which one calls the other, the outer one is the root."""
        self.record(JDKS[-1], ("callflow", "--within", "Limits.request,Limits.work,Limits.thrower"),
                    "one", 30)
        expected = Known().requests(range(30))
        for _ in range(60):  # outside()
            expected.work()
        self.assert_calls(self.calls(), expected)
        self.assert_whole()

    def test_virtual_threads(self):
        jdks = [jdk for jdk in JDKS if jdk.major >= 21]
        if not jdks:
            self.skipTest("no JDK with virtual threads")
        expected = Known()
        for _ in range(40 * 30):
            expected.call("parked")
            expected.work("parked")
            expected.both("parked")
        for jdk in jdks:
            self.record(jdk, ("callflow", "--within", "Limits.parked"), "virtual", 30)
            self.assert_calls(self.calls(), expected)
            self.assert_whole()

    def test_says_so(self):
        self.record(JDKS[-1], ("callflow", "--within", "Limits.request"), "one", 30)
        self.assertIn("only within Limits.request", self.jprof("info", self.profile).stdout)
        text = self.jprof("report", "log-rt", self.profile).stdout
        self.assertIn("limited   only within Limits.request", text)
        self.assertEqual(self.tree()["profile"]["limited"], "only within Limits.request")

    def test_no_such_method(self):
        done = self.record(JDKS[-1], ("callflow", "--within", "Limits.reqest"), "one", 30, status=2)
        self.assertIn("no method matched --within Limits.reqest; did you mean Limits.request?",
                      done.stderr)

    def test_time_outside_is_not_in_the_tree(self):
        """The thread rows have no time of their own, and calibration takes none from them."""
        self.record(JDKS[-1], ("callflow", "--within", "Limits.brief"), "brief", 300_000)
        expected = Known({("brief",): 300_000, ("brief", "tiny"): 300_000})
        self.assert_calls(self.calls(), expected)
        for thread in self.tree()["threads"]:
            row = thread["nodes"][0]
            self.assertEqual((row["raw"], row["base"]), ([0], [0]))


class After(Case):
    def test_leaves_out_the_first_calls(self):
        for jdk in JDKS:
            for how in EVERY_TREE[:2]:
                self.record(jdk, (*how, "--within", "Limits.request", "--after", "37"), "one", 200)
                self.assert_calls(self.calls(), Known().requests(range(37, 200)))
                self.assert_whole()
        self.assertIn("only within Limits.request, without the first 37 of 200 calls",
                      self.jprof("info", self.profile).stdout)

    def test_counts_the_calls_of_all_threads(self):
        self.record(JDKS[-1], ("calltree", "--within", "Limits.request", "--after", "1234"),
                    "threads", 400)
        self.assertEqual(self.calls()[("request",)], 8 * 400 - 1234)
        self.assert_whole()

    def test_more_than_there_are(self):
        done = self.record(JDKS[-1], ("callflow", "--within", "Limits.request", "--after", "31"),
                           "one", 30, status=2)
        self.assertIn("were called 30 times, and --after leaves out 31", done.stderr)


class Trace(Case):
    def events(self):
        """The events of the trace, in order."""
        text = json.loads(self.jprof("report", "log-gen", "--format", "json", self.profile).stdout)
        return next(value for value in text.values()
                    if isinstance(value, list) and value and "event" in value[0])

    def calls(self, below=()):
        """Path -> calls, of the program's methods and marks, as in a tree."""
        sums, stacks = collections.Counter(), collections.defaultdict(list)
        for event in self.events():
            stack = stacks[event["tid"]]
            if event["event"] == "entry":
                stack.append(event["name"])
                ours = [name.startswith(("Limits.", "label ")) for name in stack]
                if all(ours):
                    sums[tuple(name.split("(")[0].removeprefix("Limits.") for name in stack)] += 1
            elif stack:
                self.assertEqual(stack.pop(), event["name"])
        self.assertEqual([stack for stack in stacks.values() if stack], [])
        return sums

    def test_within(self):
        for jdk in JDKS:
            self.record(jdk, ("trace", "--within", "Limits.request", "--after", "2"), "one", 100)
            self.assert_calls(self.calls(), Known().requests(range(2, 100)))

    def test_marks_are_at_their_place(self):
        self.record(JDKS[-1], ("trace", "--within", "Limits.marking"), "marks", 5)
        order = [event["name"].split("(")[0] for event in self.events()
                 if event["event"] == "entry" and
                 event["name"].startswith(("Limits.marking", "Limits.work", "label "))]
        self.assertEqual(order, ["Limits.marking",
                                 *["Limits.work", "label mark half", "Limits.work"] * 5])
        self.assertEqual(self.calls()[("marking", "label mark half")], 5)

    def test_the_time_between(self):
        for jdk in JDKS:
            self.record(jdk, ("trace", "--nostart"), "between", 90)
            self.assert_calls(self.calls(), Known().phase(90) + Known().phase(3))


class Program(Case):
    def test_the_time_between(self):
        for jdk in JDKS:
            for how in EVERY_TREE:
                self.record(jdk, (*how, "--nostart"), "between", 90)
                self.assert_calls(self.calls(), Known().phase(90) + Known().phase(3))
                self.assertIn("paused at first, started twice",
                              self.jprof("info", self.profile).stdout)
                self.assertIn("nothing", self.jprof("info", self.profile).stdout)

    def test_a_frame_that_goes_on(self):
        self.record(JDKS[-1], ("callflow",), "pausing", 40)
        found = collections.Counter(
            {path[path.index("phase"):]: n for path, n in self.calls().items() if "phase" in path
             and path[0] == "phase"})
        self.assert_calls(found, Known().phase(41))
        self.assertEqual(self.calls()[("main", "pausing", "phase", "work")], 40)
        self.assertIn("stopped once", self.jprof("info", self.profile).stdout)

    def test_all_threads(self):
        self.record(JDKS[-1], ("callflow", "--nostart"), "among", 500)
        expected = Known({("recordedPhase",): 8})
        for _ in range(8):
            expected.phase(500, "recordedPhase")
        found = self.calls()
        self.assert_calls(collections.Counter({p: n for p, n in found.items()
                                               if p[0] == "recordedPhase"}), expected)
        self.assertEqual([p for p in found if p[0] == "phase"], [])

    def test_within_and_started(self):
        self.record(JDKS[-1], ("callflow", "--nostart", "--within", "Limits.work"), "between", 90)
        expected = Known()
        for _ in range(93):
            expected.work()
        self.assert_calls(self.calls(), expected)

    def test_marks_are_counted(self):
        for jdk in JDKS:
            self.record(jdk, ("callflow",), "marks", 123)
            found = self.calls()
            self.assertEqual(found[("main", "marking", "label mark half")], 123)
            self.assertEqual(found[("main", "marking", "work")], 246)

    def test_never_started(self):
        """Of a recording that never began it is not known which methods there are."""
        for how in (("callflow",), ("callflow", "--within", "Limits.request"),
                    ("callflow", "--methods", "Limits"),
                    ("trace", "--slow", "Limits.request:1ms")):
            done = self.record(JDKS[-1], (*how, "--nostart"), "one", 10, status=2)
            self.assertIn("neither the program nor `jprof ctl` started the recording", done.stderr)
            self.assertNotIn("matched", done.stderr)

    def test_samples(self):
        """Samples are taken between start and stop, and calls are all counted."""
        self.record(JDKS[-1], ("scs", "--nostart"), "samples")
        names = {node["name"].split("(")[0] for thread in self.tree_of("scs")["threads"]
                 for node in thread["nodes"]}
        self.assertIn("Limits.recordedPhase", names)

    def tree_of(self, report):
        return json.loads(self.jprof("report", report, "--format", "json", self.profile).stdout)

    def test_ctl(self):
        """A recording of calls that begins paused is started from outside."""
        shutil.rmtree(self.profile, ignore_errors=True)
        env = {**self.env, "XDG_RUNTIME_DIR": self.folder}
        with child.running([JPROF, "callflow", "--nostart", "-o", self.profile, "--",
                            *self.command(JDKS[-1], "one", 3_000_000)], cwd=self.folder, env=env,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
            answer = ""
            end = time.monotonic() + 60
            while "recording" not in answer and time.monotonic() < end:
                time.sleep(0.2)
                pids = child.run([JPROF, "ctl"], env=env).stdout.split()
                if pids and pids[0].isdigit():
                    answer = child.run([JPROF, "ctl", pids[0], "status"], env=env).stdout
            self.assertIn("no", answer)
            self.assertEqual(child.run([JPROF, "ctl", pids[0], "start"], env=env).stdout, "started\n")
            end = time.monotonic() + 60
            while not self.calls()[("serve",)] and time.monotonic() < end:
                time.sleep(0.2)
            self.assertEqual(child.run([JPROF, "ctl", pids[0], "stop"], env=env).stdout, "stopped\n")
            program.kill()
            program.wait()
        self.assertGreater(self.calls()[("serve",)], 0)


class Refused(Case):
    def test_wrong_use(self):
        for how, says in (
                (("calltree", "--counter", "woven", "--within", "a.B"), "--counter probe"),
                (("calltree", "--counter", "woven", "--nostart"), "--counter probe"),
                (("calltree", "--sample", "--within", "a.B"), "remove SAMPLE (--sample)"),
                (("callflow", "--after", "3"), "--after needs --within"),
                (("callflow", "--within=-a.B"), "name the methods to record"),
                (("objects", "--within", "a.B"), "--within")):
            done = self.jprof(*how, "--", "java", "-version", status=2)
            self.assertIn(says, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


class Functions(Case):
    """The same for C with hooks."""
    SOURCE = r'''
#include <jprof-label.h>
#include <stdio.h>
static volatile int sink;
__attribute__((noinline)) void leaf(int i) { sink += i; }
__attribute__((noinline)) void work(int i) { leaf(i); leaf(i); }
__attribute__((noinline)) void phase(int n) { for (int i = 0; i < n; ++i) work(i); }
int main(void) {
  phase(10); jprof_start(); phase(20); jprof_mark_here("end"); jprof_stop(); phase(30);
  puts("done");
  return 0;
}
'''

    def test_the_time_between(self):
        program = os.path.join(self.folder, "c")
        with open(program + ".c", "w", encoding="utf-8") as f:
            f.write(self.SOURCE)
        child.run([CC, "-O1", "-finstrument-functions", "-I", HEADERS, program + ".c", "-o",
                   program], check=True)
        for options, expected in ((("--nostart",), 20), ((), 30)):
            shutil.rmtree(self.profile, ignore_errors=True)
            done = self.jprof("callflow", *options, "-o", self.profile, "--", program)
            self.assertIn("done", done.stdout)
            sums = collections.Counter()
            for thread in self.tree()["threads"]:
                for node in thread["nodes"]:
                    sums[node["name"].split("(")[0].split(".")[-1]] += node["calls"]
            self.assertEqual((sums["work"], sums["leaf"]), (expected, 2 * expected), sums)
            marks = [n["calls"] for t in self.tree()["threads"] for n in t["nodes"]
                     if n["name"] == "label mark end"]
            self.assertEqual(marks, [1])


if __name__ == "__main__":
    unittest.main()
