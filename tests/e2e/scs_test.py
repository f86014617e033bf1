#!/usr/bin/env python3
"""Compares callstack sampling with known values: shares of methods of all kinds, virtual threads,
blocking and allocation according to the JVM's beans, idle and wall-clock time.

Usage: scs_test.py --jprof JPROF --agent LIB --programs DIR [--native LIB] [--case NAME] [--list]
"""
import concurrent.futures
import json
import os
import re
import signal
import sys
import time

import child
import jvms
import raw_profile
import reports
import sampled
from cases import Cases
from sampled import check

case = Cases()
BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "release")


def cost_share(tree, rate):
    """The cost of the stack walks, as a share of the CPU time that the samples represent."""
    return tree.report["stacks"]["cost_ns"] * rate / (1e9 * tree.taken)


def parts(lab, jdks, modes, seconds=2.5, rate=1000):
    for jdk in jdks:
        for mode in modes:
            rows, tree = sampled.known_parts(lab, jdk, mode, seconds, rate)
            sampled.print_parts(f"{jdk.name} {mode}", rows, tree)
            # 4 standard errors of a share of 25 % in 2,500 samples are 3.5 points; timers vary less
            # than random samples.
            for name, true, got in rows:
                check(abs(true - got) < 3,
                      f"{jdk.name} {mode}: {name} has {got:.2f} % of the samples and {true:.2f} % "
                      f"of the time")
            check(tree.unknown_percent() < 1,
                  f"{jdk.name} {mode}: {tree.unknown_percent():.2f} % unknown")
            share = cost_share(tree, rate)
            print(f"    stack walks: {100 * share:.2f} % of the time that the samples represent")
            check(
                0 < share < 0.3,
                f"{jdk.name} {mode}: the stack walks cost {100 * share:.1f} % of it")
            for method, frames in (("down400", 401), ("down1500", 1501)):
                got = tree.deepest(method, called="spin")
                check(got == frames, f"{method}: {got} frames on a stack, not {frames}")
            if lab.native:
                inside, leaf = tree.below("nativeSpin", "main"), tree.below(
                    "nativeSpin", "main", leaf="libsampled_parts.so.")
                check(leaf > 0.95 * inside,
                      f"{inside} samples in the native method, {leaf} of them in its C functions")
            if mode in ("c2", "default"):
                inside, inlined = tree.below("inlinedFour", "main"), tree.below(
                    "inlinedFour", "main", types="lL")
                check(inlined > 0.7 * inside,
                      f"inlinedFour: {inlined} of {inside} samples are in inlined code")
                check(tree.below("separateFour", "main", types="lL") == 0,
                      "separateFour is not inlined")


@case
def parts_compiled(lab, jdks):
    """Shares of SampledParts' parts as the program measured them: tiered, and C2 only."""
    parts(lab, jdks, ["default", "c2"])


@case.by_hand
def parts_other(lab, jdks):
    """The same interpreted, and with C1 only."""
    parts(lab, jdks, ["int", "c1"])


@case
def timers(lab, jdks):
    """Shares by each timer of CPU time.

    A POSIX timer's signal is sent at a tick of the kernel and represents several periods: a quarter
    of the samples at 250 ticks per second, so twice the error."""
    for jdk in jdks:
        # the other cases sample by perf
        for timer in ("perf", "posix") if jdk is jdks[0] else ("posix",):
            try:
                rows, tree = sampled.known_parts(lab, jdk, "default", 2, 1000, ["--timer", timer])
            except sampled.Bad as bad:
                if "--timer perf:" not in str(bad):
                    raise
                print(f"{jdk.name}: perf events are not available: {bad}")
                continue
            sampled.print_parts(f"{jdk.name} {timer}", rows, tree)
            for name, true, got in rows:
                check(abs(true - got) < (3 if timer == "perf" else 6),
                      f"{jdk.name} {timer}: {name} has {got:.2f} % of the samples and {true:.2f} % "
                      f"of the time")
            with open(os.path.join(lab.work, "profile", "meta.json"), encoding="utf-8") as file:
                meta = json.load(file)
            check(meta["options"]["timer"] == timer, meta["options"])
            check(meta["metrics"][0]["period"] == 1_000_000
                  and "asked_period" not in meta["metrics"][0], meta["metrics"])


