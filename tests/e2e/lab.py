"""What the robustness tests and the benchmarks share: running a program with and without the agent."""
import contextlib
import dataclasses
import os
import shutil
import subprocess
import tempfile


class Skip(Exception):
    """The case cannot run on this machine; the message says why."""


@dataclasses.dataclass
class Lab:
    """Where things are, and the JDK under test."""
    jprof: str
    agent: str
    programs: str
    jdk: object
    tmp: str = None

    @contextlib.contextmanager
    def folder(self):
        path = tempfile.mkdtemp(prefix="jprof-lab-", dir=self.tmp)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def command(self, program, *args, agent="", flags=()):
        """The java command of one of the programs; `agent`: the agent's options."""
        command = [self.jdk.tool("java"), *flags]
        if agent:
            command.append(f"-agentpath:{self.agent}={agent}")
        return command + ["-cp", os.path.join(self.programs, "classes"), program, *map(str, args)]

    def java_agent(self, program):
        return "-javaagent:" + os.path.join(self.programs, "agents", program + ".jar")

    def run(self, command, stdin="", **more):
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, errors="replace", timeout=300, **more)

    def cli(self, *args, **more):
        return self.run([self.jprof, *map(str, args)], **more)


@contextlib.contextmanager
def small_disk(size):
    """A tmpfs of its own, e.g. "8M"."""
    if os.geteuid() != 0:
        raise Skip("mounting a small tmpfs needs root")
    path = tempfile.mkdtemp(prefix="jprof-disk-")
    try:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], capture_output=True)
        if mounted.returncode != 0:
            raise Skip("cannot mount a tmpfs: " + mounted.stderr.decode().strip())
        try:
            yield path
        finally:
            subprocess.run(["umount", "-l", path], check=False)
    finally:
        os.rmdir(path)
