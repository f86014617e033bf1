#!/usr/bin/env python3
"""Tests `jprof trace --slow` with a program that makes very many fast calls and a few slow ones, and
measures each of them from outside and from inside: exactly the slow ones are kept, with exactly
their calls.

A call that the program did not mean to be slow may be slow on a loaded machine. The program prints
all that were from outside. Those that were slow from inside, too, must be kept; of the others it is
not known on which side of the bound they were.

    slow_calls_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N]
"""
import collections
import dataclasses
import json
import os
import signal
import struct
import sys

import child
from cases import Cases
from lab import Skip

case = Cases()
BOUND_MS = 100
MEANT = ("cpu", "sleep", "lock", "fail")
WORK = "SlowCalls.work"
SLACK_NS = 200_000  # the two clocks may run at slightly different rates


@dataclasses.dataclass
class Slow:
    """A call that was slow from outside, and how often it called turn()."""
    thread: str
    kind: str
    ns: int      # from outside
    inside: int  # ns
    turns: int


@dataclasses.dataclass
class Kept:
    """A call that the report has."""
    row: dict
    before: list
    contexts: list

    def calls_of(self, name):
        return sum(row["calls"] for row in self.contexts if method_of(row) == name)


def method_of(row):
    return row["name"].split("(")[0].replace("/", ".")


def own_lines(text):
    slow, calls = [], 0
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["slow"]:
            thread, rest = line[len("slow "):].split("/ ")
            kind, *numbers = rest.split()
            slow.append(Slow(thread, kind, *map(int, numbers)))
        elif words[:1] == ["calls"]:
            calls += int(words[1])
    return slow, calls


class Recording:
    """A run of the program under jprof, and its report."""

    def __init__(self, lab, folder, *arguments, options=(), slow=f"{WORK}:{BOUND_MS}ms", flags=()):
        self.lab, self.profile = lab, os.path.join(folder, "p.jprof")
        self.command = [lab.jprof, "trace", "--agent", lab.agent, "--slow", slow, *options, "-o",
                        self.profile, "--", *lab.command("SlowCalls", *arguments, flags=flags)]

    def record(self):
        done = child.run(self.command, 600)
        if done.returncode != 0:
            raise ValueError(f"jprof trace: {done.returncode} {done.stderr[-2000:]}")
        self.stderr = done.stderr
        self.slow, self.calls = own_lines(done.stdout)
        return self

    def good(self, *words):
        done = child.run([self.lab.jprof, *words], 300)
        if done.returncode != 0:
            raise ValueError(f"jprof {words}: {done.returncode} {done.stderr[-2000:]}")
        return done.stdout

    def report(self):
        report = json.loads(self.good("report", "slow", self.profile, "--format", "json"))
        self.losses, self.damages = report["losses"], report["damages"]
        kept = collections.OrderedDict()
        for row in report["rows"]:
            if row["kind"] == "call":
                kept[row["call"]] = Kept(row, [], [])
            elif row["kind"] == "before":
                kept[row["call"]].before.append(row)
            else:
                kept[row["call"]].contexts.append(row)
        return list(kept.values())

    def counts(self):
        """How many calls were watched, and how many of them were slow, from the file itself."""
        calls = slow = 0
        with open(os.path.join(self.profile, "slow_calls"), "rb") as f:
            data = f.read()
        for at in range(0, len(data) - 95, 96):
            kind, _, _, _, began, ended = struct.unpack_from("<IIIIQQ", data, at)
            if kind == 2:
                calls, slow = calls + began, slow + ended
        return calls, slow


def is_slow(own):
    return own.kind in MEANT or own.inside >= BOUND_MS * 1_000_000


def may_be(call, own):
    """Whether a call of the report may be that of the program: on the same thread, with the same
    number of turns, and not shorter than from inside or longer than from outside."""
    return ((own.thread or "virtual threads") == call.row["thread"]
            and own.turns == call.calls_of("SlowCalls.turn")
            and own.inside < call.row["wall_ns"] + SLACK_NS
            and call.row["wall_ns"] < own.ns + SLACK_NS)


