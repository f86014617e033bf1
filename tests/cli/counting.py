#!/usr/bin/env python3
"""jprof stat, ptt, cpi and events: counts known by construction, and one line for what cannot be.

Usage: counting.py JPROF
"""
import csv
import ctypes
import io
import json
import os
import platform
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}

# Threads that say at their end what /proc has of them: name, dispatches.
THREADS = r"""
import ctypes, os, threading, time
def work(number):
    tid = threading.get_native_id()
    with open(f"/proc/self/task/{tid}/comm", "w") as comm:
        comm.write(f"worker-{number}")
    for turn in range(100 * (number + 1)):
        time.sleep(0.0002)
    with open(f"/proc/self/task/{tid}/status") as status:
        switches = sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)
    os.write(1, f"{tid} worker-{number} {switches}\n".encode())
threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def jprof(*arguments, **options):
    return child.run([JPROF, *arguments], 120, **options)


def has_pmu():
    return jprof("events", "--together", "PAPI_TOT_INS,PAPI_TOT_CYC").returncode != 2


def may_watch():
    return "not told apart" not in jprof("stat", "-e", "time", "--", "true").stderr


def deny_perf_events():
    """A seccomp filter as containers have it: perf_event_open answers EPERM."""
    number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
    load, jump, answer = 0x20, 0x15, 0x06
    steps = [(load, 0, 0, 0), (jump, 0, 1, number), (answer, 0, 0, 0x50001), (answer, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    libc = ctypes.CDLL(None)
    program = Program(len(steps), ctypes.addressof(code))
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0


def setUpModule():
    """A java that no test comes to start: what it is given to is refused before."""
    folder = unittest.enterModuleContext(tempfile.TemporaryDirectory(prefix="jprof-java-"))
    os.chmod(folder, 0o755)
    java = os.path.join(folder, "java")
    with open(java, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexit 1\n")
    os.chmod(java, 0o755)
    os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]


class Counting(unittest.TestCase):
    def refuses(self, words, *parts, **options):
        done = jprof(*words, **options)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)


@unittest.skipUnless(may_watch(), "this user may not watch whole CPUs")
class Stat(Counting):
    def stat(self, *words):
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "table")
            done = jprof("stat", "-o", path, *words)
            with open(path, encoding="utf-8") as file:
                return done, file.read()

    def test_threads_by_name_with_the_dispatches_that_proc_has(self):
        done, table = self.stat("--format", "json", "-e", "time,dispatches,page-faults", "--", sys.executable, "-c", THREADS)
        self.assertEqual(done.returncode, 0, done)
        counted = json.loads(table)
        rows = {row["tid"]: row for row in counted["rows"]}
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 3)
        for line in lines:
            tid, name, switches = line.split()
            row = rows[int(tid)]
            self.assertEqual(row["name"], name)
            self.assertTrue(row["ended"])
            # After its last look the thread writes a line, waits for its lock, and ends.
            more = row["counts"]["dispatches"] - int(switches)
            self.assertTrue(0 <= more <= 30, (row, switches))
        for metric in ("time", "dispatches", "page-faults"):
            self.assertEqual(sum(row["counts"][metric] for row in counted["rows"]), counted["total"][metric])

    def test_no_process_is_too_short(self):
        script = "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done"
        done, table = self.stat("--format", "csv", "-e", "time,page-faults", "--", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done)
        rows = list(csv.DictReader(io.StringIO(table)))
        names = [row["name"] for row in rows]
        self.assertEqual(sorted(names), ["sh"] + 10 * ["true"])
        self.assertTrue(all(int(row["time_ns"]) > 0 and int(row["page-faults"]) > 10 for row in rows))

    def test_names_are_summed_up(self):
        _, table = self.stat("--by-name", "-e", "time", "--", "sh", "-c", "/bin/true; /bin/true; /bin/true")
        self.assertRegex(table, r"(?m)^ +3 +[\d.]+  true$")
        self.assertRegex(table, r"^THREADS|\nTHREADS")

    def test_the_program_is_as_without(self):
        done = jprof("stat", "-e", "time", "--", "sh", "-c", "cat; echo said; exit 7", input="read\n")
        self.assertEqual((done.returncode, done.stdout), (7, "read\nsaid\n"))
        self.assertIn("(all)", done.stderr)
        self.assertEqual(jprof("stat", "-e", "time", "--", "sh", "-c", "kill -9 $$").returncode, 137)

    def test_a_signal_to_jprof_reaches_the_program(self):
        process = self.enterContext(child.running([JPROF, "stat", "-e", "time", "--", "sleep", "60"],
                                                  stderr=subprocess.PIPE, text=True))
        time.sleep(0.5)
        process.terminate()
        _, said = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 128 + 15)
        self.assertIn("(all)", said)

    def test_the_first_look_has_what_there_is(self):
        done = jprof("stat", "--", "true")
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stderr, r"TIME ms +DISP +.*page-faults +cpu-migrations +.*NAME")
        if not has_pmu():
            self.assertRegex(done.stderr, r"(?m)^jprof: .*'PAPI_TOT_INS'.* PMU.*work here$")
        else:
            self.assertIn("CPI", done.stderr)

    def test_wrong_use(self):
        self.refuses(["stat"], "give a command")
        self.refuses(["stat", "--", "no-such-program"], "no-such-program")
        self.refuses(["stat", "--format", "jsn", "--", "true"], "json")
        self.refuses(["stat", "-o", "/no/such/place", "--", "true"], "/no/such/place")


@unittest.skipUnless(may_watch(), "this user may not watch whole CPUs")
class Ptt(Counting):
    def test_dispatches_of_a_living_thread_are_those_of_proc(self):
        script = ("import sys, time\nfor i in range(200): time.sleep(0.001)\nprint('done', flush=True)\nsys.stdin.readline()\n"
                  "for i in range(300): time.sleep(0.001)\nprint('done', flush=True)\nsys.stdin.readline()\n")
        program = self.enterContext(child.running([sys.executable, "-c", script], stdin=subprocess.PIPE,
                                                  stdout=subprocess.PIPE, text=True))

        def switches():
            time.sleep(0.1)
            with open(f"/proc/{program.pid}/status", encoding="utf-8") as status:
                return sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)

        program.stdout.readline()
        before = switches()
        watch = self.enterContext(child.running(
            [JPROF, "ptt", str(program.pid), "--interval", "2", "--count", "1", "--format", "json"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
        time.sleep(0.7)
        program.stdin.write("\n")
        program.stdin.flush()
        program.stdout.readline()
        after = switches()
        table = json.loads(watch.communicate(timeout=20)[0])
        program.communicate("\n", timeout=20)
        self.assertEqual([row["tid"] for row in table["rows"]], [program.pid])
        self.assertEqual(table["rows"][0]["counts"]["dispatches"], after - before)

    def test_the_whole_machine_adds_up(self):
        done = jprof("ptt", "--all", "--interval", "1", "--count", "2", "--format", "json", "-e", "time")
        self.assertEqual(done.returncode, 0, done)
        tables = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(tables), 2)
        cpus = os.sysconf("SC_NPROCESSORS_ONLN")
        for table in tables:
            seconds = (table["total"]["time"] + table["lost"].get("time", 0)) / 1e9
            self.assertAlmostEqual(seconds / (table["seconds"] * cpus), 1, delta=0.1)
            self.assertIn("INTR", table["notes"][-1])

    def test_a_command_until_its_end(self):
        done = jprof("ptt", "-e", "time", "--", "sh", "-c", "/bin/true; exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"(?m)^ *\d+ +\d+ +\d+ +[\d.]+  true$")

    def test_wrong_use(self):
        self.refuses(["ptt"], "--all")
        self.refuses(["ptt", "--all", "--", "true"], "one of")
        self.refuses(["ptt", "999999999"], "999999999")
        self.refuses(["ptt", "--all", "--count", "2"], "--interval")


class Cpi(Counting):
    def test_figures_or_one_line(self):
        words = ["cpi", "--format", "json", "-o", "-", "--", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]
        if not has_pmu():
            self.refuses(words, "PAPI_TOT_INS", "PMU", "work here")
            self.refuses(["cpi", "--interval", "0.1"], "PMU")
            return
        counted = json.loads(jprof(*words).stdout)
        self.assertGreater(counted["instructions"], 1_000_000)
        self.assertGreater(counted["cpi"], 0)

    def test_wrong_use(self):
        self.refuses(["cpi"], "--interval")
        self.refuses(["cpi", "--interval", "1", "--", "true"], "either")


class Events(Counting):
    def test_list_search_and_what_opens(self):
        found = json.loads(jprof("events", "--format", "json", "page-fault").stdout)["events"]
        opens = {event["name"]: event["here"] for event in found}
        self.assertIn("perf::PAGE-FAULTS", opens)
        by_words = json.loads(jprof("events", "--format", "json", "cache misses").stdout)["events"]
        self.assertIn("PAPI_L1_DCM", [event["name"] for event in by_words])
        for event in found + by_words:
            self.assertEqual(event["here"], not event["lack"], event)
        text = jprof("events", "--here").stdout.splitlines()
        self.assertTrue(text[0].startswith("HERE  NAME") and all(line.startswith("yes") for line in text[1:]))

    def test_describe_with_the_names_of_both_sides(self):
        preset = json.loads(jprof("events", "--format", "json", "PAPI_TOT_INS").stdout)
        self.assertIn("perf::INSTRUCTIONS", preset["other_names"])
        self.assertIn("nstructions", preset["description"])
        native = json.loads(jprof("events", "--format", "json", "perf::INSTRUCTIONS").stdout)
        self.assertIn("PAPI_TOT_INS", native["other_names"])
        self.assertIn("also called  perf::INSTRUCTIONS", jprof("events", "PAPI_TOT_INS").stdout)

    def test_together(self):
        done = jprof("events", "--together", "time,page-faults")
        self.assertEqual((done.returncode, done.stdout), (0, "all 2 count together on this CPU\n"), done)

    def test_nothing_found(self):
        self.refuses(["events", "qqqqqqq"], "qqqqqqq", "jprof events")


class BadNames(Counting):
    COMMANDS = (["stat", "-e"], ["ptt", "--all", "-e"], ["callflow", "--metrics"], ["calibrate", "--metrics"],
                ["events", "--together"])

    def each(self, metrics, *parts):
        for words in self.COMMANDS:
            if words[0] == "ptt" and not may_watch():
                continue
            tail = ["--", "java", "-version"] if words[0] in ("stat", "callflow") else []
            with self.subTest(words[0]):
                self.refuses([*words, metrics, *tail], *parts)

    def test_unknown_names_the_nearest(self):
        self.each("PAPI_TOT_INZ", "PAPI_TOT_INZ", "PAPI_TOT_INS")

    def test_twice(self):
        self.each("time,time", "'time'", "twice")
        self.each("page-faults,perf::PAGE-FAULTS", "perf::PAGE-FAULTS", "twice")

    def test_too_many(self):
        self.each("time,dispatches,page-faults,minor-faults,major-faults,context-switches,cpu-migrations,cpu-clock,task-clock",
                  "9 metrics", "8 at most")

    def test_no_pmu(self):
        if has_pmu():
            self.skipTest("this machine has a PMU")
        self.each("PAPI_TOT_INS", "PAPI_TOT_INS", "PMU", "work here")


class Forbidden(Counting):
    def test_seccomp(self):
        for words in (["stat", "--", "true"], ["stat", "-e", "page-faults", "--", "true"], ["ptt", "--all"],
                      ["cpi", "--interval", "1"], ["events", "--together", "page-faults"],
                      ["callflow", "--metrics", "page-faults", "--", "java"], ["calibrate", "--metrics", "page-faults"]):
            with self.subTest(words):
                self.refuses(words, "seccomp", preexec_fn=deny_perf_events)
        self.assertIn("seccomp", jprof("metrics", preexec_fn=deny_perf_events).stdout)

    def test_paranoid(self):
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="utf-8") as file:
            paranoid = int(file.read())
        if os.geteuid() != 0 or paranoid != 2:
            self.skipTest("needs root, who can become nobody, and perf_event_paranoid 2")
        if jprof("--version", cwd="/", **NOBODY).returncode != 0:
            self.skipTest("nobody cannot run this program")
        for words in (["stat", "-e", "context-switches", "--", "true"], ["ptt", "--all"],
                      ["events", "--together", "cpu-migrations"], ["callflow", "--metrics", "context-switches", "--", "java"],
                      ["calibrate", "--metrics", "context-switches"]):
            with self.subTest(words):
                self.refuses(words, "perf_event_paranoid", "CAP_PERFMON", cwd="/", **NOBODY)
        # What is left: sums of the command, and a line that says why no more.
        done = jprof("stat", "-e", "time,dispatches", "--", "sh", "-c", "/bin/true; exit 3", cwd="/", **NOBODY)
        self.assertEqual(done.returncode, 3, done)
        self.assertRegex(done.stderr, r"(?m)^jprof: threads are not told apart: .*CAP_PERFMON.*$")
        self.assertRegex(done.stderr, r"(?m)^ +[1-9]\d*\.\d+ +[1-9]\d*  \(all\)$|^ +0\.[0-9]+ +[1-9]\d*  \(all\)$")


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says which tests were skipped, and why
