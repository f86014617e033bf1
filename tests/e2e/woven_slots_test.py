#!/usr/bin/env python3
"""Where woven code looks for the children of a node, on every JDK found.

    woven_slots_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N]

The slots of a node are read from the file of nodes (jprof/engine/woven.h).
"""
import collections
import os
import struct
import sys

from cases import Cases
from raw_profile import RawProfile

case = Cases()

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TURNS = 1001  # of Slots.java
SLOTS = struct.Struct("<16x2I16x6I")


def slots_of(directory, index):
    """The eight slots of a node."""
    with open(os.path.join(directory, "nodes"), "rb") as nodes:
        nodes.seek(64 * index)
        return SLOTS.unpack(nodes.read(64))


def most_called(lab, *flags):
    """Runs the program. The failures: of the callees that compete for a slot, the one with the most
    calls has it at the end, although another one was called last."""
    failures = []
    with lab.folder() as folder:
        done = lab.run(lab.command("Slots", agent=f"calltree,counter=woven,out={folder}/p",
                                   flags=flags))
        if done.returncode != 0 or done.stdout != f"sum {285 * TURNS}\n":
            return [f"status {done.returncode}: {done.stdout}{done.stderr[-300:]}"]
        profile = RawProfile(f"{folder}/p")
        callers = [index for index, node in profile.nodes.items()
                   if profile.names[node.method].startswith("Slots.caller(")]
        if len(callers) != 1:
            return [f"nodes of the caller: {callers}"]
        slots = slots_of(f"{folder}/p", callers[0])
    groups = collections.defaultdict(list)  # slot -> [(calls, index, name)]
    for index, node in profile.nodes.items():
        if node.parent == callers[0]:
            name = profile.names[node.method].split("(")[0].removeprefix("Slots.")
            groups[node.method % 8].append((node.entries, index, name))
    calls = {name: count for group in groups.values() for count, _, name in group}
    if calls != {name: (i + 1) * TURNS for i, name in enumerate(NUMBERS)}:
        failures.append(f"calls: {calls}")
    if not any(len(group) > 1 for group in groups.values()):
        failures.append("no callees compete for a slot")
    # A slot is the index of a node and the place of node 0, which is the same for all.
    origins = {max(group)[2]: slots[slot] - max(group)[1] for slot, group in groups.items()}
    if len(set(origins.values())) != 1:
        failures.append(f"not in their slots, which are {slots}: {dict(groups)}")
    return failures


@case
def interpreted(lab):
    """The counter is interpreted."""
    return most_called(lab, "-Xint")


@case
def compiled(lab):
    """The counter is compiled, also into its callers."""
    return most_called(lab, "-Xbatch")


if __name__ == "__main__":
    sys.exit(case.main(__doc__))