def match(kept, slow):
    """Pairs calls of the report with those of the program: as many as possible, and first those
    that must be in the report. Returns the pairs and the rest of the two."""
    owner = {}  # by index of the kept call
    able = [[k for k, call in enumerate(kept) if may_be(call, own)] for own in slow]

    def place(number, seen):
        for k in able[number]:
            if k not in seen:
                seen.add(k)
                if k not in owner or place(owner[k], seen):
                    owner[k] = number
                    return True
        return False

    for number in sorted(range(len(slow)), key=lambda n: not is_slow(slow[n])):
        place(number, set())
    pairs = [(kept[k], slow[number]) for k, number in owner.items()]
    unknown = [call for k, call in enumerate(kept) if k not in owner]
    return pairs, unknown, [own for n, own in enumerate(slow) if n not in owner.values()]


def failures_of_kept(call, own):
    """What is wrong with a complete call."""
    row, wrong = call.row, []

    def check(condition, what):
        if not condition:
            wrong.append(f"{own}: {what}: {row}")

    check(row["complete"] and row["missing"] == 0, "is not complete")
    check(row["events"] == row["last_event"] - row["first_event"] + 1, "events")
    check(call.calls_of("SlowCalls.step") == 3, "step() was called 3 times")
    check(row["wall_ns"] >= BOUND_MS * 1_000_000, "is not slow")
    # A call that did little and was taken off the processor may come out at some us below 0.
    check(-100e3 <= row["cpu_ns"] <= 1.01 * row["wall_ns"] + 1e6, "CPU time")
    slow_part = {"cpu": "spin", "sleep": "nap", "lock": "take", "fail": "fail"}.get(own.kind)
    if slow_part:
        parts = [c for c in call.contexts if method_of(c) == f"SlowCalls.{slow_part}"]
        check(len(parts) == 1 and parts[0]["calls"] == 1 and parts[0]["level"] == 1, slow_part)
        check(parts and parts[0]["wall_ns"] >= 290_000_000, f"{slow_part} took 300 ms: {parts}")
    if own.kind in ("sleep", "lock"):
        check(row["off_cpu_ns"] >= 250_000_000, "it waited")
        check(row["cpu_ns"] <= 100_000_000, "it waited")
    led = [method_of(before) for before in call.before if not before["returned"]]
    check(call.before and (own.kind == "lock" or "SlowCalls.call" in led),
          f"what led to it: {call.before}")
    return wrong


def failures_of(recording):
    kept = recording.report()
    pairs, unknown, left = match(kept, recording.slow)
    wrong = [f"a fast call was kept: {call.row}" for call in unknown]
    for own in left:
        if is_slow(own):
            near = [call.row["wall_ns"] for call in kept if call.row["thread"] == own.thread]
            wrong.append(f"a slow call was not kept: {own}; kept: {near}")
    for call, own in pairs:
        wrong += failures_of_kept(call, own)
    calls, slow = recording.counts()
    if calls != recording.calls:
        wrong.append(f"{calls} calls of work() were counted, not {recording.calls}")
    if slow != len(kept):
        wrong.append(f"{slow} slow calls were counted, and {len(kept)} are in the report")
    walls = [call.row["wall_ns"] for call in kept]
    if walls != sorted(walls, reverse=True):
        wrong.append("the calls are not in order")
    if recording.damages or any(recording.losses[loss] for loss in (
            "slow_not_kept", "slow_cut", "slow_unended", "trace_dropped", "trace_overwritten")):
        wrong.append(f"losses: {recording.losses} {recording.damages}")
    return wrong


@case
def eight_threads(lab):
    with lab.folder() as folder:
        recording = Recording(lab, folder, 8, 0, 300_000, options=(
            "--methods", "SlowCalls", "--trace-memory", "32M")).record()
        wrong = failures_of(recording)
        if len(recording.slow) < 8:
            wrong.append(f"the program has only {recording.slow}")
        head = recording.good("report", "slow", recording.profile)
        said = f"of {recording.calls} calls of {WORK} lasted {BOUND_MS}ms or longer"
        for what, text in (("report", head), ("info", recording.good("info", recording.profile)),
                           ("log-gen", recording.good("report", "log-gen", recording.profile))):
            if said not in " ".join(text.split()):
                wrong.append(f"{what} does not say: {said}: {text[:600]}")
        if "report slow" not in recording.stderr:
            wrong.append(f"the summary does not name the report: {recording.stderr}")
        used = len([row for row in recording.report() if row.row["complete"]])
        for line in recording.good("report", "slow", "--format", "csv",
                                   recording.profile).splitlines()[1:]:
            used -= line.split(",")[1] == "call"
        return wrong + ([f"csv has {used} calls less"] if used else [])


