"""Runs programs on a pseudoterminal."""
import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios


@contextlib.contextmanager
def opened(columns=80):
    """The test's end and the program's end of a terminal; the caller may close the latter."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    try:
        yield ours, theirs
    finally:
        os.close(ours)
        with contextlib.suppress(OSError):
            os.close(theirs)


def run(command, columns=80, stdout=None, **how):
    """Runs a program that must succeed. Returns what the terminal shows, and what the program
    writes to its standard output if that is a pipe."""
    with opened(columns) as (ours, theirs), subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stdout or theirs, stderr=theirs,
            **how) as done:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while more := os.read(ours, 65536):
                shown += more
        printed = done.stdout.read().decode() if stdout else ""
    assert done.returncode == 0, (command, shown)
    return shown.decode().replace("\r\n", "\n"), printed
