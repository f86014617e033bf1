#!/usr/bin/env python3
"""Tests that `jprof tprof` does not affect the sampled program, and what it copies from other
processes' files.

  recording.py JPROF
"""
import contextlib
import glob
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))
NOBODY = 65534
SECRET = "7f0000000000 1000 secret-of-root\n"
NORMAL = "7f0000000000 1000 jitted-by-others\n"

# Creates its perf map according to the first argument, in the folder of the second, then uses the
# CPU.
BUSY = r"""
import mmap, os, sys, time
kind, folder, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
secret, text = os.path.join(folder, "secret"), "7f0000000000 1000 jitted-by-others\n"
perf_map = f"/tmp/perf-{os.getpid()}.map"
def write(path, owner=None):
    with open(path, "w") as file:
        file.write(text)
    if owner is not None:
        os.chown(path, owner, owner)
def map_code(path):
    with open(path, "rb") as file:
        executable = mmap.PROT_READ | mmap.PROT_EXEC
        return mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=executable)
def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
def work():
    if kind == "normal": write(perf_map)
    if kind == "link": os.symlink(secret, perf_map)
    if kind == "fifo": os.mkfifo(perf_map)
    if kind == "foreign": write(perf_map, 65534)
    if kind == "long":
        write(perf_map)
        os.truncate(perf_map, 1 << 40)
    if kind == "user":
        write(perf_map, 65534)
        os.setgid(65534)
        os.setuid(65534)
    if kind.startswith("dump"):
        place = os.path.join(folder, "real")
        os.mkdir(place)
        dump = os.path.join(place, "jit-7.dump")
        write(dump)
        code = map_code(dump)
        time.sleep(0.05)
    if kind == "dump-link":
        os.unlink(dump)
        os.symlink(secret, dump)
    if kind == "dump-folder-link":
        os.rename(place, place + "-aside")
        os.mkdir(os.path.join(folder, "other"))
        os.link(secret, os.path.join(folder, "other", "jit-7.dump"))
        os.symlink("other", place)
    spin(seconds)
print(os.getpid(), flush=True)
work()
"""


class Recording(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof-recording-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = os.path.join(self.folder, "out")
        with open(os.path.join(self.folder, "secret"), "w", encoding="ascii") as file:
            file.write(SECRET)
        os.chmod(file.name, 0o600)

    def tprof(self, *words, command=(), **options):
        words = [JPROF, "tprof", "-o", self.out, "--rate", "500", *words]
        tail = ["--", *command] if command else []
        return child.run([*words, *tail], cwd=self.folder, **options)

    def quality(self):
        """The facts of the recording."""
        done = child.run([JPROF, "info", "--quality", "--format", "json", self.out], check=True)
        return json.loads(done.stdout)["quality"]

    def kept(self):
        """Name -> contents of the recording's files, except jprof's own."""
        texts = {}
        for path in glob.glob(os.path.join(self.out, "*-*")):
            with open(path, encoding="ascii") as file:
                texts[os.path.basename(path)] = file.read()
        return texts


class ForeignFiles(Recording):
    def busy(self, kind, *before):
        """The process number, jprof's messages, and the files that it copied."""
        command = [*before, sys.executable, "-c", BUSY, kind, self.folder, "0.3"]
        done = self.tprof(command=command)
        pid = int(done.stdout.split("\n", 1)[0])
        if os.path.lexists(f"/tmp/perf-{pid}.map"):
            os.unlink(f"/tmp/perf-{pid}.map")
        self.assertEqual(done.returncode, 0, done)
        return pid, self.quality(), self.kept()

    def refuses(self, kind, name, *words):
        pid, said, kept = self.busy(kind)
        self.assertEqual(kept, {})
        lines = [fact["text"] for fact in said if "is not copied" in fact["text"]]
        self.assertEqual(len(lines), 1, said)
        for part in (name.format(pid=pid), f"process {pid}", *words):
            self.assertIn(part, lines[0])

    def test_a_map_is_copied(self):
        pid, said, kept = self.busy("normal")
        self.assertEqual(kept, {f"perf-{pid}.map": NORMAL})
        self.assertIn("1 jitted methods and stubs are known by name",
                      [fact["text"] for fact in said])

    def test_a_dump_is_copied_under_the_number_of_its_process(self):
        pid, _, kept = self.busy("dump")
        self.assertEqual(kept, {f"jit-{pid}.dump": NORMAL})

    def test_a_link_to_a_file_of_root_is_not_followed(self):
        self.refuses("link", "/tmp/perf-{pid}.map", "symbolic link")
        shutil.rmtree(self.out)
        self.refuses("dump-link", "real/jit-7.dump", "symbolic link")

    def test_no_link_among_the_folders_is_followed(self):
        self.refuses("dump-folder-link", "real/jit-7.dump", "symbolic link")

    def test_a_fifo_does_not_block(self):
        self.refuses("fifo", "/tmp/perf-{pid}.map", "not a regular file")

    def test_a_sparse_file_counts_with_its_length(self):
        limit = 1 << 28  # kills a jprof that copies it before the disk is full
        options = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))}
        with self.other("long") as pid:
            done = self.tprof("-p", str(pid), "--duration", "0.5", **options)
            self.assertEqual((done.returncode, self.kept()), (0, {}), done)
            said = rf"/tmp/perf-{pid}.map of process {pid} is not copied: .* {1 << 40} bytes"
            self.assertTrue(any(re.search(said, fact["text"]) for fact in self.quality()))

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_file_of_another_user_is_not_copied(self):
        self.refuses("foreign", "/tmp/perf-{pid}.map", "user 65534", "user 0")

    @contextlib.contextmanager
    def other(self, kind):
        """The number of a process that exists before and after jprof."""
        with child.running([sys.executable, "-c", BUSY, kind, self.folder, "20"], stdout=-1,
                           text=True) as program:
            pid = int(program.stdout.readline())
            time.sleep(0.3)
            try:
                yield pid
            finally:
                os.unlink(f"/tmp/perf-{pid}.map")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_file_of_the_user_that_a_process_became_is_copied(self):
        with self.other("user") as pid:
            self.assertEqual(self.tprof("-p", str(pid), "--duration", "0.5").returncode, 0)
            self.assertEqual(self.kept(), {f"perf-{pid}.map": NORMAL})

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_process_with_its_own_tmp_and_its_own_numbers(self):
        script = 'mount -t tmpfs none /tmp && exec "$@"'
        words = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", script, "sh"]
        words += [sys.executable, "-c", BUSY, "normal", "/", "20"]
        with child.running(words, stdout=-1, text=True) as program:
            self.assertEqual(int(program.stdout.readline()), 1)  # its pid in its own namespace
            with open(f"/proc/{program.pid}/task/{program.pid}/children",
                      encoding="ascii") as children:
                pid = int(children.read())
            time.sleep(0.3)
            self.assertEqual(self.tprof("-p", str(pid), "--duration", "0.5").returncode, 0)
            self.assertEqual(self.kept(), {f"perf-{pid}.map": NORMAL})


