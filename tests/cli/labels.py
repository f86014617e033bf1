#!/usr/bin/env python3
"""Tests labels (docs/LABELS.md) with programs whose calls below each label are known: in Java with
woven counting and with probes, on threads and virtual threads, and in C.

  labels.py JPROF LABEL_JAR HEADERS CC
"""
import collections
import json
import os
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, os.pardir, "e2e"))
import child  # noqa: E402
import jvms  # noqa: E402

JPROF, JAR, HEADERS, CC = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
JDKS = jvms.needed_jdks()
WOVEN = ("--counter", "woven")


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof-labels-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.env = child.own_environment(cls.folder)
        child.run([JDKS[0].tool("javac"), "--release", "17", "-cp", JAR, "-d", cls.folder,
                   os.path.join(HERE, "Labels.java")], check=True)

    def setUp(self):
        self.profile = os.path.join(self.folder, "p.jprof")
        self.addCleanup(shutil.rmtree, self.profile, ignore_errors=True)

    def jprof(self, *words, status=0):
        done = child.run([JPROF, *words], 240, cwd=self.folder, env=self.env)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def record(self, jdk, *program, how=("calltree", *WOVEN), flags=()):
        shutil.rmtree(self.profile, ignore_errors=True)
        done = self.jprof(*how, "-o", self.profile, "--", *jdk.java(*flags), "-cp",
                          f"{JAR}:{self.folder}", "Labels", *program)
        self.assertIn("done", done.stdout)
        return done

    def report(self, *options):
        return json.loads(self.jprof("report", "log-rt", "--format", "json", "--threads", "merged",
                                     *options, self.profile).stdout)

    def calls(self, below="Labels."):
        """Path -> calls, from the first method that begins with `below`, methods by their name."""
        sums = collections.Counter()
        for thread in self.report()["threads"]:
            paths = {}
            for node in thread["nodes"]:
                name = node["name"]
                if not name.startswith("label "):
                    name = name.split("(")[0]
                above = paths.get(node["parent"], ())
                path = (*above, name) if above or name.startswith(below) else ()
                paths[node["id"]] = path
                if path:
                    sums[path] += node["calls"]
        return sums

    def check(self, expected):
        """Compares the calls below the first method of each expected path."""
        sums = self.calls()
        short = collections.Counter()
        firsts = {path[0] for path in expected}
        for path, calls in sums.items():
            names = [name.removeprefix("Labels.") for name in path]
            for first in firsts:
                if first in names:
                    short[tuple(names[names.index(first):])] += calls
                    break
        kept = {path: calls for path, calls in short.items()
                if not any("/" in name and not name.startswith("label ") for name in path)}
        self.assertEqual(kept, expected)


