#!/usr/bin/env python3
"""Measures what jprof costs and prints the cost table of docs/MEASURED.md with these figures.

    bench/cost/costs.py                     all rows: takes hours, run it on an idle machine
    bench/cost/costs.py --quick             shorter runs, rougher figures; the table names them
    bench/cost/costs.py --rows events,a2n   only these groups of rows
    bench/cost/costs.py --list              prints the table of docs/MEASURED.md; runs nothing

One command measures each group of rows (see --list); its output goes to standard error. A row whose
command could not run contains the reason instead of a figure. Requires scripts/setup and
scripts/build; the group accuracy also requires `jprof calibrate`.

Exit status: 0; 1 if a command missed a bound or failed; 2 for a usage error.
"""
import argparse
import dataclasses
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED = 77


def number(pattern, text):
    """The first group of the pattern's first match. Raises ValueError if there is none."""
    found = re.search(pattern, text, re.M)
    if not found:
        raise ValueError(f"no /{pattern}/ in the output")
    return float(found[1])


def span(values):
    low, high = min(values), max(values)
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"


def calltree_event(text):
    return f"{number(r'^counts: .*?event +([0-9.]+) +bound', text):.2f}"


def callflow_event(text):
    ratio = number(r"^time: .*?read +([0-9.]+) +bound", text)
    return f"{ratio:.2f} (clock read {number(r'one clock read ([0-9.]+)', text):.1f} ns)"


def javac(mode):
    def ratio(text):
        plain, folded = (number(rf"^{name} +[0-9.]+ +[0-9]+% +([0-9.]+)", text)
                         for name in (mode, mode + " folded"))
        return f"{plain:.2f} (recursion folded {folded:.2f})"
    return ratio


def calibrated(name):
    def ratio(text):
        rows = re.findall(rf"^  (?:{name}) +median ([0-9.]+) \(raw ([0-9.]+)\)", text, re.M)
        if not rows:
            raise ValueError(f"no row {name} in the output")
        ratios, raws = zip(*((float(ratio), float(raw)) for ratio, raw in rows))
        return f"{span(ratios)} (uncalibrated {span(raws)})"
    return ratio


def tprof_cpu(text):
    used, of = re.search(r"own CPU with its report ([0-9.]+) s of (\d+)", text).groups()
    return f"{float(used) / float(of):.3f}"


def tprof_shares(text):
    rows = re.findall(r"chi-square +([0-9.]+), .*1 % point ([0-9.]+):", text)
    return f"at most {max(float(chi) / float(limit) for chi, limit in rows):.2f}"


def counters(text):
    times = re.findall(r"^ *\d+  time .* ([+-][0-9.]+) %", text, re.M)
    dispatches = re.findall(r"^ *\d+  dispatches .* (holds|FAILS)", text, re.M)
    equal = "equal" if set(dispatches) == {"holds"} else "NOT equal"
    return f"within {max(abs(float(off)) for off in times):.2f} %; {equal}"


def a2n(text):
    first = re.split(r"^(?=\S)", text, flags=re.M)[1]  # of libjvm.so
    ours, theirs = (re.search(rf"^  {tool} +([0-9.]+) s +(\d+) MB", first, re.M)
                    for tool in ("jprof a2n", "addr2line"))
    time, memory = (float(ours[i]) / float(theirs[i]) for i in (1, 2))
    return f"time {time:.3f}, memory {memory:.1f}"


@dataclasses.dataclass
class Row:
    what: str
    stated: str       # the figure in docs/MEASURED.md
    ratio: object     # function: output of the command -> the figure


@dataclasses.dataclass
class Group:
    name: str
    command: str
    quick: str        # more arguments for --quick
    rows: list


