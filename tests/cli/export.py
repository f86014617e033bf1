#!/usr/bin/env python3
"""Tests `jprof export` and `jprof push`: the totals of every format are those of `jprof report`, by
parsers written from the formats' published descriptions and, where they are installed, by the
formats' own readers.

  export.py JPROF
"""
import base64
import contextlib
import email.parser
import gzip
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import made
import terminal
from http_server import Server

JPROF = os.path.abspath(sys.argv.pop(1))
C2 = 3 << 28
ODD = 'we"ird;na\nme\\ <\xe9>'


# Protobuf, as far as these formats use it: (field, value) pairs; messages and texts are bytes.

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError("a message is cut off")
        else:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def message(data):
    return dict(fields(data))


class Pprof:
    """profile.proto of google/pprof."""

    def __init__(self, compressed):
        by_field = {}
        for number, value in fields(gzip.decompress(compressed)):
            by_field.setdefault(number, []).append(value)
        self.texts = [text.decode() for text in by_field[6]]
        assert self.texts[0] == ""
        text = self.texts.__getitem__
        self.types = [(text(kind[1]), text(kind[2])) for kind in map(message, by_field[1])]
        functions = {f[1]: (text(f[2]), text(f.get(3, 0))) for f in map(message, by_field[5])}
        mappings = {m[1] for m in map(message, by_field[3])}
        locations = {}
        for location in map(message, by_field[4]):
            assert location[2] in mappings
            locations[location[1]] = functions[message(location[4])[1]]
        self.samples = []  # (names leaf first, values, labels)
        for sample in by_field.get(2, []):
            stack, values, labels = [], [], {}
            for number, value in fields(sample):
                if number == 1:
                    stack = [locations[place] for place in packed(value)]
                elif number == 2:
                    values = [signed(one) for one in packed(value)]
                elif number == 3:
                    label = message(value)
                    labels[text(label[1])] = text(label[2]) if 2 in label else label[3]
            assert len(values) == len(self.types) and stack
            self.samples.append((stack, values, labels))
        self.comments = [text(number) for number in by_field.get(13, [])]
        self.period = by_field.get(12, [0])[0]
        self.default = text(by_field[14][0])

    def totals(self):
        return {name: sum(values[i] for _, values, _ in self.samples)
                for i, (name, _) in enumerate(self.types)}


# Profiles.

def tree_profile(directory, **meta):
    """main calls fib, which calls itself and `odd`; a worker calls `odd`."""
    methods = [("app/Main", "main", "([Ljava/lang/String;)V"), ("app/Main", "fib", "(I)J"),
               ("app/Odd", ODD.encode("latin-1"), "(I[Ljava/util/List;)V")]
    data = b"".join(made.method(i + 1, *parts) for i, parts in enumerate(methods))
    #        node: word, parent, calls, exits, self
    nodes = [(made.THREAD, 0, 0, 0, 5), (C2 + 1, 1, 1, 1, 1000), (C2 + 2, 2, 3, 3, 300),
             (C2 + 2, 3, 40, 40, 400), (C2 + 3, 4, 7, 7, 70), (C2 + 3, 3, 2, 2, 20),
             (C2 + 2, 6, 9, 9, 90)]
    made.profile(directory, **{"node_count": len(nodes) + 1, "methods_bytes": len(data), **meta})
    made.write(directory, "methods", data)
    made.write(directory, "nodes", bytes(64) + b"".join(made.node(*node) for node in nodes))
    return directory


def deep_profile(directory, depth):
    """Three methods that call each other, each call taking a microsecond."""
    methods = b"".join(made.method(i, "app/Main", f"m{i}", "()V") for i in (1, 2, 3))
    nodes = [(made.THREAD, 0, 0, 0, 5)] + [(C2 + 1 + i % 3, i + 1, 1, 1, 1000)
                                           for i in range(depth)]
    made.profile(directory, node_count=len(nodes) + 1, methods_bytes=len(methods))
    made.write(directory, "methods", methods)
    made.write(directory, "nodes", bytes(64) + b"".join(made.node(*node) for node in nodes))
    return directory


def two_threads(directory):
    """That of tree_profile, and a second thread that calls main, too."""
    tree_profile(directory, node_count=10, thread_count=2)
    made.write(directory, "nodes", made.node(made.THREAD, 0, 0, 0, 7)
               + made.node(C2 + 1, 8, 2, 2, 1000), "ab")
    record = struct.pack("<4I", 2, 0, 78, 8).ljust(136, b"\0") + b"worker".ljust(88, b"\0")
    made.write(directory, "control", record.ljust(256, b"\0"), "ab")
    return directory


# The messages of opentelemetry-proto 1.11 (profiles/v1development, common/v1, resource/v1) that a
# file may have: the fields in lowerCamelCase and their types. A list has elements of the type.
# 64-bit integers are texts in JSON.
OTLP = {
    "ProfilesData": {"resourceProfiles": ["ResourceProfiles"], "dictionary": "ProfilesDictionary"},
    "ProfilesDictionary": {
        "mappingTable": ["Mapping"], "locationTable": ["Location"], "functionTable": ["Function"],
        "linkTable": ["Link"], "stringTable": ["string"], "attributeTable": ["KeyValueAndUnit"],
        "stackTable": ["Stack"]},
    "ResourceProfiles": {"resource": "Resource", "scopeProfiles": ["ScopeProfiles"],
                         "schemaUrl": "string"},
    "ScopeProfiles": {"scope": "InstrumentationScope", "profiles": ["Profile"],
                      "schemaUrl": "string"},
    "Profile": {
        "sampleType": "ValueType", "samples": ["Sample"], "timeUnixNano": "int64",
        "durationNano": "int64", "periodType": "ValueType", "period": "int64",
        "profileId": "bytes", "droppedAttributesCount": "int32",
        "originalPayloadFormat": "string", "originalPayload": "bytes",
        "attributeIndices": ["int32"]},
    "Link": {"traceId": "bytes", "spanId": "bytes"},
    "ValueType": {"typeStrindex": "int32", "unitStrindex": "int32"},
    "Sample": {"stackIndex": "int32", "attributeIndices": ["int32"], "linkIndex": "int32",
               "values": ["int64"], "timestampsUnixNano": ["int64"]},
    "Mapping": {"memoryStart": "int64", "memoryLimit": "int64", "fileOffset": "int64",
                "filenameStrindex": "int32", "attributeIndices": ["int32"]},
    "Stack": {"locationIndices": ["int32"]},
    "Location": {"mappingIndex": "int32", "address": "int64", "lines": ["Line"],
                 "attributeIndices": ["int32"]},
    "Line": {"functionIndex": "int32", "line": "int64", "column": "int64"},
    "Function": {"nameStrindex": "int32", "systemNameStrindex": "int32",
                 "filenameStrindex": "int32", "startLine": "int64"},
    "KeyValueAndUnit": {"keyStrindex": "int32", "value": "AnyValue", "unitStrindex": "int32"},
    "KeyValue": {"key": "string", "value": "AnyValue"},
    "AnyValue": {"stringValue": "string", "boolValue": "bool", "intValue": "int64",
                 "doubleValue": "double", "bytesValue": "bytes"},
    "Resource": {"attributes": ["KeyValue"], "droppedAttributesCount": "int32"},
    "InstrumentationScope": {"name": "string", "version": "string", "attributes": ["KeyValue"],
                             "droppedAttributesCount": "int32"},
}
OTLP_SCALARS = {
    "string": lambda value: isinstance(value, str), "bytes": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "double": lambda value: isinstance(value, (int, float)),
    "int32": lambda value: isinstance(value, int) and -1 << 31 <= value < 1 << 31,
    "int64": lambda value: isinstance(value, str) and -1 << 63 <= int(value) < 1 << 64}


