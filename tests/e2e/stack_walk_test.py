#!/usr/bin/env python3
"""Tests the stack walker in running JVMs, on every JDK found, with stacks of known shapes and with
AsyncGetCallTrace and JVMTI as oracles.

    stack_walk_test.py --oracle LIB --programs DIR [--jdk N] [--millis N] [--rate N] [--verbose]

Prints one line per JDK, mode and program: how many walks ended unknown or truncated, how many agree
with the oracles, and the median time of a walk by depth (under the load of the test itself).
"""
import argparse
import collections
import os
import re
import sys
import tempfile

import child
import jvms

# Modes of the JVM: flags.
MODES = {
    "tiered": [],
    "int": ["-Xint"],
    "c1": ["-XX:TieredStopAtLevel=1"],
    "c2": ["-XX:-TieredCompilation"],
    "z": ["-XX:+UseZGC"],
}

# StaleCaller: every call goes through an adapter that calls the VM.
STALE = ["-Xbatch", "-XX:-UseOnStackReplacement", "-XX:-Inline"]

# Method of the program (a pattern) -> the program's methods that may call it; classes between them
# are the JDK's.
MAY_BE_CALLED_FROM = {
    r"main|<clinit>|lambda\$main\$\d+": "",
    r"(Odd|Even|S\d)\.<init>": r"<clinit>|Even\.<init>",
    r"Shape\.<init>": r"S\d\.<init>",
    "all": r"main|lambda\$main\$\d+",
    "during": "all",
    "deep|megamorphic|strings|lambdas|natives|exceptions|loop|allocation": "during",
    "even": r"deep|Odd\.up",
    r"(Odd|Even)\.go": "even",
    r"Odd\.up": r"(Odd|Even)\.go",
    "bottom": r"even|Odd\.up|(Odd|Even)\.go",
    "callInterface|callVirtual": "megamorphic",
    r"S\d\.area": "callInterface",
    r"S\d\.grow": "callVirtual",
    r"lambda\$lambdas\$\d+": "lambdas",
    "step": r"lambdas|lambda\$lambdas\$\d+|back",
    "odd": r"lambda\$lambdas\$\d+",
    "nativeLoop": "natives",
    "back": "nativeLoop",
    "thrower": "exceptions|thrower",
    "running": r"lambda\$main\$\d+",
    "parking": "running|parking",
    "work": "running|parking",
}
BOTTOMS = r"main|<clinit>|lambda\$main\$\d+"

MOST_UNKNOWN = 0.02        # of the samples of one run; the limit over all runs is much lower:
MOST_UNKNOWN_OVERALL = 0.005
MOST_WRONG = 0.001         # stacks that the program cannot have; each is printed
# with AsyncGetCallTrace if both have frames; it is sometimes wrong itself
LEAST_AGREEMENT = 0.85
LEAST_SAMPLES = 30         # in one run of a program that runs for a given time; 1 for any other
# Runs of a program until one has enough samples: of one that ends soon, of one that runs for a given
# time, which is doubled.
MOST_RUNS = 20
MOST_LONGER_RUNS = 6


class Findings:
    """The oracle's output file."""

    def __init__(self, path):
        self.maps = collections.defaultdict(dict)
        self.examples = {}
        self.differences = []
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                fields = line.rstrip("\n").split("\t")
                if fields[0] == "example" and len(fields) == 3:
                    self.examples[fields[1]] = fields[2]
                elif len(fields) == 3 and fields[1].lstrip("-").isdigit():
                    self.maps[fields[0]][fields[2]] = int(fields[1])
                else:
                    self.differences.append(line.rstrip("\n"))

    def __getitem__(self, name):
        return self.maps["number"][name]

    def share(self, *names, of):
        return sum(self[name] for name in names) / max(1, self[of])

    def exceeds(self, count, share, of):
        """Whether the count is above this share. A program that ends soon on a busy machine has a
        few samples only, of which two say nothing about a share."""
        return count > share * self[of] + 2


def own(name):
    """StackShapes$Odd.go -> Odd.go, StackShapes.deep -> deep."""
    return re.sub(r"^StackShapes(Virtual)?[$.]", "", name)


def allowed(caller, callee):
    for pattern, callers in MAY_BE_CALLED_FROM.items():
        if re.fullmatch(pattern, own(callee)):
            return re.fullmatch(callers, own(caller)) is not None
    return False


def wrong_shapes(findings):
    for edge, count in findings.maps["edge"].items():
        if not allowed(*edge.split(" ")):
            yield count, (f"{count} stacks say: {edge.replace(' ', ' calls ')}: "
                          f"{findings.examples.get(edge)}")
    for bottom, count in findings.maps["bottom"].items():
        if not re.fullmatch(BOTTOMS, own(bottom)):
            yield count, f"{count} stacks begin with {bottom}"


