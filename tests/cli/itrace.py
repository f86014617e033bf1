#!/usr/bin/env python3
"""Tests jprof itrace: counts equal to callgrind's, ends of a trace, processes that are attached to,
wrong use, and JVMs.

Usage: itrace.py JPROF
"""
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
import jvms  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))
AGENT = os.path.join(os.path.dirname(JPROF), os.pardir, "lib", "libjprof.so")

C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
struct node { long v; struct node* next; };
__attribute__((noinline)) long work(long n) {
  static struct node pool[512];
  struct node* h = 0;
  long s = 0;
  for (long i = 0; i < n; i++) {
    struct node* p = &pool[i & 511];
    p->v = i * 7 % 13;
    p->next = h;
    h = p;
    if ((i & 511) == 511) {
      for (struct node* q = h; q && q != pool; q = q->next) s += q->v;
      h = 0;
    }
    switch (i % 7) {
      case 0: s ^= i; break;
      case 1: s += 3; break;
      case 2: s -= i; break;
      case 3: s *= 3; break;
      case 4: s |= 1; break;
      case 5: s &= ~2L; break;
      default: s = -s;
    }
  }
  return s;
}
__attribute__((noinline)) long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(int argc, char** argv) {
  long n = atol(argv[1]), seconds = argc > 2 ? atol(argv[2]) : 0, s = 0;
  volatile long size = n;
  time_t end = time(0) + seconds;
  do {
    s = work(size) + fib(15);
  } while (time(0) < end);
  printf("%ld\n", s);
  return 3;
}
"""
CPP = r"""
#include <cstdio>
#include <cstdlib>
struct Node { virtual long get(long i) const = 0; virtual ~Node() = default; };
struct One : Node { long get(long i) const override { return i ^ 5; } };
struct Two : Node { long get(long i) const override { return i * 2; } };
static One one;
static Two two;
template <typename T> __attribute__((noinline)) T mix(T a, T b) { return a * 31 + b; }
extern "C" __attribute__((noinline)) long work(long n) {
  const Node* nodes[] = {&one, &two, &two};
  long s = 0;
  double d = 1;
  for (long i = 0; i < n; i++) {
    s = mix(s, nodes[i % 3]->get(i));
    try {
      if (i % 1000 == 1001) throw 1;
      d = mix(d, 0.5) / 31;
    } catch (int) { s++; }
  }
  return s + long(d);
}
int main(int argc, char** argv) { std::printf("%ld\n", work(std::atol(argv[1]))); }
"""
JAVA = r"""
public class Work {
  static int[] a = new int[1000];
  static Object[] keep = new Object[1000];
  static int sum(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
      s += (a[i % 1000] ^ i) * 3;
      if (i % 100 == 0) keep[i % 1000] = new byte[2000];
    }
    return s;
  }
  public static void main(String[] x) {
    long end = System.nanoTime() + 6_000_000_000L;
    boolean same = true;
    int expected = sum(50_000);
    for (int i = 0; i < 3000 || System.nanoTime() < end; i++) same &= sum(50_000) == expected;
    int caught = 0;
    for (int i = 0; i < 3000; i++) {
      Object o = i < 0 ? "" : null;
      try { o.hashCode(); } catch (NullPointerException e) { caught++; }
    }
    System.out.println("same " + same + " caught " + caught);
  }
}
"""

# Reads its own number of instructions around a loop of 4 * 1000 and a few.
COUNTER = r"""
#include <stdint.h>
#include <stdio.h>
static _Thread_local volatile int64_t counter;
int64_t jprof_thread_instructions_offset;
__attribute__((noinline)) void region(long n) {
  for (volatile long i = 0; i < n; i = i + 1) {}
}
__attribute__((noinline, noclone)) int64_t measured(long n) {
  int64_t before = counter;
  region(n);
  return counter - before;
}
__attribute__((noinline)) void work(void) {
  int64_t a = measured(1000), b = measured(2000), c = measured(3000);
  printf("%ld %ld\n", (long)(b - a), (long)(c - b));
}
int main(void) {
  char* pointer;
  __asm__("mov %%fs:0, %0" : "=r"(pointer));
  jprof_thread_instructions_offset = (char*)&counter - pointer;
  work();
}
"""


def itrace(*arguments, **options):
    return child.run([JPROF, "itrace", *arguments], **options)


def counted(said):
    return int(re.search(r"jprof: (\d+) instructions in", said.stderr).group(1))


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.before = os.getcwd()
        os.chdir(self.folder)

    def tearDown(self):
        os.chdir(self.before)
        shutil.rmtree(self.folder)

    def build(self, name, text):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        compiler = shutil.which("g++" if name.endswith(".cc") else "gcc")
        if compiler is None:
            self.skipTest("no compiler")
        program = os.path.splitext(name)[0]
        subprocess.run([compiler, "-O2", "-g", "-o", program, name], check=True)
        return "./" + program


class Counts(InFolder):
    def callgrind(self, program, function, *arguments):
        if shutil.which("valgrind") is None:
            self.skipTest("no valgrind")
        said = child.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
             "--collect-atstart=no", f"--toggle-collect={function}", program, *arguments]
        )
        return int(re.search(r"Collected : (\d+)", said.stderr).group(1))

    def test_c_as_callgrind(self):
        program = self.build("c.c", C)
        for size in ("100", "100000"):
            said = itrace("--function", "work", "--", program, size)
            self.assertEqual(said.returncode, 3, said.stderr)
            self.assertEqual(counted(said), self.callgrind(program, "work", size))

    def test_cpp_as_callgrind(self):
        program = self.build("cpp.cc", CPP)
        said = itrace("--no-records", "--function", "work", "--", program, "50000")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertEqual(counted(said), self.callgrind(program, "work", "50000"))

    def test_recursion_is_inside(self):
        program = self.build("c.c", C)
        said = itrace("--function", "fib", "--", program, "10")
        self.assertEqual(counted(said), self.callgrind(program, "fib", "10"))

    def test_engines_agree(self):
        program = self.build("c.c", C)
        block = itrace("--function", "work", "--engine", "block", "--", program, "100")
        step = itrace("--function", "work", "--engine", "step", "--", program, "100")
        self.assertEqual(counted(block), counted(step))

    def test_exactly_so_many(self):
        program = self.build("c.c", C)
        for number in ("1", "1000", "123456"):
            said = itrace("--instructions", number, "--", program, "100000")
            self.assertEqual(counted(said), int(number))
            self.assertEqual(said.returncode, 3)

    def test_a_program_reads_its_own_count(self):
        program = self.build("counter.c", COUNTER)
        outputs = set()
        for options in ([], ["--no-records"], ["--engine", "step"]):
            said = itrace("--function", "work", *options, "--", program)
            self.assertEqual(said.returncode, 0, said.stderr)
            first, second = map(int, said.stdout.split())
            self.assertEqual(first, second)
            self.assertEqual(first % 1000, 0)
            outputs.add(said.stdout)
        self.assertEqual(len(outputs), 1, outputs)

    def test_calls(self):
        program = self.build("c.c", C)
        one = itrace("--function", "work", "--", program, "100", "1")
        ten = itrace("--function", "work", "--calls", "10", "--", program, "100", "1")
        self.assertEqual(ten.stderr.count("thread"), 1, ten.stderr)
        # The first call initialises: its branches may differ by those of no other.
        self.assertAlmostEqual(counted(ten) / counted(one), 10, delta=0.1)


class Ends(InFolder):
    def test_what_is_written(self):
        program = self.build("c.c", C)
        said = itrace("-o", "t.itrace", "--", program, "100")
        self.assertEqual(said.returncode, 3, said.stderr)
        self.assertIn("jprof: next:    jprof report t.itrace", said.stderr)
        self.assertEqual(sorted(os.listdir("t.itrace")), ["branches", "recording.json", "samples"])
        with open("t.itrace/recording.json", encoding="utf-8") as file:
            meta = json.load(file)
        self.assertIn("engine", meta["sampling"])
        self.assertEqual(meta["command"], f"{program} 100")

    def test_without_records_nothing_is_written(self):
        program = self.build("c.c", C)
        self.assertEqual(itrace("--no-records", "--", program, "100").returncode, 3)
        self.assertEqual([name for name in os.listdir() if "itrace" in name], [])

    def test_wrong_use(self):
        for arguments in (
            [], ["-p", "999999999"], ["--to", "x", "--", "true"], ["--calls", "2", "--", "true"],
            ["-p", str(os.getpid()), "--", "true"], ["--function", "a", "--from", "b", "--", "true"],
            ["--engine", "fast", "--", "true"], ["--", "no-such-program"],
        ):
            said = itrace(*arguments)
            self.assertEqual(said.returncode, 2, (arguments, said.stderr))
            self.assertEqual(said.stderr.count("\n") <= 2, True, said.stderr)

    def test_a_function_that_is_not_reached(self):
        said = itrace("--function", "no_such_function", "--", "true")
        self.assertEqual(said.returncode, 1)
        self.assertIn("no_such_function was not reached", said.stderr)

    def attached(self, *arguments, ends=None):
        """Traces a running program; returns what jprof said and the program's output."""
        program = self.build("c.c", C)
        with subprocess.Popen([program, "1000", "4"], stdout=subprocess.PIPE, text=True) as running:
            time.sleep(0.3)
            begin = time.monotonic()
            with subprocess.Popen(
                [JPROF, "itrace", "-p", str(running.pid), *arguments],
                stderr=subprocess.PIPE, text=True,
            ) as tracer:
                if ends:
                    time.sleep(0.7)
                    tracer.send_signal(ends)
                said = tracer.communicate(timeout=600)[1]
            self.assertLess(time.monotonic() - begin, 30, "the trace ended late")
            with open(f"/proc/{running.pid}/maps", encoding="utf-8") as maps:
                self.assertNotIn("memfd", maps.read())
            self.assertIsNone(running.poll())
            output = running.communicate(timeout=600)[0]
        self.assertEqual(running.returncode, 3)
        expected = subprocess.run([program, "1000"], stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(output, expected)
        return said

    def test_a_running_process_goes_on(self):
        said = self.attached("--duration", "0.5")
        self.assertRegex(said, r"(?m)^jprof: trace:   .*\njprof: next:    jprof report ")
        self.attached("--function", "work", "--calls", "3")

    def test_signals_end_the_trace_not_the_program(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            said = self.attached(ends=number)
            self.assertIn("ended by a signal", said)


class Jvms(InFolder):
    def each(self):
        if not os.path.exists(AGENT):
            self.skipTest("no agent library")
        for jdk in jvms.find_jdks():
            with open("Work.java", "w", encoding="utf-8") as file:
                file.write(JAVA)
            subprocess.run([jdk.tool("javac"), "-d", ".", "Work.java"], check=True)
            yield jdk

    def test_a_method_and_the_program_afterwards(self):
        for jdk in self.each():
            with self.subTest(jdk.name):
                said = itrace(
                    "--function", "Work.sum", "--calls", "300", "--",
                    jdk.tool("java"), "-Xmx48m", "-XX:CompileCommand=quiet",
                    "-XX:CompileCommand=dontinline,Work.sum", "-cp", ".", "Work",
                )
                self.assertEqual(said.returncode, 0, said.stderr)
                self.assertEqual(said.stdout, "same true caught 3000\n")
                self.assertGreater(counted(said), 300 * 50_000)

    def test_every_thread(self):
        for jdk in self.each():
            with self.subTest(jdk.name):
                said = itrace(
                    "--threads", "all", "--no-records", "--",
                    jdk.tool("java"), "-Xmx48m", "-XX:TieredStopAtLevel=1", "-cp", ".", "Work",
                )
                self.assertEqual(said.returncode, 0, said.stderr)
                self.assertEqual(said.stdout, "same true caught 3000\n")


if __name__ == "__main__":
    if platform.machine() != "x86_64":
        jvms.skip("the block engine is for x86-64")
    unittest.main()
