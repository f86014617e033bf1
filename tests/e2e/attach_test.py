#!/usr/bin/env python3
"""Tests attaching the agent to a running program and detaching it: the recordings are complete,
nothing remains in the program, and the program's answers are right.

Usage: attach_test.py --jprof JPROF --agent LIB --programs DIR [--case NAME] [--jdk N] [--list]
"""
import collections
import errno
import os
import resource
import shutil
import sys
import tempfile
import threading
import time

import attaching
import child
import jvms
from cases import Cases
from lab import Lab
from raw_profile import RawProfile

case = Cases()
LAST_WITH_PROBE = 23  # the last JDK whose interpreter tests the flag of the probes at run time


def check(condition, message):
    if not condition:
        sys.exit("FAILED: " + message)


def refusal(program, options):
    try:
        reply = program.load(options)
    except attaching.Refused as refused:
        return str(refused)
    return sys.exit(f"FAILED: {options} was accepted: {reply}")


def nothing_remains(before, after):
    """Compares Program.remains() of two moments without an agent."""
    check(not [fd for fd in after["fds"] if ".jprof" in fd or "perf_event" in fd],
          f"descriptors remain: {after['fds']}")
    check(len(after["fds"]) <= len(before["fds"]) + 1, f"more descriptors: {after['fds']}")
    check(not [line for line in after["maps"] if ".jprof" in line], "mapped profiles remain")
    check(not [name for name in after["threads"] if name.startswith("jprof")],
          f"threads remain: {after['threads']}")


def samples(profile):
    return sum(thread["samples"] for thread in profile.threads)


def finished(out):
    profile = RawProfile(out)
    check(profile.header["finished"] == 1, f"{out} is not finished")
    failures = [f"{name} = {n}" for name, n in profile.losses().items() if n]
    check(not failures, f"{out}: {failures}")
    return profile


@case
def samples_of_existing_and_new_threads(lab):
    with lab.folder() as folder, attaching.program(lab, folder) as program:
        check("no recording is attached" in refusal(program, "DETACH"), "DETACH without an agent")
        check("there is no option" in refusal(program, "SCS,NO_SUCH=1"), "an unknown option")
        program.load(f"TPROF,OUT={folder}/first.jprof")
        program.detach()
        before = program.remains()
        for number in range(2):
            out = f"{folder}/{number}.jprof"
            check(f"out={out}" in program.load(f"SCS,OUT={out}"), "the reply names the profile")
            check("already recording" in refusal(program, f"SCS,OUT={out}.2"), "attached twice")
            program.work(0.2)
            taken = lab.cli("ctl", program.pid, "status")
            check(taken.returncode == 0 and "samples" in taken.stdout,
                  f"jprof ctl while attached: {taken}")
            program.detach()
            profile = finished(out)
            by_name = {t["name"]: t["samples"] for t in profile.threads}
            check(by_name["worker 0"] > 0 and by_name["worker 1"] > 0, f"samples: {by_name}")
            check({"main", "consumer", "starter", "short"} <= set(by_name), f"names: {by_name}")
            check(any("AttachLoad.unit" in name for name in profile.names.values()),
                  "frames have names")
            check(lab.cli("ctl", program.pid, "status").returncode == 2, "a listener remains")
        nothing_remains(before, program.remains())
        check(os.path.getsize(f"{folder}/first.jprof/jitlog") > 10_000, "the log of jitted code")


@case
def events_of_the_vm(lab):
    with lab.folder() as folder, attaching.program(lab, folder) as program:
        out = f"{folder}/events.jprof"
        program.load(f"SCS=ALLOCATED_BYTES=100000+MONITOR_WAIT=1,OUT={out}")
        program.work(0.2)
        program.detach()
        check(samples(finished(out)) > 0, "no events")


@case
def exact_counts(lab):
    calls = 20_000
    with lab.folder() as folder, attaching.program(lab, folder) as program:
        if lab.jdk.major > LAST_WITH_PROBE:
            check("JDK 24 and later" in refusal(program, f"CALLFLOW,OUT={folder}/no.jprof"),
                  "the reason of the refusal")
            check(not os.path.exists(f"{folder}/no.jprof"), "a refused profile exists")
            return
        before = program.remains()
        for number, options in enumerate(("CALLTREE", "CALLFLOW", "CALLFLOW,FOCUS=AttachLoad*")):
            out = f"{folder}/{number}.jprof"
            program.load(f"{options},OUT={out}")
            program.ask(f"count {calls}")
            program.detach()
            program.ask(f"count {calls}")  # is not recorded
            profile = finished(out)
            counted = sum(node.entries for node in profile.nodes.values()
                          if profile.names.get(node.method, "") == "AttachLoad.counted(I)I")
            check(counted == 2 * calls, f"{options}: {counted} calls, not {2 * calls}")
        nothing_remains(before, program.remains())


