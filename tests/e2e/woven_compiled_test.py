#!/usr/bin/env python3
"""HotSpot compiles methods with counters in them as well as without, on every JDK found.

    woven_compiled_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N]

-XX:+PrintCompilation prints each method that a compiler refuses ("COMPILE SKIPPED") and why. There
must be none that is not refused without the agent for the same reason.
"""
import os
import re
import sys

from cases import Cases

case = Cases()

# "  538   52   !   3       Monitors::nested (78 bytes)   COMPILE SKIPPED: invalid parsing (...)"
LINE = re.compile(r"^ *\d+ +\d+ [ %sbn!]* ([1-4])  +(\S+)(?: @ -?\d+)? \(\d+ bytes\)"
                  r"(?: +COMPILE SKIPPED: (.*))?", re.M)
# What depends on the moment; a later attempt may succeed.
PASSING = re.compile("concurrent class loading|dependenc|code ?cache", re.I)


def compilations(text):
    """(method, tier) of what was compiled, and (method, reason) of what was refused."""
    compiled, refused = set(), set()
    for tier, method, reason in LINE.findall(text):
        if not reason:
            compiled.add((method, int(tier)))
        elif not PASSING.search(reason):
            refused.add((method, reason))
    return compiled, refused


def compare(lab, *arguments, flags=()):
    """The run with counters: its failures, what was compiled, and its output. With -Xbatch the
    lines of the compilers are not within the program's own."""
    flags = ("-Xbatch", "-XX:+PrintCompilation", *flags)
    with lab.folder() as folder:
        plain = lab.run(lab.jdk.java(*flags, *arguments))
        agent = f"-agentpath:{lab.agent}=calltree,counter=woven,out={folder}/p"
        woven = lab.run(lab.jdk.java(agent, *flags, *arguments))
    failures = [f"status {done.returncode}: {done.stderr[-300:]}"
                for done in (plain, woven) if done.returncode != 0]
    if "without being profiled" in woven.stderr:
        failures.append(woven.stderr)
    compiled, refused = compilations(woven.stdout)
    for method, why in sorted(refused - compilations(plain.stdout)[1]):
        failures.append(f"{method} is no longer compiled: {why}")
    return failures, compiled, woven.stdout


@case
def monitors(lab):
    """Synchronized blocks with loops, returns and handlers in and around them."""
    failures, compiled, output = compare(
        lab, "-cp", os.path.join(lab.programs, "classes"), "Monitors")
    cases = re.search(r"^cases (.*) sum ", output, re.M)
    methods = cases[1].split() if cases else failures.append("the program did not end") or []
    for method in methods:
        for tier in (3, 4):
            if (f"Monitors::{method}", tier) not in compiled:
                failures.append(f"{method} was not compiled at tier {tier}")
    return failures


@case
def javac(lab):
    """A large program: javac, compiling these tests' programs."""
    sources = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", name + ".java")
               for name in ("Monitors", "Expect", "Collections")]
    with lab.folder() as folder:
        failures, compiled, _ = compare(lab, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-d",
                                        folder, *sources)
    if len(compiled) < 500:
        failures.append(f"only {len(compiled)} methods were compiled")
    return failures


if __name__ == "__main__":
    sys.exit(case.main(__doc__))
