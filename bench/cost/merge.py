#!/usr/bin/env python3
"""Merges 8, 16, 32 and 64 profiles: time, peak memory, and whether totals equal the sum.

Usage: bench/cost/merge.py [--bin build/release/bin] [--nodes N] [--directory DIR]

Creates 64 profiles of N nodes, nine tenths of which they share. Exits with 1 if a total is not the
sum of the profiles'."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure as common  # noqa: E402
from big_report import measure  # noqa: E402


def total(jprof, profile):
    """Calls and raw time of a profile."""
    info = json.loads(subprocess.run([jprof, "info", profile, "--format", "json"], check=True,
                                     stdout=subprocess.PIPE).stdout)
    report = json.loads(subprocess.run(
        [jprof, "report", "methods", profile, "--format", "json", "--uncalibrated"], check=True,
        stdout=subprocess.PIPE).stdout)
    return info["calls"], round(report["metrics"][0]["raw"]), info["contexts"], info["bytes"]


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--nodes", default="200000")
    parser.add_argument("--directory", help="for the profiles (default: temporary)")
    arguments = parser.parse_args()
    binaries = pathlib.Path(arguments.bin)
    jprof = str(binaries / "jprof")
    with common.folder("merge", 6, 1, arguments.directory) as place:
        inputs, totals = [], []
        for seed in range(2, 66):
            inputs.append(os.path.join(place, f"{seed}.jprof"))
            subprocess.run([binaries / "big_report_profile", inputs[-1], arguments.nodes,
                            str(seed)], check=True)
            totals.append(total(jprof, inputs[-1]))
        print(f"{'profiles':>8} {'wall s':>7} {'CPU s':>7} {'CPU s each':>10} {'peak MiB':>9} "
              f"{'contexts':>9} {'MiB':>6}  totals")
        failed = False
        for count in (8, 16, 32, 64):
            out = os.path.join(place, f"merged-{count}.jprof")
            wall, cpu, gib = measure([jprof, "merge", *inputs[:count], "-o", out])
            calls, time, contexts, size = total(jprof, out)
            sums = [sum(one[i] for one in totals[:count]) for i in range(2)]
            # Times are printed as rounded ns; the unit of the profile is 0.385 ns.
            good = calls == sums[0] and abs(time - sums[1]) <= count
            failed |= not good
            verdict = "equal the sum" if good else f"FAILED: {calls} {time}, sums {sums}"
            print(f"{count:8} {wall:7.1f} {cpu:7.1f} {cpu / count:10.3f} {gib * 1024:9.0f} "
                  f"{contexts:9} {size / 2**20:6.0f}  {verdict}", flush=True)
        return failed


if __name__ == "__main__":
    sys.exit(main())
