#!/usr/bin/env python3
"""What a label costs (docs/LABELS.md): ns of CPU time per `set`, when compiled, in Java without the
agent, with woven counting, and with probes; and in C without jprof and with hooks.

    bench/cost/labels.py
    bench/cost/labels.py --turns 200000 --rounds 5 --json figures.json

  object    a Label that is kept: CART.set()
  constant  Label.set("GET /shop")
  made      Label.set of a text that has just been made, one of 16
  replaced  CART.set() in a loop of one method, without a call

The first three are set in a method that is called once for each. A figure is that of the loop less
that of the same loop without a label. With probes, the exit of such a method is part of it. Each
JVM runs alone; figures are the least of the rounds. Profiles are removed.

Exit status 1 if a run fails.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402
import jvms  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = (("object", "plain"), ("constant", "plain"), ("made", "made, no label"),
        ("replaced", "nothing"))
SOURCES = {"no agent": None,
           "woven": ("calltree", "--counter", "woven"),
           "probes": ("calltree", "--counter", "probe"),
           "callflow": ("callflow",)}

C = r"""
#include <jprof-label.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define PLAIN __attribute__((no_instrument_function))
static volatile long sink;
__attribute__((noinline)) static void plain(long i) { sink += i; }
__attribute__((noinline)) static void labelled(long i) { jprof_label("GET /cart"); sink += i; }
PLAIN static double nanos(void (*call)(long), long turns) {
  struct timespec a, b;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
  for (long i = 0; i < turns; ++i) call(i);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
  return ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / turns;
}
PLAIN int main(int count, char **words) {
  const long turns = atol(words[1]), rounds = atol(words[2]);
  double least[2] = {1e12, 1e12};
  for (long r = 0; r < rounds; ++r) {
    const double now[2] = {nanos(plain, turns), nanos(labelled, turns)};
    for (int i = 0; i < 2; ++i) if (now[i] < least[i]) least[i] = now[i];
  }
  printf("plain\t%f\nlabelled\t%f\n", least[0], least[1]);
  return 0;
}
"""


def figures(command, turns, rounds):
    """Name of a loop -> ns of one turn."""
    done = subprocess.run([*command, str(turns), str(rounds)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return {name: float(ns) for name, ns in
            (line.split("\t") for line in done.stdout.splitlines())}


def under(jprof, source, folder):
    if source is None:
        return []
    return [jprof, *source, "--force", "-o", os.path.join(folder, "labels.jprof"), "--"]


def main():
    parser = measure.argparse.ArgumentParser(
        description=__doc__, formatter_class=measure.argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=measure.BUILD)
    parser.add_argument("--turns", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json")
    options = parser.parse_args()
    jprof = os.path.join(options.build, "bin", "jprof")
    jar = os.path.join(options.build, "share", "jprof", "jprof-label.jar")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        jdks = jvms.needed_jdks()
        subprocess.run([jdks[0].tool("javac"), "--release", "17", "-cp", jar, "-d", folder,
                        os.path.join(measure.ROOT, "bench", "java", "LabelLoops.java")],
                       check=True)
        for jdk in jdks:
            for source, how in SOURCES.items():
                fewer = 1 if source in ("no agent", "woven") else 10
                loops = figures([*under(jprof, how, folder), *jdk.java("-XX:+UseSerialGC"), "-cp",
                                 f"{jar}:{folder}", "LabelLoops"],
                                options.turns // fewer, options.rounds)
                for row, base in ROWS:
                    found[f"{jdk.name}, {source}, {row}"] = loops[row] - loops[base]
        code, program = os.path.join(folder, "labels.c"), os.path.join(folder, "labels")
        with open(code, "w", encoding="utf-8") as file:
            file.write(C)
        subprocess.run(["gcc", "-O2", "-finstrument-functions",
                        "-I" + os.path.join(measure.ROOT, "jprof", "label"), "-o", program, code],
                       check=True)
        for source, how in (("no jprof", None), ("calltree", ("calltree",)),
                            ("callflow", ("callflow",))):
            loops = figures([*under(jprof, how, folder), program], options.turns, options.rounds)
            found[f"C with hooks, {source}"] = loops["labelled"] - loops["plain"]
    for name, ns in found.items():
        print(f"{name:40}{ns:10.1f} ns")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
