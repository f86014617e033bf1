#!/usr/bin/env python3
"""Tests the agent `pages` of `jprof optimize`: what it predicts is what large pages then save.
Skips where the kernel does not leave large pages to programs.

  optimize_pages.py JPROF
"""
import json
import os
import re
import shutil
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
import jvms  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))
ENABLED = "/sys/kernel/mm/transparent_hugepage/enabled"
MIB = 1 << 20

# A table that is touched everywhere, one that is touched here and there, and small blocks.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N (64L << 20)
__attribute__((noinline)) static char* dense(void) { char* p = malloc(N); memset(p, 1, N); return p; }
__attribute__((noinline)) static char* sparse(void) {
  char* p = malloc(N);
  for (long i = 0; i < N; i += 1 << 21) p[i] = 1;
  return p;
}
int main(int argc, char** argv) {
  char *d = dense(), *s = sparse();
  unsigned long x = 1, sum = 0;
  long turns = atol(argv[1]);
  for (long i = 0; i < turns; i++) {
    x = x * 6364136223846793005UL + 1442695040888963407UL;
    sum += d[(x >> 33) % N] + s[(x >> 43) % N >> 21 << 21];
  }
  printf("%lu\n", sum);
  return argc > 2 ? atoi(argv[2]) : 0;
}
"""


def setting():
    try:
        with open(ENABLED, encoding="ascii") as file:
            return re.search(r"\[(\w+)\]", file.read())[1]
    except OSError:
        return ""


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.mkdtemp(prefix="jprof-pages-")
        cls.addClassCleanup(shutil.rmtree, cls.made)
        with open(f"{cls.made}/tables.c", "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        done = child.run(["gcc", "-O2", "-g", "-o", "tables", "tables.c"], cwd=cls.made)
        assert done.returncode == 0, done.stderr

    def setUp(self):
        self.database = os.path.join(self.made, self.id() + ".db")

    def optimize(self, *words, status=0):
        done = child.run([JPROF, "optimize", "--database", self.database, *words], cwd=self.made,
                         timeout=300)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def programs(self):
        return json.loads(self.optimize("explain", "--format", "json").stdout)["programs"]

    def explained(self):
        return self.programs()[0]

    def test_what_is_predicted_is_saved(self):
        done = self.optimize("--agent", "pages", "--runs", "6", "--", "./tables", "3000000")
        lines = [line for line in done.stderr.splitlines() if line.startswith("jprof optimize: ")]
        self.assertEqual(len(lines), 6, done.stderr)
        self.assertIn("run 1 of tables: measured; pages proposes ", lines[0])
        self.assertIn("huge pages (dense, tables.c:6, called by main)", lines[0])
        self.assertEqual(len(set(done.stdout.split())), 1, done.stdout)
        program = self.explained()
        directives = {one["text"].split("(")[1].split(",")[0]: one
                      for one in program["directives"] if "(" in one["text"]}
        dense = directives["dense"]
        self.assertEqual(dense["state"], "validated", program)
        predicted = dense["predictions"][0]["benefit"]
        expected = 64 * MIB // 4096 - 64 * MIB // (2 * MIB)
        self.assertAlmostEqual(predicted, expected, delta=expected * 0.02)
        observed = [one["benefit"] for one in dense["observed"] if one["figure"] == "page faults"][0]
        self.assertAlmostEqual(observed, predicted, delta=predicted * 0.02)
        # Nothing is saved by a large page for each page that is touched.
        self.assertNotIn("sparse", directives)
        self.assertIn("of TLB misses", dense["cost"])

    def test_the_program_s_status_is_kept(self):
        self.optimize("--agent", "pages", "--", "./tables", "100000", "7", status=7)

    def test_a_program_that_is_killed_is_measured_again(self):
        for number in (1, 2):
            done = self.optimize("--agent", "pages", "--", "sh", "-c", "kill -9 $$", status=137)
            self.assertIn(f"run {number} of sh: measured for pages, without a result; measures "
                          "again: signal 9 ended it", done.stderr)

    def test_the_page_faults_are_the_kernel_s(self):
        # A shell ends by _exit, and executes another program in its own process.
        for command in ("exit 0", "exec ./tables 1000"):
            self.optimize("--agent", "pages", "--", "sh", "-c", command)
        faults = [one["value"] for program in self.programs() for one in program["runs"][0]["figures"]
                  if one["name"] == "page faults"]
        self.assertEqual(len(faults), 2)
        self.assertGreater(faults[0], 50)
        touched = 64 * MIB // 4096
        self.assertGreater(faults[1], touched)
        self.assertLess(faults[1], touched * 1.1 + faults[0])

    def test_what_it_cannot_do_is_named(self):
        done = child.run(["gcc", "-static", "-o", "static", "tables.c"], cwd=self.made)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.optimize("--agent", "pages", "--", "./static", "1", status=2)
        self.assertIn("pages: it is linked statically; nothing was started", done.stderr)


if __name__ == "__main__":
    if setting() != "madvise":
        jvms.skip(f"{ENABLED} is not madvise")
    if not shutil.which("gcc"):
        jvms.skip("gcc is not installed")
    if not os.path.exists(os.path.join(os.path.dirname(JPROF), os.pardir, "lib",
                                       "libjprof-pages.so")):
        jvms.skip("libjprof-pages.so is not built")
    unittest.main(verbosity=2)