@case
def asked_rate(lab, jdks):
    """The profile contains the rate used and the rate requested.

    Without the launcher, the agent assumes the cost of an interrupt."""
    jdk, out = jdks[0], os.path.join(lab.work, "asked")
    agent = f"-agentpath:{lab.agent}=SCS,SCS_RATE=1000,INTERRUPT_NS=500000,OUT={out}"
    done = child.run(lab.java(jdk, "SampledEvents", "allocation", 5, jvm=["-Xmx512m", agent]), 60,
                     cwd=lab.work)
    check(done.returncode == 0, done.stderr)
    with open(os.path.join(out, "meta.json"), encoding="utf-8") as file:
        metric = json.load(file)["metrics"][0]
    check((metric["period"], metric["asked_period"]) == (2_500_000, 1_000_000), metric)
    check(lab.tree(out).period("samples") == 2_500_000, "the report's period")
    # Refused before anything is sampled; lowered, with a message, if the program ends at once.
    for words, status, said in [("SCS=TIME=49999", 1, "a timer's period is at least 50000 ns"),
                                ("SCS,SCS_RATE=20001", 1, "from 1 to 20000"),
                                ("SCS,NOSTART,SCS_RATE=20000", 0,
                                 "sampling at 5,000/s instead of 20,000/s: an interrupt is assumed "
                                 "to cost 40 us")]:
        agent = f"-agentpath:{lab.agent}={words},OUT={os.path.join(lab.work, 'none')}"
        done = child.run([jdk.tool("java"), agent, "-version"], 60, cwd=lab.work)
        check(done.returncode == status and said in done.stderr + done.stdout, f"{words}: {done}")


@case
def virtual(lab, jdks):
    """Virtual threads at 1:2:4: own stacks without carrier frames, one row per carrier."""
    for jdk in [j for j in jdks if j.major >= 21] or jvms.needed_jdks(least=21):
        output, directory = lab.record(["--rate", "1000"], lab.java(
            jdk, "SampledVirtual", 20, 3_000_000,
            jvm=["-Djdk.virtualThreadScheduler.parallelism=1"]))
        check(output == "done\n", output)
        tree = lab.tree(directory)
        counts = [tree.below(name) for name in ("one", "two", "four")]
        shares = [100 * n / sum(counts) for n in counts]
        print(
            f"{jdk.name}: {counts}: {shares[0]:.1f} {shares[1]:.1f} {shares[2]:.1f} %, unknown "
            f"{tree.unknown_percent():.2f} %")
        for got, true in zip(shares, (14.29, 28.57, 57.14)):
            check(abs(got - true) < 4, f"shares {shares}, not 1:2:4")
        check(tree.unknown_percent() < 1, f"{tree.unknown_percent():.2f} % unknown")
        check(tree.deepest("four") == 51, f"{tree.deepest('four')} frames of four, not 51")
        carried = sum(n for path, n in tree.rows() if any(".four(" in name for _, name in path)
                      and any("VirtualThread.runContinuation" in name or "ForkJoinPool" in name
                              for _, name in path))
        check(carried == 0, f"{carried} samples of virtual threads with frames of their carrier")


def of_metric(lab, directory, name):
    tree = lab.tree(directory)
    tree.metric = tree.metrics().index(name)
    return tree


@case
def contention(lab, jdks):
    """MONITOR_CONTENDED_ENTERED equals ThreadMXBean's blocked time and blocked count."""
    for jdk in jdks:
        output, directory = lab.record(["--event", "MONITOR_CONTENDED_ENTERED", "--event",
                                        "MONITOR_CONTENDED_ENTER", "--objects"],
                                       lab.java(jdk, "SampledEvents", "contention", 50))
        beans = [line.split() for line in output.splitlines() if line.startswith("blocked ")]
        blocked, count = sum(int(b[2]) for b in beans) * 1e6, sum(int(b[3]) for b in beans)
        tree = of_metric(lab, directory, "MONITOR_CONTENDED_ENTERED")
        waited, objects = tree.below("contend"), tree.below("contend", leaf="java/lang/Object")
        entered = of_metric(lab, directory, "MONITOR_CONTENDED_ENTERED.samples").below("contend")
        enter = of_metric(lab, directory, "MONITOR_CONTENDED_ENTER").below("contend")
        print(f"{jdk.name}: blocked {blocked / 1e6:.0f} ms, waited {waited / 1e6:.1f} ms: "
              f"{100 * waited / blocked - 100:+.2f} %; "
              f"counts {count}, {enter}, {entered}")
        check(abs(waited / blocked - 1) < 0.05, "the times differ by more than 5 %")
        check(enter == entered and abs(enter - count) <= 0.05 * count,
              f"{count} by the bean, {enter} enter, {entered} entered")
        check(objects == waited, f"{objects} of {waited} ns have the object's class as their leaf")


