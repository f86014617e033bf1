#!/usr/bin/env python3
"""The log of jitted code (agent option TPROF), on every JDK found.

    jit_log_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N]

The test has its own reader of the log, independent of the product's.
"""
import collections
import dataclasses
import os
import signal
import struct
import subprocess
import sys

import child
import robust
from cases import Cases

LOAD, UNLOAD, STUB, THREAD = 1, 2, 3, 4
BEGAN, NAMED, THREAD_ENDED = 1, 2, 3
FOREVER = 2 ** 64 - 1


@dataclasses.dataclass
class Code:
    time: int
    address: int
    length: int
    stub: bool
    type: str
    name: str        # pkg/Class.method(sig)ret, or the name of a stub
    source: str
    lines: list      # (offset, innermost line, own line)
    code: bytes
    again: bool


class JitLog:
    """The records of a jitlog file; raises if a record does not fit."""

    def __init__(self, directory):
        with open(os.path.join(directory, "jitlog"), "rb") as f:
            data = f.read()
        magic, version, self.pid, _, _, _, self.start = struct.unpack_from("<8sIIIIQQ", data)
        if (magic, version) != (b"JPROFJIT", 2):
            raise ValueError(f"header {magic} {version}")
        self.code, self.events, self.threads = [], [], []
        self.end = None  # the number of records, and of those that were lost
        at, count = 40, 0
        while at < len(data):
            size, records, _, tid, when, _, lost, check = struct.unpack_from("<IIIIQQQQ", data, at)
            if self.end or size % 8 or at + 48 + size > len(data) or check != self.check_of(
                    data[at:at + 40] + data[at + 48:at + 48 + size]):
                raise ValueError(f"packet of {size} bytes at {at} of {len(data)}")
            at += 48
            if size == 0:
                self.end = (records, lost)
            else:
                self.read_record(data, at, tid, when)
                count += records
            at += size
        if self.end and self.end[0] != count:
            raise ValueError(f"{count} of {self.end[0]} records")
        self.code = [e for e in self.events if isinstance(e, Code)]

    @staticmethod
    def check_of(data):
        check = 1
        for word in struct.unpack(f"<{len(data) // 8}Q", data):
            check = (check ^ word) * 0x9e3779b97f4a7c15 & FOREVER
            check ^= check >> 32
        return check

    def read_record(self, data, at, tid, when):
        kind, flags = data[at:at + 2]
        if kind in (LOAD, STUB):
            self.events.append(self.read_code(data, at, kind == STUB, flags, when))
        elif kind == UNLOAD:
            self.events.append((when, struct.unpack_from("<Q", data, at + 8)[0]))
        elif kind == THREAD:
            event, length = struct.unpack_from("<HH", data, at + 2)
            self.threads.append((when, tid, event, data[at + 6:at + 6 + length].decode()))

    @staticmethod
    def read_code(data, at, stub, flags, when):
        (letter, _, length, address, lines, code, class_, name, signature,
         source) = struct.unpack_from("<2xcBIQIIHHHH", data, at)
        place = at + 32
        table = [struct.unpack_from("<III", data, place + 12 * i) for i in range(lines)]
        place += 12 * lines
        instructions = data[place:place + code]
        place += code
        texts = []
        for size in (class_, name, signature, source):
            texts.append(data[place:place + size].decode("utf-8", "surrogatepass"))
            place += size
        full = texts[1] if stub else f"{texts[0]}.{texts[1]}{texts[2]}"
        return Code(when, address, length, stub, letter.decode(), full, texts[3], table,
                    instructions, bool(flags & 1))

    def methods(self, name):
        return [c for c in self.code if not c.stub and c.name.startswith(name)]

    def intervals(self):
        """(code, loaded, unloaded): the rules of docs/PROFILE_FORMAT.md in a slow, simple
        implementation."""
        done, standing, now = [], [], 0

        def overlap(a, b):
            return a.address < b.address + b.length and b.address < a.address + a.length

        for event in self.events:
            if not isinstance(event, Code):
                when, address = event
                now = max(now, when)
                for entry in [e for e in standing if e[0].address == address]:
                    standing.remove(entry)
                    done.append((*entry, now))
                continue
            now = max(now, event.time)
            hit = [e for e in standing if overlap(e[0], event)]
            same = any((e[0].address, e[0].length, e[0].name, e[0].type) ==
                       (event.address, event.length, event.name, event.type) for e in hit)
            if hit and (event.again or same):
                continue
            for entry in hit:
                standing.remove(entry)
                done.append((*entry, now))
            standing.append((event, max((d[2] for d in done if overlap(d[0], event)), default=0)))
        return done + [(*entry, FOREVER) for entry in standing]