class FullDisk(Recording):
    def at_most(self, size):
        """Limits the size of files, like a full disk."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return {"preexec_fn": limit}

    def fails(self, size, name):
        done = self.tprof(command=["sh", "-c", "echo started"], **self.at_most(size))
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertRegex(done.stderr, rf"^jprof: cannot write \S*/{name}: File too large; .* -o\n$")
        self.assertFalse(os.path.exists(self.out))

    def test_what_a_report_needs_is_written_or_nothing_starts(self):
        self.fails(0, "recording.json")
        with open("/proc/kallsyms", encoding="ascii") as symbols:
            if symbols.readline().startswith("0000000000000000"):
                self.skipTest("the kernel's addresses are hidden from this user")
        self.fails(1 << 16, "kallsyms")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_small_disk(self):
        script = ('mkdir small && mount -t tmpfs -o size=64k none small && '
                  '"$0" tprof -o small/out -- echo started; ls small')
        done = child.run(["unshare", "--mount", "sh", "-c", script, JPROF], cwd=self.folder)
        self.assertEqual(done.stdout, "", done)
        self.assertRegex(
            done.stderr, r"^jprof: cannot write \S*/kallsyms: No space left on device; .* -o\n$")


class AsAlone(Recording):
    """The program has the same limits and signal dispositions as without jprof."""

    COMMANDS = (["tprof"], ["stat", "-e", "time"], ["ptt", "-e", "time"])
    SHOW = ["sh", "-c", "ulimit -Sn; grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status"]

    def compare(self, prepare):
        alone = child.run(self.SHOW, preexec_fn=prepare)
        self.assertEqual(alone.stdout.count("\n"), 4, alone)
        for words in self.COMMANDS:
            if words[0] == "ptt" and os.geteuid() != 0:
                continue
            with self.subTest(words):
                done = child.run([JPROF, *words, "--", *self.SHOW], cwd=self.folder,
                                 preexec_fn=prepare)
                self.assertEqual(done.returncode, 0, done)
                self.assertEqual(done.stdout.splitlines()[:4], alone.stdout.splitlines())

    def test_as_started_here(self):
        self.compare(lambda: None)

    def test_the_limit_of_files(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        self.compare(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard)))

    def test_ignored_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            with self.subTest(number):
                self.compare(lambda number=number: signal.signal(number, signal.SIG_IGN))

    def test_a_blocked_signal(self):
        self.compare(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]))

    def test_an_ignored_signal_ends_neither(self):
        def ignore():
            signal.signal(signal.SIGINT, signal.SIG_IGN)

        for words in self.COMMANDS:
            if words[0] == "ptt" and os.geteuid() != 0:
                continue
            with self.subTest(words):
                script = "echo started; read line; exit 4"
                with child.running([JPROF, *words, "--", "sh", "-c", script], cwd=self.folder,
                                   stdin=-1, stdout=-1, stderr=-1,
                                      text=True, preexec_fn=ignore) as jprof:
                    self.assertEqual(jprof.stdout.readline(), "started\n")
                    os.killpg(jprof.pid, signal.SIGINT)
                    time.sleep(0.5)
                    jprof.communicate("\n", timeout=600)
                    self.assertEqual(jprof.returncode, 4)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # prints which tests were skipped, and why
