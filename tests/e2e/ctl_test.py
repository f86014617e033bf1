#!/usr/bin/env python3
"""Tests jprof ctl with real JVMs: the number of samples grows only while the recording is started,
all users but the owner are refused, and the program is not affected.

Usage: ctl_test.py --jprof JPROF --agent LIB --programs DIR [--case NAME] [--list]
"""
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

import child
import jvms
import reports
from cases import Cases
from lab import Lab, Skip

case = Cases()
NOBODY = 65534
TIMEOUT = 600  # seconds


def check(condition, message):
    if not condition:
        sys.exit("FAILED: " + message)


def ctl(lab, *words, status=0, **more):
    done = lab.cli("ctl", *words, **more)
    check(done.returncode == status,
          f"jprof ctl {words}: exit status {done.returncode}, not {status}: {done}")
    if status != 0:
        check(len(done.stderr.splitlines()) == 1 and not done.stdout,
              f"jprof ctl {words}: not one line: {done}")
    return done.stderr if status else done.stdout


def status_of(lab, pid):
    pairs = (line.split(":", 1) for line in ctl(lab, pid, "status").splitlines())
    return {key: value.strip() for key, value in pairs}


def reply_to_other_user(path):
    """The socket's reply to another user. Forks, because that user may not have permission to start
    this Python."""
    ours, theirs = os.pipe()
    asking = os.fork()
    if asking == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(TIMEOUT)
                client.connect(path)
                os.write(theirs, client.recv(9000))
        except BaseException as e:  # the child must not run the parent's code
            os.write(theirs, f"the child failed: {e!r}".encode())
        finally:
            os._exit(0)
    os.close(theirs)
    os.waitpid(asking, 0)
    with os.fdopen(ours, "rb") as heard:
        return heard.read().decode()


def samples(lab, pid):
    return int(status_of(lab, pid)["samples"])


