#!/usr/bin/env python3
"""Tests what happens to the events of a program while it runs: `jprof ctl PID
events`, consumers, `jprof events follow`; and who wrote them.

  events_live.py JPROF SOURCE_ROOT LIBRARY CC CXX

Without a JDK, what requires it is skipped.
"""
import contextlib
import datetime
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from event_programs import (CC, JAR, JPROF, LIBRARY, NORMAL, RUNTIME, SOURCES, WRAP, Programs,
                            logged, run, shown)

BEGIN, END = "shop::orders::order_begin", "shop::orders::order_end"


def is_stopped(pid):
    """Whether all threads of the process are stopped."""
    states = set()
    for stat in glob.glob(f"/proc/{pid}/task/*/stat"):
        with open(stat, encoding="utf-8") as file:
            states.add(file.read().rpartition(")")[2].split()[0])
    return states == {"T"}


# An event whose records contain the processor, and one whose records do not.
DISK = """<?xml version="1.0" encoding="UTF-8"?>
<events name="disk" layer="disk">
  <documentation>A disk.</documentation>
  <class name="io">
    <documentation>Its work.</documentation>
    <event name="read" version="1" level="log">
      <documentation>It has read.</documentation>
      <context written="processor"/>
      <statistics field="size"/>
      <field name="size" type="uint64"><meaning>How much.</meaning></field>
    </event>
    <event name="error" version="1" level="log"><documentation>It has failed.</documentation>
    </event>
  </class>
</events>
"""
DISK_PROGRAM = """#include "disk_events.h"
int main(int argc, char** argv) {
  if (argc != 2 || jprof_events_open(argv[1], NULL) != 0) return 1;
  disk_io_read(0, 5);
  disk_io_read(7, UINT64_MAX);
  disk_io_read(0, 7);
  disk_io_read(UINT32_MAX, 9);
  disk_io_error();
  jprof_events_set_level("*", JPROF_EVENTS_STATISTICS);
  disk_io_read(0, 1000);
  jprof_events_close();
  return 0;
}
"""