class Woven(Case):
    HOW = ("calltree", *WOVEN)

    def each(self, least=0):
        for jdk in JDKS:
            if jdk.major < least:
                continue
            for flags in ((), ("-Xint",)):
                with self.subTest(jdk=jdk.name, flags=flags):
                    yield jdk, flags

    def test_exact_under_eight_threads(self):
        for jdk, flags in self.each():
            count = 5000 if not flags else 500
            self.record(jdk, "threads", str(count), how=self.HOW, flags=flags)
            each = 8 * count // 5
            expected = {("requests",): 8, ("requests", "request"): 8 * count}
            for kind in range(5):
                label = ("requests", "request", f"label GET /{kind}")
                expected[label] = each
                expected[(*label, "find")] = each * (kind + 1)
            self.check(expected)

    def test_virtual_threads_that_park(self):
        for jdk, flags in self.each(least=21):
            self.record(jdk, "virtual", "3", how=self.HOW, flags=flags)
            label = ("parks", "label virtual 3")
            self.check({("parks",): 1000, label: 1000, (*label, "find"): 3000,
                        (*label, "leaf"): 3000})

    def test_nested_replaced_and_cleared(self):
        for jdk, flags in self.each():
            self.record(jdk, "cart", "2000", how=self.HOW, flags=flags)
            get, inner = ("cart", "label GET /cart"), ("cart", "label GET /cart", "inner")
            self.check({("cart",): 2000, get: 2000, (*get, "find"): 2000, (*get, "leaf"): 2000,
                        inner: 2000, (*inner, "label inner"): 2000,
                        (*inner, "label inner", "leaf"): 4000,
                        ("cart", "label POST /cart"): 2000,
                        ("cart", "label POST /cart", "leaf"): 2000, ("cart", "leaf"): 2000})

    def test_ends_with_its_method(self):
        for jdk, flags in self.each():
            self.record(jdk, "ends", "1500", how=self.HOW, flags=flags)
            fails = ("ends", "labelledAndFails", "label fails")
            keeps = ("ends", "keeps", "label keeps")
            expected = {
                ("ends",): 1, ("ends", "leaf"): 3, ("ends", "label try"): 1,
                ("ends", "label try", "leaf"): 1,
                ("ends", "labelled"): 1, ("ends", "labelled", "label returns"): 1,
                ("ends", "labelled", "label returns", "leaf"): 1,
                ("ends", "labelledAndFails"): 1, fails: 1, (*fails, "failing"): 1,
                (*fails, "failing", "leaf"): 1,
                ("ends", "keeps"): 1, keeps: 1, (*keeps, "failing"): 1,
                (*keeps, "failing", "leaf"): 1, (*keeps, "leaf"): 2}
            self.check({path: 1500 * calls for path, calls in expected.items()})

    def test_recursion(self):
        for jdk, flags in self.each():
            self.record(jdk, "recursive", "300", how=self.HOW, flags=flags)
            expected, path = {}, ()
            for depth in range(9, -1, -1):
                path = (*path, "recursive")
                expected[path] = 300
                path = (*path, "label even" if depth % 2 == 0 else "label odd")
                expected[path] = 300
                expected[(*path, "leaf")] = 600
            self.check(expected)


class Probes(Woven):
    HOW = ("calltree", "--counter", "probe")


class FocusedProbes(Case):
    """Few methods have probes: no event of the JDK's scheduler tells virtual threads apart."""

    def test_virtual_threads_that_go_on_with_a_label(self):
        for jdk in (jdk for jdk in JDKS if jdk.major >= 21):
            for how in (("calltree", "--counter", "probe"), ("callflow",),
                        ("callflow", "--keep-intrinsics")):
                for flags in ((), ("-Xint",), ("-Xcomp", "-XX:TieredStopAtLevel=1")):
                    with self.subTest(jdk=jdk.name, how=how, flags=flags):
                        self.record(jdk, "resumes", "400", how=(
                            *how, "--focus", "Labels.resumes,Labels.kind0,Labels.kind1"),
                            flags=flags)
                        expected = {("resumes",): 400}
                        for kind in range(2):
                            label = ("resumes", f"label kind {kind}")
                            expected[label] = expected[(*label, f"kind{kind}")] = 4000
                        self.check(expected)


class Callflow(Woven):
    HOW = ("callflow",)

    def each(self, least=0):
        for jdk in JDKS:
            if jdk.major >= least:
                with self.subTest(jdk=jdk.name):
                    yield jdk, ()


class Jvmti(Case):
    def test_nested_replaced_and_cleared(self):
        self.record(JDKS[0], "cart", "20", how=("calltree", "--probe", "jvmti"))
        get = ("cart", "label GET /cart")
        found = {tuple(name.removeprefix("Labels.") for name in path): calls
                 for path, calls in self.calls(below="Labels.cart").items()}
        self.assertEqual(found[get], 20)
        self.assertEqual(found[(*get, "inner", "label inner", "leaf")], 40)
        self.assertEqual(found[("cart", "leaf")], 20)