@case
def allocation(lab, jdks):
    """ALLOCATED_BYTES estimates what ThreadMXBean counts, of small and of large objects."""
    for jdk in jdks:
        output, directory = lab.record(["--event", "ALLOCATED_BYTES=8192", "--objects"],
                                       lab.java(jdk, "SampledEvents", "allocation", 200))
        allocated = int(output.split()[1])
        tree = of_metric(lab, directory, "ALLOCATED_BYTES")
        estimate = tree.below("allocation", "main")
        samples = of_metric(lab, directory, "ALLOCATED_BYTES.samples").below("allocation", "main")
        print(f"{jdk.name}: {allocated} bytes allocated, {estimate} estimated from {samples} "
              f"samples: "
              f"{100 * estimate / allocated - 100:+.2f} %")
        check(abs(estimate / allocated - 1) < 0.05, "the estimate is off by more than 5 %")
        for kind in ("java/lang/StringBuilder", "[B", "[J", "[I"):
            part = tree.below("allocation", "main", leaf=kind)
            print(f"    {kind}: {100 * part / estimate:.1f} %")
            check(part > 0.15 * estimate, f"{part} bytes of {kind} in {estimate}")


@case
def allocation_shares(lab, jdks):
    """Objects inside and outside of a thread's buffer have their shares of ALLOCATED_BYTES."""
    for jdk in jdks:
        _, directory = lab.record(["--event", "ALLOCATED_BYTES", "--objects"],
                                  lab.java(jdk, "SampledEvents", "thirds", 3000,
                                           jvm=["-XX:+UseG1GC"]))
        tree = of_metric(lab, directory, "ALLOCATED_BYTES")
        parts = [tree.below("thirds", "main", leaf=kind) for kind in ("[B", "[S", "[C")]
        shares = [part / sum(parts) for part in parts]
        print(f"{jdk.name}: {' '.join(f'{share:.3f}' for share in shares)}")
        # A share has a standard error of 0.006: 3,000 MB are some 5,700 samples.
        check(all(abs(share - 1 / 3) < 0.03 for share in shares), "a third each is expected")


@case
def names(lab, jdks):
    """--name-at-sample: a renamed thread has a row for each name, else one with its last name."""
    for jdk in jdks:
        for options, rows in ([], ["request-3"]), (["--name-at-sample"],
                                                   [f"request-{i}" for i in range(4)]):
            _, directory = lab.record(["--rate", "1000", *options],
                                      lab.java(jdk, "SampledEvents", "names", 200, 4))
            threads = raw_profile.RawProfile(directory).threads
            found = sorted(t["name"] for t in threads
                           if t["name"].startswith("request-") and t["samples"] > 0)
            samples = {t["name"]: t["samples"] for t in threads}
            check(found == rows, f"{jdk.name} {options}: {samples}")


@case
def more_names_than_rows(lab, jdks):
    """--name-at-sample: after 63 names of a thread, the others share a row."""
    for jdk in jdks:
        _, directory = lab.record(["--rate", "1000", "--name-at-sample"],
                                  lab.java(jdk, "SampledEvents", "names", 10, 100))
        samples = {t["name"]: t["samples"] for t in raw_profile.RawProfile(directory).threads
                   if t["samples"] > 0}
        own = [int(name.split("-")[1]) for name in samples if name.startswith("request-")]
        # The thread may have been sampled before it had the first of these names.
        check(len(own) == 63 - ("unnamed" in samples) and samples.get("other names", 0) > 0,
              f"{jdk.name}: {samples}")