def until(condition, what):
    """Waits until the condition returns a true value; returns that value."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    sys.exit(f"FAILED: {what}: not within {TIMEOUT} s")


def listed(lab, out):
    """The pid of the JVM that records into `out`, from the list of listening processes."""
    for line in ctl(lab, "list").splitlines():
        if f"out={os.path.realpath(out)}" in line.split():
            return int(line.split()[0])
    return None


@contextlib.contextmanager
def recording(lab, out, *options, program=("Marker",), flags=(), env=None):
    """Starts a JVM under `jprof scs` and yields its pid; kills it at the end if it still runs."""
    command = [lab.jprof, "scs", "--agent", lab.agent, *options, "-o", out, "--",
               *lab.command(*program, flags=flags)]
    with child.running(command, stdout=subprocess.DEVNULL, env=env) as process:
        until(lambda: listed(lab, out) or process.poll() is not None, "the JVM listens")
        pid = listed(lab, out)
        check(pid, f"the program ended with {process.poll()}, and nothing listened")
        try:
            yield pid
        finally:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                process.wait(TIMEOUT)  # the launcher ends after its JVM


def sockets(lab):
    folder = os.path.join(os.environ["XDG_RUNTIME_DIR"], f"jprof-{os.geteuid()}")
    return folder, sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def grows(lab, pid, what):
    before = samples(lab, pid)
    until(lambda: samples(lab, pid) > before, f"{what}: more than {before} samples")


def settled_samples(lab, pid, what):
    """The number of samples, after a tick that may have been in progress; it must not grow."""
    time.sleep(0.2)
    before = samples(lab, pid)
    time.sleep(0.5)
    after = samples(lab, pid)
    check(before == after, f"{what}: {before} samples, then {after}")
    return after


@case
def samples_grow_only_while_started(lab):
    with lab.folder() as folder:
        out = f"{folder}/p"
        with recording(lab, out, "--nostart") as pid:
            first = status_of(lab, pid)
            check(first["mode"] == "scs" and first["recording"] == "no", f"{first}")
            check(os.path.realpath(first["out"]) == os.path.realpath(out) and "threads" in first,
                  f"{first}")
            check(settled_samples(lab, pid, "before start") == 0, "samples before start")
            ctl(lab, pid, "start")
            check(status_of(lab, pid)["recording"] == "yes", "recording after start")
            grows(lab, pid, "started")
            ctl(lab, pid, "stop")
            check(status_of(lab, pid)["recording"] == "no", "recording after stop")
            stopped = settled_samples(lab, pid, "stopped")
            check(stopped > 0, "stop keeps what was recorded")
            ctl(lab, pid, "start")
            grows(lab, pid, "started again")
            check(samples(lab, pid) > stopped,
                  "a second start continues where the first was stopped")
            ctl(lab, pid, "stop")
            ctl(lab, pid, "reset")
            check(settled_samples(lab, pid, "reset") == 0, "samples after reset")
            ctl(lab, pid, "start")
            grows(lab, pid, "started after reset")


@case
def every_command_may_come_twice(lab):
    """Each command requests a state: if that is the current state, it succeeds and changes
    nothing."""
    with lab.folder() as folder, recording(lab, f"{folder}/p", "--nostart") as pid:
        for command, recorded in (("stop", "no"), ("reset", "no"), ("flush", "no"),
                                  ("start", "yes"), ("flush", "yes"), ("reset", "yes"),
                                  ("start", "yes"), ("stop", "no")):
            for time_ in ("first", "second"):
                check(ctl(lab, pid, command).strip() != "",
                      f"{command} for the {time_} time prints nothing")
                found = status_of(lab, pid)["recording"]
                check(found == recorded, f"recording: {found} after {command} for the {time_} time")
            if recorded == "yes":
                grows(lab, pid, f"after two times {command}")
        stopped = settled_samples(lab, pid, "stopped twice")
        ctl(lab, pid, "flush")
        check(samples(lab, pid) == stopped > 0, "flush changes the samples")
        for _ in range(2):
            ctl(lab, pid, "reset")
            check(samples(lab, pid) == 0, "samples after reset")


def reported(lab, out):
    """The number of samples in the head of the report, and their sum in its tree."""
    done = lab.cli("report", "scs", "--format", "json", out)
    check(done.returncode == 0, f"the report: {done.stderr}")
    report = json.loads(done.stdout)
    rows = [node for thread in report["threads"] for node in thread["nodes"]]
    return report["stacks"]["taken"], sum(row["samples"][0] for row in rows)


@case
def a_reset_forgets_all_and_goes_on(lab):
    with lab.folder() as folder:
        out = f"{folder}/p"
        with recording(lab, out, "--rate", "1000", program=("SampledStorm", 60, 12),
                       flags=["-Xmx256m"]) as pid:
            until(lambda: samples(lab, pid) > 3000, "more than 3000 samples")
            for _ in range(20):
                ctl(lab, pid, "reset")
            check(samples(lab, pid) < 3000, "reset forgets nothing")
            grows(lab, pid, "reset while it runs")
            ctl(lab, pid, "stop")
            count = settled_samples(lab, pid, "stopped")
            check(reported(lab, out) == (count, count),
                  f"{count} samples, {reported(lab, out)} in the report")
            ctl(lab, pid, "reset")
            check(reported(lab, out) == (0, 0), f"{reported(lab, out)} in the report after a reset")


@case
def threads_that_cannot_be_sampled(lab):
    with lab.folder() as folder:
        out = f"{folder}/p"
        with recording(lab, out, env=dict(os.environ, LD_PRELOAD=lab.native("no_timers"))) as pid:
            why = "Operation not permitted"
            until(lambda: status_of(lab, pid)["recording"] == "yes", "recording")
            def not_sampled():
                """The status, if all threads are named in it, and did not change meanwhile."""
                now = status_of(lab, pid)
                report = reports.quality(lab.jprof, out)
                if now["threads"] == "0" or status_of(lab, pid)["threads"] != now["threads"]:
                    return None  # the JVM starts and ends compiler threads
                return now["not_sampled"] == f"{now['threads']} threads: {why}" and (now, report)

            said, report = until(not_sampled, "all threads are named as not sampled")
            check(said["samples"] == "0" and said["lost"] == "0", f"{said}")
            check(f"{said['threads']} threads could not be sampled" in report and
                  f"threads could not be sampled, or not by every event: {why}" in report, report)
        with recording(lab, f"{folder}/q") as pid:
            check(status_of(lab, pid)["not_sampled"] == "0 threads", f"{status_of(lab, pid)}")


def dirty_kib(pid, folder):
    """KiB of the folder's mapped files that are not yet on the disk, by file."""
    dirty, name = {}, None
    with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            words = line.split()
            if "-" in words[0]:
                ours = os.path.realpath(folder) + "/" in line
                name = os.path.basename(line.rstrip()) if ours else None
            elif name and words[0] in ("Shared_Dirty:", "Private_Dirty:"):
                dirty[name] = dirty.get(name, 0) + int(words[1])
    return dirty


