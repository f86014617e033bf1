#!/usr/bin/env python3
"""Measures what `--series 1s` costs: javac on sources of the JDK under `jprof callflow` and `jprof
calltree`, with and without it, in pairs.

    bench/cost/series.py [--rounds 5] [--files 200] [--jdk 17] [--interval 1s] [--rotate 5s]
                         [--out /dev/shm]

With --rotate it measures pieces of a recording instead: what the command takes for them, by its own
statement, and how many there are.

CPU time is that of the program and of the jprof command. Prints the medians, their ratio, the CPU
time of the recorder as a part of one processor and of the whole CPU time, the number of snapshots
and their bytes. The recorder's own time is measured, so that it is known better than the difference
of the runs. Exit status 1 if the recorder takes more than 1 % of one processor. On a busy machine
the program runs longer than its CPU time, and so does the recorder.
"""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import javac_program  # noqa: E402
import measure  # noqa: E402

MOST = 0.01
MODES = {"callflow": ["callflow"], "calltree": ["calltree"],
         "calltree --counter probe": ["calltree", "--counter", "probe"]}


class Pairs:
    def __init__(self, args, jdk, work, files):
        self.args, self.work = args, work
        self.words = os.path.join(work, "words")
        with open(self.words, "w", encoding="utf-8") as out:
            out.write("\n".join(files))
        self.compile = [jdk.tool("javac"), "-proc:none", "-nowarn", "-XDignore.symbol.file",
                        "-implicit:none", "--patch-module",
                        f"java.xml={os.path.join(work, 'java.xml')}", "-d",
                        os.path.join(work, "classes"), "@" + self.words]

    def profile(self, name):
        return os.path.join(self.work, name.replace(" ", "-") + ".jprof")

    def once(self, name):
        """The run of a mode, whose name ends with + if it has a series."""
        shutil.rmtree(os.path.join(self.work, "classes"), ignore_errors=True)
        shutil.rmtree(self.profile(name), ignore_errors=True)
        option = (["--rotate", self.args.rotate] if self.args.rotate else
                  ["--series", self.args.interval])
        series = option if name.endswith("+") else []
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.monotonic()
        done = subprocess.run(
            [self.args.jprof, *MODES[name.rstrip("+")], *series, "--agent", self.args.agent, "-o",
             self.profile(name), "--", *self.compile], capture_output=True, text=True, check=False)
        wall = time.monotonic() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            raise SystemExit(f"{name}: {done.stderr[-2000:]}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        info = json.loads(subprocess.run(
            [self.args.jprof, "info", self.profile(name), "--format", "json"],
            capture_output=True, text=True, check=True).stdout)
        made = re.search(r"pieces: .* made in (\S+) s of CPU time", done.stderr)
        return Result(cpu, wall, info.get("series"), info["contexts"], info.get("pieces"),
                      float(made[1]) if made else 0)


class Result:
    def __init__(self, cpu, wall, series, contexts, pieces, of_pieces):
        self.cpu, self.wall, self.series, self.contexts = cpu, wall, series, contexts
        self.pieces, self.of_pieces = pieces, of_pieces


def show_pieces(name, without, with_pieces):
    pieces = measure.median(with_pieces, lambda run: len(run.pieces))
    made = measure.median(with_pieces, lambda run: run.of_pieces)
    print(f"  {name}: {measure.median(without):.2f} s CPU without, "
          f"{measure.median(with_pieces):.2f} s with {pieces:.0f} pieces, for which the command "
          f"takes {made:.2f} s: {made / pieces:.3f} s each, "
          f"{measure.median(with_pieces, lambda run: run.of_pieces / run.wall):.2%} of a processor; "
          f"{with_pieces[-1].contexts} contexts", flush=True)
    return False


def show(name, without, with_series):
    cpu, wall = measure.median(without), measure.median(without, lambda run: run.wall)
    of_recorder = measure.median(with_series, lambda run: run.series["cost_s"] / run.wall)
    of_cpu = measure.median(with_series, lambda run: run.series["cost_s"] / run.cpu)
    last = with_series[-1].series
    print(f"  {name}: {cpu:.2f} s CPU, {wall:.2f} s +-{measure.spread(without):.0%} without; with "
          f"{measure.median(with_series):.2f} s CPU, "
          f"{measure.median(with_series, lambda run: run.wall):.2f} s: ratio "
          f"{measure.median(with_series) / cpu:.3f} of CPU; the recorder {of_recorder:.2%} of a "
          f"processor, {of_cpu:.2%} of the CPU time; "
          f"{with_series[-1].contexts} contexts, {last['snapshots']} snapshots of "
          f"{last['bytes'] / last['snapshots'] / 1e3:.0f} kB, {last['missed']} left out, the longest "
          f"interval {last['longest_s']:.1f} s", flush=True)
    return of_recorder > MOST


def main():
    parser = measure.arguments(__doc__)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--interval", default="1s")
    parser.add_argument("--rotate")
    args = parser.parse_args()
    above = 0
    for jdk, work, files in javac_program.unpacked(args, "series", 4, 4):
        pairs = Pairs(args, jdk, work, files)
        names = [name + series for name in MODES for series in ("", "+")]
        print(f"JDK {jdk.version}: javac on {len(files)} files, {args.rounds} rounds")
        results = measure.interleaved(names, args.rounds, pairs.once)
        show_mode = show_pieces if args.rotate else show
        above += sum(show_mode(name, results[name], results[name + "+"]) for name in MODES)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
