#!/usr/bin/env python3
"""Soak test of focus and kept intrinsics: repeats javac, H2, Groovy, Jython and a class-loading
storm on every JDK, with and without kept intrinsics (with them also without a focus), under several
flags of the JVM. Every run must have the exit status and the output of the untraced run.

Usage: focus_soak.py [--minutes 30] [--jdk N] [--only javac|h2|groovy|jython|storm]... [--kept]
                     [--everything]

--kept: only runs that keep intrinsics. --everything: of these only the ones without a focus. Exit
status 1 if a run crashed, hung or printed other output; the folder of its files is printed.
"""
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import javac_program as javac  # noqa: E402
import measure  # noqa: E402
from debian_programs import PROGRAMS, command  # noqa: E402

FLAGS = ([], ["-XX:+UseZGC"], ["-XX:-TieredCompilation"], ["-Xcomp"],
         ["-XX:+UseParallelGC", "-XX:TieredStopAtLevel=4"])
FOCUS = {"javac": ("com.sun.tools.javac.comp.*", "com.sun.tools.javac.*"),
         "h2": ("app", "org.h2.command.*"),
         "groovy": ("app", "groovy.lang.*"), "jython": ("org.python.core.*", "app"),
         "storm": ("app",)}
LIMIT = 900  # seconds that one run may take


class Soak:
    def __init__(self, args, jdk, work):
        self.args, self.jdk, self.work = args, jdk, work
        self.expected, self.storm_classes = {}, os.path.join(work, "storm")
        programs = os.path.join(measure.ROOT, "tests", "e2e", "programs")
        subprocess.run([jdk.tool("javac"), "-nowarn", "-d", self.storm_classes,
                        os.path.join(programs, "SampledStorm.java")],
                       check=True, stderr=subprocess.DEVNULL)
        archive = javac.source_zip(jdk)
        self.files = javac.unpack(archive, work, args.files) if archive else None

    def command(self, name, flags, agent):
        if name == "javac":
            words = os.path.join(self.work, "words")
            with open(words, "w", encoding="utf-8") as f:
                f.write("\n".join(self.files))
            return [self.jdk.tool("javac"), *("-J" + f for f in flags + agent), "-proc:none",
                    "-nowarn",
                    "-XDignore.symbol.file", "-implicit:none", "--patch-module",
                    f"java.xml={os.path.join(self.work, 'java.xml')}", "-d",
                    os.path.join(self.work, "classes"), "@" + words]
        if name == "storm":
            return [self.jdk.tool("java"), *flags, *agent, "-Xss512k", "-cp", self.storm_classes,
                    "SampledStorm", "20", "40"]
        flags = flags + agent + [f"-Dpython.cachedir={self.work}/cache"]
        return command(self.jdk, name, self.work, flags)

    def run(self, name, flags, agent):
        """(status, output or compiled files of the program); None if it hung."""
        classes = os.path.join(self.work, "classes")
        shutil.rmtree(classes, ignore_errors=True)
        try:
            done = subprocess.run(self.command(name, flags, agent), capture_output=True,
                                  cwd=self.work, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return None
        made = done.stdout if name != "javac" else b"".join(sorted(
            os.path.join(d, f).encode() + b" %d\n" % os.path.getsize(os.path.join(d, f))
            for d, _, files in os.walk(classes) for f in files))
        return done.returncode, made

    def once(self, name, flags, focus, keep):
        """Runs once and returns the outcome: "ok...", "skipped..." or "FAILED..."."""
        key = name, tuple(flags)
        if key not in self.expected:
            self.expected[key] = self.run(name, flags, [])
        if self.expected[key] is None or self.expected[key][0] != 0:
            return "skipped: fails untraced"
        profile = os.path.join(self.work, "profile")
        shutil.rmtree(profile, ignore_errors=True)
        words = f"callflow,tree_memory=1G,out={profile}" + (
            f",focus={focus}" if focus else "") + (",keep_intrinsics" if keep else "")
        got = self.run(name, flags, [f"-agentpath:{os.path.abspath(self.args.agent)}={words}"])
        if got is None:
            return f"FAILED: did not end within {LIMIT} s"
        if got[0] != self.expected[key][0]:
            return f"FAILED: exit status {got[0]}, untraced {self.expected[key][0]}"
        if got[1] != self.expected[key][1]:
            return "FAILED: the output differs from the untraced run"
        lost = measure.figures(self.args.jprof, profile).lost
        return f"ok, but lost: {lost}" if lost else "ok"


def main():
    parser = measure.arguments(__doc__)
    parser.add_argument("--minutes", type=float, default=30, help="per JDK (30)")
    parser.add_argument("--files", type=int, default=150, help="files that javac compiles (150)")
    parser.add_argument("--only", action="append", choices=FOCUS)
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--everything", action="store_true")
    args = parser.parse_args()
    failed = runs = 0
    for jdk in measure.jdks_of(args):
        with measure.folder("soak", 4, 4, args.out) as work:
            soak = Soak(args, jdk, work)
            until = time.monotonic() + args.minutes * 60
            names = [n for n in FOCUS if n in (args.only or FOCUS) and
                     (os.path.exists(PROGRAMS[n][0]) if n in PROGRAMS else
                      n != "javac" or soak.files)]
            keeping = (True,) if args.kept or args.everything else (True, False)
            cases = [(n, flags, focus, keep) for keep in keeping for flags in FLAGS for n in names
                     for focus in (*(() if args.everything else FOCUS[n]),
                                   *(("",) if keep else ()))]
            for name, flags, focus, keep in itertools.cycle(cases):
                if time.monotonic() > until:
                    break
                started = time.monotonic()
                outcome = soak.once(name, flags, focus, keep)
                runs += 1
                failed += outcome.startswith("FAILED")
                print(f"JDK {jdk.major} {name:7} {' '.join(flags):50} {focus or 'everything':28} "
                      f"{'kept' if keep else '':5} "
                      f"{time.monotonic() - started:5.0f} s  {outcome}", flush=True)
                if outcome.startswith("FAILED"):
                    kept = tempfile.mkdtemp(prefix="jprof-soak-failed-")
                    for file in os.listdir(work):
                        if file.startswith(("hs_err", "core", "replay")):
                            shutil.copy(os.path.join(work, file), kept)
                    print(f"  its files: {kept}", flush=True)
    print(f"{runs} runs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
