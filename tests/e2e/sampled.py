"""Shared by the tests and benchmarks of callstack sampling: recordings, and queries on the tree of
samples."""
import dataclasses
import json
import os
import shutil
import subprocess
import tempfile

import child
import jvms
import reports


class Bad(Exception):
    """A result is not the expected one; the message is the result."""


def check(condition, message):
    if not condition:
        raise Bad(message)


@dataclasses.dataclass
class Lab:
    """The paths of the programs under test. `work`: a folder for profiles."""
    jprof: str
    agent: str
    classes: str
    native: str
    work: str

    def java(self, jdk, main, *arguments, jvm=()):
        return [*jdk.java(*jvm), "-cp", self.classes, main, *map(str, arguments)]

    def record(self, options, command, out="profile", mode="scs", timeout=300, status=0):
        """Runs a command under the profiler. Returns its output and the profile's folder."""
        out = os.path.join(self.work, out)
        shutil.rmtree(out, ignore_errors=True)
        done = child.run([self.jprof, mode, "--agent", self.agent, *options, "-o", out, "--",
                          *command], timeout,
                         cwd=self.work)
        check(done.returncode == status,
              f"{' '.join(command)[-300:]}: status {done.returncode}: {done.stdout[-300:]} "
              f"{done.stderr[-2000:]}")
        return done.stdout, out

    def tree(self, directory, *options):
        return Tree(
            json.loads(
                reports.run_report(self.jprof, "scs", directory, "--format", "json", *options)))


class Tree:
    """The samples of a profile. `metric`: the index of the metric to query."""

    def __init__(self, report, metric=0):
        self.report, self.metric = report, metric
        stacks = report["stacks"]
        self.taken, self.unknown = stacks["taken"], stacks["unknown"]

    def metrics(self):
        return [m["name"] for m in self.report["metrics"]]

    def period(self, metric):
        return self.report["metrics"][self.metrics().index(metric)]["period"]

    def rows(self, thread=None):
        """(path of names with types, samples) of every node; a thread's name, or None for all."""
        for each in self.report["threads"]:
            if thread is not None and each["name"] != thread:
                continue
            paths = {}
            for node in each["nodes"]:
                path = paths.get(node["parent"], ()) + ((node["type"], node["name"]),)
                paths[node["id"]] = path
                yield path, node["samples"][self.metric]

    def total(self, thread=None):
        return sum(n for _, n in self.rows(thread))

    def along(self, start, step, thread=None):
        """(value, innermost name, samples) of every node, callers first. The value is
        step(value of the caller, type, name), beginning with `start`. Paths have up to 1,500
        frames: each frame is visited once."""
        for each in self.report["threads"]:
            if thread is not None and each["name"] != thread:
                continue
            values = {}
            for node in each["nodes"]:
                value = step(values.get(node["parent"], start), node["type"], node["name"])
                values[node["id"]] = value
                yield value, node["name"], node["samples"][self.metric]

    def below(self, method, thread=None, leaf=None, types=None):
        """Samples with `.method(` on the stack. `leaf`: with this text in the innermost frame's
        name; `types`: with one of these type letters on a frame of the method."""
        def found(before, kind, name):
            here = f".{method}(" in name or name.endswith(f".{method}")
            return before or (here and (types is None or kind in types))

        return sum(n for is_in, name, n in self.along(False, found, thread) if is_in
                   and (leaf is None or leaf in name))

    def deepest(self, method, called=None, thread=None):
        """The maximum number of frames of one method on a sampled stack; `called`: only stacks that
        also have this method. An innermost compiled frame may have one surplus inlined frame
        (docs/SAMPLING.md, "The innermost frame of compiled code")."""
        def count(before, _, name):
            return before[0] + (
                f".{method}(" in name), before[1] or called is None or f".{called}(" in name

        return max(
            (depth for (depth, has), _, n in self.along((0, False), count, thread) if n and has),
            default=0)

    def unknown_percent(self):
        return 100 * self.unknown / max(1, self.taken)


# The program's own shares: "part NAME NANOSECONDS".
def parts_of(output):
    return {line.split()[1]: int(line.split()[2]) for line in output.splitlines()
            if line.startswith("part ")}


PART_MODES = {
    "default": [],
    "int": ["-Xint"],
    "c1": ["-XX:TieredStopAtLevel=1"],
    "c2": ["-XX:-TieredCompilation"],
}
# Which of the methods at 1:2:4 the compilers inline. Not add: it creates Longs, and C2 of JDK 25
# attributes code that it optimises after inlining Long.valueOf to that call.
PART_FLAGS = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,SampledParts::separate*",
              "-XX:CompileCommand=dontinline,SampledParts::add",
              "-XX:CompileCommand=inline,SampledParts::inlined*",
              "-XX:CompileCommand=CompileThresholdScaling,SampledParts::partInlined,0.001"]


