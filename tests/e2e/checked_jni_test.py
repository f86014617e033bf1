#!/usr/bin/env python3
"""The agent calls JNI as -Xcheck:jni demands, in every mode on every JDK found: the JVM prints no
warning that it does not print without the agent, and ends as without it.

    checked_jni_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N]
    checked_jni_test.py --case every_program ... --native DIR   all programs with exact counts
"""
import os
import re
import sys

import attaching
import programs
from cases import Cases
from lab import Lab

case = Cases()

CHECKED = "-Xcheck:jni"
# From there to the end of the line, as lines of several threads may be mixed.
WARNING = re.compile(r"(?:WARNING in native method|WARNING: |FATAL ERROR|JNI local refs).*")
# With the JVM.
AGENTS = (
    "callflow", "callflow,probe=jvmti", "callflow,focus=app", "calltree,counter=probe",
    "calltree,counter=woven", "calltree,counter=woven,focus=app", "calltree,counter=woven,sample",
    "calltree,counter=probe,sample", "trace", "scs,scs_rate=1000,objectinfo",
    "scs=allocated_bytes=10000+monitor_wait=1+monitor_contended_enter=1+class_load=1,objectinfo",
    "scs=allocations=100+monitor_waited=1+monitor_contended_entered=1,objectinfo",
    "tprof,code", "callflow,tprof", "callflow,hooks=yes",
)
# In a running one, of which the second with woven counting finds the classes of the first; True:
# not on JDK 24 and later.
ATTACHED = (("scs=allocated_bytes=10000+monitor_wait=1,objectinfo,tprof", False),
            ("calltree,counter=woven", False), ("calltree,counter=woven,sample,focus=app", False),
            ("callflow,focus=app", True))


def warnings(done):
    """The distinct kinds of warnings in what a JVM printed."""
    return {re.sub(r"\d+", "N", text) for text in WARNING.findall(done.stdout + done.stderr)}


def compared(lab, agents, program, flags=()):
    """Failures of one program with each of the agents."""
    def run(agent=""):
        return lab.run(lab.command(program, agent=agent, flags=(CHECKED, *flags)))

    plain, failures = run(), []
    usual = warnings(plain)
    for number, agent in enumerate(agents):
        with lab.folder() as folder:
            done = run(f"{agent},out={folder}/{number}")
        failures += [f"{program} {agent}: {line}" for line in sorted(warnings(done) - usual)]
        if done.returncode != plain.returncode or "without being profiled" in done.stderr:
            failures.append(f"{program} {agent}: status {done.returncode}: {done.stderr[-500:]}")
    return failures


@case
def every_mode(lab):
    return compared(lab, AGENTS, "Sync")


@case
def attached(lab):
    """AttachLoad's output must be its answers alone, so every line of the JVM is a failure."""
    with lab.folder() as folder, \
            attaching.program(lab, folder, workers=1, flags=(CHECKED,)) as program:
        for number, (options, has_late_probes) in enumerate(ATTACHED):
            if has_late_probes and lab.jdk.major >= 24:
                continue
            program.load(f"{options},OUT={folder}/{number}")
            program.ask("count 100")
            program.detach()
    return []


@case.by_hand
def every_program(lab):
    failures, runs = [], 0
    for program in programs.load_all():
        if program.jdk > lab.jdk.major:
            continue
        flags = [*program.jvm] + [lab.java_agent(program.name)] * program.agentjar
        if program.native and lab.jdk.major >= 24:
            flags.append("--enable-native-access=ALL-UNNAMED")
        failures += compared(lab, AGENTS, program.name, flags)
        runs += len(AGENTS)
    print(f"{runs} runs, {len(failures)} failures")
    return failures


def main():
    parser = case.parser(__doc__)
    for name in ("jprof", "agent", "programs"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--native", default="", help="folder of libe2e_native.so")
    parser.add_argument("--jdk", type=int)
    args = parser.parse_args()
    os.environ["LD_LIBRARY_PATH"] = os.path.abspath(args.native)  # of the programs' JNI library
    return case.run(args, lambda jdk: Lab(
        args.jprof, os.path.abspath(args.agent), os.path.abspath(args.programs), jdk))


if __name__ == "__main__":
    sys.exit(main())
