#!/usr/bin/env python3
"""Pushes profiles of simulated hosts to two shards of ClickHouse: rows a second, bytes a row on
disk, the time of questions and of reading a selection, and whether totals equal `jprof merge`.

Usage: bench/cost/fleet.py [--bin build/release/bin] [--profile DIR] [--hosts 1000] [--runs 50]
                           [--contexts 5000]

Each profile is a copy of the first contexts of a real one (--profile; without it, javac is recorded
by jprof calltree) with other counts, process and start. Exits with 1 if a total is not that of the
profiles, and with 77 if clickhouse-server is not installed."""
import array
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "shared"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "cli"))
import clickhouse  # noqa: E402
import fleet_plan  # noqa: E402
import measure as common  # noqa: E402

TYPE_SITE, TYPE_THREAD, TYPE_WOVEN, TYPE_BLOCK = 7, 9, 10, 15


class Base:
    """A recorded profile, of which copies with other counts are made."""

    def __init__(self, directory, contexts):
        self.directory = directory
        with open(directory + "/meta.json", encoding="utf-8") as file:
            self.meta = json.load(file)
        with open(directory + "/control", "rb") as file:
            control = file.read()
        # Parents precede their children: the first nodes are a tree, of the threads that began it.
        count = min(contexts, int.from_bytes(control[32:40], "little"))
        threads = int.from_bytes(control[24:28], "little")
        records = [control[4096 + 256 * i:4352 + 256 * i] for i in range(threads)]
        records = [one for one in records if int.from_bytes(one[12:16], "little") < count]
        self.control = (control[:24] + len(records).to_bytes(4, "little") + control[28:32] +
                        count.to_bytes(8, "little") + control[40:4096] + b"".join(records))
        with open(directory + "/nodes", "rb") as file:
            self.nodes = array.array("I", file.read(64 * count))
        with open(directory + "/methods", "rb") as file:
            self.methods = file.read(int.from_bytes(control[48:56], "little"))
        kinds = [word >> 28 for word in self.nodes[0::16]]
        self.countable = [i for i, kind in enumerate(kinds)
                          if kind not in (0, TYPE_SITE, TYPE_THREAD, TYPE_BLOCK)]

    def copy(self, directory, number, start, chance):
        """Returns the calls of the copy."""
        os.makedirs(directory)
        factor = chance.uniform(0.5, 2)
        nodes, calls = array.array("I", self.nodes), 0
        for i in self.countable:
            at = 16 * i + 2
            value = min(int(nodes[at] * factor * chance.uniform(0.9, 1.1)) + 1, 2**31 - 1)
            nodes[at] = value
            calls += value + (nodes[at + 1] << (32 if nodes[16 * i] >> 28 == TYPE_WOVEN else 0))
        control = bytearray(self.control)
        control[80:88] = (start * 10**9).to_bytes(8, "little")
        meta = {**self.meta, "pid": number,
                "start": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start))}
        for name, data in (("nodes", nodes.tobytes()), ("methods", self.methods),
                           ("control", control), ("meta.json", json.dumps(meta).encode())):
            with open(f"{directory}/{name}", "wb") as file:
                file.write(data)
        return calls


def run(words, **how):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, **how)


def seconds(words):
    start = time.monotonic()
    run(words)
    return time.monotonic() - start


def record(jprof, place):
    """The calls of javac as it compiles one of jprof's own programs."""
    source = os.path.join(HERE, "..", "..", "tests", "cli", "Growing.java")
    out = os.path.join(place, "base.jprof")
    run([jprof, "calltree", "-o", out, "--", "javac", "-d", place, source])
    return out


def total(server, database):
    rows = server.ask("SELECT sum(entries_0 + entries_1), count() FROM counts WHERE push GLOBAL IN "
                      "(SELECT argMax(push, pushed) FROM runs GROUP BY run)", database)
    return int(rows[0][0]), int(rows[0][1])


def on_disk(cluster, database):
    """Bytes of all tables and rows of counts, when parts have been merged."""
    tables = {}
    for server in cluster.servers:
        for table in ("counts", "contexts", "frames", "runs", "threads"):
            server.ask(f"OPTIMIZE TABLE {table}_local FINAL", database)
        for table, size in server.ask(
                "SELECT table, sum(bytes_on_disk) FROM system.parts WHERE active AND database = "
                f"'{database}' GROUP BY table"):
            tables[table] = tables.get(table, 0) + int(size)
    return tables


