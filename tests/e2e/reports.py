"""Runs `jprof report` and checks the rules for every log-rt report."""
import collections
import json
import subprocess

import child
from expectations import Calls


class ReportFailed(Exception):
    pass


def quality(jprof, directory):
    """What `jprof info --quality` says of a profile, as one line."""
    return " ".join(child.run([jprof, "info", "--quality", directory]).stdout.split())


def run_report(jprof, kind, directory, *options):
    done = child.run([jprof, "report", kind, *options, directory])
    if done.returncode != 0:
        raise ReportFailed(
            f"report {kind} {' '.join(options)}: status {done.returncode}: "
            f"{done.stderr.strip()[:500]}")
    return done.stdout


def log_rt(jprof, directory, *options):
    return json.loads(run_report(jprof, "log-rt", directory, "--format", "json", *options))


def stream_log_gen(jprof, directory):
    """The number of events that log-gen prints, and what stands behind them. There may be tens of
    millions: each is a line, and only counted."""
    command = [jprof, "report", "log-gen", "--format", "json", directory]
    with child.running(command, stdout=subprocess.PIPE) as printed:
        next(printed.stdout)  # what stands before the events
        rows, last = 0, b""
        for line in printed.stdout:
            rows += last.startswith(b"{")
            last = line
        if printed.wait() != 0:
            raise ReportFailed(f"report log-gen {directory}: status {printed.returncode}")
    return rows, json.loads(b"{" + last.strip().lstrip(b"],"))


def calls_of(report):
    calls = Calls()
    for thread in report["threads"]:
        for node in thread["nodes"]:
            if node["level"] == 0:
                calls.nodes[node["id"]] = (None, "", 0)
            else:
                calls.add(node["id"], node["parent"], node["name"], node["calls"], thread["name"])
    return calls


def check(report, what, folded=False):
    """Checks ids, order, levels, CEE and the sums of metrics. Returns each violation once per
    thread."""
    failures = []
    seen = set()
    metrics = len(report["metrics"])
    base, raw = [0.0] * metrics, [0.0] * metrics
    for thread in report["threads"]:
        where = f"{what}: thread '{thread['name']}'"
        levels, children, cees = {}, collections.Counter(), {}
        for node in thread["nodes"]:
            if node["id"] in seen:
                failures.append(f"{where}: id {node['id']} twice")
            seen.add(node["id"])
            if node["level"] == 0:
                levels[node["id"]] = 0
            elif node["parent"] not in levels:
                failures.append(f"{where}: node {node['id']} before its parent {node['parent']}")
                continue
            else:
                levels[node["id"]] = levels[node["parent"]] + 1
                children[node["parent"]] += node["calls"]
                if node["level"] != levels[node["id"]]:
                    failures.append(f"{where}: node {node['id']} has level {node['level']}")
            cees[node["id"]] = node["cee"]
            for m in range(metrics):
                base[m] += node["base"][m]
                raw[m] += node["raw"][m] if "raw" in node else 0
        wrong = [i for i, cee in cees.items() if cee != children[i]]
        if wrong and not folded:
            failures.append(
                f"{where}: CEE of {len(wrong)} nodes is not the sum of their children's calls: "
                f"{wrong[:3]}")
    rows = sum(len(t["nodes"]) for t in report["threads"])
    for m, metric in enumerate(report["metrics"]):
        near = 0.06 * rows + 1  # each value has one decimal
        if not metric["calibrated"] and metric["removed"]:
            failures.append(
                f"{what}: {metric['name']}: {metric['removed']} removed without a table")
        if abs(base[m] + metric["removed"] - metric["raw"]) > near:
            failures.append(
                f"{what}: {metric['name']}: base {base[m]} + removed {metric['removed']} is not "
                f"raw {metric['raw']}")
        if any("raw" in n for t in report["threads"] for n in t["nodes"]) and abs(
                raw[m] - metric["raw"]) > near:
            failures.append(
                f"{what}: {metric['name']}: the rows' sum is raw {raw[m]}, the head has "
                f"{metric['raw']}")
    return failures


def check_losses(report, what, allow=()):
    return [f"{what}: losses.{k} = {v}" for k, v in report["losses"].items()
            if isinstance(v, (int, float)) and v and k not in allow]