@case
def probes_that_cannot_be_removed(lab):
    """The kernel refuses to make libjvm.so's code writable again: the recording goes on."""
    if lab.jdk.major > LAST_WITH_PROBE:
        return
    made_writable = 4  # successful mprotect calls: two pieces of code made writable and back
    env = {"LD_PRELOAD": lab.native("faults"),
           "FAULTS": f"mprotect@{made_writable + 1}+={errno.ENOMEM}"}
    with lab.folder() as folder:
        out = f"{folder}/kept.jprof"
        with attaching.program(lab, folder, 1, env=env) as program:
            program.load(f"CALLTREE,COUNTER=probe,OUT={out}")
            program.ask("count 100")
            why = refusal(program, "DETACH")
            check("cannot write to libjvm.so's code" in why, f"the reason of the refusal: {why}")
            program.ask("count 100")
        check(calls_of(finished(out), "AttachLoad.counted(I)I") == 400, "calls until the end")


def calls_of(profile, name):
    """The calls of methods whose names begin so."""
    return sum(node.entries for node in profile.nodes.values()
               if profile.names.get(node.method, "").startswith(name))


def count_woven(program, out, calls=20_000, depth=1_500, options="", work=0):
    """One recording with woven counters, whose counts are checked. Returns its profile."""
    program.load(f"CALLTREE,COUNTER=woven,FOLD_RECURSION{options},OUT={out}")
    program.ask(f"count {calls}")
    program.ask(f"throw {depth}")
    program.ask(f"count {calls}")
    program.work(work)
    program.detach()
    program.ask(f"count {calls}")  # is not recorded
    program.ask(f"throw {depth}")
    profile = finished(out)
    counted = calls_of(profile, "AttachLoad.counted(I)I")
    check(counted == 4 * calls, f"{out}: {counted} calls, not {4 * calls}")
    return profile


@case
def woven_counts(lab):
    """Also in the second and third recording of a JVM."""
    with lab.folder() as folder, attaching.program(lab, folder) as program:
        program.load(f"TPROF,OUT={folder}/first.jprof")
        program.detach()
        before = program.remains()
        for number in range(2):
            count_woven(program, f"{folder}/{number}.jprof")
        nothing_remains(before, program.remains())
        if lab.jdk.major > LAST_WITH_PROBE:
            return
        # HotSpot's probes see the calls of the original methods.
        out = f"{folder}/probes.jprof"
        program.load(f"CALLTREE,FOLD_RECURSION,OUT={out}")
        program.ask("count 10")
        program.detach()
        profile = finished(out)
        check(calls_of(profile, "AttachLoad.counted(I)I") == 20, "calls by the probes")
        check(calls_of(profile, "java/lang/JprofCounter") == 0
              and calls_of(profile, "java.lang.JprofCounter") == 0, "woven code remains")


@case
def woven_classes_that_are_being_defined(lab):
    """The VM reports no class file of a class whose definition has begun before: it is named. One
    whose definition begins while calls are counted has exact counts."""
    with lab.folder() as folder, attaching.program(lab, folder, 1) as program:
        for number, before in enumerate((True, False)):
            out = f"{folder}/{number}.jprof"
            if before:
                program.ask("define")
            program.load(f"CALLTREE,COUNTER=woven,OUT={out}")
            if not before:
                program.ask("define")
            program.ask("late 100")
            program.detach()
            counted = calls_of(finished(out), "AttachLoad$Late.applyAsInt(I)I")
            check(counted == (0 if before else 100), f"{counted} calls")
            said = lab.cli("info", out).stdout
            check(("AttachLoad$Late" in said) == before, f"named: {said}")


@case
def woven_classes_of_loaders_that_refuse(lab):
    """The program's loaders are not asked for what woven code refers to, while the recording begins
    and ends, and by classes that are linked or complete when it has ended."""
    uses, loaders = 100, 3
    with lab.folder() as folder:
        profiles = [f"{folder}/{number}.jprof" for number in range(2)]
        with attaching.program(lab, folder, name="AttachRequests") as program:
            for out in profiles:
                program.load(f"CALLTREE,COUNTER=woven,OUT={out}")
                program.ask(f"use {uses}")
                program.ask("hold")
                program.ask("define")
                program.detach()
                program.ask("link")
                program.ask("finish")
        for out in profiles:
            counted = calls_of(finished(out), "ClassRequests$Second.compareTo(")
            check(counted == uses * loaders, f"{counted} calls, not {uses * loaders}")
            check("could not be changed" not in lab.cli("info", out).stdout, f"{out} lacks classes")


