#!/usr/bin/env python3
"""Measures what recording costs per call of a C or C++ function (entry and exit together), side by
side with uftrace, gprof, callgrind and LTTng's cyg-profile, and prints one table.

  fib      a recursive C function whose number of calls is known
  jsoncpp  a C++ library that parses, copies and writes a document (source package of Debian)

The figure is the CPU time of the program's thread around its work, by its own clock, less that of
the build without instrumentation by the same compiler, divided by the number of calls that the
build reports. So gcc's -finstrument-functions build is charged for its lost optimisations as well;
the column "hooks off" is that part: the instrumented program without a profiler. What helper
processes of a peer use (uftrace's writer) is not in the figure.

Calls of fib are exact; those of jsoncpp are what callgrind counts as calls of the hooks (-pg,
-finstrument-functions), or jprof's number (sleds).

Usage: hooks.py [--build DIR] [--rounds N] [--peers NAME,...] [--programs fib,jsoncpp] [--json FILE]
Peers that are not installed are skipped, with a message: uftrace, valgrind, gprof (binutils) and
lttng (lttng-tools, liblttng-ust1). For lttng the script starts a session daemon of its own and ends
it. Exit status: 0; 1 if jprof misses a goal (counts 8 ns, time 25 ns, a third of uftrace).
"""
import dataclasses
import glob
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import callgrind_file  # noqa: E402
import hook_programs  # noqa: E402
import measure  # noqa: E402

FIB = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define PLAIN __attribute__((no_instrument_function))
__attribute__((noinline)) long fib(long n) {
  if (n < 2) return n;
  long a = fib(n - 1);
  long b = fib(n - 2);
  __asm__ volatile("" : "+r"(a), "+r"(b));
  return a + b;
}
PLAIN static long Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}
int main(int count, char** words) {
  const long n = count > 1 ? atol(words[1]) : 20;
  fib(10);
  const long begin = Now();
  const long result = fib(n);
  fprintf(stderr, "ns %ld\\n", Now() - begin);
  printf("%ld\\n", result);
}
"""
JSON_CLOCK = """
#include <time.h>
#include <cstdio>
__attribute__((no_instrument_function)) static long Now() {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}
"""
FLAGS = {"plain": [], "cyg": ["-finstrument-functions"], "pg": ["-pg"],
         "sleds": ["-fxray-instrument", "-fxray-instruction-threshold=1"]}
COUNTS_GOAL, TIME_GOAL, UFTRACE_GOAL = 8.0, 25.0, 3.0    # ns, ns, times less than uftrace


@dataclasses.dataclass
class Row:
    name: str            # what the table calls it
    build: str           # a key of FLAGS
    wrap: object         # makes the command of a command
    small: bool = False  # costs or writes so much that it gets less work
    environment: dict = dataclasses.field(default_factory=dict)


def calls_of_fib(n):
    a, b = 1, 1
    for _ in range(n - 1):
        a, b = b, a + b + 1
    return b


def timed_json(text):
    """jsoncpp's driver with a clock around its rounds."""
    text = text.replace("#include <json/json.h>", "#include <json/json.h>\n" + JSON_CLOCK)
    text = text.replace("  unsigned long sum = 0;\n  for (int round",
                        "  const long begin = Now();\n  unsigned long sum = 0;\n  for (int round")
    return text.replace('  std::cout << sum', '  std::fprintf(stderr, "ns %ld\\n", Now() - begin);'
                        '\n  std::cout << sum')


class Fib:
    name, language, large, small = "fib", "c", 34, 27

    def __init__(self, work):
        self.work = work

    def build(self, kind, compiler):
        path = os.path.join(self.work, f"fib-{kind}-{compiler}", "fib")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        source = path + ".c"
        hook_programs.write(source, FIB)
        subprocess.run([compiler, "-O2", *FLAGS[kind], "-c", source, "-o", path + ".o"],
                       check=True)
        subprocess.run([compiler, *link_flags(kind), path + ".o", "-o", path], check=True)
        return path

    def command(self, path, small):
        return [path, str(self.small if small else self.large)]

    def calls(self, path, kind, small, bench):
        return calls_of_fib(self.small if small else self.large)


class Jsoncpp:
    name, language, large, small = "jsoncpp", "c++", 60, 4

    def __init__(self, work):
        self.work, self.counted = work, {}
        given = next(p for p in hook_programs.programs(0.3) if p.name == "jsoncpp")
        self.program = dataclasses.replace(given, driver=timed_json(given.driver))

    def build(self, kind, compiler):
        return hook_programs.build(self.program, self.work, compiler, FLAGS[kind]).path

    def command(self, path, small):
        return [path, os.path.join(os.path.dirname(path), "input"),
                str(self.small if small else self.large)]

    def calls(self, path, kind, small, bench):
        if kind not in self.counted:
            few = [bench.count(kind, [*self.command(path, small)[:-1], rounds])
                   for rounds in ("2", "4")]
            self.counted[kind] = few[0] - (few[1] - few[0]), (few[1] - few[0]) // 2
        begin, each = self.counted[kind]    # all rounds but odd ones do the same
        return begin + each * (self.small if small else self.large)


