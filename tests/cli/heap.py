#!/usr/bin/env python3
"""Tests `jprof heap` with made dumps: reports, formats, two dumps, damaged and hostile files.
Requires no JVM.

  heap.py JPROF
"""
import csv
import gzip
import io
import json
import os
import random
import re
import shutil
import struct
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
import heap_made  # noqa: E402
from page import Page  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))
REPORTS = ("histogram", "loaders", "packages", "dominators", "suspects", "duplicates",
           "collections")
FORMATS = ("text", "json", "csv", "markdown")


class Heap(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof heap "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.write("app.hprof", heap_made.small())

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)
        return name

    def heap(self, *words, status=0):
        done = child.run([JPROF, "heap", *words], 60, cwd=self.folder, text=False,
                         env={**os.environ, "TMPDIR": self.folder})
        self.assertEqual(done.returncode, status, done)
        return done.stdout.decode() if status == 0 else done.stderr.decode()

    def rows(self, report, *words):
        text = self.heap(*(words or ["app.hprof"]), "--report", report, "--format", "json")
        return json.loads(text)

    def test_a_screen(self):
        text = self.heap("app.hprof")
        self.assertLessEqual(len(text.splitlines()), 40)
        self.assertRegex(text, r"(?m)^live +\S+ \w+ in 209 objects of 6 classes$")
        self.assertRegex(text, r"(?m)^ +100 +2.40 kB +4.80 kB +\S+ java.lang.String$")
        self.assertRegex(text, r"suspect   class app.Cache holds .* of it in java.lang.Object\[\] "
                               r"0x2000 length 200, with 100 java.lang.String of 4.80 kB")

        self.assertIn("\nnext      jprof view app.hprof: ", text)
        self.assertNotIn("next", self.heap("app.hprof", "--report", "histogram"))

    def test_each_report_in_each_format(self):
        for report in REPORTS:
            for form in FORMATS:
                text = self.heap("app.hprof", "--report", report, "--format", form)
                self.assertGreater(len(text.splitlines()), 1, (report, form, text))
                if form == "json":
                    self.assertEqual(json.loads(text)["heap"]["live_objects"], 209)
                if form == "csv":
                    lines = list(csv.reader(io.StringIO(text)))
                    self.assertEqual({len(line) for line in lines}, {len(lines[0])})

    def test_numbers(self):
        classes = {row["class"]: row for row in self.rows("histogram")["classes"]}
        text = classes["java.lang.String"]
        self.assertEqual((text["objects"], text["shallow"], text["retained"]), (100, 2400, 4800))
        self.assertEqual(classes["java.lang.Class"]["objects"], 6)
        self.assertEqual(classes["byte[]"]["objects"], 100)
        packages = {row["package"]: row for row in self.rows("packages")["packages"]}
        self.assertGreater(packages["app"]["retained"], 4800)
        loaders = self.rows("loaders")["loaders"]
        self.assertEqual([(row["loader"], row["objects"]) for row in loaders],
                         [("(boot loader)", 209)])
        duplicate, = self.rows("duplicates")["duplicates"]
        self.assertEqual((duplicate["copies"], duplicate["wasted"], duplicate["contents"]),
                         (100, 99 * 24, '"a text"'))
        collection, = self.rows("collections")["collections"]
        self.assertEqual((collection["class"], collection["elements"], collection["slots"]),
                         ("java.util.ArrayList", 100, 200))
        first, second = self.rows("dominators")["dominators"][:2]
        self.assertEqual((first["depth"], first["class"]), (0, "class app.Cache"))
        self.assertEqual((second["depth"], second["id"]), (1, "0x1000"))

    def test_a_path(self):
        for name in ("java.lang.String", "java/lang/String", "0x100000"):
            path = json.loads(self.heap("app.hprof", "--path-to", name, "--format", "json"))["path"]
            self.assertEqual([row["by"] for row in path][1:],
                             ["static instance", "all", "elementData", "[0]"])
            self.assertEqual(path[-1]["object"], 'java.lang.String 0x100000 "a text"')
        self.assertIn("static instance", self.heap("app.hprof", "--path-to", "app.Cache"))
        error = self.heap("app.hprof", "--path-to", "java.lang.Strin", status=2)
        self.assertIn("did you mean java.lang.String?", error)
        self.assertIn("no object", self.heap("app.hprof", "--path-to", "0x77", status=2))
        self.assertIn("app.hprof has no object of class java.lang.Object",
                      self.heap("app.hprof", "--path-to", "java.lang.Object", status=2))

    def test_a_path_to_garbage_and_to_a_class(self):
        dump = heap_made.Dump()
        dump.a_class(0x100, "java/lang/Object")
        dump.a_class(0x108, "java/lang/Class", 0x100)
        dump.a_class(0x110, "app/Lost", 0x100)
        dump.instance(0x1000, 0x110, b"")
        dump.root(0x108)
        self.write("lost.hprof", dump.finish())
        self.assertIn("app.Lost is garbage", self.heap("lost.hprof", "--path-to", "app.Lost",
                                                       status=1))
        path = self.heap("lost.hprof", "--path-to", "java.lang.Class")
        self.assertIn("class java.lang.Class", path)

    def test_two_dumps(self):
        self.write("later.hprof", heap_made.small(150))
        rows = self.rows("histogram", "app.hprof", "later.hprof")
        text = next(row for row in rows["classes"] if row["class"] == "java.lang.String")
        self.assertEqual((text["objects_before"], text["objects_after"]), (100, 150))
        self.assertEqual((text["retained_before"], text["retained_after"]), (4800, 7200))
        shown = self.heap("app.hprof", "later.hprof")
        self.assertRegex(shown, r"(?m)^ +50 +\+1.20 kB +\+2.40 kB +7.20 kB java.lang.String$")
        error = self.heap("app.hprof", "later.hprof", "--report", "suspects", status=2)
        self.assertIn("histogram, loaders or packages", error)

    def test_two_dumps_by_names_without_ids(self):
        self.write("before.hprof", heap_made.loaded(0x1000))
        self.write("after.hprof", heap_made.loaded(0x2000))
        rows = self.rows("loaders", "before.hprof", "after.hprof")["loaders"]
        row = next(row for row in rows if row["loader"] == "app.Loader")
        self.assertEqual((row["objects_before"], row["objects_after"]), (2, 2))
        self.assertEqual(len(rows), 2, rows)
        text = self.heap("before.hprof", "after.hprof", "--names", "short")
        self.assertRegex(text, r"(?m) Plugin$")
        self.assertNotIn("app.", text)
        self.assertIn(" app/Plugin\n", self.heap("before.hprof", "after.hprof", "--names", "jvm"))

    def test_names_and_rows(self):
        self.assertIn(" String\n", self.heap("app.hprof", "--names", "short"))
        self.assertIn(" java/lang/String\n", self.heap("app.hprof", "--names", "jvm"))
        text = self.heap("app.hprof", "--report", "histogram", "--top", "2")
        self.assertIn("more: --top 0 shows all)", text)
        self.assertIn("RETAINED  ", self.heap("app.hprof", "--report", "histogram", "--legend"))

    def test_narrow_text_keeps_the_dots_of_numbers(self):
        text = self.heap("app.hprof", "--report", "suspects", "--width", "80")
        self.assertRegex(text, r"class app.Cache holds \d\.\d\d kB.*\.\.\.\n")
        for report in REPORTS:
            lines = self.heap("app.hprof", "--report", report, "--width", "60").splitlines()
            self.assertLessEqual(max(len(line) for line in lines[5:]), 60, (report, lines))

    def test_objects_of_the_same_size_are_shown_up_to_the_limit(self):
        def rows(text):
            return len(re.findall(r"(?m)^ .* byte\[\] 0x", text))

        self.write("equal.hprof", heap_made.arrays([1000] * 50))
        text = self.heap("equal.hprof", "--report", "dominators")
        self.assertEqual(rows(text), 22)  # of these and two classes
        self.assertIn("(30 more: --top 0 shows all)", text)
        text = self.heap("equal.hprof")
        self.assertEqual(rows(text), 8)
        self.assertIn("(43 more: --top 0 shows all)", text)
        self.assertEqual(rows(self.heap("equal.hprof", "--top", "0")), 50)
        self.write("equal.hprof", heap_made.arrays([1000] * 1500))
        for top, count in (((), 1000), (("--top", "1200"), 1200), (("--top", "2000"), 1502)):
            found = self.rows("dominators", "equal.hprof", *top)["dominators"]
            self.assertEqual(len(found), count)

    def test_compressed(self):
        whole = heap_made.small()
        members = gzip.compress(whole[:3000]) + gzip.compress(whole[3000:])
        self.write("app.hprof.gz", members)
        plain = self.heap("app.hprof", "--report", "histogram", "--format", "csv")
        self.assertEqual(self.heap("app.hprof.gz", "--report", "histogram", "--format", "csv"),
                         plain)
        self.write("cut.gz", members[:len(members) * 3 // 4])
        self.assertIn("damaged   the compressed file ends inside its data", self.heap("cut.gz"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["app.hprof", "app.hprof.gz", "cut.gz"])

    def test_what_is_cut_is_read_as_far_as_it_goes(self):
        whole = heap_made.small()
        self.write("cut.hprof", whole[:len(whole) - 2000])
        text = self.heap("cut.hprof")
        self.assertIn("damaged   the file ends inside a record at byte", text)
        self.assertIn("note      the dump has no roots: all classes are taken for roots", text)
        self.assertRegex(text, r"java.lang.String$|java.lang.String\n")
        head = self.rows("histogram", "cut.hprof")["heap"]
        self.assertEqual(head["damage_count"], len(head["damages"]))
        self.assertIn("the file ends inside a record at byte", head["damages"][0])

    def test_what_is_no_dump(self):
        self.assertIn("is not a heap dump", self.heap(self.write("text", b"hello\n"), status=2))
        self.assertIn("is empty", self.heap(self.write("empty", b""), status=1))
        self.assertIn("cannot open", self.heap("none.hprof", status=2))
        self.assertIn("is not a regular file", self.heap(".", status=2))
        self.assertIn("--pid", self.heap(status=2))
        self.assertIn("did you mean", self.heap("app.hprof", "--report", "histo", status=2))

    def page(self, name):
        done = child.run([JPROF, "view", name, "-o", "-"], 60, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done)
        return Page(done.stdout)

    def check_page(self, name):
        """The page has the sums of the reports: of the whole, of objects, of groups."""
        page = self.page(name)
        tree = page.tree()
        live = self.rows("histogram", name)["heap"]
        sizes, objects = tree["self"]
        self.assertEqual(sum(sizes), live["live_bytes"])
        self.assertEqual(sum(objects), live["live_objects"])
        retained = list(sizes)
        for row in reversed(range(len(sizes))):
            if tree["parent"][row] != 0xffffffff:
                self.assertLess(tree["parent"][row], row)
                retained[tree["parent"][row]] += retained[row]
        labels = page.column(page.header["trees"][0]["columns"]["labels"]).split("\n")
        of_page = {label.split()[0]: retained[row] for row, label in enumerate(labels) if label}
        report = self.rows("dominators", name, "--top", "0", "--depth", "100")["dominators"]
        of_report = {row["id"]: row["retained"] for row in report}
        self.assertGreater(len(of_page), 0)
        for number, size in of_page.items():
            self.assertEqual(size, of_report[number], number)
        for group, report in zip(page.header["heap"]["groups"],
                                 (("class", "classes"), ("package", "packages"),
                                  ("loader", "loaders"))):
            self.assertEqual(group["by"], report[0])
            rows = self.rows("histogram" if report[0] == "class" else report[1], name)[report[1]]
            for key in ("objects", "shallow", "retained"):
                self.assertEqual(list(page.column(group[key])), [row[key] for row in rows])
        return page

    def test_a_page_has_the_sums_of_the_reports(self):
        page = self.check_page(self.write("many.hprof", heap_made.small(20000)))
        self.assertEqual(page.header["losses"], [])
        joined = page.column(page.header["trees"][0]["columns"]["joined"])
        kinds = [chr(letter) for letter in page.tree()["type"]]
        self.assertIn(("g", 20000), list(zip(kinds, joined)))  # the strings are one row
        chain = page.header["heap"]["suspects"][0]["chain"]
        self.assertEqual([link["row"] is None for link in chain], [False] * len(chain))
        chance = random.Random(2)
        for size in (1, 20, 300):
            self.check_page(self.write("shapes.hprof", heap_made.shapes(chance, size)))
        whole = heap_made.small()
        self.write("cut.hprof", whole[:len(whole) - 2000])
        self.assertIn("damaged: the file ends inside a record",
                      self.page("cut.hprof").header["losses"][0])
        self.write("none.hprof", whole[:80])  # before the first object
        done = child.run([JPROF, "view", "none.hprof", "-o", "-"], 60, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("none.hprof has no object that is in use", done.stderr)
        self.assertNotIn("jprof view", self.heap("none.hprof"))
        done = child.run([JPROF, "view", "app.hprof", "cut.hprof", "-o", "-"], 60, cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("jprof heap app.hprof cut.hprof", done.stderr)

    def test_a_suspect_of_several_objects_has_a_row_only_if_that_is_all_of_them(self):
        for large, has_row in ((0, True), (50, False)):  # these have rows of their own
            name = self.write("arrays.hprof", heap_made.arrays([8] * 20000 + [900] * large))
            suspect = self.page(name).header["heap"]["suspects"][0]
            self.assertIn(f"{20000 + large} objects of byte[]", suspect["text"])
            self.assertEqual(suspect["row"] is not None, has_row)

    def test_damage_anywhere(self):
        whole = heap_made.small(20)
        chance = random.Random(1)
        for number in range(60):
            data = bytearray(whole)
            for _ in range(chance.randrange(1, 6)):
                data[chance.randrange(31, len(data))] = chance.randrange(256)
            if number % 3 == 0:
                del data[chance.randrange(31, len(data)):]
            name = self.write("damaged.hprof", bytes(data))
            report = chance.choice(REPORTS)
            done = child.run([JPROF, "heap", name, "--report", report], 60, cwd=self.folder)
            self.assertIn(done.returncode, (0, 1), done)

    def test_hostile_names_and_numbers(self):
        dump = heap_made.Dump()
        dump.a_class(0x100, b"a/\x1b[2J\xff\n,\"=cmd|", 0x100)  # its own super class
        dump.a_class(0x108, "app/Second", 0x110)
        dump.a_class(0x110, "app/First", 0x108)
        dump.instance(0x1000, 0x100, b"")
        dump.instance(0x1000, 0x108, b"twice")
        dump.instance(0xffffffffffffffff, 0x110, b"")
        dump.root(0x1000)
        self.write("hostile.hprof", dump.finish())
        for form in FORMATS:
            text = self.heap("hostile.hprof", "--report", "histogram", "--format", form)
            self.assertNotIn("\x1b", text)
        page = self.page("hostile.hprof")
        self.assertFalse(any("\x1b" in name for name in page.names))
        self.assertEqual(len(page.names), 1 + max(page.tree()["method"] +
                         page.column(page.header["heap"]["groups"][2]["name"])))
        huge = struct.pack(">BQIIB", 0x23, 8, 0, 0xffffffff, heap_made.LONG)
        self.write("huge.hprof", heap_made.Dump().bytes + struct.pack(">BII", 0x1c, 0, len(huge))
                   + huge)
        self.assertIn("a heap record 0x23 is incomplete", self.heap("huge.hprof"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