case = Cases()


def run(lab, folder, *words, agent="tprof", flags=()):
    """Runs the program without and with the agent; returns (failures, log)."""
    directory = os.path.join(folder, "p")
    plain = lab.run(lab.command("JitCode", *words, flags=flags))
    done = lab.run(lab.command("JitCode", *words, agent=f"{agent},out={directory}", flags=flags))
    failures = robust.unchanged(done, plain, " ".join(words))
    if plain.returncode != 0 or done.stderr.strip():
        failures.append(f"{plain.stderr[-300:]!r} {done.stderr[-300:]!r}")
    return failures, JitLog(directory)


def source_lines(mark):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "JitCode.java")
    with open(path, encoding="utf-8") as f:
        return [i for i, line in enumerate(f, 1) if mark in line]


@case
def hot_method(lab):
    """A hot method's C2 code with its lines, those of its inlined callee, and its instructions; the
    directory contains only the log."""
    with lab.folder() as folder:
        failures, log = run(lab, folder, "hot", agent="tprof,code")
        if sorted(os.listdir(f"{folder}/p")) != ["jitlog", "meta.json"]:
            failures.append(f"the directory has {sorted(os.listdir(f'{folder}/p'))}")
        hot = log.methods("JitCode.hot(I)I")
        best = [c for c in hot if c.type == "R"]
        if not best or not [c for c in hot if c.type == "J"]:
            return failures + [f"hot is there as {[c.type for c in hot]}, not as J and R"]
        for code in best:
            if not 64 <= code.length <= 16384 or code.source != "JitCode.java" or len(
                    code.code) != code.length:
                failures.append(
                    f"hot: {code.length} bytes, source {code.source!r}, {len(code.code)} of code")
        call, callee = source_lines("line of the call")[0], source_lines("line of the callee")[0]
        pairs = {(line, own) for c in best for _, line, own in c.lines}
        if (callee, call) not in pairs or (call, call) not in pairs:
            failures.append(
                f"hot: lines {sorted(pairs)}, expected ({callee}, {call}) and ({call}, {call})")
        stray = {own for c in hot for _, _, own in c.lines} - set(range(call - 3, call + 4)) - {0}
        if stray:
            failures.append(f"hot: own lines {stray} are not those of the method")
        names = collections.Counter(c.type for c in log.code if c.stub and not c.again)
        if names["I"] != 1 or names["O"] < 50:
            failures.append(f"stubs by type: {dict(names)}")
        if log.end is None or log.end[1]:
            failures.append(f"end record {log.end}")
        return failures


@case
def threads(lab):
    """Threads by name and native id: early ones, one that renames itself, the VM's threads."""
    with lab.folder() as folder:
        failures, log = run(lab, folder, "none")
        named = [(event, name) for _, _, event, name in log.threads]
        for wanted in ((BEGAN, "named-at-first"), (NAMED, "renamed-later"), (NAMED, "main"),
                       (NAMED, "Finalizer")):
            if wanted not in named:
                failures.append(f"{wanted} is not among {named}")
        mine = [
            tid for _, tid, event, name in log.threads
            if (event, name) == (BEGAN, "named-at-first")]
        if [e for _, tid, e, _ in log.threads if tid in mine] != [BEGAN, NAMED, THREAD_ENDED]:
            failures.append(f"events of {mine}: {log.threads}")
        if not any(name.startswith("C2 Compiler") for _, name in named):
            failures.append("the compiler's thread has no name")
        return failures


