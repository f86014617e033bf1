#!/usr/bin/env python3
"""Compares the process, module and symbol shares of tprof with those of `perf record -e cpu-clock
-a`.

Runs a mixed load (a Java program, a shell loop, compression) with both samplers at once and
compares the shares of each process, module and (native) symbol by a chi-square test of the two
samples. Prints the test and the largest differences, the CPU time of tprof itself, and the time and
memory of both reports (libjvm.so is among the modules).

Usage: tprof_peer.py [--build DIR] [--seconds N] [--rate N]
"""
import collections
import functools
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402


def shares(rows, key):
    total = collections.Counter()
    for row in rows:
        total[key(row)] += row["ticks"]
    return total


def chi_square(ours, theirs, least=10):
    """Of two samples of one distribution: the sum over cells of
    (sqrt(N2/N1) a - sqrt(N1/N2) b)^2 / (a + b); small cells are pooled (Press et al., Numerical
    Recipes, the test of two binned data sets)."""
    n1, n2 = sum(ours.values()), sum(theirs.values())
    cells, pooled = [], [0, 0]
    for name in set(ours) | set(theirs):
        a, b = ours.get(name, 0), theirs.get(name, 0)
        if a + b < 2 * least:
            pooled[0] += a
            pooled[1] += b
        else:
            cells.append((a, b))
    if sum(pooled) >= 2 * least:
        cells.append(tuple(pooled))
    r = (n2 / n1) ** 0.5
    return sum((r * a - b / r) ** 2 / (a + b) for a, b in cells), max(len(cells) - 1, 1)


def critical(freedom):
    """The 1 % point of chi-square, by Wilson and Hilferty's approximation."""
    return freedom * (1 - 2 / (9 * freedom) + 2.326 * (2 / (9 * freedom)) ** 0.5) ** 3


def load(work, java, seconds):
    script = (f"{java} & (while :; do :; done) & p=$!; gzip -9 </dev/urandom >/dev/null & q=$!; "
              f"sleep {seconds + 5}; "
              "kill $p $q %1 2>/dev/null; wait 2>/dev/null")
    return subprocess.Popen(["bash", "-c", script], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, cwd=work)


def read_perf(work, start, end):
    """perf's samples from the period in which tprof sampled."""
    done = subprocess.run(["perf", "script", "--ns", "-i", "perf.data", "-F",
                           "comm,pid,time,ip,sym,dso"], capture_output=True,
                          text=True, cwd=work)
    if done.returncode != 0:
        sys.exit("perf script: " + done.stderr[-500:])
    rows = []
    for line in done.stdout.splitlines():
        m = re.match(r"\s*(.*?)\s+(\d+)\s+(\d+)\.(\d+):\s+([0-9a-f]+)\s+(.*) \((.*)\)$", line)
        if m and start <= int(m[3]) * 1_000_000_000 + int(m[4]) <= end:
            rows.append({"pid": int(m[2]), "symbol": m[6], "module": m[7], "ticks": 1})
    return rows


@functools.cache
def symbol_files(path):
    """The files with the names of the module's local functions: itself if it has a symbol table,
    and its debug file."""
    if not os.path.isfile(path):
        return []
    text = subprocess.run(["readelf", "-SnW", path], capture_output=True, text=True).stdout
    found = re.search(r"Build ID: ([0-9a-f]{2})([0-9a-f]+)", text)
    debug = f"/usr/lib/debug/.build-id/{found[1]}/{found[2]}.debug" if found else ""
    return [path] * (".symtab" in text) + [debug] * os.path.exists(debug)


def has_symbols(path):
    return bool(symbol_files(path)) or "kernel" in path or path == "vmlinux"


@functools.cache
def aliases(path):
    """Name -> the first of all names at its address."""
    text = "".join(subprocess.run(["nm", "--defined-only", *dynamic, file], capture_output=True,
                                  text=True).stdout
                   for dynamic, file in [
                           (["-D"], path), *(([], file) for file in symbol_files(path))])
    places = collections.defaultdict(set)
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3:
            places[words[0]].add(words[2].split("@")[0])
    return {name: min(names) for names in places.values() for name in names}


def plain(symbol):
    """The name without return type, template and call arguments, which demanglers print
    differently."""
    name = re.split(r"[(<+@]", symbol.replace("(anonymous namespace)", "anonymous"))[0].strip()
    return name.split(" ")[-1]


