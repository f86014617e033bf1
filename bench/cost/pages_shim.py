#!/usr/bin/env python3
"""Measures what libjprof-pages.so costs programs that have no directives.

  trees    C++: builds, visits and frees binary trees. One process with the library alternates the
           C library's malloc and free with the library's, every third of a millisecond or so
  cc1      gcc's compiler, of a generated C file, at -O1: processes with and without the library
  large    C: allocates, fills and frees blocks of 1 MB, each of which is logged: the same

Usage: pages_shim.py [--build DIR] [--pairs N] [--programs NAME,...] [--instructions]

trees: the ratio of the times of pieces, at their 5th percentile: most of the rest is what else runs.
cc1 and large: the ratio of the medians of interleaved runs' CPU times. All with 95 % intervals by
bootstrap. --instructions adds the ratio of instructions of cc1, which valgrind counts.

The budget is 1 %, and the exit status is 1 if the whole interval of cc1 is above it. trees has no
such bound: a single jump on the way to malloc costs 2 % of it, which the line "jump" shows."""
import os
import random
import re
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402

BUDGET = 1.01
TREES = r"""
#include <time.h>
#include <cstdio>
#include <cstdlib>
extern "C" void* __libc_malloc(size_t);
extern "C" void __libc_free(void*);
struct Node { Node *left, *right; };
static void* (*allocate)(size_t);
static void (*release)(void*);
[[gnu::noinline, gnu::noclone]] static void* Jump(size_t bytes) { return __libc_malloc(bytes); }
static Node* Make(int depth) {
  Node* const node = static_cast<Node*>(allocate(sizeof(Node)));
  node->left = depth > 0 ? Make(depth - 1) : nullptr;
  node->right = depth > 0 ? Make(depth - 1) : nullptr;
  return node;
}
static int Count(const Node* node) {
  return node->left ? 1 + Count(node->left) + Count(node->right) : 1;
}
static void Free(Node* node) {
  if (node->left) Free(node->left), Free(node->right);
  release(node);
}
static long Now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}
int main() {
  struct Way { const char* name; void* (*allocate)(size_t); void (*release)(void*); };
  const Way ways[] = {{"none", __libc_malloc, __libc_free}, {"jump", Jump, __libc_free},
                      {"malloc", malloc, __libc_free}, {"free", __libc_malloc, free},
                      {"both", malloc, free}};
  volatile int sum = 0;
  for (int round = 0; round < 3000; ++round) {
    for (int i = 0; i < 5; ++i) {
      const Way& way = ways[(i * 3 + round) % 5];
      allocate = way.allocate, release = way.release;
      const long begin = Now();
      for (int tree = 0; tree < 10; ++tree) {
        Node* const made = Make(10);
        sum = sum + Count(made);
        Free(made);
      }
      printf("%s %ld\n", way.name, Now() - begin);
    }
  }
}
"""
LARGE = """
#include <stdlib.h>
#include <string.h>
int main() {
  for (int i = 0; i < 1500; ++i) {
    char* const block = malloc(1 << 20);
    memset(block, i, 1 << 20);
    __asm__ volatile("" : : "r"(block) : "memory");
    free(block);
  }
}
"""


def compiled(work, name, compiler, text):
    source = os.path.join(work, name + (".cc" if compiler == "g++" else ".c"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    program = os.path.join(work, name)
    subprocess.run([compiler, "-O2", "-fno-plt", source, "-o", program], check=True)
    return [program]


def cc1(work):
    source = os.path.join(work, "many.c")
    with open(source, "w", encoding="utf-8") as file:
        for i in range(150):
            file.write(f"int f{i}(int a, int b) {{ int s = {i};"
                       " for (int i = 0; i < a; i++) s += i % 3 ? b * i : s >> 2; return s; }\n")
    name = subprocess.run(["gcc", "-print-prog-name=cc1"], check=True, capture_output=True,
                          text=True).stdout.strip()
    return [name, "-quiet", "-O1", source, "-o", os.path.join(work, "many.s")]


PROGRAMS = {"cc1": cc1, "large": lambda work: compiled(work, "large", "gcc", LARGE)}


def preloaded(library, work):
    """The environment in which the library logs and has no directives."""
    log = os.path.join(work, "log")
    os.makedirs(log, exist_ok=True)
    plan = os.path.join(work, "plan")
    with open(plan, "w", encoding="utf-8") as file:
        file.write(f"jprof-pages 1\nlog {log}\nthreshold 131072\n")
    return dict(os.environ, LD_PRELOAD=library, JPROF_PAGES=plan)


def cpu(command, environment):
    run = measure.run(command, env=environment)
    if run.status != 0:
        sys.exit(f"{command[0]} failed")
    return run.cpu


def interval(pairs, statistic=statistics.median, rounds=1000):
    """The ratio of the statistic of both sides, and its 95 % interval."""
    chance = random.Random(1)

    def ratio(some):
        without, with_it = zip(*some)
        return statistic(with_it) / statistic(without)

    found = sorted(ratio(chance.choices(pairs, k=len(pairs))) for _ in range(rounds))
    return ratio(pairs), found[rounds // 40], found[-rounds // 40]


def show_trees(work, environment):
    command = compiled(work, "trees", "g++", TREES)
    times = {}
    for line in measure.run(command, env=environment).stdout.decode().splitlines():
        name, time = line.split()
        times.setdefault(name, []).append(int(time))
    nodes = 10 * 2047
    low = lambda some: sorted(some)[len(some) // 20]  # noqa: E731
    print(f"trees  {low(times['none']) / nodes:.2f} ns a node, with")
    for name in ("jump", "malloc", "free", "both"):
        ratio, least, most = interval(list(zip(times["none"], times[name])), low, 200)
        print(f"  {name:6} {ratio:.4f} ({least:.4f} to {most:.4f})", flush=True)


def instructions(command, environment, work):
    out = os.path.join(work, "callgrind")
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command],
                   env=environment, check=True, capture_output=True)
    with open(out, encoding="utf-8", errors="replace") as file:
        return int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)[1])


def measured(command, environments, count):
    """Pairs of CPU times, without and with the library, in alternating order."""
    pairs = []
    for number in range(count):
        order = (0, 1) if number % 2 else (1, 0)
        times = {which: cpu(command, environments[which]) for which in order}
        pairs.append((times[0], times[1]))
    return pairs


def main():
    options = measure.build_arguments(__doc__)
    options.add_argument("--pairs", type=int, default=30)
    options.add_argument("--programs", default=",".join(["trees", *PROGRAMS]))
    options.add_argument("--instructions", action="store_true")
    args = options.parse_args()
    library = os.path.join(os.path.abspath(args.build), "lib", "libjprof-pages.so")
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    status = 0
    with measure.folder("pages", 1, 1) as work:
        environments = (plain, preloaded(library, work))
        for name in args.programs.split(","):
            if name == "trees":
                show_trees(work, environments[1])
                continue
            command = PROGRAMS[name](work)
            pairs = measured(command, environments, args.pairs)
            ratio, low, high = interval(pairs)
            without, with_it = (statistics.median(side) for side in zip(*pairs))
            line = (f"{name:6} without {without * 1e3:7.1f} ms, with {with_it * 1e3:7.1f} ms: "
                    f"{ratio:.4f} ({low:.4f} to {high:.4f})")
            if args.instructions and name == "cc1":
                counts = [instructions(command, one, work) for one in environments]
                line += f"; instructions {counts[1] / counts[0]:.4f}"
            print(line, flush=True)
            if name == "cc1" and low > BUDGET:
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
