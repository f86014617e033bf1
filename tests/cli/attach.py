#!/usr/bin/env python3
"""Tests `jprof ps`, `jprof detach` and the option --pid of the recording commands and of `jprof heap`
with a process that speaks the attach protocol in place of a JVM.

  attach.py JPROF
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, os.pardir, "e2e"))
import child  # noqa: E402
import made  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))
FAKE = [sys.executable, os.path.join(HERE, "fake_jvm.py")]
NOBODY = 65534


def left_behind():
    return {name for name in os.listdir("/tmp") if name.startswith("jprof-attach-")}


def stopped(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return "T (stopped)" in file.read()


def open_files(pid):
    folder = f"/proc/{pid}/fd"
    return [os.readlink(os.path.join(folder, number)) for number in os.listdir(folder)]


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it does not happen")
        time.sleep(0.001)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]


class Attach(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof, 100% + "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.agent = os.path.join(self.folder, "libjprof.so")
        with open(self.agent, "wb") as file:
            file.write(bytes(4096))
        self.env = {**os.environ, "JPROF_AGENT": self.agent}
        self.env.pop("JPROFOPTS", None)
        self.before = left_behind()

    def fake(self, how, *words, prefix=(), **env):
        process = self.enterContext(child.running(
            [*prefix, *FAKE, how, *words], env={**self.env, **env}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, cwd=HERE))
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.addCleanup(lambda: self.assertFalse(os.path.exists(f"/tmp/.attach_pid{process.pid}")))
        return process

    def jprof(self, *words, **more):
        return child.run([JPROF, *map(str, words)], 60, cwd=self.folder,
                         env={**self.env, **more.pop("env", {})}, **more)

    @contextlib.contextmanager
    def recording(self, *words):
        """A recording that has begun."""
        with child.running([JPROF, *map(str, words)], cwd=self.folder, env=self.env, text=True,
                           stderr=subprocess.PIPE) as process:
            lines = []
            while not (lines and "recording process" in lines[-1]):
                lines.append(process.stderr.readline())
                self.assertTrue(lines[-1], lines)
            yield process

    def refused(self, done, status, *words):
        self.assertEqual((done.returncode, done.stdout), (status, ""), done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done)
        for word in words:
            self.assertIn(str(word), done.stderr)

    def request(self, jvm):
        line = jvm.stdout.readline()
        return json.loads(line)

    def test_records_for_a_duration_and_detaches(self):
        jvm = self.fake("good", "Main")
        done = self.jprof("scs", "--pid", jvm.pid, "--duration", 1)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done)
        self.assertIn(f"recording process {jvm.pid} for 1 s", done.stderr)
        self.assertIn("jprof: next:    jprof report ", done.stderr)
        load, detach = self.request(jvm), self.request(jvm)
        self.assertEqual(load[:4], ["1", "load", self.agent, "true"])
        self.assertEqual(detach[:4], load[:4])
        self.assertRegex(load[4], r"^SCS[^ ]*,OUT=[^,]*\.jprof,.*,REPLY=/tmp/jprof-attach-\w+/reply$")
        self.assertRegex(detach[4], r"^DETACH,REPLY=/tmp/jprof-attach-\w+/reply$")
        self.assertEqual(left_behind(), self.before)
        profiles = [name for name in os.listdir(self.folder) if name.endswith(".jprof")]
        self.assertEqual(len(profiles), 1, profiles)

    def test_a_signal_ends_the_recording(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            jvm = self.fake("waits")
            out = f"{number.name}.jprof"
            with self.recording("callflow", "--pid", jvm.pid, "-o", out) as process:
                self.request(jvm)
                process.send_signal(number)
                self.assertTrue(self.request(jvm)[4].startswith("DETACH"))
                process.send_signal(number)  # changes nothing
                jvm.send_signal(signal.SIGUSR1)
                text = process.stderr.read()
                self.assertEqual(process.wait(60), 0, text)
            self.assertTrue(os.path.exists(os.path.join(self.folder, out, "control")))
            self.assertEqual(left_behind(), self.before)

    def test_the_reader_of_the_messages_may_end(self):
        jvm = self.fake("good")
        with self.recording("scs", "--pid", jvm.pid, "-o", "x.jprof") as process:
            self.request(jvm)
            process.stderr.close()
            process.send_signal(signal.SIGINT)
            self.assertTrue(self.request(jvm)[4].startswith("DETACH"))
            process.wait(60)

    def test_the_jvm_ends_during_the_recording(self):
        jvm = self.fake("good")
        with self.recording("scs", "--pid", jvm.pid, "-o", "x.jprof") as process:
            jvm.kill()
            text = process.stderr.read()
            self.assertEqual(process.wait(60), 0, text)
        self.assertIn(f"process {jvm.pid} has ended", text)
        self.assertIn("jprof: profile: x.jprof", text)
        self.assertEqual(left_behind(), self.before)
        os.unlink(f"/tmp/.java_pid{jvm.pid}")

    def test_force_replaces_a_profile_only_by_another(self):
        jvm = self.fake("refuses")
        old = made.profile(os.path.join(self.folder, "x.jprof"), mode="calltree")
        self.refused(self.jprof("scs", "--pid", jvm.pid, "-o", "x.jprof"), 2, "--force")
        self.refused(self.jprof("scs", "--pid", jvm.pid, "-o", "x.jprof", "--force"), 1, "tired")
        with open(os.path.join(old, "meta.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["mode"], "calltree")
        jvm = self.fake("good")
        done = self.jprof("scs", "--pid", jvm.pid, "-o", "x.jprof", "--force", "--duration", 1)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("jprof: profile: x.jprof (", done.stderr)
        with open(os.path.join(old, "meta.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["mode"], "scs")
        self.assertEqual(sorted(os.listdir(self.folder)), ["libjprof.so", "x.jprof"])

    def test_tprof(self):
        if not made.may_watch(JPROF):
            self.skipTest("this user may not sample processes")
        jvm = self.fake("good")
        words = ("tprof", "-p", jvm.pid, "--duration", 1)
        self.assertEqual(self.jprof(*words, "--no-attach", "-o", "one").returncode, 0)
        self.assertFalse(os.path.exists(f"/tmp/.java_pid{jvm.pid}"))
        done = self.jprof(*words, "--code", "-o", "two")
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(self.request(jvm)[4],
                         rf"^TPROF,OUT=[^,]*/two/jvm-{jvm.pid}\.jprof,CODE.*,REPLY=")
        self.assertTrue(self.request(jvm)[4].startswith("DETACH"))
        refuses = self.fake("refuses")
        done = self.jprof("tprof", "-p", refuses.pid, "--duration", 1, "-o", "three")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn(f"the jitted code of process {refuses.pid} has no names: the agent is tired",
                      done.stdout)
        self.refused(self.jprof("tprof", "--attach", "--", "true"), 2, "--attach requires -a or -p")

    def test_refusals(self):
        for how, *words in (("refuses", "the agent is tired"),
                            ("mute", "did not say why"),
                            ("elf", "was not loaded", "no ELF"),
                            ("cut", "no complete answer"),
                            ("closes", "ended or closed the connection"),
                            ("open", "does not belong to its user alone")):
            with self.subTest(how=how):
                jvm = self.fake(how)
                done = self.jprof("scs", "--pid", jvm.pid)
                self.refused(done, 1, *words)
                self.assertEqual(left_behind(), self.before)
                self.assertIsNone(jvm.poll())

    def test_a_jvm_that_cannot_answer_gets_no_signal(self):
        jvm = self.fake("xrs")
        self.refused(self.jprof("scs", "--pid", jvm.pid), 2, "no handler for SIGQUIT", "-Xrs")
        jvm = self.fake("good", "-XX:+DisableAttachMechanism")
        self.refused(self.jprof("scs", "--pid", jvm.pid), 2, "-XX:+DisableAttachMechanism")
        jvm = self.fake("good")
        os.kill(jvm.pid, signal.SIGSTOP)
        while not stopped(jvm.pid):
            time.sleep(0.01)
        self.refused(self.jprof("scs", "--pid", jvm.pid), 2, "is stopped", f"kill -CONT {jvm.pid}")
        self.assertEqual(left_behind(), self.before)

    def test_ctrl_c_while_the_jvm_does_not_listen(self):
        jvm = self.fake("deaf")
        with child.running([JPROF, "scs", "--pid", str(jvm.pid)], cwd=self.folder, env=self.env,
                           text=True, stderr=subprocess.PIPE) as process:
            while not os.path.exists(f"/tmp/.attach_pid{jvm.pid}"):
                self.assertIsNone(process.poll(), "it did not wait for the JVM")
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            self.assertIn("interrupted; nothing was recorded", process.stderr.read())
            self.assertEqual(process.wait(), 1)
        self.assertEqual(left_behind(), self.before)

    def test_a_jvm_is_asked_once(self):
        """A JVM that handled a second signal would print the stacks of its threads."""
        jvm = self.fake("deaf")
        done = self.jprof("scs", "--pid", jvm.pid)
        self.refused(done, 1, f"process {jvm.pid} does not answer within 10 s", "a safepoint",
                     f"`jcmd {jvm.pid} Thread.print`")
        self.assertEqual(left_behind(), self.before)
        jvm.send_signal(signal.SIGTERM)
        self.assertEqual(jvm.stdout.read(), "asked\n")

    def test_another_directory_for_temporary_files(self):
        folder = os.path.join(self.folder, "other")
        os.mkdir(folder)
        jvm = self.fake("good", f"-XX:AltTempDir={folder}", "Main")
        done = self.jprof("scs", "--pid", jvm.pid, "--duration", 1)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done)
        self.assertIn(",REPLY=" + urllib.parse.quote(f"{folder}/jprof-attach-"),
                      self.request(jvm)[4])
        self.assertEqual(os.listdir(folder), [f".java_pid{jvm.pid}"])

    def test_a_jvm_on_musl(self):
        jvm = self.fake("musl")
        self.refused(self.jprof("scs", "--pid", jvm.pid), 2, "ld-musl-x86_64.so.1", "needs glibc")
        self.assertEqual(left_behind(), self.before)

    def test_wrong_use(self):
        me = os.getpid()
        name = os.path.basename(sys.executable)
        for words, *texts in (
                (("--pid", "1x"), "'1x' is not a process id", "jprof ps"),
                (("--pid", "0"), "'0' is not a process id"),
                (("--pid", me), f"process {me} ({name[:6]}", "is not a Java process", "jprof ps"),
                (("--pid", me, "--", "java"), "either --pid or a command"),
                (("--pid", me, "java"), "either --pid or a command"),
                (("--pid", me, "--children"), "--children"),
                (("--pid", me, "--durration", 1), "--durration", "--duration")):
            with self.subTest(words=words):
                self.refused(self.jprof("callflow", *words), 2, *texts)
        self.refused(self.jprof("calltree", "--duration", "1", "--", "java"), 2,
                     "--duration needs --pid")
        self.refused(self.jprof("trace", "--pid", me), 2, "--pid")  # cannot begin in a running JVM
        with subprocess.Popen(["true"]) as ended:
            pass
        self.refused(self.jprof("scs", "--pid", ended.pid), 2, f"there is no process {ended.pid}")
        self.assertEqual(os.listdir(self.folder), ["libjprof.so"])

    def test_long_options_are_refused_before_anything_is_sent(self):
        jvm = self.fake("good")
        pattern = "+".join(f"com.acme.Name{i}.*" for i in range(100))
        self.refused(self.jprof("calltree", "--pid", jvm.pid, "--focus", pattern), 2,
                     "a running JVM accepts 1024")
        self.assertEqual(left_behind(), self.before)

    def test_detach_after_the_client_was_killed(self):
        jvm = self.fake("good")
        self.refused(self.jprof("detach", jvm.pid), 2, f"process {jvm.pid} has no jprof agent")
        with self.recording("scs", "--pid", jvm.pid, "-o", "x.jprof") as process:
            process.kill()
        self.request(jvm)
        done = self.jprof("detach", jvm.pid)
        self.assertEqual(done.returncode, 0, done)
        self.assertTrue(self.request(jvm)[4].startswith("DETACH"))
        self.assertIn("jprof: profile: x.jprof (1 threads", done.stderr)
        for name in left_behind() - self.before:
            shutil.rmtree(os.path.join("/tmp", name))  # of the killed client

    def test_a_failure_to_detach_names_the_next_step(self):
        jvm = self.fake("stays")
        done = self.jprof("scs", "--pid", jvm.pid, "--duration", 1)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("the agent is tired", done.stderr)
        self.assertIn(f"jprof detach {jvm.pid}", done.stderr)
        self.refused(self.jprof("detach", jvm.pid), 1, "the agent is tired")
        for name in left_behind() - self.before:
            shutil.rmtree(os.path.join("/tmp", name))

    def test_ps(self):
        jvm = self.fake("good", "Main", "one\x1b")
        text = self.jprof("ps").stdout.splitlines()
        self.assertEqual(text[0].split(),
                         ["PID", "USER", "JDK", "UPTIME", "CPU", "AGENT", "COMMAND"])
        row = next(line for line in text if line.split()[0] == str(jvm.pid))
        self.assertRegex(row, r"17\.0\.99 +00:\d\d:\d\d +\d+\.\d +- +.*fake_jvm.py good Main one\?$")
        rows = json.loads(self.jprof("ps", "--format", "json").stdout)["jvms"]
        mine = next(one for one in rows if one["pid"] == jvm.pid)
        self.assertEqual((mine["jdk"], mine["agent"]), ("17.0.99", False))
        self.jprof("scs", "--pid", jvm.pid, "--duration", 1)
        row = next(line for line in self.jprof("ps").stdout.splitlines()
                   if line.split()[0] == str(jvm.pid))
        self.assertRegex(row, r" yes +\S*python")
        self.refused(self.jprof("ps", "--format", "xml"), 2, "xml")

    def test_a_heap_is_read_without_a_file(self):
        """The dump has no name while it is read, and Ctrl-C then ends the command."""
        jvm = self.fake("dumps")
        done = self.jprof("heap", "--pid", jvm.pid)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn(f"heap      process {jvm.pid}\n", done.stdout)
        self.assertEqual(self.request(jvm)[1:4:2], ["dumpheap", "-live"])
        with child.running([JPROF, "heap", "--pid", str(jvm.pid)], cwd=self.folder, env=self.env,
                           stdout=subprocess.PIPE) as process:
            dump = self.request(jvm)[2]
            wait_for(lambda: os.path.exists(dump))
            wait_for(lambda: not os.path.exists(dump))
            self.assertIn(f"{dump} (deleted)", open_files(process.pid))  # it is being read
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.stdout.read(), b"")
            self.assertIn(process.wait(60), (-signal.SIGINT, 1))

    def test_a_place_that_cannot_be_written_is_found_before_the_dump(self):
        jvm = self.fake("dumps")
        made.write(self.folder, "there.hprof", b"mine")
        for place, status, word in (("there.hprof", 2, "exists"), ("no/x.hprof", 1, "No such file"),
                                    (".", 2, "exists")):
            self.refused(self.jprof("heap", "--pid", jvm.pid, "-o", place), status, word, "with -o")
        done = self.jprof("heap", "--pid", jvm.pid, "-o", "new.hprof")
        self.assertEqual(done.returncode, 0, done)
        self.request(jvm)  # the only one
        jvm.send_signal(signal.SIGTERM)
        self.assertEqual(jvm.stdout.read(), "")
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["libjprof.so", "new.hprof", "there.hprof"])

    def test_a_disk_that_becomes_full(self):
        jvm = self.fake("dumps")
        script = ('mount -t tmpfs -o size=64k tmpfs "$1" || exit 77; '
                  '"$2" heap --pid "$3" -o "$1/x.hprof"; echo "status $?"; ls "$1"')
        small = os.path.join(self.folder, "small")
        os.mkdir(small)
        done = child.run(["unshare", "--mount", "sh", "-c", script, "sh", small, JPROF,
                          str(jvm.pid)], env=self.env)
        if "status" not in done.stdout:
            self.skipTest("this user may not make namespaces")
        self.assertEqual(done.stdout, "status 1\n", done)
        self.assertIn("No space left", done.stderr)
        self.assertFalse(os.path.exists(self.request(jvm)[2]))

    def test_help_has_examples(self):
        for command in ("ps", "detach", "scs"):
            self.assertIn("Examples:", self.jprof(command, "--help").stdout)
        self.assertIn("--pid", self.jprof("callflow", "--help").stdout)

    @unittest.skipIf(os.geteuid() != 0, "only root can be another user")
    def test_other_users(self):
        reachable = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, reachable)
        copy = child.copy_for_all(JPROF, reachable)
        mine = self.fake("good")
        done = child.run([copy, "scs", "--pid", str(mine.pid)], user=NOBODY, group=NOBODY,
                         extra_groups=[], env=self.env, cwd="/")
        self.refused(done, 2, f"process {mine.pid} belongs to another user")
        # Root attaches to the processes of other users; the profile is recorded in their name.
        theirs = self.fake("good", AS_USER=str(NOBODY))
        done = self.jprof("scs", "--pid", theirs.pid, "--duration", 1, "-o", "theirs.jprof")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("OUT=/tmp/jprof-attach-", self.request(theirs)[4])
        self.assertTrue(os.path.exists(os.path.join(self.folder, "theirs.jprof", "control")))
        self.assertEqual(left_behind(), self.before)

    def container(self):
        """A fake JVM in a PID and mount namespace with its own /tmp; its pid outside."""
        if child.run(["unshare", "--pid", "--mount", "--fork", "true"]).returncode != 0:
            self.skipTest("this user may not make namespaces")
        outer = self.fake("good", "private-tmp",
                          prefix=("unshare", "--pid", "--mount", "--fork", "--kill-child"))
        return outer, children(outer.pid)[0]

    def test_a_container(self):
        jvm, pid = self.container()
        done = self.jprof("scs", "--pid", pid, "--duration", 1, "-o", "inside.jprof")
        self.assertEqual(done.returncode, 0, done)
        load = self.request(jvm)
        self.assertRegex(load[2], r"^/tmp/jprof-attach-\w+/libjprof\.so$")
        self.assertRegex(load[4], r"OUT=/tmp/jprof-attach-\w+/profile")
        self.assertTrue(os.path.exists(os.path.join(self.folder, "inside.jprof", "control")))
        inside = [name for name in os.listdir(f"/proc/{pid}/root/tmp") if "attach" in name]
        self.assertEqual(inside, [])
        self.assertEqual(left_behind(), self.before)

    def test_a_library_is_copied_into_a_container_once(self):
        jvm, pid = self.container()
        libraries = []
        for number in range(3):
            done = self.jprof("scs", "--pid", pid, "--duration", 1, "-o", f"{number}.jprof")
            self.assertEqual(done.returncode, 0, done)
            libraries += [self.request(jvm)[2], self.request(jvm)[2]]
        self.assertEqual(libraries, libraries[:1] * 6)
        # Another build is another library.
        with open(self.agent, "wb") as file:
            file.write(b"x" * 4096)
        done = self.jprof("scs", "--pid", pid, "--duration", 1, "-o", "other.jprof")
        self.assertEqual(done.returncode, 0, done)
        self.assertNotIn(self.request(jvm)[2], libraries)

    def test_a_container_that_ends(self):
        _, pid = self.container()
        with self.recording("scs", "--pid", pid, "-o", "inside.jprof") as process:
            os.kill(pid, signal.SIGKILL)
            text = process.stderr.read()
            self.assertEqual(process.wait(60), 0, text)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "inside.jprof", "control")))

    def test_detach_in_a_container_moves_the_profile(self):
        _, pid = self.container()
        with self.recording("scs", "--pid", pid, "-o", "inside.jprof") as process:
            process.kill()
        done = self.jprof("detach", pid)
        self.assertEqual(done.returncode, 0, done)
        profile = re.search(r"profile: (\S+) \(", done.stderr)[1]
        self.assertTrue(os.path.exists(os.path.join(self.folder, profile, "control")), done)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # prints which tests were skipped, and why
