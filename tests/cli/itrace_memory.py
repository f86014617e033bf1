#!/usr/bin/env python3
"""Tests the references to memory of `jprof itrace --memory`: equal to those of valgrind's lackey,
by the site that allocated the memory, and what commands say of recordings with and without them.

Usage: itrace_memory.py JPROF
"""
import csv
import glob
import io
import json
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

    # Valgrind's processor has no AVX-512, so the C library's functions must not use it elsewhere.
    ENV = {**os.environ, "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW"}

    def run_in(self, *command):
        return child.run([str(word) for word in command], cwd=self.folder, env=self.ENV)

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
        done = self.run_in(JPROF, "report", "t.itrace")  # it has no branches
        self.assertIn("jprof memory of t.itrace", done.stdout)
        self.assertIn("Its report: jprof report memory", self.run_in(JPROF, "info", "t.itrace").stdout)
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


# Two tables that are allocated in functions of their own, and static data that are in no other
# function. The number of references to each is known.
TABLES = r"""
#include <stdio.h>
#include <stdlib.h>
#define N (1L << 17)
static volatile long fixed[N];
__attribute__((noinline)) static volatile long* left(void) { return malloc(N * sizeof(long)); }
__attribute__((noinline)) static volatile long* right(void) { return malloc(N * sizeof(long)); }
__attribute__((noinline)) static volatile long* again(void) { return malloc(N * sizeof(long)); }
__attribute__((noinline)) static void work(volatile long* a, volatile long* b) {
  for (long i = 0; i < N; i++) a[i] = i;
  for (long i = 0; i < N; i++) (void)b[i], (void)b[N - 1 - i];
  for (long i = 0; i < N; i++) fixed[i] = a[i];
}
int main(void) {
  volatile long *a = left(), *b = right();
  work(a, b);
  printf("%p %p %p\n", (void*)a, (void*)b, (void*)fixed);
  free((void*)a);
  volatile long* c = again();
  for (long i = 0; i < N; i++) c[i] = i;
  return 0;
}
"""
ENTRIES = 1 << 17
LINES = ENTRIES * 8 // 64


