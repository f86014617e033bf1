#!/usr/bin/env python3
"""Measures `jprof itrace`: instructions per second of its engines on C, C++ and Java code.

Usage: bench/cost/itrace.py [--jprof PATH] [--java JAVA] [--rounds N]

Prints the median of some rounds for each program and engine. Exit status 1 if the block engine and
the step engine count differently, or the block engine is below a million instructions per second on
a loop; 77 if a compiler is missing.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

BOUND = 1.0  # million instructions per second

LOOP = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) long work(long n) {
  long s = 0;
  for (long i = 0; i < n; i++) s += (i & 3) ? i * 3 : s >> 2;
  return s;
}
int main(int c, char** v) { printf("%ld\\n", work(atol(v[1]))); }
"""
CALLS = """
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>
#include <algorithm>
struct Node { virtual long get(long i) const = 0; virtual ~Node() = default; };
struct One : Node { long get(long i) const override { return i; } };
struct Two : Node { long get(long i) const override { return i * 2; } };
extern "C" __attribute__((noinline)) long work(long n) {
  std::map<long, long> all;
  std::vector<Node*> nodes = {new One, new Two};
  std::vector<long> list;
  for (long i = 0; i < n; i++) {
    all[i * 7919 % 1009] += nodes[i & 1]->get(i);
    list.push_back(i * 31 % 977);
  }
  std::sort(list.begin(), list.end());
  long s = list[n / 2];
  for (auto& [k, v] : all) s += k ^ v;
  return s;
}
int main(int c, char** v) { std::printf("%ld\\n", work(std::atol(v[1]))); }
"""
JAVA = """
public class Work {
  static int[] a = new int[1000];
  static int sum(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += (a[i % 1000] ^ i) * 3;
    return s;
  }
  public static void main(String[] x) {
    long end = System.nanoTime() + 4_000_000_000L, r = 0;
    while (System.nanoTime() < end) r += sum(Integer.parseInt(x[0]));
    System.out.println(r != 1);
  }
}
"""


def measure(jprof, options, command, folder):
    """(instructions, millions of them per second, references to memory)"""
    out = os.path.join(folder, "out.itrace")
    shutil.rmtree(out, ignore_errors=True)
    said = subprocess.run(
        [jprof, "itrace", "-o", out, *options, "--", *command],
        capture_output=True, text=True, timeout=300,
    )
    found = re.search(r"(\d+) instructions in [\d.]+ s \(([\d.]+) million/s\)", said.stderr)
    seconds = re.search(r"instructions in ([\d.]+) s", said.stderr)
    if not found:
        sys.exit(f"{command}: {said.stderr}")
    count = int(found.group(1))
    references = re.search(r"(\d+) references to memory", said.stderr)
    return (count, count / max(float(seconds.group(1)), 1e-3) / 1e6,
            int(references.group(1)) if references else 0)


def build(folder, name, text, compiler):
    source = os.path.join(folder, name)
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    program = os.path.splitext(source)[0]
    subprocess.run([compiler, "-O2", "-o", program, source], check=True)
    return program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jprof", default="build/release/bin/jprof")
    parser.add_argument("--java", default=shutil.which("java"))
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    jprof = os.path.abspath(arguments.jprof)
    if not shutil.which("gcc") or not shutil.which("g++"):
        print("gcc and g++ are needed")
        sys.exit(77)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        c = build(folder, "loop.c", LOOP, "gcc")
        cpp = build(folder, "calls.cc", CALLS, "g++")
        rows = [
            ("C, a loop", [c], "work", "50000000", "300"),
            ("C++, containers and virtual calls", [cpp], "work", "1000000", "30"),
        ]
        if arguments.java:
            javac = os.path.join(os.path.dirname(os.path.realpath(arguments.java)), "javac")
            with open("Work.java", "w", encoding="utf-8") as file:
                file.write(JAVA)
            subprocess.run([javac, "Work.java"], check=True)
            java = [arguments.java, "-Xbatch", "-XX:-TieredCompilation", "-cp", folder, "Work"]
            rows.append(("Java, a compiled method", java, "Work.sum", "20000000", "100"))
        print(f"{'program':36}{'engine':20}{'instructions':>14}{'million/s':>12}{'references':>14}")
        for name, command, function, size, small in rows:
            for label, options, argument in (
                ("block", [], size),
                ("block, only counts", ["--no-records"], size),
                ("block, memory", ["--no-records", "--memory"], size),
                ("step", ["--engine", "step"], small),
            ):
                got = [
                    measure(jprof, ["--function", function, *options], [*command, argument], folder)
                    for _ in range(arguments.rounds if label != "step" else 1)
                ]
                rate = statistics.median(one[1] for one in got)
                print(f"{name:36}{label:20}{got[0][0]:14}{rate:12.2f}{got[0][2]:14}", flush=True)
                failed |= label != "step" and rate < BOUND
            if "Java" not in name:
                block = measure(jprof, ["--function", function], [*command, small], folder)[0]
                failed |= block != got[0][0]
                if block != got[0][0]:
                    print(f"{name}: block counts {block}, step {got[0][0]}")
    sys.exit(1 if failed else 0)


main()