def link_flags(kind):
    return [] if kind == "sleds" else FLAGS[kind]


class Lttng:
    """A session daemon and a session of this script's own, ended afterwards."""

    def __init__(self, work):
        self.daemon, self.work = None, work
        self.hooks_path = next(iter(glob.glob("/usr/lib/*/liblttng-ust-cyg-profile.so*")), "")
        self.environment = {**os.environ, "LTTNG_HOME": work}

    def missing(self):
        if not shutil.which("lttng-sessiond") or not self.hooks_path:
            return "lttng is not installed (lttng-tools, liblttng-ust1)"
        if subprocess.run(["pgrep", "-x", "lttng-sessiond"], capture_output=True,
                          check=False).returncode == 0:
            return "an lttng-sessiond runs already; this script uses only one of its own"
        return ""

    def lttng(self, *words):
        subprocess.run(["lttng", "--no-sessiond", *words], env=self.environment, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self):
        self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], env=self.environment,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       start_new_session=True)
        time.sleep(2)
        self.lttng("create", "hooks", "--output", os.path.join(self.work, "lttng"))
        self.lttng("enable-channel", "-u", "--subbuf-size=4M", "--num-subbuf=8", "calls")
        self.lttng("enable-event", "-u", "-c", "calls", "lttng_ust_cyg_profile*")
        self.lttng("start")

    def end(self):
        if self.daemon is None:
            return
        try:
            self.lttng("stop", "--no-wait")
            self.lttng("destroy", "--no-wait", "hooks")
        except subprocess.CalledProcessError:
            pass    # the daemon is ended anyway
        self.daemon.send_signal(signal.SIGTERM)
        try:
            self.daemon.wait(10)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()


class Bench:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.jprof = os.path.join(options.build, "bin", "jprof")
        self.gcc, self.clang = "gcc", next(
            (c for c in ("clang-19", "clang-14", "clang") if shutil.which(c)), "")
        self.lttng = Lttng(work)

    def out(self, name):
        path = os.path.join(self.work, name)
        shutil.rmtree(path, ignore_errors=True)
        return path

    def with_jprof(self, mode):
        return lambda command: [self.jprof, mode, "-o", self.out("recorded.jprof"), "--", *command]

    def with_uftrace(self, *words):
        return lambda command: ["uftrace", "record", *words, "-d", self.out("uftrace"), *command]

    def rows(self):
        plain = lambda command: command
        rows = [Row("no instrumentation (gcc)", "plain", plain),
                Row("hooks off: -finstrument-functions", "cyg", plain)]
        if self.clang:
            rows += [Row(f"no instrumentation ({self.clang})", "plain-clang", plain),
                     Row("hooks off: sleds", "sleds", plain)]
        for kind, name in (("cyg", "-finstrument-functions"), ("sleds", "sleds")):
            if kind == "sleds" and not self.clang:
                continue
            rows += [Row(f"jprof calltree, {name}", kind, self.with_jprof("calltree")),
                     Row(f"jprof callflow, {name}", kind, self.with_jprof("callflow"))]
        peers = {
            "uftrace": (shutil.which("uftrace"), [
                Row("uftrace record, -finstrument-functions", "cyg", self.with_uftrace(), True),
                Row("uftrace record --no-libcall, same", "cyg",
                    self.with_uftrace("--no-libcall"), True),
                Row("uftrace record --no-libcall, -pg", "pg", self.with_uftrace("--no-libcall"),
                    True)]),
            "gprof": (shutil.which("gprof"), [Row("gprof, -pg", "pg", plain)]),
            "callgrind": (shutil.which("valgrind"), [
                Row("callgrind, no instrumentation", "plain", lambda command: [
                    "valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                    *command], True)]),
            "lttng": (not self.lttng.missing(), [
                Row("LTTng cyg-profile, -finstrument-functions", "cyg", plain, True,
                    {"LD_PRELOAD": self.lttng.hooks_path, "LTTNG_HOME": self.work})])}
        for peer, (there, its) in peers.items():
            if peer not in self.options.peers.split(","):
                continue
            if there:
                rows += its
            else:
                reason = self.lttng.missing() if peer == "lttng" else f"{peer} is not installed"
                print(f"skipped: {reason}", file=sys.stderr)
        return rows

    def count(self, kind, command):
        """The calls of a build, by a run of its own."""
        if kind == "sleds":
            out = self.out("counted.jprof")
            subprocess.run([self.jprof, "calltree", "-o", out, "--", *command], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            text = subprocess.run([self.jprof, "info", out], check=True, text=True,
                                  capture_output=True).stdout
            return int(re.search(r"^calls\s+(\d+)", text, re.M)[1])
        out = self.out("calls")
        # The timer of -pg may expire before its handler is there, which ends the program; it does
        # not count calls.
        block = lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF])
        subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}",
                        *command], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, cwd=self.work, preexec_fn=block)
        functions = callgrind_file.read(out).functions
        calls = lambda chosen: sum(f.calls for key, f in functions.items() if chosen(*key))
        if kind == "cyg":    # the C library's two hooks are one function
            return calls(lambda _, name: name.startswith("__cyg_profile_func")) // 2
        if kind == "pg":
            return calls(lambda _, name: name == "mcount")
        program = os.path.basename(command[0])
        return calls(lambda file, _: file == program)

    def once(self, program, paths, row, small):
        command = row.wrap(program.command(paths[row.build], small))
        done = subprocess.run(command, cwd=self.work, capture_output=True, text=True, check=False,
                              env={**os.environ, **row.environment})
        found = re.search(r"^ns (\d+)", done.stderr, re.M)
        if done.returncode != 0 or not found:
            sys.stderr.write(f"{row.name}: exit status {done.returncode}: {done.stderr[-300:]}\n")
            return None
        return int(found[1])