@case
def idle(lab, jdks):
    """WALL equals every thread's elapsed time; so does the sum of CPU time and IDLE."""
    for jdk in jdks:
        for events in (["WALL=10"], ["TIME", "IDLE=10"]):
            options = [text for event in events for text in ("--event", event)]
            output, directory = lab.record(["--rate", "1000", *options],
                                           lab.java(jdk, "SampledEvents", "idle", 1500))
            trees = [of_metric(lab, directory, event) for event in lab.tree(directory).metrics()]
            latest = int(re.search(r"^latest (\d+)$", output, re.M)[1])
            for _, name, elapsed, ran in [
                    line.split() for line in output.splitlines() if line.startswith("thread ")]:
                sums = [t.below("timed", name) * t.report["metrics"][t.metric]["period"]
                        for t in trees]
                ratio = sum(sums) / int(elapsed)
                print(f"{jdk.name} {'+'.join(events)} {name:<8} elapsed {int(elapsed) / 1e6:.0f} "
                      f"ms, ran {int(ran) / 1e6:.0f} ms, "
                      f"sampled {' + '.join(f'{s / 1e6:.0f}' for s in sums)} ms: {100 * ratio:.1f} "
                      f"%")
                # The time between a thread's last tick and its end is not sampled. On a busy machine
                # both the thread and the one that requests samples wait for a processor meanwhile.
                least = 0.95 - 2 * latest / int(elapsed)
                check(least < ratio < 1.05,
                      f"{name}: {100 * ratio:.1f} % of its time; a thread waited for a processor "
                      f"for {latest / 1e6:.0f} ms")


def fair_share(directory, rate):
    """Samples of all kinds, lost ones included, divided by the number that the threads' CPU time
    implies at the rate; and the share that ticks of the kernel may have missed, as a thread's CPU
    time after its last tick is not sampled: on a busy machine threads get little more than that."""
    threads = raw_profile.RawProfile(directory).threads
    cpu = sum(
        t["cpu_ns_end"] - t["cpu_ns_start"] for t in threads if t["cpu_ns_end"] > t["cpu_ns_start"])
    kept = sum(t["samples"] for t in threads)
    missed = len(threads) / os.sysconf("SC_CLK_TCK") / (cpu / 1e9)
    return kept, (kept + sum(t["samples_own"] + t["samples_lost"] for t in threads)) / (
        cpu / 1e9 * rate), missed


def storms(lab, jdks, names, rate=1000):
    for i, jdk in enumerate(jdks):
        for k, name in enumerate(names):
            flags = ["-XX:+UseZGC"] if (i + k) % 2 else []
            what = f"{jdk.name} {name} {flags}"
            tree, directory = sampled.storm(lab, jdk, name, 4, flags, rate=rate)
            kept, share, missed = fair_share(directory, rate)
            print(
                f"{what}: {kept} samples kept, {100 * share:.1f} % of what the threads' CPU time "
                f"implies")
            if name in ("time", "calltree"):
                check(0.7 - missed < share < 1.15,
                      f"{what}: {100 * share:.1f} % of the samples that the CPU time implies")
                check(kept > 100, f"{what}: {kept} samples in the tree")
            if name == "calltree":
                metric = [m["name"] for m in tree["metrics"]].index("samples")
                charged = sum(n["base"][metric] for t in tree["threads"] for n in t["nodes"])
                calls = sum(n["calls"] for t in tree["threads"] for n in t["nodes"])
                check(charged == kept == tree["metrics"][metric]["raw"],
                      f"{what}: {charged} samples in the rows, {kept} were taken")
                check(calls > 100_000, f"{what}: {calls} calls")
                continue
            print(f"    unknown {tree.unknown_percent():.3f} %")
            check(tree.taken == kept > 100,
                  f"{what}: {tree.taken} samples in the report, {kept} were taken")
            check(tree.unknown_percent() < 1, f"{what}: {tree.unknown_percent():.2f} % unknown")


@case
def storm_time(lab, jdks):
    """40 threads of all kinds at 1 kHz: stack walks, and samples of calltree's nodes."""
    storms(lab, jdks, ["time", "calltree"])


@case
def storm_events(lab, jdks):
    """The same at several events at once."""
    storms(lab, jdks, ["all"])


