#!/usr/bin/env python3
"""Checks that the text of a whole tree of 10 million nodes takes less than 10 s and 2 GiB.

Usage: bench/cost/big_report.py [--bin build/release/bin] [--nodes N] [--directory DIR]

Creates the profile, prints wall time, CPU time and peak memory of each report, and exits with 1 if
the text of log-rt --all exceeds a limit. The limit is on CPU time (a report has one thread), because
wall time depends on what else runs on the machine."""
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure as common  # noqa: E402

LIMIT_SECONDS = 10
LIMIT_GIB = 2
REPORTS = [["log-rt", "--all"], ["log-rt"], ["log-rt", "--format", "json"],
           ["log-rt", "--all", "--threads", "merged"], ["methods"]]


def measure(command):
    """Wall seconds, CPU seconds and peak GiB of a command; discards its output."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)}: failed")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--nodes", default="10000000")
    parser.add_argument("--directory", help="for the profile of 640 MB (default: temporary)")
    arguments = parser.parse_args()
    binaries = pathlib.Path(arguments.bin)
    with common.folder("report", 4, 1, arguments.directory) as place:
        profile = os.path.join(place, "big.jprof")
        subprocess.run([binaries / "big_report_profile", profile, arguments.nodes], check=True)
        failed = False
        print(
            f"{'report of ' + arguments.nodes + ' nodes':34} {'wall s':>7} {'CPU s':>7} "
            f"{'peak GiB':>9}")
        for report in REPORTS:
            wall, cpu, gib = measure([str(binaries / "jprof"), "report", *report, profile])
            limited = report == REPORTS[0]
            verdict = ""
            if limited:
                good = cpu < LIMIT_SECONDS and gib < LIMIT_GIB
                failed = not good
                verdict = (f"  {'ok' if good else 'FAILED'}: limit {LIMIT_SECONDS} s, "
                           f"{LIMIT_GIB} GiB")
            print(f"{' '.join(report):34} {wall:7.1f} {cpu:7.1f} {gib:9.2f}{verdict}", flush=True)
        return failed


if __name__ == "__main__":
    sys.exit(main())
