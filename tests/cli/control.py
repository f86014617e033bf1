#!/usr/bin/env python3
"""Tests `jprof ctl` with a process that listens in place of the agent: requires no JVM.

  control.py JPROF
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))
NOBODY = 65534

# Replies to each line with its first argument and, if given, the descriptor of the folder SENT;
# prints the lines that it receives. With LIMIT, its clients have no free descriptor from then on.
LISTENER = r"""
import os, resource, signal, socket, struct, sys
signal.alarm(600)
reply, name = sys.argv[1].encode().decode("unicode_escape").encode("latin-1"), sys.argv[2]
if "AS_USER" in os.environ:
    os.setgroups([])
    os.setresgid(*[int(os.environ["AS_USER"])] * 3)
    os.setresuid(*[int(os.environ["AS_USER"])] * 3)
folder = f"{os.environ['XDG_RUNTIME_DIR']}/jprof-{os.geteuid()}"
os.makedirs(folder, mode=0o700, exist_ok=True)
server = socket.socket(socket.AF_UNIX)
server.bind(f"{folder}/{name or os.getpid()}.sock")
server.listen()
sent = [os.open(os.environ["SENT"], os.O_RDONLY)] if "SENT" in os.environ else []
print("listening", flush=True)
kept = []
while True:
    client, _ = server.accept()
    line = client.makefile("rb").readline()
    if line:
        print(line.decode().strip(), flush=True)
    if reply == b"silence":
        kept.append(client)
        continue
    if "LIMIT" in os.environ:
        peer = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        resource.prlimit(peer[0], resource.RLIMIT_NOFILE, (3, 3))
    try:
        socket.send_fds(client, [reply], sent) if sent else client.sendall(reply)
    except OSError:
        pass  # the client has ended
    client.close()