@case
def woven_counts_with_samples(lab):
    """calltree --pid --sample, three times in one JVM: the counts are exact, and threads that exist
    are sampled, in their methods."""
    with lab.folder() as folder, attaching.program(lab, folder) as program:
        program.load(f"TPROF,OUT={folder}/first.jprof")
        program.detach()
        before = program.remains()
        for number in range(3):
            profile = count_woven(program, f"{folder}/{number}.jprof", options=",SAMPLE=200",
                                  work=0.2)
            by_name = {t["name"]: t["samples"] for t in profile.threads}
            check(by_name["worker 0"] > 5 and by_name["worker 1"] > 5, f"samples: {by_name}")
            own = sum(node.self_ticks for node in profile.nodes.values()
                      if profile.names.get(node.method, "").startswith("AttachLoad."))
            check(own > 5, f"{own} samples in the program's methods")
            check(len([t for t in profile.threads if t["name"] == "worker 0"]) == 1,
                  f"a thread has two rows: {profile.threads}")
        nothing_remains(before, program.remains())


@case
def woven_exceptions_are_exact(lab):
    depth = 1_500
    with lab.folder() as folder, attaching.program(lab, folder, 1) as program:
        for number, fold in enumerate(("", ",FOLD_RECURSION")):
            out = f"{folder}/{number}.jprof"
            program.load(f"CALLTREE,COUNTER=woven{fold},OUT={out}")
            program.ask(f"throw {depth}")
            program.ask("count 100")
            program.detach()
            profile = finished(out)
            thrown = calls_of(profile, "AttachLoad.thrownFrom(I)I")
            check(thrown == 2 * (depth + 1), f"{thrown} calls left by an exception")
            check(calls_of(profile, "AttachLoad.counted(I)I") == 200, "calls after an exception")


@case
def woven_while_threads_recur_throw_and_are_virtual(lab):
    """Some classes cannot be transformed: that is no reason to handle each class alone."""
    with lab.folder() as folder, \
            attaching.program(lab, folder, 1, more=("more",)) as program:
        for number in range(3):
            count_woven(program, f"{folder}/{number}.jprof")


@case
def woven_virtual_threads_that_are_mounted(lab):
    """A virtual thread that is mounted when the recording begins has its own tree."""
    if lab.jdk.major < 21:
        return
    calls = 2_000
    with lab.folder() as folder, attaching.program(lab, folder, 1, more=("more",)) as program:
        out = f"{folder}/pinned.jprof"
        program.load(f"CALLTREE,COUNTER=woven,FOLD_RECURSION,OUT={out}")
        program.ask(f"pinned {calls}")
        program.detach()
        rows = collections.Counter()
        profile = finished(out)
        roots, root_of = profile.roots(), {}
        for index, node in profile.nodes.items():
            root_of[index] = index if index in roots else root_of.get(node.parent, 0)
            if profile.names.get(node.method) == "AttachLoad.counted(I)I":
                rows[roots[root_of[index]][0]["name"]] += node.entries
        check(rows == {"virtual threads": calls}, f"calls by row: {rows}")


@case
def woven_virtual_threads_in_calls_that_began_before(lab):
    """A virtual thread catches an exception in a method that began before calls were counted."""
    if lab.jdk.major < 21:
        return
    with lab.folder() as folder, attaching.program(lab, folder, 1, more=("more",)) as program:
        program.ask("span")
        for number in range(3):
            out = f"{folder}/{number}.jprof"
            program.load(f"CALLTREE,COUNTER=woven,FOLD_RECURSION,OUT={out}")
            time.sleep(0.2)
            program.detach()
            caught = calls_of(finished(out), "AttachLoad.catchLate()V")
            check(caught > 0, "no call of the virtual thread was counted")


@case
def woven_threads_that_are_not_recorded(lab):
    with lab.folder() as folder, attaching.program(lab, folder) as program:
        for number in range(2):
            out = f"{folder}/{number}.jprof"
            program.load(f"CALLTREE,COUNTER=woven,FOLD_RECURSION,THREADS=fresh,OUT={out}")
            program.ask("count 1000")
            program.detach()
            counted = calls_of(RawProfile(out), "AttachLoad.counted(I)I")
            check(counted == 1000, f"{counted} calls of one thread, not 1000")