GROUPS = [
    Group("events", "build/release/bin/hot_path_bench",
          "--benchmark_repetitions=3 --benchmark_min_time=0.05", [
        Row("an event of `calltree`, against a handler that only counts", "1.7", calltree_event),
        Row("an event of `callflow`, against one clock read", "1.42 (clock read 16 ns)",
            callflow_event)]),
    Group("javac", "bench/cost/javac_side_by_side.py", "--quick --files 100", [
        Row("CPU time of javac under `calltree`, against untraced",
            "1.75 (recursion folded 1.57)", javac("calltree")),
        Row("CPU time of javac under `callflow`, against untraced",
            "2.50 (recursion folded 2.22)", javac("callflow"))]),
    Group("accuracy", "bench/accuracy/accuracy.py --only javac", "--runs 1 --files 100", [
        Row("calibrated time of javac's main thread, against its time untraced without inlining",
            "1.40 to 1.53 (uncalibrated 5.3; 8 ns per call, clock read 20 ns); misses its bound "
            "of 1.1", calibrated("javac"))]),
    Group("calls", "bench/accuracy/accuracy.py --only phases", "--runs 1", [
        Row("calibrated time of tiny calls of 50 ns, against their true time",
            "0.96 to 1.04 (uncalibrated 1.5)", calibrated("scan:4")),
        Row("calibrated time of calls of 12 to 20 ns, against their true time",
            "1.13 to 1.35 (uncalibrated 2.5 to 3.9); misses its bound of 1.2",
            calibrated("scan:1|scan:2"))]),
    Group("tprof", "bench/accuracy/tprof_peer.py --rate 99", "--seconds 5", [
        Row("CPU time of `jprof tprof` at 100 samples/s with its report, against the CPU time of "
            "the machine", "0.004", tprof_cpu)]),
    Group("shares", "bench/accuracy/tprof_peer.py", "--seconds 5", [
        Row("difference of its shares from those of `perf record -a`: chi-square of processes, "
            "modules and symbols, against the 1 % point", "below 0.5", tprof_shares)]),
    Group("counters", "build/release/bin/counters_check", "--seconds 5", [
        Row("counters of 8 threads on 2 CPUs: time against `CLOCK_THREAD_CPUTIME_ID`; "
            "dispatches against `/proc`", "within 0.3 %; equal", counters)]),
    Group("a2n", "bench/accuracy/a2n_compare.py", "--count 10000 --llvm-count 1000", [
        Row("`jprof a2n` on addresses of libjvm.so, against `addr2line`",
            "time 0.003, memory 2.5", a2n)]),
]


def table(rows):
    """The lines of the Markdown table; rows are (what, ratio, command)."""
    yield "| what | ratio | command |"
    yield "|---|---|---|"
    for what, ratio, command in rows:
        yield f"| {what} | {ratio} | `{command}` |"


def stated_table():
    return table((row.what, row.stated, group.command) for group in GROUPS for row in group.rows)


def command_of(group, quick):
    return f"{group.command} {group.quick}" if quick else group.command


def measure(group, quick):
    """(exit status, the figures of the group's rows)"""
    command = command_of(group, quick)
    print(f"costs: {command}", file=sys.stderr, flush=True)
    try:
        ran = subprocess.run(command.split(), cwd=ROOT, text=True, stdout=subprocess.PIPE)
    except OSError as error:
        return 1, [f"not measured: {error.strerror}"] * len(group.rows)
    sys.stderr.write(ran.stdout)
    if ran.returncode == SKIPPED:
        reason = (ran.stdout.strip().splitlines() or ["skipped"])[-1]
        return 0, [f"not measured: {reason}"] * len(group.rows)
    return ran.returncode, [figure(row, ran) for row in group.rows]


def figure(row, ran):
    try:
        return row.ratio(ran.stdout)
    except (ValueError, AttributeError, IndexError):
        return f"not measured: status {ran.returncode}, and no figure in the output"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [group.name for group in GROUPS]
    parser.add_argument("--quick", action="store_true", help="shorter runs")
    parser.add_argument("--rows", default=",".join(names), metavar="A,B",
                        help="groups of rows: " + ", ".join(names))
    parser.add_argument("--list", action="store_true",
                        help="print the table of docs/MEASURED.md, run nothing")
    options = parser.parse_args()
    chosen = options.rows.split(",")
    for name in chosen:
        if name not in names:
            parser.error(f"there is no group {name}; groups are {', '.join(names)}")
    if options.list:
        print("\n".join(stated_table()))
        return 0
    rows, status = [], 0
    for group in (each for each in GROUPS if each.name in chosen):
        code, figures = measure(group, options.quick)
        status = status or (1 if code else 0)
        command = command_of(group, options.quick)
        rows += [(row.what, ratio, command) for row, ratio in zip(group.rows, figures)]
    print("\n".join(table(rows)))
    return status


if __name__ == "__main__":
    sys.exit(main())