def check_message(value, kind, place="$"):
    """What is wrong with a message in JSON: unknown fields and values of another type."""
    if isinstance(kind, list):
        if not isinstance(value, list):
            return [f"{place}: no list"]
        return [wrong for i, one in enumerate(value)
                for wrong in check_message(one, kind[0], f"{place}[{i}]")]
    if kind in OTLP_SCALARS:
        return [] if OTLP_SCALARS[kind](value) else [f"{place}: {value!r} is no {kind}"]
    wrong = [f"{place}.{field}: unknown" for field in value if field not in OTLP[kind]]
    for field, of in OTLP[kind].items():
        if field in value:
            wrong += check_message(value[field], of, f"{place}.{field}")
    return wrong


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="jprof-export-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def jprof(self, *words, status=0, text=True, env=None):
        done = subprocess.run([JPROF, *words], cwd=self.folder, capture_output=True, text=text,
                              timeout=600, env={**os.environ, "NO_PROXY": "*", **(env or {})})
        self.assertEqual(done.returncode, status, done)
        return done.stdout if status == 0 else done.stderr

    def export(self, profile, kind, *words):
        return self.jprof("export", profile, "--format", kind, "-o", "-", *words, text=False)

    def methods(self, profile, *words):
        """name -> (calls, self, inclusive) by `jprof report methods`."""
        report = json.loads(self.jprof("report", "methods", "--format", "json", *words,
                                       profile))
        return {row["name"]: row for row in report["methods"]}, report


