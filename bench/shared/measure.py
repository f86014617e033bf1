"""Options, folders, CPU time of a command, figures of a profile. After it, the modules of tests/e2e
can be imported."""
import argparse
import contextlib
import dataclasses
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build", "release")
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import jvms  # noqa: E402  (shared with the tests)
import sampled  # noqa: E402


@dataclasses.dataclass
class Run:
    cpu: float       # seconds, user and system, of the process and all its threads
    wall: float
    status: int
    stdout: bytes


def run(command, **more):
    """Runs the command to its end. If it fails, copies its standard error to this process's."""
    import time
    started = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more) as child:
        import threading
        errors = []
        reader = threading.Thread(target=lambda: errors.append(child.stderr.read()))
        reader.start()
        stdout = child.stdout.read()
        reader.join()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.stderr.write(errors[0].decode("utf-8", "replace")[-2000:])
    return Run(usage.ru_utime + usage.ru_stime, time.monotonic() - started, child.returncode,
               stdout)


@dataclasses.dataclass
class Figures:
    contexts: int
    events: int
    lost: str        # what `jprof info` reports as lost; "" if nothing
    clock_read_ns: float


def figures(jprof, directory):
    text = subprocess.run(
        [jprof, "info", directory], capture_output=True, text=True, check=True).stdout
    calls = re.search(r"^calls\s+(\d+) \((\d+) exits\)", text, re.M)
    lost = re.search(r"^lost\s+(.*)", text, re.M)
    with open(os.path.join(directory, "meta.json"), encoding="utf-8") as f:
        clock = json.load(f)["clock"]
    return Figures(
        int(re.search(r"^contexts\s+(\d+)", text, re.M)[1]), int(calls[1]) + int(calls[2]),
        "" if not lost or lost[1].startswith("nothing") else lost[1],
        clock["read_ticks"] / clock["ticks_per_second"] * 1e9)


def parser(description):
    """A parser without options; --help prints the description as it is."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def build_arguments(description):
    """A parser with the option of the benchmarks that use several programs of one build."""
    options = parser(description)
    options.add_argument("--build", default=BUILD, help="the build to measure (%(default)s)")
    return options


def arguments(description):
    """A parser with the common options of the side-by-side benchmarks."""
    options = parser(description)
    options.add_argument("--jprof", default=os.path.join(BUILD, "bin", "jprof"))
    options.add_argument("--agent", default=os.path.join(BUILD, "lib", "libjprof.so"))
    options.add_argument("--jdk", type=int, help="only this JDK, e.g. 17")
    options.add_argument("--rounds", type=int, default=5,
                         help="interleaved rounds; medians are printed (5)")
    options.add_argument("--out",
                         help="folder for the profiles, e.g. /dev/shm (a temporary folder on disk)")
    return options


def sampling_arguments(description):
    """A parser with the common options of the benchmarks of callstack sampling."""
    options = parser(description)
    sampled.arguments(options, BUILD)
    return options


def available_memory():
    with open("/proc/meminfo", encoding="utf-8") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("MemAvailable:")) << 10


@contextlib.contextmanager
def folder(name, memory, disk, out=None):
    """A temporary folder for all files of a benchmark, in `out` if given. Skips the benchmark if
    less memory or disk space is free than it may use; both in GiB."""
    place = out or tempfile.gettempdir()
    for what, free, needed in (("memory", available_memory(), memory),
                               (place, shutil.disk_usage(place).free, disk)):
        if free < needed << 30:
            jvms.skip(f"{name} may use {needed} GiB of {what}; {free / 2 ** 30:.1f} are free")
    with tempfile.TemporaryDirectory(prefix=f"jprof-{name}-", dir=out,
                                     ignore_cleanup_errors=True) as path:
        yield path


def jdks_of(args):
    return jvms.needed_jdks([args.jdk] if args.jdk else ())


def interleaved(names, rounds, once):
    """{name: [result of once(name), ...]}, round by round, so that noise affects all alike."""
    results = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            results[name].append(once(name))
    return results


def median(runs, value=lambda r: r.cpu):
    return statistics.median(map(value, runs))


def spread(runs):
    """Half the range of the CPU times, as a share of their median."""
    times = [r.cpu for r in runs]
    return (max(times) - min(times)) / 2 / statistics.median(times)
