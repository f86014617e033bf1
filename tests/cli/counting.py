#!/usr/bin/env python3
"""Tests jprof stat, ptt, cpi, msr and events: values known by construction, and one line for
whatever cannot be counted.

Usage: counting.py JPROF SHORT_THREADS TAKES_TURNS
"""
import csv
import ctypes
import fcntl
import io
import json
import os
import platform
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
import made  # noqa: E402

JPROF, SHORT_THREADS, TAKES_TURNS = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}

# Threads that print their name and dispatches according to /proc at their end.
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


def jprof(*arguments, jprof=JPROF, **options):
    return child.run([jprof, *arguments], **options)


def has_pmu():
    return jprof("events", "--together", "PAPI_TOT_INS,PAPI_TOT_CYC").returncode != 2


def may_watch():
    return made.may_watch(JPROF)


# Two processes on one CPU that wait for each other: 2 dispatches per iteration.
PING_PONG = """
import os, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
there, back = os.pipe(), os.pipe()
first = os.fork() != 0
mine, theirs = (back, there) if first else (there, back)
if first:
    os.write(there[1], b"x")
for turn in range(int(sys.argv[1])):
    os.read(mine[0], 1)
    os.write(theirs[1], b"x")
"""


def deny_perf_events():
    """A seccomp filter like that of containers: perf_event_open fails with EPERM."""
    number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
    load, jump, answer = 0x20, 0x15, 0x06
    steps = [(load, 0, 0, 0), (jump, 0, 1, number), (answer, 0, 0, 0x50001),
             (answer, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    libc = ctypes.CDLL(None)
    program = Program(len(steps), ctypes.addressof(code))
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0


def setUpModule():
    """A java that is never started: the command is refused before."""
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
        done, table = self.stat("--format", "json", "-e", "time,dispatches,page-faults", "--",
                                sys.executable, "-c", THREADS)
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
            # After reading /proc, the thread writes a line, waits for its lock, and ends.
            more = row["counts"]["dispatches"] - int(switches)
            self.assertTrue(0 <= more <= 30, (row, switches))
        for metric in ("time", "dispatches", "page-faults"):
            self.assertEqual(sum(row["counts"][metric] for row in counted["rows"]),
                             counted["total"][metric])

    def test_no_process_is_too_short(self):
        script = "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done"
        done, table = self.stat("--format", "csv", "-e", "time,page-faults", "--", "sh", "-c",
                                script)
        self.assertEqual(done.returncode, 0, done)
        rows = list(csv.DictReader(io.StringIO(table)))
        names = [row["name"] for row in rows]
        self.assertEqual(sorted(names), ["sh"] + 10 * ["true"])
        self.assertTrue(
            all(int(row["time_ns"]) > 0 and int(row["page-faults"]) > 10 for row in rows))

    def test_names_are_summed_up(self):
        _, table = self.stat("--by-name", "-e", "time", "--", "sh", "-c",
                             "/bin/true; /bin/true; /bin/true")
        self.assertRegex(table, r"(?m)^ +3 +[\d.]+  true$")
        self.assertRegex(table, r"^THREADS|\nTHREADS")

    def test_the_program_is_as_without(self):
        done = jprof("stat", "-e", "time", "--", "sh", "-c", "cat; echo said; exit 7",
                     input="read\n")
        self.assertEqual((done.returncode, done.stdout), (7, "read\nsaid\n"))
        self.assertIn("(all)", done.stderr)
        self.assertEqual(jprof("stat", "-e", "time", "--", "sh", "-c", "kill -9 $$").returncode,
                         137)

    def test_a_signal_to_jprof_reaches_the_program(self):
        script = "echo started; exec sleep 60"
        words = [JPROF, "stat", "-e", "time", "--", "sh", "-c", script]
        with child.running(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True) as process:
            self.assertEqual(process.stdout.readline(), "started\n")
            process.terminate()
            _, said = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 128 + 15)
        self.assertIn("(all)", said)

    def test_every_short_thread_has_its_row(self):
        count = 5000
        words = ["--format", "json", "-e", "time,dispatches"]
        done, table = self.stat(*words, "--", SHORT_THREADS, str(count))
        self.assertEqual(done.returncode, 0, done)
        numbers = {int(line) for line in done.stdout.splitlines()}
        self.assertEqual(len(numbers), count, "the kernel used a number twice")
        counted = json.loads(table)
        rows = {row["tid"]: row for row in counted["rows"]}
        missing = numbers - rows.keys()
        times = sorted(rows[n]["counts"]["time"] for n in numbers - missing)
        print(f"{count} threads: {len(missing)} without a row, lost {counted['lost']}, "
              f"median {times[len(times) // 2]} ns")
        # The dispatches of a missing thread are among those of unknown threads.
        self.assertLessEqual(len(missing), counted["lost"].get("dispatches", 0))
        self.assertGreater(times[0], 0)
        self.assertTrue(all(rows[n]["ended"] for n in numbers - missing))

    def test_hurry_is_asked_for_and_not_inherited(self):
        policy = "os.sched_getscheduler"
        script = f"import os; print({policy}(os.getppid()) & 0xff, {policy}(0))"
        for command in ("stat", "ptt"):
            for words, said in (([], "0 0\n"), (["--hurry"], "2 0\n")):  # SCHED_OTHER, SCHED_RR
                with self.subTest((command, words)):
                    done = jprof(command, "-e", "time", *words, "--", sys.executable, "-c", script)
                    if "--hurry has no effect" in done.stderr:
                        self.skipTest("this user may not have real-time priority")
                    self.assertEqual((done.returncode, done.stdout), (0, said), done)

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
def counts_interrupts(done):
    """Whether this user may load programs into the kernel, as ptt says."""
    return "no INTR column" not in done.stderr


class Ptt(Counting):
    def test_dispatches_of_a_living_thread_are_those_of_proc(self):
        script = ("import sys, time\nfor i in range(200): time.sleep(0.001)\nprint('done', "
                  "flush=True)\nsys.stdin.readline()\n"
                  "for i in range(300): time.sleep(0.001)\nprint('done', "
                  "flush=True)\nsys.stdin.readline()\n")
        words = [sys.executable, "-c", script]
        with child.running(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           text=True) as program:
            def switches():
                time.sleep(0.1)
                with open(f"/proc/{program.pid}/status", encoding="utf-8") as status:
                    return sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)

            program.stdout.readline()
            before = switches()
            words = [JPROF, "ptt", str(program.pid), "--interval", "2", "--count", "1"]
            words += ["--format", "json"]
            with child.running(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True) as watch:
                time.sleep(0.7)
                program.stdin.write("\n")
                program.stdin.flush()
                program.stdout.readline()
                after = switches()
                table = json.loads(watch.communicate(timeout=600)[0])
        self.assertEqual([row["tid"] for row in table["rows"]], [program.pid])
        self.assertEqual(table["rows"][0]["counts"]["dispatches"], after - before)

    def test_one_that_is_late_ends_when_it_is_told_and_says_what_it_lost(self):
        """Its tables are not read until its buffers overflow; then it is interrupted."""
        words = [JPROF, "ptt", "--all", "--interval", "0.01", "--format", "json", "-e", "time"]
        with child.running(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True) as watch:
            fcntl.fcntl(watch.stdout, fcntl.F_SETPIPE_SZ, 4096)
            lines = [watch.stdout.readline()]
            late = time.monotonic() + 3  # 300 tables
            child.run([sys.executable, "-c", PING_PONG, "50000"])
            time.sleep(max(0, late - time.monotonic()))
            lines += [watch.stdout.readline() for _ in range(3)]
            watch.send_signal(signal.SIGINT)
            rest = watch.stdout.readlines()
            errors = watch.stderr.read()
            self.assertEqual(watch.wait(timeout=600), 0, errors)
        self.assertLess(len(rest), 100)
        tables = [json.loads(line) for line in lines + rest]
        lost = sum(table["lost"].get("dispatches", 0) for table in tables)
        self.assertGreater(lost, 10_000)
        cpus = os.sysconf("SC_NPROCESSORS_ONLN")
        counted = sum(table["total"]["time"] + table["lost"].get("time", 0) for table in tables)
        seconds = sum(table["seconds"] for table in tables)
        self.assertAlmostEqual(counted / 1e9 / (seconds * cpus), 1, delta=0.1)
        print(f"{len(lines)} tables, then {len(rest)}; lost {lost} dispatches")

    def test_an_interruption_while_it_waits_for_its_reader_loses_nothing(self):
        words = [JPROF, "ptt", "--all", "--interval", "0.01", "--format", "json", "-e", "time"]
        with child.running(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True) as watch:
            fcntl.fcntl(watch.stdout, fcntl.F_SETPIPE_SZ, 4096)
            watch.stdout.readline()
            time.sleep(1)  # the pipe is full
            watch.send_signal(signal.SIGINT)
            time.sleep(0.2)
            tables = [json.loads(line) for line in watch.stdout]
            errors = watch.stderr.read()
            self.assertEqual(watch.wait(timeout=600), 0, errors)
        self.assertGreater(len(tables), 0)

    def test_the_whole_machine_adds_up(self):
        done = jprof("ptt", "--all", "--interval", "1", "--count", "2", "--format", "json", "-e",
                     "time")
        self.assertEqual(done.returncode, 0, done)
        tables = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(tables), 2)
        cpus = os.sysconf("SC_NPROCESSORS_ONLN")
        for table in tables:
            seconds = (table["total"]["time"] + table["lost"].get("time", 0)) / 1e9
            self.assertAlmostEqual(seconds / (table["seconds"] * cpus), 1, delta=0.1)
            if counts_interrupts(done):
                self.assertEqual(table["total"]["interrupts"],
                                 sum(row["counts"]["interrupts"] for row in table["rows"]))
                self.assertGreater(table["total"]["interrupts"], 0)
            else:
                self.assertNotIn("interrupts", table["total"])
                self.assertIn("no INTR column", table["notes"][-1])

    def test_a_command_until_its_end(self):
        done = jprof("ptt", "-e", "time", "--", "sh", "-c", "/bin/true; exit 3")
        self.assertEqual(done.returncode, 3)
        numbers = 4 if counts_interrupts(done) else 3
        self.assertRegex(done.stderr, rf"(?m)^(?: *\d+){{{numbers}}} +[\d.]+  true$")

    def test_wrong_use(self):
        self.refuses(["ptt"], "--all")
        self.refuses(["ptt", "--all", "--", "true"], "one of")
        self.refuses(["ptt", "999999999"], "999999999")
        self.refuses(["ptt", "--all", "--count", "2"], "--interval")


