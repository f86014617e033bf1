#!/usr/bin/env python3
"""Compares `jprof report arc` with callgrind: instructions and calls of each function of two
programs that the benchmark compiles (recursion, tail calls, callbacks, longjmp, a signal;
exceptions, virtual functions, templates).

  arc_against_callgrind.py JPROF

Functions of the dynamic linker and the C library depend on the processor, which callgrind emulates:
they are left out. So is the code around main, which callgrind names by its address. A function and
its cold part count together: what follows a jump from the cold part back into the function is the
cold part's for callgrind. Exits with 1 if a function differs, with 77 if valgrind is not installed.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

C = r"""
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static jmp_buf begin;
static volatile int sum;
__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) void leaf(int i) { sum += i; }
__attribute__((noinline)) void loop(int n) { for (int i = 0; i < n; i++) leaf(i); }
__attribute__((noinline)) void tail(int n) { sum++; loop(n); }
__attribute__((noinline)) void jumper(void) { sum++; longjmp(begin, 1); }
void handler(int number) { leaf(number); }
int compare(const void* a, const void* b) { return *(int*)a - *(int*)b; }
int main(void) {
  signal(SIGUSR1, handler);
  printf("%d\n", fib(15));
  for (int i = 0; i < 10; i++) tail(100);
  for (int i = 0; i < 5; i++) if (!setjmp(begin)) jumper();
  raise(SIGUSR1);
  int a[64];
  for (int i = 0; i < 64; i++) a[i] = i * 37 % 64;
  qsort(a, 64, sizeof(int), compare);
  char bytes[4096];
  memset(bytes, 1, sizeof bytes);
  return bytes[sum % 100] - 1;
}
"""
CPP = r"""
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
static volatile int sum;
__attribute__((noinline)) void deep(int n) {
  if (n == 0) throw std::runtime_error("x");
  sum += n;
  deep(n - 1);
  sum++;
}
__attribute__((noinline)) int catcher(int n) {
  try { deep(n); } catch (const std::exception&) { sum += 2; return 1; }
  return 0;
}
__attribute__((noinline)) void work(int n) { for (int i = 0; i < n; i++) sum += i; }
struct Base {
  virtual ~Base() {}
  virtual int f(int x) { return x + 1; }
};
struct Derived : Base {
  int f(int x) override { work(x); return x * 2; }
};
int main() {
  int count = 0;
  for (int i = 0; i < 5; i++) count += catcher(8);
  Base* base = new Derived;
  for (int i = 0; i < 20; i++) count += base->f(i);
  delete base;
  std::vector<std::string> texts;
  for (int i = 0; i < 50; i++) texts.push_back(std::to_string(i * 7 % 50));
  std::sort(texts.begin(), texts.end());
  std::printf("%d %s\n", count, texts[3].c_str());
}
"""
NUMBERED = re.compile(r"\((\d+)\)(?: (.*))?")
AROUND_MAIN = re.compile(r"\(below main\)|0x|_start$|_init$|_fini$|__do_global|.*register_tm_clones|"
                         "frame_dummy")


def whole(name):
    return name.removesuffix(" [clone .cold]")


def callgrind_functions(path, program):
    """Function -> [instructions, calls], of the program's own functions."""
    objects, names, sums = {}, {}, collections.defaultdict(lambda: [0, 0])

    def name(text, known):
        number, given = NUMBERED.match(text).groups()
        return known.setdefault(number, given)

    place = of = callee_object = callee = None
    after_calls = False
    with open(path, encoding="utf-8") as file:
        for line in file:
            key, _, value = line.rstrip("\n").partition("=")
            if key == "ob":
                place = name(value, objects)
            elif key == "fn":
                of, callee_object = (place, name(value, names)), None
            elif key == "cob":
                callee_object = name(value, objects)
            elif key == "cfn":
                callee = (callee_object or place, name(value, names))
            elif key == "calls":
                sums[callee][1] += int(value.split()[0])
                after_calls, callee_object = True, None
            elif re.match(r"[-+*\d]", line):
                if not after_calls:
                    sums[of][0] += int(line.split()[1])
                after_calls = False
    functions = collections.defaultdict(lambda: [0, 0])
    for (place, function), (instructions, calls) in sums.items():
        if place and os.path.basename(place) == program:
            row = functions[re.sub(r"'\d+$", "", whole(function))]  # levels of a recursion
            row[0] += instructions
            row[1] += calls
    return functions


def arc_functions(jprof, trace, program):
    rows = json.loads(subprocess.run([jprof, "report", "arc", trace, "--format", "json"], check=True,
                                     stdout=subprocess.PIPE).stdout)["functions"]
    functions = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        if row["function"].startswith(program + "."):
            sums = functions[whole(row["function"][len(program) + 1:])]
            sums[0] += row["self"]
            sums[1] += row["calls"]
    return functions


def differences(jprof, folder, program, source, compiler):
    with open(os.path.join(folder, source), "w", encoding="utf-8") as file:
        file.write(C if source.endswith(".c") else CPP)
    subprocess.run([compiler, "-g", "-O2", "-fno-builtin", "-o", program, source], cwd=folder,
                   check=True)
    quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=out", "./" + program],
                   check=True, **quiet)
    trace = os.path.join(folder, program + ".itrace")
    subprocess.run([jprof, "itrace", "-o", trace, "--", "./" + program], check=True, **quiet)
    theirs = callgrind_functions(os.path.join(folder, "out"), program)
    ours = arc_functions(jprof, trace, program)
    found = 0
    names = [name for name in sorted({*theirs, *ours}) if not AROUND_MAIN.match(name)]
    for name in names:
        a, b = theirs.get(name, [0, 0]), ours.get(name, [0, 0])
        by_signal = name == "handler"  # no call for callgrind
        if a[0] != b[0] or (a[1] != b[1] and not by_signal):
            found += 1
            print(f"{program}: {name}: callgrind {a}, arc {b}")
    print(f"{program}: {len(names) - found} of {len(names)} functions have the same instructions "
          "and calls")
    return found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if shutil.which("valgrind") is None:
        print("valgrind is not installed")
        sys.exit(77)
    jprof = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="jprof-arc-") as folder:
        found = differences(jprof, folder, "plain", "plain.c", os.environ.get("CC", "gcc"))
        found += differences(jprof, folder, "thrown", "thrown.cc", os.environ.get("CXX", "g++"))
    sys.exit(1 if found else 0)


main()