@case
def with_the_jdk(lab):
    """All methods are traced, also those of the JDK, and the ring wraps."""
    with lab.folder() as folder:
        return failures_of(Recording(lab, folder, 4, 0, 100_000,
                                     options=("--trace-memory", "32M")).record())


@case
def virtual_threads(lab):
    if lab.jdk.major < 21:
        raise Skip("virtual threads need JDK 21")
    with lab.folder() as folder:
        return failures_of(Recording(lab, folder, 2, 20, 20_000, options=(
            "--methods", "SlowCalls", "--trace-memory", "32M")).record())


@case
def small_ring(lab):
    """The ring is too small for the calls by CPU: that is said, and what is there is right."""
    with lab.folder() as folder:
        recording = Recording(lab, folder, 2, 0, 100_000, options=(
            "--methods", "SlowCalls", "--trace-memory", "64K"),
            slow=f"SlowCalls.step:1s+{WORK}:{BOUND_MS}ms", flags=("-Diterations=50",)).record()
        kept = recording.report()
        cut = next(call for call in kept if call.calls_of("SlowCalls.turn"))
        whole = next(call for call in kept if call.calls_of("SlowCalls.nap"))
        wrong = []
        turns = next(own.turns for own in recording.slow if own.kind == "cpu")
        events = cut.row["last_event"] - cut.row["first_event"] + 1
        if turns * 2 * 3 < 64 * 1024:
            raise Skip(f"this machine makes {turns} turns only, which are no ring")
        if cut.row["complete"] or cut.row["events"] + cut.row["missing"] != events \
                or recording.losses["slow_cut"] < 1:
            wrong.append(f"the cut call: {cut.row} {recording.losses}")
        if events != 2 * turns + 2 * 3 + 2 + 2:
            wrong.append(f"{turns} turns, but {events} events")
        if not whole.row["complete"]:
            wrong.append(f"the sleeping call: {whole.row}")
        if "lost events" not in recording.good("report", "slow", recording.profile):
            wrong.append("the head does not say what is missing")
        return wrong


@case
def little_memory(lab):
    """--slow-memory is too small: how long the calls took is known all the same."""
    with lab.folder() as folder:
        recording = Recording(lab, folder, 8, 0, 20_000, options=(
            "--methods", "SlowCalls", "--trace-memory", "1M", "--slow-memory", "64K")).record()
        kept = recording.report()
        events = sum(call.row["events"] != 0 for call in kept)
        lost = recording.losses["slow_not_kept"]
        if len(kept) < 8 or lost + events != len(kept) or lost == 0:
            return [f"{len(kept)} calls, {events} with events, {lost} not kept"]
        return []


@case
def killed(lab):
    """What was kept can be read after kill -9, and nothing else."""
    with lab.folder() as folder:
        recording = Recording(lab, folder, 8, 0, 50_000, "forever", options=(
            "--methods", "SlowCalls", "--trace-memory", "32M"))
        lines = []
        with child.running(recording.command, stdout=-1, stderr=-1, text=True) as process:
            for line in process.stdout:
                lines.append(line)
                if line == "done\n":
                    break
            meta = json.load(open(os.path.join(recording.profile, "meta.json"), encoding="utf-8"))
            os.kill(meta["pid"], signal.SIGKILL)
            process.wait(60)
        recording.slow, recording.calls = own_lines("".join(lines))
        wrong = failures_of(recording)
        return [line for line in wrong if "were counted" not in line]


@case
def wrong_use(lab):
    wrong = []
    java = lab.command("SlowCalls", 1, 0, 1)
    for words, said in (
            (["trace", "--slow", f"{WORK}:10ms", "--mode", "wrap"], "--mode"),
            (["trace", "--slow", WORK], "has no time"),
            (["trace", "--slow", f"{WORK}:10"], "is not a time"),
            (["trace", "--slow-memory", "1M"], "--slow-memory needs --slow")):
        done = child.run([lab.jprof, *words, "--", *java])
        if done.returncode != 2 or said not in done.stderr:
            wrong.append(f"{words}: {done.returncode} {done.stderr}")
    with lab.folder() as folder:
        recording = Recording(lab, folder, 1, 0, 1000, slow="SlowCalls.wrok:10ms")
        done = child.run(recording.command)
        if "no method matched --slow SlowCalls.wrok" not in done.stderr \
                or "did you mean SlowCalls.work" not in done.stderr:
            wrong.append(f"an unknown method: {done.stderr}")
    return wrong


if __name__ == "__main__":
    sys.exit(case.main(__doc__))