@case
def addresses_used_again(lab):
    """Many loaders in a small code cache: the code at one address changes; intervals of time
    distinguish its versions."""
    flags = ["-Xcomp", "-XX:CompileCommand=quiet",
             "-XX:CompileCommand=compileonly,JitCode$Plugin::*",
             "-XX:ReservedCodeCacheSize=8m", "-XX:+UseCodeCacheFlushing", "-Xmx64m"]
    with lab.folder() as folder:
        failures, log = run(lab, folder, "loaders", "400", flags=flags)
        plugin = log.methods("JitCode$Plugin.work(I)I")
        if len(plugin) < 400:
            failures.append(f"{len(plugin)} codes of Plugin.work, 400 loaders had one each")
        intervals = log.intervals()
        ended = [i for i in intervals if i[2] != FOREVER]
        by_address = collections.Counter(i[0].address for i in intervals)
        if len(ended) < 200 or by_address.most_common(1)[0][1] < 2:
            failures.append(
                f"{len(ended)} codes unloaded, {by_address.most_common(1)} at one address: too few "
                f"for a test")
        intervals.sort(key=lambda i: i[0].address)
        for i, (a, loaded, unloaded) in enumerate(intervals):
            for b, from_, to in intervals[i + 1:]:
                if b.address >= a.address + a.length:
                    break
                if loaded < to and from_ < unloaded:
                    failures.append(
                        f"{a.name} [{loaded}, {unloaded}) and {b.name} [{from_}, {to}) overlap")
        shown = lab.cli("info", "--format", "json", f"{folder}/p")
        failures += info_counts(shown, intervals)
        print(f"     {lab.jdk.name}: {len(log.code)} codes logged, {len(ended)} ended, "
              f"{by_address.most_common(1)[0][1]} at one address")
        return failures


def info_counts(done, intervals):
    """`jprof info`, which uses the product's reader, prints the same counts as the reader of this
    test."""
    import json
    if done.returncode != 0:
        return [f"info: {done.stderr[-300:]}"]
    shown = json.loads(done.stdout)
    methods = [i for i in intervals if not i[0].stub]
    wanted = {"methods": len(methods), "unloaded": sum(i[2] != FOREVER for i in methods),
              "stubs": len(intervals) - len(methods)}
    found = {key: shown["jitted"][key] for key in wanted}
    return ([] if found == wanted else [f"info prints {found}, the log contains {wanted}"]) + [
        f"info: damage {d}" for d in shown["damages"]]


@case
def with_calls(lab):
    """With another mode: its counts remain exact, and the log is complete."""
    failures = []
    for program, mode in (("Unload", "callflow"), ("Recursion", "callflow"),
                          ("Threads", "calltree")):
        with lab.folder() as folder:
            directory = f"{folder}/p"
            plain = lab.run(lab.command(program))
            done = lab.run(lab.command(program, agent=f"{mode},tprof,out={directory}"))
            failures += robust.unchanged(done, plain, program) + robust.counts(
                lab, directory, plain.stdout)
            log = JitLog(directory)
            if not log.methods(program) or log.end is None:
                failures.append(f"{program}: the log has no method of it, or no end")
            text = lab.cli("info", directory).stdout
            if "jitted code:" not in text or "stubs" not in text:
                failures.append(f"{program}: info has no line of it: {text[-400:]!r}")
    return failures


@case
def killed(lab):
    """kill -9 during the recording: all records up to that point are complete."""
    with lab.folder() as folder:
        directory = f"{folder}/p"
        with child.running(lab.command("Marker", agent=f"tprof,out={directory}"), text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as java:
            for line in java.stdout:
                if line.startswith("MARK ") and int(line.split()[1]) >= 300_000:
                    break
            JitLog(directory)  # while it runs
            java.kill()
            java.stdout.read()
            java.wait()
        log = JitLog(directory)
        failures = [] if java.returncode == -signal.SIGKILL and log.end is None else [
            f"status {java.returncode}"]
        if not log.methods("Marker."):
            failures.append("the log has no method of the program")
        done = lab.cli("info", directory)
        if done.returncode != 0 or "ended abnormally" not in done.stdout:
            failures.append(f"info: {done.stdout[-300:]!r} {done.stderr[-300:]!r}")
        return failures


@case
def full_disk(lab):
    """On a full disk the program continues, and the records that fitted are readable."""
    failures = []
    for size in ("4k", "64k"):
        with robust.small_disk(size) as disk:
            plain = lab.run(lab.command("JitCode", "hot"))
            done = lab.run(lab.command("JitCode", "hot", agent=f"tprof,code,out={disk}/p"))
            failures += robust.unchanged(done, plain, f"{size} disk")
            shown = lab.cli("info", f"{disk}/p")
            if shown.returncode not in (0, 1, 2) or shown.returncode == 0 and os.path.exists(
                    f"{disk}/p/jitlog"):
                JitLog(f"{disk}/p")
    return failures


if __name__ == "__main__":
    sys.exit(case.main(__doc__))
