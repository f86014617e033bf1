#!/usr/bin/env python3
"""Robustness: under adverse conditions the profiler loses nothing and does not disturb the program.

    robust.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N] [--list]

In every case the program's own output and exit status must be what they are without the profiler.
"""
import collections
import contextlib
import ctypes
import errno
import functools
import glob
import json
import os
import platform
import shutil
import signal
import stat
import struct
import subprocess
import sys
import threading
import time
import zipfile

import child
import expectations
import raw_profile
import reports
from cases import Cases
from lab import Lab, Skip, small_disk

case = Cases()


def unchanged(profiled, plain, what):
    """The program's own output and status are those of the unprofiled run."""
    failures = []
    if profiled.returncode != plain.returncode:
        failures.append(f"{what}: exit status {profiled.returncode}, unprofiled "
                        f"{plain.returncode}: "
                        f"{profiled.stderr.strip()[-400:]}")
    if profiled.stdout != plain.stdout:
        failures.append(
            f"{what}: output differs: {profiled.stdout[-200:]!r} instead of "
            f"{plain.stdout[-200:]!r}")
    return failures


def counts(lab, directory, stdout, allow=(), open_threads=()):
    """Checks the program's expectations against the files and against the report."""
    expected = expectations.parse(stdout)
    raw = raw_profile.RawProfile(directory)
    failures = raw.check(allow, open_threads)
    failures += expectations.compare(expected, raw.calls(), ("calls", "path", "thread"), "raw")
    report = reports.log_rt(lab.jprof, directory, "--threads", "separate", "--raw")
    failures += reports.check(report, "report") + reports.check_losses(report, "report", allow)
    failures += expectations.compare(expected, reports.calls_of(report),
                                     ("calls", "path", "thread"), "report")
    return failures


def subtree_calls(calls, method):
    """Calls of `method` and of all nodes below it, overflow nodes included."""
    inside, total = {}, 0
    for key, (parent, name, n) in calls.nodes.items():
        inside[key] = name == method or inside.get(parent, False)
        total += n if inside[key] else 0
    return total


# --- Nothing lost -------------------------------------------------------------------------

