#!/usr/bin/env python3
"""Tests `jprof view` and `jprof report html`: the page's data against the text reports, and the
page in Chromium (skipped where it is not installed).

  view.py JPROF NPM-FOLDER TRAINERS.JAR NODE
"""
import collections
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import heap_made
import made
from page import Page

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
import jvms  # noqa: E402

JPROF, NPM, JAR, NODE = map(os.path.abspath, (sys.argv.pop(1) for _ in range(4)))


class View(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof view "))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.env = {key: value for key, value in os.environ.items()
                   if key not in ("DISPLAY", "WAYLAND_DISPLAY", "JAVA_TOOL_OPTIONS", "JPROFOPTS")}
        cls.env["XDG_DATA_HOME"] = os.path.join(cls.folder, "data")

    def path(self, name):
        return os.path.join(self.folder, name)

    def jprof(self, *words, status=0, **env):
        done = child.run([JPROF, *words], 240, cwd=self.folder, env={**self.env, **env})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def page(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return Page(file.read())

    def check_tree(self, page):
        """Parents come first, and every column has one value for each row."""
        rows = page.header["trees"][0]["rows"]
        tree = page.tree()
        for name in ("parent", "method", "type"):
            self.assertEqual(len(tree[name]), rows)
        for row, parent in enumerate(tree["parent"]):
            self.assertTrue(parent == 0xffffffff or parent < row)
        self.assertLess(max(tree["method"]), len(page.names))

    def browse(self, name, *more, script="browser"):
        """The page in Chromium, used as a person does."""
        # They are kept, to be looked at.
        shots = os.path.join(os.path.dirname(NPM), "screenshots", script)
        shutil.rmtree(shots, ignore_errors=True)
        done = child.run([NODE, os.path.join(NPM, "test", script + ".mjs"), self.path(name),
                          "--screenshots", shots, *more], 240)
        if done.returncode == 77:
            self.skipTest(done.stdout + done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(len(os.listdir(shots)), 3)

    def load(self, name, *expected):
        """Loads the page in Chromium: no fault, no dialog, and the element has the text."""
        done = child.run([NODE, os.path.join(NPM, "test", "load.mjs"), self.path(name), *expected],
                         120)
        if done.returncode == 77:
            self.skipTest(done.stdout + done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_tree_has_what_the_report_has(self):
        made.profile(self.path("tree.jprof"))
        done = self.jprof("report", "html", "tree.jprof")
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr, "jprof: view:    tree.html\n"
                                      "jprof: next:    open tree.html in a browser\n")
        page = self.page("tree.html")
        self.check_tree(page)
        self.assertEqual(page.header["kind"], "tree")
        self.assertEqual(page.names, ["main (tid 77)", "app/Main.run()V"])
        tree = page.tree()
        self.assertEqual(tree["calls"], (0, 1))
        self.assertEqual(tree["self"], [(5, 70000)])
        self.assertEqual(bytes(tree["type"]), b"TI")
        self.assertTrue(any("UNCALIBRATED" in note for note in page.header["notes"]))
        self.assertEqual([page.header["quality"][0][key] for key in ("name", "severity", "value")],
                         ["uncalibrated", "major", 1])
        self.load("tree.html", "hottest", "Main.run")

    def test_damage_and_losses_are_on_the_first_screen(self):
        made.profile(self.path("cut.jprof"), node_count=9)
        self.jprof("report", "html", "cut.jprof", "-o", "cut.html")
        self.assertTrue(any("damaged" in loss for loss in self.page("cut.html").header["losses"]))

    def test_names_cannot_end_the_data_or_a_line(self):
        made.profile(self.path("evil.jprof"), thread=b"</script><b>\n\x1b[31m",
                     class_name="</script><script>alert(1)</script>\n", name=b"\xff\xfe")
        self.jprof("report", "html", "evil.jprof", "-o", "evil.html")
        page = self.page("evil.html")
        self.assertEqual(len(page.names), 2)
        self.assertNotIn("\x1b", page.names[0])
        self.load("evil.html", "title", page.header["title"])

    def test_two_profiles(self):
        made.profile(self.path("old.jprof"), self_time=70)
        made.profile(self.path("new.jprof"), self_time=90)
        self.jprof("view", "old.jprof", "new.jprof", "-o", "both.html")
        page = self.page("both.html")
        self.assertEqual(page.header["kind"], "compare")
        self.assertEqual([tree["name"] for tree in page.header["trees"]], ["old", "new"])
        self.assertEqual([sum(page.tree(side)["self"][0]) for side in (0, 1)], [75, 95])
        self.assertTrue(all(metric["calibrated"] for metric in page.header["metrics"]))
        self.load("both.html", "kind", "comparison")

    def test_a_trace_has_the_times_of_its_calls(self):
        # run() is called again from itself; then two events are missing.
        made.trace(self.path("t.jprof"), [
            (0, 0, [(1, 0, 100), (1, 0, 10), (1, 1, 20), (1, 1, 3)]),
            (6, 140, [(1, 0, 5), (1, 1, 40)])])
        self.jprof("view", "t.jprof", "-o", "t.html")
        page = self.page("t.html")
        times = page.header["timeline"]
        calls = {key: page.column(times["slices"][key])
                 for key in ("track", "depth", "begin", "length", "method")}
        self.assertEqual(times["tracks"], page.header["threads"])
        self.assertEqual((calls["track"], calls["depth"]), ((0, 0, 0), (0, 0, 1)))
        self.assertEqual(calls["length"], (33, 40, 20))
        first = calls["begin"][0]
        self.assertEqual([begin - first for begin in calls["begin"]], [0, 45, 10])
        self.assertEqual({page.names[method] for method in calls["method"]}, {"app/Main.run()V"})
        marks = times["marks"]
        self.assertEqual([page.names[text] for text in page.column(marks["text"])],
                         ["2 events are missing"])
        self.assertEqual(times["end"] - first, 85)
        tree = page.tree()
        self.check_tree(page)
        self.assertEqual((tree["parent"], tree["calls"]), ((0xffffffff, 0, 1), (0, 2, 1)))
        self.assertEqual(tree["self"][0][1:], (13 + 40, 20))
        self.load("t.html", "tab-time", "Time")

    def test_calls_that_begin_together_are_in_the_order_of_their_ends(self):
        calls = 3 * [(1, 0, 0), (1, 1, 0)] + [(1, 0, 0), (1, 1, 10)]
        made.trace(self.path("zero.jprof"), [(0, 0, 30 * calls)])
        self.jprof("view", "zero.jprof", "-o", "zero.html")
        page = self.page("zero.html")
        slices = page.header["timeline"]["slices"]
        begins, lengths = page.column(slices["begin"]), page.column(slices["length"])
        ends = [begin + length for begin, length in zip(begins, lengths)]
        self.assertEqual(len(ends), 120)
        self.assertEqual(ends, sorted(ends))

    def test_a_trace_without_times_is_refused(self):
        made.trace(self.path("c.jprof"), [(0, 0, [(1, 0, 1), (1, 1, 1)])],
                   metrics=[{"name": "INS", "unit": "events", "kind": "count"}])
        done = self.jprof("view", "c.jprof", "-o", "c.html", status=2)
        self.assertIn("jprof trace --metrics time", done.stderr)

    def test_a_recording_of_tprof(self):
        made.recording(self.path("tp.jprof"), made.record(made.COMM, b"app", pid=7, tid=7, time=1),
                       *[made.record(made.SAMPLE, pid=7, tid=7, time=2 + i, address=0x1000)
                         for i in range(5)], lost=3)
        self.jprof("report", "html", "tp.jprof", "-o", "tp.html")
        page = self.page("tp.html")
        self.assertEqual(page.header["kind"], "tprof")
        self.check_tree(page)
        self.assertEqual(sum(page.tree()["self"][0]), 5)
        self.assertEqual(bytes(page.tree()["type"])[:4], b"PTMS")
        self.assertEqual(page.header["losses"], ["3 samples lost"])
        self.assertIn("3 samples were lost", [fact["text"] for fact in page.header["quality"]])
        self.load("tp.html", "losses", "3 samples lost")

    def test_a_recording_without_samples_is_named(self):
        made.recording(self.path("none.jprof"),
                       made.record(made.COMM, b"app", pid=7, tid=7, time=1))
        done = self.jprof("report", "html", "none.jprof", status=2)
        self.assertIn("no samples were taken", done.stderr)

    def test_a_merged_profile_shows_what_its_inputs_lack(self):
        made.profile(self.path("whole.jprof"))
        made.profile(self.path("half.jprof"), node_count=9)
        self.jprof("merge", "whole.jprof", "half.jprof", "-o", "m.jprof")
        self.jprof("report", "html", "m.jprof", "-o", "m.html")
        self.assertTrue(any(loss.startswith("half.jprof: damaged: ")
                            for loss in self.page("m.html").header["losses"]))

    def test_a_failure_leaves_the_file_as_it_was(self):
        made.profile(self.path("one.jprof"), class_name="app/One")
        made.profile(self.path("two.jprof"), class_name="other/Two")
        made.write(self.folder, "kept.html", b"mine")
        self.jprof("view", "one.jprof", "two.jprof", "-o", "kept.html", status=2)
        with open(self.path("kept.html"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        done = self.jprof("view", "one.jprof", "-o", "one.jprof/nodes", status=2)
        self.assertIn("is inside the profile", done.stderr)

    def test_view_without_a_display_prints_the_place(self):
        made.profile(self.path("shown.jprof"))
        done = self.jprof("view", "shown.jprof")
        place = re.match(r"jprof: view:    (\S.*/shown\.html)\n", done.stderr)
        self.assertTrue(place, done.stderr)
        path = os.path.join(self.folder, place[1])
        self.assertEqual(os.stat(os.path.dirname(path)).st_mode & 0o77, 0)
        shutil.rmtree(os.path.dirname(path))
        self.assertIn(f"jprof: next:    open {place[1]} in a browser", done.stderr)

    def test_view_opens_the_browser_of_a_desktop(self):
        made.profile(self.path("opened.jprof"))
        tools = self.path("tools")
        opener = made.write(tools, "xdg-open", b'#!/bin/sh\nprintf %s "$1" > "$OPENED"\n')
        os.chmod(opener, 0o755)
        self.jprof("view", "opened.jprof", DISPLAY=":9", OPENED=self.path("asked"),
                   PATH=tools + ":" + self.env["PATH"])
        with open(self.path("asked"), encoding="utf-8") as file:
            path = file.read()
        self.assertTrue(path.endswith("/opened.html"), path)
        shutil.rmtree(os.path.dirname(path))

    def test_wrong_use_is_named(self):
        made.profile(self.path("a.jprof"))
        for words, says in (
                (("view", "nothing.jprof", "-o", "x.html"), "nothing.jprof"),
                (("view", "a.jprof", "a.jprof", "a.jprof", "-o", "x.html"), "or two to compare"),
                (("report", "html", "a.jprof", "-o", "missing/x.html"), "missing/x.html"),
                (("report", "html", "a.jprof", "--raw", "-o", "x.html"), "has no --raw"),
                (("report", "log-rt", "a.jprof", "-o", "x"), "has no --out (of: html)")):
            done = self.jprof(*words, status=2)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(says, done.stderr)
        self.assertFalse(os.path.exists(self.path("x.html")))

    def test_demo_in_chromium(self):
        """A combined profile of the demo: totals against the report, then the page in Chromium."""
        java = jvms.needed_jdks()[0].tool("java")
        self.jprof("profile", "-o", "demo.jprof", "--", java, "-cp", JAR, "Demo")
        self.jprof("view", "demo.jprof", "-o", "demo.html")
        page = self.page("demo.html")
        self.check_tree(page)
        report = self.jprof("report", "combined", "demo.jprof", "--format", "json").stdout
        rows = json.loads(report)["nodes"]
        self.assertEqual(sum(page.tree()["calls"]), sum(row["calls"] or 0 for row in rows))
        self.assertEqual(sum(page.tree()["self"][1]), sum(sum(row["samples"]) for row in rows))
        self.check_intervals(page.header["metrics"][0], rows)
        self.browse("demo.html", "--expect-hottest", "compareTo")

    def test_a_heap_dump_in_chromium(self):
        with open(self.path("app.hprof"), "wb") as file:
            file.write(heap_made.small(20000))
        done = self.jprof("view", "app.hprof", "-o", "heap.html")
        self.assertIn("next:    open heap.html in a browser", done.stderr)
        self.browse("heap.html", script="browser_heap")

    def test_objects_in_chromium(self):
        """The page has the exact totals of the report, and of each class."""
        java = jvms.needed_jdks()[0].tool("java")
        self.jprof("objects", "-o", "objects.jprof", "--", java, "-cp", JAR, "Demo")
        self.jprof("view", "objects.jprof", "-o", "objects.html")
        page = self.page("objects.html")
        self.check_tree(page)
        report = json.loads(self.jprof("report", "objects.jprof", "--format", "json").stdout)
        classes = [row for row in report["classes"] if row["method"] is None]
        tree, metrics = page.tree(), [one["name"] for one in page.header["metrics"]]
        self.assertTrue(all(one["beside"] for one in page.header["metrics"]))
        for name in ("bytes", "objects"):
            of = tree["self"][metrics.index(name)]
            self.assertEqual(sum(of), sum(row[name] for row in classes))
            sums = dict.fromkeys(page.names, 0)
            for row, method in enumerate(tree["method"]):
                sums[page.names[method]] += of[row]
            for row in classes:
                self.assertEqual(sums[row["class"]], row[name], row["class"])
        self.check_allocations(classes)
        self.browse("objects.html", script="browser_objects")

    def check_allocations(self, classes):
        """`jprof heap --profile` has the dump's and the profile's numbers of each class."""
        with open(self.path("small.hprof"), "wb") as file:
            file.write(heap_made.small())
        heap = ("heap", "small.hprof", "--profile", "objects.jprof", "--format", "json")
        rows = json.loads(self.jprof(*heap).stdout)["allocations"]
        counted = {row["class"]: row for row in classes}
        for name, jvm, live in (("java.lang.String", "java/lang/String", 100), ("byte[]", "[B", 100)):
            whole, *places = [row for row in rows if row["class"] == name]
            self.assertEqual((whole["live_objects"], whole["context"]), (live, None))
            self.assertEqual(whole["allocated_bytes"], counted[jvm]["bytes"])
            contexts = json.loads(self.jprof(*heap, "--class", name).stdout)["allocations"][1:]
            self.assertEqual(len(contexts), counted[jvm]["contexts"])
            for rows_of in (places, contexts):
                self.assertEqual(sum(row["allocated_objects"] for row in rows_of),
                                 whole["allocated_objects"])
                self.assertEqual(sum(row["allocated_bytes"] for row in rows_of),
                                 whole["allocated_bytes"])
        text = self.jprof("heap", "small.hprof", "--profile", "objects.jprof").stdout
        self.assertRegex(text, r"(?m)^ +100 +2400 +\d+ +\d+ +\d+\.\d java.lang.String$")
        made.profile(self.path("plain.jprof"))
        for words, says in ((("--profile", "plain.jprof"), "jprof objects -- java"),
                            (("--profile", "objects.jprof", "--class", "a.B"), "a.B"),
                            (("--class", "a.B"), "--profile")):
            self.assertIn(says, self.jprof("heap", "small.hprof", *words, status=2).stderr)

    def test_locks_in_chromium(self):
        """The page has the table of log-jlm, with all contexts, waits and contradicting orders."""
        jdk = jvms.needed_jdks()[0]
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e",
                              "programs")
        child.run([jdk.tool("javac"), "-d", self.folder, "-sourcepath", source,
                   os.path.join(source, "LocksKnown.java")], 240)
        self.jprof("locks", "-o", "locks.jprof", "--", jdk.tool("java"), "-cp", self.folder,
                   "LocksKnown")
        self.jprof("view", "locks.jprof", "-o", "locks.html")
        page = self.page("locks.html")
        self.check_tree(page)
        locks = json.loads(page.column(page.header["locks"]))
        report = json.loads(self.jprof("report", "log-jlm", "--contexts", "--format", "json",
                                       "locks.jprof").stdout)
        rows, counts = [], collections.Counter()
        for row in report["locks"]:
            key = row["lock"], row["type"], row["kind"]
            counts[key] += 1
            if counts[key] <= {"context": 100, "wait": 2000}.get(row["kind"], 1):
                rows.append((row["kind"], row["lock"], row["gets"], row["nonrec"], row["rec"],
                             row["slow"], row["hold_ns"] or 0, row["wait_ns"], row["context"],
                             row["owner"]))
        self.assertEqual(self.rows_of(locks, page.names), rows)
        for lock in locks["locks"]:
            key = page.names[lock["name"]], lock["type"]
            self.assertEqual(lock["contexts_all"], counts[*key, "context"])
            self.assertEqual(lock["waits_all"], counts[*key, "wait"])
        self.assertEqual(locks["cycles_all"], len(report["cycles"]))
        self.assertGreater(locks["cycles_all"], 0)
        self.browse("locks.html", script="browser_locks")

    def test_lines_of_samples(self):
        """The page has the lines of the report with a thousandth of the whole, and their source."""
        jdk = jvms.needed_jdks()[0]
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e",
                              "programs", "SourceLines.java")
        os.makedirs(self.path("src"))
        shutil.copy(source, self.path("src"))
        child.run([jdk.tool("javac"), "-g", "-d", self.folder, source], 240)
        self.jprof("scs", "-o", "lines.jprof", "--", jdk.tool("java"), "-cp", self.folder,
                   "SourceLines", "2", "1000")
        self.jprof("view", "lines.jprof", "-o", "lines.html")
        page = self.page("lines.html")
        lines = json.loads(page.column(page.header["lines"]))
        self.assertEqual(lines["metric"], page.header["metrics"][0])
        report = json.loads(self.jprof("report", "lines", "lines.jprof", "--format", "json").stdout)
        expected = [(row["method"], row["line"] or 0, row["source"] or "", row["self"],
                     row["cumulative"]) for row in report["lines"]
                    if row["line"] is not None and row["callee"] is None and row["percent"] >= 0.1]
        names = page.names
        found = [(names[method["method"]], line["line"], line["text"], line["own"], line["all"])
                 for method in lines["methods"] for line in method["lines"] if line["line"] > 0]
        self.assertEqual([(*row[:2], *row[3:]) for row in found],
                         [(*row[:2], *row[3:]) for row in expected])
        for row, wanted in zip(found, expected):
            self.assertEqual(row[2].encode(), wanted[2].encode()[:len(row[2].encode())])
        hot = [row for row in found if row[0].startswith("SourceLines.hot(")]
        self.assertTrue(any(row[2].endswith("// second") and row[3] > 0 for row in hot), hot)
        self.load("lines.html", "tab-methods", "Methods")

    def test_lines_in_chromium(self):
        """Lines with samples and calls that the tests of the page make up."""
        done = child.run([NODE, os.path.join(NPM, "test", "generate.mjs"), self.path("made.html"),
                          "--kind", "combined", "--lines"], 120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.browse("made.html", script="browser_lines")

    def test_distributions_in_chromium(self):
        """Histograms of single calls that the tests of the page make up."""
        done = child.run([NODE, os.path.join(NPM, "test", "generate.mjs"), self.path("calls.html"),
                          "--distributions"], 120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.browse("calls.html", script="browser_distributions")

    def test_timeline_in_chromium(self):
        """Stretches that the tests of the page make: recording some needs rights."""
        done = child.run([NODE, os.path.join(NPM, "test", "generate_stretches.mjs"),
                          self.path("timeline.html"), "--rows", "20000"], 120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.browse("timeline.html", script="browser_timeline")

    def test_a_program_of_optimize(self):
        java = self.path("jdk/bin/java")
        for path in (java, self.path("jdk/lib/modules")):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as file:
                file.write("#!/bin/sh\n")
        os.chmod(java, 0o755)
        self.jprof("optimize", "--agent", "jvm-heap", "--", java, "Main")
        self.jprof("optimize", "view", "-o", "optimize.html")
        self.load("optimize.html", "title", "Main")

    def test_directives_in_chromium(self):
        """Directives of each state, that the tests of the page make up."""
        done = child.run([NODE, os.path.join(NPM, "test", "generate_directives.mjs"),
                          self.path("directives.html")], 120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.browse("directives.html", script="browser_directives")

    def test_growth_in_chromium(self):
        """A result of jprof scale that the tests of the page make up."""
        done = child.run([NODE, os.path.join(NPM, "test", "generate_growth.mjs"),
                          self.path("growth.html")], 120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.browse("growth.html", script="browser_growth")

    def test_a_heat_map_in_chromium(self):
        """Counts over time that the tests of the page make up."""
        done = child.run([NODE, os.path.join(NPM, "test", "generate.mjs"), self.path("series.html"),
                          "--rows", "2000", "--series"], 120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.browse("series.html", script="browser_series")

    def rows_of(self, locks, names):
        """The rows of log-jlm, from the data of a page."""
        def path(context):
            if context is None:
                return ""
            return " < ".join(names[name] for name in locks["contexts"][context]["path"])

        def counts(one):
            return tuple(one[key] for key in ("gets", "nonrec", "rec", "slow", "hold_ns", "wait_ns"))

        return [row for lock in locks["locks"] for row in (
            ("lock", names[lock["name"]], *counts(lock), "", ""),
            *(("context", names[lock["name"]], *counts(locks["contexts"][one]), path(one), "")
              for one in lock["contexts"]),
            *(("wait", names[lock["name"]], None, None, None, wait["count"], 0, wait["time_ns"],
               path(wait["waiter"]), path(wait["owner"])) for wait in lock["waits"]))]

    def check_intervals(self, metric, rows):
        """What the page computes (uncertaintyOf in format.ts) against the report's intervals, from
        which it differs by up to 2 % where there are few samples. Where a method may have been
        inlined, the report's extend to its caller's own time."""
        whole = rows[0]["cum_ns"]["value"]
        runs = metric["between_runs"]
        checked = 0
        for row in rows:
            value, count = row["cum_ns"]["value"], sum(row["all_samples"])
            if count < 10 or row["estimated"]:
                continue
            outside = 1 - value / whole
            dispersion = (1 + (runs["dispersion"] - 1) * (1 - 10 / count)) * outside
            per_sample = value / count
            shift = dispersion * per_sample * 1.96 ** 2 / 2
            counting = math.hypot(1.96 * per_sample * math.sqrt(count * dispersion), shift)
            arm = value * math.hypot(runs["total"], runs["share"] * outside)
            high = value + math.hypot(counting + shift, arm)
            low = max(0, value - math.hypot(counting - shift, arm))  # no time is below 0
            self.assertLess(high, row["cum_ns"]["high"] + 0.02 * high, row["name"])
            self.assertGreater(low, row["cum_ns"]["low"] - 0.02 * high, row["name"])
            checked += high > row["cum_ns"]["high"] - 0.01 * high
        self.assertGreater(checked, 1)  # the whole, and what cannot be inlined


if __name__ == "__main__":
    unittest.main()