"""


class Control(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="jprof-ctl-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.env = {**os.environ, "XDG_RUNTIME_DIR": self.folder}

    def listener(self, answer, name="", **more):
        process = self.enterContext(child.running(
            [sys.executable, "-c", LISTENER, answer, name],
            env={**self.env, **more.pop("env", {})},
            stdout=subprocess.PIPE,
            text=True,
            **more,
        ))
        self.assertEqual(process.stdout.readline(), "listening\n")
        return process

    def ctl(self, *words, **more):
        return child.run([JPROF, "ctl", *map(str, words)], 60,
                         env={**self.env, **more.pop("env", {})}, **more)

    def refused(self, done, status, *words):
        self.assertEqual((done.returncode, done.stdout), (status, ""), done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done)
        for word in words:
            self.assertIn(str(word), done.stderr)

    def test_says_the_command_and_prints_the_answer(self):
        jvm = self.listener(r"ok recording into app.jprof\n")
        done = self.ctl(jvm.pid, "start")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "recording into app.jprof\n", ""))
        self.assertEqual(jvm.stdout.readline(), "jprof 1 start\n")

    def test_status_is_a_line_a_value(self):
        jvm = self.listener(r"ok mode=scs recording=yes samples=12 out=/a%20b/c%0A%1B[31m%25\n")
        for words in (["status"], []):
            done = self.ctl(jvm.pid, *words)
            self.assertEqual(done.returncode, 0, done)
            values = dict(line.split(":", 1) for line in done.stdout.splitlines())
            values = {key: value.strip() for key, value in values.items()}
            self.assertEqual(
                values, {"mode": "scs", "recording": "yes", "samples": "12", "out": "/a b/c??[31m%"})

    def test_an_error_of_the_agent_is_status_1(self):
        jvm = self.listener(r"error reset is not possible with this recording\n")
        self.refused(self.ctl(jvm.pid, "reset"), 1,
                     "jprof: reset is not possible with this recording")

    def test_flush_without_the_folder_is_an_error(self):
        reply = r"ok all recorded data is in the profile's files\n"
        sent = {"SENT": tempfile.mkdtemp(dir=self.folder)}
        self.assertEqual(self.ctl(self.listener(reply, env=sent).pid, "flush").stdout,
                         "all recorded data is on the disk\n")
        for env in ({}, {**sent, "LIMIT": "1"}):
            self.refused(self.ctl(self.listener(reply, env=env).pid, "flush"), 1,
                         "nothing was written to the disk", "ulimit -n", "`sync`")
        # The first agents wrote the files themselves.
        done = self.ctl(self.listener(r"ok all recorded data is on the disk\n").pid, "flush")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "all recorded data is on the disk\n"), done)

    def test_strange_answers(self):
        for answer in (r"", r"\n", r"nonsense\n", r"ok", "x" * 100_000, r"\x00\xff\x1b"):
            jvm = self.listener(answer)
            self.refused(self.ctl(jvm.pid, "start"), 1, jvm.pid)
        self.assertEqual(self.ctl(self.listener(r"ok \x1b[2J\n").pid, "start").stdout, "?[2J\n")

    def test_a_silent_process(self):
        jvm = self.listener("silence")
        self.refused(self.ctl(jvm.pid, "start", "--timeout", "0.2"), 1, jvm.pid, "0.2 s")
        stopped = self.listener(r"ok fine\n")
        os.kill(stopped.pid, signal.SIGSTOP)
        self.refused(self.ctl(stopped.pid, "start", "--timeout", "0.2"), 1, stopped.pid, "0.2 s")
        os.kill(stopped.pid, signal.SIGCONT)
        self.assertEqual(self.ctl(stopped.pid, "start").stdout, "fine\n")

    def test_wrong_words(self):
        self.refused(self.ctl(1, "strat"), 2, "'strat'", "did you mean start?")
        self.refused(self.ctl("start"), 2, "jprof ctl PID start")
        self.refused(self.ctl("12x", "start"), 2, "'12x'")
        self.refused(self.ctl("-1", "start"), 2)
        self.refused(self.ctl(1, "start", "now"), 2, "now")
        self.refused(self.ctl(1, "start", "--timeout", "soon"), 2, "soon")

    def test_no_such_process_and_none_with_jprof(self):
        with subprocess.Popen(["true"]) as ended:
            pass
        self.refused(self.ctl(ended.pid, "start"), 2, f"there is no process {ended.pid}")
        self.refused(self.ctl(os.getpid(), "start"), 2,
                     f"process {os.getpid()} has no listening jprof agent", "jprof scs")

    def test_a_socket_that_another_process_made_is_not_taken_for_it(self):
        self.listener(r"ok fooled\n", name=str(os.getpid()))
        self.refused(self.ctl(os.getpid(), "start"), 2, "has no listening jprof agent")

    def test_another_folder_than_ours(self):
        other = tempfile.mkdtemp(prefix="jprof-ctl-")
        self.addCleanup(shutil.rmtree, other)
        jvm = self.listener(r"ok found\n", env={"XDG_RUNTIME_DIR": other})
        self.assertEqual(self.ctl(jvm.pid, "start").stdout, "found\n")

    def test_a_name_that_is_not_its_number(self):
        jvm = self.listener(r"ok found\n", name="7")  # as for a process in a container
        self.assertEqual(self.ctl(jvm.pid, "start").stdout, "found\n")

    def test_list(self):
        done = self.ctl()
        self.assertEqual(done.returncode, 0, done)
        good = self.listener(r"ok mode=scs recording=no out=/x\n")
        bad = self.listener(r"silence")
        dead = self.listener(r"ok mode=scs\n")
        dead.kill()
        dead.wait()
        for words in ([], ["list"]):
            done = self.ctl(*words, "--timeout", "0.2")
            rows = {line.split()[0]: line.split(None, 1)[1] for line in done.stdout.splitlines()}
            self.assertEqual(rows[str(good.pid)], "mode=scs recording=no out=/x", done)
            self.assertIn("did not answer", rows[str(bad.pid)])
            self.assertNotIn(str(dead.pid), rows)
            self.assertEqual(done.returncode, 0, done)

    @unittest.skipIf(os.geteuid() != 0, "only root can be another user")
    def test_other_users(self):
        os.chmod(self.folder, 0o755)
        jvm = self.listener(r"ok fine\n")
        reachable = shutil.copy(JPROF, self.folder)  # readable for another user
        asked = child.run([reachable, "ctl", str(jvm.pid), "start"], user=NOBODY, group=NOBODY,
                          extra_groups=[], env=self.env, cwd="/")
        self.refused(asked, 2, f"process {jvm.pid} belongs to another user")
        # Root may control all users' processes.
        theirs = os.path.join(self.folder, "theirs")
        os.mkdir(theirs)
        os.chown(theirs, NOBODY, NOBODY)
        jvm = self.listener(r"ok fine\n", env={"XDG_RUNTIME_DIR": theirs, "AS_USER": str(NOBODY)})
        self.assertEqual(self.ctl(jvm.pid, "start").stdout, "fine\n")

    def test_help_shows_every_command(self):
        text = self.ctl("--help").stdout
        for word in ("start", "stop", "flush", "reset", "status", "Examples:", "--timeout"):
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # prints which tests were skipped, and why
