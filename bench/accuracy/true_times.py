#!/usr/bin/env python3
"""What `jprof profile` and `jprof report combined` are worth: times and intervals against truths
that are known otherwise.

    bench/accuracy/true_times.py [--part phases|held-out|wall] [--jdk 17] [--rounds 5]
                                 [--called|--unrolled] [--program javac] [--sampled 3] [--callflow]
                                 [--show N] [--build DIR] [--out DIR]

  phases    bench/java/TwoPhases.java prints the CPU time of its two phases, one of which makes 400
            million calls of a tiny method. Each round runs it alone and then under `jprof profile`.
            ratio = the phases' CUM over the ratio that the program alone printed; also over that of
            its own sampled runs, which leaves out how much two runs of the program differ. NS/CALL
            of the tiny method against CPU time of the phase in the program alone / calls.
            --unrolled: only the variant in which C2 keeps no record of the tiny method's
            instructions; --called: only the other one. --callflow: calibrated callflow beside
  held-out  javac, H2, Groovy and Jython: one counted run and three sampled ones (--sampled). Each
            sampled run is held out once: the shares of contexts above 1 % by the two runs before
            it (before the first comes the last), against its own. Also whether the counts of the
            combined profile are those of the counted one
  wall      elapsed time of `jprof profile` over that of the program; the goal is
            1 + 1.05 x sampled runs + 1.5 x counted run: 4.60 if numbers of runs are meant; "goal"
            has the counted run's own ratio. CPU time beside, which other programs of the machine
            disturb less

Exit status 1 if a program's output or exit status is not that of the program alone, or if counts
differ. Figures have no bounds here: they are in docs/MEASURED.md. Samples at 1000 per second.
"""
import collections
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import debian_programs  # noqa: E402
import javac_program as javac  # noqa: E402
import measure  # noqa: E402

RUN = re.compile(r"run \d of \d: ([\d.]+) s, ([\d.]+) s of CPU time, exit status (\d+)")
PHASES = re.compile(rb"calls (\d+) loop (\d+) count (\d+)")
TINY = {"unrolled": ("unrolled", "tiny"), "called": ("calls", "step")}  # variant -> phase, method
# What the VM numbers differently in each run.
NUMBERED = re.compile(r"(?<=\$\$Lambda)[$/.\dx+a-f]+|\+?0x[0-9a-f]+|(?<=Proxy)\d+|(?<=Accessor)\d+")


class Wrong(Exception):
    """The program under the profiler did something else than alone."""


