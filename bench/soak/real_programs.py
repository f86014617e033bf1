#!/usr/bin/env python3
"""Runs real programs under callflow: H2, Groovy and Jython from Debian's packages.

    bench/soak/real_programs.py [--rounds 1] [--jdk 17] [--mode callflow] [--program h2]

Each must end with the output and the exit status of its untraced run; CPU times are printed side by
side. Exit status 1 if one does not; 77 if none of the packages (libh2-java groovy jython) is
installed.
"""
import collections
import glob
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402
from debian_programs import PROGRAMS, command  # noqa: E402


def compare(args, jdk, name):
    """Whether the traced run equals the untraced one; None if the program does not run on this
    JDK."""
    with measure.folder("real", 2, 4, args.out) as work:
        profile = os.path.join(work, f"{name}-{jdk.major}")

        def once(kind):
            shutil.rmtree(profile, ignore_errors=True)
            agent = (f"-agentpath:{os.path.abspath(args.agent)}={args.mode},tree_memory=2G,"
                     f"out={profile}")
            # Jython caches classes: traced and untraced runs have separate caches.
            flags = [agent] if kind == "traced" else []
            return measure.run(
                command(jdk, name, work, flags + [f"-Dpython.cachedir={work}/cache-{kind}"]),
                cwd=work)

        first = once("untraced")
        if first.status != 0 or not first.stdout.strip():
            print(
                f"{name:8} JDK {jdk.major}: does not run on this JDK untraced (status "
                f"{first.status})")
            return None
        results = measure.interleaved(["untraced", "traced"], args.rounds, once)
        same = all(r.status == 0 and r.stdout == first.stdout for r in results["traced"])
        figures = measure.figures(args.jprof, profile)
        untraced, traced = (measure.median(results[k]) for k in ("untraced", "traced"))
        print(f"{name:8} JDK {jdk.major}: {'same output' if same else 'OUTPUT DIFFERS'}, CPU "
              f"{untraced:.2f} s -> "
              f"{traced:.2f} s, {figures.events} events, {figures.contexts} contexts, lost: "
              f"{figures.lost or 'nothing'}",
              flush=True)
        for file in glob.glob(os.path.join(work, "hs_err*")):
            print(open(file, encoding="utf-8", errors="replace").read(3000))
        shutil.rmtree(profile, ignore_errors=True)
        return same and not figures.lost


def main():
    parser = measure.arguments(__doc__)
    parser.set_defaults(rounds=1)
    parser.add_argument("--mode", default="callflow")
    parser.add_argument("--program", choices=PROGRAMS)
    args = parser.parse_args()
    outcome = collections.Counter()
    for jdk in measure.jdks_of(args):
        for name in PROGRAMS:
            if args.program not in (None, name):
                continue
            if not os.path.exists(PROGRAMS[name][0]):
                print(
                    f"skipped: {name}: {PROGRAMS[name][0]} is not installed; scripts/setup "
                    f"installs it")
                continue
            outcome[compare(args, jdk, name)] += 1
    if outcome[False]:
        return 1
    return 0 if outcome[True] else 77


if __name__ == "__main__":
    sys.exit(main())
