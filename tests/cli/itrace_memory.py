#!/usr/bin/env python3
"""Tests the references to memory of `jprof itrace --memory`: equal to those of valgrind's lackey,
and what commands say of recordings with and without them.

Usage: itrace_memory.py JPROF
"""
import os
import platform
import re
import shutil
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
import jvms  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))

# Linked statically at fixed addresses. The data that `work` uses are aligned and have names.
C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
long table[4096], sums[64];
char text[4096], copy[4096];
double grid[64][64];
struct node { struct node* next; long value; } nodes[512];
__attribute__((noinline)) long depth(long n) { return n == 0 ? table[7] : depth(n - 1) + n; }
__attribute__((noinline)) long work(long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) {
    table[i * 37 & 4095] += i;
    sum ^= table[i * 101 & 4095];
    sums[i & 63]++;
    text[i & 4095] = (char)i;
    grid[i & 63][i * 3 & 63] = grid[i * 3 & 63][i & 63] * 0.5 + 1;
    if (i % 64 == 0) sum += depth(i & 15);
    nodes[i & 511].next = &nodes[i * 7 & 511];
    nodes[i & 511].value = sum;
    sum += nodes[i & 511].next->value;
  }
  memcpy(copy, text, 200);
  for (long i = 0; i < 200; i++) sum += copy[i];
  return sum;
}
int main(int argc, char** argv) {
  long n = atol(argv[1]);
  printf("%ld\n", work(n));
  return 0;
}
"""


@unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
class AsLackey(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="jprof-memory-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_in(self, *command):
        return child.run([str(word) for word in command], cwd=self.folder)

    def build(self, *options):
        with open(self.path("c.c"), "w", encoding="utf-8") as file:
            file.write(C)
        done = self.run_in("gcc", *options, "-g", "-static", "-no-pie", "-o", "program", "c.c")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = self.run_in("nm", "-S", "program").stdout
        self.places = {name: (int(at, 16), int(size, 16)) for at, size, name in
                       re.findall(r"^(\w+) (\w+) \w (\w+)$", names, re.M)}

    def of_data(self, references):
        """Those to the program's own variables. The stack lies elsewhere in each run."""
        spans = [self.places[name] for name in ("table", "sums", "text", "copy", "grid", "nodes")]
        return [one for one in references
                if any(at <= one[1] < at + size for at, size in spans)]

    def lackey(self, *arguments):
        """References in `work` as (kind, address, bytes)."""
        done = self.run_in("valgrind", "--tool=lackey", "--trace-mem=yes", "./program", *arguments)
        begin, size = self.places["work"]
        inside, references = False, []
        depth = self.places["depth"]
        for line in done.stderr.splitlines():
            match = re.fullmatch(r"(I |( [LSM])) +([0-9a-f]+),(\d+)", line.rstrip())
            if not match:
                continue
            kind, at = match[1].strip(), int(match[3], 16)
            if kind == "I":
                own = begin <= at < begin + size or depth[0] <= at < sum(depth)
                inside = own or (inside and not self.in_main(at))
            elif inside:
                references.append((kind, at, int(match[4])))
        return references

    def in_main(self, at):
        begin, size = self.places["main"]
        return begin <= at < begin + size

    def ours(self, *arguments, options=()):
        done = self.run_in(JPROF, "itrace", "--memory", "--no-records", "--function", "work",
                           *options, "-o", "t.itrace", "--", "./program", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        count = int(re.search(r"(\d+) references to memory", done.stderr)[1])
        done = self.run_in(JPROF, "export", "--format", "lackey", "-o", "t.lackey", "t.itrace")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("t.lackey"), encoding="ascii") as file:
            found = re.findall(r"^ ([LSM]) ([0-9a-f]+),(\d+)$", file.read(), re.M)
        self.assertEqual(len(found), count)
        shutil.rmtree(self.path("t.itrace"))
        os.remove(self.path("t.lackey"))
        return [(kind, int(at, 16), int(size)) for kind, at, size in found]

    def test_the_same_references(self):
        for level in ("-O0", "-O2", "-O3"):
            with self.subTest(level):
                self.build(level)
                expected, found = self.lackey("3000"), self.ours("3000")
                self.assertGreater(len(expected), 10_000)
                data, own = self.of_data(expected), self.of_data(found)
                for i, (left, right) in enumerate(zip(data, own)):
                    self.assertEqual(left, right, i)
                self.assertEqual(len(data), len(own))
                kinds = {kind: sum(one[0] == kind for one in found) for kind in "LSM"}
                for kind, count in kinds.items():
                    self.assertEqual(count, sum(one[0] == kind for one in expected), kind)

    def test_both_engines_record_the_same(self):
        self.build("-O2")
        self.assertEqual(self.of_data(self.ours("500")),
                         self.of_data(self.ours("500", options=("--engine", "step"))))


class Commands(AsLackey):
    test_the_same_references = test_both_engines_record_the_same = None

    def test_a_trace_without_references(self):
        self.build("-O2")
        done = self.run_in(JPROF, "itrace", "--function", "work", "-o", "t.itrace", "--",
                           "./program", "10")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_in(JPROF, "export", "--format", "lackey", "t.itrace")
        self.assertEqual(done.returncode, 2)
        self.assertIn("jprof itrace --memory", done.stderr)

    def test_with_branches(self):
        self.build("-O2")
        done = self.run_in(JPROF, "itrace", "--memory", "--function", "work", "-o", "t.itrace",
                           "--", "./program", "10")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_in(JPROF, "report", "arc", "t.itrace")
        self.assertIn("work", done.stdout)


if __name__ == "__main__":
    if platform.machine() != "x86_64":
        jvms.skip("references to memory are recorded on x86-64 only")
    unittest.main()
