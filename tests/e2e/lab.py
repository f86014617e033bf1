"""Shared by the robustness tests: running a program with and without the agent."""
import contextlib
import ctypes
import dataclasses
import functools
import os
import shutil
import tempfile

import child


MEMORY = "/dev/shm"


class Skip(Exception):
    """The case cannot run on this machine; the message is the reason."""


@dataclasses.dataclass
class Lab:
    """The paths of the programs under test, and the JDK."""
    jprof: str
    agent: str
    programs: str
    jdk: object
    tmp: str = None
    libraries: str = None

    @classmethod
    def with_libraries(cls, jprof, agent, programs, jdk):
        """A lab whose JVMs find the programs' JNI library, which is beside the agent."""
        agent = os.path.abspath(agent)
        libraries = os.path.dirname(agent)
        os.environ["LD_LIBRARY_PATH"] = libraries
        return cls(jprof, agent, os.path.abspath(programs), jdk, libraries=libraries)

    @contextlib.contextmanager
    def folder(self, in_memory=False):
        """A new folder, `in_memory` where there is a file system for that, so that no thread waits
        for the disk when it writes events."""
        where = MEMORY if in_memory and os.access(MEMORY, os.W_OK) else self.tmp
        path = tempfile.mkdtemp(prefix="jprof-lab-", dir=where)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def command(self, program, *args, agent="", flags=()):
        """The java command of a program; `agent`: the agent's options."""
        command = self.jdk.java(*flags)
        if agent:
            command.append(f"-agentpath:{self.agent}={agent}")
        return command + ["-cp", os.path.join(self.programs, "classes"), program, *map(str, args)]

    def native(self, name):
        """The path of one of the tests' libraries."""
        path = os.path.join(self.libraries, f"lib{name}.so")
        if not os.path.exists(path):
            raise Skip(f"{path} is not built")
        return path

    def java_agent(self, program):
        return "-javaagent:" + os.path.join(self.programs, "agents", program + ".jar")

    def run(self, command, stdin="", **more):
        return child.run(command, input=stdin, **more)

    def cli(self, *args, **more):
        return self.run([self.jprof, *map(str, args)], **more)


@functools.cache
def own_mounts():
    """Makes later mounts of this process private to it and its children."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_mounts, private = 0x20000, (1 << 14) | (1 << 18)  # CLONE_NEWNS; MS_REC | MS_PRIVATE
    if libc.unshare(new_mounts) != 0 or libc.mount(None, b"/", None, private, None) != 0:
        raise Skip("no mount namespace: " + os.strerror(ctypes.get_errno()))


@contextlib.contextmanager
def small_disk(size):
    """A new tmpfs of this size, e.g. "8M"."""
    if os.geteuid() != 0:
        raise Skip("mounting a small tmpfs needs root")
    own_mounts()
    path = tempfile.mkdtemp(prefix="jprof-disk-")
    try:
        mounted = child.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path])
        if mounted.returncode != 0:
            raise Skip("cannot mount a tmpfs: " + mounted.stderr.strip())
        try:
            yield path
        finally:
            child.run(["umount", "-l", path])
    finally:
        os.rmdir(path)
