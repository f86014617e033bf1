#!/usr/bin/env python3
"""Compares the benefits that the model of large pages predicts with the actual ones.

Usage: bench/accuracy/pages.py [--build DIR] [--every N] [--length N] [PROGRAM]...

The programs are those of bench/accuracy/pages, sqlite3 and gcc's cc1. The figure is the PMB of
each group of memory alone (docs/OPTIMISE.md). Of walks, predicted is what bursts of LENGTH
references show, one in EVERY; actual is the simulation of all references of the same run. Of
faults, predicted is what the faults of a run without directives show; actual is what the kernel
counts in runs in which one group, or all of them, are really on large pages.

The error of a program is the mean difference between predicted and actual, in points, over the
groups of which either is at least 1. Of the programs the geometric mean is taken; errors below 0.1
count as 0.1. The order is the same if of no two groups that differ by at least 1 point the actually
better one was predicted to be the worse one.

Exit status 1 if a geometric mean is above 3.7, 77 if a program is missing.
"""
import argparse
import dataclasses
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pages")
COMPILERS = {".f90": ["gfortran"], ".c": ["gcc"], ".cc": ["g++", "-std=c++20"]}
MOST_DIRECTIVES = 256  # of a plan
MOST_GROUPS = 8  # of a program are really put on large pages
BOUND = 3.7
LEAST = 0.1
# Arguments of the traced run, and of those whose faults are counted.
ARGUMENTS = {
    "stencil": (["64", "2"], ["192", "1"]),
    "sparse_product": (["96", "1"], ["192", "1"]),
    "hash_join": (["64", "1"], ["192", "1"]),
    "search_tree": (["64", "500"], ["192", "500"]),
    "random_walk": (["64", "3000"], ["192", "1000"]),
    "sort": (["64", "1"], ["192", "1"]),
    "matrix_product": (["128", "1"], ["192", "1"]),
    "graph_search": (["48", "1"], ["192", "1"]),
}

CC1_FUNCTION = """
struct s{i} {{ int a[{size}]; struct s{i}* next; double weight; }};
static int f{i}(int x, struct s{i}* p) {{
  int sum = x;
  for (int i = 0; i < {count}; ++i) {{
    sum += p->a[i % {size}] * (x ^ i);
    if (sum & {mask}) sum -= x * {i}; else p->weight += sum / {i}.5;
  }}
  switch (sum & 7) {{ case 0: return sum + {i}; case 3: return sum * 3; default: return sum; }}
}}
int g{i}(int x) {{
  struct s{i} one = {{{{{i}}}, 0, {i}.25}};
  return f{i}(x, &one) + printf("%d of {i}\\n", x);
}}
"""
SQL_TABLE = """
create table item(id integer primary key, name text, price integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 900000)
  insert into item select i, printf('%064d', i * 7919 % 1000003), i % 997 from n;
"""
SQL_LOOKUPS = """
pragma cache_size = -200000;
with recursive n(i, x) as (
  select 1, 1 union all select i + 1, (x * 1103515245 + 12345) % 2147483648 from n where i < {})
  select sum(price) from n join item on item.id = x / 8 % 900000 + 1;
"""


@dataclasses.dataclass
class Program:
    name: str
    traced: list  # the command whose references are simulated
    counted: list  # the command whose faults are counted
    instructions: int = 0  # so many are traced, or all