PHASES = (300, 4500, 500)  # ms of first, when second begins, ms of second


@case
def delay_and_duration(lab, jdks):
    """--delay excludes what happens before it, --duration what happens after."""
    jdk = jdks[-1]
    wanted = {(): (True, True), ("--delay", "3"): (False, True), ("--duration", "3"): (True, False),
              ("--delay", "60", "--duration", "9"): (False, False)}

    def record(options):
        command = lab.java(jdk, "SampledPhases", *PHASES, jvm=["-Xmx128m"])
        output, directory = lab.record(["--rate", "1000", *options], command,
                                       "phases" + "".join(options))
        tree = lab.tree(directory)
        return sampled.parts_of(
            output), {name: tree.below(name, "main") for name in ("first", "second")}

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = dict(zip(wanted, pool.map(record, wanted)))
    for options, (parts_, counts) in results.items():
        print(f"{jdk.name} {' '.join(options) or 'from start to end'}: {counts}")
        for (name, count), sampled_ in zip(counts.items(), wanted[options]):
            most = 1.3 * parts_[name] / 1e6 + 3
            check((0.5 * parts_[name] / 1e6 < count < most) if sampled_ else count == 0,
                  f"{options}: {count} samples of {name}, which had {parts_[name] / 1e6:.0f} ms of "
                  f"CPU time")


def signals_command(lab, jdk, *arguments, jvm=()):
    flags = ["-Xmx128m", f"-DSampledSignals.natives={lab.native}", *jvm]
    if jdk.major >= 22:
        flags.append("--enable-native-access=ALL-UNNAMED")
    return lab.java(jdk, "SampledSignals", *arguments, jvm=flags)


def record_signals(lab, jdk, options, *arguments, mode="scs", jvm=()):
    """Runs SampledSignals. Returns the profile's report."""
    _, directory = lab.record(options, signals_command(lab, jdk, *arguments, jvm=jvm), mode=mode)
    report = lab.tree(directory).report
    stacks, losses = report["stacks"], report["losses"]
    ratio = stacks["covered_s"] / stacks["cpu_s"] if "cpu_s" in stacks else 0
    print(f"{jdk.name} {mode} {arguments}: {100 * ratio:.1f} % covered, "
          f"{ {name: n for name, n in losses.items() if n} }")
    return directory, ratio, losses


@case
def signals_taken(lab, jdks):
    """A signal that is taken over or blocked is a loss that names its cause."""
    timer, request, jdk = int(signal.SIGSTKFLT), int(signal.SIGVTALRM), jdks[-1]
    for mode, options in (("scs", ["--rate", "500"]),
                          ("calltree", ["--sample", "500", "--counter", "woven"])):
        directory, ratio, losses = record_signals(lab, jdk, options, "take", timer, 300, 1500,
                                                  mode=mode)
        check(ratio < 0.6 and losses["signals_taken"] == 1 and losses["uncovered_cpu_ms"] > 500,
              f"{mode}: {ratio}, {losses}")
        text = reports.quality(lab.jprof, directory)
        check("SIGSTKFLT, by " + lab.native in text and "of the CPU time has samples" in text, text)
    _, _, losses = record_signals(lab, jdk, ["--event", "WALL=10"], "take", request, 100, 200)
    check(losses["signals_taken"] == 1, f"{losses}")
    _, ratio, losses = record_signals(lab, jdk, ["--rate", "500"], "block", timer, 100, 2500)
    check(losses["signals_taken"] == 0 and losses["threads_blocking_signal"] == 1 and ratio < 0.6,
          f"{ratio} {losses}")


@case
def closed_descriptors(lab, jdks):
    """A program closes all descriptors and opens its own: they are not touched, losses are named."""
    for mode, *options in (["scs", "--rate", "500"], ["callflow"],
                           ["callflow", "--metrics", "time,page-faults"],
                           ["calltree", "--counter", "woven", "--sample", "500"]):
        # With woven counting the JVM reads all classes from its own descriptors, not its archive.
        first = 200 if "woven" in options else 3
        command = signals_command(lab, jdks[-1], "close", first, 200, 500)
        printed, directory = lab.record(options, command, mode=mode)
        check("64 of its descriptors" in printed, f"{mode} {options}: {printed}")
        losses = child.run([lab.jprof, "info", directory]).stdout.partition("lost  ")[2]
        print(f"{mode} {options}: {losses}")
        if "--metrics" in options:
            check("could not open or read their counters" in losses, losses)
        elif mode == "scs":
            check("closed the descriptors of their events" in losses, losses)