def push_all(given, jprof, base, url, place, kill):
    """Pushes host by host. Returns calls, seconds of the pushes, and the last host's profiles."""
    chance = random.Random(1)
    calls = spent = 0
    killed = max(1, given.hosts // 2) if kill else -1
    now = 1_795_000_000
    profiles = []
    for host in range(given.hosts):
        shutil.rmtree(place + "/host", ignore_errors=True)
        profiles = [f"{place}/host/{n}.jprof" for n in range(given.runs)]
        for n, profile in enumerate(profiles):
            calls += base.copy(profile, host * given.runs + n + 1, now + n * 3600, chance)
        words = [jprof, "push", url, *profiles, "--name", "shop", "--host", f"host{host}",
                 "--app-version", "1" if host % 2 else "2"]
        if host == killed:
            in_its_middle = threading.Timer(spent / host / 2, kill.kill)
            in_its_middle.start()
            subprocess.run(words, stderr=subprocess.DEVNULL, check=False)
            in_its_middle.join()
            kill.start()
            print(f"a shard was killed and started again during the push of host {host}")
        start = time.monotonic()
        run(words)
        spent += time.monotonic() - start
    return calls, spent, profiles


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--profile", help="a profile of jprof calltree (default: of javac)")
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=50, help="profiles of each host")
    parser.add_argument("--contexts", type=int, default=5000, help="of each profile")
    parser.add_argument("--directory", help="for the profiles (default: temporary)")
    given = parser.parse_args()
    if clickhouse.program() is None:
        print("skipped: clickhouse-server is not installed")
        sys.exit(77)
    jprof = str(pathlib.Path(given.bin) / "jprof")
    os.environ["XDG_STATE_HOME"] = "/nonexistent"
    cluster = clickhouse.Cluster(parent=given.directory or tempfile.gettempdir())
    try:
        with common.folder("fleet", 6, 1, given.directory) as place:
            os.environ["XDG_STATE_HOME"] = place
            cluster.start()
            sys.exit(measure(given, jprof, cluster, place))
    finally:
        cluster.stop()


def measure(given, jprof, cluster, place):
    base = Base(given.profile or record(jprof, place), given.contexts)
    first, second = cluster.servers
    url = first.url("fleet")
    run([jprof, "fleet", "init", url, second.url("fleet"), "--cluster", "profiles"])
    calls, spent, profiles = push_all(given, jprof, base, url, place, second)
    counted, rows = total(first, "fleet")
    runs = given.hosts * given.runs
    rate = rows / spent
    print(f"{runs} profiles of {given.hosts} hosts, {rows / runs:.0f} rows each: {rows} rows in "
          f"{spent:.1f} s of jprof push ({given.runs} profiles a command): {rate:,.0f} rows/s")
    one = place + "/one.jprof"
    base.copy(one, 10**6, 1_795_000_000, random.Random(2))
    single = seconds([jprof, "push", url, one, "--name", "single", "--host", "single"])
    print(f"one profile a command: {rows / runs / single:,.0f} rows/s, {single:.2f} s")
    tables = on_disk(cluster, "fleet")
    bytes_per_row = sum(tables.values()) / (rows + rows / runs)
    print(f"on disk: {sum(tables.values()) / 1e6:.1f} MB, {bytes_per_row:.2f} bytes a row; "
          + ", ".join(f"{table} {size / 1e6:.1f} MB" for table, size in sorted(tables.items())))
    of = url + "?service=shop"
    print(f"top {seconds([jprof, 'fleet', 'top', of, '--by', 'calls']):.2f} s")
    answer = run([jprof, "fleet", "top", of, "--by", "calls", "--format", "json"]).stdout
    name = json.loads(answer)["rows"][0]["name"]
    print(f"history {seconds([jprof, 'fleet', 'history', of, '--method', name]):.2f} s")
    print(f"outliers {seconds([jprof, 'fleet', 'outliers', of]):.2f} s")
    print(f"report {seconds([jprof, 'report', of]):.2f} s")
    page = place + "/page.html"
    print(f"view {seconds([jprof, 'view', of, '-o', page]):.2f} s")
    both = [of + "&version=1", of + "&version=2"]
    print(f"compare {seconds([jprof, 'compare', *both, '--fail-if', 'calls > 1000%']):.2f} s")
    last = f"{url}?host=host{given.hosts - 1}&min_share=0"
    run([jprof, "merge", *profiles, "-o", place + "/merged.jprof"])
    same = [sorted(run([jprof, "report", "methods", profile, "--format", "csv"]).stdout.splitlines())
            for profile in (last, place + "/merged.jprof")]
    print("scale plan of these figures, one server of this machine:")
    for share, kind in ((1, "all"), (0.1, "a tenth")):
        need = fleet_plan.plan(10_000, 1, 5_000, share, rate, bytes_per_row, 30, 4, 0.5)
        print(f"  10,000 hosts x 1 profile a minute x 5,000 contexts, {kind}: "
              f"{need['rows_per_second']:,.0f} rows/s, {need['servers_for_rate']:.1f} times this "
              f"machine, {need['stored_tb']:.1f} TB in 30 days")
    good = counted == calls and same[0] == same[1]
    print(f"calls {counted}, of the profiles {calls}; the last host equals jprof merge: "
          f"{same[0] == same[1]}")
    return 0 if good else 1


if __name__ == "__main__":
    main()