class Cpi(Counting):
    def test_figures_or_one_line(self):
        words = ["cpi", "--format", "json", "-o", "-", "--", "sh", "-c",
                 "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]
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


class Msr(Counting):
    """Files in place of the devices: a register is eight bytes at the position of its number."""

    def setUp(self):
        self.devices = self.enterContext(tempfile.TemporaryDirectory(prefix="jprof-msr-"))
        os.chmod(self.devices, 0o755)

    def device(self, processor, values):
        folder = os.path.join(self.devices, str(processor))
        os.makedirs(folder)
        with open(os.path.join(folder, "msr"), "wb") as file:
            for number, value in values.items():
                file.seek(number)
                file.write(struct.pack("<Q", value))

    def msr(self, *words, **options):
        return jprof("msr", "--devices", self.devices, *words, **options)

    def test_each_processor_in_each_format(self):
        self.device(0, {0x10: 7, 0xE8: 0xFEDCBA9876543210})
        self.device(1, {0x10: 2**64 - 1, 0xE8: 0})
        text = self.msr("TSC", "0xe8")
        self.assertEqual(text.returncode, 0, text)
        self.assertEqual([line.split() for line in text.stdout.splitlines()], [
            ["CPU", "REGISTER", "NUMBER", "HEX", "DECIMAL"],
            ["0", "TSC", "0x10", "0x0000000000000007", "7"],
            ["0", "APERF", "0xe8", "0xfedcba9876543210", "18364758544493064720"],
            ["1", "TSC", "0x10", "0xffffffffffffffff", "18446744073709551615"],
            ["1", "APERF", "0xe8", "0x0000000000000000", "0"]])
        one = {"cpu": 1, "register": "TSC", "number": "0x10", "hex": "0xffffffffffffffff",
               "decimal": 2**64 - 1}
        as_json = self.msr("--cpu", "1", "--format", "json", "16")
        self.assertEqual(json.loads(as_json.stdout), {"registers": [one]})
        rows = csv.DictReader(io.StringIO(self.msr("--cpu", "1", "--format", "csv", "tsc").stdout))
        self.assertEqual(list(rows), [{key: str(value) for key, value in one.items()}])

    def test_processors(self):
        for processor in (0, 1, 2, 3, 8):
            self.device(processor, {0x10: processor})
        for chosen, expected in (("0-2,8", [0, 1, 2, 8]), ("3", [3]), ("2,1-2", [1, 2])):
            done = self.msr("--cpu", chosen, "--format", "json", "TSC")
            self.assertEqual([one["decimal"] for one in json.loads(done.stdout)["registers"]],
                             expected)
        self.refuses(["msr", "--devices", self.devices, "--cpu", "0-4", "TSC"], "no processor 4",
                     "0, 1, 2, 3, 8")
        for wrong in ("x", "1-", "2-1", "1,", "-1", "0-4294967295"):
            with self.subTest(wrong):
                self.refuses(["msr", "--devices", self.devices, f"--cpu={wrong}", "TSC"], "--cpu",
                             "0-3,8")

    def test_a_refused_register(self):
        os.makedirs(os.path.join(self.devices, "0"))
        os.symlink("/proc/self/mem", os.path.join(self.devices, "0", "msr"))  # EIO at low addresses
        self.device(1, {0x10: 9})
        done = self.msr("--format", "json", "TSC")
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual([one["decimal"] for one in json.loads(done.stdout)["registers"]],
                         [None, 9])
        self.assertIn("TSC (0x10) is refused by processor 0", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_no_device(self):
        done = self.msr("TSC")
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done)
        for part in (os.path.join(self.devices, "0", "msr"), "modprobe msr", "virtual machines"):
            self.assertIn(part, done.stderr)
        if not os.path.exists("/dev/cpu/0/msr"):
            self.assertIn("/dev/cpu/0/msr", jprof("msr", "TSC").stderr)

    def test_no_right(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, who can become nobody")
        self.device(0, {0x10: 1})
        os.chmod(os.path.join(self.devices, "0", "msr"), 0o600)
        place = self.enterContext(tempfile.TemporaryDirectory())
        done = self.msr("TSC", jprof=child.copy_for_all(JPROF, place), cwd="/", **NOBODY)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("CAP_SYS_RAWIO", done.stderr)

    def test_wrong_use(self):
        self.refuses(["msr"], "jprof msr --list")
        self.refuses(["msr", "APREF"], "'APREF'", "did you mean 'APERF'?")
        self.refuses(["msr", "0xfffffffff"], "0xfffffffff")
        self.refuses(["msr", "--format", "xml", "TSC"], "xml")

    def test_list(self):
        self.assertRegex(jprof("msr", "--list").stdout,
                         r"(?m)^0xe8 +APERF +Intel IA32_APERF, APM APERF +cycles")
        listed = json.loads(jprof("msr", "--list", "--format", "json").stdout)["registers"]
        self.assertIn(("0xc001029b", "AMD_PKG_ENERGY"),
                      [(one["number"], one["name"]) for one in listed])


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
        self.assertTrue(
            text[0].startswith("HERE  NAME") and all(line.startswith("yes") for line in text[1:]))

    def test_describe_with_the_names_of_both_sides(self):
        preset = json.loads(jprof("events", "--format", "json", "PAPI_TOT_INS").stdout)
        self.assertIn("perf::INSTRUCTIONS", preset["other_names"])
        self.assertIn("nstructions", preset["description"])
        native = json.loads(jprof("events", "--format", "json", "perf::INSTRUCTIONS").stdout)
        self.assertIn("PAPI_TOT_INS", native["other_names"])
        self.assertIn("also called  perf::INSTRUCTIONS", jprof("events", "PAPI_TOT_INS").stdout)

    def test_together(self):
        done = jprof("events", "--together", "time,page-faults")
        self.assertEqual((done.returncode, done.stdout), (0, "all 2 count together on this CPU\n"),
                         done)

    def test_nothing_found(self):
        self.refuses(["events", "qqqqqqq"], "qqqqqqq", "jprof events")


class BadNames(Counting):
    COMMANDS = (["stat", "-e"], ["ptt", "--all", "-e"], ["callflow", "--metrics"],
                ["calibrate", "--metrics"],
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
        self.each("time,dispatches,page-faults,minor-faults,major-faults,context-switches,"
                  "cpu-migrations,cpu-clock,task-clock",
                  "9 metrics", "8 at most")

    def test_no_pmu(self):
        if has_pmu():
            self.skipTest("this machine has a PMU")
        self.each("PAPI_TOT_CYC", "PAPI_TOT_CYC", "PMU", "work here")


class Forbidden(Counting):
    def test_seccomp(self):
        for words in (["stat", "--", "true"], ["stat", "-e", "page-faults", "--", "true"],
                      ["ptt", "--all"],
                      ["cpi", "--interval", "1"], ["events", "--together", "page-faults"],
                      ["callflow", "--metrics", "page-faults", "--", "java"],
                      ["calibrate", "--metrics", "page-faults"],
                      ["scs", "--timer", "perf", "--", "java"]):
            with self.subTest(words):
                self.refuses(words, "seccomp", preexec_fn=deny_perf_events)
        self.assertIn("seccomp", jprof("metrics", preexec_fn=deny_perf_events).stdout)

    def test_paranoid(self):
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="utf-8") as file:
            paranoid = int(file.read())
        if os.geteuid() != 0 or paranoid != 2:
            self.skipTest("needs root, who can become nobody, and perf_event_paranoid 2")
        place = self.enterContext(tempfile.TemporaryDirectory())
        as_nobody = {"jprof": child.copy_for_all(JPROF, place), "cwd": "/", **NOBODY}
        for words in (["stat", "-e", "context-switches", "--", "true"], ["ptt", "--all"],
                      ["events", "--together", "cpu-migrations"],
                      ["callflow", "--metrics", "context-switches", "--", "java"],
                      ["calibrate", "--metrics", "context-switches"]):
            with self.subTest(words):
                self.refuses(words, "perf_event_paranoid", "CAP_PERFMON", **as_nobody)
        # What remains: sums of the command, and a line with the reason.
        script = "/bin/true; exit 3"
        done = jprof("stat", "-e", "time,dispatches", "--", "sh", "-c", script, **as_nobody)
        self.assertEqual(done.returncode, 3, done)
        self.assertRegex(done.stderr,
                         r"(?m)^jprof: threads are not distinguished: .*CAP_PERFMON.*$")
        self.assertRegex(
            done.stderr,
            r"(?m)^ +[1-9]\d*\.\d+ +[1-9]\d*  \(all\)$|^ +0\.[0-9]+ +[1-9]\d*  \(all\)$")


class TakesTurns(Counting):
    """If the kernel multiplexes events, a multiplexed event has no count; values are not scaled."""

    @unittest.skipIf(os.environ.get("JPROF_SANITIZED"),
                     "a sanitizer's library must be loaded first")
    def test_a_sum_is_exact_or_not_there(self):
        if may_watch() and os.geteuid() != 0:
            self.skipTest("this user has no sums, but may watch whole CPUs")
        place = self.enterContext(tempfile.TemporaryDirectory())
        shutil.copy(TAKES_TURNS, place)
        user = NOBODY if os.geteuid() == 0 else {}
        options = {"jprof": child.copy_for_all(JPROF, place), "cwd": "/", **user}
        words = ["-e", "page-faults", "--", "true"]
        done = jprof("stat", "--format", "json", *words, **options)
        if "not distinguished" not in done.stderr:
            self.skipTest("the user nobody may watch whole CPUs here")
        self.assertGreater(counts(done)["page-faults"], 0)
        options["env"] = {**os.environ,
                          "LD_PRELOAD": os.path.join(place, os.path.basename(TAKES_TURNS))}
        done = jprof("stat", "--format", "json", *words, **options)
        self.assertIsNone(counts(done)["page-faults"])
        self.assertRegex(
            done.stderr, r"(?m)^jprof: 'page-faults' is not counted: .* only part of the time")
        self.assertRegex(jprof("stat", *words, **options).stderr, r"(?m)^ +-  \(all\)$")


def counts(done):
    return json.loads(done.stderr[done.stderr.index('{"command"'):].splitlines()[0])["total"]


if __name__ == "__main__":
    unittest.main(verbosity=2)  # prints which tests were skipped, and why
