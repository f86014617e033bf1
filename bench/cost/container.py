#!/usr/bin/env python3
"""What recording costs a servlet container under load: Tomcat 10 that delivers a JSP page of its
examples to 8 connections that are kept alive (packages tomcat10, tomcat10-examples and
apache2-utils, whose `ab` is the client).

    bench/cost/container.py [--jdk 17] [--rounds 3] [--sources plain,woven,scs-200]
    bench/cost/container.py --steady-after 20000 --requests 5000        shorter

  plain         without jprof
  woven         jprof calltree --counter woven
  woven-200     the same with --sample 200
  focus         jprof calltree --focus PACKAGE (--focus)
  scs-200       jprof scs --rate 200
  scs-1000      jprof scs --rate 1000
  probes        jprof calltree --counter probe
and, if they are named:
  debug-info    woven, with the compilers' debug information for all instructions, which samples
                request, but without samples
  woven-200-perf, woven-200-posix, scs-200-posix, scs-1000-posix
                the same as without the last part, with --timer perf or posix
  async-1000    async-profiler, CPU time, 1,000 stacks per second (--async-profiler)

Prints two rows for each source, of the first requests after the start of the server (start), and
of four times as many after --steady-after requests (steady): requests per second and microseconds
of the server's CPU time per request, medians of the rounds and of the four parts, and for each the
speed in relation to plain. Other programs on the machine change the former much and the latter
less. The client's time is in neither. Each round starts a new server for each source.

Exit status 1 if a server fails or, by --judge rate or --judge cpu, a source is slower than its goal
in the steady state; 2 for wrong use; 77 if a package is missing.
"""
import dataclasses
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402
import jvms  # noqa: E402
import tomcat  # noqa: E402

JPROF = os.path.join(measure.BUILD, "bin", "jprof")
EXAMPLES = "/usr/share/tomcat10-examples/examples"
DEBUG_INFO = ("-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints")
WOVEN = ["calltree", "--counter", "woven"]
GOALS = {"woven": 0.75, "woven-200": 0.72, "focus": 0.95, "scs-200": 0.98, "scs-1000": 0.95}
SOURCES = {  # name: words of jprof
    "plain": [], "woven": WOVEN, "woven-200": [*WOVEN, "--sample=200"],
    "focus": ["calltree", "--focus"], "scs-200": ["scs", "--rate=200"],
    "scs-1000": ["scs", "--rate=1000"], "probes": ["calltree", "--counter", "probe"],
    "debug-info": WOVEN, "woven-200-perf": [*WOVEN, "--sample=200", "--timer=perf"],
    "woven-200-posix": [*WOVEN, "--sample=200", "--timer=posix"],
    "scs-200-posix": ["scs", "--rate=200", "--timer=posix"],
    "scs-1000-posix": ["scs", "--rate=1000", "--timer=posix"], "async-1000": []}
USUAL = ("plain", *GOALS, "probes")
PHASES = ("start", "steady")
PARTS = 4  # of the steady state


@dataclasses.dataclass
class Phase:
    rate: float  # requests per second
    cpu: float   # of the server, in microseconds per request


def command(args, source, profile):
    """(words before java, options of the JVM)"""
    words = SOURCES[source] + ([args.focus] if source == "focus" else [])
    options = DEBUG_INFO if source == "debug-info" else ()
    if source == "async-1000":
        options = [f"-agentpath:{args.async_profiler}=start,event=cpu,interval=1ms,"
                   f"file={profile}.jfr"]
    return [args.jprof, *words, "-o", profile, "--"] if words else [], options


def load(port, page, requests):
    """Has the client send so many requests; requests per second."""
    done = subprocess.run(["ab", "-q", "-k", "-s", "600", "-c", str(tomcat.CONNECTIONS),
                           "-n", str(requests),
                           f"http://127.0.0.1:{port}/examples/{page}"],
                          capture_output=True, text=True, check=False)
    rate = re.search(r"^Requests per second:\s+([\d.]+)", done.stdout, re.M)
    if done.returncode != 0 or rate is None or "Non-2xx" in done.stdout:
        sys.exit(f"ab: status {done.returncode}: {(done.stderr or done.stdout)[-1000:].strip()}")
    return float(rate[1])