def woven_memory(lab, cycles, most):
    """`most`: KiB that are resident after `cycles` more than after the first ones."""
    flags = ("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC")
    first = 4
    with lab.folder() as folder, attaching.program(lab, folder, 1, flags) as program:
        resident = []
        for number in range(first + cycles):
            out = f"{folder}/{number}.jprof"
            program.load(f"CALLTREE,COUNTER=woven,FOLD_RECURSION,OUT={out}")
            program.detach()
            finished(out)
            resident.append(program.remains()["rss"])
        grown = resident[-1] - resident[first - 1]
        print(f"     {grown} KiB in {cycles} cycles", flush=True)
        check(grown < most, f"{grown} KiB in {cycles} cycles: {resident}")


@case.by_hand
def woven_memory_is_given_back(lab):
    """Most of what grows is the VM's metaspace: former versions of methods, until it collects."""
    woven_memory(lab, 3, 24 << 10)


@case.by_hand
def woven_memory_is_given_back_100_times(lab):
    woven_memory(lab, 100, 48 << 10)


@case
def woven_by_another_copy_of_the_library(lab):
    """The counter class that the first copy has defined counts at that copy's addresses."""
    with lab.folder() as folder, attaching.program(lab, folder, 1) as program:
        count_woven(program, f"{folder}/first.jprof")
        program.agent = shutil.copy(lab.agent, folder)
        why = refusal(program, f"CALLTREE,COUNTER=woven,OUT={folder}/no.jprof")
        check("another copy of libjprof.so" in why, f"the reason of the refusal: {why}")
        program.agent = lab.agent
        count_woven(program, f"{folder}/again.jprof")


@case
def woven_without_addresses(lab):
    """Each recording needs addresses that no other one has used."""
    with lab.folder() as folder, attaching.program(lab, folder, 1) as program:
        with open(f"/proc/{program.pid}/status", encoding="utf-8") as f:
            size = next(int(line.split()[1]) << 10 for line in f if line.startswith("VmSize"))
        unlimited = resource.prlimit(program.pid, resource.RLIMIT_AS)
        resource.prlimit(program.pid, resource.RLIMIT_AS, (size + (8 << 30), unlimited[1]))
        why = refusal(program, f"CALLTREE,COUNTER=woven,OUT={folder}/no.jprof")
        check("cannot reserve addresses" in why, f"the reason of the refusal: {why}")
        resource.prlimit(program.pid, resource.RLIMIT_AS, unlimited)
        count_woven(program, f"{folder}/yes.jprof")


@case
def memory_is_given_back(lab):
    """The agent's tables, 10 MB and more, do not remain in the heaps of malloc."""
    cycles, most = 4, 8 << 10  # KiB
    flags = ("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC")
    with lab.folder() as folder, attaching.program(lab, folder, 1, flags) as program:
        resident = []
        for number in range(2 + cycles):
            program.load(f"SCS,OUT={folder}/{number}.jprof")
            program.work(0.05)
            program.detach()
            resident.append(program.remains()["rss"])
        grown = resident[-1] - resident[1]
        check(grown < most, f"{grown} KiB in {cycles} cycles: {resident}")


@case
def the_client_gives_up(lab):
    """An agent whose client is gone when it has started ends its recording by itself."""
    with tempfile.TemporaryDirectory() as folder, attaching.program(lab, folder) as program:
        reply, out = os.path.join(folder, "reply"), os.path.join(folder, "out.jprof")
        os.mkfifo(reply)

        def give_up():
            with open(reply, encoding="utf-8") as client:  # waits until the agent opens it
                os.remove(reply)
                client.read()

        client = threading.Thread(target=give_up)
        client.start()
        options = f'"SCS,OUT={out},REPLY={reply}"'
        child.run([lab.jdk.tool("jcmd"), str(program.pid), "JVMTI.agent_load", lab.agent, options],
                  timeout=600)
        client.join()
        check(finished(out), "the agent still records")
        program.load(f"SCS,OUT={out}-2")
        program.detach()


@case
def a_program_that_ends_while_attached(lab):
    with lab.folder() as folder:
        out = f"{folder}/ends.jprof"
        with attaching.program(lab, folder) as program:
            program.load(f"SCS,OUT={out}")
            program.work(0.1)
        finished(out)


def main():
    parser = case.parser(__doc__)
    for name in ("jprof", "agent", "programs"):
        parser.add_argument("--" + name)
    parser.add_argument("--jdk", type=int)
    args = parser.parse_args()
    for jdk in jvms.needed_jdks([args.jdk] if args.jdk else ()):
        lab = Lab(os.path.abspath(args.jprof), os.path.abspath(args.agent),
                  os.path.abspath(args.programs), jdk,
                  libraries=os.path.dirname(os.path.abspath(args.agent)))
        for name, function in case.chosen(args):
            function(lab)
            print(f"ok   {name} {jdk.name}", flush=True)


if __name__ == "__main__":
    main()
