"""Attaches the agent to a running program, for tests and benchmarks."""
import contextlib
import os
import signal
import socket
import subprocess
import time

import child

BATCH = 50  # units of work between two readings of the clock


class Refused(Exception):
    """The agent refused; the message is its reply."""


def jcmd(pid, command):
    """The answer of a JVM to a command of jcmd. Sends it as jcmd does, without a JVM of its own, whose
    start takes longer than what the tests do with the answer."""
    path, request = f"/tmp/.java_pid{pid}", f"/tmp/.attach_pid{pid}"
    if not os.path.exists(path):
        with open(request, "x", encoding="utf-8"):
            os.kill(pid, signal.SIGQUIT)
        end = time.monotonic() + 600
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.01)
        os.remove(request)
    with socket.socket(socket.AF_UNIX) as jvm:
        jvm.settimeout(600)
        jvm.connect(path)
        jvm.sendall("\0".join(("1", "jcmd", command, "", "", "")).encode())
        return b"".join(iter(lambda: jvm.recv(4096), b"")).decode()


def cpu_seconds(task):
    """The CPU time of a thread, whose folder in /proc is `task`."""
    with open(f"{task}/schedstat", encoding="utf-8") as f:
        return int(f.read().split()[0]) / 1e9


class Program:
    """AttachLoad or another program with commands, running. `folder`: for the replies."""

    def __init__(self, lab, process, folder):
        self.lab, self.process, self.pid, self.folder = lab, process, process.pid, folder
        self.agent = lab.agent

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise SystemExit(f"FAILED: the program ended: {self.process.wait(60)}")
        return answer

    def state(self):
        """Units of work, their CPU time in ns, wrong answers."""
        return tuple(map(int, self.ask("state").split()))

    def batches(self):
        """CPU time of each of the latest batches of BATCH units, in ns, since the last call."""
        return list(map(int, self.ask("batches").split()[:-1]))

    def load(self, options):
        """The agent's reply to these options."""
        reply = os.path.join(self.folder, f"reply-{self.pid}")
        with contextlib.suppress(FileNotFoundError):
            os.remove(reply)
        done = jcmd(self.pid, f'JVMTI.agent_load {self.agent} "{options},REPLY={reply}"')
        if not os.path.exists(reply):
            raise SystemExit(f"FAILED: no reply to {options}: {done}")
        with open(reply, encoding="utf-8") as f:
            text = f.read()
        lines = text.splitlines()
        if len(lines) != 1 or text[-1] != "\n":
            raise SystemExit(f"FAILED: the reply to {options} is not one line: {text!r}")
        accepted = "return code: 0" in done
        if accepted != lines[0].startswith("ok"):
            raise SystemExit(f"FAILED: the reply does not match the code: {lines[0]}: {done}")
        if not accepted:
            raise Refused(lines[0])
        return lines[0]

    def detach(self):
        return self.load("DETACH")

    def tasks(self):
        """(folder, name) of each thread."""
        found, folder = [], f"/proc/{self.pid}/task"
        for tid in os.listdir(folder):
            with contextlib.suppress(OSError):
                with open(f"{folder}/{tid}/comm", encoding="utf-8") as f:
                    found.append((f"{folder}/{tid}", f.read().strip()))
        return found

    def work(self, seconds):
        """Waits until each working thread has used so much more CPU time."""
        for path in [path for path, name in self.tasks() if name.startswith("worker")]:
            start = cpu_seconds(path)
            while cpu_seconds(path) < start + seconds:
                time.sleep(0.02)

    def remains(self):
        """What a process has: threads, descriptors, mappings, resident KiB."""
        folder = f"/proc/{self.pid}"
        with open(f"{folder}/maps", encoding="utf-8") as f:
            maps = f.read().splitlines()
        with open(f"{folder}/status", encoding="utf-8") as f:
            status = dict(line.split(":", 1) for line in f)
        names = []
        for fd in os.listdir(f"{folder}/fd"):
            with contextlib.suppress(FileNotFoundError):
                names.append(os.readlink(f"{folder}/fd/{fd}"))
        return {"fds": names, "maps": maps, "threads": [name for _, name in self.tasks()],
                "rss": int(status["VmRSS"].split()[0])}


@contextlib.contextmanager
def program(lab, folder, workers=2, flags=(), more=(), env=None, name="AttachLoad", pause=1):
    """AttachLoad with this many working threads, `more` arguments and variables, or the program of
    this name. Its threads rest for `pause` ms after each batch, to leave the processors to others.
    Ends it, and checks its answers."""
    flags = [*flags, f"-Dpause={pause}"]
    if lab.jdk.major >= 21:
        flags.append("-XX:+EnableDynamicAgentLoading")  # else the JVM prints a warning
    command = lab.command(name, workers, *more, flags=flags)
    with child.running(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True,
                       env={**os.environ, **(env or {})}) as process:
        if process.stdout.readline() != "ready\n":
            raise SystemExit("FAILED: the program did not start")
        running = Program(lab, process, folder)
        yield running
        out, _ = process.communicate("end\n", timeout=600)
        last = out.strip().splitlines()
        if process.returncode != 0 or len(last) != 1 or last[0].split()[2] != "0":
            raise SystemExit(f"FAILED: exit status {process.returncode}: {out}")