def once(args, jdk, source):
    """{phase: [Phase of each part]}"""
    with tempfile.TemporaryDirectory(prefix="container-", dir=args.out) as base:
        port = tomcat.free_port()
        tomcat.make_base(base, port, f'<Context path="/examples" docBase="{EXAMPLES}"/>')
        prefix, options = command(args, source, os.path.join(base, "p.jprof"))
        with tomcat.running(jdk, prefix, base, port, options) as pid:
            def measured():
                before = tomcat.cpu(pid)
                rate = load(port, args.page, args.requests)
                return Phase(rate, 1e6 * (tomcat.cpu(pid) - before) / args.requests)
            found = {"start": [measured()]}
            if args.steady_after > args.requests:
                load(port, args.page, args.steady_after - args.requests)
            found["steady"] = [measured() for _ in range(PARTS)]
            return found


def show(jdk, runs, args):
    """Prints the table of a JDK; returns the names of the sources that miss their goals."""
    missed = []
    print(f"JDK {jdk.major:<12}{'':8}{'requests/s':>12}{'of plain':>10}{'CPU us':>10}"
          f"{'of plain':>10}{'goal':>8}")
    for phase in PHASES:
        def middle(source, value, now=phase):
            return statistics.median(getattr(part, value) for run in runs[source]
                                     for part in run[now])
        for source in runs:
            rate, cpu = middle(source, "rate"), middle(source, "cpu")
            speeds = {"rate": rate / middle("plain", "rate"), "cpu": middle("plain", "cpu") / cpu}
            goal = GOALS.get(source) if phase == "steady" else None
            print(f"{source:16}{phase:8}{rate:12.0f}{speeds['rate']:10.3f}{cpu:10.0f}"
                  f"{speeds['cpu']:10.3f}{goal or '':>8}", flush=True)
            if goal and args.judge and speeds[args.judge] < goal:
                missed.append(source)
    return missed


def arguments():
    parser = measure.parser(__doc__)
    parser.add_argument("--jprof", default=JPROF)
    parser.add_argument("--jdk", type=int, help="only this version")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=20_000,
                        help="measured at the start, and four times when steady (%(default)s)")
    parser.add_argument("--steady-after", type=int, default=60_000, metavar="N",
                        help="requests before the steady state (%(default)s)")
    parser.add_argument("--sources", help=f"({','.join(USUAL)}); plain is always measured")
    parser.add_argument("--focus", default="org.apache.catalina.core", metavar="PACKAGE",
                        help="of the source focus (%(default)s)")
    parser.add_argument("--page", default="jsp/dates/date.jsp", help="(%(default)s)")
    parser.add_argument("--async-profiler", metavar="LIBRARY", help="libasyncProfiler.so")
    parser.add_argument("--judge", choices=["rate", "cpu"], help="compare this with the goals")
    parser.add_argument("--out", help="folder for the profiles, e.g. /dev/shm")
    args = parser.parse_args()
    names = args.sources.split(",") if args.sources else USUAL
    for name in names:
        if name not in SOURCES:
            parser.error(f"--sources: {name}: not one of {', '.join(SOURCES)}")
    if "async-1000" in names and not args.async_profiler:
        parser.error("--sources async-1000 needs --async-profiler LIBRARY")
    if min(args.rounds, args.requests) < 1:
        parser.error("--rounds and --requests: give 1 or more")
    if not shutil.which(args.jprof):
        parser.error(f"--jprof: {args.jprof} cannot be executed: build it (scripts/build)")
    args.sources = ["plain", *(name for name in names if name != "plain")]
    args.jprof = os.path.abspath(args.jprof)
    return args


def main():
    args = arguments()
    tomcat.need()
    if not os.path.isdir(EXAMPLES):
        jvms.skip("it needs the examples of Tomcat (package tomcat10-examples)")
    if shutil.which("ab") is None:
        jvms.skip("it needs ab (package apache2-utils)")
    missed = []
    for jdk in jvms.needed_jdks([args.jdk] if args.jdk else ()):
        runs = measure.interleaved(args.sources, args.rounds,
                                   lambda source, on=jdk: once(args, on, source))
        missed += [f"JDK {jdk.major}: {source} misses its goal" for source in show(jdk, runs, args)]
        print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    if missed:
        sys.exit("\n".join(missed))


if __name__ == "__main__":
    main()