@dataclasses.dataclass
class Figure:
    name: str
    calls: int
    ns: float             # of the work, median
    per_call: float       # above the build without instrumentation
    low: float
    high: float


def measured(bench, program, rows, options):
    """The figures of one program, one after the other in each round."""
    compilers = {"plain": bench.gcc, "cyg": bench.gcc, "pg": bench.gcc, "sleds": bench.clang,
                 "plain-clang": bench.clang}
    paths = {}
    for kind in {row.build for row in rows}:
        paths[kind] = program.build(kind.split("-")[0], compilers[kind])
    runs = {(row.name, small): [] for row in rows for small in (False, True)}
    for _ in range(options.rounds):
        for row in rows:
            bases = row.wrap(["x"]) == ["x"] and row.build.startswith("plain")
            for small in ((False, True) if bases else (row.small,)):
                runs[row.name, small].append(bench.once(program, paths, row, small))
    base_of = lambda row: ("no instrumentation (gcc)" if compilers[row.build] == bench.gcc
                           else f"no instrumentation ({bench.clang})")
    figures = []
    for row in rows:
        times = [t for t in runs[row.name, row.small] if t is not None]
        if not times:
            continue
        base = statistics.median(t for t in runs[base_of(row), row.small] if t is not None)
        calls = program.calls(paths[row.build], row.build.split("-")[0], row.small, bench)
        each = sorted((t - base) / calls for t in times)
        figures.append(Figure(row.name, calls, statistics.median(times), statistics.median(each),
                              each[0], each[-1]))
    return figures


def show(program, figures):
    print(f"\n{program.name}: ns per call (entry and exit) above the build without instrumentation")
    print(f"{'':44}{'calls':>12}{'ns/call':>9}{'least':>9}{'most':>9}{'ms':>10}")
    for f in figures:
        print(f"{f.name:44}{f.calls:>12}{f.per_call:>9.1f}{f.low:>9.1f}{f.high:>9.1f}"
              f"{f.ns / 1e6:>10.1f}")


def missed(program, figures):
    """The goals that jprof missed, as text."""
    found = []
    uftrace = [f.per_call for f in figures if f.name.startswith("uftrace")]
    for f in figures:
        goal = {"jprof calltree": COUNTS_GOAL, "jprof callflow": TIME_GOAL}.get(
            " ".join(f.name.split(",")[0].split()[:2]))
        if goal is None:
            continue
        if f.per_call > goal:
            found.append(f"{program.name}, {f.name}: {f.per_call:.1f} ns, goal {goal:.0f}")
        if uftrace and f.per_call * UFTRACE_GOAL > min(uftrace):
            found.append(f"{program.name}, {f.name}: {min(uftrace) / f.per_call:.1f} times below "
                         f"uftrace, goal {UFTRACE_GOAL:.0f}")
    return found


def main():
    parser = measure.build_arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default="uftrace,gprof,callgrind,lttng")
    parser.add_argument("--programs", default="fib,jsoncpp")
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE as well")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    if not os.path.exists(os.path.join(options.build, "bin", "jprof")):
        measure.jvms.skip(f"no jprof in {options.build}: scripts/build")
    print("load average", *os.getloadavg())
    result, missing = {}, []
    with measure.folder("hooks", 2, 4) as work:
        bench = Bench(options, work)
        rows = bench.rows()    # before the daemon runs: it would be taken for another's
        try:
            if any(row.name.startswith("LTTng") for row in rows):
                bench.lttng.start()
            for kind in (Fib, Jsoncpp):
                if kind.name not in options.programs.split(","):
                    continue
                program = kind(work)
                figures = measured(bench, program, rows, options)
                show(program, figures)
                result[program.name] = [dataclasses.asdict(f) for f in figures]
                missing += missed(program, figures)
        finally:
            bench.lttng.end()
    print("load average", *os.getloadavg())
    if options.json:
        hook_programs.write(options.json, json.dumps(result, indent=1) + "\n")
    if missing:
        sys.exit("missed: " + "; ".join(missing))


if __name__ == "__main__":
    main()
