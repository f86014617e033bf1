#!/usr/bin/env python3
"""Counts how often a gate is wrong: an unchanged program must pass, one more call in each request
must fail.

    bench/accuracy/gate.py [--repetitions 50] [--requests 500] [--jdk 17] [--build DIR]

The program is bench/java/GateServer.java. Each repetition records it again, and compares it with
the recording before by `calls > 0%`, `calls of each method > 0%`, `time > 3%` and `time > 0%`, the
strictest bound, of which 2.5 % of all fail by chance. Every tenth also records the program with one
more call in each request. Fails if an unchanged program failed for its calls, if times failed more
often than twice in 50 repetitions, or if a change passed.
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402

CONDITIONS = ("calls > 0%", "calls of each method > 0%", "time > 0%", "time > 3%")
EXACT = CONDITIONS[:2]


def record(args, java, work, place, audits):
    done = subprocess.run(
        [os.path.join(args.build, "bin", "jprof"), "profile", "--save", os.path.join(work, place),
         "--", java, "-cp", work, "GateServer", str(args.requests), str(audits)],
        capture_output=True, text=True, cwd=work, check=False)
    if done.returncode != 0:
        raise SystemExit(f"jprof profile ended with {done.returncode}: {done.stderr}")


def violated(args, work, base, new):
    """The verdict as JSON, and the conditions that are violated."""
    words = [word for text in CONDITIONS for word in ("--fail-if", text)]
    done = subprocess.run(
        [os.path.join(args.build, "bin", "jprof"), "compare", os.path.join(work, base),
         os.path.join(work, new), "--format", "json", *words],
        capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"jprof compare ended with {done.returncode}: {done.stderr}")
    verdict = json.loads(done.stdout)
    return verdict, {one["condition"] for one in verdict["conditions"] if one["violated"]}


def blamed(verdict):
    return [(item["name"], item["base"]["value"], item["new"]["value"])
            for one in verdict["conditions"] if one["violated"] and one["condition"] in EXACT
            for item in one["methods"]][:5]


def main():
    parser = measure.build_arguments(__doc__)
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--jdk", type=int, default=17)
    args = parser.parse_args()
    jdk = measure.jvms.needed_jdks({args.jdk})[0]
    source = os.path.join(measure.ROOT, "bench", "java", "GateServer.java")
    wrong = dict.fromkeys(CONDITIONS, 0)
    found = changes = 0
    varying = set()
    with measure.folder("gate", 1, 1, None) as work:
        subprocess.run([jdk.tool("javac"), "-d", work, source], check=True)
        record(args, jdk.tool("java"), work, "same", 0)
        for repetition in range(args.repetitions):
            shutil.rmtree(os.path.join(work, "base"), ignore_errors=True)
            os.rename(os.path.join(work, "same"), os.path.join(work, "base"))
            record(args, jdk.tool("java"), work, "same", 0)
            verdict, failed = violated(args, work, "base", "same")
            for text in failed:
                wrong[text] += 1
            varying |= {one["name"] for one in verdict["kept_out"][0]["varying_methods"]}
            print(f"repetition {repetition + 1}: {', '.join(sorted(failed)) or 'passed'}",
                  *blamed(verdict), flush=True)
            if repetition % 10 == 0:
                record(args, jdk.tool("java"), work, "more", 1)
                changes += 1
                found += set(EXACT) <= violated(args, work, "base", "more")[1]
    print(f"JDK {jdk.version}, {args.requests} requests, 3 counted and 3 sampled runs of each")
    for text in CONDITIONS:
        print(f"{text:28} {wrong[text]:3} of {args.repetitions} unchanged programs fail")
    print(f"one more call in each request: {found} of {changes} fail by both conditions of calls")
    print(f"kept out as varying, in any repetition: {', '.join(sorted(varying))}")
    return int(any(wrong[text] for text in EXACT) or found < changes or
               any(wrong[text] > 2 * args.repetitions / 50 for text in CONDITIONS))


if __name__ == "__main__":
    sys.exit(main())
