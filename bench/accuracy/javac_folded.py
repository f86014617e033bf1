#!/usr/bin/env python3
"""Profiles javac on 400 of the JDK's source files with the default --tree-memory, which is too
small for its contexts.

    bench/accuracy/javac_folded.py [--rounds 3] [--files 400] [--jdk 17] [--out DIR]

Prints, beside the untraced run: CPU time, elapsed time and the CPU time of the main thread (with
probes the JVM compiles less, so the sum over all threads is too favourable), when recursion was
folded, and what was lost. Then records only the main thread, with the default and with
--tree-memory 4G, and prints how many methods differ in their number of calls. Exit status 1 if
anything is lost.
"""
import collections
import csv
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import javac_program as javac  # noqa: E402
import measure  # noqa: E402

CONFIGURATIONS = {"untraced": None, "calltree": "calltree", "callflow": "callflow"}
# Two runs of javac always differ slightly (the order of Set.of and Map.of is random): the repeated
# configurations show by how much.
TOTALS = {"default": "calltree,threads=+main", "default again": "calltree,threads=+main",
          "4G": "calltree,threads=+main,tree_memory=4G",
          "4G again": "calltree,threads=+main,tree_memory=4G"}
# Numbers identity hashes in the order of their first use.
REPEATABLE = ("-J-XX:+UnlockExperimentalVMOptions", "-J-XX:hashCode=3")
# what the VM numbers differently in each run
MADE_UP = re.compile(r"\$\$Lambda\$\d+|\+0x[0-9a-f]+|\$Proxy\d+")


class MainThread(threading.Thread):
    """CPU seconds of the JVM thread that runs main(): the busiest one with the launcher's name."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.tasks, self.cpu, self.over = f"/proc/{pid}/task", {}, threading.Event()

    def run(self):
        while not self.over.wait(0.02):
            try:
                for tid in os.listdir(self.tasks):
                    with open(f"{self.tasks}/{tid}/stat", encoding="utf-8", errors="replace") as f:
                        name, rest = f.read().split("(", 1)[1].rsplit(")", 1)
                    if name in ("java", "javac", "main"):
                        fields = rest.split()
                        self.cpu[tid] = (int(fields[11]) + int(fields[12])) / os.sysconf(
                            "SC_CLK_TCK")
            except (OSError, IndexError):
                continue

    def seconds(self):
        self.over.set()
        self.join()
        return max(self.cpu.values(), default=0.0)


class Compiler:
    def __init__(self, args, jdk, work, files):
        self.args, self.jdk, self.work = args, jdk, work
        self.profile = os.path.join(args.out or work, "javac.jprof")
        self.words = os.path.join(work, "words")
        with open(self.words, "w", encoding="utf-8") as f:
            f.write("\n".join(files))

    def once(self, agent, jvm=()):
        """(CPU, elapsed, CPU of the main thread) in seconds; keeps the profile."""
        classes = os.path.join(self.work, "classes")
        for folder in (classes, self.profile):
            shutil.rmtree(folder, ignore_errors=True)
        command = [self.jdk.tool("javac"), "-J-Xmx1g", *jvm]
        if agent:
            command.append(
                f"-J-agentpath:{os.path.abspath(self.args.agent)}={agent},out={self.profile}")
        command += ["-proc:none", "-nowarn", "-XDignore.symbol.file", "-implicit:none",
                    "--patch-module",
                    f"java.xml={os.path.join(self.work, 'java.xml')}", "-d", classes,
                    "@" + self.words]
        started = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as child:
            main = MainThread(child.pid)
            main.start()
            _, status, usage = os.wait4(child.pid, 0)
            elapsed = time.monotonic() - started
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"javac with {agent} ended with status {child.returncode}")
        return usage.ru_utime + usage.ru_stime, elapsed, main.seconds()

    def losses(self):
        """(what was lost, when folding of recursion began) in the current profile."""
        info = json.loads(self.jprof("info", "--format", "json"))
        lost = {name: n for name, n in info["losses"].items() if n}
        return lost, info["folded_from_s"]

    def calls(self):
        """Calls by method."""
        calls = collections.Counter()
        for row in csv.DictReader(io.StringIO(self.jprof("report", "methods", "--format", "csv"))):
            calls[MADE_UP.sub("#", row["name"])] += int(row["calls"])
        return calls

    def jprof(self, *arguments):
        done = subprocess.run([self.args.jprof, *arguments, self.profile], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=True)
        return done.stdout


def show_costs(compiler, rounds):
    results, broken = {name: [] for name in CONFIGURATIONS}, 0
    losses = {}
    for _ in range(rounds):
        for name, agent in CONFIGURATIONS.items():
            results[name].append(compiler.once(agent))
            if agent:
                losses[name] = compiler.losses()
                broken += bool(losses[name][0])
    medians = {name: [statistics.median(column) for column in zip(*runs)]
               for name, runs in results.items()}
    print(
        f"{'':10} {'CPU s':>8} {'ratio':>6} {'wall s':>8} {'ratio':>6} {'main s':>8} {'ratio':>6}")
    for name, values in medians.items():
        cells = " ".join(
            f"{v:8.2f} {v / plain:6.2f}" for v, plain in zip(values, medians["untraced"]))
        lost, folded = losses.get(name, ({}, None))
        print(f"{name:10} {cells}" + (f"  folded from {folded:.1f} s, lost: {lost or 'nothing'}"
                                      if folded else
                                      f"  lost: {lost or 'nothing'}" if name in losses else ""),
                                      flush=True)
    return broken


def show_totals(compiler):
    calls, broken = {}, 0
    for name, agent in TOTALS.items():
        compiler.once(agent, REPEATABLE)
        calls[name] = compiler.calls()
        broken += bool(compiler.losses()[0])
    print(
        f"main thread only, calls by method: {len(calls['4G'])} methods, "
        f"{sum(calls['4G'].values())} calls with 4G")
    for one, other in (("default", "4G"), ("default", "default again"), ("4G", "4G again")):
        off = {m: abs(calls[one][m] - calls[other][m]) for m in calls[one] | calls[other]}
        print(
            f"  {one} and {other}: {sum(n > 0 for n in off.values())} methods differ, by "
            f"{sum(off.values())} calls together")
        for method in sorted(off, key=off.get, reverse=True)[:3]:
            if off[method]:
                print(f"    {calls[one][method]:12} {calls[other][method]:12}  {method}")
    return broken


def main():
    parser = measure.arguments(__doc__)
    parser.set_defaults(rounds=3, jdk=17)
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--totals-only", action="store_true",
                        help="only compare the methods' calls")
    args = parser.parse_args()
    for jdk in measure.jdks_of(args):
        archive = javac.source_zip(jdk)
        if archive is None:
            print(
                f"skipped JDK {jdk.version}: its src.zip is missing (Debian: "
                f"openjdk-{jdk.major}-source)")
            return 77
        with tempfile.TemporaryDirectory(prefix="jprof-javac-") as work:
            compiler = Compiler(args, jdk, work, javac.unpack(archive, work, args.files))
            broken = 0 if args.totals_only else show_costs(compiler, args.rounds)
            broken += show_totals(compiler)
        return 1 if broken else 0
    return 77


if __name__ == "__main__":
    sys.exit(main())
