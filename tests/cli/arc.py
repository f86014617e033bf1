#!/usr/bin/env python3
"""Tests `jprof report arc`, and what info, view and export make of a trace of `jprof itrace`: a
trace that the test creates, of a program whose code is known.

  arc.py JPROF
"""
import base64
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

import made

JPROF = os.path.abspath(sys.argv.pop(1))

# Three functions at known addresses: start calls work, work jumps to last at its end.
PROGRAM = """
.text
.globl _start
.type _start, @function
_start: {nop}
  {call} work
  {nop}
.size _start, .-_start
.type work, @function
work: {nop}
  {nop}
  {jump} last
.size work, .-work
.type last, @function
last: {nop}
  ret
.size last, .-last
"""
WORDS = {"x86_64": {"nop": "nop", "call": "call", "jump": "jmp"},
         "aarch64": {"nop": "nop", "call": "bl", "jump": "b"}}
PID, CALLS = 42, 7
COUNTED = r"""
static volatile int sum;
__attribute__((noinline)) void inner(int n) { sum += n; __asm__ volatile(""); }
__attribute__((noinline)) void outer(int n) {
  for (int i = 0; i < 7; ++i) inner(n);
  __asm__ volatile("");
}
int main(void) {
  for (int i = 0; i < 10; ++i) outer(i);
  return 0;
}
"""


