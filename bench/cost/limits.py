#!/usr/bin/env python3
"""What events cost that are not recorded (docs/TRIGGERS.md): ns of CPU time per call, which is an
entry and an exit, when compiled, outside and inside of the methods of --within, and while the
recording is paused, against no agent and a whole recording.

    bench/cost/limits.py
    bench/cost/limits.py --turns 200000 --rounds 5 --json figures.json

  outside   a call that is not inside of any of these methods
  inside    a call inside of one
  gate      a call of such a method itself, from outside

Each JVM runs alone; figures are the least of the rounds, and include the call itself. Profiles are
removed.

Exit status 1 if a run fails.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402
import jvms  # noqa: E402

WITHIN = ("--within", "GateLoops.inside,GateLoops.gate")


def figures(command, turns, rounds):
    done = subprocess.run([*command, str(turns), str(rounds)], capture_output=True, text=True,
                          check=True, timeout=600)
    rows = (line.split("\t") for line in done.stdout.splitlines() if "\t" in line)
    return {name: float(ns) for name, ns in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(measure.ROOT, "build", "release"))
    parser.add_argument("--turns", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", help="write the figures here, too")
    options = parser.parse_args()
    jprof = os.path.join(options.build, "bin", "jprof")
    found = {}
    with tempfile.TemporaryDirectory(prefix="jprof-limits-") as folder:
        jdks = jvms.needed_jdks()
        subprocess.run([jdks[0].tool("javac"), "--release", "17", "-d", folder,
                        os.path.join(measure.ROOT, "bench", "java", "GateLoops.java")], check=True)
        for jdk in jdks:
            program = [*jdk.java("-XX:+UseSerialGC"), "-cp", folder, "GateLoops"]
            found[f"{jdk.name}, no agent"] = figures(program, options.turns, options.rounds)
            for mode in ("callflow", "calltree", "trace"):
                own = {"calltree": ("--counter", "probe"), "trace": ("--mode", "wrap")}
                for limit, how in (("", ()), (" --within", WITHIN), (" --nostart", ("--nostart",))):
                    if mode == "trace" and not limit:
                        continue
                    out = os.path.join(folder, "p.jprof")
                    command = [jprof, mode, *own.get(mode, ()), *how, "-o", out, "--", *program]
                    try:
                        found[f"{jdk.name}, {mode}{limit}"] = figures(command, options.turns,
                                                                      options.rounds)
                    except subprocess.CalledProcessError as failed:
                        if failed.returncode != 2 or "--nostart" not in command:
                            raise
                        rows = (line.split("\t") for line in failed.stdout.splitlines()
                                if "\t" in line)
                        found[f"{jdk.name}, {mode}{limit}"] = {n: float(ns) for n, ns in rows}
                    subprocess.run(["rm", "-rf", out], check=True)
    print(f"{'ns per call':32}" + "".join(f"{row:>10}" for row in ("outside", "inside", "gate")))
    for name, loops in found.items():
        print(f"{name:32}" + "".join(f"{ns:10.1f}" for ns in loops.values()))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