@case
def signals_of_others(lab, jdks):
    """SIGPROF belongs to the program: its users lose nothing, and nor do the samples."""
    jdk = jdks[-1]
    recording = os.path.join(lab.work, "recording.jfr")
    settings = os.path.join(lab.work, "cpu.jfc")
    with open(settings, "w", encoding="utf-8") as file:
        file.write('<configuration version="2.0"><event name="jdk.CPUTimeSample"><setting name='
                   '"enabled">true</setting><setting name="throttle">10ms</setting></event>'
                   '</configuration>')
    flags = [f"-XX:StartFlightRecording:filename={recording},settings={settings}"]
    _, ratio, losses = record_signals(lab, jdk, ["--rate", "500"], "take", int(signal.SIGPROF), 200,
                                      500)
    check(ratio > 0.8 and not any(losses.values()), f"{ratio} {losses}")
    if jdk.major < 25:
        return
    _, ratio, losses = record_signals(lab, jdk, ["--rate", "500"], "none", 0, 500, 500, jvm=flags)
    check(ratio > 0.8 and not any(losses.values()), f"{ratio} {losses}")
    summary = child.run([jdk.tool("jfr"), "summary", recording], 60).stdout
    counts = [line.split()[1] for line in summary.splitlines() if "jdk.CPUTimeSample " in line]
    check(len(counts) == 1 and int(counts[0]) > 20, f"{counts} samples of the flight recorder")


@case
def java_only(lab, jdks):
    """--java-only omits native frames and keeps every sample."""
    for jdk in jdks:
        trees = {}
        for options in ((), ("--java-only",)):
            output, directory = lab.record(["--rate", "1000", *options],
                                           lab.java(jdk, "SampledPhases", 1000, 0, 0,
                                                    jvm=["-Xmx128m"]))
            tree = lab.tree(directory)
            letters = {kind for path, n in tree.rows() if n for kind, _ in path[1:]}
            truth = sampled.parts_of(output)["first"] / 1e6
            trees[options] = (letters, tree.below("first", "main"), truth)
            print(f"{jdk.name} {options}: frames {sorted(letters)}, {tree.below('first', 'main')} "
                  f"samples "
                  f"in {truth:.0f} ms")
        check("F" in trees[()][0], f"native frames without the option: {trees[()][0]}")
        letters, count, truth = trees[("--java-only",)]
        check(letters <= set("IiJjRrLlNnO"), f"frames of {letters}")
        check(0.7 * truth < count < 1.2 * truth,
              f"{count} samples of a method that had {truth:.0f} ms")


@case
def calltree_samples(lab, jdks):
    """calltree --sample: each method's samples are its CPU time, and the calls are exact."""
    for jdk in jdks:
        command = lab.java(jdk, "SampledPhases", 500, 0, 1000, jvm=["-Xmx128m"])
        output, directory = lab.record(["--sample", "1000"], command, mode="calltree")
        report = reports.log_rt(lab.jprof, directory, "--threads", "merged")
        metric = [m["name"] for m in report["metrics"]].index("samples")
        nodes = {n["id"]: n for n in report["threads"][0]["nodes"]}
        for name, ns in sampled.parts_of(output).items():
            top = [n for n in nodes.values() if n["name"].startswith(f"SampledPhases.{name}(")]
            check([n["calls"] for n in top] == [1],
                  f"{name}: calls {[n['calls'] for n in top]}, not 1")

            def within(node):
                return node is not None and (node is top[0] or within(nodes.get(node["parent"])))

            count = sum(n["base"][metric] for n in nodes.values() if within(n))
            print(f"{jdk.name} {name}: {count:.0f} samples in {ns / 1e6:.0f} ms")
            check(0.7 < count / (ns / 1e6) < 1.2,
                  f"{name}: {count} samples at 1000/s in {ns / 1e6:.0f} ms")


