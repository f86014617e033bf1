#!/usr/bin/env python3
"""Compares calibrated times with the untraced program on the same JVM (-XX:-Inline):

  javac    calibrated time of javac's main thread / CPU time of that thread untraced
  as-ran   calibrated time of javac's main thread / its samples outside the profiler's code in the
           same traced run (jprof tprof, 1,000 per second). These include the calls of the probes
           and the kernel's work for the profile: no bound, but a calibrated time lies between the
           untraced time and this one
  phases   calibrated time of a phase of many tiny calls / of an equally long phase without calls:
           scan (ordinary code) and chain (no bound: the processor executes the probes in the gaps
           of such code; see docs/CALIBRATION.md)

With --table-factors F,... each profile of the phases is also corrected with its table times F, as
on a machine whose training was wrong: as trained (--refit=no), and lowered to what the profile itself
lets it be. These lines have no bound. Estimated times (--time-every N) are not lowered.

Usage: accuracy.py [--build DIR] [--runs N] [--java JAVA]... [--files N] [--kinds KIND:N,...]
                   [--fold] [--focus P] [--time-every N] [--table-factors F,...]
Requires a calibration table for each JVM (jprof calibrate --java JAVA) and, for javac, a JDK's
src.zip. Prints medians of the runs and exits with 1 if a median misses its bound (javac 0.9..1.1,
phases 0.8..1.2).
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import javac_program  # noqa: E402
import measure  # noqa: E402


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(
            f"{' '.join(command[:6])} ...: exit status "
            f"{done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Bench:
    def __init__(self, build, work, runs, options):
        self.jprof = os.path.join(build, "bin", "jprof")
        self.jar = os.path.join(build, "share", "jprof", "trainers.jar")
        self.work, self.runs, self.time_every = work, runs, options.time_every or 1
        self.options = (["--fold-recursion"] if options.fold else []) + (
            ["--focus", options.focus, "--keep-intrinsics"] if options.focus else []) + (
            ["--time-every", str(options.time_every)] if options.time_every else [])

    def program(self, java, main, args):
        return [java, "-XX:-Inline", "-cp", self.jar, "jprof.trainers." + main, *args]

    def profile(self, command, *options):
        """Runs the command under callflow. Returns the main thread's nodes (of log-rt with these
        options) and the program's output."""
        out = os.path.join(self.work, "accuracy.jprof")
        shutil.rmtree(out, ignore_errors=True)
        output = run([self.jprof, "callflow", "--tree-memory", "2G", *self.options, "-o", out, "--",
                      *command])
        nodes = self.nodes(out, *options)
        if nodes is None:
            sys.exit("the profile is not calibrated: run jprof calibrate --java " + command[0])
        return nodes, output

    def nodes(self, profile, *options):
        """The nodes of the main thread, or None if there is no table."""
        report = json.loads(
            run([self.jprof, "report", "log-rt", profile, "--cumulative", "--format", "json",
                 *options]))
        if not report["metrics"][0]["calibrated"]:
            return None
        return max((t["nodes"] for t in report["threads"] if t["name"] == "main"),
                   key=lambda n: n[0]["cumulative"][0])

    def with_factors(self, factors):
        """The last profile with its table times each factor: factor, nodes as trained, and as
        lowered."""
        profile = os.path.join(self.work, "accuracy.jprof")
        with open(os.path.join(profile, "calibration.json"), encoding="utf-8") as file:
            trained = json.load(file)
        for factor in factors:
            table = json.loads(json.dumps(trained))
            for value in (v for m in table["metrics"] for v in m["keys"].values()):
                value["overhead"] *= factor
                value["observed"] = value["truth"] + value["overhead"]
            path = os.path.join(self.work, "table.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(table, file)
            yield (factor, self.nodes(profile, "--table", path, "--refit=no"),
                   self.nodes(profile, "--table", path))


def below(nodes, name):
    """Calibrated and raw time of the phase's subtree, ns."""
    names = {n["id"]: n["name"] for n in nodes}
    top = next(
        n for n in nodes if f".{name}(" in n["name"] and ".measure(" in names.get(n["parent"], ""))
    inside, raw = {top["id"]}, top["raw"][0]
    for node in nodes:
        if node["parent"] in inside:
            inside.add(node["id"])
            raw += node["raw"][0]
    return top["cumulative"][0], raw


def javac(bench, java, arguments):
    ratios, raws = [], []
    for _ in range(bench.runs):
        command = bench.program(java, "TimedCompile", arguments)
        cpu = lambda output: int(re.search(r"^cpu (\d+)", output, re.M).group(1))
        untraced = cpu(run(command))
        # the JSON of the whole tree has gigabytes
        nodes, output = bench.profile(command, "--depth", "0")
        base, raw, events = nodes[0]["cumulative"][0], sum(n["raw"][0] for n in nodes), 2 * sum(
            n["calls"] for n in nodes)
        ratios.append(base / untraced)
        raws.append(raw / untraced)
        print(f"  javac   untraced {untraced / 1e9:.2f} s, traced {cpu(output) / 1e9:.2f} s, raw "
              f"{raw / 1e9:.2f} s, "
              f"calibrated {base / 1e9:.2f} s: {ratios[-1]:.3f} of untraced ({events / 1e6:.0f} M "
              f"events, "
              f"off by {(base - untraced) / events:+.2f} ns each)", flush=True)
    return statistics.median(ratios), statistics.median(raws)


def as_ran(bench, java, arguments):
    """Compares two independent measurements of one traced run: the calibrated tree and samples."""
    ratios = []
    for _ in range(bench.runs):
        out, recording = os.path.join(bench.work, "ran.jprof"), os.path.join(
            bench.work, "ran-tprof")
        shutil.rmtree(out, ignore_errors=True)
        shutil.rmtree(recording, ignore_errors=True)
        agent = os.path.join(os.path.dirname(os.path.dirname(bench.jprof)), "lib", "libjprof.so")
        command = bench.program(java, "TimedCompile", arguments)
        command.insert(1, f"-agentpath:{agent}=callflow,tree_memory=2G,"
                       f"time_every={bench.time_every},out={out}")
        # Through a shell, so that tprof does not add the agent a second time.
        text = run([bench.jprof, "tprof", "--rate", "1000", "-o", recording, "--format", "json",
                    "--", "sh", "-c", 'exec "$@"', "sh", *command])
        rows = json.loads(text[text.index('{"report"'):])["rows"]
        of_profiler = lambda r: r["module"].endswith(
            "libjprof.so") or "dtrace_method_" in r["symbol"]
        threads = {r["thread"] for r in rows if of_profiler(r)}
        main = max(threads, key=lambda t: sum(r["ticks"] for r in rows if r["thread"] == t))
        inside = sum(r["ticks"] for r in rows if r["thread"] == main and of_profiler(r)) / 1000
        outside = sum(r["ticks"] for r in rows if r["thread"] == main and not of_profiler(r)) / 1000
        report = json.loads(
            run([bench.jprof, "report", "log-rt", out, "--depth", "0", "--cumulative", "--format",
                 "json"]))
        base = max(
            t["nodes"][0]["cumulative"][0] for t in report["threads"] if t["name"] == "main") / 1e9
        ratios.append(base / outside)
        print(f"  as-ran  samples: {inside:.2f} s in the profiler, {outside:.2f} s outside; "
              f"calibrated {base:.2f} s: "
              f"{ratios[-1]:.3f}", flush=True)
    return statistics.median(ratios), float("nan")


def phases(bench, java, kind, amount, factors):
    ratios, raws, others = [], [], {}
    chunks = 60000 // amount
    split = lambda output: [
        int(x) for x in re.search(r"^tiny (\d+) plain (\d+)", output, re.M).groups()]
    for _ in range(bench.runs):
        tiny, plain = split(
            run(bench.program(java, "TwoPhases", [str(chunks), str(chunks), kind, str(amount)])))
        arguments = [str(chunks), str(round(chunks * tiny / plain)), kind, str(amount)]
        tiny, plain = split(run(bench.program(java, "TwoPhases", arguments)))
        nodes, _ = bench.profile(bench.program(java, "TwoPhases", arguments))
        (tiny_base, tiny_raw), (plain_base, plain_raw) = below(nodes, "tiny"), below(nodes, "plain")
        ratios.append(tiny_base / plain_base)
        raws.append(tiny_raw / plain_raw)
        print(f"  {kind:<7} {tiny / chunks / 1000:.1f} ns a call: true {tiny / plain:.2f}, raw "
              f"{raws[-1]:.2f}, "
              f"calibrated {ratios[-1]:.3f} (off by {(tiny_base - tiny) / chunks / 1000 / 2:+.2f} "
              f"ns an event)", flush=True)
        ratio = lambda nodes: below(nodes, "tiny")[0] / below(nodes, "plain")[0]
        for factor, trained, lowered in bench.with_factors(factors):
            others.setdefault(factor, []).append((ratio(trained), ratio(lowered)))
    for factor, pairs in others.items():
        trained, lowered = (statistics.median(side) for side in zip(*pairs))
        print(f"  {kind}:{amount}  table times {factor:g}: as trained {trained:.3f}, "
              f"lowered {lowered:.3f}", flush=True)
    return statistics.median(ratios), statistics.median(raws)


def main():
    parser = measure.build_arguments(__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--java", action="append")
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--kinds", default="scan:1,scan:2,scan:4,chain:16",
                        help="phases: kind and amount of work per call")
    parser.add_argument("--fold", action="store_true", help="fold recursion in javac's tree")
    parser.add_argument(
        "--focus", metavar="P", help="record with focus and intrinsics; '*' selects all methods")
    parser.add_argument("--time-every", type=int, metavar="N",
                        help="estimate times from one interval in N (see `jprof callflow --help`)")
    parser.add_argument("--only", choices=["javac", "phases", "as-ran"])
    parser.add_argument("--table-factors", default="", metavar="F,...")
    options = parser.parse_args()
    if options.time_every is not None and options.time_every < 2:
        parser.error("--time-every: 2 or more, or leave it out")
    factors = [float(factor) for factor in options.table_factors.split(",") if factor]
    missed = []
    with measure.folder("accuracy", 6, 8) as work:
        bench = Bench(options.build, work, options.runs, options)
        for java in options.java or [jdk.tool("java") for jdk in measure.jvms.needed_jdks()]:
            print(java, flush=True)
            figures = []
            if options.only == "as-ran":
                arguments = javac_program.arguments(work, options.files)
                figures.append(("as-ran", None, *as_ran(bench, java, arguments)))
            if options.only in (None, "javac"):
                arguments = javac_program.arguments(work, options.files)
                figures.append(("javac", 0.1, *javac(bench, java, arguments)))
                figures.append(("as-ran", None, *as_ran(bench, java, arguments)))
            if options.only in (None, "phases"):
                for text in options.kinds.split(","):
                    kind, amount = text.split(":")
                    bound = 0.2 if kind == "scan" else None
                    figures.append((text, bound, *phases(bench, java, kind, int(amount), factors)))
            for name, bound, ratio, raw in figures:
                good = bound is None or abs(ratio - 1) <= bound
                outcome = "ok" if good else "MISSED"
                verdict = "no bound" if bound is None else f"bound 1 +- {bound}: {outcome}"
                print(f"  {name:<10} median {ratio:.3f} (raw {raw:.2f})  {verdict}")
                if not good:
                    missed.append(f"{name} on {java}")
    if missed:
        sys.exit("missed: " + ", ".join(missed))


if __name__ == "__main__":
    main()
