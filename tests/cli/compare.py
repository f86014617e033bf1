#!/usr/bin/env python3
"""Tests the command lines `jprof compare` and `jprof report scs` on profiles that the test writes
itself.

  compare.py JPROF
"""
import html.parser
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
import terminal  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))

META = {
    "format": 1,
    "mode": "scs",
    "pid": 7,
    "command": ["java", "Main"],
    "metrics": [
        {
            "name": "samples",
            "unit": "samples",
            "scale": 1,
            "kind": "samples",
            "period": 1e6,
            "period_unit": "ns",
        }
    ],
}
REJITTED, THREAD = 3, 9
EVIL = "<img src=x onerror=alert(1)>"


def method(number, class_name, name):
    text = (class_name + name + "()V").encode()
    size = (16 + len(text) + 7) // 8 * 8
    head = struct.pack("<IIHHHH", size, number, 0, len(class_name.encode()), len(name.encode()), 3)
    return (head + text).ljust(size, b"\0")


def node(kind, number, parent, samples):
    word = kind << 28 | number
    return struct.pack("<6IqII", word, parent, 0, 0, 0, 0, samples, 0, 0).ljust(64, b"\0")


def write_profile(directory, names, counts):
    """A profile in which main calls each of `names`; its value is the number of samples."""
    os.mkdir(directory)
    methods = b"".join(method(i + 1, "C", name) for i, name in enumerate(["main"] + names))
    nodes = [bytes(64), node(THREAD, 0, 0, 0), node(REJITTED, 1, 1, 3)]
    nodes += [node(REJITTED, i + 2, 2, count) for i, count in enumerate(counts)]
    header = b"JPROFCTL" + struct.pack("<6I", 1, 4096, 256, 64, 1, 1)
    header += struct.pack("<QQQII", len(nodes), 1 << 20, len(methods), len(names) + 1, 1)
    thread = struct.pack("<4I", 2, 0, 100, 1).ljust(136, b"\0") + b"main".ljust(120, b"\0")
    for name, data in {
        "control": header.ljust(4096, b"\0") + thread,
        "nodes": b"".join(nodes),
        "methods": methods,
        "meta.json": json.dumps(META).encode(),
    }.items():
        with open(os.path.join(directory, name), "wb") as file:
            file.write(data)


class Page(html.parser.HTMLParser):
    """Checks that all opened tags are closed, in order, and that the page loads nothing."""

    VOID = {"meta"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        loads = [
            name for name, _ in attrs if name in ("src", "href", "action", "onclick", "onerror")]
        assert not loads, (tag, attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


class Compare(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="jprof compare ")
        self.addCleanup(shutil.rmtree, self.folder)
        write_profile(self.path("a.jprof"), ["x", EVIL, "z"], [400, 100, 50])
        write_profile(self.path("b.jprof"), ["x", EVIL, "z"], [200, 300, 52])

    def path(self, name):
        return os.path.join(self.folder, name)

    def jprof(self, *words):
        return child.run(
            [JPROF, *words], 60, cwd=self.folder, env={"HOME": self.folder, "PATH": "/usr/bin:/bin"}
        )

    def fine(self, *words):
        result = self.jprof(*words)
        self.assertEqual((result.returncode, result.stderr), (0, ""), words)
        return result.stdout

    def test_on_a_terminal_it_ends_with_the_command_that_shows_more(self):
        with terminal.opened() as (_, theirs):
            done = subprocess.run([JPROF, "compare", "a.jprof", "a.jprof"], cwd=self.folder,
                                  env={"HOME": self.folder, "PAGER": "cat"}, stdout=theirs,
                                  stderr=subprocess.PIPE, text=True, timeout=600, check=True)
        self.assertEqual(done.stderr, "jprof: next:    jprof view a.jprof a.jprof\n")

    def refused(self, said, *words):
        result = self.jprof(*words)
        self.assertEqual((result.returncode, result.stdout), (2, ""), words)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(said, result.stderr)

    def test_the_report_of_a_sampled_profile_is_scs(self):
        text = self.fine("report", "a.jprof")
        self.assertIn("LV SAMPLES     CUM     % NAME", text)
        self.assertEqual(text, self.fine("report", "scs", "a.jprof"))
        lines = self.fine("report", "scs", "--format", "collapsed", "a.jprof").splitlines()
        self.assertIn("main;C.main;C.x 400", lines)
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines), 553)

    def test_text_and_json(self):
        text = self.fine("compare", "a.jprof", "b.jprof")
        self.assertRegex(text, r"\n~ +[+-][\d.]+ .* C\.z\(\) < C\.main\n")
        page = json.loads(self.fine("compare", "a.jprof", "b.jprof", "--format", "json"))
        self.assertEqual(page["contexts_beyond_error"], 2)
        self.assertIn("no differences", self.fine("compare", "a.jprof", "a.jprof"))
        one = json.loads(self.fine("compare", "a.jprof", "--format", "json"))
        self.assertEqual(one["methods"][0]["name"], "C.x()V")
        self.assertEqual(one["small_flat_large_with_callees"][0]["name"], "C.main()V")

    def test_the_page_is_whole_and_loads_nothing(self):
        for profiles in (["a.jprof"], ["a.jprof", "b.jprof"]):
            self.assertEqual(self.fine("compare", *profiles, "-o", "page.html"), "")
            with open(self.path("page.html"), encoding="utf-8") as file:
                text = file.read()
            page = Page(text)
            self.assertEqual(page.open, [])
            self.assertNotIn("img", page.tags)
            self.assertTrue(any(EVIL in data for data in page.text))
            self.assertNotRegex(text, r"https?:|url\(|@import")
            self.assertIn("prefers-color-scheme: dark", text)
            self.assertIn("default-src 'none'", text)
            if shutil.which("node"):
                script = re.search(r"<script>(.*)</script>", text, re.S).group(1)
                child.run(["node", "--check", "-"], 60, input=script, check=True)

    def test_wrong_use_is_one_line(self):
        self.refused("did you mean 'samples'?", "compare", "a.jprof", "--metric", "sample")
        self.refused("did you mean 'html'?", "compare", "a.jprof", "--format", "htm")
        self.refused("did you mean 'a.jprof'?", "compare", "aa.jprof", "b.jprof")
        self.refused("did you mean --absolute?", "compare", "a.jprof", "b.jprof", "--absolut")
        self.refused("cannot write", "compare", "a.jprof", "-o", "nowhere/x.html")
        self.refused("requires two profiles", "compare", "a.jprof", "--absolute")
        write_profile(self.path("none.jprof"), ["x"], [0])
        os.remove(self.path("none.jprof/nodes"))
        self.refused("damaged: nodes: cut off", "compare", "a.jprof", "none.jprof")
        self.assertIn("jprof compare before.jprof after.jprof", self.fine("compare", "--help"))

    def test_damage_is_named(self):
        with open(self.path("b.jprof/nodes"), "r+b") as file:
            file.truncate(64 * 5)
        self.assertIn("damaged: nodes: cut off", self.fine("compare", "a.jprof", "b.jprof"))


if __name__ == "__main__":
    unittest.main(verbosity=2)  # prints which tests were skipped, and why
