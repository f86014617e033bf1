#!/usr/bin/env python3
"""Measures what `jprof timeline` costs beside counting alone, in a program whose threads hand work
to each other all the time, or in H2 (package libh2-java): CPU time of everything that the command
runs, and elapsed time.

    bench/cost/timeline.py [--rounds 5] [--handoffs 30000 | --h2 20000] [--jdk 17] [--out /dev/shm]

Prints the medians of interleaved runs, their ratios, and the dispatches per second. Needs the right
to load programs into the kernel.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402

JAVA = os.path.join(measure.ROOT, "bench", "java")
H2 = "/usr/share/java/h2.jar"
CONFIGURATIONS = {
    "plain": [],
    "counted": ["calltree", "--counter", "woven"],
    "counted, JVM events": ["calltree", "--counter", "woven", "--jvm-events"],
    "timeline": ["timeline", "--counter", "woven"],
}


def dispatches_per_second(jprof, profile):
    found = json.loads(subprocess.run([jprof, "report", "timeline", "--format", "json", profile],
                                      capture_output=True, text=True, check=True).stdout)
    return sum(t["dispatches"] for t in found["threads"]) / (found["duration_ns"] / 1e9)


def main():
    parser = measure.arguments(__doc__)
    parser.set_defaults(rounds=5)
    parser.add_argument("--handoffs", type=int, default=30000)
    parser.add_argument("--h2", type=int, help="orders of H2, in place of handoffs")
    args = parser.parse_args()
    for jdk in measure.jdks_of(args):
        with measure.folder("timeline", 2, 4, args.out) as work:
            name, words = ("H2Work", [args.h2]) if args.h2 else ("Handoffs", [2, args.handoffs])
            subprocess.run([jdk.tool("javac"), "-cp", H2, "-d", work, f"{JAVA}/{name}.java"],
                           check=True)
            program = [*jdk.java(), "-cp", f"{work}:{H2}", name, *map(str, words)]
            runs = {name: [] for name in CONFIGURATIONS}
            for _ in range(args.rounds):
                for name, options in CONFIGURATIONS.items():
                    out = os.path.join(work, name.replace(", ", "-").replace(" ", "-") + ".jprof")
                    command = program if not options else [
                        args.jprof, *options, "--force", "-o", out, "--", *program]
                    done = measure.run(command)
                    if done.status:
                        sys.exit(f"{command}: {done.status}")
                    runs[name].append(done)
            rate = dispatches_per_second(args.jprof, os.path.join(work, "timeline.jprof"))
            print(f"JDK {jdk.version}: {rate:.0f} dispatches a second")
            elapsed = lambda name: measure.median(runs[name], lambda run: run.wall)
            for name, done in runs.items():
                ratio = measure.median(done) / measure.median(runs["counted"])
                print(f"  {name}: CPU {measure.median(done):.2f} s +-{measure.spread(done):.0%}, "
                      f"{ratio:.3f} of counting alone; elapsed {elapsed(name):.2f} s, "
                      f"{elapsed(name) / elapsed('counted'):.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
