"""The Java programs under programs/: their directives (//@ lines) and how they are compiled.

//@ group NAME     the ctest entry that runs it
//@ jdk N          requires a JDK of at least this version
//@ jvm FLAGS      flags for every run
//@ exit N         its exit status (0)
//@ native         requires libe2e_native
//@ agentjar       runs with itself as -javaagent
//@ allow LOSS...  losses that may be above zero
//@ variants       also run with jvms.VARIANTS
//@ directives F   compiler directives, tiered only
//@ open THREAD    the thread ends with frames on its stack
"""
import argparse
import dataclasses
import glob
import os
import subprocess
import sys
import zipfile

import jvms

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")


@dataclasses.dataclass
class Program:
    name: str
    source: str
    group: str = ""
    jdk: int = 17
    jvm: tuple = ()
    exit: int = 0
    native: bool = False
    agentjar: bool = False
    variants: bool = False
    allow: tuple = ()
    open: tuple = ()
    directives: str = ""


def load(source):
    program = Program(os.path.basename(source)[: -len(".java")], source)
    with open(source, encoding="utf-8") as f:
        lines = [line[3:].split() for line in f if line.startswith("//@")]
    for key, *values in lines:
        if key in ("native", "agentjar", "variants"):
            setattr(program, key, True)
        elif key in ("exit", "jdk"):
            setattr(program, key, int(values[0]))
        elif key in ("jvm", "allow", "open"):
            setattr(program, key, tuple(values))
        elif key in ("group", "directives"):
            setattr(program, key, values[0])
        else:
            raise SystemExit(f"{source}: unknown directive {key}")
    return program


def load_all():
    """All programs that belong to a group of exact tests."""
    found = [load(s) for s in sorted(glob.glob(os.path.join(FOLDER, "*.java")))]
    return [p for p in found if p.group]


def compile_all(out):
    """Compiles the programs that the installed JDKs support to out/classes and
    out/agents/NAME.jar."""
    jdks = jvms.find_jdks()
    if not jdks:
        raise SystemExit("no JDK found under " + jvms.JVM_FOLDER)
    classes = os.path.join(out, "classes")
    os.makedirs(classes, exist_ok=True)
    os.makedirs(os.path.join(out, "agents"), exist_ok=True)
    by_release = {}
    for source in sorted(glob.glob(os.path.join(FOLDER, "*.java"))):
        by_release.setdefault(load(source).jdk, []).append(source)
    for release, sources in sorted(by_release.items()):
        able = [j for j in jdks if j.major >= release]
        if not able:
            print(f"skipped: {len(sources)} programs need JDK {release}")
            continue
        # javac's own string concatenation: the invokedynamic one adds hidden classes to every
        # profile.
        subprocess.run(
            [able[0].tool("javac"), "--release", str(release), "-nowarn", "-Xlint:-options",
             "-proc:none",
             "-XDstringConcat=inline", "-cp", classes, "-d", classes, *sources], check=True)
    for source in sorted(glob.glob(os.path.join(FOLDER, "*.java"))):
        program = load(source)
        if program.agentjar:
            manifest = (f"Manifest-Version: 1.0\nPremain-Class: {program.name}\n"
                        "Can-Redefine-Classes: true\nCan-Retransform-Classes: true\n")
            with zipfile.ZipFile(os.path.join(out, "agents", program.name + ".jar"), "w") as jar:
                jar.writestr("META-INF/MANIFEST.MF", manifest)
    return classes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compile the programs of the end-to-end tests.")
    parser.add_argument("--out", required=True)
    sys.exit(0 if compile_all(parser.parse_args().out) else 1)