def module(name):
    if "kernel" in name or name == "vmlinux" or name.startswith("["):
        return "kernel"
    if name in ("JITCODE", "NoModule") or any(w in name for w in ("perf-", "anon", "unknown")):
        return "jitted or unknown"
    return os.path.basename(os.path.realpath(name))


def main():
    parser = measure.build_arguments(__doc__)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rate", type=int, default=499, help="samples per second (499)")
    options = parser.parse_args()
    if not shutil.which("perf"):
        measure.jvms.skip("perf is not installed; scripts/setup installs linux-perf")
    jprof = os.path.join(os.path.abspath(options.build), "bin", "jprof")
    jar = os.path.join(os.path.abspath(options.build), "share", "jprof", "trainers.jar")
    with measure.folder("peer", 2, 2) as work:
        running = load(work, f"java -cp {jar} jprof.trainers.TwoPhases 100000000 1 scan 4",
                       options.seconds)
        perf = subprocess.Popen(["perf", "record", "-q", "-B", "-k", "CLOCK_MONOTONIC", "-e",
                                 "cpu-clock", "-F", str(options.rate), "-a", "-o", "perf.data",
                                 "--", "sleep", str(options.seconds + 3)], cwd=work,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ours = subprocess.run([jprof, "tprof", "-a", "--rate", str(options.rate), "--duration",
                               str(options.seconds), "-o", "t",
                               "--format", "json"], capture_output=True, text=True, cwd=work,
                               check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        perf.wait()
        running.wait()
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        ours = json.loads(ours.stdout)
        theirs = read_perf(work, ours["start_ns"], ours["end_ns"])
        for command in ([jprof, "tprof", "--from", "t"],
                        ["perf", "report", "--stdio", "-i", "perf.data"]):
            start = time.monotonic()
            child = subprocess.Popen(command, cwd=work, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            _, _, usage = os.wait4(child.pid, 0)
            title = " ".join(os.path.basename(w) for w in command[:2])
            print(f"{title:<14}{time.monotonic() - start:6.2f} s "
                  f"{usage.ru_maxrss / 1024:6.0f} MB   to resolve and print its own recording of "
                  f"this period")
    with_symbols = [r for r in ours["rows"] if has_symbols(r["module"]) or r["module"] == "JITCODE"]
    nameless = sum(
        r["ticks"] for r in with_symbols if r["symbol"] in ("NoSymbols", "NoSymbolFound"))
    print(
        f"in code with symbols: {nameless} of {sum(r['ticks'] for r in with_symbols)} ticks "
        f"without a name")
    print(f"ticks: ours {ours['ticks']} (lost {ours['lost']}, unresolved {ours['unresolved']}), "
          f"perf {len(theirs)}; "
          f"tprof's own CPU with its report {cpu:.2f} s of {2 * options.seconds}")
    def symbol(row):
        name = "none" if row["symbol"] in ("[unknown]", "NoSymbols", "NoSymbolFound") else plain(
            row["symbol"])
        return module(row["module"]), aliases(row["module"]).get(name, name)

    pid_of = lambda row: 0 if row["process"] == "SystemProcess_0000" else int(
        row["process"].rsplit("_", 1)[1], 16)
    views = {
        "process": (lambda r: pid_of(r), lambda r: r["pid"]),
        "module": (lambda r: module(r["module"]), lambda r: module(r["module"])),
        "symbol": (symbol, symbol),
    }
    missed = []
    for name, (of_ours, of_theirs) in views.items():
        # Stripped modules have no names to compare; perf extends the few exported ones over all
        # code between them.
        named = lambda rows: [r for r in rows if name != "symbol" or has_symbols(r["module"])]
        a, b = shares(named(ours["rows"]), of_ours), shares(named(theirs), of_theirs)
        chi, freedom = chi_square(a, b)
        limit = critical(freedom)
        print(f"{name:<8} chi-square {chi:8.1f}, {freedom} degrees of freedom, 1 % point "
              f"{limit:.1f}: {'agree' if chi <= limit else 'DIFFER'}")
        n1, n2 = sum(a.values()), sum(b.values())
        worst = sorted(set(a) | set(b), key=lambda x: -abs(a[x] / n1 - b[x] / n2))[:5]
        for key in worst:
            print(f"           {100 * a[key] / n1:6.2f} % {100 * b[key] / n2:6.2f} %  {key}")
        if chi > limit:
            missed.append(name)
    if missed:
        sys.exit("differ: " + ", ".join(missed))


if __name__ == "__main__":
    main()
