#!/usr/bin/env python3
"""What an event of a program costs (docs/EVENTS.md), side by side in one run: generated stubs of C,
C++, Fortran and Java, and a tracepoint of lttng-ust with the same fields.

    bench/cost/events.py [--runs 3]

  off          the event is off
  statistics   counted and summed up
  log          written to a ring of mapped packets (mode wrap)
  clock        one read of the time stamp counter; `log` contains one
  nanotime     System.nanoTime, which `log` of Java contains
  lttng        the tracepoint of lttng-ust, logged to its ring (a snapshot session)

ns of CPU time per call (of elapsed time for Java), without the loop around it: medians of 41
interleaved rounds of 200,000 calls, of which the median run is shown. Requires a built jprof,
libjprof-events and jprof-events.jar; Fortran and lttng are left out without gfortran, or
liblttng-ust-dev and lttng-tools.
"""
import argparse
import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
JPROF = os.path.join(measure.BUILD, "bin", "jprof")
JAR = os.path.join(measure.BUILD, "share", "jprof", "jprof-events.jar")
LIBRARIES = os.path.join(measure.BUILD, "lib")
RUNTIME = os.path.join(measure.ROOT, "events", "runtime")
BUDGETS = (("off", 0.3, "ns"), ("statistics", 1, "ns"), ("log", 1.3, "clock reads"),
           ("log of Java", 2, "System.nanoTime"))


def run(command, **more):
    done = subprocess.run(command, text=True, capture_output=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


class Lttng:
    """A session daemon of our own, with a session that records into its ring only."""

    def __init__(self, folder):
        self.environment = {**os.environ, "LTTNG_HOME": folder,
                            "LTTNG_UST_REGISTER_TIMEOUT": "5000"}
        self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], env=self.environment,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2)
        for words in (["create", "cost", "--snapshot", "--output", os.path.join(folder, "lttng")],
                      ["enable-event", "--userspace", "bench:*"], ["start"]):
            run(["lttng", *words], env=self.environment)

    def close(self):
        subprocess.run(["lttng", "destroy", "--all"], env=self.environment, capture_output=True)
        self.daemon.terminate()
        self.daemon.wait()


def has_lttng():
    header = any(os.path.exists(os.path.join(place, "lttng", "tracepoint.h"))
                 for place in glob.glob("/usr/include*") + glob.glob("/usr/include/*-linux-gnu*"))
    return header and bool(shutil.which("lttng-sessiond")) and bool(shutil.which("lttng"))


def build(folder, with_lttng):
    """Returns language -> command."""
    for language in ("c++", "fortran", "java"):
        run([JPROF, "events", "generate", os.path.join(HERE, "events.xml"), "--language", language,
             "--out", folder])
    options = ["-O2", "-I", RUNTIME, "-I", folder, "-I", HERE]
    library = ["-L", LIBRARIES, "-ljprof-events", "-Wl,-rpath," + LIBRARIES]
    stubs, source = os.path.join(folder, "stubs.o"), os.path.join(HERE, "events.c")
    run(["gcc", *options, "-c", os.path.join(folder, "bench_events.c"), "-o", stubs])
    programs = {"C": os.path.join(folder, "c"), "C++": os.path.join(folder, "cpp")}
    lttng = []
    if with_lttng:
        probes = os.path.join(folder, "probes.c")
        with open(probes, "w", encoding="utf-8") as file:
            file.write("#define LTTNG_UST_TRACEPOINT_CREATE_PROBES\n"
                       "#define LTTNG_UST_TRACEPOINT_DEFINE\n#include \"lttng_events.h\"\n")
        lttng = ["-DWITH_LTTNG", probes, "-llttng-ust", "-ldl"]
    run(["gcc", *options, source, stubs, *lttng, *library, "-o", programs["C"]])
    run(["g++", *options, "-x", "c++", source, "-x", "none", stubs, *library, "-o",
         programs["C++"]])
    if shutil.which("gfortran"):
        programs["Fortran"] = os.path.join(folder, "fortran")
        run(["gfortran", "-O2", "-J", folder, os.path.join(folder, "bench_events.f90"),
             os.path.join(HERE, "events.f90"), stubs, *library, "-o", programs["Fortran"]])
    run(["javac", "-cp", JAR, "-d", folder, os.path.join(folder, "BenchEvents.java"),
         os.path.join(measure.ROOT, "bench", "java", "EventLoops.java")])
    commands = {name: [program] for name, program in programs.items()}
    return {**commands, "Java": ["java", "-cp", f"{JAR}:{folder}", "EventLoops"]}


def measured(command, folder, environment):
    trace = os.path.join(folder, "trace")
    lines = run([*command, trace], env=environment).splitlines()
    shutil.rmtree(trace)
    return {name: float(ns) for name, ns in map(str.split, lines)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jprof-events-") as folder:
        lttng = Lttng(folder) if has_lttng() else None
        try:
            commands = build(folder, lttng is not None)
            environment = lttng.environment if lttng else None
            runs = {name: [] for name in commands}
            for _ in range(arguments.runs):
                for name, command in commands.items():
                    runs[name].append(measured(command, folder, environment))
        finally:
            if lttng:
                lttng.close()
    medians = {name: {what: statistics.median(one[what] for one in of_language)
                      for what in of_language[0]} for name, of_language in runs.items()}
    loop, clock = medians["C"]["loop"], medians["C"]["clock"] - medians["C"]["loop"]
    print("| ns per event | off | statistics | log | log / clock read |\n|---|---:|---:|---:|---:|")
    for name, row in medians.items():
        log = row["log"] - loop
        own_clock = row.get("nanotime", clock + loop) - loop
        print(f"| {name} | {row['off'] - loop:.2f} | {row['statistics'] - loop:.2f} | {log:.1f} | "
              f"{log / own_clock:.2f} |")
    if "lttng" in medians["C"]:
        cost = medians["C"]["lttng"] - loop
        print(f"| lttng-ust | | | {cost:.1f} | {cost / clock:.2f} |")
    print(f"\nA clock read is {clock:.1f} ns, System.nanoTime "
          f"{medians['Java']['nanotime'] - loop:.1f} ns, the loop {loop:.2f} ns. Budgets: "
          + ", ".join(f"{what} {most} {unit}" for what, most, unit in BUDGETS))


main()
