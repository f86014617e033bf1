#!/usr/bin/env python3
"""Checks that the processes that a test starts end with the test: after a harness that runs a Java
program under jprof, or a shell with children, is killed or gives up, all its processes end within
two seconds.

Usage: child_test.py --jprof JPROF --agent LIB --programs DIR
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

import child
import jvms
from lab import Lab

# Starts a command, prints its session, and waits for it.
HARNESS = """
import sys
import child
with child.running(sys.argv[2:]) as process:
    print(process.pid, flush=True)
    if sys.argv[1] == "gives up":
        sys.stdin.readline()
        sys.exit(0)
    process.wait()
"""


def until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def check(what, how, command, least):
    """`least`: the number of processes that the command starts."""
    with child.running([sys.executable, "-c", HARNESS, how, *command], stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE, text=True,
                       cwd=os.path.dirname(os.path.abspath(__file__))) as harness:
        session = int(harness.stdout.readline())
        if not until(lambda: len(child.members(session)) >= least, 30):
            sys.exit(f"FAILED: {what}: {child.members(session)} run, not {least} processes")
        if how == "killed":
            # only the harness, as ctest does at a test's timeout
            os.kill(harness.pid, signal.SIGKILL)
        harness.stdin.close()
        harness.wait()
        if not until(lambda: not child.members(session), 2):
            sys.exit(
                f"FAILED: {what}: {child.members(session)} still run two seconds after the "
                f"harness' end")
    print(f"ok   {what}: {how}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("jprof", "agent", "programs"):
        parser.add_argument("--" + name, required=True, type=os.path.abspath)
    args = parser.parse_args()
    # timeout creates its own process group
    shell = ["sh", "-c", "sleep 30 & timeout 30 sleep 30 & wait"]
    check("a shell and its children", "killed", shell, 4)
    check("a shell and its children", "gives up", shell, 4)
    lab = Lab(args.jprof, args.agent, args.programs, jvms.needed_jdks()[0])
    with tempfile.TemporaryDirectory(prefix="jprof-child-") as folder:
        program = lab.command("Marker")
        check("a JVM under jprof", "killed",
              [args.jprof, "calltree", "--agent", args.agent, "-o", f"{folder}/p", "--", *program],
              2)


main()
