#!/usr/bin/env python3
"""Tests all commands that read profiles and recordings with hostile ones: files larger than memory,
and names with terminal escapes, line breaks and bytes that are not text.

  hostile.py JPROF
"""
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

import made

JPROF = os.path.abspath(sys.argv.pop(1))
ESCAPE, BREAK, NO_TEXT = b"\x1b[2J", b"a\nQ", b"\xff\xfe"
HOSTILE = ESCAPE + BREAK + NO_TEXT
# sanitizers reserve terabytes of address space
SANITIZED = os.environ.get("JPROF_SANITIZED") == "1"


def little():
    """1 GiB of address space and 20 s of CPU time."""
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="jprof-hostile-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_jprof(self, *words, limit=None, **options):
        return subprocess.run([JPROF, *words], cwd=self.folder, capture_output=True, timeout=600,
                              preexec_fn=limit,
                              env={**os.environ, "HOME": self.folder}, **options)


class Sparse(Case):
    """Each command ends by itself within the limits, with a report or with one line that names the
    error."""

    def check(self, *words):
        done = self.run_jprof(*words, limit=little)
        said = f"{words}: {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
        self.assertIn(done.returncode, (0, 1, 2), said)
        if done.returncode != 0:
            self.assertRegex(done.stderr.decode(), r"\Ajprof: [^\n]{20,}\n\Z", said)
        self.assertNotIn(b"not enough memory", done.stderr, said)
        return done

    def profile_commands(self, directory):
        other = made.profile(self.path("other.jprof"))
        for words in (("report", "log-rt"), ("report", "methods"),
                      ("report", "log-rt", "--format", "json"),
                      ("report", "log-gen"), ("info",), ("info", "--format", "json"), ("compare",)):
            self.check(*words, directory)
        self.check("compare", other, directory)

    def test_every_file_of_a_profile(self):
        for name in ("nodes", "extra", "control", "methods", "trace", "trace.zst", "meta.json",
                     "calibration.json",
                     "jitlog"):
            with self.subTest(name):
                directory = made.profile(self.path(name), node_count=0xfffffffe,
                                         thread_count=0xffffffff,
                                         methods_bytes=1 << 50, trace_blocks=1 << 50)
                if name == "trace.zst":
                    made.write(directory, name, b"\x50\x2a\x4d\x18\xf0\xff\xff\xff")
                if name == "jitlog":
                    made.write(directory, name, made.log_header(b"JPROFJIT"))
                made.lengthen(directory, name)
                self.profile_commands(directory)

    def test_what_is_there_is_reported(self):
        directory = made.profile(self.path("nodes"), node_count=0xfffffffe)
        made.lengthen(directory, "nodes")
        self.assertIn(b"app.Main.run()", self.check("report", "log-rt", directory).stdout)

    def test_every_file_of_a_recording(self):
        for name in ("samples", "recording.json", "kallsyms", "perf-16.map", "jit-16.dump",
                     "jvm.jprof/jitlog"):
            with self.subTest(name):
                directory = made.recording(self.path(os.path.basename(name)),
                                           made.record(made.COMM, b"app", pid=16, tid=16),
                                           made.record(made.SAMPLE, pid=16, tid=16, time=5,
                                                       address=0x7000),
                                           made.record(made.SAMPLE, pid=16, tid=16, time=6,
                                                       kernel=1,
                                                       address=0xffffffff81000010), end=False)
                os.makedirs(os.path.join(directory, "jvm.jprof"))
                if name.startswith("jit-"):
                    made.write(directory, name, b"DTiJ" + bytes([1, 0, 0, 0, 40]) + bytes(31))
                made.lengthen(directory, name)
                for words in (("tprof", "--from"), ("report", "tprof"),
                              ("tprof", "--format", "json", "--from")):
                    self.assertIn(b"app_0010", self.check(*words, directory).stdout)

    def test_programs_and_tables(self):
        program = shutil.copy(os.path.realpath(sys.executable), self.path("program"))
        os.truncate(program, 1 << 38)
        self.check("a2n", "-f", "-e", program, "1000")
        made.lengthen(self.folder, "empty")
        self.check("a2n", "-f", "-e", self.path("empty"), "1000")
        made.write(self.folder, "table.json", b'{"format"')
        made.lengthen(self.folder, "table.json")
        self.check("report", "log-rt", "--table", self.path("table.json"),
                   made.profile(self.path("p.jprof")))

    @unittest.skipIf(SANITIZED, "no limit of memory can be set")
    def test_too_little_memory_is_said(self):
        directory = made.profile(self.path("large"), node_count=4_000_000)
        with open(os.path.join(directory, "nodes"), "ab") as file:
            file.write(made.node(made.INTERPRETED + 1, 1, 1, 1, 7) * 3_999_997)

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (150 << 20, 150 << 20))

        for words in (("report", "log-rt"), ("info",), ("compare",)):
            done = self.run_jprof(*words, directory, limit=limit)
            self.assertEqual(done.returncode, 1, done)
            self.assertRegex(done.stderr.decode(), r"\Ajprof: [^\n]*not enough memory[^\n]*\n\Z")


