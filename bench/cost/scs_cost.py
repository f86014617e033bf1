#!/usr/bin/env python3
"""Measures the cost of callstack sampling at 1,000 stacks per second and thread, on every JDK:

  stack   microseconds in the signal handler for one stack, on a shallow program (about 10 frames)
          and on javac, with the average depth; and nanoseconds for each further frame, from stacks
          of 20, 200 and 1,000 frames. This is wall time, accumulated by the handler: on a busy
          machine it includes the time of other programs.
  whole   CPU time of complete runs of javac and, with --h2, of H2 (package libh2-java), with
          samples, compared with runs without the agent (user and system, all threads and processes,
          start and end included): the median of interleaved pairs with its 95 % interval, and the
          share in the handler. The remainder is the kernel's: the timer's interrupt, the signal,
          and the return from it.

--against AGENT measures another build of the agent in the same rounds, and --peers others in the
whole runs: scs with --timer posix, perf record with call chains (package linux-perf), and
async-profiler if --async-profiler names its library. Takes about --seconds per JDK.

Usage: scs_cost.py [--against AGENT] [--only stack|whole] [--files N] [--seconds N] [--jdk N]
                   [--h2] [--peers] [--async-profiler LIBRARY]
Exits with 1 if an interval is not below its bound.
"""
import math
import os
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import javac_program  # noqa: E402
import measure  # noqa: E402
import jvms  # noqa: E402
from measure import sampled  # noqa: E402

RATE = 1000  # the limit: a timer interrupt takes 20 to 30 us on virtual machines
BOUND = 4.0  # % of CPU, whole runs
H2 = "/usr/share/java/h2.jar"
SHALLOW, DEPTHS = 5, (20, 200, 1000)  # calls of SampledDepth below main
STEPS = 300  # amount of work, in millions of steps


class Agent:
    profile = True  # it writes a profile of jprof

    def __init__(self, name, path, more=""):
        self.name, self.path, self.more = name, path, more

    def option(self, out):
        shutil.rmtree(out, ignore_errors=True)
        return f"-agentpath:{self.path}=SCS=TIME={1_000_000_000 // RATE},OUT={out}{self.more}"

    def prefix(self, _):
        return []


class AsyncProfiler(Agent):
    profile = False

    def option(self, out):
        return (f"-agentpath:{self.path}=start,event=cpu,interval={1_000_000_000 // RATE},"
                f"file={out}.jfr")


class Perf(Agent):
    profile = False

    def option(self, _):
        return None

    def prefix(self, out):
        return [self.path, "record", "-q", "-e", "cpu-clock", "-F", str(RATE), "-g", "-o",
                out + ".data", "--"]


def javac(jdk, arguments, option=None, prefix=()):
    command = [*prefix, jdk.tool("javac"), "-J-Xmx512m", *(["-J" + option] if option else []),
               *arguments]
    done = measure.run(command)
    sampled.check(done.status == 0, f"javac: status {done.status}")
    return done.cpu


def h2(jdk, classes, option=None, prefix=()):
    command = [*prefix, jdk.tool("java"), "-Xmx512m", *([option] if option else []), "-cp",
               f"{classes}:{H2}", "H2Work", "30000"]
    done = measure.run(command)
    sampled.check(done.status == 0, f"H2Work: status {done.status}")
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


def whole(lab, jdk, agents, name, program, end):
    """Measures runs of `program`, a function (option of the JVM, words before the command) that
    returns CPU seconds. Returns a message if the interval of the first agent is not below the
    bound."""
    more, share = {agent: [] for agent in agents}, {agent: [] for agent in agents}
    program(None, ())  # reads the files into the page cache
    while True:
        began = time.monotonic()
        plain = program(None, ())
        for agent in agents:
            out = os.path.join(lab.work, "whole.jprof")
            cpu = program(agent.option(out), agent.prefix(out))
            more[agent].append(100 * (cpu / plain - 1))
            if agent.profile:
                share[agent].append(100 * stacks(lab, out)[1] / 1e9 / cpu)
        now = time.monotonic()
        if now + (now - began) > end:
            break
    missed = []
    for agent in agents:
        median, low, high = interval(more[agent])
        text = (f"{jdk.name} {agent.name:8} whole {name} {median:+6.2f} % CPU (95 %: {low:+.2f} to "
                f"{high:+.2f}; {len(more[agent])} pairs)")
        if agent.profile:
            text += f"; in the handler {statistics.median(share[agent]):.2f} %"
        print(text, flush=True)
        if agent is agents[0] and high >= BOUND:
            verdict = "missed" if low >= BOUND else "undecided: the interval contains the bound"
            missed.append(f"{jdk.name} {name}: {BOUND} % {verdict}")
    return missed


def peers(options):
    """What is measured beside the agents, in whole runs."""
    if not options.peers:
        return []
    found = [Agent("posix", os.path.abspath(options.agent), ",TIMER=posix")]
    if shutil.which("perf"):
        found.append(Perf("perf", shutil.which("perf")))
    if options.async_profiler:
        found.append(AsyncProfiler("async", os.path.abspath(options.async_profiler)))
    return found


def programs(options, jdk, work):
    """{name: function for whole()}"""
    arguments = javac_program.arguments(work, options.files)
    found = {"javac": lambda option, prefix: javac(jdk, arguments, option, prefix)}
    if options.h2:
        classes = os.path.join(work, "h2")
        subprocess.run([jdk.tool("javac"), "-d", classes,
                        os.path.join(measure.ROOT, "bench", "java", "H2Work.java")], check=True)
        found["h2"] = lambda option, prefix: h2(jdk, classes, option, prefix)
    return found


def main():
    parser = measure.sampling_arguments(__doc__)
    parser.add_argument("--against", metavar="AGENT",
                        help="another build of the agent, side by side")
    parser.add_argument("--files", type=int, default=400, help="sources that javac compiles")
    parser.add_argument("--seconds", type=int, default=220, help="per JDK")
    parser.add_argument("--only", choices=["stack", "whole"])
    parser.add_argument("--h2", action="store_true", help="whole runs of H2, too")
    parser.add_argument("--peers", action="store_true", help="other samplers in whole runs")
    parser.add_argument("--async-profiler", metavar="LIBRARY", help="libasyncProfiler.so")
    options = parser.parse_args()
    if options.h2 and not os.path.exists(H2):
        jvms.skip(f"{H2} is missing (package libh2-java)")
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
                runs = programs(options, jdk, work)
                now = time.monotonic()
                for number, (name, program) in enumerate(runs.items(), 1):
                    missed += whole(lab, jdk, agents + peers(options), name, program,
                                    now + (end - now) * number / len(runs))
    if missed:
        sys.exit("\n".join(missed))


if __name__ == "__main__":
    main()