def kill_after_marker(lab, directory, mode, least):
    """Starts Marker and kills it with SIGKILL once it has printed `least`; returns the last marker
    and the exit status."""
    with child.running(lab.command("Marker", agent=f"{mode},out={directory}"), text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as java:
        last = 0
        for line in java.stdout:
            if line.startswith("MARK "):
                last = int(line.split()[1])
            if last >= least:
                java.kill()
                break
        for line in java.stdout:
            if line.startswith("MARK ") and line.endswith("\n"):
                last = int(line.split()[1])
        java.wait()
    return last, java.returncode


def marker_failures(calls, last, what):
    failures = []
    leaf, batch = calls.by_method["Marker.leaf()V"], calls.by_method["Marker.batch(I)V"]
    if not last <= leaf <= last + 1000:
        failures.append(f"{what}: {leaf} calls of leaf, but the program had printed {last}")
    if not last <= 1000 * batch <= last + 1000:
        failures.append(f"{what}: {batch} calls of batch, but the program had printed {last}")
    return failures


@case
def kill_in_the_middle(lab):
    failures = []
    for mode in ("callflow", "calltree", "trace,trace_memory=1G"):
        with lab.folder() as folder:
            directory = os.path.join(folder, "p")
            last, status = kill_after_marker(lab, directory, mode, 300_000)
            if status != -signal.SIGKILL:
                failures.append(f"{mode}: ended with {status} before it was killed")
            if mode.startswith("trace"):
                calls = expectations.Calls()
                text = reports.run_report(lab.jprof, "log-gen", directory, "--names", "jvm")
                for line in text.splitlines():
                    for name in ("Marker.leaf()V", "Marker.batch(I)V"):
                        calls.by_method[name] += " > " in line and line.split()[2][2:] == name
                failures += marker_failures(calls, last, "log-gen")
            else:
                raw = raw_profile.RawProfile(directory)
                failures += raw.check() + marker_failures(raw.calls(), last, mode + " raw")
                report = reports.log_rt(lab.jprof, directory)
                failures += reports.check(report, mode) + reports.check_losses(report, mode)
                failures += marker_failures(reports.calls_of(report), last, mode + " report")
    return failures


@case
def report_on_a_live_program(lab):
    failures = []
    with lab.folder() as folder:
        directory = os.path.join(folder, "p")
        with child.running(lab.command("Marker", agent=f"callflow,out={directory}"), text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as java:
            seen = [0]

            def follow():
                for line in java.stdout:
                    if line.startswith("MARK "):
                        seen[0] = int(line.split()[1])

            reader = threading.Thread(target=follow, daemon=True)
            reader.start()
            while seen[0] < 100_000 and java.poll() is None:
                time.sleep(0.01)
            before = 0
            for _ in range(5):
                floor = seen[0]
                report = reports.log_rt(lab.jprof, directory)
                failures += reports.check(report, "live")
                leaf = reports.calls_of(report).by_method["Marker.leaf()V"]
                if leaf < max(floor, before):
                    failures.append(
                        f"live: {leaf} calls after {floor} were printed and {before} reported")
                before = leaf
            if java.poll() is not None:
                failures.append(f"live: the program ended with {java.returncode}")
            java.kill()
            reader.join()
    return failures


@case
def short_threads(lab):
    with lab.folder() as folder:
        directory = os.path.join(folder, "p")
        plain = lab.run(lab.command("ShortThreads", 10_000))
        profiled = lab.run(lab.command("ShortThreads", 10_000, agent=f"callflow,out={directory}"))
        return unchanged(profiled, plain, "10,000 threads") + counts(lab, directory, plain.stdout)


@case
def live_threads(lab):
    with lab.folder() as folder:
        directory = os.path.join(folder, "p")
        plain = lab.run(lab.command("LiveThreads", 500))
        profiled = lab.run(lab.command("LiveThreads", 500, agent=f"callflow,out={directory}"))
        return (unchanged(profiled, plain, "500 threads") +
                counts(lab, directory, plain.stdout,
                       open_threads=["main"]))  # which is inside System.exit


@case
def capped_tree(lab):
    """2 million contexts in 1 MiB: all calls are below the method that made them."""
    failures = []
    for mode in ("callflow", "calltree"):
        with lab.folder() as folder:
            directory = os.path.join(folder, "p")
            plain = lab.run(lab.command("Levels"))
            profiled = lab.run(
                lab.command("Levels", agent=f"{mode},tree_memory=1M,out={directory}"))
            failures += unchanged(profiled, plain, mode)
            total = int(plain.stdout.split("calls ")[1])
            raw = raw_profile.RawProfile(directory)
            allow = ("overflow", "tree_full")
            failures += raw.check(allow)
            report = reports.log_rt(lab.jprof, directory)
            failures += reports.check(report, mode) + reports.check_losses(report, mode, allow)
            for what, calls in (("raw", raw.calls()), ("report", reports.calls_of(report))):
                got = subtree_calls(calls, "Levels.explode(I)I") - 1
                if got != total:
                    failures.append(f"{mode} {what}: {got} calls below explode, {total} were made")
            if not raw.losses()["overflow"] or not raw.losses()["tree_full"]:
                failures.append(f"{mode}: the overflow is not counted")
            if not any("verflow" in k and v for k, v in report["losses"].items()):
                failures.append(f"{mode}: the report's losses do not show the overflow")
            if not any("verflow" in node["name"] for t in report["threads"] for node in t["nodes"]):
                failures.append(f"{mode}: the report has no overflow row")
            size = os.path.getsize(os.path.join(directory, "nodes"))
            if size > 4 << 20:
                failures.append(f"{mode}: nodes file of {size} bytes under a cap of 1 MiB")
    return failures


@case
def folded_tree(lab):
    """2 million contexts by recursion in 8 MiB: recursion is folded, all calls are counted and
    nothing overflows."""
    failures = []
    for mode in ("callflow", "calltree"):
        with lab.folder() as folder:
            directory = os.path.join(folder, "p")
            plain = lab.run(lab.command("Explosive", 20))
            profiled = lab.run(
                lab.command("Explosive", 20, agent=f"{mode},tree_memory=8M,out={directory}"))
            failures += unchanged(profiled, plain, mode)
            raw = raw_profile.RawProfile(directory)
            failures += raw.check()
            if raw.header["folded_ticks"] <= raw.header["start_ticks"]:
                failures.append(f"{mode}: recursion was not folded")
            report = reports.log_rt(lab.jprof, directory)
            failures += reports.check(report, mode) + reports.check_losses(report, mode)
            for what, calls in (("raw", raw.calls()), ("report", reports.calls_of(report))):
                for method, expected in (("left(I)I", 2**20), ("right(I)I", 2**20 - 1),
                                         ("explode(I)I", 1), ("after()V", 1000)):
                    got = calls.by_method["Explosive." + method]
                    if got != expected:
                        failures.append(
                            f"{mode} {what}: {got} calls of {method}, {expected} were made")
            siblings = collections.Counter((node["parent"], node["name"]) for t in report["threads"]
                                           for node in t["nodes"]
                                           if node["level"] > 0)
            twice = [name for (_, name), n in siblings.items() if n > 1]
            if twice:
                failures.append(f"{mode}: the report has {twice[0]} twice below one row")
            if not 0 < report["profile"]["folded_from_s"] < report["profile"]["elapsed_s"]:
                failures.append(
                    f"{mode}: the report has folded from {report['profile']['folded_from_s']} s")
            for command in (["report", "log-rt", "--depth", "1", directory], ["info", directory]):
                shown = lab.run([lab.jprof, *command])
                if "recursion folded from " not in " ".join(shown.stdout.split()):
                    failures.append(
                        f"{mode}: jprof {command[0]} does not say that recursion was folded")
            shown = lab.run([lab.jprof, "report", "methods", "--format", "csv", directory])
            if "recursion folded from " not in shown.stderr or "folded" in shown.stdout:
                failures.append(f"{mode}: a report as CSV prints {shown.stderr!r} of the folding")
    return failures


@case
def jvmti_fallback(lab):
    """Without HotSpot's probe: the counts are the same; stderr and the profile report the probe
    used."""
    failures = []
    for program in ("Recursion", "Loops"):
        with lab.folder() as folder:
            directory = os.path.join(folder, "p")
            profiled = lab.run(lab.command(program, agent=f"callflow,probe=jvmti,out={directory}"))
            notice = "recording with JVMTI events, which is slow"
            if profiled.returncode != 0 or notice not in profiled.stderr:
                failures.append(
                    f"{program}: exit status {profiled.returncode}: {profiled.stderr[-600:]}")
                continue
            # Methods that ran when the VM started have no entry.
            failures += counts(lab, directory, profiled.stdout, allow=("unmatched",))
            header = lab.cli("report", "log-rt", "--depth", "0", directory).stdout
            if "probe jvmti" not in header:
                failures.append(f"{program}: the report does not say which probe it was")
    return failures


@case
def redefinition_storm(lab):
    with lab.folder() as folder:
        directory = os.path.join(folder, "p")
        command = lab.command("Storm", agent=f"callflow,out={directory}",
                              flags=[lab.java_agent("Storm")])
        profiled = lab.run(command)
        failures = []
        if profiled.returncode != 0 or not profiled.stdout.endswith("done\n"):
            failures.append(f"storm: exit status {profiled.returncode}: {profiled.stderr[-600:]}")
        return failures + counts(lab, directory, profiled.stdout)


@case
def refused_replacements(lab):
    """Woven counting must be able to replace these classes before there is a virtual thread."""
    if lab.jdk.major < 21:
        raise Skip("JDKs before 21 have no virtual threads")
    failures = []
    for name, end in (("java/lang/VirtualThread", "no calls are counted"),
                      ("java/lang/JprofCounter", "no calls are counted from here on")):
        with lab.folder() as folder:
            done = lab.run(lab.command("VirtualLate", agent=f"calltree,counter=woven,out={folder}/p",
                                       flags=[f"{lab.java_agent('Refuser')}={name}"]))
            if done.returncode != 0 or not done.stdout.endswith("mix(J)J 4000000\n"):
                failures.append(f"{name}: the program ended with {done.returncode}: {done.stdout}")
            if end not in done.stderr or "use COUNTER=probe" not in done.stderr:
                failures.append(f"{name}: it is not said: {done.stderr[-600:]}")
    return failures


@case
def many_jvms(lab):
    """Eight JVMs at once, each with its own profile."""
    failures = []
    with lab.folder() as folder, contextlib.ExitStack() as all_of_them:
        running = [all_of_them.enter_context(child.running(
            lab.command("ShortThreads", 200, agent=f"callflow,out={folder}/p{i}"), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)) for i in range(8)]
        for i, java in enumerate(running):
            stdout, stderr = java.communicate()
            if java.returncode != 0:
                failures.append(f"JVM {i}: exit status {java.returncode}: {stderr[-300:]}")
            else:
                failures += counts(lab, f"{folder}/p{i}", stdout)
    return failures


@case
def children(lab):
    """A script that starts two JVMs at once produces two profiles in one directory."""
    failures = []
    with lab.folder() as folder:
        words = " ".join(lab.command("ShortThreads", 20))
        script = ["sh", "-c", f"{words} > {folder}/first & {words}; wait; cat {folder}/first"]
        plain = lab.run(script)
        done = lab.cli("callflow", "-o", f"{folder}/p", "--", *script)
        failures += unchanged(done, plain, "children")
        found = sorted(glob.glob(f"{folder}/p/ShortThreads-*"))
        if len(found) != 2:
            failures.append(f"children: profiles {os.listdir(folder)}, {found}, not two")
        one = "\n".join(plain.stdout.splitlines()[:3])
        for name in found:
            failures += counts(lab, name, one)
    return failures


# --- Unwritable output --------------------------------------------------------------------

def own_lines(stderr):
    """The lines that the profiler printed."""
    return [line for line in stderr.splitlines() if line.startswith("jprof: ")]


def full_disk_failures(lab, directory, mode, profiled, calls):
    """Checks that a full disk is reported, at the start or by the report and by info; otherwise all
    events must be in the trace. Returns failures."""
    refused = [line for line in own_lines(profiled.stderr) if "runs without being profiled" in line]
    if refused:
        why = os.strerror(errno.ENOSPC)
        named = len(refused) == 1 and (why in refused[0] or "full disk" in refused[0])
        return [] if named else [f"refused: {refused}"]
    kind = ["log-rt", "--depth", "1"] if mode == "callflow" else ["log-gen"]
    report, info = lab.cli("report", *kind, directory), lab.cli(
        "info", "--format", "json", directory)
    if report.returncode != 0 or info.returncode != 0:
        return [
            f"status {report.returncode}, {info.returncode}: "
            f"{(report.stderr + info.stderr)[:300]!r}"]
    if json.loads(info.stdout)["losses"]["disk_full"]:
        return [] if "(disk full)" in " ".join(report.stdout.split()) else [
            "the report does not say that the disk was full"]
    record = raw_profile.RawProfile(directory).threads[0]
    there = mode == "trace" and record["trace_events"] >= 2 * calls and not record["trace_dropped"]
    return [] if there else [f"a full disk is not reported, and {record} for {calls} calls"]


@case
def full_disk(lab):
    """Disks of several sizes that fill up at different points: the program continues; its start or
    the report says that the disk is full."""
    failures = []
    plain = lab.run(lab.command("Explosive", 20))
    calls = int(plain.stdout.split("calls ")[1])
    for size in ("4k", "16k", "256k", "1M", "8M", "32M"):
        with small_disk(size) as disk:
            directory = os.path.join(disk, "p")
            for mode in ("callflow", "trace"):
                profiled = lab.run(lab.command("Explosive", 20, agent=f"{mode},out={directory}"))
                what = f"{size} disk, {mode}"
                failures += unchanged(profiled, plain, what)
                shown = full_disk_failures(lab, directory, mode, profiled, calls)
                failures += [f"{what}: {failure}" for failure in shown]
                shutil.rmtree(directory, ignore_errors=True)
    return failures


class Follower:
    """A running Marker and its progress according to its output."""

    def __init__(self, java):
        self.java = java
        self.marks, self.stderr = 0, ""
        self.threads = [threading.Thread(target=f, daemon=True) for f in (self.follow, self.listen)]
        for thread in self.threads:
            thread.start()

    def follow(self):
        for line in self.java.stdout:
            if line.startswith("MARK "):
                self.marks = int(line.split()[1])

    def listen(self):
        self.stderr = self.java.stderr.read()

    def go(self, more):
        """Waits until Marker has counted `more` calls; returns False if it ended or stopped."""
        wanted, end = self.marks + more, time.monotonic() + 60
        while self.marks < wanted and self.java.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        return self.marks >= wanted

    def end(self):
        self.java.terminate()
        self.java.wait(timeout=600)
        for thread in self.threads:
            thread.join()
        return self.java.returncode


def fill(disk):
    """Fills the free space of the disk; returns the file that occupies it."""
    ballast = os.path.join(disk, "ballast")
    with open(ballast, "wb", buffering=0) as f:
        for size in (1 << 20, 4096, 1):
            try:
                while f.write(bytes(size)) == size:
                    pass
            except OSError as e:
                if e.errno != errno.ENOSPC:
                    raise
    return ballast


@case
def disk_full_for_a_while(lab):
    """A continuous trace: events are recorded again when there is space again, dropped events are
    counted, and the program does not wait."""
    failures = []
    with small_disk("24M") as disk:
        directory = os.path.join(disk, "p")
        command = lab.command("Marker", flags=["-Xmx128m"],
                              agent="trace,trace_mode=continuous,trace_memory=256K,"
                                     f"out={directory}")
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with child.running(command, text=True, **pipes) as java:
            marker = Follower(java)
            progress = [marker.go(30_000)]
            ballast = fill(disk)
            progress.append(marker.go(100_000))
            os.remove(ballast)
            kept_from = raw_profile.RawProfile(directory).threads[0]["trace_events"]
            for _ in range(10):  # on a busy machine, the agent may notice the free space late
                progress.append(marker.go(60_000))
                kept = raw_profile.RawProfile(directory).threads[0]["trace_events"]
                if kept >= kept_from + 80_000 or not progress[-1]:
                    break
            status = marker.end()
        if not all(progress) or status != 128 + signal.SIGTERM:
            failures.append(
                f"stood still or ended: {progress}, exit status {status}: {marker.stderr[-300:]}")
        threads_ = raw_profile.RawProfile(directory).threads
        events, dropped = (
            sum(t[key] for t in threads_) for key in ("trace_events", "trace_dropped"))
        rows, report = reports.stream_log_gen(lab.jprof, directory)
        if not rows == report["event_count"] == events:
            failures.append(f"{rows} events in the report, which counts {report['event_count']}; "
                            f"{events} were written")
        losses = report["losses"]
        if not dropped or losses["trace_dropped"] != dropped or not losses["disk_full"]:
            failures.append(f"{dropped} dropped, and the report has {report['losses']}")
        if threads_[0]["trace_events"] < kept_from + 80_000:
            failures.append(
                f"main: {threads_[0]['trace_events']} events, {kept_from} before there was room "
                f"again")
    return failures


@case
def interrupted_growth(lab):
    """A profile on a tmpfs while signals arrive: the system call that grows a file is interrupted,
    and nothing is lost."""
    shim = lab.native("interrupted")
    failures = []
    with lab.folder() as folder:
        plain = lab.run(lab.command("Explosive", 16))
        for mode in ("callflow", "calltree,sample=1000,counter=woven", "trace"):
            directory = f"{folder}/{mode.split(',')[0]}"
            profiled = lab.run(lab.command("Explosive", 16, flags=["-Xmx256m"],
                                           agent=f"{mode},out={directory}"),
                               env=dict(os.environ, LD_PRELOAD=shim))
            failures += unchanged(profiled, plain, mode)
            if own_lines(profiled.stderr):
                failures.append(f"{mode}: {profiled.stderr[:300]}")
                continue
            raw = raw_profile.RawProfile(directory)
            failures += [f"{mode}: {failure}" for failure in raw.check()]
            if mode == "trace":
                continue
            report = reports.log_rt(lab.jprof, directory)
            failures += reports.check(report, mode) + reports.check_losses(report, mode)
            got = subtree_calls(reports.calls_of(report), "Explosive.explode(I)I") - 1
            if got != int(plain.stdout.split("calls ")[1]):
                failures.append(f"{mode}: {got} calls below explode: {plain.stdout!r}")
    return failures


@case
def no_timers_left(lab):
    """The launcher, the report and the status report threads that cannot be sampled, with the
    reason."""
    failures = []
    with lab.folder() as folder:
        command = lab.command("LiveThreads", 100, flags=["-Xmx256m"])
        plain = lab.run(command)
        for event, limits, error in (("TIME", ["--nofile=64:64"], None),  # POSIX timers still work
                                     ("perf::PAGE-FAULTS=1000", ["--nofile=64:64"], errno.EMFILE),
                                     ("TIME", ["--nofile=64:64", "--sigpending=0:0"],
                                      errno.EAGAIN)):
            out, what = f"{folder}/p", f"--event {event} {' '.join(limits)}"
            shutil.rmtree(out, ignore_errors=True)
            done = lab.run(["prlimit", *limits, lab.jprof, "scs", "--agent", lab.agent,
                            "--event", event, "-o", out, "--", *command])
            failures += unchanged(done, plain, what)
            flagged = [
                t for t in raw_profile.RawProfile(out).threads
                if t["flags"] & raw_profile.NOT_SAMPLED]
            report = json.loads(reports.run_report(lab.jprof, "scs", out, "--format", "json"))
            if report["losses"]["threads_not_sampled"] != len(
                    flagged) or report["losses"]["samples_lost"]:
                failures.append(
                    f"{what}: {len(flagged)} threads have the flag, the report has "
                    f"{report['losses']}")
            if error is None:
                others = [t for t in raw_profile.RawProfile(out).threads
                          if t["flags"] & raw_profile.OTHER_TIMER]
                said = (f"{len(others)} threads were sampled by POSIX timers or without kernel "
                        f"functions: {os.strerror(errno.EMFILE)}")
                if flagged or "could not be sampled" in done.stderr:
                    failures.append(
                        f"{what}: {len(flagged)} threads without a timer: {done.stderr}")
                if not 20 < len(others) or said not in done.stderr:
                    failures.append(f"{what}: {done.stderr} does not say {said!r}")
                continue
            said = (f"{len(flagged)} threads could not be sampled, or not by every event: "
                    f"{os.strerror(error)}")
            if not 20 < len(flagged) or any(t["flags"] >> 24 != error for t in flagged):
                failures.append(
                    f"{what}: {len(flagged)} threads with the flag, not for {os.strerror(error)}")
            for where, text in (("the launcher", done.stderr),
                                ("the quality", reports.quality(lab.jprof, out))):
                if said.partition(" ")[2] not in text:
                    failures.append(f"{what}: {where} does not say {said!r}: {text[-600:]}")
    return failures


def without_perf_events(error):
    """Forbids perf_event_open to this process and its children, as a container's filter does."""
    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]
    number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
    code = b"".join(struct.pack("=HBBI", *line) for line in (
        (0x20, 0, 0, 0),                   # load the number of the call
        (0x15, 0, 1, number),              # another one: skip the next line
        (0x06, 0, 0, 0x00050000 | error),  # fails with this error
        (0x06, 0, 0, 0x7fff0000)))         # is allowed
    libc, one = ctypes.CDLL(None, use_errno=True), ctypes.c_ulong(1)
    done = libc.prctl(38, one, 0, 0, 0), libc.prctl(22, 2, ctypes.byref(Filter(4, code)))
    if any(done):
        raise OSError(ctypes.get_errno(), "prctl")


@case
def perf_events_forbidden(lab):
    """All threads have POSIX timers then; the report and doctor say why."""
    failures = []
    with lab.folder() as folder:
        command = lab.command("LiveThreads", 100, flags=["-Xmx256m"])
        for error, reason in ((errno.ENOSYS, "perf_event_open is not available"),
                              (errno.EPERM, "the system forbids it")):
            out = f"{folder}/{error}"
            forbid = functools.partial(without_perf_events, error)
            done = lab.cli("scs", "--agent", lab.agent, "-o", out, "--", *command,
                           preexec_fn=forbid)
            report = reports.quality(lab.jprof, out)
            doctor = lab.cli("doctor", "--java", lab.jdk.tool("java"), "--agent", lab.agent,
                             preexec_fn=forbid).stdout
            for what, text in (("the quality", report), ("doctor", doctor)):
                if reason not in text:
                    failures.append(f"{os.strerror(error)}: {what} does not say {reason!r}: {text}")
            if any(t["flags"] & raw_profile.OTHER_TIMER
                   for t in raw_profile.RawProfile(out).threads) or done.returncode != 0:
                failures.append(f"{os.strerror(error)}: {done}")
    return failures


@case
def safepoints_while_the_vm_starts(lab):
    """Threads are named at VMInit while others stop the VM and virtual threads change their
    carriers: there is no deadlock."""
    failures = []
    with lab.folder() as folder:
        for mode in ("callflow", "calltree,sample=500,counter=probe",
                     "calltree,sample=500,counter=woven"):
            for i in range(2):
                directory = f"{folder}/{mode.rpartition('=')[2]}{i}"
                flags = ["-Xmx64m", "-XX:+UseSerialGC", lab.java_agent("EarlyStorm")]
                command = lab.command("EarlyStorm", flags=flags,
                                      agent=f"{mode},out={directory}")
                try:
                    done = lab.run(command, timeout=600)
                except subprocess.TimeoutExpired:
                    return failures + [f"{mode}: hangs"]
                if done.returncode != 0 or done.stdout != "done\n":
                    failures.append(f"{mode}: exit status {done.returncode}: {done.stdout[-200:]} "
                                    f"{done.stderr[-400:]}")
                names = {t["name"] for t in raw_profile.RawProfile(directory).threads}
                # Methods that count themselves may not run on the Reference Handler.
                expected = {"main"} if "woven" in mode else {"main", "Reference Handler"}
                if not expected <= names:
                    failures.append(f"{mode}: threads {sorted(names)}")
    return failures


@case
def once(lab):
    """ONCE records nothing if a profile exists, and prints nothing about it."""
    failures = []
    with lab.folder() as folder:
        directory = f"{folder}/p"
        plain = lab.run(lab.command("Explosive", 5))
        for run in ("first", "second"):
            profiled = lab.run(lab.command("Explosive", 5, agent=f"callflow,once,out={directory}"))
            failures += unchanged(profiled, plain, f"{run} run with ONCE")
            if own_lines(profiled.stderr):
                failures.append(f"{run} run with ONCE: {profiled.stderr[:300]!r}")
            meta = json.load(open(f"{directory}/meta.json", encoding="utf-8"))
            if run == "first":
                first = meta["pid"]
            elif meta["pid"] != first:
                failures.append("the second run has written over the first one's profile")
        if os.listdir(folder) != ["p"]:
            failures.append(f"left behind: {os.listdir(folder)}")
        profiled = lab.run(lab.command("Explosive", 5, agent=f"callflow,out={directory}"))
        failures += unchanged(profiled, plain, "without ONCE")
        if len(own_lines(profiled.stderr)) != 1:
            failures.append(
                f"without ONCE: not one line reports that the place is taken: "
                f"{profiled.stderr[:300]!r}")
    return failures


@case
def nowhere_to_write(lab):
    """The output's parent does not exist, is a file, cannot be written, or contains other files."""
    failures = []
    with lab.folder() as folder:
        plain = lab.run(lab.command("Greeter", 3, "you"), stdin="abc")
        open(f"{folder}/file", "w").close()
        os.mkdir(f"{folder}/full")
        with open(f"{folder}/full/precious", "w", encoding="utf-8") as f:
            f.write("keep me")
        places = [f"{folder}/no/such/p", f"{folder}/file/p", f"{folder}/full", "/proc/p",
                  f"{folder}/{'x' * 300}"]
        for place in places:
            profiled = lab.run(lab.command("Greeter", 3, "you", agent=f"callflow,out={place}"),
                               stdin="abc")
            failures += unchanged(profiled, plain, place[:60])
            said = [line for line in profiled.stderr.splitlines() if "jprof" in line]
            if len(said) != 1:
                failures.append(
                    f"{place[:60]}: not one line on stderr says why: {profiled.stderr[:300]!r}")
            done = lab.cli("callflow", "-o", place, "--", *lab.command("Greeter", 3, "you"),
                           stdin="abc")
            failures += one_line_refusal(done, f"-o {place[:60]}")
        with open(f"{folder}/full/precious", encoding="utf-8") as f:
            if f.read() != "keep me":
                failures.append("a file of the user's was overwritten")
    return failures


@case
def private_files(lab):
    """Whatever the umask: only the owner of a recording reads it."""
    failures = []
    program = lab.command("Explosive", 4)
    with lab.folder() as folder:
        for mode in (["callflow"], ["calltree", "--children", "all"], ["trace"],
                     ["trace", "--mode", "continuous"], ["scs"], ["tprof"], ["itrace"]):
            out = os.path.join(folder, "p")
            shutil.rmtree(out, ignore_errors=True)
            done = lab.cli(*mode, "-o", out, "--", *program, umask=0o022)
            paths = [out] + [entry.path for entry in deep_entries(out)]
            modes = {path: os.lstat(path).st_mode for path in paths}
            failures += [f"{' '.join(mode)}: {os.path.relpath(path, folder)}: {stat.filemode(of)}"
                         for path, of in modes.items() if of & 0o077]
            if len(paths) < 3 or done.returncode != 0:
                failures.append(f"{' '.join(mode)}: status {done.returncode}: {done.stderr[-300:]}")
    return failures


def deep_entries(folder):
    for entry in os.scandir(folder):
        yield entry
        if entry.is_dir():
            yield from deep_entries(entry.path)


@case
def no_permission(lab):
    """A directory that the user may not write; another user's if the test runs as root."""
    more = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    with lab.folder() as folder:
        os.chmod(folder, 0o755)
        library = shutil.copy(lab.agent, folder)
        os.chmod(library, 0o755)
        classes = shutil.copytree(os.path.join(lab.programs, "classes"), f"{folder}/classes")
        os.mkdir(f"{folder}/locked", 0o555)
        java = lab.jdk.java()
        tail = ["-cp", classes, "Greeter", "3", "you"]
        plain = lab.run(java + tail, cwd="/", **more)
        profiled = lab.run(
            java + [f"-agentpath:{library}=callflow,out={folder}/locked/p"] + tail, cwd="/", **more)
        failures = unchanged(profiled, plain, "no permission")
        if len([line for line in profiled.stderr.splitlines() if "jprof" in line]) != 1:
            failures.append(f"no permission: not one line reports why: {profiled.stderr[:300]!r}")
        return failures


@case
def directory_taken_away(lab):
    """The profile and the working directory are deleted during the recording."""
    failures = []
    with lab.folder() as folder:
        cwd = os.path.join(folder, "cwd")
        os.mkdir(cwd)
        directory = os.path.join(cwd, "p")
        with child.running(lab.command("Marker", agent=f"callflow,out={directory}"), text=True,
                           cwd=cwd,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as java:
            removed_at = last = 0
            for line in java.stdout:
                last = int(line.split()[1]) if line.startswith("MARK ") else last
                if not removed_at and last >= 100_000:
                    shutil.rmtree(cwd)
                    removed_at = last
                if removed_at and last >= removed_at + 500_000:
                    java.terminate()
                    break
            for _ in java.stdout:
                pass
            java.wait()
        if java.returncode != 128 + signal.SIGTERM:
            failures.append(f"taken away: exit status {java.returncode} after {last} calls")
    return failures


@case
def streams(lab):
    """The launcher passes on arguments, input, both output streams and the exit status
    unchanged."""
    failures = []
    with lab.folder() as folder:
        words = ("Greeter", 3, "a b", "", "--", "-x", "*")
        plain = lab.run(lab.command(*words), stdin="x" * 100_000)
        never_calibrated = dict(os.environ, XDG_DATA_HOME=f"{folder}/data")
        for mode in ("callflow", "calltree", "trace"):
            done = lab.cli(mode, "-o", f"{folder}/{mode}", "--", *lab.command(*words),
                           stdin="x" * 100_000,
                           env=never_calibrated)
            failures += unchanged(done, plain, mode)
            shown = done.stderr
            if mode == "callflow":
                first, shown = shown.split("\n", 1)
                if not first.startswith("jprof: not calibrated"):
                    failures.append(
                        f"{mode}: the first line does not say that it is not calibrated: {first!r}")
            if not shown.startswith(plain.stderr):
                failures.append(
                    f"{mode}: stderr does not begin with the program's own: {shown[:200]!r}")
            own = shown[len(plain.stderr):].strip().splitlines()
            if not own or f"{folder}/{mode}" not in done.stderr:
                failures.append(f"{mode}: the end does not say where the profile is: {own}")
        own_signal = lab.cli("callflow", "-o", f"{folder}/kill", "--", "sh", "-c", "kill -TERM $$")
        if own_signal.returncode != 128 + signal.SIGTERM:
            failures.append(f"a shell ends by SIGTERM: exit status {own_signal.returncode}")
    return failures


# --- Bad input ----------------------------------------------------------------------------

def clean_exit(done, what):
    """Checks for a crash and for a failure without a message of one line."""
    if done.returncode not in (0, 1, 2):
        return [f"{what}: exit status {done.returncode}: {done.stderr[-300:]}"]
    if done.returncode != 0 and len(done.stderr.strip().splitlines()) != 1:
        return [
            f"{what}: exit status {done.returncode}, stderr {done.stderr[:300]!r} is not one line"]
    return []


def one_line_refusal(done, what, word=""):
    failures = []
    if done.returncode != 2:
        failures.append(f"{what}: exit status {done.returncode}, not 2")
    if len(done.stderr.strip().splitlines()) != 1:
        failures.append(f"{what}: stderr is not one line: {done.stderr[:300]!r}")
    if done.stdout.strip():
        failures.append(f"{what}: something ran or was printed: {done.stdout[:100]!r}")
    if word not in done.stderr:
        failures.append(f"{what}: {word!r} is not named: {done.stderr[:200]!r}")
    return failures


@case
def bad_commands(lab):
    """One line names the error, the exit status is 2, and the program is not started."""
    failures = []
    with lab.folder() as folder:
        program = lab.command("Greeter", 0, "you")
        out = f"{folder}/p"
        good = f"{folder}/good"
        lab.cli("callflow", "-o", good, "--", *program)
        bad = [
            (["calflow", "--", *program], "calflow"),
            (["callflow", "--metric", "time", "-o", out, "--", *program], "--metric"),
            (["callflow", "--no-such", "-o", out, "--", *program], "--no-such"),
            (["callflow", "--metrics", "tme", "-o", out, "--", *program], "tme"),
            (["callflow", "--metrics", "time+PAPI_NO_SUCH", "-o", out, "--", *program],
             "PAPI_NO_SUCH"),
            (["callflow", "--metrics", "time+time+time+time+time+time+time+time+time", "-o", out,
              "--", *program], ""),
            (["callflow", "--tree-memory", "lots", "-o", out, "--", *program], "lots"),
            (["callflow", "--tree-memory", "-5", "-o", out, "--", *program], ""),
            (["trace", "--mode", "sideways", "-o", out, "--", *program], "sideways"),
            (["callflow", "-o", out], ""),
            (["callflow", "-o", out, "--"], ""),
            (["callflow", "-o", out, *program], ""),
            (["callflow", "-o", out, "--", "/no/such/java", "X"], "/no/such/java"),
            (["callflow", "-o", out, "--", "no-such-java", "X"], "no-such-java"),
            (["callflow", "--children=no", "-o", out, "--", "/bin/echo", "started"], "echo"),
            (["report"], ""),
            (["report", "log-rt"], ""),
            (["report", "log-rrt", good], "log-rrt"),
            (["report", "log-rt", f"{folder}/none"], "none"),
            (["report", "log-rt", "/bin/sh"], "/bin/sh"),
            (["report", "log-rt", folder], folder),
            (["report", "log-rt", "--format", "jsn", good], "jsn"),
            (["report", "log-rt", "--sort", "colour", good], "colour"),
            (["report", "log-rt", "--threads", "some", good], "some"),
            (["report", "log-rt", "--min-percent", "many", good], "many"),
            (["report", "log-gen", good], ""),
            (["info"], ""),
            (["info", f"{folder}/none"], "none"),
            (["metrics", "--no-such"], "--no-such"),
        ]
        for words, named in bad:
            failures += one_line_refusal(lab.cli(*words), "jprof " + " ".join(words)[:70], named)
        if os.path.exists(out):
            failures.append("a refused command left a profile behind")
    return failures


@case
def bad_agent_options(lab):
    """Options passed directly to the agent: the JVM does not start."""
    failures = []
    with lab.folder() as folder:
        for options, named in (("calflow", "calflow"), ("callflow,tree_memory=lots", "lots"),
                               ("callflow,metrics=tme", "tme"),
                               ("callflow,fold_recursionn", "fold_recursionn"),
                               ("callflow,tree_memory", "tree_memory"), ("callflow,threads", ""),
                               ("trace,trace_mode=sideways", "sideways"),
                               ("callflow,probe=magic", "magic")):
            done = lab.run(lab.command("Greeter", 0, "you", agent=f"{options},out={folder}/p"))
            said = [line for line in done.stderr.splitlines() if "jprof" in line]
            if done.returncode == 0 or "hello" in done.stdout:
                failures.append(f"{options}: the program was started")
            if len(said) != 1 or named not in said[0].lower():
                failures.append(f"{options}: not one line that names it: {done.stderr[:300]!r}")
        # The options of the environment are appended and checked in the same way.
        done = lab.run(lab.command("Greeter", 0, "you", agent=f"callflow,out={folder}/p"),
                       env=dict(os.environ, JPROFOPTS="nonsense"))
        if done.returncode == 0 or "nonsense" not in done.stderr:
            failures.append(
                f"JPROFOPTS=nonsense: exit status {done.returncode}: {done.stderr[:200]!r}")
        if os.path.exists(f"{folder}/p"):
            failures.append("a refused run left a profile behind")
    return failures


@case
def filters_that_match_nothing(lab):
    """A filter that matched nothing is known only at the end of the program: its output is
    unchanged, the status is 2 and one line names the filter."""
    failures = []
    with lab.folder() as folder:
        plain = lab.run(lab.command("Explosive", 5))
        for option, value in (("--methods", "no/such/Class*"), ("--threads", "no-such-thread")):
            out = f"{folder}/{option[2:]}"
            done = lab.cli("callflow", "-o", out, option, value, "--", *lab.command("Explosive", 5))
            if done.stdout != plain.stdout or done.returncode != 2:
                failures.append(
                    f"{option} {value}: status {done.returncode}, output {done.stdout!r}")
            if len([line for line in done.stderr.splitlines() if option in line
                    and "match" in line]) != 1:
                failures.append(
                    f"{option} {value}: not one line reports that it matched nothing: "
                    f"{done.stderr[-300:]!r}")
    return failures


@case
def filters(lab):
    """--methods and --threads keep what they name, with exact counts, and drop all else."""
    failures = []
    with lab.folder() as folder:
        program = lab.command("Explosive", 10)
        wanted = {"Explosive.left(I)I": 2 ** 10, "Explosive.right(I)I": 2 ** 10 - 1}
        for option, value, absent in (("--methods", "Explosive.left+Explosive.right",
                                       "Explosive.after()V"),
                                      ("--methods", "Explosive*", "java/lang/String.*"),
                                      ("--methods", "-java-jdk-sun", "java/*"),
                                      ("--threads", "main",
                                       "java/lang/ref/Finalizer$FinalizerThread.run()V")):
            out = f"{folder}/p"
            shutil.rmtree(out, ignore_errors=True)
            lab.cli("callflow", "-o", out, f"{option}={value}", "--", *program)
            report = reports.log_rt(lab.jprof, out)
            failures += reports.check(report, f"{option} {value}")
            by_method = reports.calls_of(report).by_method
            for name, count in wanted.items():
                if by_method[name] != count:
                    failures.append(
                        f"{option} {value}: {name}: {by_method[name]} calls, not {count}")
            kept = [n for n in by_method if expectations.glob_to_regex(absent).match(n)]
            if kept:
                failures.append(f"{option} {value}: kept {kept[:3]}")
    return failures


@case
def focus(lab):
    """--focus records what it names, wherever the decision is made; all other methods are compiled
    without probes."""
    failures = []
    wanted = {"Explosive.left(I)I": 2 ** 10, "Explosive.right(I)I": 2 ** 10 - 1}
    with lab.folder() as folder:
        # The program waits for the compilers, which on a busy machine may not finish before it.
        program = lab.command("Explosive", 10, flags=["-Xbatch"])
        plain = lab.run(program)
        for focused, more, present in (("Explosive.left,Explosive::right(int)", [], True),
                                       ("Explosive,-java", [], True),
                                       ("app", [], True),
                                       ("app", ["--keep-intrinsics"], True),
                                       ("app", ["--probe", "jvmti"], True),
                                       ("Explosive*,-Explosive#left,-Explosive.right", [], False)):
            out, what = f"{folder}/p", f"--focus {focused} {' '.join(more)}"
            shutil.rmtree(out, ignore_errors=True)
            done = lab.cli("callflow", "-o", out, "--focus", focused, *more, "--", *program)
            failures += unchanged(done, plain, what)
            by_method = reports.calls_of(reports.log_rt(lab.jprof, out)).by_method
            for name, count in wanted.items():
                if by_method[name] != (count if present else 0):
                    failures.append(f"{what}: {name}: {by_method[name]} calls")
            if any(n.startswith("java/") for n in by_method):
                failures.append(f"{what}: has methods of the JDK")
            shown = json.loads(lab.cli("info", out, "--format", "json").stdout)["focus"]
            if (shown["unprobed"] > 0) != (not more or "jvmti" not in more):
                failures.append(f"{what}: info prints {shown}")
        done = lab.cli("callflow", "-o", f"{folder}/none", "--focus", "Explosiv.left", "--",
                       *program)
        same = done.stdout == plain.stdout
        if not same or done.returncode != 2 or \
                "--focus Explosiv.left; did you mean Explosive.left?" not in done.stderr:
            failures.append(f"a focus on nothing: status {done.returncode}: {done.stderr[-300:]!r}")
        out = f"{folder}/intrinsics"
        lab.cli("callflow", "-o", out, "--focus", "java.lang.StringLatin1.*", "--",
                *lab.command("Explosive", 5))
        named = json.loads(lab.cli("info", out, "--format", "json").stdout)["focus"]["intrinsics"]
        if not any("java/lang/StringLatin1.equals" in n for n in named):
            failures.append(f"intrinsics in focus are not named: {named}")
    return failures


@case
def keep_intrinsics(lab):
    """--keep-intrinsics without --focus: C2 answers calls by intrinsics, and info and the heads of
    reports name the methods that are partly counted; without it all calls are counted."""
    failures = []
    inner = "Intrinsics.largest(II)I > java/lang/Math.max(II)I"
    with lab.folder() as folder:
        program = lab.command("Intrinsics", flags=["-XX:-TieredCompilation"])
        plain = lab.run(program)
        wanted = next(e for e in expectations.parse(plain.stdout) if e.method == inner)
        for more in ([], ["--keep-intrinsics"]):
            out = f"{folder}/p{len(more)}"
            done = lab.cli("callflow", "-o", out, *more, "--", *program)
            failures += unchanged(done, plain, f"callflow {more}")
            calls = reports.calls_of(reports.log_rt(lab.jprof, out))
            if calls.by_method["Intrinsics.largest(II)I"] != wanted.count:
                failures.append(f"{more}: a method without an intrinsic is not counted exactly")
            if (calls.of(wanted) < wanted.count) != bool(more):
                failures.append(f"{more}: {calls.of(wanted)} calls of Math.max of {wanted.count}")
            shown = json.loads(lab.cli("info", out, "--format", "json").stdout)["focus"]
            names = shown["intrinsics"]
            if ("java/lang/Math.max(II)I" in names) != bool(more):
                failures.append(f"{more}: partly counted are {names}")
            if any(n.startswith("java/lang/Object.<init>") for n in names):
                failures.append("a method that no intrinsic replaces is partly counted")
            for text, said in ((lab.cli("info", out).stdout, "partial"),
                               (reports.quality(lab.jprof, out), "intrinsic")):
                if (said in text) != bool(more):
                    failures.append(f"{more}: {text[:800]}")
    return failures


# --- Damaged profiles ---------------------------------------------------------------------

def damages(directory):
    """(description, function that damages a copy). Sizes and positions are spread over every file;
    random ones are reproducible."""
    import random
    chance = random.Random(20240607)
    for name in sorted(os.listdir(directory)):
        size = os.path.getsize(os.path.join(directory, name))
        yield f"{name} missing", lambda d, n=name: os.remove(f"{d}/{n}")
        yield f"{name} empty", lambda d, n=name: os.truncate(f"{d}/{n}", 0)
        yield f"{name} is a directory", lambda d, n=name: (
            os.remove(f"{d}/{n}"), os.mkdir(f"{d}/{n}"))
        for part in (0.01, 0.3, 0.7, 0.999):
            yield f"{name} cut to {part}", lambda d, n=name, s=int(size * part): os.truncate(
                f"{d}/{n}", s)
        yield f"{name} one byte short", lambda d, n=name, s=size: os.truncate(
            f"{d}/{n}", max(0, s - 1))
        yield f"{name} all ones", lambda d, n=name, s=size: write_at(
            f"{d}/{n}", 0, b"\xff" * min(s, 1 << 20))
        yield f"{name} zeroed", lambda d, n=name, s=size: write_at(
            f"{d}/{n}", 0, bytes(min(s, 1 << 20)))
        for _ in range(6):
            at = [chance.randrange(max(1, min(size, 8192) if i % 2 else size)) for i in range(8)]
            noise = bytes(chance.randrange(256) for _ in range(8))

            def flip(d, n=name, at=at, noise=noise):
                for place, byte in zip(at, noise):
                    write_at(f"{d}/{n}", place, bytes([byte]))

            yield f"{name} noise at {at[:3]}", flip


def write_at(path, at, data):
    with open(path, "r+b") as f:
        f.seek(at)
        f.write(data)


@case
def damaged_profiles(lab):
    """Every report on every damaged copy: it prints the report or an error of one line, in finite
    time; it never crashes."""
    failures, tried, refused = [], 0, 0
    with lab.folder() as folder:
        for mode, kinds in (("callflow", ("log-rt", "methods")), ("trace", ("log-gen",))):
            good = f"{folder}/{mode}"
            lab.run(lab.command("Explosive", 8, agent=f"{mode},out={good}"))
            for what, damage in damages(good):
                bad = f"{folder}/bad"
                shutil.rmtree(bad, ignore_errors=True)
                shutil.copytree(good, bad)
                damage(bad)
                for words in [["report", kind, bad] for kind in kinds] + [["info", bad]]:
                    try:
                        done = child.run([lab.jprof, *words], 60, stdout=subprocess.DEVNULL)
                    except subprocess.TimeoutExpired:
                        failures.append(f"{mode}: {what}: {words[:2]} does not end")
                        continue
                    tried += 1
                    refused += done.returncode != 0
                    failures += clean_exit(done, f"{mode}: {what}: {words[:2]}")
        if not 0 < refused < tried:
            failures.append(
                f"of {tried} damaged reports {refused} were refused: the damage has no effect")
    return failures


@case
def other_version(lab):
    failures = []
    with lab.folder() as folder:
        directory = f"{folder}/p"
        lab.run(lab.command("Explosive", 5, agent=f"callflow,out={directory}"))
        write_at(f"{directory}/control", 8, b"\x63")
        for words in (["report", "log-rt", directory], ["report", "methods", directory],
                      ["info", directory]):
            done = lab.cli(*words)
            failures += one_line_refusal(done, "version 99: " + " ".join(words[:2]), "99")
    return failures


@case
def class_archive(lab):
    """A run that records an AOT cache ends as usual and writes it: nothing is woven, which is said,
    and the automatic choice takes probes."""
    if lab.jdk.major < 24:
        raise Skip("AOT caches are of JDK 24 and later")
    failures = []
    for options, says, counts in (
            ("calltree,counter=woven", "use COUNTER=probe", False),
            ("calltree,sample", "calls are counted by probes: with -XX:AOTMode=record", True)):
        with lab.folder() as folder:
            cache, profile = os.path.join(folder, "aot.config"), os.path.join(folder, "p.jprof")
            jar = os.path.join(folder, "greeter.jar")  # the VM archives no classes of folders
            with zipfile.ZipFile(jar, "w") as made:
                made.write(os.path.join(lab.programs, "classes", "Greeter.class"), "Greeter.class")
            done = lab.run(lab.jdk.java(
                f"-agentpath:{lab.agent}={options},out={profile}", "-XX:AOTMode=record",
                "-XX:AOTConfiguration=" + cache, "-cp", jar, "Greeter", "0"))
            if done.returncode != 0 or says not in done.stderr:
                failures.append(f"{options}: status {done.returncode}: {done.stderr[-500:]}")
            if not os.path.exists(cache) or os.path.getsize(cache) == 0:
                failures.append(f"{options}: the JVM wrote no archive")
            if os.path.exists(profile) != counts:
                failures.append(f"{options}: there is {'no' if counts else 'a'} profile")
    return failures


@case
def java_compiler(lab):
    """Whether a compiler that is written in Java makes code with probes is not known: counts are not
    called complete. There is none here, so nothing is compiled."""
    flags = ["-Xint", "-XX:+UnlockExperimentalVMOptions", "-XX:+UseJVMCICompiler"]
    if lab.jdk.major > 17:
        raise Skip("the option needs such a compiler on this JDK")
    with lab.folder() as folder:
        done = lab.run(lab.command("Greeter", 0, agent=f"calltree,out={folder}/p.jprof",
                                   flags=flags))
        shown = lab.cli("report", "log-rt", f"{folder}/p.jprof").stdout
    return [f"status {done.returncode}, not said in {text[:500]!r}"
            for text in (done.stderr, shown)
            if "calls in compiled code may be missing" not in " ".join(text.split())]


@case
def jvmci(lab):
    """If compilers written in Java may use the word of woven counting, that is refused in one line
    before the program starts, and the automatic choice uses probes."""
    flags = ["-XX:+UnlockExperimentalVMOptions", "-XX:+EnableJVMCI"]
    failures = []
    for options, says, runs in (("calltree,counter=woven", "use COUNTER=probe", False),
                                ("calltree,sample", "calls are counted by probes", True)):
        with lab.folder() as folder:
            done = lab.run(lab.command("Greeter", 0, agent=f"{options},out={folder}/p.jprof",
                                       flags=flags))
            lines = [line for line in done.stderr.splitlines() if says in line]
            if len(lines) != 1 or "-XX:+EnableJVMCI" not in lines[0]:
                failures.append(f"{options}: printed {done.stderr[-500:]!r}")
            if (done.returncode == 0) != runs:
                failures.append(f"{options}: status {done.returncode}")
            if os.path.exists(f"{folder}/p.jprof") != runs:
                failures.append(f"{options}: there is {'no' if runs else 'a'} profile")
    return failures


def main():
    parser = case.parser(__doc__)
    parser.add_argument("--jprof", default=os.environ.get("JPROF", "jprof"))
    parser.add_argument("--agent", default=os.environ.get("JPROF_LIB", "libjprof.so"))
    parser.add_argument("--programs", help="output folder of programs.py")
    parser.add_argument(
        "--native", help="folder of the tests' libraries (default: that of the agent)")
    parser.add_argument("--jdk", type=int)
    parser.add_argument("--tmp", help="folder for the profiles")
    args = parser.parse_args()
    programs = args.programs and os.path.abspath(args.programs)
    native = os.path.abspath(args.native or os.path.dirname(args.agent))
    return case.run(args, lambda jdk: Lab(
        args.jprof, os.path.abspath(args.agent), programs, jdk, args.tmp, native))


if __name__ == "__main__":
    sys.exit(main())
