#!/usr/bin/env python3
"""Tests what `jprof timeline` and `jprof system-trace` do besides recording: their places, signals,
refusals; and what other commands say of their recordings, also of damaged ones.

  timeline.py JPROF

Skips where this user may not load programs into the kernel.
"""
import glob
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
from page import Page  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class Folder(unittest.TestCase):
    """A test in an empty working directory, with a recording in t.jprof."""

    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.mkdtemp(prefix="jprof-timeline-")
        cls.addClassCleanup(shutil.rmtree, cls.made)
        done = child.run([JPROF, "timeline", "-o", f"{cls.made}/made", "--", "sh", "-c",
                          "sleep 0.05; true"])
        if "jprof: the kernel " in done.stderr:
            raise unittest.SkipTest(done.stderr.strip())
        assert done.returncode == 0, done.stderr

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="jprof-timeline-")
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copytree(f"{self.made}/made", self.path("t.jprof"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def jprof(self, *arguments, **more):
        return child.run([JPROF, *map(str, arguments)], cwd=self.folder, **more)

    def passes(self, *arguments):
        done = self.jprof(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refused(self, *arguments, says, status=2):
        done = self.jprof(*arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, done.stderr)
        return done

    def start(self, *arguments):
        """Starts jprof, which is killed at the end of the test."""
        process = subprocess.Popen([JPROF, *map(str, arguments)], cwd=self.folder,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, what):
        for _ in range(400):
            if what():
                return
            time.sleep(0.05)
        self.fail("timed out")

    def left(self):
        return [p for p in os.listdir(self.folder) if p.startswith("new")]


class Places(Folder):
    def test_a_second_recording_to_one_place_is_refused(self):
        first = self.start("timeline", "-o", "new", "--", "sleep", "3")
        self.wait_for(lambda: os.path.exists(self.path("new.unfinished/metadata")))
        says = f"another jprof is recording to {self.path('new')}; choose another directory"
        for command in ("timeline", "scs", "tprof", "itrace", "profile"):
            self.refused(command, "-o", "new", "--", "true", says=says)
        self.refused("timeline", "--force", "-o", "new/", "--", "true", says=says)
        self.refused("system-trace", "-o", "new", "--duration", "1", says=says)
        self.assertEqual(first.wait(), 0)
        self.assertEqual(self.left(), ["new"])
        self.assertIn("sleep", self.passes("report", "timeline", "new").stdout)

    def test_a_default_name_is_another_one_while_it_is_recorded_to(self):
        first = self.start("timeline", "--", "sleep", "2")
        self.wait_for(lambda: os.path.exists(self.path("sleep.jprof.unfinished/metadata")))
        self.passes("timeline", "--", "sleep", "0.1")
        self.assertEqual(first.wait(), 0)
        for name in ("sleep.jprof", "sleep-2.jprof"):
            self.assertTrue(os.path.isdir(self.path(name)), name)

    def test_what_a_killed_recording_left_is_replaced(self):
        first = self.start("timeline", "-o", "new", "--", "sleep", "1")
        self.wait_for(lambda: os.path.exists(self.path("new.unfinished/metadata")))
        first.kill()
        first.wait()
        self.assertEqual(self.left(), ["new.unfinished"])
        self.passes("timeline", "-o", "new", "--", "true")
        self.assertEqual(self.left(), ["new"])

    def test_a_folder_that_was_removed_is_an_error(self):
        for command in ("timeline -- true", "calltree -- true", "system-trace --duration 1"):
            os.mkdir(self.path("gone"))
            done = child.run(["sh", "-c", f"cd gone && rmdir ../gone && exec {JPROF} {command}"],
                             cwd=self.folder, timeout=60)
            self.assertIn(done.returncode, (1, 2), command + done.stderr)
            self.assertIn("jprof: ", done.stderr)

    def test_a_foreign_folder_in_the_way_is_kept(self):
        os.mkdir(self.path("new.unfinished"))
        open(self.path("new.unfinished/mine"), "w").close()
        self.refused("timeline", "-o", "new", "--", "true", says="contains mine")
        self.assertEqual(os.listdir(self.path("new.unfinished")), ["mine"])

    def test_signals_leave_nothing_behind(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for delay in range(0, 12):
                process = self.start("timeline", "-o", f"new-{delay}-{number}", "--", "true")
                time.sleep(delay * 0.08)
                process.send_signal(number)
                process.wait()
        self.assertEqual([p for p in self.left() if p.endswith(".unfinished")], [])

    def test_a_signal_ends_the_whole_machine_s_recording(self):
        process = self.start("system-trace", "-o", "new")
        self.wait_for(lambda: os.path.exists(self.path("new.unfinished/metadata")))
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 0)
        self.assertEqual(self.left(), ["new"])

    def test_a_command_that_cannot_be_started_leaves_nothing(self):
        with open(self.path("script"), "w", encoding="utf-8") as file:
            file.write("#!/no/interpreter\n")
        os.chmod(self.path("script"), 0o755)
        for command in ("timeline", "system-trace"):
            self.refused(command, "-o", "new", "--", "./script", says="cannot start")
        self.assertEqual(self.left(), [])

    def test_an_empty_name_is_an_error(self):
        for command in ("callflow", "calltree", "locks", "objects", "trace", "scs", "profile",
                        "tprof", "itrace", "timeline", "system-trace"):
            self.refused(command, "-o", "", "--", "true", says="an empty name")
        self.assertEqual(os.listdir(self.folder), ["t.jprof"])

    def test_a_low_limit_of_open_files_is_named(self):
        def limit(files):
            return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        for files in (7, 10, 14, 20, 40, 60):
            done = self.jprof("timeline", "-o", "new", "--", "true", preexec_fn=limit(files))
            if done.returncode:
                self.assertIn("ulimit -n", done.stderr)
            self.assertNotIn("new.unfinished", self.left())
            if files < 40:
                self.assertNotEqual(done.returncode, 0)


class Processes(Folder):
    def test_a_zombie_is_no_process(self):
        ended = subprocess.Popen(["true"])
        self.addCleanup(ended.wait)
        self.wait_for(lambda: " Z " in text_of(f"/proc/{ended.pid}/stat"))
        for command in (("timeline", "--pid"), ("scs", "--pid"), ("itrace", "-p"), ("tprof", "-p")):
            self.refused(*command, ended.pid, says="a zombie")

    def test_a_process_that_ends_is_recorded_until_then(self):
        sleeper = subprocess.Popen(["sleep", "2"])
        self.addCleanup(sleeper.wait)
        begin = time.monotonic()
        self.passes("timeline", "--pid", sleeper.pid, "-o", "new", "--duration", 30)
        self.assertLess(time.monotonic() - begin, 15)

    @unittest.skipUnless(shutil.which("java"), "java is not installed")
    def test_a_jvm_that_refuses_the_agent_is_named(self):
        with open(self.path("Sleep.java"), "w", encoding="utf-8") as file:
            file.write("class Sleep { public static void main(String[] a) throws Exception { "
                       "Thread.sleep(60000); } }")
        jvm = subprocess.Popen(["java", "-XX:+DisableAttachMechanism", self.path("Sleep.java")])
        self.addCleanup(jvm.wait)
        self.addCleanup(jvm.kill)
        self.wait_for(lambda: "libjvm.so" in text_of(f"/proc/{jvm.pid}/maps"))
        done = self.passes("timeline", "--pid", jvm.pid, "-o", "new", "--duration", 1)
        self.assertIn("no calling contexts: ", done.stderr)
        self.assertIn("-XX:+DisableAttachMechanism", done.stderr)


class OtherCommands(Folder):
    def test_info_describes_a_recording(self):
        text = self.passes("info", "t.jprof").stdout
        for words in ("command      sh -c", "processor", "threads ", "of the program: ", "events ",
                      "lost ", "quality      "):
            self.assertIn(words, text)
        info = json.loads(self.passes("info", "--format", "json", "t.jprof").stdout)
        self.assertEqual(info["mode"], "timeline")
        self.assertIsInstance(info["quality"], list)
        self.assertGreater(info["events"], 100)
        self.assertGreater(info["program_threads"], 1)

    def test_events_cannot_be_merged_pushed_or_combined(self):
        for done, arguments in (("merged", ("merge", "t.jprof", "-o", "new")),
                                ("pushed", ("push", "http://localhost:1", "t.jprof")),
                                ("combined", ("combine", "t.jprof", "t.jprof", "-o", "new"))):
            self.refused(*arguments, says=f"t.jprof is a recording of jprof timeline: events cannot "
                         f"be {done}, only profiles can; there is none in it")
        self.refused("export", "--format", "pprof", "t.jprof",
                     says="is a recording of jprof timeline, which has no call tree for pprof; "
                     "export it with --format perfetto, chrome or ctf")

    def test_ctf_replaces_its_own_folder_only(self):
        for _ in range(2):
            done = self.passes("export", "--format", "ctf", "t.jprof")
            self.assertIn("export:  t.ctf (ctf, ", done.stderr)
            self.assertIn("babeltrace2 t.ctf", done.stderr)
        self.assertTrue(os.path.exists(self.path("t.ctf/kernel/metadata")))
        for target in ("t.jprof", "t.jprof/", "t.jprof/events", "t.jprof/events/new"):
            self.refused("export", "--format", "ctf", "t.jprof", "-o", target,
                         says="what is exported")
        open(self.path("file"), "w").close()
        self.refused("export", "--format", "ctf", "t.jprof", "-o", "file", says="it is a file")
        os.mkdir(self.path("mine"))
        open(self.path("mine/mine"), "w").close()
        self.refused("export", "--format", "ctf", "t.jprof", "-o", "mine", says="contains mine")
        self.refused("export", "--format", "ctf", "t.jprof", "-o", "none/x", says="cannot write")
        self.assertEqual(sorted(os.listdir(self.folder)), ["file", "mine", "t.ctf", "t.jprof"])

    def states(self, words):
        """All outputs say this of the recording, which is damaged."""
        self.assertIn(words, self.passes("info", "t.jprof").stdout)
        quality = json.loads(self.passes("info", "--quality", "--format", "json",
                                         "t.jprof").stdout)
        self.assertNotEqual(quality["grade"], "good")
        self.assertIn(words, str(quality))
        for report in ("timeline", "utilisation"):
            self.assertIn(words, self.passes("report", report, "--format", "csv",
                                             "t.jprof").stderr)
            found = json.loads(self.passes("report", report, "--format", "json",
                                           "t.jprof").stdout)
            self.assertIn(words, str(found["quality"]))
        for form in ("chrome", "perfetto", "ctf"):
            done = self.passes("export", "--format", form, "-o", f"x.{form}", "t.jprof")
            self.assertIn(words, done.stderr)
        page = Page(self.passes("view", "t.jprof", "-o", "-").stdout)
        self.assertIn(words, str(page.header["quality"]))

    def test_a_cut_packet_is_stated(self):
        packet = max(glob.glob(self.path("t.jprof/events/kernel/processor-*")),
                     key=os.path.getsize)
        os.truncate(packet, os.path.getsize(packet) - 50)
        self.states(f"events/kernel/{os.path.basename(packet)}: ")

    def test_missing_metadata_is_stated(self):
        os.remove(self.path("t.jprof/events/kernel/metadata"))
        self.states("events/kernel/metadata: is missing")

    def test_damaged_metadata_is_stated(self):
        metadata = self.path("t.jprof/events/kernel/metadata")
        for size in (0, 100, os.path.getsize(metadata) // 2):
            os.truncate(metadata, size)
            self.states("events/kernel/metadata: is damaged")

    def test_a_missing_description_is_stated(self):
        os.remove(self.path("t.jprof/events/recording.json"))
        self.states("recording.json: cannot be read")

    def test_a_damaged_profile_beside_events_is_stated(self):
        os.mkdir(self.path("t.jprof/app-7"))
        with open(self.path("t.jprof/app-7/meta.json"), "w", encoding="utf-8") as file:
            file.write("{}")
        self.states("app-7: has no file 'control'")
        with open(self.path("t.jprof/app-7/control"), "wb") as file:
            file.write(b"JPROFCTL")
        self.states("app-7: ")


if __name__ == "__main__":
    unittest.main(verbosity=2)
