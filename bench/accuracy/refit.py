#!/usr/bin/env python3
"""What samples of the unmodified program make of calibrated callflow times: `calibrate --check` and
`report --refit` on javac and on two equally long phases, one of them in tiny calls.

Records each program once with callflow (recursion folded) and three times with scs at 1,000 samples
per second: two runs to refit to, one held out. Prints

  check    the head of `jprof calibrate --check` and the transitions that make most of the overhead
  phases   time of the phase of tiny calls / time of the other phase: of the program itself,
           calibrated as trained, and refitted
  methods  total variation between the self times by method and the held-out samples: as trained,
           refitted, and of the other samples themselves

Usage: refit.py [--build DIR] [--jdk N] [--files N] [--chunks N] [--kind scan|chain] [--amount N]
                [--only javac|phases]
Requires a calibration table for the JVM (jprof calibrate --java JAVA) and, for javac, a JDK's
src.zip. It has no bounds: the figures are in docs/MEASURED.md.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import accuracy  # noqa: E402
import javac_program  # noqa: E402
import measure  # noqa: E402


class Lab:
    def __init__(self, build, work):
        self.jprof = os.path.join(build, "bin", "jprof")
        self.jar = os.path.join(build, "share", "jprof", "trainers.jar")
        self.work = work

    def record(self, name, command):
        """Returns the counted profile, the two sampled ones, the one held out, and the output of
        the last run."""
        counted = os.path.join(self.work, name + "-counted.jprof")
        accuracy.run([self.jprof, "callflow", "--fold-recursion", "--tree-memory", "2G", "-o",
                      counted, "--", *command])
        sampled = []
        for number in range(3):
            sampled.append(os.path.join(self.work, f"{name}-sampled-{number}.jprof"))
            output = accuracy.run([self.jprof, "scs", "--rate", "1000", "--java-only", "-o",
                                   sampled[-1], "--", *command])
        return counted, sampled[:2], sampled[2], output

    def report(self, name, profile, *options):
        return json.loads(accuracy.run(
            [self.jprof, "report", name, profile, "--format", "json", *options]))

    def check(self, counted, sampled, rows):
        text = accuracy.run([self.jprof, "calibrate", "--check", counted, *sampled])
        head, table = text.split("\n\n", 1)
        print("\n".join("  " + line for line in head.splitlines()[1:]))
        print("\n".join("    " + line for line in table.splitlines()[:rows + 1]), flush=True)


def shares(rows, value):
    """Self times by method as shares of their sum, without what the VM numbers anew in each run."""
    sums = {}
    for row in rows:
        if not row["name"].startswith("("):
            name = re.sub(r"\$\$Lambda[^.]*|(?<=Accessor)\d+", "", row["name"])
            sums[name] = sums.get(name, 0) + max(0, value(row))
    whole = sum(sums.values())
    return {name: amount / whole for name, amount in sums.items()}


def variation(a, truth):
    """Over the methods with 0.3 % or more of the true time, the others as one: a run has too few
    samples for those."""
    large = [name for name, share in truth.items() if share >= 0.003]
    differences = [a.get(name, 0) - truth[name] for name in large]
    return (sum(map(abs, differences)) + abs(sum(differences))) / 2


def methods(lab, counted, sampled, held):
    refit = "--refit=" + ",".join(sampled)
    calibrated = lambda row: row["base"][0]
    truth = shares(lab.report("methods", held)["methods"], calibrated)
    one = shares(lab.report("methods", sampled[0])["methods"], calibrated)
    trained = lab.report("methods", counted)
    refitted = lab.report("methods", counted, refit)
    of = lambda report: variation(shares(report["methods"], calibrated), truth)
    total = lambda report: (report["metrics"][0]["raw"] - report["metrics"][0]["removed"]) / 1e9
    print(f"  methods  total variation to held-out samples: trained {of(trained):.3f}, refitted "
          f"{of(refitted):.3f}, samples {variation(one, truth):.3f}")
    print(f"           time in all: trained {total(trained):.2f} s, refitted {total(refitted):.2f} s,"
          f" samples {sum(r['base'][0] for r in lab.report('methods', held)['methods']):.0f}",
          flush=True)


def phase(nodes, name):
    """Time of the phase with all below it and one standard deviation of its largest method, ns."""
    top = next(n for n in nodes if f".{name}(" in n["name"] and n["cumulative"][0] > 0 and any(
        m["id"] == n["parent"] and ".measure(" in m["name"] for m in nodes))
    inside, error = {top["id"]}, top["error"][0]
    for node in nodes:
        if node["parent"] in inside:
            inside.add(node["id"])
            error += node["error"][0]
    return top["cumulative"][0], error


def phases(lab, java, options):
    command = [java, "-cp", lab.jar, "jprof.trainers.TwoPhases", str(options.chunks),
               str(options.chunks), options.kind, str(options.amount)]
    print(f"{options.kind}:{options.amount}, {options.chunks} chunks", flush=True)
    counted, sampled, held, output = lab.record("phases", command)
    lab.check(counted, sampled, 6)
    tiny, plain = (int(x) for x in re.search(r"^tiny (\d+) plain (\d+)", output, re.M).groups())
    print(f"  phases   the program itself: {tiny / 1e9:.2f} s / {plain / 1e9:.2f} s = "
          f"{tiny / plain:.2f}")
    for name, more in (("trained", []), ("refitted", ["--refit=" + ",".join(sampled)])):
        report = lab.report("log-rt", counted, "--cumulative", *more)
        nodes = max((t["nodes"] for t in report["threads"] if t["name"] == "main"),
                    key=lambda n: n[0]["cumulative"][0])
        (a, error), (b, _) = phase(nodes, "tiny"), phase(nodes, "plain")
        print(f"           {name}: {a / 1e9:.2f} s +- {error / 1e9:.2f} s / {b / 1e9:.2f} s = "
              f"{a / b:.2f}", flush=True)
    methods(lab, counted, sampled, held)


def javac(lab, jdk, options):
    arguments = javac_program.arguments(lab.work, options.files)
    command = [jdk.tool("java"), "-cp", lab.jar, "jprof.trainers.TimedCompile", *arguments]
    print(f"javac, {options.files} files", flush=True)
    counted, sampled, held, _ = lab.record("javac", command)
    lab.check(counted, sampled, 12)
    methods(lab, counted, sampled, held)


def main():
    parser = measure.build_arguments(__doc__)
    parser.add_argument("--jdk", type=int, help="only this JDK, e.g. 17")
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--chunks", type=int, default=400000, help="of 1,000 calls each")
    parser.add_argument("--kind", choices=["scan", "chain"], default="scan")
    parser.add_argument("--amount", type=int, default=1)
    parser.add_argument("--only", choices=["javac", "phases"])
    options = parser.parse_args()
    for jdk in measure.jdks_of(options):
        print(f"JDK {jdk.version}")
        with measure.folder("refit", 4, 8) as work:
            lab = Lab(options.build, work)
            if options.only != "javac":
                phases(lab, jdk.tool("java"), options)
            if options.only != "phases":
                javac(lab, jdk, options)


if __name__ == "__main__":
    main()