@case
def flush_reaches_the_disk(lab):
    """Checks the page tables, because reading the file would return what is in memory."""
    with lab.folder() as folder:
        kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True,
                              check=True).stdout.strip()
        if kind in ("tmpfs", "ramfs"):
            raise Skip(f"{folder} is in memory")
        out = f"{folder}/p"
        with recording(lab, out) as pid:
            grows(lab, pid, "from the start")
            ctl(lab, pid, "stop")
            count = settled_samples(lab, pid, "stopped")
            before = dirty_kib(pid, out)
            check({"control", "nodes", "methods"} <= set(before), f"mapped: {before}")
            check(before["nodes"] > 0 and before["control"] > 0, f"nothing to flush: {before}")
            check("on the disk" in ctl(lab, pid, "flush"), "the output of flush")
            after = dirty_kib(pid, out)
            check(set(after.values()) == {0},
                  f"KiB that are not on the disk: {before} before, {after} after flush")
            check(reported(lab, out) == (count, count),
                  f"{count} samples, {reported(lab, out)} in the report")


@case
def the_program_does_not_wait_for_the_disk(lab):
    """jprof waits itself: a thread of the program that did would delay the program's exit."""
    with lab.folder() as folder:
        slow = dict(os.environ, LD_PRELOAD=lab.native("stuck_disk"))
        with recording(lab, f"{folder}/p", env=slow) as pid:
            check("on the disk" in ctl(lab, pid, "flush"), "the output of flush")
            os.kill(pid, signal.SIGTERM)
            until(lambda: not os.path.exists(f"/proc/{pid}"), "the program ends")


@case
def wrong_words_and_random_bytes(lab):
    with lab.folder() as folder, recording(lab, f"{folder}/p", "--nostart") as pid:
        check("did you mean start?" in ctl(lab, pid, "strat", status=2), "the nearest command")
        place, names = sockets(lab)
        check(names == [f"{pid}.sock"], f"{place}: {names}")
        path = os.path.join(place, names[0])
        check(os.stat(path).st_mode & 0o7777 == 0o600, "the socket's mode")
        check(os.stat(place).st_mode & 0o7777 == 0o700, "the folder's mode")
        chance = random.Random(4)
        for i in range(1000):
            data = chance.randbytes(chance.randrange(1, 400)) + (b"\n" if i % 2 else b"")
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(TIMEOUT)
                client.connect(path)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError, OSError):
                    client.sendall(data)
                    client.shutdown(socket.SHUT_WR)
                check(client.recv(9000).startswith(b"error "), f"random bytes {i}: {data!r}")
        check(samples(lab, pid) == 0, "random bytes have started it")
        ctl(lab, pid, "start")
        grows(lab, pid, "after random bytes")


