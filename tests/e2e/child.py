"""Programs that a test or a benchmark starts. Each is in a session of its own and ends with all that it started: when its
time is up, when the caller has finished with it, and when the caller itself is killed.

    child.py COMMAND...     runs a command so
"""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading

_guard = None  # the end of a pipe on which the guard hears of sessions: "+PID" one began, "-PID" it is over
_starting = threading.Lock()


def _end(session):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)


def _watch(pipe):
    """The guard: when the pipe closes, its writer is gone, in whatever way; what is left of it is ended."""
    left = set()
    with os.fdopen(pipe, "r") as lines:
        for line in lines:
            (left.add if line[0] == "+" else left.discard)(int(line[1:]))
    for session in left:
        _end_all(session)


def _end_all(session):
    """Those that have a process group of their own, too."""
    _end(session)
    for pid in members(session):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def members(session):
    """The processes of a session that still run: pid -> name."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                name, rest = stat.read().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue  # it has ended
        state, _, _, of = rest.split()[:4]
        if int(of) == session and state not in "ZX":
            found[int(pid)] = name
    return found


def _start_guard():
    global _guard
    with _starting:
        if _guard is not None:
            return
        ours, told = os.pipe()
        if os.fork() == 0:
            try:
                os.setsid()
                os.close(told)
                nothing = os.open(os.devnull, os.O_RDWR)
                for stream in range(3):  # who reads the caller's output sees its end
                    os.dup2(nothing, stream)
                _watch(ours)
            finally:
                os._exit(0)
        os.close(ours)
        _guard = told


def _tell(sign, session):
    os.write(_guard, f"{sign}{session}\n".encode())


@contextlib.contextmanager
def running(command, preexec_fn=None, **more):
    """As subprocess.Popen. What of its session still runs when the block is left is killed."""
    _start_guard()

    def prepare():
        _tell("+", os.getpid())  # by the child itself: its caller may be gone before it could
        if preexec_fn:
            preexec_fn()

    more.setdefault("stdin", subprocess.DEVNULL)
    with subprocess.Popen(command, start_new_session=True, preexec_fn=prepare, **more) as process:
        try:
            yield process
        except BaseException:
            _end_all(process.pid)
            raise
        finally:
            _end(process.pid)
            _tell("-", process.pid)


def run(command, timeout=300, input=None, check=False, text=True, **more):
    """As subprocess.run with both outputs captured."""
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "errors": "replace" if text else None, **more}
    if input is not None:
        more["stdin"] = subprocess.PIPE
    with running(command, text=text, **more) as process:
        stdout, stderr = process.communicate(input, timeout)
    done = subprocess.CompletedProcess(command, process.returncode, stdout, stderr)
    if check:
        done.check_returncode()
    return done


def copy_for_all(jprof, folder):
    """Its path. Copies jprof and its agent: other users may not read where they were built."""
    os.chmod(folder, 0o755)
    for part in ("bin/jprof", "lib/libjprof.so"):
        built = os.path.join(os.path.dirname(jprof), "..", part)
        if os.path.exists(built):
            os.makedirs(os.path.join(folder, os.path.dirname(part)), exist_ok=True)
            shutil.copy(built, os.path.join(folder, part))
    return os.path.join(folder, "bin/jprof")


if __name__ == "__main__":
    with running(sys.argv[1:]) as only:
        only.wait()
    sys.exit(only.returncode if only.returncode >= 0 else 128 - only.returncode)
