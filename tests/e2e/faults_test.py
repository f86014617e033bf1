#!/usr/bin/env python3
"""System calls of jprof's own code fail or transfer less than was asked, one at a time: the
program's output and status never change, nothing hangs or crashes, and what is missing is named.

    faults_test.py --jprof BIN --agent LIB --programs DIR --faults LIB [--case NAME ...]
                   [--limit N] [--fault CALL@N=WHAT] [--verbose]

tests/e2e/native/faults.c makes the calls fail. A case is first run without a fault, which gives the
result to compare with and the number of calls of each kind. --limit N: about N faults of each case,
chosen evenly; without it all. --fault: only this one, once. ctest runs a few faults of most cases;
the others are to be run by hand.
"""
import dataclasses
import errno
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

import child
import expectations
import jvms
import reports
from cases import ERRORS, Cases

case = Cases()
HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 600  # of a run that takes seconds: a hang, not a slow machine

# How a call fails: the errors that the kernel gives for it on a machine that runs out of something,
# or where something is not permitted.
FAILURES = {
    "read": ("EINTR", "EIO", "short"), "pread": ("EINTR", "EIO", "short"),
    "recv": ("EINTR", "EAGAIN", "short"),
    "write": ("ENOSPC", "EINTR", "short"), "pwrite": ("ENOSPC", "EINTR", "short"),
    "writev": ("ENOSPC", "EINTR", "short"), "send": ("EINTR", "short"),
    "poll": ("EINTR", "ENOMEM"), "connect": ("EINTR", "EAGAIN"), "accept4": ("EINTR", "EMFILE"),
    "open": ("EMFILE", "EINTR", "ENOSPC"), "openat": ("EMFILE", "EINTR", "ENOSPC"),
    "fopen": ("EMFILE",), "fdopen": ("ENOMEM",), "opendir": ("EMFILE",), "fdopendir": ("ENOMEM",),
    "mmap": ("ENOMEM", "EPERM"), "mprotect": ("ENOMEM",), "madvise": ("EAGAIN",),
    "posix_fallocate": ("ENOSPC", "EINTR"), "ftruncate": ("ENOSPC", "EINTR"),
    "truncate": ("ENOSPC",), "mkdir": ("ENOSPC", "EPERM"), "rename": ("ENOSPC", "EPERM"),
    "link": ("EPERM",), "symlink": ("EPERM",), "close": ("EINTR",), "fsync": ("ENOSPC",),
    "rmdir": (), "sigaction": (), "fstat": (),
    "pthread_create": ("EAGAIN",), "fork": ("EAGAIN",), "posix_spawnp": ("EAGAIN",),
    "timer_create": ("EAGAIN",), "syscall": ("EMFILE", "EPERM"), "pipe2": ("EMFILE",),
    "eventfd": ("EMFILE",), "socket": ("EMFILE",), "socketpair": ("EMFILE",),
}
OTHER_FAILURES = ("EPERM",)


@dataclasses.dataclass(frozen=True)
class Fault:
    call: str
    number: int
    later: bool
    what: str

    def __str__(self):
        return f"{self.call}@{self.number}{'+' * self.later}={self.what}"

    def environment(self):
        what = self.what if self.what == "short" else getattr(errno, self.what)
        return f"{self.call}@{self.number}{'+' * self.later}={what}"


def parse_fault(text):
    call, number, later, what = re.fullmatch(r"(\w+)@(\d+)(\+?)=(\w+)", text).groups()
    return Fault(call, int(number), bool(later), what)


