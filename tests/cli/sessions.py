"""Programs of tests, each in a session of its own: whatever it leaves is killed with it."""
import contextlib
import os
import signal
import subprocess


@contextlib.contextmanager
def started(words, **options):
    """A Popen; at the end all of its process group is gone."""
    process = subprocess.Popen(words, start_new_session=True, **options)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        process.wait()


def run(words, text=None, timeout=120, **options):
    """As subprocess.run with both outputs captured; a timeout is an error."""
    stdin = subprocess.DEVNULL if text is None else subprocess.PIPE
    pipes = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    with started(words, text=True, **pipes) as process:
        stdout, stderr = process.communicate(text, timeout=timeout)
        return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)