class Names(Case):
    """The output contains no control characters except its own line breaks, and is UTF-8."""

    def clean(self, *words, status=0, **options):
        done = self.run_jprof(*words, **options)
        self.shown = (done.stdout + done.stderr).decode("utf-8", "replace")
        self.assertEqual(done.returncode, status, f"{words}: {done.stderr[-800:]}")
        for output in (done.stdout, done.stderr):
            text = output.decode("utf-8")  # raises if it is not UTF-8
            bad = {c for c in text if (c < " " and c != "\n") or "\x7f" <= c < "\xa0"}
            self.assertEqual(bad, set(), f"{words}: {text[:3000]!r}")
            self.assertNotRegex(text, "(?m)^Q", f"{words}: a name broke its line")
        return done.stdout.decode()

    def hostile_recording(self):
        program = self.program()
        size = os.path.getsize(program)
        directory = made.recording(
            self.path("recording"),
            made.record(made.COMM, HOSTILE, pid=16, tid=16),
            made.record(made.COMM, HOSTILE, pid=16, tid=17),
            made.record(made.MAP, b"/nowhere/" + HOSTILE, pid=16, tid=16, address=0x10000,
                        length=0x1000),
            made.record(made.MAP, program.encode(), pid=16, tid=16, address=0x1000000, length=size),
            *[made.record(made.SAMPLE, pid=16, tid=16 + i % 2, time=10 + i, address=address,
                          chain=(address, 0x10080))
              for i, address in enumerate((0x10040, 0x7010, 0x9000_0000, 0x1000000 + self.offset))],
            platform=HOSTILE.decode("latin-1"), command=HOSTILE.decode("latin-1"),
            notes=["\x1b[2Jb\nQ"])
        made.write(directory, "perf-16.map", b"7000 100 evil" + ESCAPE + NO_TEXT + b"\rmethod\n")
        made.write(directory, "perf-17.map", b"not a map\x1b[2J\n")
        return directory

    def program(self):
        """A program with a function and a source file with hostile names that a linker accepts."""
        source = self.path("hostile_source.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(
                "int hostile_symbol(int i) { return i * 7; }\nint main(void) { return "
                "hostile_symbol(0); }\n")
        program = self.path("hostile")
        subprocess.run([os.environ.get("CC", "gcc"), "-g", "-O0", "-no-pie", "-o", program, source],
                       check=True)
        lines = subprocess.run(["nm", program], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        self.address = next(
            int(line.split()[0], 16) for line in lines if line.endswith(" hostile_symbol"))
        headers = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True,
                                 text=True).stdout
        segment = next(line.split() for line in headers.splitlines() if "LOAD" in line
                       and " R E " in line)
        self.offset = self.address - int(segment[2], 16) + int(segment[1], 16)
        with open(program, "rb") as file:
            data = file.read()
        evil = (HOSTILE + b"hostile_symbol")[: len("hostile_symbol")]
        data = data.replace(b"hostile_symbol", evil).replace(
            b"hostile_source.c", b"\x1b[2J\nQ\xff\xfe_rce.c\n_")
        with open(program, "wb") as file:
            file.write(data)
        return program

    def test_a_recording_in_every_format(self):
        directory = self.hostile_recording()
        self.assertIn("?[2Ja?Q", self.clean("tprof", "--from", directory))
        self.assertIn("?[2J?Q", self.clean("tprof", "--by-line", "--from", directory))
        self.clean("report", "tprof", directory)
        rows = json.loads(self.clean("tprof", "--format", "json", "--from", directory))["rows"]
        self.assertEqual(sum(row["ticks"] for row in rows), 4)
        self.assertEqual(self.clean("tprof", "--format", "csv", "--from", directory).count("\n"),
                         1 + len(rows))
        self.assertIn("?[2Ja?Q", self.clean("tprof", "--annotate", "2J", "--from", directory))
        self.clean("tprof", "--annotate", "no\x1b[2Jsuch", "--from", directory, status=2)

    def test_a2n(self):
        program = self.program()
        self.assertIn("?[2Ja?Q", self.clean("a2n", "-f", "-i", "-e", program, f"{self.address:x}"))
        answer = json.loads(
            self.clean("a2n", "--format", "json", "-e", program, f"{self.address:x}"))
        self.assertIn("?[2Ja?Q", answer["symbol"])
        self.clean("a2n", "-e", self.path("no\x1b[2J"), "1", status=1)

    def test_a_profile_in_every_report(self):
        directory = made.profile(self.path("hos\x1b[2J\nQ.jprof"), thread=HOSTILE,
                                 class_name=HOSTILE, name=HOSTILE,
                                 command=[HOSTILE.decode("latin-1")], start="\x1b[2J",
                                 options={"text": "\nQ\x1b"},
                                 fingerprint={"\x1b[2J": "\nQ"},
                                 jvm={"name": "\x1b\nQ", "version": "\x07"})
        made.write(directory, "calibration.json", b'{"\x1b[2J\nQ\xff"}')
        for report in ("log-rt", "methods"):
            for form in ("text", "json", "csv"):
                text = self.clean("report", report, "--format", form, directory)
                self.assertIn("[2J", text)
                if form == "json":
                    json.loads(text)
        self.clean("report", "log-rt", "--format", "collapsed", directory)
        self.clean("info", directory)
        json.loads(self.clean("info", "--format", "json", directory))
        for form in ("text", "json", "html"):
            self.clean("compare", "--format", form, directory)
            self.clean("compare", "--format", form, directory, directory)

    def test_live_threads_with_such_names(self):
        program = ("open('/proc/self/comm', 'wb').write(b'\\x1b[2J\\xff\\nQ'); "
                   "sum(range(12_000_000))")
        for words in (("stat",), ("stat", "--format", "json"), ("stat", "--format", "csv"),
                      ("ptt",), ("ptt", "--format", "json"),
                      ("tprof", "--rate", "500"), ("tprof", "--rate", "500", "--format", "json")):
            with self.subTest(words):
                if words[0] != "tprof" and not made.may_watch(JPROF):
                    self.skipTest("this user may not watch whole CPUs")
                self.clean(*words, "--", sys.executable, "-c", program)
                self.assertIn("?[2J", self.shown)


if __name__ == "__main__":
    unittest.main()