class Live(Programs):
    @contextlib.contextmanager
    def told(self, name, *command):
        """Runs a program that writes 5 orders when it is told to: (its trace, process, tell)."""
        trace = self.path(name)
        command = [*(command or [self.program]), trace, NORMAL, "4", "told", "5"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            def tell(line="orders"):
                process.stdin.write(line + "\n")
                process.stdin.flush()
                self.assertEqual(process.stdout.readline(), "done\n")
            try:
                tell("open")
                yield trace, process, tell
            finally:
                process.stdin.close()
                process.wait(60)

    def levels(self, program):
        lines = run(JPROF, "ctl", program, "events").stdout.splitlines()
        self.assertEqual(lines[0].split(), ["EVENT", "VERSION", "LEVEL"])
        return {line.split()[0]: line.split()[2] for line in lines[1:]}

    def controlled(self, trace, process, tell, **own):
        """What holds for programs in every language; `own` is what else a library has."""
        pid = str(process.pid)
        self.assertIn(f"{pid:<8} events={trace}\n", run(JPROF, "ctl").stdout)
        self.assertEqual(self.levels(pid), {
            BEGIN: "log", END: "statistics", "shop::orders::everything": "off",
            "shop::orders::nothing": "off", **own})
        said = run(JPROF, "ctl", pid, "events", "shop::*=off", END + "=log+statistics").stdout
        self.assertEqual(said, f"shop::*: 4 off\n{END}: 1 log+statistics\n")
        self.assertEqual(self.levels(trace)[END], "log+statistics")
        tell()
        rows = {one["event"]: one for one in shown(trace)["events"]}
        self.assertEqual((rows[END]["logged"], rows[END]["count"]), (5, 5))
        self.assertNotIn(BEGIN, rows)
        said = run(JPROF, "ctl", trace, "events", "reset").stdout
        self.assertEqual(said, "statistics begin again\n")
        tell()
        rows = {one["event"]: one for one in shown(trace)["events"]}
        self.assertEqual((rows[END]["logged"], rows[END]["count"]), (10, 5))

    def is_closed(self, trace):
        self.assertFalse(os.path.exists(trace + "/.jprof-control"))
        with open(trace + "/metadata", encoding="utf-8") as file:
            self.assertIn("closed = 1;", file.read())

    def refused(self, status, arguments, *texts):
        said = run(JPROF, "ctl", *arguments, status=status).stderr
        for text in texts:
            self.assertIn(text, said)

    def test_control(self):
        with self.told("control") as (trace, process, tell):
            self.controlled(trace, process, tell, **{"process::marks::mark": "log"})
            pid = str(process.pid)
            self.refused(2, [pid, "events", "none=log"], "no event of", "'none'")
            self.refused(2, [pid, "events", "shop::*"], "is not PATTERN=LEVEL")
            self.refused(2, [pid, "events", "shop::*=on"], "levels are off, statistics, log")
            self.refused(2, ["events"], "events requires a process: jprof ctl PID events")
            self.refused(2, [pid, "status", "shop::*=log"], "is one argument too many")
            self.assertTrue(os.path.exists(trace + "/.jprof-control"))
            process.send_signal(signal.SIGSTOP)
            while not is_stopped(process.pid):
                time.sleep(0.01)
            self.refused(1, [trace, "events", "--timeout", "0.2"], "did not answer within 0.2 s")
            process.send_signal(signal.SIGCONT)
        self.is_closed(trace)
        self.refused(2, [trace, "events"], "is not the trace of a running program")
        self.refused(2, [pid, "events"], f"process {pid} has no open trace of events")
        self.assertEqual(logged(trace)[END], 10)

    def test_control_of_a_killed_program(self):
        with self.told("killed") as (trace, process, tell):
            tell()
            process.kill()
            process.wait()
            self.refused(2, [trace, "events"], "is not the trace of a running program")

    @unittest.skipUnless(os.geteuid() == 0, "requires root, who can become another user")
    def test_control_by_another_user(self):
        with self.told("other") as (trace, _, tell):
            os.chmod(self.folder, 0o755)
            os.chmod(trace, 0o777)
            os.chmod(trace + "/.jprof-control", 0o777)
            copied = shutil.copy(JPROF, self.path("jprof"))
            done = run(copied, "ctl", trace, "events", "shop::*=off", status=1,
                       user=65534, group=65534, extra_groups=[])
            self.assertIn("only its user controls it", done.stderr)
            tell()
            self.assertEqual(logged(trace), {BEGIN: 5})

    def test_without_control(self):
        trace = self.path("uncontrolled")
        command = [self.program, trace, NORMAL, "4", "told", "5", "without"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            process.stdin.write("orders\n")
            process.stdin.flush()
            process.stdout.readline()
            self.assertEqual(len(os.listdir(f"/proc/{process.pid}/task")), 1)
            self.refused(2, [trace, "events"], "is not the trace of a running program")
            process.stdin.close()
        self.assertEqual(logged(trace), {BEGIN: 5})

    def test_a_process_with_two_traces(self):
        script = ("import os, socket, sys\nservers = []\nfor name in sys.argv[1:]:\n"
                  "    os.mkdir(name)\n    servers.append(socket.socket(socket.AF_UNIX))\n"
                  "    servers[-1].bind(name + '/.jprof-control')\n    servers[-1].listen()\n"
                  "print(flush=True)\nsys.stdin.read()\n")
        one, two = self.path("one"), self.path("two")
        with subprocess.Popen([sys.executable, "-c", script, one, two], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            # Sockets that come and go change the kernel's list while it is read.
            churn = ("import os, socket\nwhile True:\n    made = []\n    for i in range(200):\n"
                     "        made.append(socket.socket(socket.AF_UNIX))\n"
                     "        made[-1].bind('\\0' + f'jprof-churn-{os.getpid()}-{i}')\n")
            others = [subprocess.Popen([sys.executable, "-c", churn]) for _ in range(3)]
            try:
                for _ in range(30):
                    self.refused(2, [str(process.pid), "events"], "writes several traces", one, two)
            finally:
                for other in others:
                    other.kill()
                    other.wait()
            process.stdin.close()

    def test_consumers(self):
        trace = self.path("consumers")
        said = run(self.program, trace, NORMAL, "4", "consumers", "5").stdout
        self.assertEqual(said.splitlines(), [
            "numbers 5 10", "of no thread 0 0", "of no calling context 0 0", "disabled 5 10",
            "of a processor 5 10", "reset 5 20", "pairs 5 5", "without begin 1 1",
            "of threads 16 15", "child 0 on 0"])
        # The events were logged beside, until their level was off; those of callbacks were not.
        self.assertEqual(logged(trace), {BEGIN: 10, END: 10, "shop::orders::nothing": 10})
        self.assertEqual(shown(trace)["discarded"], 5 + 5)

    def test_consumers_come_and_go(self):
        done = run(self.program, self.path("churn"), NORMAL, "2", "churn", "50")
        self.assertEqual(done.stdout, "1\n")

    def follow(self, trace, *options):
        return self.enterContext(subprocess.Popen(
            [JPROF, "events", "follow", trace, *options], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True))

    def test_follow(self):
        with self.told("follow") as (trace, process, tell):
            run(JPROF, "ctl", trace, "events", "*=log")
            follower = self.follow(trace)
            ends = self.follow(trace, "--event", "*_end", "--format", "json")
            tell()
            lines = [follower.stdout.readline() for _ in range(15)]
            self.assertRegex(lines[0], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z \d+/\d+ "
                             r'shop::orders::order_begin processor=1 number=0 customer="me" '
                             r"kind=card\n$")
            self.assertRegex(lines[1], r"order_end number=0 duration=-2 stock=0\.5\n$")
            self.assertIsNone(follower.poll())
            tell()
            self.assertEqual([line.split()[2] for line in lines],
                             [follower.stdout.readline().split()[2] for _ in range(15)])
        rest, warnings = follower.communicate(timeout=60)  # it ends with the program
        self.assertEqual((rest, warnings, follower.returncode), ("", "", 0))
        rows = [json.loads(line) for line in ends.communicate(timeout=60)[0].splitlines()]
        self.assertEqual([row["fields"]["number"] for row in rows], [0, 1, 2, 3, 4] * 2)
        self.assertEqual((rows[0]["event"], rows[0]["process"], rows[0]["version"]),
                         (END, process.pid, 2))
        self.assertLess(abs(datetime.datetime.fromisoformat(rows[0]["time"][:23] + "+00:00")
                            .timestamp() - time.time()), 600)

    def test_follow_a_ring(self):
        trace = self.path("ring")
        run(self.program, trace, WRAP, "2", "threads", "5000")
        done = run(JPROF, "events", "follow", trace)
        self.assertEqual(len(done.stdout.splitlines()), sum(logged(trace).values()))
        times = [line.split()[0] for line in done.stdout.splitlines()]
        self.assertEqual(times, sorted(times))

    def test_follow_a_killed_program(self):
        with self.told("follow-killed") as (trace, process, tell):
            follower = self.follow(trace)
            tell()
            process.kill()
            process.wait()
            self.assertEqual(len(follower.communicate(timeout=60)[0].splitlines()), 5)

    def test_by_thread(self):
        trace = self.path("by-thread")
        run(self.program, trace, NORMAL, "4", "levels-of-threads", "5")
        rows = shown(trace, "--by", "thread")["events"]
        ends = [row for row in rows if row["event"] == END]
        self.assertEqual([(row["logged"], row["count"], row["sum"]) for row in ends],
                         [(0, 5, 0)] * 3)
        self.assertEqual(len({row["thread"] for row in ends}), 3)
        self.assertEqual({row["thread_name"] for row in ends}, {"program"})
        (row,) = [row for row in shown(trace, "--by", "process")["events"] if row["event"] == END]
        self.assertEqual((row["count"], row["process"]), (15, ends[0]["process"]))
        self.assertNotIn("thread", row)
        text = run(JPROF, "events", "show", trace, "--by", "thread").stdout.splitlines()
        self.assertTrue(text[0].startswith("PROCESS/THREAD"), text[0])
        self.assertIn(f"{row['process']}/{ends[0]['thread']} program  ", "\n".join(text))
        done = run(JPROF, "events", "show", trace, "--by", "threat", status=2)
        self.assertIn("did you mean 'thread'", done.stderr)

    def test_by_processor(self):
        """The processor is the one that records contain, and so are the statistics."""
        spec = self.write("disk.xml", DISK)
        run(JPROF, "events", "generate", spec, "--language", "c", "--out", self.folder)
        program, trace = self.path("disk"), self.path("by-processor")
        run(CC, "-std=c11", "-I", RUNTIME, "-I", self.folder, self.write("disk.c", DISK_PROGRAM),
            self.path("disk_events.c"), LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY), "-o",
            program)
        run(program, trace)
        rows = shown(trace, "--by", "processor")["events"]
        self.assertEqual(
            [[row.get(key) for key in ("processor", "event", "logged", "count", "sum", "min",
                                       "max")] for row in rows],
            [[None, "disk::io::error", 1, None, None, None, None],
             [None, "disk::io::read", 0, 1, 1000, 1000, 1000],
             [0, "disk::io::read", 2, 2, 12, 5, 7],
             [7, "disk::io::read", 1, 1, 2**63 - 1, 2**63 - 1, 2**63 - 1],
             [4294967295, "disk::io::read", 1, 1, 9, 9, 9]])
        lines = run(JPROF, "events", "show", trace, "--by", "processor").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines],
                         ["PROCESSOR", "-", "-", "0", "7", "4294967295"])

    def test_control_of_java(self):
        if shutil.which("javac") is None or not os.path.exists(JAR):
            self.skipTest("a JDK with javac is not installed")
        classes = self.path("classes")
        run("javac", "--release", "17", "-cp", JAR, "-d", classes, self.path("ShopEvents.java"),
            os.path.join(SOURCES, "Program.java"))
        with self.told("java", "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
                       f"{JAR}:{classes}", "Program") as (trace, process, tell):
            self.controlled(trace, process, tell)
        self.is_closed(trace)


unittest.main(verbosity=1)
