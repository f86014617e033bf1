"""A second, slow reader of the profile's files (profile/files/layout.h), independent of reports."""
import collections
import dataclasses
import json
import mmap
import os
import struct

from expectations import Calls

HEADER = struct.Struct("<8sIIIIIIQQQIIQQQQQQQQQQQ56xQ")
HEADER_FIELDS = (
    "magic version header_bytes thread_record_bytes node_bytes thread_count metric_count "
    "node_count node_limit methods_bytes method_count finished trace_blocks train_records "
    "start_unix_ns start_ticks end_ticks ticks_per_second lost_threads lost_events disk_full "
    "name_failures tree_full folded_ticks"
).split()
THREAD = struct.Struct("<IIII2Q2QqQ9Q88s4Q")
THREAD_FIELDS = (
    "state flags tid root start_ticks end_ticks cpu_ns_start cpu_ns_end own_ticks dispatches "
    "healed unmatched overflow dropped trace_events trace_dropped trace_overwritten samples "
    "samples_unknown name samples_truncated samples_own samples_lost sampling_ticks"
).split()
NODE = struct.Struct("<IIIIIIqII24x")
METHOD = struct.Struct("<IIHHHH")
SUPERSEDED, BLOCK, WOVEN, ROOT, SITE, OVERFLOW = 0xFFFFFFFF, 15, 10, 9, 7, (1 << 28) - 1
INTRINSIC = 128  # of a method's flags
ENDED, VIRTUAL, NOT_SAMPLED, OTHER_TIMER = 2, 1, 32, 128
THREAD_LOSSES = ("healed", "unmatched", "overflow", "dropped", "trace_dropped", "trace_overwritten")
PROCESS_LOSSES = ("lost_threads", "lost_events", "disk_full", "name_failures", "tree_full")


@dataclasses.dataclass
class Node:
    parent: int
    method: int
    entries: int
    exits: int
    self_ticks: int
    superseded: bool
    site: bool


class RawProfile:
    def __init__(self, directory):
        self.directory = directory
        with open(os.path.join(directory, "control"), "rb") as f:
            control = f.read()
        self.header = dict(zip(HEADER_FIELDS, HEADER.unpack_from(control)))
        self.threads = []
        for i in range(self.header["thread_count"]):
            record = dict(zip(THREAD_FIELDS, THREAD.unpack_from(control, 4096 + 256 * i)))
            record["name"] = record["name"].split(b"\0")[0].decode("utf-8", "replace")
            self.threads.append(record)
        self.names, self.partly_counted = self._read_methods()
        self.nodes = self._read_nodes()
        with open(os.path.join(directory, "meta.json"), encoding="utf-8") as f:
            self.meta = json.load(f)

    def _read_methods(self):
        names, partly = {0: "", OVERFLOW: "(overflow)"}, set()
        with open(os.path.join(self.directory, "methods"), "rb") as f:
            data = f.read(self.header["methods_bytes"])
        at = 0
        while at < len(data):
            size, number, flags, cls, name, signature = METHOD.unpack_from(data, at)
            text = data[at + METHOD.size: at + METHOD.size + cls + name + signature].decode(
                "utf-8", "replace")
            names[number] = f"{text[:cls]}.{text[cls:]}"
            if flags & INTRINSIC:
                partly.add(names[number])
            at += size
        return names, partly

    def _read_nodes(self):
        nodes = {}
        with open(os.path.join(self.directory, "nodes"), "rb") as f:
            used = min(64 * self.header["node_count"], os.fstat(f.fileno()).st_size // 64 * 64)
            if used == 0:
                return nodes
            data = mmap.mmap(f.fileno(), used, prot=mmap.PROT_READ)
        for index, (word, parent, n0, n1, x0, x1, ticks, more, _) in enumerate(
                NODE.iter_unpack(data)):
            if word == 0 or word >> 28 == BLOCK:
                continue
            if word >> 28 in (ROOT, SITE):  # counts nothing; woven code uses its memory
                n0 = n1 = x0 = x1 = 0
            if word >> 28 == WOVEN:  # one count of 64 bits, and an exit for each entry
                n0, n1 = n0 | n1 << 32, 0
                x0, x1 = n0, 0
            nodes[index] = Node(parent, word & OVERFLOW, n0 + n1, x0 + x1, ticks,
                                more == SUPERSEDED, word >> 28 == SITE)
        return nodes

    def roots(self):
        """Index of a root -> its thread records (virtual threads may share one after another)."""
        roots = collections.defaultdict(list)
        for t in self.threads:
            if t["root"]:
                roots[t["root"]].append(t)
        return roots

    def calls(self):
        """Calls in the form of expectations; a superseded record counts for its node, and a site is
        no node of its own."""
        calls = Calls()
        roots = self.roots()
        thread_of = {}
        entries = collections.Counter()
        for index, node in self.nodes.items():
            entries[node.parent if node.superseded else index] += node.entries
        for index, node in self.nodes.items():
            if node.superseded:
                continue
            if index in roots:
                thread_of[index] = roots[index][0]["name"]
                calls.nodes[index] = (0, "", 0)
                continue
            thread_of[index] = thread_of.get(node.parent, "")
            if node.site:
                continue
            name, parent, above = self.names.get(node.method, "?"), node.parent, self.nodes[node.parent]
            if above.site:
                parent = above.parent
                bci, line = self.names[above.method].lstrip(".").split(":")
                calls.add_site(self.names.get(self.nodes[parent].method, "?"), (int(bci), int(line)),
                               name, entries[index])
            calls.add(index, parent, name, entries[index], thread_of[index])
        return calls

    def open_frames(self):
        """(entries - exits) per root."""
        roots = self.roots()
        root_of, open_frames = {}, collections.Counter()
        for index, node in self.nodes.items():
            root_of[index] = index if index in roots else root_of.get(node.parent, 0)
            open_frames[root_of[index]] += node.entries - node.exits
        return open_frames

    def losses(self):
        found = {name: self.header[name] for name in PROCESS_LOSSES}
        for name in THREAD_LOSSES:
            found[name] = sum(t[name] for t in self.threads)
        return found

    def time(self):
        """The first metric over all nodes, in its unit; 0 without a metric."""
        metrics = self.meta["metrics"]
        return sum(
            n.self_ticks for n in self.nodes.values()) * metrics[0]["scale"] if metrics else 0.0

    def events(self):
        return sum(n.entries + n.exits for n in self.nodes.values())

    def check(self, allow=(), open_threads=()):
        """Checks the rules for every profile; returns one line per violation. `open_threads`: the
        threads with open calls at the end of the VM."""
        failures = [
            f"raw: {name} = {n}" for name, n in self.losses().items() if n and name not in allow]
        for index, node in self.nodes.items():
            if node.parent >= index:
                failures.append(f"raw: node {index} has parent {node.parent}")
            if node.site and (self.nodes[node.parent].site or not node.parent in self.nodes):
                failures.append(f"raw: site {index} has no method")
        open_frames = self.open_frames()
        for root, threads in self.roots().items():
            names = sorted({t["name"] for t in threads})
            if open_frames[root] < 0:
                failures.append(f"raw: {-open_frames[root]} more exits than entries on {names}")
            ended = all(t["state"] == ENDED for t in threads) and not any(
                t["flags"] & VIRTUAL for t in threads)
            if ended and open_frames[root] != 0 and not set(names) & set(open_threads):
                failures.append(f"raw: {open_frames[root]} frames left open on ended {names}")
        if open_frames.get(0):
            failures.append("raw: nodes without a thread")
        return failures