@case
def another_user(lab):
    if os.geteuid() != 0:
        raise Skip("only root can be another user")
    with lab.folder() as folder, recording(lab, f"{folder}/p", "--nostart") as pid:
        place, names = sockets(lab)
        path = os.path.join(place, names[0])
        os.chmod(folder, 0o755)
        jprof = shutil.copy(lab.jprof, folder)
        said = child.run([jprof, "ctl", str(pid), "start"], TIMEOUT, user=NOBODY, group=NOBODY,
                         extra_groups=[], cwd="/")
        check(said.returncode == 2 and "another user" in said.stderr,
              f"the command as nobody: {said}")
        for reachable in (os.path.dirname(place), place, path):  # only the agent itself may refuse
            os.chmod(reachable, 0o777)
        said = reply_to_other_user(path)
        check("another user" in said, f"the socket as nobody: {said}")
        check(status_of(lab, pid)["recording"] == "no", "another user has started it")


@case
def the_socket_goes_with_the_program(lab):
    with lab.folder() as folder:
        done = lab.cli("scs", "--agent", lab.agent, "-o", f"{folder}/p", "--",
                       *lab.command("Greeter", 0, "you"))
        check(done.returncode == 0 and sockets(lab)[1] == [],
              f"after an end: {sockets(lab)}: {done.stderr}")
        with recording(lab, f"{folder}/q", "--nostart") as killed:
            os.kill(killed, signal.SIGKILL)
        check(sockets(lab)[1] == [f"{killed}.sock"], f"after kill -9: {sockets(lab)}")
        check(f"there is no process {killed}" in ctl(lab, killed, "status", status=2),
              "a killed JVM")
        with recording(lab, f"{folder}/r", "--nostart") as pid:
            check(sockets(lab)[1] == [f"{pid}.sock"], f"what a killed JVM left: {sockets(lab)}")


@case
def a_bad_folder_does_not_stop_the_program(lab):
    with lab.folder() as folder:
        runtime = os.path.join(folder, "runtime")
        os.makedirs(runtime, mode=0o700)
        os.symlink(folder, f"{runtime}/jprof-{os.geteuid()}")
        plain = lab.run(lab.command("Greeter", 0, "you"))
        done = lab.cli("scs", "--agent", lab.agent, "-o", f"{folder}/p", "--",
                       *lab.command("Greeter", 0, "you"),
                       env=dict(os.environ, XDG_RUNTIME_DIR=runtime))
        check((done.returncode, done.stdout) == (plain.returncode, plain.stdout),
              f"the program: {done}")
        said = [
            line for line in done.stderr.splitlines()
            if f"jprof-{os.geteuid()} is not a folder" in line]
        check(len(said) == 1, f"not one line with the reason: {done.stderr}")


@case
def a_process_without_jprof(lab):
    with child.running(lab.command("Marker"), stdout=subprocess.DEVNULL) as java:
        check("has no listening jprof agent" in ctl(lab, java.pid, "status", status=2),
              "a JVM without the agent")


def main():
    parser = case.parser(__doc__)
    parser.add_argument("--jprof", required=False)
    parser.add_argument("--agent")
    parser.add_argument("--programs")
    parser.add_argument("--jdk", type=int)
    args = parser.parse_args()
    skipped = ran = 0
    for jdk in jvms.needed_jdks([args.jdk] if args.jdk else ()):
        lab = Lab(os.path.abspath(args.jprof), os.path.abspath(args.agent),
                  os.path.abspath(args.programs), jdk,
                  libraries=os.path.dirname(os.path.abspath(args.agent)))
        for name, function in case.chosen(args):
            with lab.folder() as runtime:  # the sockets of this case only
                os.chmod(runtime, 0o700)
                os.environ["XDG_RUNTIME_DIR"] = runtime
                try:
                    function(lab)
                except Skip as why:
                    print(f"skipped: {name}: {why}")
                    skipped += 1
                    continue
            ran += 1
            print(f"ok   {name} {jdk.name}", flush=True)
    if skipped and not ran:
        sys.exit(jvms.SKIPPED)


if __name__ == "__main__":
    main()