def faults_of(calls):
    """The faults to inject where a run has so many calls of each kind."""
    found = []
    for call, count in calls.items():
        for what in FAILURES.get(call, OTHER_FAILURES):
            found += [Fault(call, n, False, what)
                      for n in sorted({1, 2, 3, count // 3, count // 2, count - 1, count})
                      if 1 <= n <= count]
            # No machine interrupts calls for ever, or starts programs without being able to read.
            if what not in ("EINTR", "EIO"):
                found += [Fault(call, n, True, what) for n in sorted({1, max(1, count // 2)})]
    return found


def evenly(items, limit):
    if not limit or len(items) <= limit:
        return items
    return [items[i * len(items) // limit] for i in range(limit)]


class Work:
    """A folder, and what runs with faults in it."""

    def __init__(self, args, folder, jdk):
        self.args, self.folder, self.jdk = args, folder, jdk
        self.log = os.path.join(folder, "log")
        listed = child.run(["/bin/true"], env={"LD_PRELOAD": args.faults, "FAULTS_LIST": "1"})
        self.calls = listed.stdout.split()
        self.injected = self.runs = 0

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def java(self, program, *args, flags=()):
        return [*self.jdk.java(*flags), "-cp", os.path.join(self.args.programs, "classes"),
                program, *map(str, args)]

    def build(self, source, *flags):
        program = self.path(os.path.splitext(source)[0])
        child.run(["gcc", "-O1", "-g", "-pthread", f'-DMODULE="{os.path.basename(program)}"',
                   "-I", os.path.join(HERE, "hooks"), *flags,
                   os.path.join(HERE, "hooks", source), "-o", program], check=True)
        return program

    def run(self, command, fault=None):
        """Runs a command with a fault. Returns its result, with the calls of each kind and the
        number of those that were changed."""
        with open(self.log, "wb") as log:
            log.write(bytes(16 * len(self.calls)))
        environment = {**os.environ, "LD_PRELOAD": self.args.faults, "FAULTS_LOG": self.log}
        if fault:
            environment["FAULTS"] = fault.environment()
        done = child.run(command, timeout=TIMEOUT, env=environment)
        with open(self.log, "rb") as log:
            numbers = struct.unpack(f"{2 * len(self.calls)}Q", log.read())
        done.calls = {call: numbers[2 * i] for i, call in enumerate(self.calls) if numbers[2 * i]}
        done.changed = sum(numbers[1::2])
        return done

    def each_fault(self, command_of, judge):
        """Runs the command of an output's path without a fault and with each; judge(fault, done,
        path, base) returns the failures of one run."""
        base_path = self.path("base")
        base = self.run(command_of(base_path))
        failures = [str(f) for f in judge(None, base, base_path, base)]
        faults = [parse_fault(self.args.fault)] if self.args.fault else evenly(
            faults_of(base.calls), self.args.limit)
        for fault in faults if not failures else ():
            out = self.path("out")
            remove(out)
            try:
                done = self.run(command_of(out), fault)
            except subprocess.TimeoutExpired:
                failures.append(f"{fault}: it hangs")
                continue
            self.runs += 1
            self.injected += done.changed > 0
            if self.args.verbose:
                print(f"{fault}: {done.changed} changed, status {done.returncode}\n{done.stderr}")
            failures += [f"{fault}: {failure}" for failure in judge(fault, done, out, base)]
        return failures


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def crashed(done):
    if done.returncode < 0:
        return [f"ended by {signal.Signals(-done.returncode).name}: {done.stderr[-300:]!r}"]
    if done.returncode > 128 or "Sanitizer" in done.stderr or "# A fatal error" in done.stdout:
        return [f"status {done.returncode}: {done.stderr[-300:]!r}"]
    return []


def named(done):
    """Whether a recording's messages say that something is missing or was not possible."""
    return any(line.startswith("jprof: ") and not re.match(
        r"jprof: (lost: +nothing|profile: |next: |not calibrated|counts calls|.*--counter |"
        r"recording: |recording process |trace: |detail: +the profiler's own cost |"
        r"(thread \d+: )?\d+ instructions)", line)
        for line in done.stderr.splitlines())


def refused(done, plain, said):
    """Whether jprof said that it failed: it did not start the program, or the JVM did not start
    with the agent, or the program ran as always."""
    return done.returncode in (1, 2) and "jprof: " in done.stderr and (
        not done.stdout or said(done) == said(plain) or
        done.stdout.startswith("Error occurred during initialization of VM"))


def misleading(fault, done):
    """The reason that is given names the error."""
    reasons = [os.strerror(getattr(errno, fault.what)) if fault.what != "short" else ""]
    reasons += {"EPERM": ["forbids"], "ENOMEM": ["ulimit -v", "out of memory"]}.get(fault.what, [])
    if any(reason in done.stderr for reason in reasons):
        return []
    return [f"another reason is given: {done.stderr[-300:]!r}"]


def whole_output(done):
    return done.stdout


def parts(done):
    """What SampledParts prints, without its CPU times."""
    return re.findall(r"^part (\w+) \d+$", done.stdout, re.M)


def recording(work, program, mode, complete, said=whole_output):
    """A mode of recording. complete(path, base path, base stdout) returns what is missing from a
    profile that the command says is whole; said(done) what the program prints in each run."""
    def command_of(path):
        return [work.args.jprof, *mode, "--agent", work.args.agent, "-o", path, "--", *program]
    return recorded_by(work, command_of, program, complete, said)


def recorded_by(work, command_of, program, complete, said=whole_output):
    """A command that records into a path what `program` runs without a recording."""
    def judge(fault, done, path, base):
        if crashed(done):
            return crashed(done)
        if fault and refused(done, base, said):
            return misleading(fault, done)
        plain = child.run(program) if not fault else base
        if (said(done), done.returncode) != (said(plain), plain.returncode):
            return [f"status {done.returncode}, output {done.stdout[-200:]!r}: "
                    f"{done.stderr[-300:]!r}"]
        if named(done):
            return [f"without a fault: {done.stderr}"] if not fault else []
        try:
            missing = complete(path, work.path("base"), base.stdout)
        except ERRORS as error:
            missing = [str(error)[-300:]]
        return [f"nothing is named, but {m}; {done.stderr[-200:]!r}" for m in missing[:2]]

    return work.each_fault(command_of, judge)


def exact(work):
    def complete(path, _, stdout):
        report = reports.log_rt(work.args.jprof, path, "--threads", "separate")
        return reports.check_losses(report, "losses") + expectations.compare(
            expectations.parse(stdout), reports.calls_of(report), ("calls",), "counts")
    return complete


def events(work):
    def complete(path, _, stdout):
        text = reports.run_report(work.args.jprof, "log-gen", path, "--names", "jvm")
        found = expectations.Calls()
        for line in text.splitlines():
            entered = re.search(r" > \w:(\S+) ", line)
            if entered:
                found.by_method[entered[1]] += 1
        return expectations.compare(expectations.parse(stdout), found, ("calls",), "events")
    return complete


def of_samples(work, report):
    """At least half of the samples of the run without faults are there."""
    def count(path):
        text = reports.run_report(work.args.jprof, report, path, "--format", "collapsed")
        return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines())

    def complete(path, base, _):
        have, had = count(path), count(base)
        return [] if have >= had / 2 else [f"{have} of {had} samples"]
    return complete


@case
def hooks_calltree(work):
    program = work.build("calls.c", "-finstrument-functions")
    return recording(work, [program], ["calltree"], exact(work))


@case.by_hand
def hooks_callflow(work):
    program = work.build("calls.c", "-finstrument-functions")
    return recording(work, [program], ["callflow"], exact(work))


@case
def hooks_trace(work):
    program = work.build("calls.c", "-finstrument-functions")
    return recording(work, [program], ["trace"], events(work))


@case
def java_calltree(work):
    return recording(work, work.java("Recursion"), ["calltree", "--counter", "probe"], exact(work))


@case.by_hand
def java_callflow(work):
    return recording(work, work.java("Recursion"), ["callflow"], exact(work))


@case
def java_woven(work):
    return recording(work, work.java("Recursion"), ["calltree", "--counter", "woven"], exact(work))


@case
def java_trace(work):
    return recording(work, work.java("Recursion"), ["trace"], events(work))


@case
def java_samples(work):
    return recording(work, work.java("SampledParts", 1), ["scs"], of_samples(work, "scs"), parts)


@case
def java_tprof(work):
    return recording(work, work.java("SampledParts", 1), ["tprof"], of_samples(work, "tprof"),
                     parts)


@case.by_hand
def attached(work):
    calls = 1000
    flags = ("-XX:+EnableDynamicAgentLoading",) if work.jdk.major >= 21 else ()

    def command_of(path):
        return [sys.executable, os.path.join(HERE, "count_attached.py"), work.args.jprof,
                work.args.agent, path, str(calls), *work.java("AttachLoad", 1, flags=flags)]

    def complete(path, *_):
        counts = reports.calls_of(reports.log_rt(work.args.jprof, path))
        counted = counts.by_method["AttachLoad.counted(I)I"]
        return [] if counted == 2 * calls else [f"{counted} of {2 * calls} calls"]

    return recorded_by(work, command_of, command_of("-"), complete)


@case.by_hand
def itrace(work):
    program = work.build("calls.c", "-finstrument-functions")

    def complete(path, base, _):
        run = [reports.run_report(work.args.jprof, "arc", p, "--format", "csv")
               for p in (path, base)]
        sums = [sum("calls." in line for line in text.splitlines()) for text in run]
        return [] if sums[0] == sums[1] else [f"{sums[0]} of {sums[1]} functions"]

    return recording(work, [program], ["itrace"], complete)


def reading(work, *command):
    """A command that reads a profile: it prints what it prints without a fault, or says what failed
    and leaves no output behind."""
    def output(path):
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return file.read()

    def judge(fault, done, path, base):
        if crashed(done):
            return crashed(done)
        if done.returncode == 0:
            same = done.stdout == base.stdout and output(path) == output(work.path("base"))
            told = done.stderr != base.stderr or "damage" in done.stdout
            return [] if same or told else [f"another output, and no word: {done.stdout[-200:]!r}"]
        if not fault or done.returncode not in (1, 2) or not done.stderr.strip():
            return [f"status {done.returncode}: {done.stderr[-300:]!r}"]
        return [f"an output of {len(output(path))} bytes remains"] if output(path) else []

    return work.each_fault(lambda path: [part.replace("OUT", path) for part in command], judge)


def recorded(work, mode="callflow"):
    """A profile of the program with hooks, made without faults."""
    path = work.path(mode)
    if not os.path.exists(path):
        program = work.build("calls.c", "-finstrument-functions")
        child.run([work.args.jprof, mode, "--agent", work.args.agent, "-o", path, "--", program],
                  check=True)
    return path


@case
def reports_of_a_tree(work):
    return [f for kind in ("log-rt", "methods")
            for f in reading(work, work.args.jprof, "report", kind, recorded(work))]


@case
def report_of_a_trace(work):
    return reading(work, work.args.jprof, "report", "log-gen", recorded(work, "trace"))


@case
def exports(work):
    return [f for kind in ("pprof", "speedscope", "callgrind", "sqlite")
            for f in reading(work, work.args.jprof, "export", "--format", kind, recorded(work), "-o", "OUT")]


@case
def view(work):
    return reading(work, work.args.jprof, "view", recorded(work), "-o", "OUT")


@case.by_hand
def info(work):
    return reading(work, work.args.jprof, "info", recorded(work))


@case
def merge(work):
    first = recorded(work)
    second = work.path("second")
    shutil.copytree(first, second)
    return reading(work, work.args.jprof, "merge", first, second, "-o", "OUT")


def main():
    parser = case.parser(__doc__)
    for name in ("jprof", "agent", "programs", "faults"):
        parser.add_argument("--" + name, required=True, type=os.path.abspath)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--fault")
    parser.add_argument("--jdk", type=int)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    jdk = jvms.needed_jdks([args.jdk] if args.jdk else ())[0]
    status = 0
    for name, function in case.chosen(args):
        with tempfile.TemporaryDirectory(prefix="jprof-faults-") as folder:
            work = Work(args, folder, jdk)
            try:
                failures = function(work)
                if not work.injected:
                    failures.append("no fault was injected")
            except ERRORS as error:
                failures = [f"{type(error).__name__}: {str(error)[:900]}"]
        print(f"{'FAIL' if failures else 'ok  '} {name}: {work.runs} runs, {work.injected} with a "
              f"changed call", flush=True)
        for failure in failures[:40]:
            print("       " + failure)
        status = 1 if failures else status
    return status


if __name__ == "__main__":
    sys.exit(main())