class Other(Case):
    """Recordings in which labels have no effect, or no agent at all."""

    def test_without_a_profiler(self):
        for jdk in JDKS:
            done = child.run([*jdk.java("-Xcheck:jni"), "-cp", f"{JAR}:{self.folder}", "Labels",
                              "cart"], 60, env=self.env)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))

    def test_recordings_without_labels(self):
        for how in (("calltree", "--counter", "woven", "--call-sites"),
                    ("calltree", "--counter", "probe", "--call-sites"), ("scs",), ("trace",)):
            with self.subTest(how=how):
                done = self.record(JDKS[-1], "cart", "20", how=how)
                if "woven" in how:
                    self.assertEqual(done.stderr.count("labels have no effect"), 1)
                if how[0] == "calltree":
                    self.assertNotIn("label", json.dumps(self.report()["threads"]))

    def test_combined_with_samples(self):
        counted = os.path.join(self.folder, "counted.jprof")
        self.record(JDKS[-1], "cart", "20000")
        shutil.rmtree(counted, ignore_errors=True)
        os.rename(self.profile, counted)
        sampled = os.path.join(self.folder, "sampled.jprof")
        shutil.rmtree(sampled, ignore_errors=True)
        self.jprof("scs", "-o", sampled, "--", *JDKS[-1].java(), "-cp", f"{JAR}:{self.folder}",
                   "Labels", "cart", "20000")
        self.jprof("combine", counted, sampled, "-o", self.profile)
        rows = json.loads(self.jprof("report", "combined", "--format", "json",
                                     self.profile).stdout)["nodes"]
        names = {row["id"]: row for row in rows}
        cart = next(row for row in rows if row["name"].startswith("Labels.cart"))
        below = {row["name"].split("(")[0]: row["calls"] for row in rows
                 if names.get(row["parent"]) is cart}
        self.assertIn("label GET /cart", below)
        self.assertEqual(below["Labels.leaf"], 60000)  # as if there were no labels


class C(Case):
    def compile(self, *options):
        program = os.path.join(self.folder, "labels")
        child.run([CC, "-O1", "-g", *options, f"-I{HEADERS}", "-o", program,
                   os.path.join(HERE, "labels.c"), "-lpthread"], check=True)
        return program

    def test_exact_with_hooks(self):
        program = self.compile("-finstrument-functions")
        for mode in ("calltree", "callflow"):
            with self.subTest(mode=mode):
                shutil.rmtree(self.profile, ignore_errors=True)
                self.jprof(mode, "-o", self.profile, "--", program, "1000")
                expected = {("requests",): 8, ("requests", "request"): 8000}
                for kind in range(5):
                    label = ("requests", "request", f"label GET /{kind}")
                    expected[label] = 1600
                    expected[(*label, "find")] = 1600 * (kind + 1)
                get, inner = ("cart", "label GET /cart"), ("cart", "label GET /cart", "inner")
                ends = ("ends", "label ends")
                for path in (("cart",), get, (*get, "find"), (*get, "leaf"), inner,
                             (*inner, "label inner"), (*inner, "label inner", "leaf"),
                             ("cart", "label POST /cart"), ("cart", "label POST /cart", "leaf"),
                             ("cart", "leaf"), ("ends",), ends, (*ends, "jumps"),
                             (*ends, "jumps", "label jumps"), (*ends, "leaf")):
                    expected[path] = 1000
                sums = collections.Counter()
                for path, calls in self.calls(below="labels.").items():
                    names = [name.removeprefix("labels.") for name in path]
                    for first in ("requests", "cart", "ends"):
                        if first in names:
                            sums[tuple(names[names.index(first):])] += calls
                self.assertEqual(sums, expected)
                losses = self.report()["losses"]
                self.assertEqual(losses["healed"], 1000)  # jumps, not its label
                self.assertEqual(losses["unmatched"] + losses["dropped"], 0)

    def test_without_jprof(self):
        for options in ((), ("-finstrument-functions",), ("-no-pie",)):
            done = child.run([self.compile(*options), "3"], 60)
            self.assertEqual((done.returncode, done.stdout), (0, "done\n"))