class Sites(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="jprof-sites-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        with open(os.path.join(cls.folder, "tables.c"), "w", encoding="utf-8") as file:
            file.write(TABLES)
        for more in ((), ("-static",)):
            done = cls.run_in("gcc", "-O1", "-g", *more, "-o", "tables" + "".join(more), "tables.c")
            assert done.returncode == 0, done.stderr
        cls.work = cls.record("work.itrace", "--function", "work")
        cls.all = cls.record("all.itrace")

    @classmethod
    def run_in(cls, *command):
        return child.run(list(command), cwd=cls.folder, timeout=300)

    @classmethod
    def record(cls, out, *options, sites=("--sites",), program="./tables"):
        done = cls.run_in(JPROF, "itrace", "--memory", *sites, "--no-records", *options, "-o", out,
                          "--", program)
        assert done.returncode == 0, done.stderr
        return done

    def report(self, *words, status=0):
        done = self.run_in(JPROF, "report", "memory", *words)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def document(self, name, *words):
        return json.loads(self.report("--format", "json", *words, name))

    def sites(self, name):
        """The rows by the innermost function of a site, or by the kind of the memory."""
        rows = self.document(name)["sites"]
        named = {row["name"].split()[0] if row["kind"] == "site" else row["kind"]: row
                 for row in rows}
        self.assertEqual(len(named), len(rows), rows)
        return named

    def copy(self, name):
        shutil.copytree(os.path.join(self.folder, name), os.path.join(self.folder, self.id()))
        return self.id()

    def log_of(self, name):
        logs = glob.glob(os.path.join(self.folder, name, "pages.*"))
        self.assertEqual(len(logs), 1)
        return logs[0]

    def test_the_numbers_of_a_function_are_the_known_ones(self):
        rows = self.sites("work.itrace")
        for name, loads, stores in (("left", ENTRIES, ENTRIES), ("right", 2 * ENTRIES, 0),
                                    ("static", 0, ENTRIES)):
            row = rows[name]
            self.assertEqual((row["loads"], row["stores"]), (loads, stores), row)
            self.assertEqual(row["references"], loads + stores)
            self.assertIn(row["lines"], (LINES, LINES + 1))
        self.assertEqual(rows["static"]["key"], "tables")
        self.assertRegex(rows["left"]["name"], r"^left \(tables\.c:6\) < main \(tables\.c:\d+\)")
        self.assertLess(sum(row["references"] for name, row in rows.items()
                            if name not in ("left", "right", "static")), 100)

    def test_so_are_those_of_the_whole_program(self):
        rows = self.sites("all.itrace")
        for name, loads, stores in (("left", ENTRIES, ENTRIES), ("right", 2 * ENTRIES, 0)):
            # Others may have had the address shortly before or later: files that the linker maps.
            self.assertTrue(loads <= rows[name]["loads"] < loads + 1000, rows[name])
            self.assertTrue(stores <= rows[name]["stores"] < stores + 1000, rows[name])
        # What is in malloc's heap until the block is logged; where that changes, times are estimates.
        self.assertLessEqual(rows["again"]["stores"], ENTRIES)
        self.assertGreaterEqual(rows["again"]["stores"] + rows["heap"]["stores"], ENTRIES)
        self.assertGreater(rows["again"]["stores"], ENTRIES // 2)
        self.assertGreaterEqual(rows["static"]["stores"], ENTRIES)
        self.assertGreater(rows["stack"]["references"], 1000)
        self.assertIn("heap", rows)

    def test_the_rows_are_the_references_joined_by_printed_addresses(self):
        begins = [int(word, 16) for word in self.work.stdout.split()]
        done = self.run_in(JPROF, "export", "--format", "lackey", "-o", "t.lackey", "work.itrace")
        self.assertEqual(done.returncode, 0, done.stderr)
        counts = [0] * 3
        with open(os.path.join(self.folder, "t.lackey"), encoding="ascii") as file:
            for at in re.findall(r"^ [LSM] ([0-9a-f]+),\d+$", file.read(), re.M):
                for i, begin in enumerate(begins):
                    counts[i] += begin <= int(at, 16) < begin + ENTRIES * 8
        rows = self.sites("work.itrace")
        self.assertEqual(counts, [rows[name]["references"] for name in ("left", "right", "static")])

    def test_the_rows_add_up(self):
        for name in ("work.itrace", "all.itrace"):
            document = self.document(name)
            for table in ("functions", "sites"):
                for key in ("references", "loads", "stores", "first_misses", "walks"):
                    self.assertEqual(sum(row[key] for row in document[table]), document[key],
                                     (name, table, key))

    def test_the_program_s_own_functions_refer_to_the_same(self):
        self.record("plain.itrace", sites=())
        own = {}
        for name in ("plain.itrace", "all.itrace"):
            own[name] = {row["function"]: [row["references"], row["loads"], row["stores"]]
                         for row in self.document(name)["functions"]
                         if row["module"].endswith("/tables")}
        self.assertEqual(own["plain.itrace"], own["all.itrace"])
        text = self.report("plain.itrace")
        self.assertIn("jprof itrace --memory --sites -- CMD...", text)
        self.assertNotIn("MEMORY", text)
        said = self.report("--by", "site", "plain.itrace", status=2)
        self.assertIn("record that with: jprof itrace --memory --sites -- CMD...", said)
        self.assertNotIn("sites", self.document("plain.itrace"))

    def test_one_table_or_both(self):
        text = self.report("work.itrace")
        self.assertLess(text.index(" FUNCTION\n"), text.index(" MEMORY\n"))
        self.assertLess(text.index(" MEMORY\n"), text.index("misses of a least recently used"))
        for by, has, lacks in (("site", "MEMORY", "FUNCTION"), ("function", "FUNCTION", "MEMORY")):
            text = self.report("--by", by, "work.itrace")
            self.assertIn(f" {has}\n", text)
            self.assertNotIn(f" {lacks}\n", text)
            self.assertEqual(text.count("misses of a least recently used cache of lines"), 1)
        rows = list(csv.DictReader(io.StringIO(
            self.report("--format", "csv", "--by", "site", "work.itrace"))))
        expected = self.document("work.itrace")["sites"]
        self.assertEqual(rows, [{key: str(value) for key, value in row.items()}
                                for row in expected])
        self.assertEqual(self.document("work.itrace", "--by", "site")["sites"], expected)
        self.assertIn("function", self.report("--format", "csv", "work.itrace").splitlines()[0])

    def test_a_damaged_log(self):
        name = self.copy("work.itrace")
        log = self.log_of(name)
        with open(log, "r+b") as file:
            file.seek(64 + 28)  # the kind of the first slot
            file.write(b"\xc8")
        text = self.report(name)
        self.assertRegex(text, r"sites: pages\.\d+ has damaged entries: \d+")
        self.assertIn(" MEMORY\n", text)
        with open(log, "wb") as file:
            file.write(b"no log")
        text = self.report(name)
        self.assertRegex(text, r"sites: pages\.\d+: it is no log of libjprof-pages\.so")
        self.assertNotIn(" MEMORY\n", text)
        self.assertIn("tables.work", text)
        done = self.run_in(JPROF, "report", "memory", "--format", "csv", name)
        self.assertIn("it is no log of libjprof-pages.so", done.stderr)

    def test_a_program_that_cannot_be_preloaded(self):
        done = self.record("static.itrace", "--function", "work", program="./tables-static")
        self.assertEqual([line for line in done.stderr.splitlines() if "sites" in line],
                         [next(line for line in done.stderr.splitlines()
                               if "sites of allocations are not recorded" in line)])
        self.assertIn("it is linked statically", done.stderr)
        self.assertIn("tables-static.work", self.report("static.itrace"))

    def test_wrong_use(self):
        for words, said in ((("--sites", "--", "./tables"), "--sites requires --memory"),
                            (("--memory", "--sites", "-p", str(os.getpid())), "--sites excludes -p")):
            done = self.run_in(JPROF, "itrace", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    def test_the_recording_has_only_the_process_s_own_log(self):
        done = self.run_in(JPROF, "itrace", "--memory", "--sites", "--no-records", "-o", "sh.itrace",
                           "--", "sh", "-c", "./tables; exec ./tables")
        self.assertEqual(done.returncode, 0, done.stderr)
        logs = sorted(os.path.basename(path) for path in
                      glob.glob(os.path.join(self.folder, "sh.itrace", "pages.*")))
        self.assertEqual(len(logs), 2, logs)  # of the shell, and of what it executed
        self.assertTrue(logs[1].startswith(logs[0] + "."), logs)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "sh.itrace", "plan")))
        self.assertGreaterEqual(self.sites("sh.itrace")["left"]["references"], ENTRIES)


if __name__ == "__main__":
    if platform.machine() != "x86_64":
        jvms.skip("references to memory are recorded on x86-64 only")
    unittest.main()
