#!/usr/bin/env python3
"""C and C++ functions that call jprof's hooks (docs/HOOKS.md): counts, contexts, threads, processes
and Java callers, against what the programs in tests/e2e/hooks know of themselves.

    hooks_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--list]

Programs that count are built by each compiler that is installed, without and with optimisation.
"""
import dataclasses
import os
import platform
import shutil
import sys
import tempfile

import child
import expectations
import jvms
import reports
from cases import ERRORS, Cases
from lab import Skip

case = Cases()

HERE = os.path.dirname(os.path.abspath(__file__))
# Losses that are no errors in these programs: frames that end without an exit.
JUMPS = ("healed",)
DROPS = ("dropped",)  # events of a signal handler that interrupts a rare event


@dataclasses.dataclass(frozen=True)
class Compiler:
    c: str
    cxx: str
    flags: tuple

    def __str__(self):
        return " ".join((self.c, *self.flags))


def compilers():
    found = []
    for c, cxx in (("gcc", "g++"), ("clang", "clang++"), ("clang-19", "clang++-19")):
        if shutil.which(c) and shutil.which(cxx):
            found += [Compiler(c, cxx, (level,)) for level in ("-O0", "-O2")]
    if not found:
        jvms.skip("it needs gcc or clang")
    return found


class Workplace:
    """A folder in which a case builds programs and records them."""

    def __init__(self, args, folder):
        self.jprof, self.agent, self.programs = args.jprof, args.agent, args.programs
        self.folder = folder

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def library_folder(self):
        return os.path.dirname(self.agent)

    def build(self, source, compiler=None, *flags, hooks=True, name=None, text=None):
        """Builds a program or, by its flags, something else of a file in tests/e2e/hooks or of
        `text`. Returns its path."""
        compiler = compiler or compilers()[0]
        program, kind = os.path.splitext(source)
        program = name or program
        path = self.path(program)
        if text is not None:
            source = self.path(source)
            with open(source, "w", encoding="utf-8") as out:
                out.write(text)
        else:
            source = os.path.join(HERE, "hooks", source)
        command = [compiler.c if kind == ".c" else compiler.cxx, *compiler.flags, "-g", "-pthread",
                   f'-DMODULE="{program}"', "-I", os.path.join(HERE, "hooks"),
                   *(["-finstrument-functions"] if hooks else []), source, "-o", path, *flags]
        built = child.run(command)
        if built.returncode != 0:
            raise reports.ReportFailed(f"{' '.join(command)}: {built.stderr}")
        return path

    def record(self, command, *options, mode="calltree", status=0, **more):
        """Records a command into a new profile. Returns the profile's path and the command's
        result."""
        out = tempfile.mkdtemp(prefix="profile-", dir=self.folder)
        os.rmdir(out)
        done = child.run([self.jprof, mode, "--agent", self.agent, "-o", out, *options, "--",
                          *command], **{"timeout": 60, **more})
        if done.returncode != status:
            raise reports.ReportFailed(f"{' '.join(command)}: status {done.returncode}, not "
                                       f"{status}: {done.stderr[-600:]}")
        return out, done

    def report(self, profile, *options):
        return reports.log_rt(self.jprof, profile, *options)

    def calls(self, profile):
        return reports.calls_of(self.report(profile))

    def check(self, profile, stdout, what, allow=()):
        """The program's expectations, and the rules for every report."""
        report = self.report(profile, "--threads", "separate")
        failures = reports.check(report, what) + reports.check_losses(report, what, allow)
        failures += expectations.compare(expectations.parse(stdout), reports.calls_of(report),
                                         ("calls", "path", "thread"), what)
        if "EXPECT" not in stdout:
            failures.append(f"{what}: the program printed no expectation")
        return failures

    def count(self, source, *options, allow=(), mode="calltree"):
        """Builds a program by every compiler, records it and checks what it expects."""
        failures = []
        for compiler in compilers():
            program = self.build(source, compiler)
            profile, done = self.record([program], *options, mode=mode)
            failures += self.check(profile, done.stdout, str(compiler), allow)
        return failures


@case
def calls(work):
    return work.count("calls.c")


@case
def jumps(work):
    return work.count("jumps.c", allow=JUMPS)


@case
def throws(work):
    return work.count("throws.cc", allow=JUMPS)


@case
def signals(work):
    failures = []
    for compiler in compilers():
        program = work.build("signals.c", compiler)
        profile, done = work.record([program])
        failures += work.check(profile, done.stdout, str(compiler), DROPS)
        ticks = int(done.stdout.split("TICKS ")[1])
        calls, losses = work.calls(profile), work.report(profile)["losses"]
        handled = calls.by_method["signals.OnTick"]
        if ticks < 10 or not ticks - losses["dropped"] <= handled <= ticks:
            failures.append(f"{compiler}: {ticks} signals, {handled} are counted, {losses}")
    return failures


def all_but_dropped(work, profile, stdout, what):
    """Every expected call is recorded, or both its events are counted as dropped."""
    report = work.report(profile)
    failures = reports.check(report, what) + reports.check_losses(report, what, DROPS)
    recorded, missing = reports.calls_of(report), 0
    for expected in expectations.parse(stdout):
        missing += expected.count - recorded.of(expected)
        if recorded.of(expected) > expected.count:
            failures.append(f"{what}: {expected}: {recorded.of(expected)} of {expected.count}")
    if 2 * missing > report["losses"]["dropped"]:
        failures.append(f"{what}: {missing} calls are missing, {report['losses']}")
    return failures


@case
def a_signal_at_every_instruction(work):
    if platform.machine() != "x86_64":
        raise Skip("it needs the trap flag of x86-64")
    failures = []
    program = work.build("stepped.c", compilers()[1])
    for mode, *arguments in (["calltree"], ["callflow"], ["calltree", "threads"]):
        profile, done = work.record([program, *arguments], mode=mode)
        failures += all_but_dropped(work, profile, done.stdout, f"{mode} {arguments}")
    return failures


@case
def threads(work):
    return work.count("threads.cc", allow=JUMPS)


def main():
    parser = case.parser(__doc__)
    for name in ("jprof", "agent", "programs"):
        parser.add_argument("--" + name, required=True, type=os.path.abspath)
    args = parser.parse_args()
    status = 0
    for name, function in case.chosen(args):
        with tempfile.TemporaryDirectory(prefix="jprof-hooks-") as folder:
            try:
                failures = function(Workplace(args, folder))
            except Skip as why:
                print(f"skip {name}: {why}")
                status = status or jvms.SKIPPED
                continue
            except ERRORS as error:
                failures = [f"{type(error).__name__}: {str(error)[:900]}"]
        print("FAIL" if failures else "ok  ", name, flush=True)
        for failure in failures[:20]:
            print("       " + failure)
        status = 1 if failures else status
    return status


if __name__ == "__main__":
    sys.exit(main())
