#!/usr/bin/env python3
"""Measures the cost of focus and of kept intrinsics side by side: untraced, one package or the
application in focus, all methods probed (with and without --keep-intrinsics), and sampled.

    bench/cost/focus.py [--rounds 3] [--jdk 17] [--part programs|kernels|times]...
                        [--columns A,B]

programs  CPU time of whole processes: javac with its package `comp` in focus (bound: 1.15 of
          untraced), H2, Groovy and Jython with a package and with the application in focus
kernels   CPU time of one run of code that depends on the JDK's intrinsics, its own class in focus
          (bound: 1.5)
times     calibrated cumulative time of methods of several milliseconds, in focus, against the
          thread's CPU time around the same calls untraced (bound for those above 1 ms: 0.9 to 1.1);
          requires jprof calibrate for each JVM

Exit status: 1 if a bound is exceeded.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import debian_programs  # noqa: E402
import javac_program as javac  # noqa: E402
import measure  # noqa: E402

FULL, KEPT, SAMPLED = "callflow", "callflow,keep_intrinsics", "scs"


def agent(args, agent_options, profile):
    shutil.rmtree(profile, ignore_errors=True)
    if not agent_options:
        return None
    return f"-agentpath:{os.path.abspath(args.agent)}={agent_options},out={profile}"


def chosen(args, columns):
    """The columns that --columns or --quick leaves; the first is what all are compared with."""
    return [c for i, c in enumerate(columns) if i == 0 or (
        c in args.columns.split(",") if args.columns else
        not args.quick or not c.startswith("everything"))]


class Table:
    """Prints rows of values, one column per configuration, with the ratio to the first column."""

    def __init__(self, columns, first):
        self.columns, self.broken = columns, 0
        print(f"{first:18}" + "".join(f"{c:>22}" for c in columns), flush=True)

    def row(self, name, values, unit, bounds):
        cells = ""
        for column in self.columns:
            value = values.get(column)
            if value is None:
                cells += f"{'-':>22}"
                continue
            ratio = value / values[self.columns[0]]
            over = ratio > bounds.get(column, float("inf"))
            self.broken += over
            cells += f"{value:13.3f} {unit} {ratio:5.2f}{'!' if over else ' '}"
        print(f"{name:18}{cells}", flush=True)


def javac_row(args, jdk, table):
    archive = javac.source_zip(jdk)
    if archive is None:
        return print(f"javac              skipped: no src.zip of JDK {jdk.version}")
    words = {"untraced": None, "package": "callflow,focus=com.sun.tools.javac.comp.*",
             "package kept": "callflow,focus=com.sun.tools.javac.comp.*,keep_intrinsics",
             "application": "callflow,focus=com.sun.tools.javac.*",
             "application kept": "callflow,focus=com.sun.tools.javac.*,keep_intrinsics",
             "everything": FULL, "everything kept": KEPT, "sampled": SAMPLED}
    with measure.folder("focus", 4, 4, args.out) as work:
        args.tree_memory = "2G"
        compilation = javac.Compilation(args, jdk, work, javac.unpack(archive, work, args.files),
                                        {n: ([], w) for n, w in words.items()})
        names = [n for n in words if n in table.columns]
        results = measure.interleaved(names, args.rounds, compilation.once)
    table.row("javac", {n: measure.median(r) for n, r in results.items()}, "s", {"package": 1.15})


def real_row(args, jdk, name, package, table):
    if not os.path.exists(debian_programs.PROGRAMS[name][0]):
        return print(f"{name:18} skipped: {debian_programs.PROGRAMS[name][0]} is not installed")
    words = {"untraced": None, "package": f"callflow,focus={package}",
             "package kept": f"callflow,focus={package},keep_intrinsics",
             "application": "callflow,focus=app",
             "application kept": "callflow,focus=app,keep_intrinsics",
             "everything": FULL, "everything kept": KEPT, "sampled": SAMPLED}
    with measure.folder("focus", 4, 4, args.out) as work:

        def once(kind):
            flag = agent(args, words[kind], os.path.join(work, "profile"))
            flags = ([flag] if flag else []) + [f"-Dpython.cachedir={work}/cache-{kind}"]
            return measure.run(debian_programs.command(jdk, name, work, flags), cwd=work)

        first = once("untraced")
        if first.status != 0:
            return print(f"{name:18} does not run on JDK {jdk.major}")
        results = measure.interleaved([n for n in words if n in table.columns], args.rounds, once)
    for kind, runs in results.items():
        if any(r.status != 0 or r.stdout != first.stdout for r in runs):
            raise SystemExit(f"{name}: the output differs under {kind}")
    table.row(name, {n: measure.median(r) for n, r in results.items()}, "s", {})


def programs(args, jdk):
    print(f"\nJDK {jdk.version}: CPU seconds of the process, and their ratio to untraced; medians "
          f"of {args.rounds} interleaved runs")
    table = Table(chosen(args, ("untraced", "package", "package kept", "application",
                                "application kept", "everything", "everything kept", "sampled")),
                  "")
    javac_row(args, jdk, table)
    real_row(args, jdk, "h2", "org.h2.command.*", table)
    real_row(args, jdk, "groovy", "groovy.lang.*", table)
    real_row(args, jdk, "jython", "org.python.core.*", table)
    return table.broken


def compiled(jdk, work, name):
    subprocess.run([jdk.tool("javac"), "-d", work,
                    os.path.join(measure.ROOT, "bench", "java", name + ".java")], check=True)


def lines_of(done):
    if done.status != 0:
        raise SystemExit(f"status {done.status}")
    return [line.split() for line in done.stdout.decode().splitlines()]


def kernels(args, jdk):
    print(
        f"\nJDK {jdk.version}: CPU microseconds of one run, the kernels' own class in focus; "
        f"medians of {args.rounds}")
    words = {"untraced": None, "focus": "callflow,focus=Kernels*",
             "focus kept": "callflow,focus=Kernels*,keep_intrinsics",
             "focus counts": "calltree,focus=Kernels*",
             "everything": FULL, "everything kept": KEPT, "sampled": SAMPLED}
    with measure.folder("focus", 4, 4, args.out) as work:
        compiled(jdk, work, "Kernels")

        def once(kind):
            flag = agent(args, words[kind], os.path.join(work, "profile"))
            return dict(lines_of(measure.run(
                [jdk.tool("java"), *([flag] if flag else []), "-cp", work, "Kernels",
                 str(args.seconds)])))

        results = measure.interleaved(chosen(args, words), args.rounds, once)
    table = Table(list(results), "")
    for kernel in results["untraced"][0]:
        bound = {"focus": 1.5, "focus kept": 1.5, "focus counts": 1.5} if not kernel.startswith(
            "own") else {}
        table.row(kernel,
                  {n: statistics.median(int(r[kernel]) for r in runs) / 1e3
                   for n, runs in results.items()},
                  "us", bound)
    return table.broken


def cumulative(args, profile, methods):
    """method -> (calls, calibrated inclusive nanoseconds) below FocusTimes.measured."""
    done = subprocess.run([args.jprof, "report", "log-rt", profile, "--cumulative", "--threads",
                           "merged", "--format", "json"],
                          capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    if not report["metrics"][0]["calibrated"]:
        raise SystemExit("not calibrated: run jprof calibrate --java for this JVM")
    found = {m: [0, 0.0] for m in methods}
    for thread in report["threads"]:
        path = []
        for node in thread["nodes"]:
            name = node["name"].split("(")[0]
            del path[node["level"]:]
            path.append(name)
            method = name.removeprefix("FocusTimes.")
            if "FocusTimes.measured" in path and "FocusTimes.warm" not in path and method in found \
                    and path.count(name) == 1 and "timed" in " ".join(path):
                found[method][0] += node["calls"]
                found[method][1] += node["cumulative"][0]
    return found


def times(args, jdk):
    print(
        f"\nJDK {jdk.version}: milliseconds of one call: CPU time untraced, and calibrated in "
        f"focus; medians of {args.rounds}")
    print(f"{'':18}{'untraced':>12}{'traced':>12}{'calibrated':>12}{'ratio':>8}")
    broken = 0
    with measure.folder("focus", 4, 4, args.out) as work:
        compiled(jdk, work, "FocusTimes")
        profile = os.path.join(work, "profile")

        def once(kind):
            flag = agent(args, "callflow,focus=FocusTimes*,keep_intrinsics" if kind == "focus"
                         else None, profile)
            done = measure.run(
                [jdk.tool("java"), *([flag] if flag else []), "-cp", work, "FocusTimes"])
            printed = {name: int(nanos) / int(calls) / 1e6 for name, calls, nanos in lines_of(done)}
            if not flag:
                return printed, None
            found = cumulative(args, profile, printed)
            return printed, {m: ns / max(calls, 1) / 1e6 for m, (calls, ns) in found.items()}

        results = measure.interleaved(["untraced", "focus"], args.rounds, once)
    for method in results["untraced"][0][0]:
        untraced = statistics.median(printed[method] for printed, _ in results["untraced"])
        traced = statistics.median(printed[method] for printed, _ in results["focus"])
        calibrated = statistics.median(found[method] for _, found in results["focus"])
        ratio = calibrated / untraced
        over = untraced > 1 and not 0.9 <= ratio <= 1.1  # milliseconds
        broken += over
        print(
            f"{method:18}{untraced:12.3f}{traced:12.3f}{calibrated:12.3f}"
            f"{ratio:8.3f}{'!' if over else ''}", flush=True)
    return broken


PARTS = {"programs": programs, "kernels": kernels, "times": times}


def main():
    parser = measure.arguments(__doc__)
    parser.set_defaults(rounds=3)
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--files", type=int, default=400, help="files that javac compiles (400)")
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="of warm-up and of measurement per kernel (1)")
    parser.add_argument("--columns", metavar="A,B", help="only these, and untraced; for example "
                        "'everything,everything kept'")
    parser.add_argument("--quick", action="store_true",
                        help="omit the columns with all methods probed")
    args = parser.parse_args()
    broken = sum(PARTS[part](args, jdk) for jdk in measure.jdks_of(args) for part in args.part
                 or PARTS)
    print(f"\n{broken} figures exceed their bound (marked !)" if broken else "\nall bounds hold")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