class Sampled(Case):
    def test_samples_are_below_labels(self):
        for jdk in JDKS:
            with self.subTest(jdk=jdk.name):
                self.record(jdk, "work", "300", how=("calltree", "--sample=500"))
                samples = collections.Counter()
                for thread in self.report()["threads"]:
                    labels = {}
                    for node in thread["nodes"]:
                        label = node["name"] if node["name"].startswith("label ") else \
                            labels.get(node["parent"])
                        labels[node["id"]] = label
                        samples[label] += node["base"][0]
                self.assertGreater(samples["label short"], 0)
                ratio = samples["label long"] / samples["label short"]
                self.assertTrue(2 < ratio < 4.5, samples)


class LabelFrom(Case):
    """--label-from: labels of arguments, in a program that knows nothing of labels."""

    def record_from(self, jdk, methods, program=("named",), status=0):
        shutil.rmtree(self.profile, ignore_errors=True)
        return self.jprof("calltree", "--label-from", methods, "-o", self.profile, "--",
                          *jdk.java(), "-cp", f"{JAR}:{self.folder}", "Labels", *program,
                          status=status)

    def test_known_arguments(self):
        for jdk in JDKS:
            with self.subTest(jdk=jdk.name):
                done = self.record_from(
                    jdk, "Labels.named+Labels.member+Labels.numbered:2+Labels.kinds:1")
                self.assertIn("done", done.stdout)
                self.assertIn("woven counting: LABEL_FROM", done.stderr)
                expected = {}
                for method, below, labels in (
                        ("named", "leaf", [f"text {i}" for i in range(3)]),
                        ("member", "find", [f"built {i}" for i in range(4)]),
                        ("numbered", "leaf", [str(i) for i in range(5)]),
                        ("kinds", "leaf", ["SMALL", "LARGE"])):
                    expected[("callNamed", method)] = 60
                    for label in labels:
                        path = ("callNamed", method, f"label {label}")
                        expected[path] = expected[(*path, below)] = 60 // len(labels)
                found = {}
                for path, calls in self.calls().items():
                    names = tuple(name.removeprefix("Labels.") for name in path)
                    if "callNamed" in names:
                        below = names[names.index("callNamed"):]
                        if len(below) > 1 and below[1] in ("named", "member", "numbered", "kinds"):
                            found[below] = calls
                self.assertEqual(found, expected)  # the texts are made without being counted

    def test_other_arguments(self):
        self.record_from(JDKS[-1], "Labels.numbered+Labels.named:3+Labels.numberOf")
        sums = self.calls()
        labels = collections.Counter()
        for path, calls in sums.items():
            if path[-1].startswith("label "):
                labels[(path[-2].removeprefix("Labels."), path[-1])] += calls
        self.assertEqual(labels, {("numbered", f"label {1 << 40}"): 60,
                                  ("named", "label null"): 60,
                                  ("numberOf", "label (no text)"): 60})

    def test_the_program_does_not_notice_a_text_that_cannot_be_made(self):
        for jdk in JDKS:
            with self.subTest(jdk=jdk.name):
                done = self.record_from(jdk, "Labels.member", ("throws",))
                self.assertIn("done", done.stdout)
                found = {tuple(name.removeprefix("Labels.") for name in path)[-2:]: calls
                         for path, calls in self.calls().items()}
                self.assertEqual(found[("member", "label (no text)")], 60)
                self.assertEqual(found[("label (no text)", "find")], 60)

    def test_what_does_not_match_is_said(self):
        done = self.record_from(JDKS[-1], "Labels.nothing", status=2)
        self.assertIn("no method that was loaded matched --label-from Labels.nothing", done.stderr)
        quality = json.loads(self.jprof("info", "--quality", "--format", "json",
                                        self.profile).stdout)
        self.assertIn("no method matched --label-from Labels.nothing", json.dumps(quality))
        done = self.record_from(JDKS[-1], "Labels.named:4", status=2)
        self.assertIn("Labels.named(Ljava/lang/String;ILjava/lang/Object;)V sets no label: it has "
                      "no argument 4", done.stderr)

    def test_wrong_use(self):
        for words, error in (
                (("calltree", "--label-from", "named"), "has no class"),
                (("calltree", "--label-from", "Labels.named:0"), "not the number of an argument"),
                (("calltree", "--label-from", "Labels.*"), "may match several methods"),
                (("callflow", "--label-from", "Labels.named"), "--label-from needs --counter"),
                (("calltree", "--counter", "probe", "--label-from", "Labels.named"),
                 "use COUNTER=woven (--counter woven)"),
                (("calltree", "--call-sites", "--label-from", "Labels.named"),
                 "call sites and labels exclude each other")):
            with self.subTest(words=words):
                done = self.jprof(*words, "--", "java", "Labels", status=2)
                self.assertIn(error, done.stderr)


