#!/usr/bin/env python3
"""Tests exact counts: every program, on every JDK found, in every mode, against the counts that it
has by construction.

    run_exact.py --jprof BIN --agent LIB --programs DIR --native DIR [--group G | --program P]
                 [--mode M] [--jdk N]
    run_exact.py --oracle LIB ...   checks the programs' expectations by JVMTI method events
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import child
import expectations
import jvms
import programs
import raw_profile
import reports

TIMEOUT = 600


@dataclasses.dataclass
class Case:
    program: programs.Program
    jdk: jvms.Jdk
    mode: str
    agent: str             # options after the library: callflow, calltree, ...
    flags: tuple = ()

    def __str__(self):
        return f"{self.program.name} {self.jdk.name} {self.mode} {self.agent}"


WOVEN = "calltree,counter=woven"
SITES = WOVEN + ",call_sites"
COMPILED_BY_C2 = ("tiered", "c2", "comp")  # modes; only C2 keeps intrinsics


def cases_of(program, jdk, focus):
    if jdk.major < program.jdk:
        return
    if focus:
        if program.name == "Intrinsics":  # it expects calls of the JDK's methods, not its own
            return
        for mode in jvms.MODES:
            yield Case(program, jdk, mode, "callflow,focus=app")
            if mode in COMPILED_BY_C2:
                yield Case(program, jdk, mode, "callflow,focus=app,keep_intrinsics")
        yield Case(program, jdk, "tiered", "calltree,counter=probe,focus=app")
        yield Case(program, jdk, "tiered", WOVEN + ",focus=app")
        yield Case(program, jdk, "tiered", "trace,trace_memory=1G,focus=app")
        return
    for mode in jvms.MODES:
        yield Case(program, jdk, mode, "callflow")
        if mode == "c2" or (mode in COMPILED_BY_C2 and program.name == "Intrinsics"):
            yield Case(program, jdk, mode, "callflow,keep_intrinsics")
    if program.name == "Intrinsics":
        yield Case(program, jdk, "c2", "calltree,keep_intrinsics")
    else:  # woven code counts no intrinsics
        for mode in jvms.MODES:
            yield Case(program, jdk, mode, WOVEN)
            yield Case(program, jdk, mode, SITES)
    yield Case(program, jdk, "tiered", "calltree")
    yield Case(program, jdk, "tiered", "callflow,fold_recursion")
    yield Case(program, jdk, "int", "calltree,fold_recursion")
    yield Case(program, jdk, "tiered", "trace,trace_memory=1G")
    if program.variants:
        for flags in jvms.VARIANTS.values():
            if available(jdk, tuple(flags)):
                yield Case(program, jdk, "tiered", "callflow", tuple(flags))
        yield Case(program, jdk, "tiered", WOVEN, tuple(jvms.VARIANTS["checked-jni"]))


USUAL = ("callflow", "callflow,keep_intrinsics")
# groups whose paths lead out of the focus and back, and in which frames end in many ways
MANY_PATHS = ("calls", "exceptions", "threads", "virtual")


def shared(chosen, jdks, focus):
    """Assigns each case to one of its JDKs in turn; the usual cases, tiered, run on all of them. Of
    the others runs every second one, beginning with the first or the second as the program's place
    among its like is even or odd: every mode runs in half of the programs, every variant in one.
    In groups without many paths the tiered mode stands for those that compile with one compiler
    or at once, and with a focus nothing but callflow runs. Without a focus, intrinsics are kept in
    the program about them only."""
    everything = programs.load_all()
    for program in chosen:
        on = collections.defaultdict(list)
        for jdk in jdks:
            for case in cases_of(program, jdk, focus):
                on[case.mode, case.agent, case.flags].append(case)
        alike = [p.name for p in everything if p.variants == program.variants]
        turn = alike.index(program.name)
        for (mode, agent, flags), cases in on.items():
            usual = mode == "tiered" and agent in USUAL and not flags
            usual |= program.group == "sites" and agent == SITES
            many = program.group in MANY_PATHS
            if focus and not many and agent != "callflow,focus=app":
                continue
            if not many and mode not in ("int", "tiered") and agent in ("callflow", WOVEN):
                continue
            if agent == WOVEN and mode not in ("int", "c2", "tiered"):
                continue
            if agent.startswith(SITES) and mode != "tiered" and program.group != "sites":
                continue
            if agent.endswith("keep_intrinsics") and not focus and program.name != "Intrinsics":
                continue
            if usual:
                yield from cases
                continue
            turn += 1
            if turn % 2 == 0:
                yield cases[turn // 2 % len(cases)]


_available = {}


def available(jdk, flags):
    key = (jdk.home, flags)
    if key not in _available:
        _available[key] = child.run(jdk.java(*flags, "-version")).returncode == 0
    return _available[key]


def native_methods(program):
    """Names, Class.method, of the native methods that a program declares."""
    with open(program.source, encoding="utf-8") as f:
        return {f"{program.name}.{m}" for m in re.findall(r"\bnative [\w ]+ (\w+)\(", f.read())}


class Runner:
    def __init__(self, args):
        self.args = args
        self.classes = os.path.join(args.programs, "classes")

    def java_command(self, case, agent):
        program = case.program
        command = case.jdk.java(*jvms.MODES[case.mode](program.name), *program.jvm, *case.flags)
        if program.directives and case.mode == "tiered":
            path = os.path.join(programs.FOLDER, program.directives)
            command += ["-XX:+UnlockDiagnosticVMOptions", f"-XX:CompilerDirectivesFile={path}"]
        if program.native and case.jdk.major >= 24:
            command.append("--enable-native-access=ALL-UNNAMED")
        if program.agentjar:
            command.append(
                "-javaagent:" + os.path.join(self.args.programs, "agents", program.name + ".jar"))
        if agent:
            command.append("-agentpath:" + agent)
        return command + ["-cp", self.classes, program.name]

    def run_java(self, case, agent, folder):
        """(failures, stdout); a crashed JVM writes its files to `folder`."""
        done = child.run(self.java_command(case, agent), TIMEOUT, cwd=folder)
        failures = []
        if done.returncode != case.program.exit or "PROGRAM FAILED" in done.stdout:
            tail = (done.stdout[-400:] + done.stderr[-800:]).strip()
            failures.append(f"exit status {done.returncode}, expected {case.program.exit}: {tail}")
        if not expectations.parse(done.stdout):
            failures.append("the program expects nothing")
        return failures, done.stdout

    def run(self, case):
        folder = tempfile.mkdtemp(prefix="jprof-exact-", dir=self.args.tmp)
        try:
            if self.args.no_agent:
                return self.run_java(case, "", folder)[0]
            if self.args.oracle:
                return self.check_oracle(case, folder)
            return self.check_profile(case, os.path.join(folder, "p.jprof"))
        except (reports.ReportFailed, subprocess.TimeoutExpired, OSError, KeyError,
                ValueError) as e:
            return [f"{type(e).__name__}: {str(e)[:600]}"]
        finally:
            if self.args.keep:
                print(f"kept {folder}: {case}", flush=True)
            else:
                shutil.rmtree(folder, ignore_errors=True)

    def check_oracle(self, case, folder):
        out = os.path.join(folder, "entries.txt")
        failures, stdout = self.run_java(case, f"{self.args.oracle}={out}", folder)
        calls = expectations.Calls()
        with open(out, encoding="utf-8") as f:
            for i, line in enumerate(f):
                name, count = line.rsplit(" ", 1)
                calls.add(i, None, name, int(count), "")
        return failures + expectations.compare(expectations.parse(stdout), calls, ("calls",),
                                               "oracle")

    def check_profile(self, case, directory):
        failures, stdout = self.run_java(
            case, f"{self.args.agent}={case.agent},out={directory}", os.path.dirname(directory))
        expected = expectations.parse(stdout)
        if "focus" in case.agent:
            expected = [e.without_jdk() for e in expected if not e.of_jdk()]
        if case.agent.startswith(WOVEN):
            expected = self.counted_by_woven(case, expected)
        folded = "fold_recursion" in case.agent
        kinds = ("calls", "thread") if folded else ("calls", "thread", "path")
        sites = ("site",) if case.agent.startswith(SITES) else ()
        allow = case.program.allow

        raw = raw_profile.RawProfile(directory)
        failures += raw.check(allow, case.program.open)
        if case.agent.startswith("trace"):  # no tree: the counts are in the sequence of events
            return failures if self.args.raw_only else failures + self.check_trace(
                directory, expected, raw.partly_counted)
        partly = raw.partly_counted
        calls = raw.calls()
        calls.marks = expectations.marked_sites(case.program.source)
        failures += expectations.compare(expected, calls, kinds + sites, "raw", partly)
        # The mode affects only the type letters of a report, and tiered has all of them.
        if self.args.raw_only or (self.args.share and case.mode != "tiered"):
            return failures

        separate = reports.log_rt(self.args.jprof, directory, "--threads", "separate", "--raw")
        failures += reports.check(separate, "separate")
        printed = separate["metrics"][0]["raw"] if separate["metrics"] else 0.0
        if abs(printed - raw.time()) > 1e-9 * abs(printed) + 1:
            failures.append(f"the report's raw {printed} is not the files' {raw.time()}")
        failures += reports.check_losses(separate, "separate", allow)
        failures += expectations.compare(expected, reports.calls_of(separate), kinds, "separate",
                                         partly)

        if case.mode != "tiered" or (self.args.share and case.agent not in USUAL):
            return failures
        merged = reports.log_rt(self.args.jprof, directory, "--threads", "merged", "--raw")
        failures += reports.check(merged, "merged")
        failures += expectations.compare(
            expected, reports.calls_of(merged), ("calls",) if folded else ("calls", "path"),
            "merged", partly)
        return failures

    def counted_by_woven(self, case, expected):
        """The expectations of methods that woven code counts: none of native methods and of hidden
        classes (docs/WOVEN.md)."""
        native = native_methods(case.program)
        hidden = f"{case.program.name}$Body"  # of the program Hidden
        kept = [e for e in expected
                if not any(m.split("(")[0] in native or m.startswith(hidden)
                           for m in e.method.split(expectations.SEPARATOR))]
        if len(kept) < len(expected) and not native and case.program.name != "Hidden":
            raise ValueError("expectations were dropped without a reason")
        return kept

    def check_trace(self, directory, expected, partly):
        """Compares the entries in the trace, by method, with the expected calls."""
        report = [self.args.jprof, "report", "log-gen", "--names", "jvm", directory]
        with child.running(report, stdout=subprocess.PIPE) as printed:  # tens of millions of lines
            counted = child.run(["awk", COUNT_ENTRIES], stdin=printed.stdout, check=True)
            printed.wait()
        if printed.returncode != 0:
            raise reports.ReportFailed(f"log-gen: exit status {printed.returncode}")
        calls = expectations.Calls()
        for line in counted.stdout.splitlines():
            name, count = line.rsplit(" ", 1)
            calls.by_method[name] += int(count)
        return expectations.compare(expected, calls, ("calls",), "log-gen", partly)


# Lines of log-gen: a time, > or <, the method with its type in front.
COUNT_ENTRIES = '$2 == ">" { ++calls[$3] } ' \
                'END { for (name in calls) print substr(name, 3), calls[name] }'


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jprof", default=os.environ.get("JPROF", "jprof"))
    parser.add_argument("--agent", default=os.environ.get("JPROF_LIB", "libjprof.so"))
    parser.add_argument("--programs", required=True, help="output folder of programs.py")
    parser.add_argument("--native", required=True, help="folder of libe2e_native.so")
    parser.add_argument(
        "--oracle", help="libentry_oracle.so: check the expectations, not the profiler")
    parser.add_argument("--focus", action="store_true", help="probe only the program's own classes")
    parser.add_argument("--share", action="store_true",
                        help="distribute the cases over the JDKs, and read reports of the "
                        "tiered mode only; the usual case runs on all JDKs")
    parser.add_argument("--raw-only", action="store_true",
                        help="read only the files, run no report")
    parser.add_argument("--no-agent", action="store_true", help="only run the programs, unprofiled")
    parser.add_argument("--group")
    parser.add_argument("--program")
    parser.add_argument("--mode")
    parser.add_argument("--jdk", type=int)
    parser.add_argument("--options", help="only this agent option string, e.g. calltree")
    parser.add_argument("--tmp", help="folder for the profiles")
    parser.add_argument("--keep", action="store_true", help="keep the profiles")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    gc.disable()  # halves the time to read a report: many small objects, no cycles
    for name in ("jprof", "agent", "programs", "native", "oracle"):
        if getattr(args, name):
            setattr(args, name, os.path.abspath(getattr(args, name)))
    # where HotSpot searches for a program's JNI library
    os.environ["LD_LIBRARY_PATH"] = args.native

    chosen = [p for p in programs.load_all()
              if args.group in (None, p.group) and args.program in (None, p.name)]
    if not chosen:
        parser.error(f"no program {args.program or ''} of group {args.group or 'any'}")
    jdks = jvms.needed_jdks([args.jdk] if args.jdk else (), min(p.jdk for p in chosen))
    cases = [c for c in (shared(chosen, jdks, args.focus) if args.share else
                         (c for p in chosen for j in jdks for c in cases_of(p, j, args.focus)))
             if args.mode in (None, c.mode) and args.options in (None, c.agent)]
    if args.oracle:
        cases = [c for c in cases if c.mode == "int" and c.agent == "callflow" and not c.flags]
    if not cases:
        parser.error("no such case: see --mode, --options and --program")

    runner, failed = Runner(args), 0

    def timed(case):
        begin = time.monotonic()
        return runner.run(case), time.monotonic() - begin

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for case, (failures, seconds) in zip(cases, pool.map(timed, cases)):
            print(
                f"{'FAIL' if failures else 'ok  '} {seconds:5.1f} s {case} {' '.join(case.flags)}",
                flush=True)
            for failure in failures[:12]:
                print("       " + failure)
            failed += bool(failures)
    print(f"{len(cases)} runs, {failed} failed, JDKs {', '.join(j.version for j in jdks)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
