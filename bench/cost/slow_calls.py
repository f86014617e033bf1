#!/usr/bin/env python3
"""Measures what `jprof trace --slow` costs beside no profiler and beside `jprof trace --mode wrap`.

    bench/cost/slow_calls.py [--rounds 5] [--files 200] [--jdk 17] [--n 27] [--times 10] [--out DIR]

fib: a recursive Java fib, ns an event (an entry or an exit) added to the program; `--slow` watches
main, which is called once, or fib itself, each event of which then leaves the fast path. javac: CPU
time of the whole process; `--slow` watches Attr.attribClass, which is called for each class. Prints
medians of interleaved rounds, how many calls were watched and were slow, and the bytes that were
kept. Exit status 1 if `--slow` takes more than 1.1 times the CPU time of `--mode wrap` in javac.
"""
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import javac_program  # noqa: E402
import measure  # noqa: E402

MOST = 1.1
BLOCK = 32 * 1024
RING = "trace_memory=1M"
FIB = {"plain": None, "wrap": f"trace,trace_mode=wrap,{RING}",
       "slow main": f"trace,slow=Fib.main:1ms,{RING}",
       "slow fib": f"trace,slow=Fib.fib:100ms,{RING}"}
ATTR = "com.sun.tools.javac.comp.Attr.attribClass"
JAVAC = {"plain": None, "wrap": "trace,trace_mode=wrap", "slow": f"trace,slow={ATTR}:100ms"}


def kept_bytes(profile):
    """The bytes of the blocks that were kept for slow calls."""
    kept = 0
    with open(os.path.join(profile, "trace"), "rb") as f:
        while len(head := f.read(40)) == 40:
            kept += BLOCK * (struct.unpack_from("<I", head, 36)[0] == 1)
            f.seek(BLOCK - 40, os.SEEK_CUR)
    return kept


def kept_of(args, profile):
    """What `jprof info` says of the slow calls, and the bytes of their blocks."""
    text = subprocess.run([args.jprof, "info", profile], capture_output=True, text=True,
                          check=True).stdout
    said = re.search(r"^slow\s+(.*)", text, re.M)
    return f"{said[1]}; {kept_bytes(profile) / 1e6:.1f} MB kept" if said else ""


def with_agent(args, options, profile):
    return [f"-agentpath:{os.path.abspath(args.agent)}={options},out={profile}"] if options else []


def measure_fib(args, jdk, work):
    subprocess.run([jdk.tool("javac"), "-d", work,
                    os.path.join(measure.ROOT, "bench", "java", "Fib.java")], check=True)
    profile, kept = os.path.join(work, "fib.jprof"), {}

    def once(name):
        shutil.rmtree(profile, ignore_errors=True)
        flags = with_agent(args, FIB[name], profile) or ["-XX:-Inline"]
        done = measure.run([jdk.tool("java"), *flags, "-cp", work, "Fib", str(args.n),
                            str(args.times)])
        if done.status != 0:
            raise SystemExit(f"fib {name}: status {done.status}")
        if FIB[name]:
            kept[name] = kept_of(args, profile)
        calls, nanos, _ = map(int, done.stdout.split())
        return nanos / (2 * calls)

    results = measure.interleaved(FIB, args.rounds, once)
    plain = measure.median(results["plain"], lambda ns: ns)
    print(f"JDK {jdk.version}: fib({args.n}), {args.rounds} rounds")
    for name in FIB:
        ns = measure.median(results[name], lambda ns: ns)
        print(f"  {name:10} {ns:7.2f} ns an event, {ns - plain:7.2f} added  {kept.get(name, '')}",
              flush=True)


def measure_javac(args, jdk, work, files):
    words = os.path.join(work, "words")
    with open(words, "w", encoding="utf-8") as out:
        out.write("\n".join(files))
    profile, kept = os.path.join(work, "javac.jprof"), {}

    def once(name):
        for made in (profile, os.path.join(work, "classes")):
            shutil.rmtree(made, ignore_errors=True)
        flags = ["-J" + flag for flag in with_agent(args, JAVAC[name], profile)]
        done = measure.run([jdk.tool("javac"), *flags, "-proc:none", "-nowarn",
                            "-XDignore.symbol.file", "-implicit:none", "--patch-module",
                            f"java.xml={os.path.join(work, 'java.xml')}", "-d",
                            os.path.join(work, "classes"), "@" + words])
        if done.status != 0:
            raise SystemExit(f"javac {name}: status {done.status}")
        if JAVAC[name]:
            kept[name] = kept_of(args, profile)
        return done

    results = measure.interleaved(JAVAC, args.rounds, once)
    print(f"JDK {jdk.version}: javac on {len(files)} files, {args.rounds} rounds")
    cpu = {name: measure.median(results[name]) for name in JAVAC}
    for name in JAVAC:
        print(f"  {name:10} {cpu[name]:7.2f} s CPU, {cpu[name] / cpu['plain']:5.2f} times plain  "
              f"{kept.get(name, '')}", flush=True)
    return cpu["slow"] / cpu["wrap"]


def main():
    parser = measure.arguments(__doc__)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--n", type=int, default=27)
    parser.add_argument("--times", type=int, default=10)
    args = parser.parse_args()
    worst = 0
    for jdk, work, files in javac_program.unpacked(args, "slow-calls", 4, 4):
        measure_fib(args, jdk, work)
        ratio = measure_javac(args, jdk, work, files)
        print(f"  javac: --slow takes {ratio:.3f} times the CPU time of --mode wrap")
        worst = max(worst, ratio)
    return 1 if worst > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