def known_parts(lab, jdk, mode, seconds, rate=1000, options=()):
    """Runs SampledParts. Returns [(name, true share, share of the samples)] in percent, and the
    tree."""
    native = [f"-DSampledParts.natives={lab.native}"] if lab.native else []
    if native and jdk.major >= 22:
        native.append("--enable-native-access=ALL-UNNAMED")
    command = lab.java(jdk, "SampledParts", seconds, jvm=[*PART_MODES[mode], *PART_FLAGS, *native])
    output, directory = lab.record(["--rate", str(rate), *options], command,
                                   timeout=60 + 3 * seconds)
    tree = lab.tree(directory)
    truth = parts_of(output)
    whole = sum(ns for name, ns in truth.items() if name.startswith("part"))
    found = {name: tree.below(name, "main") for name in truth}
    samples = sum(n for name, n in found.items() if name.startswith("part"))
    check(samples > 500 * seconds * rate / 1000, f"{samples} samples in {seconds} s of CPU time")
    return [(name, 100 * truth[name] / whole, 100 * found[name] / samples) for name in truth], tree


def print_parts(title, rows, tree):
    worst = max(rows, key=lambda r: abs(r[1] - r[2]))
    print(f"{title}: {tree.taken} samples, unknown {tree.unknown_percent():.2f} %, worst "
          f"{worst[0]} {worst[2] - worst[1]:+.2f} points")
    for name, true, sampled in rows:
        print(f"    {name:<20} {true:6.2f} %  sampled {sampled:6.2f} %  {sampled - true:+6.2f}")


def arguments(parser, build):
    """Adds the options of all programs that use this module."""
    parser.add_argument("--jprof", default=os.path.join(build, "bin", "jprof"))
    parser.add_argument("--agent", default=os.path.join(build, "lib", "libjprof.so"))
    parser.add_argument("--programs", default=os.path.join(build, "tests", "e2e", "programs"),
                        help="folder of the compiled test programs")
    parser.add_argument("--native", default=os.path.join(build, "lib", "libsampled_parts.so"))
    parser.add_argument("--jdk", type=int, action="append",
                        help="only this JDK, e.g. 17; repeatable")


def lab_of(options, work):
    absolute = os.path.abspath
    return Lab(absolute(options.jprof), absolute(options.agent),
               os.path.join(absolute(options.programs), "classes"),
               absolute(options.native) if options.native and os.path.exists(options.native)
               else "", work)


def jdks_of(options, least=0):
    return jvms.needed_jdks(options.jdk or (), least)


def folder():
    return tempfile.TemporaryDirectory(prefix="jprof-scs-", ignore_cleanup_errors=True)


# The options of each storm, for jprof scs or calltree. RATE is replaced by the requested rate.
STORMS = {
    "time": ["--rate", "RATE"],
    "bytes": ["--event", "ALLOCATED_BYTES=4096", "--objects"],
    "allocations": ["--event", "ALLOCATIONS=10", "--objects"],
    "monitors": [t for e in ("MONITOR_WAIT", "MONITOR_WAITED", "MONITOR_CONTENDED_ENTER",
                             "MONITOR_CONTENDED_ENTERED")
                 for t in ("--event", e)],
    "classes": ["--event", "CLASS_LOAD", "--objects"],
    "idle": ["--event", "IDLE=1"],
    "wall": ["--event", "WALL=1"],
    "all": ["--rate", "RATE",
            "--objects"] + [t
                            for e in ("TIME", "ALLOCATED_BYTES=16384", "MONITOR_WAITED",
                                      "CLASS_LOAD",
                                                          "IDLE=1") for t in ("--event", e)],
    "calltree": ["--sample", "RATE"],
}


def storm(lab, jdk, name, seconds, flags=(), threads=40, rate=1000):
    """Runs SampledStorm under one of STORMS. Raises Bad if it crashes, hangs or prints other output
    than without the profiler. Returns the tree (for calltree, the report) and the profile's
    folder."""
    library = [f"-DSampledStorm.natives={lab.native}"] if lab.native else []
    # Up to JDK 21, an allocation fails after few retries if the heap is full while other threads
    # hold arrays in JNI.
    retries = ["-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UnlockDiagnosticVMOptions",
               "-XX:GCLockerRetryAllocationCount=1000"]
    command = lambda s: lab.java(jdk, "SampledStorm", s, threads, jvm=[
        *retries, *flags, *library,
        *(["--enable-native-access=ALL-UNNAMED"] if jdk.major >= 22 else [])])
    alone = child.run(command(0), check=True, cwd=lab.work).stdout
    mode = "calltree" if name == "calltree" else "scs"
    out = f"storm-{jdk.name}-{name}"
    try:
        output, directory = lab.record([text.replace("RATE", str(rate)) for text in STORMS[name]],
                                       command(seconds), out, mode, timeout=60 + 5 * seconds)
    except subprocess.TimeoutExpired as e:
        raise Bad(f"{jdk.name} {name}: hangs: still running {e.timeout} s after its start") from e
    finally:
        for crash in [
                f for f in os.listdir(lab.work) if f.startswith("hs_err") or f.startswith("core")]:
            print(f"    a crash: {os.path.join(lab.work, crash)}")
    check(output == alone,
          f"{jdk.name} {name}: the output differs: {output[-500:]!r} instead of {alone[-500:]!r}")
    merged = ("--threads", "merged")
    return lab.tree(directory, *merged) if mode == "scs" else reports.log_rt(
        lab.jprof, directory, *merged), directory
