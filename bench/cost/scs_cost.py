#!/usr/bin/env python3
"""Measures the cost of callstack sampling at 1,000 stacks per second and thread, on every JDK:

  stack   microseconds in the signal handler for one stack, on a shallow program (about 10 frames)
          and on javac, with the average depth; and nanoseconds for each further frame, from stacks
          of 20, 200 and 1,000 frames. This is wall time, accumulated by the handler: on a busy
          machine it includes the time of other programs.
  whole   CPU time of complete javac runs with samples, compared with runs without the agent (user
          and system, all threads, start and end included): the median of interleaved pairs with its
          95 % interval, and the share in the handler. The remainder is the kernel's: the timer's
          interrupt, the signal, and the return from it.

--against AGENT measures another build of the agent in the same rounds. Takes about --seconds per
JDK.

Usage: scs_cost.py [--against AGENT] [--only stack|whole] [--files N] [--seconds N] [--jdk N]
Exits with 1 if an interval is not below its bound.
"""
import math
import os
import shutil
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import javac_program  # noqa: E402
import measure  # noqa: E402
from measure import sampled  # noqa: E402

RATE = 1000  # the limit: a timer interrupt takes 20 to 30 us on virtual machines
BOUND = 4.0  # % of CPU, whole runs
SHALLOW, DEPTHS = 5, (20, 200, 1000)  # calls of SampledDepth below main
STEPS = 300  # amount of work, in millions of steps


class Agent:
    def __init__(self, name, path):
        self.name, self.path = name, path

    def option(self, out):
        shutil.rmtree(out, ignore_errors=True)
        return f"-agentpath:{self.path}=SCS=TIME={1_000_000_000 // RATE},OUT={out}"


def javac(jdk, arguments, option=None):
    command = [jdk.tool("javac"), "-J-Xmx512m", *(["-J" + option] if option else []), *arguments]
    done = measure.run(command)
    sampled.check(done.status == 0, f"javac: status {done.status}")
    return done.cpu


def stacks(lab, out):
    """(stacks, nanoseconds in the handler, average depth) of a profile; deletes it."""
    tree = lab.tree(out)
    totals = tree.report["stacks"]
    rows = [(len(path), n) for path, n in tree.rows() if n]
    depth = sum(length * n for length, n in rows) / max(1, sum(n for _, n in rows))
    shutil.rmtree(out)
    return totals["taken"], totals["cost_ns"], depth


def at_depth(lab, jdk, agent, frames):
    out = os.path.join(lab.work, "depth.jprof")
    flags = ["-Xmx512m", "-Xss16m", agent.option(out)]
    done = measure.run(lab.java(jdk, "SampledDepth", frames, STEPS, jvm=flags))
    sampled.check(done.status == 0, f"SampledDepth: status {done.status}")
    taken, cost, depth = stacks(lab, out)
    return cost / taken, depth


def stack(lab, jdk, agents, arguments, end):
    found = {agent: {frames: [] for frames in (SHALLOW, *DEPTHS, "javac")} for agent in agents}
    begin = time.monotonic()
    while True:
        round_began = time.monotonic()
        for agent in agents:
            for frames in (SHALLOW, *DEPTHS):
                found[agent][frames].append(at_depth(lab, jdk, agent, frames))
            out = os.path.join(lab.work, "javac.jprof")
            javac(jdk, arguments, agent.option(out))
            taken, cost, depth = stacks(lab, out)
            found[agent]["javac"].append((cost / taken, depth))
        now = time.monotonic()
        if now + (now - round_began) > begin + (end - begin) / 2:
            break
    for agent in agents:
        cost = {key: [statistics.median(column) for column in zip(*runs)]
                for key, runs in found[agent].items()}
        for name, key in (("shallow", SHALLOW), ("javac", "javac")):
            print(f"{jdk.name} {agent.name:8} {name:8} {cost[key][0] / 1000:6.2f} us per stack, "
                  f"{cost[key][1]:.0f} frames (median of {len(found[agent][key])} runs)")
        for low, high in zip(DEPTHS, DEPTHS[1:]):
            each = (cost[high][0] - cost[low][0]) / (cost[high][1] - cost[low][1])
            print(
                f"{jdk.name} {agent.name:8} depth {low} to {high}: {each:.0f} ns per further frame")
    sys.stdout.flush()


def interval(values):
    """The median and its 95 % interval, by order statistics."""
    values = sorted(values)
    n = len(values)
    reach = 1.96 * math.sqrt(n) / 2
    low, high = max(0, math.floor(n / 2 - reach)), min(n - 1, math.ceil(n / 2 + reach))
    return statistics.median(values), values[low], values[high]


def whole(lab, jdk, agents, arguments, end):
    """Returns a message for each agent whose interval is not below the bound."""
    more, share = {agent: [] for agent in agents}, {agent: [] for agent in agents}
    javac(jdk, arguments)  # reads the files into the page cache
    while True:
        began = time.monotonic()
        plain = javac(jdk, arguments)
        for agent in agents:
            out = os.path.join(lab.work, "whole.jprof")
            cpu = javac(jdk, arguments, agent.option(out))
            more[agent].append(100 * (cpu / plain - 1))
            share[agent].append(100 * stacks(lab, out)[1] / 1e9 / cpu)
        now = time.monotonic()
        if now + (now - began) > end:
            break
    missed = []
    for agent in agents:
        median, low, high = interval(more[agent])
        print(f"{jdk.name} {agent.name:8} whole javac {median:+6.2f} % CPU (95 %: {low:+.2f} to "
              f"{high:+.2f}; {len(more[agent])} pairs); in the handler "
              f"{statistics.median(share[agent]):.2f} %", flush=True)
        if agent is agents[0] and high >= BOUND:
            verdict = "missed" if low >= BOUND else "undecided: the interval contains the bound"
            missed.append(f"{jdk.name}: {BOUND} % {verdict}")
    return missed


def main():
    parser = measure.sampling_arguments(__doc__)
    parser.add_argument("--against", metavar="AGENT",
                        help="another build of the agent, side by side")
    parser.add_argument("--files", type=int, default=400, help="sources that javac compiles")
    parser.add_argument("--seconds", type=int, default=220, help="per JDK")
    parser.add_argument("--only", choices=["stack", "whole"])
    options = parser.parse_args()
    missed = []
    for jdk in sampled.jdks_of(options):
        end = time.monotonic() + options.seconds
        with sampled.folder() as work:
            lab = sampled.lab_of(options, work)
            agents = [Agent("this", lab.agent)]
            if options.against:
                agents.append(Agent("against", os.path.abspath(options.against)))
            arguments = javac_program.arguments(work, options.files)
            if options.only != "whole":
                stack(lab, jdk, agents, arguments, end)
            if options.only != "stack":
                missed += whole(lab, jdk, agents, arguments, end)
    if missed:
        sys.exit("\n".join(missed))


if __name__ == "__main__":
    main()
