#!/usr/bin/env python3
"""Compares the counts of `jprof itrace` in warm jitted Java methods with callgrind's.

Usage: bench/accuracy/itrace_java.py [--jprof PATH] [--java JAVA] [--calls N] [--quick]

A JNI library marks the begin and the end of what is counted in the main thread. Each tool counts N
and 2N calls of a method in a JVM each; the difference is N calls of the compiled method, without
the interpreter and JNI around them. Two methods, compiled by C1 and by C2; --quick: one, by C2.

HotSpot compiles the same code in each run because compilation is in the foreground, without
background safepoints, and without instructions that valgrind does not offer the program. Valgrind
needs all registers at memory accesses: HotSpot provokes a fault at its start and compares the
address of the instruction.

Exit status 1 if the counts differ or are not N times a whole number, 77 if a tool is missing.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

JAVA = """
public class Work {
  interface Shape { int area(int n); }
  static class Square implements Shape { public int area(int n) { return n * n; } }
  static class Line implements Shape { public int area(int n) { return n ^ 3; } }
  static class Box implements Shape { public int area(int n) { return n - 7 / (n | 1); } }
  static final int[] numbers = new int[1000];
  static final Shape[] shapes = {new Square(), new Line(), new Box(), new Line()};
  static native void mark(int what);

  static int loop(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
      int v = numbers[i * 7 % 1000];
      if ((v & 1) != 0) s += v ^ i; else s -= v * 3;
    }
    return s;
  }
  static int virtual(int n) {
    int s = 0;
    double d = 1;
    for (int i = 0; i < n; i++) {
      s += shapes[i & 3].area(i);
      switch (s % 5) {
        case 0: s ^= i; break;
        case 1: s *= 3; break;
        case 2: d = d * 0.5 + s; break;
        default: s++;
      }
    }
    return s + (int) d;
  }
  static int loops(int calls) {
    int s = 0;
    for (int i = 0; i < calls; i++) s ^= loop(100);
    return s;
  }
  static int virtuals(int calls) {
    int s = 0;
    for (int i = 0; i < calls; i++) s ^= virtual(100);
    return s;
  }
  static int call(String method, int calls) {
    return method.equals("loop") ? loops(calls) : virtuals(calls);
  }
  public static void main(String[] x) throws Exception {
    System.load(x[0]);
    for (int i = 0; i < numbers.length; i++) numbers[i] = i * i % 37;
    int calls = Integer.parseInt(x[2]), s = 0;
    for (int i = 0; i < 15_000; i++) s += call(x[1], 3);
    for (int i = 0; i < 10; i++) {
      mark(0);
      s += call(x[1], 1000);
    }
    Thread.sleep(500);  // jprof looks symbols up 50 times a second
    mark(1);
    s += call(x[1], calls);
    mark(2);
    System.out.println(s);
  }
}
"""
JNI = """
#include <jni.h>
#include <valgrind/callgrind.h>
__attribute__((noinline)) void counted_begin(void) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_TOGGLE_COLLECT;  // of this thread
}
__attribute__((noinline)) void counted_end(void) { CALLGRIND_TOGGLE_COLLECT; }
JNIEXPORT void JNICALL Java_Work_mark(JNIEnv* env, jclass type, jint what) {
  (void)env, (void)type;
  if (what == 1) counted_begin();
  if (what == 2) counted_end();
}
"""
OPTIONS = [
    "-XX:+UnlockDiagnosticVMOptions", "-XX:GuaranteedSafepointInterval=0", "-XX:+UseSerialGC",
    "-Xmx64m", "-Xshare:off", "-XX:-UsePerfData", "-Xbatch", "-XX:UseAVX=0",
    "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Work.loop",
    "-XX:CompileCommand=dontinline,Work.virtual",
    # HotSpot chooses these by the processor's maker; valgrind's processor is not of the same.
    "-XX:+IgnoreUnrecognizedVMOptions", "-XX:MaxLoopPad=11", "-XX:-UseNewLongLShift",
    "-XX:-UseStoreImmI16", "-XX:-UseXMMForObjInit", "-XX:-UseXmmI2D", "-XX:-UseXmmI2F",
    "-XX:-AlignVector", "-XX:-UseUnalignedLoadStores", "-XX:-IntelJccErratumMitigation",
]
COMPILERS = {"C2": "-XX:-TieredCompilation", "C1": "-XX:TieredStopAtLevel=1"}
CALLGRIND = [
    "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--smc-check=all-non-file",
    "--vex-iropt-register-updates=allregs-at-mem-access", "--instr-atstart=no",
    "--collect-atstart=no",
]


def run(command, pattern):
    """(the count that the tool prints, the program's output)"""
    said = subprocess.run(command, capture_output=True, text=True, timeout=300)
    found = re.search(pattern, said.stderr)
    if said.returncode != 0 or not found:
        sys.exit(f"{command} exited with {said.returncode}:\n{said.stdout}{said.stderr}")
    return int(found.group(1)), said.stdout


def build(java):
    """The Java class and the JNI library, in the current folder."""
    home = os.path.dirname(os.path.dirname(os.path.realpath(java)))
    include = os.path.join(home, "include")
    if not os.path.exists(os.path.join(include, "jni.h")):
        print(f"{java}: not in a JDK")
        sys.exit(77)
    for name, text in (("Work.java", JAVA), ("mark.c", JNI)):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    subprocess.run([os.path.join(home, "bin", "javac"), "Work.java"], check=True)
    built = subprocess.run(
        ["gcc", "-O2", "-shared", "-fPIC", "-I", include, "-I", os.path.join(include, "linux"),
         "-o", "libmark.so", "mark.c"]
    )
    if built.returncode != 0:
        print("gcc cannot build the JNI library: are valgrind's headers installed?")
        sys.exit(77)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jprof", default="build/release/bin/jprof")
    parser.add_argument("--java", default=shutil.which("java"))
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    jprof = os.path.abspath(arguments.jprof)
    missing = [tool for tool in ("valgrind", "gcc") if not shutil.which(tool)]
    if missing or not arguments.java:
        print(f"missing: {' '.join(missing) or 'java'}")
        sys.exit(77)
    itrace = [
        jprof, "itrace", "--no-records", "--from", "counted_begin", "--to", "counted_end", "--"
    ]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        build(arguments.java)
        calls = arguments.calls
        print(f"{'method':10}{'compiler':10}{'callgrind':>12}{'itrace':>12}{'per call':>10}")
        for method in ["loop"] if arguments.quick else ["loop", "virtual"]:
            for compiler in ["C2"] if arguments.quick else COMPILERS:
                java = [arguments.java, *OPTIONS, COMPILERS[compiler], "-cp", folder, "Work",
                        os.path.join(folder, "libmark.so"), method]
                counts = []
                outputs = []
                for tool, pattern in (
                    (CALLGRIND, r"Collected : (\d+)"), (itrace, r"jprof: (\d+) instructions in")
                ):
                    one, two = (run([*tool, *java, str(n)], pattern) for n in (calls, 2 * calls))
                    counts.append(two[0] - one[0])
                    outputs.append((one[1], two[1]))
                good = (
                    counts[0] == counts[1] and counts[0] % calls == 0 and outputs[0] == outputs[1]
                )
                failed |= not good
                print(
                    f"{method:10}{compiler:10}{counts[0]:12}{counts[1]:12}"
                    f"{counts[1] / calls:10g}{'' if good else '  DIFFERENT'}", flush=True,
                )
        left = [name for name in os.listdir(folder) if name.endswith(".itrace")]
        if left:
            print(f"--no-records left {left}")
            failed = True
    sys.exit(1 if failed else 0)


main()
