#!/usr/bin/env python3
"""What woven counting cannot change, and methods that are compiled without probes, run as they are,
and the summary, the report and `jprof info` name them, on every JDK found.

    unwoven_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N]
"""
import os
import struct
import sys

import reports
from cases import Cases
from class_file import ICONST_0, IFEQ, NOP, RETURN, ClassFile

case = Cases()


def counted(lab, folder, name, *flags):
    """Runs a class with woven counting: what it printed, its calls by method, and its losses."""
    profile = os.path.join(folder, "p.jprof")
    done = lab.cli("calltree", "--counter", "woven", "--agent", lab.agent, "-o", profile, "--",
                   *lab.jdk.java(*flags, "-cp", folder, name))
    if done.returncode != 0:
        raise ValueError(f"status {done.returncode}: {done.stderr[-500:]}")
    report = reports.log_rt(lab.jprof, profile)
    calls = {}
    for thread in report["threads"]:
        for node in thread["nodes"]:
            if node["name"].startswith(name + "."):
                method = node["name"].partition("(")[0]
                calls[method] = calls.get(method, 0) + node["calls"]
    texts = (done.stderr, reports.quality(lab.jprof, profile),
             lab.cli("info", profile).stdout)
    return texts, calls, report["losses"]


@case
def too_large(lab):
    """HotSpot compiles no method above 8,000 bytes, and code ends at 65,535. A method that calls
    nothing (`leaf`) needs less for its counter."""
    sizes = (7980, 7994, 7999, 8001, 65000, 65530)
    made = ClassFile("Large")
    made.method("none", bytes([RETURN]))
    call = made.call("none")
    names = ["leaf7994"] + [f"m{size}" for size in sizes]
    made.method("leaf7994", bytes([NOP] * 7993 + [RETURN]))
    for size in sizes:
        made.method(f"m{size}", call + bytes([NOP] * (size - len(call) - 1) + [RETURN]))
    made.main(*names, *names)
    with lab.folder() as folder:
        made.write(folder)
        texts, calls, losses = counted(lab, folder, "Large")
    failures = []
    expected = {"Large.main": 1, "Large.none": 12, "Large.leaf7994": 2,
                **{f"Large.m{size}": 2 for size in (7980, 8001, 65000)}}
    if calls != expected:
        failures.append(f"{calls} instead of {expected}")
    if (losses["unwoven_methods"], losses["unwoven_classes"]) != (3, 0):
        failures.append(f"losses: {losses}")
    for text in texts:
        line = " ".join(text[text.find("3 methods were too large to count"):].split())
        if "--counter probe counts them): Large.m7994, Large.m7999, Large.m65530" not in line:
            failures.append(f"not named in: {text[-700:]}")
    return failures


@case
def tolerated(lab):
    """What the VM tolerates: in classes of version 50 wrong frames, here with an object of an offset
    without `new`; in classes that it does not verify, variables behind the end of the code."""
    frames = ClassFile("Frames", major=50)
    frame = struct.pack(">HBHHBHH", 1, 255, 6, 1, 8, 1, 0)
    frames.method("m", bytes([ICONST_0, IFEQ, 0, 5, NOP, NOP, RETURN]), [("StackMapTable", frame)])
    variables = ClassFile("Variables")
    text = variables.utf8("I")
    table = struct.pack(">HHHHHH", 1, 0, 99, text, text, 0)
    variables.method("m", bytes([RETURN]), [("LocalVariableTable", table)])
    failures = []
    for made, flags in ((frames, ()), (variables, ("-Xbootclasspath/a:{}",))):
        made.main("m", "m")
        with lab.folder() as folder:
            made.write(folder)
            _, calls, losses = counted(lab, folder, made.name,
                                       *(flag.format(folder) for flag in flags))
        if calls != {f"{made.name}.main": 1, f"{made.name}.m": 2} or losses["unwoven_classes"]:
            failures.append(f"{made.name}: {calls}, {losses}")
    return failures


@case
def malformed(lab):
    """The VM does not verify classes of the bootstrap loader, so it does not look at this table."""
    made = ClassFile("Junk", major=61)
    made.method("m", bytes([RETURN]), [("StackMapTable", b"\0\1\xff")])
    made.main("m")
    with lab.folder() as folder:
        made.write(folder)
        texts, calls, losses = counted(lab, folder, "Junk", f"-Xbootclasspath/a:{folder}")
    failures = [f"{calls} instead of none"] if calls else []
    if (losses["unwoven_methods"], losses["unwoven_classes"]) != (0, 1):
        failures.append(f"losses: {losses}")
    for text in texts:
        line = " ".join(text[text.find("could not be changed"):].split())
        if "--counter probe counts them): Junk" not in line:
            failures.append(f"not named in: {text[-700:]}")
    return failures


@case
def compiled_without_probes(lab):
    """In each tier: what the compiler leaves out is named, and only that."""
    library, failures = lab.native("unprobed"), []
    for tier in (1, 2, 3, 4):
        flags = ["-Xbatch", f"-XX:TieredStopAtLevel={tier}", f"-DUnprobed.natives={library}"]
        if lab.jdk.major >= 22:
            flags.append("--enable-native-access=ALL-UNNAMED")
        with lab.folder() as folder:
            profile = os.path.join(folder, "p.jprof")
            done = lab.cli("calltree", "--counter", "probe", "--agent", lab.agent, "-o", profile,
                           "--", *lab.command("Unprobed", flags=flags))
            texts = done.stderr, reports.quality(lab.jprof, profile)
            losses = reports.log_rt(lab.jprof, profile)["losses"]
        names = " ".join(texts[0].split()).partition("methods were compiled without probes:")[2]
        if done.returncode != 0 or "Unprobed.unprobed" not in names or ".probed" in names:
            failures.append(f"tier {tier}: status {done.returncode}: {done.stderr[-700:]}")
        if losses["unprobed_methods"] == 0 or "compiled without probes" not in texts[1]:
            failures.append(f"tier {tier}: not in the report: {losses}")
    return failures


@case
def compiled_code_is_not_reported(lab):
    """Methods that are compiled without probes are not named then, which the profile says."""
    flags = [f"-DUnprobed.natives={lab.native('unprobed')}"]
    if lab.jdk.major >= 22:
        flags.append("--enable-native-access=ALL-UNNAMED")
    first = {**os.environ, "JAVA_TOOL_OPTIONS": f"-agentpath:{lab.native('unprobed')}"}
    with lab.folder() as folder:
        profile = os.path.join(folder, "p.jprof")
        done = lab.cli("calltree", "--counter", "probe", "--agent", lab.agent, "-o", profile, "--",
                       *lab.command("Unprobed", flags=flags), env=first)
        texts = done.stderr, reports.quality(lab.jprof, profile)
    said = "calls in compiled code may be missing: this JVM does not report compiled code"
    return [f"status {done.returncode}: {text[-700:]}" for text in texts
            if done.returncode != 0 or said not in " ".join(text.split())]


if __name__ == "__main__":
    sys.exit(case.main(__doc__))
