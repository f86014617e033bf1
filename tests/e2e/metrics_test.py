#!/usr/bin/env python3
"""Tests jprof metrics: its output agrees with what can be opened, and it gives a reason for
whatever is missing.

Usage: metrics_test.py JPROF
"""
import json
import sys

import child

JPROF = sys.argv[1]


def jprof(*arguments):
    return child.run([JPROF, "metrics", *arguments])


def main():
    text = jprof()
    assert text.returncode == 0 and not text.stderr, text
    found = json.loads(jprof("--format", "json").stdout)
    names = [metric["name"] for metric in found["metrics"]]
    assert names == ["time", "dispatches", "hardware", "user-read", "software", "papi"], names
    for metric in found["metrics"]:
        assert f"  {metric['name']} " in text.stdout, metric
        assert metric["available"] or metric["lack"], metric
    has = {metric["name"]: metric["available"] for metric in found["metrics"]}

    faults = json.loads(jprof("--format", "json", "--events", "page-fault").stdout)
    assert has["software"] == ("perf::PAGE-FAULTS" in faults["events"]), faults
    presets = json.loads(jprof("--format", "json", "--events", "PAPI_*").stdout)
    assert presets["known"] > 10 and has["papi"] == bool(presets["events"]), presets
    lines = jprof("--events", "perf::").stdout.splitlines()
    assert all(line.startswith("perf::") for line in lines), lines

    nothing = jprof("--events", "no-such-event")
    assert nothing.returncode == 2 and "no-such-event" in nothing.stderr and nothing.stderr.count(
        "\n") == 1, nothing
    wrong = jprof("--format", "xml")
    assert wrong.returncode == 2 and "json" in wrong.stderr, wrong


if __name__ == "__main__":
    main()