class Trees(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.profile = tree_profile(os.path.join(cls.folder, "app.jprof"))

    def test_pprof_has_every_context_once_with_all_metrics(self):
        profile = Pprof(self.export(self.profile, "pprof"))
        self.assertEqual(profile.types, [("calls", "count"), ("time_raw", "nanoseconds")])
        self.assertEqual(profile.totals(), {"calls": 62, "time_raw": 1885})
        self.assertEqual(profile.default, "time_raw")
        stacks = {tuple(name for name, _ in stack): values for stack, values, _ in profile.samples}
        fib = "app.Main.fib(int)"
        main = "app.Main.main(java.lang.String[])"
        self.assertEqual(stacks[fib, fib, main], [40, 400])
        self.assertEqual(stacks["(outside any method)",], [0, 5])
        self.assertEqual(len(stacks), len(profile.samples))
        self.assertTrue(all(labels == {"thread": "main", "tid": 77}
                            for _, _, labels in profile.samples))
        names = {name: system for stack, _, _ in profile.samples for name, system in stack}
        self.assertEqual(names[fib], "app/Main.fib(I)J")
        self.assertIn("UNCALIBRATED", "\n".join(profile.comments))
        rows, _ = self.methods(self.profile, "--uncalibrated")
        self.assertEqual(sum(row["calls"] for row in rows.values()), profile.totals()["calls"])

    def test_callgrind_has_the_inclusive_values_of_the_report(self):
        text = self.export(self.profile, "callgrind").decode()
        self.assertTrue(text.startswith("# callgrind format\n"))
        self.assertIn("events: time_raw calls\n", text)
        self.assertIn("summary: 1885 62\n", text)
        inclusive = callgrind_inclusive(text)
        rows, _ = self.methods(self.profile, "--uncalibrated")
        for name, row in rows.items():
            if not name.startswith("("):
                self.assertEqual(inclusive[name][0], row["cumulative"][0], name)
        self.assertEqual(inclusive["app/Main.fib(I)J"], [880, 61])

    @unittest.skipUnless(shutil.which("callgrind_annotate"), "callgrind_annotate: apt: valgrind")
    def test_callgrind_annotate_reads_it(self):
        made.write(self.folder, "x.callgrind", self.export(self.profile, "callgrind"))
        done = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100",
                               "x.callgrind"], cwd=self.folder, capture_output=True, text=True,
                              check=True)
        self.assertNotIn("malformed", done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\n *1,885 \(.*\) +62 .*PROGRAM TOTALS")
        shown = {line.split("???:")[1].split(" [")[0]: int(line.split()[0].replace(",", ""))
                 for line in done.stdout.splitlines() if "???:" in line}
        rows, _ = self.methods(self.profile, "--uncalibrated")
        for name, row in rows.items():
            if not name.startswith("("):
                self.assertEqual(shown[name], row["cumulative"][0], done.stdout)

    @unittest.skipUnless(shutil.which("go"), "go tool pprof: apt: golang-go")
    def test_go_tool_pprof_reads_it(self):
        made.write(self.folder, "go.pb.gz", self.export(self.profile, "pprof"))
        raw = subprocess.run(["go", "tool", "pprof", "-raw", "go.pb.gz"], cwd=self.folder,
                             capture_output=True, text=True, check=True).stdout
        self.assertIn("calls/count time_raw/nanoseconds[dflt]", raw)
        samples = raw[raw.index("Samples:"):raw.index("Locations")]
        values = [list(map(int, line.split(":")[0].split()))
                  for line in samples.splitlines() if re.match(r" +\d+ +\d+:", line)]
        self.assertEqual([sum(column) for column in zip(*values)], [62, 1885], raw)
        top = subprocess.run(["go", "tool", "pprof", "-top", "-sample_index=calls", "go.pb.gz"],
                             cwd=self.folder, capture_output=True, text=True, check=True).stdout
        self.assertRegex(top, r"app\.Main\.fib\(int\)")

    def test_speedscope_follows_the_rules_of_its_format(self):
        data = json.loads(self.export(self.profile, "speedscope"))
        self.assertEqual(data["$schema"], "https://www.speedscope.app/file-format-schema.json")
        frames = data["shared"]["frames"]
        totals = {}
        for profile in data["profiles"]:
            self.assertEqual(profile["type"], "evented")
            self.assertIn(profile["unit"], ("none", "nanoseconds", "bytes"))
            at, open_frames = profile["startValue"], []
            for event in profile["events"]:
                self.assertGreaterEqual(event["at"], at)
                at = event["at"]
                self.assertTrue(frames[event["frame"]]["name"])
                if event["type"] == "O":
                    open_frames.append(event["frame"])
                else:
                    self.assertEqual((event["type"], event["frame"]), ("C", open_frames.pop()))
            self.assertEqual(open_frames, [])
            self.assertGreaterEqual(profile["endValue"], at)
            totals[profile["name"]] = profile["endValue"]
        self.assertEqual(totals, {"main (tid 77): time_raw": 1885, "main (tid 77): calls": 62})
        self.assertLess(data["activeProfileIndex"], len(data["profiles"]))

    def test_otlp_has_the_fields_of_the_public_schema(self):
        for profile in (self.profile, deep_profile(self.path("otlp-deep.jprof"), 600)):
            data = json.loads(self.export(profile, "otlp").decode())
            self.assertEqual(check_message(data, "ProfilesData"), [])
        planted = json.loads(self.export(self.profile, "otlp").decode())
        planted["dictionary"]["stackTable"][0]["locations"] = []
        planted["resourceProfiles"][0]["scopeProfiles"][0]["profiles"][0]["timeUnixNano"] = 5
        self.assertEqual(len(check_message(planted, "ProfilesData")), 2)

    def test_otlp_refers_to_its_dictionary(self):
        text = self.export(self.profile, "otlp").decode()
        self.assertEqual(text.count("\n"), 1, "one line, as receivers of files read it")
        data = json.loads(text)
        tables = data["dictionary"]
        for name in ("mapping", "location", "function", "link", "attribute", "stack"):
            self.assertEqual(tables[name + "Table"][0], {}, name)
        texts = tables["stringTable"]
        self.assertEqual(texts[0], "")
        totals = {}
        for profile in data["resourceProfiles"][0]["scopeProfiles"][0]["profiles"]:
            name = texts[profile["sampleType"]["typeStrindex"]]
            for sample in profile["samples"]:
                totals[name] = totals.get(name, 0) + int(sample["values"][0])
                stack = tables["stackTable"][sample["stackIndex"]]["locationIndices"]
                for place in stack:
                    line = tables["locationTable"][place]["lines"][0]
                    function = tables["functionTable"][line["functionIndex"]]
                    self.assertTrue(texts[function["nameStrindex"]])
                keys = [texts[tables["attributeTable"][i]["keyStrindex"]]
                        for i in sample["attributeIndices"]]
                self.assertEqual(keys, ["thread.name", "thread.id"])
        self.assertEqual(totals, {"time_raw": 1885, "calls": 62})

    def test_sqlite_answers_as_the_report(self):
        self.jprof("export", self.profile, "--format", "sqlite", "-o", "app.sqlite")
        with contextlib.closing(sqlite3.connect(self.path("app.sqlite"))) as db:
            rows, _ = self.methods(self.profile, "--uncalibrated")
            self.assertEqual(db.execute("SELECT sum(calls) FROM context").fetchone()[0],
                             sum(row["calls"] for row in rows.values()))
            found = dict(db.execute("SELECT name, time_raw FROM method_inclusive"))
            alone = dict(db.execute("SELECT name, time_raw FROM method_self"))
            for name, row in rows.items():
                if not name.startswith("("):
                    self.assertEqual(found[name], row["cumulative"][0])
                    self.assertEqual(alone[name], row["base"][0])
            top = db.execute("SELECT max(time_raw) FROM context_inclusive").fetchone()[0]
            self.assertEqual(top, 1885)
            self.assertEqual(db.execute("PRAGMA integrity_check").fetchone()[0], "ok")
            self.assertEqual([row[0] for row in db.execute("SELECT name FROM metric")],
                             ["calls", "time_raw"])

    def test_deep_recursion_is_folded_where_whole_stacks_are_written(self):
        depth = 20_000
        deep = deep_profile(self.path("deep.jprof"), depth)
        for kind, has_notes in (("pprof", True), ("otlp", True), ("collapsed", False)):
            done = subprocess.run([JPROF, "export", deep, "--format", kind, "-o", "-"],
                                  cwd=self.folder, capture_output=True, timeout=600, check=True)
            self.assertIn(b"recursion below 512 frames is folded", done.stderr, kind)
            data = gzip.decompress(done.stdout) if kind == "pprof" else done.stdout
            self.assertLess(len(data), 10 * 64 * depth, kind)
            self.assertEqual(b"recursion below 512 frames" in data, has_notes, kind)
        stacks = [line.rsplit(" ", 1) for line in done.stdout.decode().splitlines()]
        self.assertEqual(sum(int(value) for _, value in stacks), depth)
        self.assertEqual(len(stacks), 512 + 3, "the thread itself has less than a microsecond")
        self.assertEqual(max(stack.count(";") for stack, _ in stacks), 512 + 3)

    def test_deep_recursion_in_formats_that_hold_trees(self):
        depth = 20_000
        deep = deep_profile(self.path("tree.jprof"), depth)
        page = json.loads(self.export(deep, "speedscope", "--uncalibrated"))
        for profile in page["profiles"]:
            at = deepest = 0
            for event in profile["events"]:
                at += 1 if event["type"] == "O" else -1
                deepest = max(deepest, at)
            self.assertEqual((at, deepest), (0, 1000 + 3))
        self.assertIn(1000 * depth + 5, [profile["endValue"] for profile in page["profiles"]])
        self.jprof("export", deep, "--uncalibrated", "-o", "deep.callgrind")
        if shutil.which("callgrind_annotate"):
            done = subprocess.run(["callgrind_annotate", "deep.callgrind"], cwd=self.folder,
                                  capture_output=True, text=True, timeout=600, check=True)
            self.assertIn("PROGRAM TOTALS", done.stdout)
            self.assertIn("app/Main.m1()V", done.stdout)

    def test_collapsed_is_that_of_the_report(self):
        self.assertEqual(self.export(self.profile, "collapsed", "--uncalibrated").decode(),
                         self.jprof("report", "log-rt", "--format", "collapsed", "--uncalibrated",
                                    self.profile))
        calls = tree_profile(self.path("calls.jprof"), mode="calltree", metrics=[])
        lines = self.export(calls, "collapsed").decode().splitlines()
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines), 62)

    def test_a_tree_has_no_points_in_time(self):
        for kind in ("perfetto", "chrome"):
            said = self.jprof("export", self.profile, "--format", kind, status=2)
            self.assertIn("no points in time", said)
            self.assertIn("--format speedscope", said)

    def test_metric_and_threads(self):
        self.assertIn("did you mean 'time'?",
                      self.jprof("export", self.profile, "--metric", "tine", status=2))
        both = two_threads(self.path("two.jprof"))
        apart = Pprof(self.export(both, "pprof"))
        merged = Pprof(self.export(both, "pprof", "--threads", "merged"))
        for profile, threads in ((apart, {"main", "worker"}), (merged, {"(all threads)"})):
            self.assertEqual(profile.totals(), {"calls": 64, "time_raw": 2892})
            self.assertEqual({labels["thread"] for _, _, labels in profile.samples}, threads)
        # main() of both threads is one context.
        self.assertEqual(len(merged.samples), len(apart.samples) - 2)

    def test_samples_have_their_period_and_times(self):
        metrics = [{"name": "samples", "unit": "samples", "scale": 1, "kind": "samples",
                    "period": 1000000, "period_unit": "ns", "period_clock": "cpu"}]
        sampled = tree_profile(self.path("sampled.jprof"), mode="scs", metrics=metrics)
        profile = Pprof(self.export(sampled, "pprof"))
        self.assertEqual(profile.totals()["samples"], 1885)
        self.assertEqual(profile.totals()["cpu"], 1885 * 1000000)
        self.assertEqual((profile.period, profile.default), (1000000, "cpu"))

    def test_a_combined_profile_has_exact_calls_and_sampled_times(self):
        metrics = [{"name": "samples", "unit": "samples", "scale": 1, "kind": "samples",
                    "period": 1000000, "period_unit": "ns", "period_clock": "cpu"}]
        tree_profile(self.path("counted"), mode="calltree", metrics=[],
                     options={"fold_recursion": True})
        tree_profile(self.path("sampled"), mode="scs", metrics=metrics)
        self.jprof("combine", "counted", "sampled", "-o", "both.jprof")
        report = json.loads(self.jprof("report", "combined", "--format", "json", "both.jprof"))
        totals = Pprof(self.export("both.jprof", "pprof")).totals()
        self.assertEqual(totals["calls"], report["counted_run"]["calls"])
        self.assertEqual(totals["samples"], sum(run["samples"] for run in report["sampled_runs"]))
        self.assertEqual(totals["time"], 1885 * 1000000)
        self.assertEqual(self.export("both.jprof", "collapsed").decode(),
                         self.jprof("report", "combined", "--format", "collapsed", "both.jprof"))
        self.assertIn("has no --metric",
                      self.jprof("export", "both.jprof", "--metric", "time", status=2))
        self.jprof("export", "both.jprof", "--format", "sqlite")
        with contextlib.closing(sqlite3.connect(self.path("both.sqlite"))) as db:
            found, = db.execute("SELECT sum(calls), sum(time), min(time_high - time_low) "
                                "FROM context")
        self.assertEqual(found[:2], (totals["calls"], totals["time"]))
        self.assertGreater(found[2], 0)

    def test_a_combined_profile_says_how_its_counted_times_were_corrected(self):
        metrics = [{"name": "samples", "unit": "samples", "scale": 1, "kind": "samples",
                    "period": 1000000, "period_unit": "ns", "period_clock": "cpu"}]
        tree_profile(self.path("timed"), options={"fold_recursion": True})
        tree_profile(self.path("sampled-2"), mode="scs", metrics=metrics)
        self.jprof("combine", "timed", "sampled-2", "-o", "timed.jprof")
        comments = Pprof(self.export("timed.jprof", "pprof")).comments
        self.assertIn("counted_time: UNCALIBRATED: ", "\n".join(comments))

    def test_a_merged_profile_says_so(self):
        for name in ("m1.jprof", "m2.jprof"):
            tree_profile(self.path(name))
        self.jprof("merge", "m1.jprof", "m2.jprof", "-o", "merged.jprof")
        profile = Pprof(self.export("merged.jprof", "pprof"))
        self.assertEqual(profile.totals()["calls"], 2 * 62)
        self.assertIn("merged: 2 profiles; threads: by-name", profile.comments)

    def test_of_several_jvms_the_busiest(self):
        for name in ("java-1", "java-2"):
            tree_profile(self.path(f"several.jprof/{name}"))
        done = subprocess.run([JPROF, "export", "several.jprof", "--format", "callgrind"],
                              cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertIn("the busiest JVM", done.stderr)
        self.assertTrue(os.path.exists(self.path("several.callgrind")))

    # Files.

    def test_the_file_is_named_after_the_profile_or_names_the_format(self):
        self.jprof("export", "app.jprof/", "--format", "callgrind")
        self.assertTrue(os.path.exists(self.path("app.callgrind")))
        done = subprocess.run([JPROF, "export", self.profile, "-o", "y.speedscope.json"],
                              cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertIn("jprof: next:    npx speedscope y.speedscope.json", done.stderr)
        with open(self.path("y.speedscope.json"), encoding="utf-8") as file:
            json.load(file)
        done = subprocess.run([JPROF, "export", self.profile, "-o", "a;b.callgrind"],
                              cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertIn("--inclusive=yes 'a;b.callgrind'", done.stderr)
        self.assertFalse([name for name in os.listdir(self.folder) if name.endswith(".part")])

    def test_a_file_that_cannot_be_written_stays_as_it_was(self):
        made.write(self.folder, "keep.pb.gz", b"old")
        broken = self.path("no.jprof")
        self.jprof("export", broken, "-o", "keep.pb.gz", status=2)
        with open(self.path("keep.pb.gz"), "rb") as file:
            self.assertEqual(file.read(), b"old")
        for kind in ("pprof", "sqlite"):
            said = self.jprof("export", self.profile, "--format", kind, "-o", "none/x", status=2)
            self.assertIn("cannot write none/x: No such file", said)
            self.assertIn("choose another file with -o", said)
        self.assertIn("is a directory", self.jprof("export", self.profile, "-o", ".", status=2))
        if os.path.exists("/dev/full"):
            self.assertIn("free some space",
                          self.jprof("export", self.profile, "-o", "/dev/full", status=1))

    def test_a_link_stays_and_permissions_too(self):
        os.makedirs(self.path("real"), exist_ok=True)
        made.write(self.folder, "real/old", b"old")
        os.chmod(self.path("real/old"), 0o600)
        for target in ("real/old", "real/new", "/dev/null"):
            for kind in ("pprof", "sqlite") if target != "/dev/null" else ("pprof",):
                os.symlink(target, self.path("link"))
                self.jprof("export", self.profile, "--format", kind, "-o", "link")
                self.assertEqual(os.readlink(self.path("link")), target)
                os.remove(self.path("link"))
        for name in ("old", "new"):
            self.assertGreater(os.path.getsize(self.path("real/" + name)), 100)
        self.assertEqual(os.stat(self.path("real/old")).st_mode & 0o777, 0o600)
        self.assertEqual(sorted(os.listdir(self.path("real"))), ["new", "old"])
        pipe = subprocess.run([JPROF, "export", self.profile, "--format", "callgrind", "-o",
                               "/dev/stdout"], capture_output=True, text=True, timeout=600,
                              check=True)
        self.assertTrue(pipe.stdout.startswith("# callgrind format"))
        with open(self.path("redirected"), "w+b") as file:
            subprocess.run([JPROF, "export", self.profile, "--format", "callgrind", "-o",
                            "/dev/stdout"], stdout=file, timeout=600, check=True)
            file.seek(0)
            self.assertTrue(file.read().startswith(b"# callgrind format"))

    def test_the_file_that_is_renamed_is_a_new_one(self):
        made.write(self.folder, "precious", b"old")
        for kind in ("pprof", "sqlite"):  # exec keeps the process id
            script = 'ln -s precious "out.$$.part"; exec "$0" export "$1" --format "$2" -o out'
            subprocess.run(["sh", "-c", script, JPROF, self.profile, kind], cwd=self.folder,
                           capture_output=True, timeout=600, check=True)
        with open(self.path("precious"), "rb") as file:
            self.assertEqual(file.read(), b"old")

    def test_a_name_that_is_a_uri_for_sqlite_is_a_file(self):
        self.jprof("export", self.profile, "--format", "sqlite", "-o", "file:x.sqlite?mode=memory")
        self.assertGreater(os.path.getsize(self.path("file:x.sqlite?mode=memory")), 4096)

    def test_wrong_use(self):
        self.assertIn("did you mean 'pprof'?",
                      self.jprof("export", self.profile, "--format", "pprofs", status=2))
        self.assertIn("needs a file",
                      self.jprof("export", self.profile, "--format", "sqlite", "-o", "-",
                                 status=2))
        self.assertIn("Examples:", self.jprof("export", "--help"))
        made.recording(self.path("recording"), made.record(made.SAMPLE, pid=5, tid=5, address=64))
        for words in (["export"], ["push", "http://127.0.0.1:1"]):
            self.assertIn("jprof report tprof --format collapsed recording",
                          self.jprof(*words, "recording", status=2))

    def test_a_calibration_table_corrects(self):
        cost = {"count": 9, "observed": 11, "truth": 10, "overhead": 1.5, "minimum": 1, "spread": 2,
                "repeat": 0.5, "context": 0}
        keys = {f"{previous}-{one}-{event}-{other}": cost for previous in ("En", "Ex")
                for event in ("En", "Ex") for one in "RT" for other in "RT"}
        table = {"version": 2, "made_at": "2026-01-01T00:00:00Z", "fingerprint": {"cpu": "c"},
                 "metrics": [{"name": "time", "unit": "ns", "granularity": 1, "bias": 0,
                              "keys": keys}]}
        made.write(self.folder, "table.json", json.dumps(table).encode())
        profile = Pprof(self.export(self.profile, "pprof", "--table", "table.json"))
        metric, = json.loads(self.jprof("report", "log-rt", "--format", "json", "--table",
                                        "table.json", self.profile))["metrics"]
        totals = profile.totals()
        self.assertEqual(totals["time_raw"], 1885)
        self.assertAlmostEqual(totals["time"], metric["raw"] - metric["removed"], delta=1)
        self.assertLess(totals["time"], 1885)
        self.assertEqual(profile.default, "time")
        self.assertIn("calibrated with table.json", "\n".join(profile.comments))
        self.jprof("export", self.profile, "--format", "sqlite", "--table", "table.json", "-o",
                   "table.sqlite")
        with contextlib.closing(sqlite3.connect(self.path("table.sqlite"))) as db:
            found, = db.execute("SELECT sum(time), sum(time_raw), min(time_error), "
                                "max(time_error) FROM context")
        self.assertEqual(found[:2], (totals["time"], 1885))
        self.assertGreaterEqual(found[2], 0)
        self.assertGreater(found[3], 0)
        self.jprof("export", self.profile, "--table", "none.json", status=2)
        self.jprof("export", self.profile, "--table", "table.json", "--uncalibrated", status=2)

    def test_binary_is_not_written_to_a_terminal(self):
        with terminal.opened() as (_, theirs):
            done = subprocess.run([JPROF, "export", self.profile, "-o", "-"], stdout=theirs,
                                  stderr=subprocess.PIPE, text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("standard output is a terminal", done.stderr)

    def test_damaged_profiles_are_exported_with_a_note(self):
        broken = tree_profile(self.path("broken.jprof"))
        os.truncate(os.path.join(broken, "nodes"), 64 * 5 + 20)
        self.assertIn("damaged:", "\n".join(Pprof(self.export(broken, "pprof")).comments))
        for kind in ("callgrind", "speedscope", "collapsed", "otlp"):
            self.export(broken, kind)
        self.jprof("export", broken, "--format", "sqlite", "-o", "broken.sqlite")

    def test_a_closed_pipe_is_no_error(self):
        done = subprocess.run(f"'{JPROF}' export '{self.profile}' --format callgrind -o - | head -1",
                              shell=True, capture_output=True, text=True, timeout=600, check=True)
        self.assertEqual((done.stdout, done.stderr), ("# callgrind format\n", ""))


def callgrind_inclusive(text):
    """name -> inclusive values, as callgrind_annotate adds them up: those of a function that is
    called are the costs of the calls to it."""
    names, own, called = {}, {}, {}
    current = callee = None
    for line in text.splitlines():
        key = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?$", line)
        if key:
            name = names.setdefault(key.group(2), key.group(3))
            current, callee = (name, None) if key.group(1) == "fn" else (current, name)
        elif re.match(r"0 ", line):
            costs = list(map(int, line.split()[1:]))
            sums = own if callee is None else called
            name = callee or current
            sums[name] = [a + b for a, b in zip(sums.get(name, [0] * len(costs)), costs)]
    return {**own, **called}


class Traces(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # 1 calls 1 twice; then 10 events are missing, and an exit without its entry follows.
        cls.profile = made.trace(os.path.join(cls.folder, "t.jprof"), [
            (0, 0, [(1, 0, 100), (1, 0, 10), (1, 1, 20), (1, 0, 5), (1, 1, 7), (1, 1, 3)]),
            (16, 1145, [(1, 1, 2), (1, 0, 4), (1, 0, 6)])])

    def test_chrome(self):
        data = json.loads(self.export(self.profile, "chrome"))
        events = data["traceEvents"]
        names = [event["args"]["name"] for event in events if event["ph"] == "M"]
        self.assertEqual(names, ["java Demo", "main"])
        slices = [(event["ph"], round(event["ts"] * 1000)) for event in events
                  if event["ph"] != "M"]
        self.assertEqual(slices, [("B", 100), ("B", 110), ("E", 130), ("B", 135), ("E", 142),
                                  ("E", 145), ("i", 1145), ("B", 1151), ("B", 1157), ("E", 1157),
                                  ("E", 1157)])
        notes = data["otherData"]["notes"]
        for part in ("10 events are missing", "1 exits without an entry", "2 calls had not returned",
                     "UNCALIBRATED"):
            self.assertIn(part, notes)

    def test_perfetto(self):
        tracks, slices, names = {}, [], {}
        for number, packet in fields(self.export(self.profile, "perfetto")):
            self.assertEqual(number, 1)
            packet = message(packet)
            if 12 in packet:
                name = message(message(packet[12])[2])
                names[name[1]] = name[2].decode()
            if 60 in packet:
                track = message(packet[60])
                if 4 in track:
                    tracks[track[1]] = message(track[4])[5].decode()
            if 11 in packet:
                event = message(packet[11])
                if event[9] != 3:
                    slices.append((event[9], packet[8], names.get(event.get(10)),
                                   tracks[event[11]]))
        run = "app/Main.run()V"
        self.assertEqual(slices[:3], [(1, 100, run, "main"), (1, 110, run, "main"),
                                      (2, 130, None, "main")])
        self.assertEqual(len(slices), 10)

    def test_times_add_up_to_those_of_the_report(self):
        rows = json.loads(self.jprof("report", "log-gen", "--format", "json",
                                     self.profile))["events"]
        events = json.loads(self.export(self.profile, "chrome"))["traceEvents"]
        last = max(round(event["ts"] * 1000) for event in events if "ts" in event)
        self.assertEqual(last, sum(row["delta"] for row in rows) + 1000)  # that of the gap

    def test_a_trace_has_no_tree(self):
        for kind in ("pprof", "callgrind", "speedscope", "collapsed", "otlp", "sqlite"):
            said = self.jprof("export", self.profile, "--format", kind, status=2)
            self.assertIn("export it with --format perfetto or chrome", said)
        self.jprof("export", self.profile)
        self.assertTrue(os.path.exists(self.path("t.perfetto-trace")))

    def test_time_does_not_grow_with_the_square_of_the_trace(self):
        # Entries of one method, then as many exits of another: a search for each takes minutes.
        many, in_block = 300_000, 10_000
        blocks = [(first, first, [(1 if first < many else 2, first >= many, 1)] * in_block)
                  for first in range(0, 2 * many, in_block)]
        deep = made.trace(self.path("deep.jprof"), blocks)
        self.jprof("export", deep, "-o", "deep.perfetto-trace")
        with open(self.path("deep.perfetto-trace"), "rb") as file:
            self.assertIn(f"{many} exits without an entry".encode(), file.read())

    def test_a_trace_has_all_threads_and_its_first_metric(self):
        for words in (["--threads", "merged"], ["--metric", "time"]):
            self.assertIn("leave out --metric and --threads",
                          self.jprof("export", self.profile, *words, status=2))

    def test_a_missing_part_of_a_continuous_trace_is_named(self):
        lost = made.trace(self.path("lost.jprof"), [(0, 0, [(1, 0, 1), (1, 1, 1)])])
        os.remove(os.path.join(lost, "trace"))
        made.write(lost, "trace.zst", b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00")  # an empty frame
        notes = json.loads(self.export(lost, "chrome"))["otherData"]["notes"]
        self.assertIn("damaged: trace: cut off: blocks are missing", notes)

    def test_a_trace_without_times(self):
        counted = made.trace(self.path("c.jprof"), [(0, 0, [(1, 0, 1), (1, 1, 1)])],
                             metrics=[{"name": "INS", "unit": "events", "kind": "count"}])
        self.assertIn("has no times", self.jprof("export", counted, status=2))


CALLS = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile long sum;
__attribute__((noinline)) void last(long n) { sum += n; }
__attribute__((noinline)) void jumps(long n) { last(n + 1); }
__attribute__((noinline)) long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static void handler(int number) { sum += number; }
static void* work(void* n) {
  for (long i = 0; i < (long)n; ++i) jumps(i);
  sum += fib(12);
  return 0;
}
int main(void) {
  pthread_t thread;
  signal(SIGUSR1, handler);
  pthread_create(&thread, 0, work, (void*)100);
  raise(SIGUSR1);
  usleep(1000);
  work((void*)10);
  pthread_join(thread, 0);
  printf("%ld\n", sum);
}
"""


def chrome_events(text):
    """Returns (thread, ns, phase, name, is a call, value) of each event, and the threads' names."""
    events, names = [], {}
    for event in json.loads(text)["traceEvents"]:
        if event["ph"] == "M":
            names[event["tid"]] = event["args"]["name"]
            continue
        if event["ph"] == "C":
            assert event["id"] == event["tid"]
        events.append((event["tid"], round(event["ts"] * 1000), event["ph"], event.get("name"),
                       event["ph"] == "B" and "no-call" not in event["cat"].split(","),
                       event.get("args", {}).get("value")))
    return events, names


def perfetto_events(data):
    """Returns the same by the protos of google/perfetto, and the main clock."""
    events, names, tracks, clock = [], {}, {}, None
    for _, packet in fields(data):
        packet = message(packet)
        if 6 in packet:
            clock = message(packet[6])[2]
        if 12 in packet:
            name = message(message(packet[12])[2])
            names[name[1]] = name[2].decode()
        if 60 in packet:
            track = message(packet[60])
            counted = track[2].decode() if 8 in track else None
            tracks[track[1]] = ((message(track[4])[2], counted) if 4 in track else
                                (tracks[track[5]][0], counted) if 5 in track else (0, None))
        if 11 in packet:
            event = message(packet[11])
            categories = [value for number, value in fields(packet[11]) if number == 22]
            tid, counted = tracks[event[11]]
            name = counted or names.get(event.get(10)) or event.get(23, b"").decode() or None
            phase = " BEiC"[event[9]]
            events.append((tid, packet[8], phase, name,
                           phase == "B" and b"no-call" not in categories, event.get(30)))
    return events, clock


class InstructionTraces(Case):
    """Compares a recording of `jprof itrace` with `jprof report arc`."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if shutil.which("cc") is None:
            raise unittest.SkipTest("no compiler")
        made.write(cls.folder, "calls.c", CALLS.encode())
        subprocess.run(["cc", "-O1", "-foptimize-sibling-calls", "-pthread", "-o", "calls",
                        "calls.c"], cwd=cls.folder, check=True)
        traced = subprocess.run([JPROF, "itrace", "--threads", "all", "-o", "calls.itrace", "--",
                                 "./calls"], cwd=cls.folder, capture_output=True, text=True,
                                timeout=600, check=False)
        if traced.returncode != 0:
            raise unittest.SkipTest(f"no instruction trace: {traced.stderr}")
        report = subprocess.run([JPROF, "report", "arc", "--format", "json", "calls.itrace"],
                                cwd=cls.folder, capture_output=True, text=True, timeout=600,
                                check=True)
        cls.report = json.loads(report.stdout)

    def events(self):
        return chrome_events(self.export("calls.itrace", "chrome"))

    def test_slices_nest_and_are_the_calls_of_the_report(self):
        events, names = self.events()
        depth, last, calls = {}, {}, {}
        for tid, ns, phase, name, is_call, _ in events:
            self.assertGreaterEqual(ns, last.get(tid, 0))
            last[tid] = ns
            depth[tid] = depth.get(tid, 0) + (phase == "B") - (phase == "E")
            self.assertGreaterEqual(depth[tid], 0)
            if is_call:
                calls[name] = calls.get(name, 0) + 1
        self.assertEqual(set(depth.values()), {0})
        expected = {}
        for row in self.report["functions"]:
            if row["calls"]:
                expected[row["function"]] = expected.get(row["function"], 0) + row["calls"]
        self.assertEqual(calls, expected)
        self.assertEqual((calls["calls.jumps"], calls["calls.last"]), (110, 110))
        self.assertEqual({f"{names[thread['tid']]} (tid {thread['tid']})"
                          for thread in self.report["threads"]},
                         {thread["name"] for thread in self.report["threads"]})

    def test_counters_end_with_the_instructions_of_the_thread(self):
        values = {}
        for tid, ns, phase, name, _, value in self.events()[0]:
            if phase == "C":
                self.assertEqual(name, "instructions")
                values.setdefault(tid, []).append((ns, value))
        self.assertEqual({tid: of_thread[-1][1] for tid, of_thread in values.items()},
                         {one["tid"]: one["instructions"] for one in self.report["threads"]})
        self.assertEqual(len(values), 2)
        for of_thread in values.values():
            self.assertEqual(of_thread, sorted(of_thread))
            self.assertGreater(len(of_thread), 10)
            for (before, _), (after, _) in zip(of_thread[:-2], of_thread[1:-1]):
                self.assertGreaterEqual(after - before, 10_000)

    def test_signals_and_system_calls_are_marks(self):
        marks = [name for _, _, phase, name, _, _ in self.events()[0] if phase == "i"]
        self.assertEqual({name: marks.count(name) for name in set(marks)},
                         {"system call": self.report["system_calls"],
                          "signal": self.report["signals"]})
        self.assertEqual(self.report["signals"], 1)

    def test_perfetto_has_the_same_events_and_its_clock(self):
        events, clock = perfetto_events(self.export("calls.itrace", "perfetto"))
        self.assertEqual(clock, 3, "CLOCK_MONOTONIC")
        notes = events.pop()
        self.assertEqual(notes[:4:2], (0, "i"))
        self.assertEqual(events, self.events()[0])

    def test_times_are_those_of_the_recording(self):
        events, _ = self.events()
        seconds = (max(ns for _, ns, *_ in events) - min(ns for _, ns, *_ in events)) / 1e9
        self.assertGreater(seconds, 0.001, "usleep(1000)")
        self.assertLessEqual(seconds, self.report["seconds"])
        self.assertLess(max(ns for _, ns, *_ in events), time.monotonic_ns())
        notes = json.loads(self.export("calls.itrace", "chrome"))["otherData"]["notes"]
        self.assertIn("times are estimates", notes)

    def test_trees_are_exported_as_before_and_by_default(self):
        self.jprof("export", "calls.itrace")
        with open(self.path("calls.pb.gz"), "rb") as file:
            totals = Pprof(file.read()).totals()
        self.assertEqual(totals["instructions"], self.report["instructions"])

    def test_wrong_use(self):
        for words in (["--threads", "merged"], ["--metric", "instructions"]):
            self.assertIn("leave out --metric and --threads",
                          self.jprof("export", "calls.itrace", "--format", "perfetto", *words,
                                     status=2))


def form_parts(headers, body):
    """name -> bytes of a multipart form."""
    head = f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode()
    parsed = email.parser.BytesParser().parsebytes(head + body)
    return {part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
            for part in parsed.get_payload()}


class Push(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.profile = tree_profile(os.path.join(cls.folder, "app.jprof"))
        done = subprocess.run([JPROF, "push", "http://127.0.0.1:1", cls.profile],
                              capture_output=True, text=True, timeout=600, check=False)
        if "libcurl is not installed" in done.stderr:
            raise unittest.SkipTest(done.stderr)

    def test_pyroscope(self):
        with Server() as server:
            self.jprof("push", server.url + "/", self.profile, "--name", "shop", "--label",
                       "env=staging", "--label", "zone=a b", "--tenant", "t1",
                       env={"JPROF_PUSH_AUTHORIZATION": "Bearer secret"})
        (path, headers, body), = server.requests
        url = urllib.parse.urlparse(path)
        query = {key: value[0] for key, value in urllib.parse.parse_qs(url.query).items()}
        self.assertEqual((url.path, query["format"], query["name"]),
                         ("/ingest", "pprof", "shop{env=staging,zone=a b}"))
        self.assertLess(int(query["from"]), int(query["until"]))
        self.assertEqual(headers["Authorization"], "Bearer secret")
        self.assertEqual(headers["X-Scope-OrgID"], "t1")
        parts = form_parts(headers, body)
        self.assertEqual(Pprof(parts["profile"]).totals(), {"calls": 62, "time_raw": 1885})
        types = json.loads(parts["sample_type_config"])
        self.assertEqual(types["time_raw"]["units"], "nanoseconds")
        self.assertEqual(set(types), {"calls", "time_raw"})

    def test_parca(self):
        with Server(answer=b"{}") as server:
            self.jprof("push", server.url + "/api", self.profile, "--server", "parca", "--label",
                       "env=x")
        (path, headers, body), = server.requests
        self.assertEqual((path, headers["Content-Type"]),
                         ("/api/profiles/writeraw", "application/json"))
        series, = json.loads(body)["series"]
        labels = {label["name"]: label["value"] for label in series["labels"]["labels"]}
        self.assertEqual(labels, {"__name__": "jprof", "job": "app", "env": "x"})
        raw = base64.b64decode(series["samples"][0]["rawProfile"], validate=True)
        self.assertEqual(Pprof(raw).totals()["calls"], 62)

    def profiles_of(self, server):
        """Returns for each request the uncompressed bytes of the profile, and the profile."""
        sent = [form_parts(headers, body)["profile"] for _, headers, body in server.requests]
        return [(gzip.decompress(one), Pprof(one)) for one in sent]

    def test_what_is_beyond_a_limit_is_sent_in_parts(self):
        deep = deep_profile(self.path("large.jprof"), 20_000)
        with Server() as server:
            self.assertNotIn("parts", self.pushed(server, deep))
            self.assertRegex(self.pushed(server, deep, "--max-size", "64K"), r" in \d+ parts")
            self.assertRegex(self.pushed(server, deep, "--max-samples", "100"), r" in 6 parts")
        whole, *parts = self.profiles_of(server)
        small, few = parts[:-6], parts[-6:]
        self.assertGreater(len(whole[0]), 1 << 17)
        self.assertGreater(len(small), len(whole[0]) >> 16)
        for data, _ in small:
            self.assertLessEqual(len(data), 1 << 16)
        for _, part in few:
            self.assertLessEqual(len(part.samples), 100)
        for of in (small, few):
            for name, value in whole[1].totals().items():
                self.assertEqual(sum(part.totals()[name] for _, part in of), value)

    def test_a_thread_stays_in_one_part(self):
        two = two_threads(self.path("two.jprof"))
        with Server() as server:
            self.pushed(server, two, "--max-size", "64K")
        (_, profile), = self.profiles_of(server)
        self.assertEqual(profile.totals()["calls"], 64)

    def pushed(self, server, *words):
        """Returns what the command prints on standard error."""
        done = subprocess.run([JPROF, "push", server.url, *words], cwd=self.folder,
                              capture_output=True, text=True, timeout=600, check=True)
        return done.stderr

    def test_at_now_the_profile_is_within_the_last_half_hour(self):
        with Server() as server:
            before = time.time()
            self.pushed(server, self.profile, "--at", "now")
        (path, headers, body), = server.requests
        query = urllib.parse.parse_qs(urllib.parse.urlparse(path).query)
        self.assertLess(before - 1801, int(query["from"][0]))
        self.assertLess(abs(int(query["until"][0]) - before), 60)
        fields_of = message(gzip.decompress(form_parts(headers, body)["profile"]))
        self.assertEqual(fields_of[9] // 10**9, int(query["from"][0]))
        self.assertIn("did you mean 'now'?", self.jprof("push", "http://x", self.profile, "--at",
                                                        "nov", status=2))

    def test_a_limit_of_the_server_is_named_with_the_option_that_helps(self):
        for answer, option in (
                (b"profile with labels '{}' is outside of ingestion window", "--at now"),
                (b"the profile exceeds the size limit (max_profile_size_byte)", "--max-size"),
                (b"the profile exceeds the samples limit (max_profile_stacktrace_samples)",
                 "--max-samples"),
                (b"profile with labels '{}' has 31 label names; limit 30",
                 "max-label-names-per-series"),
                (b"profile with labels '{}' has label name too long: 'a'", "max-length-label-name"),
                (b"profile with labels '{}' has label value too long: 'a'",
                 "max-length-label-value")):
            with Server(400, answer) as server:
                said = self.jprof("push", server.url, self.profile, status=1)
            self.assertIn(answer.decode(), said)
            self.assertIn(option, said)

    def test_limits_that_a_profile_is_not_divided_for_are_warnings(self):
        many = [word for i in range(30) for word in ("--label", f"l{i}=x")]
        with Server() as server:
            said = self.pushed(server, self.profile, *many)
            self.assertIn("31 labels with the name: Pyroscope accepts 30 by default "
                          "(max-label-names-per-series)", said)
            said = self.pushed(server, self.profile, "--label", "long=" + "x" * 2049)
            self.assertIn("the label long has 2049 bytes: Pyroscope accepts 2048", said)
            said = self.pushed(server, self.profile, "--label", "l" * 1025 + "=x")
            self.assertIn("max-length-label-name", said)
            self.assertNotIn("max-", self.pushed(server, self.profile, *many[2:]))
            self.assertNotIn("max-", self.pushed(server, deep_profile(self.path("d.jprof"), 5000)))
        self.assertEqual(len(server.requests), 5)  # a server may have other limits

    def test_answers_that_are_errors_name_url_status_and_next_step(self):
        for status, answer, step in ((401, b"", "JPROF_PUSH_AUTHORIZATION"), (404, b"", "--server"),
                                     (500, b"boom\nmore", "log"), (413, b"", "too large"),
                                     (429, b"", "ingestion-rate-limit-mb"),
                                     (302, b"", "redirects")):
            with Server(status, answer) as server:
                said = self.jprof("push", server.url, self.profile, status=1)
            self.assertEqual(len(server.requests), 1)
            for part in (server.url, str(status), step, answer.decode().split("\n")[0]):
                self.assertIn(part, said)
            self.assertEqual(said.count("\n"), 1, said)

    def test_no_answer(self):
        with Server() as server:
            url = server.url
        self.assertIn("is the server running", self.jprof("push", url, self.profile, status=1))

    def test_wrong_use(self):
        for words, part in ((["ftp://x"], "http://HOST:PORT"), (["localhost:4040"], "http://"),
                            (["http://x", "--label", "9x=1"], "NAME=VALUE"),
                            (["http://x", "--label", "novalue"], "NAME=VALUE"),
                            (["http://x", "--label", "a=1", "--label", "a=2"], "twice"),
                            (["http://x", "--server", "parca", "--label", "job=a"], "use --name"),
                            (["http://x", "--label", "__name__=a"], "name of the profile"),
                            (["http://x", "--label", "a=b\tc"], "control characters"),
                            (["http://x", "--name", "a{b=c}"], "--name"),
                            (["http://x", "--name", "a\nb"], "control characters"),
                            (["http://x", "--tenant", "a\nX-Other: b"],
                             "--tenant has a control character"),
                            (["http://"], "http://HOST:PORT"), (["http:///x"], "http://HOST:PORT"),
                            (["http://:80"], "http://HOST:PORT"),
                            (["http://x/?a=b"], "http://HOST:PORT"),
                            (["http://x/#a"], "http://HOST:PORT"),
                            (["http://x y"], "http://HOST:PORT"),
                            (["http://x\r\n"], "http://HOST:PORT"),
                            (["http://x", "--server", "parka"], "did you mean 'parca'?"),
                            ([], "URL")):
            self.assertIn(part, self.jprof("push", *words, status=2))
        self.assertIn("JPROF_PUSH_AUTHORIZATION has a control character (a line break at its end?)",
                      self.jprof("push", "http://x", status=2,
                                 env={"JPROF_PUSH_AUTHORIZATION": "Bearer a\n"}))

    def test_a_password_in_the_url_is_refused_and_not_printed(self):
        for user in ("http://user:", "ftp://user:", "user:", "http://user:a/?#"):
            said = self.jprof("push", user + "hidden@127.0.0.1:1", self.profile, status=2)
            self.assertIn("JPROF_PUSH_AUTHORIZATION", said)
            self.assertNotIn("hidden", said)

    def test_a_host_named_as_the_path_is_no_path(self):
        with Server() as server:
            self.jprof("push", server.url + "/ingest", self.profile)
            self.jprof("push", "http://ingest", self.profile,
                       env={"http_proxy": server.url, "NO_PROXY": "", "no_proxy": ""})
        self.assertEqual([urllib.parse.urlparse(path).path for path, _, _ in server.requests],
                         ["/ingest", "/ingest"])


if __name__ == "__main__":
    unittest.main()