class Reports(Case):
    def test_n_plus_one_is_visible(self):
        self.record(JDKS[-1], "threads", "5000")
        done = self.jprof("report", "labels", "--format", "json", "--threads", "merged",
                          self.profile)
        rows = json.loads(done.stdout)["labels"]
        for kind in range(5):
            own = [row for row in rows if row["label"] == f"GET /{kind}"]
            self.assertEqual([(row["method"], row["set"], row["calls"], row["per_set"])
                              for row in own],
                             [(None, 8000, 8000 * (kind + 1), kind + 1),
                              ("Labels.find(I)V", 8000, 8000 * (kind + 1), kind + 1)])
        text = self.jprof("report", "labels", "--threads", "merged", self.profile).stdout
        self.assertRegex(text, r"8000 +40000 +5\.00 @:label GET /4\n")
        self.assertRegex(text, r" 40000 +5\.00   W:Labels\.find\(int\)\n")
        self.assertIn("(no label)", text)

    def test_a_program_without_labels(self):
        self.record(JDKS[-1], "named")
        done = self.jprof("report", "labels", self.profile, status=2)
        self.assertIn("has no labels", done.stderr)

    def test_the_number_of_labels_is_bounded(self):
        self.record(JDKS[-1], "many", "12345")
        sums = self.calls()
        labels = {path[-1]: calls for path, calls in sums.items() if path[-1].startswith("label ")}
        self.assertEqual(len(labels), 10001)
        self.assertEqual(labels.pop("label (other labels)"), 2345)
        self.assertEqual(set(labels.values()), {1})
        done = self.jprof("report", "methods", self.profile)
        self.assertIn("there were more labels than 10000", " ".join(done.stdout.split()))

    def test_merged_and_compared(self):
        first, second = (os.path.join(self.folder, name) for name in ("a.jprof", "b.jprof"))
        for place, count in ((first, "100"), (second, "30000")):
            self.record(JDKS[-1], "cart", count, how=("callflow",))
            shutil.rmtree(place, ignore_errors=True)
            os.rename(self.profile, place)
        self.jprof("merge", first, second, "-o", self.profile)
        get = ("cart", "label GET /cart")
        found = {tuple(name.removeprefix("Labels.") for name in path): calls
                 for path, calls in self.calls(below="Labels.cart").items()}
        self.assertEqual(found[get], 30100)
        self.assertEqual(found[(*get, "inner", "label inner", "leaf")], 60200)
        compared = json.loads(self.jprof("compare", first, second, "--format", "json",
                                         "--absolute").stdout)
        self.assertIn("label GET /cart", json.dumps(compared))

    def test_exports_have_the_level(self):
        self.record(JDKS[-1], "cart", "50")
        done = self.jprof("report", "log-rt", "--format", "collapsed", self.profile)
        self.assertRegex(done.stdout, r"cart[^;]*;[^;]*label GET /cart;[^;]*inner")


if __name__ == "__main__":
    unittest.main()