def samples_of_mix(lab, jdk, calls, flags):
    """Samples of SampledInlined's methods mix and loop by calltree, whose calls are exact."""
    command = lab.java(jdk, "SampledInlined", calls, jvm=["-Xmx128m", *flags])
    output, directory = lab.record(["--sample", "500", "--counter", "woven"], command,
                                   mode="calltree")
    report = reports.log_rt(lab.jprof, directory, "--threads", "merged")
    metric = [m["name"] for m in report["metrics"]].index("samples")
    calls, samples = (
        {name: sum(value(n) for n in report["threads"][0]["nodes"]
                   if n["name"].startswith(f"SampledInlined.{name}("))
         for name in ("loop", "mix")}
        for value in (lambda n: n["calls"], lambda n: n["base"][metric]))
    print(f"{jdk.name}: calls {calls}, samples {samples}")
    check(f"calls {calls['mix']}\n" in output and calls["loop"] == 2,
          f"calls {calls}; the program: {output}")
    return samples["mix"], samples["loop"]


@case
def inlined_samples(lab, jdks):
    """calltree --sample: samples of an inlined method are its own, and the calls are exact."""
    for jdk in jdks:
        mix, loop = samples_of_mix(lab, jdk, 200_000_000, [])
        check(mix > 4 * loop, f"samples {mix}, {loop}: the loop itself only counts")


@case
def interpreted_samples(lab, jdks):
    """calltree --sample: a method that calls nothing has samples of its own, interpreted too."""
    for jdk in jdks:
        mix, loop = samples_of_mix(lab, jdk, 2_000_000, ["-Xint"])
        check(mix > loop / 10, f"samples {mix} of mix, {loop} of loop")


@case
def bursts(lab, jdks):
    """A thread that is woken often, and never runs for a tick of the kernel: shares of its methods,
    by either timer, and with counts."""
    command = lab.java(jdks[0], "SampledBursts", 3000, jvm=["-Xmx128m"])
    for mode, words in (("calltree", ["--counter", "woven", "--sample", "200", "--timer", "posix"]),
                        ("calltree", ["--counter", "woven", "--sample", "200", "--timer", "perf"]),
                        ("scs", ["--rate", "200", "--timer", "posix"])):
        what = " ".join([mode, *words])
        try:
            output, directory = lab.record(words, command, mode=mode)
        except sampled.Bad as bad:
            if "--timer perf:" not in str(bad):
                raise
            print(f"{what}: perf events are not available: {bad}")
            continue
        check((words[-1] == "posix") == ("events 0\n" in output), f"{what}: {output}")
        report = reports.log_rt(lab.jprof, directory, "--threads", "merged")
        metric = [m["name"] for m in report["metrics"]].index("samples")
        nodes = {n["id"]: n for n in report["threads"][0]["nodes"]}
        counts, true = dict.fromkeys(("one", "two", "four"), 0), sampled.parts_of(output)
        for node in nodes.values():
            above = node
            while above is not None and above["name"].split("(")[0][14:] not in counts:
                above = nodes.get(above["parent"])
            if above is not None:
                counts[above["name"].split("(")[0][14:]] += node["base"][metric]
        print(f"{what}: samples {counts}, ms "
              f"{ {name: round(ns / 1e6) for name, ns in true.items()} }")
        for name, count in counts.items():
            # 4 standard errors of a share of 57 % in 600 samples are 8 points.
            got, share = count / max(1, sum(counts.values())), true[name] / sum(true.values())
            check(abs(got - share) < 0.08,
                  f"{what}: {name} has {100 * got:.0f} % of the samples and {100 * share:.0f} % of "
                  f"the time")
        expected = sum(true.values()) / 5e6
        check(0.7 < sum(counts.values()) / expected < 1.3,
              f"{what}: {counts}, not {expected:.0f} samples")


def main():
    parser = case.parser(__doc__)
    sampled.arguments(parser, BUILD)
    options = parser.parse_args()
    for name, function in case.chosen(options):
        print(f"{name}: {function.__doc__.splitlines()[0]}", flush=True)
        with sampled.folder() as work:
            try:
                function(sampled.lab_of(options, work), sampled.jdks_of(options))
            except sampled.Bad as bad:
                sys.exit(f"FAILED: {bad}")


if __name__ == "__main__":
    main()