def complaints(findings, wrong_before):
    """What is wrong in a run. `wrong_before`: the wrong stacks of earlier runs of the program."""
    if findings.exceeds(findings["unknown"], MOST_UNKNOWN, of="samples"):
        yield f"{findings['unknown']} of {findings['samples']} walks ended unknown"
    if findings["truncated"] > 0:
        yield f"{findings['truncated']} walks were truncated"
    if findings["equal_stacks"] != findings["stacks"]:
        differing = findings['stacks'] - findings['equal_stacks']
        yield f"{differing} of {findings['stacks']} stacks differ from JVMTI's"
    if findings["unlike_plain"] > 0:
        yield f"{findings['unlike_plain']} walks differ from a walk without a cache"
    unlike = findings["both"] - findings["same"] - findings["same_but_top"]
    if findings.exceeds(unlike, 1 - LEAST_AGREEMENT, of="both"):
        share = findings.share('same', 'same_but_top', of='both')
        yield f"only {share:.1%} agree with AsyncGetCallTrace"
    if findings.exceeds(findings["only_theirs"], 0.02, of="java"):
        yield f"{findings['only_theirs']} walks have no Java frames where AsyncGetCallTrace has"
    wrong = list(wrong_shapes(findings))
    count = wrong_before + sum(count for count, _ in wrong)
    if findings.exceeds(count, MOST_WRONG, of="samples"):
        yield from (text for _, text in wrong)


def describe(findings):
    def micros(name):
        return f"{findings[name] / 1000:.1f}" if findings[name] >= 0 else "-"

    return (
        f"{findings['samples']:6d} {findings.share('unknown', of='samples'):8.2%} "
        f"{findings['truncated']:5d} "
        f"{findings.share('same', 'same_but_top', of='both'):7.1%} "
        f"{findings.share('same', of='both'):7.1%} "
        f"{findings.share('only_ours', of='java'):7.1%} "
        f"{findings.share('in_heap', of='virtual'):6.1%} "
        f"{findings['equal_stacks']:6d}/{findings['stacks']:<6d} "
        f"{findings.share('kept', of='frames'):6.1%} "
        f"{micros('ns_at_20'):>6} {micros('ns_at_200'):>6} {micros('ns_at_400'):>6}"
    )


HEADER = (
    f"{'':31} samples unknown trunc  agrees   exact ours only heap  equals JVMTI    kept  us at 20 "
    f"   200    400 frames"
)


def run(args, jdk, flags, program, arguments):
    """(findings, None) of one run, or (None, what went wrong)."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "findings")
        command = [
            *jdk.java(), f"-agentpath:{args.oracle}={out},{args.rate}",
            f"-Dwalk.oracle={args.oracle}",
            *flags, "-cp", os.path.join(args.programs, "classes"), program, *arguments,
        ]
        done = child.run(command, 120, cwd=folder)
        if done.returncode != 0:
            output = f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
            return None, f"exit status {done.returncode}\n{output}"
        return Findings(out), None


def runs(args, jdk, flags, program, millis):
    """Yields what run() returns until a run has enough samples, or one fails. On a busy machine the
    sampling thread may not run before a short program has ended: such a program runs again, and one
    that runs for a given time runs twice as long."""
    short = millis is None
    most = MOST_RUNS if short else MOST_LONGER_RUNS
    for _ in range(most):
        findings, error = run(args, jdk, flags, program, [] if short else [str(millis)])
        enough = findings and findings["samples"] >= (1 if short else LEAST_SAMPLES)
        yield findings, error
        if error or enough:
            return
        millis = None if short else 2 * millis
    yield None, f"{most} runs had too few samples"


def plan(args):
    for jdk in jvms.needed_jdks([args.jdk] if args.jdk else ()):
        for mode, flags in MODES.items():
            yield jdk, mode, flags, "StackShapes", args.millis
        if jdk.major >= 21:
            for mode in ("tiered", "c1"):
                yield jdk, mode, MODES[mode], "StackShapesVirtual", args.millis
        for program in ("Recursion", "Handles", "Rethrow", "Deopt"):
            yield jdk, "tiered", [], program, None
        yield jdk, "stale", STALE, "StaleCaller", 400


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--jdk", type=int)
    parser.add_argument("--millis", type=int, default=120, help="how long each shape runs")
    parser.add_argument("--rate", type=int, default=2000, help="signals a second")
    parser.add_argument("--verbose", action="store_true", help="where walks were lost and differ")
    args = parser.parse_args()
    args.oracle, args.programs = os.path.abspath(args.oracle), os.path.abspath(args.programs)
    failed, samples, unknown = 0, 0, 0
    print(HEADER)
    for jdk, mode, flags, program, millis in plan(args):
        wrong = 0
        for findings, error in runs(args, jdk, flags, program, millis):
            found = list(complaints(findings, wrong)) if findings else [error]
            print(f"{jdk.name} {mode:6} {program:18} "
                  + (describe(findings) if findings else "failed"), flush=True)
            if findings:
                samples += findings["samples"]
                unknown += findings["unknown"]
            shapes = list(wrong_shapes(findings)) if findings else []
            wrong += sum(count for count, _ in shapes)
            shapes = [text for _, text in shapes]
            for text in found + [text for text in shapes if text not in found]:
                print("    " + text)
            if findings and (found or args.verbose):
                for place, count in findings.maps["lost"].items():
                    print(f"    lost {count}: depth {place}")
                print("\n".join("    " + line for line in findings.differences))
            failed += bool(found)
    print(f"{unknown} of {samples} walks ended unknown: {unknown / max(1, samples):.2%}")
    if unknown > MOST_UNKNOWN_OVERALL * samples:
        print("too many")
        failed += 1
    sys.exit(1 if failed else 0)


main()