def call(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return done


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def programs(folder):
    for name, (traced, counted) in ARGUMENTS.items():
        source = next(name + end for end in COMPILERS if
                      os.path.exists(os.path.join(SOURCES, name + end)))
        out = os.path.join(folder, name)
        call(COMPILERS[os.path.splitext(source)[1]] +
             ["-O2", "-g", os.path.join(SOURCES, source), "-o", out])
        yield Program(name, [out] + traced, [out] + counted)
    sqlite3 = shutil.which("sqlite3")
    base = os.path.join(folder, "items.db")
    if os.path.exists(base):
        os.remove(base)
    call([sqlite3, base, SQL_TABLE])
    yield Program("sqlite3", [sqlite3, base, SQL_LOOKUPS.format(15_000)],
                  [sqlite3, base, SQL_LOOKUPS.format(100_000)], 120_000_000)
    functions = "".join(CC1_FUNCTION.format(i=i, size=i % 7 + 1, count=i % 13 + 3, mask=i % 5 + 1)
                        for i in range(1, 500))
    file = write(os.path.join(folder, "many.c"),
                 "extern int printf(const char*, ...);\n" + functions)
    cc1 = call(["gcc", "-print-prog-name=cc1"]).stdout.strip()
    command = [cc1, "-quiet", "-O0", file, "-o", os.path.join(folder, "many.s")]
    yield Program("cc1", command, command, 40_000_000)


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.jprof = os.path.join(options.build, "bin", "jprof")
        self.model = os.path.join(options.model or options.build, "bin", "pages_model")
        self.preloaded = os.path.join(options.build, "lib", "libjprof-pages.so")

    def plan(self, directives):
        """Returns a new folder for logs, and how to start a run with these groups on as many large
        pages."""
        logs = tempfile.mkdtemp(dir=self.folder)
        lines = ["jprof-pages 1", f"log {logs}", "threshold 131072"]
        lines += [f"large {pages} {group}" for group, pages in directives.items()
                  if not group.startswith("heap")]
        path = write(os.path.join(logs, "plan"), "\n".join(lines) + "\n")
        variables = [f"LD_PRELOAD={self.preloaded}", f"JPROF_PAGES={path}"]
        if any(group.startswith("heap") for group in directives):
            variables.append("GLIBC_TUNABLES=glibc.malloc.hugetlb=1")
        return logs, ["/usr/bin/env"] + variables

    def walks(self, program):
        """Returns predicted and actual PMB by group, and what was read."""
        logs, env = self.plan({})
        trace = os.path.join(logs, "run.itrace")
        limit = ["--instructions", str(program.instructions)] if program.instructions else []
        call([self.jprof, "itrace", "--memory", "--no-records", "-o", trace] + limit +
             ["--"] + env + program.traced)
        done = call([self.model, "walks-of", logs, os.path.join(trace, "memory"),
                     str(self.options.length), str(self.options.every)])
        found = {}
        for line in done.stdout.splitlines():
            predicted, error, actual, _, group = line.split(",", 4)
            found[group] = (float(predicted), float(actual), float(error))
        shutil.rmtree(logs)
        return found, [int(number) for number in done.stderr.strip().split(",")]

    def faults_of(self, program, directives):
        logs, env = self.plan(directives)
        process = subprocess.Popen(env + program.counted, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        if status != 0:
            sys.exit(f"{program.name}: status {status}")
        shutil.rmtree(logs)
        return usage.ru_minflt + usage.ru_majflt

    def faults(self, program):
        logs, env = self.plan({})
        file = os.path.join(logs, "faults")
        call([self.model, "faults", file, "--"] + env + program.counted)
        predicted, directives = {}, {}
        for line in call([self.model, "faults-of", logs, file]).stdout.splitlines():
            pages, pmb, _, _, group = line.split(",", 4)
            if int(pages) > 0:
                predicted[group], directives[group] = float(pmb), int(pages)
        shutil.rmtree(logs)
        tried = sorted(predicted, key=predicted.get, reverse=True)[:MOST_GROUPS]
        none = self.faults_of(program, {})
        most = none - self.faults_of(program, dict(list(directives.items())[:MOST_DIRECTIVES]))
        actual = {group: 100 * (none - self.faults_of(program, {group: directives[group]})) / most
                  for group in tried}
        return {group: (predicted[group], actual[group]) for group in tried}, (none, none - most)

    def name_of(self, program, group):
        kind, key = group.split(" ", 1)
        if kind != "site":
            return f"{kind} {key}"
        for module, address in re.findall(r"([^<]+)\+0x([0-9a-f]+)", key):
            if module != program.name:
                continue
            lines = call(["addr2line", "-i", "-e", program.traced[0],
                          hex(int(address, 16) - 1)]).stdout.split()
            for line in lines:
                path, _, number = line.partition(":")
                if os.path.dirname(os.path.abspath(path)) == SOURCES:
                    with open(path, encoding="utf-8") as source:
                        text = source.read().splitlines()[int(number) - 1]
                    word = re.search(r"(\w+)(?= = |\()", text)
                    return word.group(1) if word else f"{os.path.basename(path)}:{number}"
        return key.replace("<", " < ")


def error_of(pairs):
    """Returns the mean difference in points, and whether the order is the same."""
    counted = [pair for pair in pairs if pair and max(pair[:2]) >= 1]
    if not counted:
        return None, True
    same = all(a[0] >= b[0] for a in counted for b in counted if a[1] >= b[1] + 1)
    return sum(abs(pair[0] - pair[1]) for pair in counted) / len(counted), same


def mean_of(errors):
    logs = [math.log(max(error, LEAST)) for error in errors if error is not None]
    return math.exp(sum(logs) / len(logs))


def cells(pair):
    if not pair:
        return " | "
    error = f" ±{pair[2]:.1f}" if len(pair) > 2 else ""
    return f"{pair[0]:.1f}{error} | {pair[1]:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default="build/release", help="where jprof was built")
    parser.add_argument("--model", help="where pages_model was built, if elsewhere")
    parser.add_argument("--length", type=int, default=20_000)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    for needed in ("gfortran", "gcc", "g++", "sqlite3", "addr2line"):
        if not shutil.which(needed):
            print(f"{needed} is missing")
            return 77
    walk_errors, fault_errors, summary = [], [], []
    print("| program | group | walks, predicted | actual | faults, predicted | actual |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        for program in programs(folder):
            if options.programs and program.name not in options.programs:
                continue
            walks, read = bench.walks(program)
            faults, counts = bench.faults(program)
            order = sorted({**faults, **walks}, key=lambda group: -max(
                walks.get(group, (0, 0))[1], faults.get(group, (0, 0))[1]))
            for group in order:
                pairs = walks.get(group), faults.get(group)
                if any(pair and max(pair[:2]) >= 1 for pair in pairs):
                    print(f"| {program.name} | {bench.name_of(program, group)} | "
                          f"{cells(pairs[0])} | {cells(pairs[1])} |", flush=True)
            (walk, same_walks), (fault, same_faults) = error_of(walks.values()), error_of(
                faults.values())
            walk_errors.append(walk)
            fault_errors.append(fault)
            summary.append(
                f"| {program.name} | {read[0] / 1e6:.1f} | {read[2]} | {read[3]:,} | {read[4]:,} | "
                f"{walk or 0:.2f} | {'yes' if same_walks else 'no'} | {counts[0]:,} | "
                f"{counts[1]:,} | {fault or 0:.2f} | {'yes' if same_faults else 'no'} |")
    print("\n| program | million references | bursts | walks | all large | error | same order | "
          "faults | all large | error | same order |")
    print("|---" * 11 + "|\n" + "\n".join(summary))
    means = mean_of(walk_errors), mean_of(fault_errors)
    print(f"\ngeometric mean of the errors: walks {means[0]:.2f}, faults {means[1]:.2f} points")
    return 1 if max(means) > BOUND else 0


if __name__ == "__main__":
    sys.exit(main())
