#!/usr/bin/env python3
"""Weaves every class of JDKs and of jars, and has the results verified by ASM and by the JVM.

    weave_all.py --tool build/release/bin/weave_stream [--jdk PATH]... [--jar PATH]...
                 [--module NAME]... [--asm FOLDER] [--no-jvm] [--out FOLDER]

ASM (Debian: libasm-java) checks the structure of each class, the types on the stack and in local
variables, and that the stack map frames agree with these. Methods whose monitors HotSpot's
compilers would no longer find balanced are failures, too. ASM reads class files up to version 64:
for later ones the version in the bytes that it gets is lowered to that.

Locks, allocations and call sites are counted, too. The JVM gets the woven classes in place of its
own (--patch-module) and verifies each when it links it. A class that needs one of an optional library that is not there is counted as not verified.

Without --jdk: all JDKs of this machine. Without --module: all modules. Exit status 1 if any class
is refused, 77 if ASM or a JDK is missing.
"""
import argparse
import os
import sys
import tempfile

import child
import jvms

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weave")
COUNTERS = [os.path.join(SOURCES, f"Jprof{name}.java") for name in ("Counter", "Locks", "Concurrent")]
ASM = [f"asm{part}.jar" for part in ("", "-tree", "-analysis", "-util")]


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the binary weave_stream")
    parser.add_argument("--jdk", action="append", help="home of a JDK; repeatable")
    parser.add_argument("--newest", action="store_true", help="only the newest JDK")
    parser.add_argument("--jar", action="append", default=[], help="repeatable")
    parser.add_argument("--module", action="append", help="only this module; 'none': no module")
    parser.add_argument("--asm", default="/usr/share/java", help="folder with ASM's jars")
    parser.add_argument("--no-jvm", action="store_true", help="verify by ASM only")
    parser.add_argument("--out", help="keep the woven classes here; default: a temporary folder")
    return parser.parse_args()


def chosen_jdks(homes):
    jdks = jvms.needed_jdks()
    if not homes:
        return jdks
    found = {jdk.home: jdk for jdk in jdks}
    unknown = [home for home in homes if os.path.realpath(home) not in found]
    if unknown:
        sys.exit(f"{unknown[0]}: not a JDK under {jvms.JVM_FOLDER} or in JAVA_HOME")
    return [found[os.path.realpath(home)] for home in homes]


def run(command):
    """Shows the output of the command and returns whether it ended with status 0."""
    done = child.run(command, timeout=1800)
    print(done.stdout + done.stderr, end="", flush=True)
    return done.returncode == 0


def patches(out, stub):
    """The options that give the JVM the woven modules and the counter that they call."""
    yield from ("--patch-module", f"java.base={os.path.join(out, 'java.base')}:{stub}")
    for name in sorted(os.listdir(out)):
        if name != "java.base" and not name.endswith(".jar"):
            yield from ("--patch-module", f"{name}={os.path.join(out, name)}")


def check(jdk, args, work):
    out, checker, stub = (os.path.join(work, jdk.name, name) for name in ("out", "checker", "stub"))
    for folder in (out, checker, stub):
        os.makedirs(folder, exist_ok=True)
    asm = ":".join(os.path.join(args.asm, jar) for jar in ASM)
    sources = [os.path.join(SOURCES, name) for name in sorted(os.listdir(SOURCES))]
    child.run([jdk.tool("javac"), "-d", checker, "-cp", asm, *(set(sources) - set(COUNTERS))],
              check=True)
    child.run([jdk.tool("javac"), "--patch-module", f"java.base={SOURCES}", "-d", stub, *COUNTERS],
              check=True)
    java = [jdk.tool("java"), "-Xmx1g", "-XX:+UseSerialGC"]
    modules = ",".join(args.module or ["all"])
    print(f"JDK {jdk.version}", flush=True)
    good = run([*java, "-cp", f"{checker}:{asm}", "WeaveAll", os.path.abspath(args.tool), out,
                modules, *args.jar])
    if not args.no_jvm:
        good &= run([*java, *patches(out, stub), "--add-modules", "ALL-SYSTEM",
                     "-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal",
                     "-cp", checker, "LinkAll", out, *args.jar])
    return good


def main():
    args = options()
    if not all(os.path.exists(os.path.join(args.asm, jar)) for jar in ASM):
        jvms.skip(f"it needs ASM in {args.asm} (package libasm-java)")
    jdks = chosen_jdks(args.jdk)
    if args.newest:
        jdks = [max(jdks, key=lambda jdk: jdk.major)]
    with tempfile.TemporaryDirectory(prefix="weave-") as temporary:
        results = [check(jdk, args, args.out or temporary) for jdk in jdks]
    sys.exit(0 if all(results) else 1)


main()