class Arc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="jprof-arc-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        words = WORDS[os.uname().machine]
        made.write(cls.folder, "known.s", PROGRAM.format(**words).encode())
        subprocess.run([os.environ.get("CC", "gcc"), "-nostdlib", "-static", "-no-pie", "-o",
                        "known", "known.s"], cwd=cls.folder, check=True)
        symbols = subprocess.run(["nm", "known"], cwd=cls.folder, check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
        address = {name: int(at, 16) for at, name in re.findall(r"^(\w+) \w (\w+)$", symbols, re.M)}
        start, work, last = (address[name] for name in ("_start", "work", "last"))
        wide = os.uname().machine == "aarch64"
        nop, call = (4, 4) if wide else (1, 5)
        branches = [(made.BEGIN, 0, start, 0)]
        for _ in range(CALLS):  # each time from the call on
            branches += [(made.CALL, start + nop, work, 2), (made.JUMP, work + 2 * nop, last, 3),
                         (made.RETURN, last + nop, start + nop + call, 2),
                         (made.JUMP, start + nop + call, start, 1)]
        branches.append((made.BRANCHES_END, start, 0, 0))
        cls.total = 8 * CALLS
        base = start & ~0xfff
        mapped = made.record(made.MAP, os.path.join(cls.folder, "known").encode(), pid=PID,
                             tid=PID, address=base, length=0x1000, offset=base & 0xffff)
        cls.known = made.itrace(os.path.join(cls.folder, "known.itrace"),
                                [mapped, made.record(made.COMM, b"known", pid=PID, tid=PID)],
                                (PID, PID, branches), command="known")

    def jprof(self, *words, status=0):
        done = subprocess.run([JPROF, *words], cwd=self.folder, capture_output=True, text=True,
                              timeout=600)
        self.assertEqual(done.returncode, status, done)
        return done

    def test_functions_and_arcs(self):
        arc = json.loads(self.jprof("report", "arc", self.known, "--format", "json").stdout)
        rows = {row["function"]: row for row in arc["functions"]}
        self.assertEqual({name: (row["calls"], row["self"], row["cumulative"])
                          for name, row in rows.items()},
                         {"known._start": (1, 3 * CALLS, 8 * CALLS),
                          "known.work": (CALLS, 3 * CALLS, 5 * CALLS),
                          "known.last": (CALLS, 2 * CALLS, 2 * CALLS)})
        self.assertEqual([(row["caller"], row["callee"], row["calls"], row["instructions"])
                          for row in arc["arcs"]],
                         [("(thread)", "known._start", 1, 8 * CALLS),
                          ("known._start", "known.work", CALLS, 5 * CALLS),
                          ("known.work", "known.last", CALLS, 2 * CALLS)])
        self.assertEqual(arc["instructions"], self.total)
        self.assertEqual(arc["losses"], [])
        short = self.jprof("report", self.known, "--top", "1").stdout
        self.assertIn("jprof arc of", short)
        self.assertNotIn("known.last\n", short)

    def test_the_listing_counts_each_instruction(self):
        text = self.jprof("report", "arc", self.known, "--listing", "--function", "work").stdout
        self.assertEqual(len(re.findall(rf"^ +{CALLS} .*(nop|jmp|b) ?", text, re.M)), 3, text)

    def test_info(self):
        text = self.jprof("info", self.known).stdout
        self.assertRegex(text, rf"(?m)^instructions {self.total},")
        info = json.loads(self.jprof("info", self.known, "--format", "json").stdout)
        self.assertEqual((info["mode"], info["instructions"], info["branches"]["call"]),
                         ("itrace", self.total, CALLS))

    def test_info_explains_the_quality(self):
        self.assertRegex(self.jprof("info", "--quality", self.known).stdout,
                         r"\Aquality of .*known.itrace: good\n")

    def test_view(self):
        for words in (["view", self.known, "-o", "v.html"],
                      ["report", "html", self.known, "-o", "v.html"]):
            self.jprof(*words)
            with open(os.path.join(self.folder, "v.html"), encoding="utf-8") as file:
                data = re.search(r'id="jprof-data">([^<]*)</script>', file.read()).group(1)
            data = zlib.decompress(base64.b64decode(data))
            length = struct.unpack_from("<4xI", data)[0]
            header = json.loads(data[8:8 + length])
            tree = header["trees"][0]
            self.assertEqual((header["kind"], tree["rows"], header["losses"]), ("tree", 4, []))

            def column(section):
                return struct.unpack_from(f"<{section['length']}d", data[8 + length:],
                                          section["offset"])
            self.assertEqual(column(tree["columns"]["self"][0]),
                             (0, 3 * CALLS, 3 * CALLS, 2 * CALLS))
            self.assertEqual(column(tree["columns"]["calls"]), (0, 1, CALLS, CALLS))
            timeline = header["timeline"]
            self.assertEqual((timeline["tracks"], timeline["left_out"]), (header["threads"], 0))
            self.assertEqual(timeline["slices"]["rows"], 1 + 2 * CALLS)
            self.assertEqual(column(timeline["counters"][0]["value"])[-1], self.total)
            annotations = header["annotations"]
            texts = json.loads(data[8 + length:][annotations["offset"]:][:annotations["length"]])
            self.assertEqual(len(texts["texts"]), 3)
        error = self.jprof("view", self.known, self.known, status=2).stderr
        self.assertIn("shown alone", error)

    def test_exports(self):
        for name in ("pprof", "callgrind", "speedscope", "collapsed", "otlp", "sqlite"):
            self.jprof("export", self.known, "--format", name, "-o", "e." + name)
            self.assertGreater(os.path.getsize(os.path.join(self.folder, "e." + name)), 0)
        with open(os.path.join(self.folder, "e.callgrind"), encoding="utf-8") as file:
            summary = re.search(r"^events: (.*)\nsummary: (.*)$", file.read(), re.M)
        self.assertEqual(dict(zip(summary.group(1).split(), map(int, summary.group(2).split()))),
                         {"instructions": self.total, "calls": 2 * CALLS + 1, "system_calls": 0,
                          "repeats": 0})
        with open(os.path.join(self.folder, "e.collapsed"), encoding="utf-8") as file:
            self.assertEqual(sum(int(line.split()[-1]) for line in file), self.total)
        self.assertIn("choose one of", self.jprof("export", self.known, "--metric", "time", "-o",
                                                  "x.pb.gz", status=2).stderr)

    def test_exports_over_time(self):
        text = self.jprof("export", self.known, "--format", "chrome", "-o", "-").stdout
        events = json.loads(text)["traceEvents"]
        names = [event["name"] for event in events if event["ph"] == "B"]
        self.assertEqual(names, ["known._start"] + ["known.work", "known.last"] * CALLS)
        self.assertEqual([event["ph"] for event in events].count("E"), len(names))
        self.assertEqual([event["args"]["value"] for event in events if event["ph"] == "C"][-1],
                         self.total)

    def test_damage_is_a_loss_or_an_error(self):
        cut = os.path.join(self.folder, "cut.itrace")
        for size, status in ((10, 1), (40, 0), (100, 0)):
            shutil.rmtree(cut, ignore_errors=True)
            shutil.copytree(self.known, cut)
            os.truncate(os.path.join(cut, "branches"), size)
            done = self.jprof("report", "arc", cut, status=status)
            self.assertIn("cut off or damaged" if status == 0 else "is not a trace of jprof itrace",
                          done.stdout + done.stderr)
        os.remove(os.path.join(cut, "recording.json"))
        text = " ".join(self.jprof("report", "arc", cut).stdout.split())
        self.assertIn("recording.json is missing", text)

    def test_a_file_that_is_longer_than_memory_is_read_up_to_its_hole(self):
        shutil.copytree(self.known, os.path.join(self.folder, "long.itrace"))
        made.lengthen(os.path.join(self.folder, "long.itrace"), "branches")
        self.assertIn("bytes after its end", self.jprof("report", "long.itrace").stdout)
        for words in (["info"], ["view", "-o", "x.html"], ["export"]):
            self.jprof(words[0], "long.itrace", *words[1:])

    def test_a_recorded_program(self):
        made.write(self.folder, "counted.c", COUNTED.encode())
        subprocess.run([os.environ.get("CC", "gcc"), "-O1", "-o", "counted", "counted.c"],
                       cwd=self.folder, check=True)
        done = subprocess.run([JPROF, "itrace", "-o", "counted.itrace", "--", "./counted"],
                              cwd=self.folder, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            self.skipTest(done.stderr)
        arc = json.loads(self.jprof("report", "counted.itrace", "--format", "json").stdout)
        rows = {row["function"]: row for row in arc["functions"]}
        self.assertEqual(sum(row["self"] for row in rows.values()), arc["instructions"])
        self.assertEqual([rows["counted." + name]["calls"] for name in ("main", "outer", "inner")],
                         [1, 10, 70])
        main, inner = rows["counted.main"], rows["counted.inner"]
        self.assertEqual(main["cumulative"], main["self"] + rows["counted.outer"]["cumulative"])
        self.assertEqual(inner["self"] % 70, 0)
        arcs = {(row["caller"], row["callee"]): row for row in arc["arcs"]}
        self.assertEqual(arcs["counted.outer", "counted.inner"],
                         {"caller": "counted.outer", "callee": "counted.inner", "calls": 70,
                          "outermost_calls": 70, "instructions": inner["self"]})
        listing = self.jprof("report", "arc", "counted.itrace", "--listing", "--function",
                             "counted.inner").stdout
        counts = re.findall(r"^ +(\d+) (?: +\d+)? +[0-9a-f]+  \w", listing, re.M)
        self.assertEqual(sum(map(int, counts)), inner["self"], listing)

    def test_names_are_printable(self):
        start = 0x401000
        hostile = made.itrace(
            os.path.join(self.folder, "hostile.itrace"),
            [made.record(made.MAP, b"/tmp/\x1b[31m\nred", pid=PID, tid=PID, address=start,
                         length=0x1000),
             made.record(made.COMM, b"\x1b]0;title\x07", pid=PID, tid=PID)],
            (PID, PID, [(made.BEGIN, 0, start, 0), (made.BRANCHES_END, start + 8, 0, 3)]),
            (PID, PID + 1, [(made.BEGIN, 0, start, 0), (made.BRANCHES_END, start + 8, 0, 3)]),
            command="\x1b[2J")
        for words in (["report", "arc"], ["report", "arc", "--format", "csv"], ["info"],
                      ["report", "arc", "--format", "collapsed"],
                      ["export", "--format", "callgrind", "-o", "-"]):
            text = self.jprof(*words, hostile).stdout
            self.assertNotRegex(text, r"[^\x20-\x7e\n\ufffd]", words)
            self.assertNotIn("\nred", text)
        self.assertIn("without symbols",
                      self.jprof("report", "arc", hostile, "--listing", status=2).stderr)

    def test_wrong_use(self):
        for words, says in (
                (["report", "arc"], "name the recording"),
                (["report", "arc", "nothing.itrace"], "is no recording"),
                (["report", "arc", self.folder], "has no branches"),
                (["report", "arc", self.known, "--raw"], "has no --raw"),
                (["report", "arc", self.known, "--tid", "1"], "has no thread 1"),
                (["report", "arc", self.known, "--function", "none"], "'none'"),
                (["report", "arc", self.known, "--listing", "--format", "csv"], "is text"),
                (["report", "arc", self.known, "--format", "xml"], "xml"),
                (["report", "log-rt", self.known], "report arc"),
                (["report", "tprof", self.known], "report arc"),
                (["report", self.known, "--threads", "merged"], "report arc has no --threads"),
                (["report", self.known, "--format", "collapsed", "--top", "3"],
                 "report arc --format collapsed has no --top"),
                (["report", "arc", self.known, "--listing", "--min-percent", "1"],
                 "--listing has no --min-percent"),
                (["report", "log-rt", "--top", "3"], "report log-rt has no --top (of: arc, memory)")):
            self.assertIn(says, self.jprof(*words, status=2).stderr, words)


if __name__ == "__main__":
    unittest.main()