def tool(command, **more):
    """Standard output and standard error of a jprof command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command[:5])} ...: exit status {done.returncode}\n"
                         f"{done.stderr[-2000:]}")
    return done.stdout, done.stderr


class Program:
    """A command, and what it does alone."""

    def __init__(self, name, command, work, comparable=lambda output: output):
        self.name, self.command, self.work, self.comparable = name, command, work, comparable

    def alone(self):
        run = measure.run(self.command, cwd=self.work)
        if run.status != 0:
            raise Wrong(f"{self.name} alone: exit status {run.status}")
        return run

    def check(self, run, alone, runs, what):
        if run.status != alone.status:
            raise Wrong(f"{self.name}: exit status {run.status} under {what}, {alone.status} alone")
        if self.comparable(run.stdout) != self.comparable(alone.stdout) * runs:
            raise Wrong(f"{self.name}: OUTPUT DIFFERS under {what}")


class Lab:
    def __init__(self, args, jdk, work):
        self.args, self.jdk, self.work = args, jdk, work
        self.jprof = os.path.abspath(os.path.join(args.build, "bin", "jprof"))

    def path(self, name):
        return os.path.join(self.work, name)

    def record(self, program, alone, mode, out, *options):
        """One run under `jprof calltree` or another mode, into a profile of the folder."""
        shutil.rmtree(self.path(out), ignore_errors=True)
        run = measure.run([self.jprof, mode, *options, "--force", "-o", self.path(out), "--",
                           *program.command], cwd=program.work)
        program.check(run, alone, 1, mode)
        return run

    def profile(self, program, alone, out):
        """(run, [elapsed time of each run of the program], [CPU time of each]) of `jprof profile`.
        """
        shutil.rmtree(self.path(out), ignore_errors=True)
        errors = self.path("errors")
        with open(errors, "w", encoding="utf-8") as f:
            before = os.times()
            done = subprocess.run([self.jprof, "profile", "--tree-memory", "4G", "--force", "-o",
                                   self.path(out), "--", *program.command], cwd=program.work,
                                  stdout=subprocess.PIPE, stderr=f)
        after = os.times()
        cpu = (after.children_user - before.children_user + after.children_system -
               before.children_system)
        with open(errors, encoding="utf-8", errors="replace") as f:
            runs = RUN.findall(f.read())
        # Where standard output is not a terminal too, the report comes after the program's output.
        own, _, _ = done.stdout.partition(b"jprof combined of ")
        run = measure.Run(cpu, after.elapsed - before.elapsed, done.returncode, own)
        if [int(r[2]) for r in runs] != [0] * 3:
            raise Wrong(f"{program.name}: exit statuses {[r[2] for r in runs]} in `jprof profile`")
        program.check(run, alone, 3, "`jprof profile`")
        return run, [float(r[0]) for r in runs], [float(r[1]) for r in runs]

    def combined(self, profile, percent):
        return json.loads(tool([self.jprof, "report", "combined", self.path(profile), "--format",
                                "json", "--min-percent", str(percent)])[0])

    def combine(self, out, counted, sampled):
        tool([self.jprof, "combine", "--force", *map(self.path, [counted, *sampled]), "-o",
              self.path(out)])

    def remove(self, *profiles):
        for profile in profiles:
            shutil.rmtree(self.path(profile), ignore_errors=True)


def holds(interval, value):
    return interval["low"] <= value <= interval["high"]


# ---- phases


def phase_times(output):
    """[(CPU time of the phase with calls in ns, of the loop, calls)] of each run."""
    return [tuple(map(int, found)) for found in PHASES.findall(output)]


def phases_program(lab, variant):
    tool([lab.jdk.tool("javac"), "-d", lab.work,
          os.path.join(measure.ROOT, "bench", "java", "TwoPhases.java")])
    words = ["unrolled"] if variant == "unrolled" else []
    return Program("TwoPhases", lab.jdk.java("-cp", lab.work, "TwoPhases", *words), lab.work,
                   lambda output: re.sub(rb"(calls|loop) \d+", rb"\1", output))


def row_of(report, method):
    """The row with the most calls of a method; one that the report does not show has no time."""
    rows = [r for r in report["nodes"] if r["name"].startswith(f"TwoPhases.{method}(")]
    return max(rows, key=lambda r: r["calls"] or 0, default=None)


class Round:
    """One repetition of a variant."""

    def __init__(self, variant, alone, own, report):
        phase, method = TINY[variant]
        self.alone = phase_times(alone)[0]
        sampled = phase_times(own)[:2]
        rows = [row_of(report, name) for name in (phase, "loop", method)]
        if None in rows:
            raise SystemExit(f"the report shows no row of TwoPhases.{phase}, loop or {method}")
        ratio = rows[0]["cum_ns"]["value"] / rows[1]["cum_ns"]["value"]
        self.ratio = ratio / (self.alone[0] / self.alone[1])
        self.own_ratio = ratio / (sum(s[0] for s in sampled) / sum(s[1] for s in sampled))
        self.per_call = rows[2]["ns_per_call"]
        self.truth = self.alone[0] / self.alone[2]
        self.own_truth = statistics.mean(s[0] / s[2] for s in sampled)
        self.calls, self.samples = rows[2]["calls"], sum(rows[2]["all_samples"])

    def holds(self, truth):
        return holds(self.per_call, truth)

    def __str__(self):
        value, low, high = (self.per_call[k] for k in ("value", "low", "high"))
        return (f"ratio {self.ratio:.3f} (of its own runs {self.own_ratio:.3f}), ns/call "
                f"{value:.3f} in {low:.3f}..{high:.3f}, alone {self.truth:.3f} (sampled "
                f"{self.own_truth:.3f}): "
                f"{'inside' if self.holds(self.truth) else 'OUTSIDE'}; {self.calls} calls, "
                f"{self.samples:.0f} samples")


def calibrated(lab, program, variant):
    """Ratio of the phases by callflow, over that of the program alone."""
    alone = program.alone()
    lab.record(program, alone, "callflow", "callflow", "--fold-recursion", "--tree-memory", "2G")
    report = json.loads(tool([lab.jprof, "report", "log-rt", lab.path("callflow"), "--cumulative",
                              "--min-percent", "1", "--format", "json"])[0])
    lab.remove("callflow")
    nodes = [n for t in report["threads"] for n in t["nodes"]]
    phase, loop = (max(n["cumulative"][0] for n in nodes
                       if n["name"].startswith(f"TwoPhases.{name}("))
                   for name in (TINY[variant][0], "loop"))
    truth = phase_times(alone.stdout)[0]
    how = "calibrated" if report["metrics"][0]["calibrated"] else "uncalibrated"
    print(f"  callflow, {how}: ratio {phase / loop / (truth[0] / truth[1]):.3f}", flush=True)


def summary(variant, rounds):
    truth = statistics.median(r.truth for r in rounds)
    ratios = [r.ratio for r in rounds]
    own = [r.own_ratio for r in rounds]
    errors = [abs(r.per_call["value"] / r.truth - 1) for r in rounds]
    print(f"  {variant}, {len(rounds)} rounds: ratio median {statistics.median(ratios):.3f}, "
          f"{min(ratios):.3f}..{max(ratios):.3f}, "
          f"{sum(abs(r - 1) <= 0.05 for r in ratios)} within 1 +- 0.05; of its own runs "
          f"{statistics.median(own):.3f}, {min(own):.3f}..{max(own):.3f}, "
          f"{sum(abs(r - 1) <= 0.05 for r in own)} within")
    print(f"    ns/call median {statistics.median(r.per_call['value'] for r in rounds):.3f}, alone "
          f"{truth:.3f} ({min(r.truth for r in rounds):.3f}..{max(r.truth for r in rounds):.3f}), "
          f"in the sampled runs {statistics.median(r.own_truth for r in rounds):.3f}; "
          f"{sum(e <= 0.15 for e in errors)} of {len(rounds)} within 15 %, at most "
          f"{max(errors):.1%} off")
    half = statistics.median(
        (r.per_call["high"] - r.per_call["low"]) / 2 / r.truth for r in rounds)
    print(f"    interval contains the round's own truth in "
          f"{sum(r.holds(r.truth) for r in rounds)} of {len(rounds)}, the median truth in "
          f"{sum(r.holds(truth) for r in rounds)}; its half width is "
          f"{half:.1%} of the truth (median)", flush=True)


def phases(lab):
    for variant in [v for v in ("called", "unrolled") if lab.args.variant in (None, v)]:
        program, rounds = phases_program(lab, variant), []
        print(f"JDK {lab.jdk.version}, phases, {variant}; load {os.getloadavg()[0]:.1f}")
        for number in range(lab.args.rounds):
            alone = program.alone()
            run, _, _ = lab.profile(program, alone, "phases")
            rounds.append(Round(variant, alone.stdout, run.stdout, lab.combined("phases", 0.01)))
            print(f"  {number + 1:2} {rounds[-1]}", flush=True)
        lab.remove("phases")
        summary(variant, rounds)
        if lab.args.callflow:
            calibrated(lab, program, variant)


# ---- the real programs


def javac_program(lab):
    archive = javac.source_zip(lab.jdk) or next(
        filter(None, map(javac.source_zip, measure.jvms.find_jdks())), None)
    if archive is None:
        return None
    files = javac.unpack(archive, lab.path("sources"), 400)
    words = lab.path("files")
    with open(words, "w", encoding="utf-8") as f:
        f.write("\n".join(files))
    return Program("javac", [
        lab.jdk.tool("javac"), "-J-Xmx1g", "-proc:none", "-nowarn", "-XDignore.symbol.file",
        "-implicit:none", "--patch-module", f"java.xml={lab.path('sources')}/java.xml", "-d",
        lab.path("classes"), "@" + words], lab.work)


def program_of(lab, name):
    """The program, after a first run that fills its caches; None if it cannot run here."""
    if name == "javac":
        program = javac_program(lab)
    elif os.path.exists(debian_programs.PROGRAMS[name][0]):
        program = Program(name, debian_programs.command(
            lab.jdk, name, lab.work, [f"-Dpython.cachedir={lab.path('cache')}"]), lab.work)
    else:
        program = None
    if program is None or measure.run(program.command, cwd=lab.work).status != 0:
        print(f"  {name}: skipped, not installed or it does not run on this JDK")
        return None
    return program


def programs(lab, default):
    for name in [lab.args.program] if lab.args.program else default:
        program = program_of(lab, name)
        if program:
            yield program


# ---- held-out


def contexts(report):
    """{path of names: row} of the Java methods with calls, and how many paths are left out because
    two rows have them."""
    paths, rows, twice = {None: ()}, {}, set()
    for row in report["nodes"]:
        path = paths[row["id"]] = paths[row["parent"]] + (NUMBERED.sub("#", row["name"]),)
        if not row["calls"] or row["name"].startswith("(hidden"):
            continue
        if path in rows:
            twice.add(path)
        rows[path] = row
    return {path: row for path, row in rows.items() if path not in twice}, len(twice)


def difference_holds(a, b):
    """Whether the 95 % interval of b - a contains 0 (Newcombe's square-and-add of the arms)."""
    change = b["value"] - a["value"]
    low = change - math.hypot(b["value"] - b["low"], a["high"] - a["value"])
    high = change + math.hypot(b["high"] - b["value"], a["value"] - a["low"])
    return low <= 0 <= high


def unseen(samples):
    """The share of a context without samples (Wilson's interval)."""
    return {"value": 0.0, "low": 0.0, "high": 3.84 / (samples + 3.84)}


class Held:
    """Contexts above 1 % by their place in the intervals."""

    def __init__(self):
        self.cases = self.inside = self.compatible = self.missing = self.twice = 0
        self.outside = []

    def add(self, estimate, truth):
        known, twice = contexts(truth)
        none = unseen(truth["sampled_runs"][0]["samples"])
        found, more = contexts(estimate)
        self.twice += twice + more
        for path, row in found.items():
            share = row["share"]
            if share["value"] <= 0.01:
                continue
            held = known[path]["share"] if path in known else none
            self.missing += path not in known
            self.cases += 1
            self.inside += holds(share, held["value"])
            self.compatible += difference_holds(share, held)
            if not difference_holds(share, held):
                self.outside.append((share["value"], held["value"], row["name"]))

    def __iadd__(self, other):
        for name in ("cases", "inside", "compatible", "missing", "twice"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    def __str__(self):
        cases = max(1, self.cases)
        text = (f"{self.inside / cases:.1%} within the stated interval, "
                f"{self.compatible / cases:.1%} within that of the difference, {self.cases} cases")
        if self.missing:
            text += f", {self.missing} below 0.1 % in the held-out run"
        return text + (f", {self.twice} ambiguous paths left out" if self.twice else "")


def calls_differ(lab, report, counted):
    """What is wrong with the calls of the combined report; "" if nothing."""
    info = json.loads(tool([lab.jprof, "info", lab.path(counted), "--format", "json"])[0])
    rows = sum(r["calls"] or 0 for r in report["nodes"])
    said, generated = report["counted_run"]["calls"], report["generated_calls"]
    if said != info["calls"]:
        return f"the combined report says {said} calls, jprof info {info['calls']}"
    if rows + generated != said:
        return f"rows have {rows} calls and generated code {generated}, the counted run {said}"
    return ""


def hold_out(lab, program):
    """Records and compares; returns (held, whether counts are wrong)."""
    alone = program.alone()
    lab.record(program, alone, "calltree", "counted", "--fold-recursion", "--tree-memory", "4G")
    sampled = [f"sampled-{number}" for number in range(lab.args.sampled)]
    for name in sampled:
        lab.record(program, alone, "scs", name, "--rate", "1000")
    total, wrong = Held(), ""
    for number, name in enumerate(sampled):
        lab.combine("estimate", "counted", [sampled[number - 2], sampled[number - 1]])
        lab.combine("held", "counted", [name])
        estimate, truth, each = lab.combined("estimate", 1), lab.combined("held", 0.1), Held()
        lab.remove("estimate", "held")
        each.add(estimate, truth)
        wrong = wrong or calls_differ(lab, estimate, "counted")
        samples = [r["samples"] for r in estimate["sampled_runs"]]
        print(f"  {program.name:7} {name} held out: {each}")
        print(f"          {estimate['counted_run']['calls']} calls, samples {samples}, "
              f"uncounted {estimate['uncounted_share']:.2%}, outside Java "
              f"{estimate['outside_share']:.2%}, spread of the total "
              f"{estimate['relative_total_spread']:.1%}, of shares "
              f"{estimate['relative_share_spread']:.1%}")
        for share, held, method in sorted(each.outside, reverse=True)[:lab.args.show]:
            print(f"            {share:.2%} by the others, {held:.2%} held out: {method[:80]}")
        total += each
    lab.remove("counted", *sampled)
    print(f"  {program.name:7} all: {total}; calls {'WRONG: ' + wrong if wrong else 'equal'}",
          flush=True)
    return total, bool(wrong)


def held_out(lab):
    print(f"JDK {lab.jdk.version}, held-out; load {os.getloadavg()[0]:.1f}", flush=True)
    total, wrong = Held(), 0
    for program in programs(lab, ["javac", *debian_programs.PROGRAMS]):
        held, broken = hold_out(lab, program)
        total += held
        wrong += broken
    print(f"  all programs: {total}", flush=True)
    return wrong


# ---- wall


def wall(lab):
    print(f"JDK {lab.jdk.version}, wall, {lab.args.rounds} rounds, medians; load "
          f"{os.getloadavg()[0]:.1f}", flush=True)
    for program in programs(lab, ["javac", "h2"]):
        figures = collections.defaultdict(list)
        for _ in range(lab.args.rounds):
            alone = program.alone()
            run, parts, cpu = lab.profile(program, alone, "wall")
            goal = 1 + 1.05 * (len(parts) - 1) + 1.5 * parts[-1] / alone.wall
            for name, value in (("alone", alone.wall), ("profile", run.wall), ("goal", goal),
                                ("ratio", run.wall / alone.wall),
                                ("sampled", statistics.mean(parts[:-1]) / alone.wall),
                                ("counted", parts[-1] / alone.wall),
                                ("report", run.wall - sum(parts)),
                                ("cpu ratio", run.cpu / alone.cpu),
                                ("sampled cpu", statistics.mean(cpu[:-1]) / alone.cpu),
                                ("counted cpu", cpu[-1] / alone.cpu),
                                ("report cpu", run.cpu - sum(cpu))):
                figures[name].append(value)
            print(f"    {program.name}: {alone.wall:.2f} s alone; runs {parts}; {run.wall:.2f} s, "
                  f"ratio {figures['ratio'][-1]:.2f}, goal {goal:.2f}", flush=True)
        lab.remove("wall")
        m = {name: statistics.median(values) for name, values in figures.items()}
        print(f"  {program.name}: {m['alone']:.2f} s alone, {m['profile']:.2f} s of jprof profile: "
              f"ratio {m['ratio']:.2f} ({min(figures['ratio']):.2f}..{max(figures['ratio']):.2f}), "
              f"goal {m['goal']:.2f}; sampled run {m['sampled']:.2f}, counted run "
              f"{m['counted']:.2f}, report {m['report']:.2f} s")
        print(f"    CPU time: ratio {m['cpu ratio']:.2f}, sampled run {m['sampled cpu']:.2f}, "
              f"counted run {m['counted cpu']:.2f}, report {m['report cpu']:.2f} s", flush=True)


PARTS = {"phases": phases, "held-out": held_out, "wall": wall}


def arguments():
    parser = measure.build_arguments(__doc__)
    parser.add_argument("--part", choices=PARTS, help="only this part")
    parser.add_argument("--jdk", type=int, help="only this JDK, e.g. 17")
    parser.add_argument("--rounds", type=int, default=5, help="of phases and wall (5)")
    parser.add_argument("--program", choices=["javac", *debian_programs.PROGRAMS])
    parser.add_argument("--unrolled", dest="variant", action="store_const", const="unrolled")
    parser.add_argument("--called", dest="variant", action="store_const", const="called")
    parser.add_argument("--callflow", action="store_true",
                        help="calibrated callflow beside (phases)")
    parser.add_argument("--sampled", type=int, default=3, help="sampled runs of held-out (3)")
    parser.add_argument("--show", type=int, default=0,
                        help="contexts outside their interval to list, of each held-out run (0)")
    parser.add_argument("--out", help="folder for the profiles (a temporary folder on disk)")
    args = parser.parse_args()
    if args.sampled < 3:
        parser.error("--sampled must be 3 or more: two runs are compared with a third one")
    return args


def main():
    args, broken = arguments(), 0
    for jdk in measure.jdks_of(args):
        for name, part in PARTS.items():
            if args.part not in (None, name):
                continue
            with measure.folder("true-times", 6, 8, args.out) as work:
                try:
                    broken += part(Lab(args, jdk, work)) or 0
                except Wrong as wrong:
                    print(wrong)
                    broken += 1
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
