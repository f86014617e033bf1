"""Starts programs for a test or a benchmark. Each runs in its own session, which is killed with all
its processes at the timeout, when the caller has finished with it, and when the caller itself is
killed.

    child.py COMMAND...     runs a command in this way
"""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading

_guard = None  # write end of the guard's pipe: "+PID" a session began, "-PID" it ended
_starting = threading.Lock()


def own_environment(folder, *without):
    """This process's environment for programs that a test starts: their data is in the folder, and
    no variable gives a JVM an agent or options. `without`: more variables to leave out."""
    left_out = {"JAVA_TOOL_OPTIONS", "JPROFOPTS", "JPROF_AGENT", *without}
    return {**{key: value for key, value in os.environ.items() if key not in left_out},
            "XDG_DATA_HOME": os.path.join(folder, "data")}


def _end(session):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)


def _watch(pipe):
    """The guard process: when the pipe closes, its writer has ended; kills the remaining
    sessions."""
    left = set()
    with os.fdopen(pipe, "r") as lines:
        for line in lines:
            (left.add if line[0] == "+" else left.discard)(int(line[1:]))
    for session in left:
        _end_all(session)


def _end_all(session):
    """Also kills processes with their own process group."""
    _end(session)
    for pid in members(session):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def members(session):
    """The running processes of a session: pid -> name."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                name, fields = stat.read().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue  # the process has ended
        state, _, _, of = fields.split()[:4]
        if int(of) == session and state not in "ZX":
            found[int(pid)] = name
    return found


def _start_guard():
    global _guard
    with _starting:
        if _guard is not None:
            return
        read_end, write_end = os.pipe()
        if os.fork() == 0:
            try:
                os.setsid()
                os.close(write_end)
                nothing = os.open(os.devnull, os.O_RDWR)
                for stream in range(3):  # readers of the caller's output must see its end
                    os.dup2(nothing, stream)
                _watch(read_end)
            finally:
                os._exit(0)
        os.close(read_end)
        _guard = write_end


def _notify(sign, session):
    os.write(_guard, f"{sign}{session}\n".encode())


@contextlib.contextmanager
def running(command, preexec_fn=None, **more):
    """Like subprocess.Popen. Kills the remaining processes of the session at the end of the
    block."""
    _start_guard()

    def prepare():
        _notify("+", os.getpid())  # from the child: the caller may be killed before it can
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
            _notify("-", process.pid)


def run(command, timeout=300, input=None, check=False, text=True, **more):
    """Like subprocess.run with both outputs captured."""
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
            "errors": "replace" if text else None, **more}
    if input is not None:
        more["stdin"] = subprocess.PIPE
    with running(command, text=text, **more) as process:
        stdout, stderr = process.communicate(input, timeout)
    done = subprocess.CompletedProcess(command, process.returncode, stdout, stderr)
    if check:
        done.check_returncode()
    return done


def copy_for_all(jprof, folder):
    """Copies jprof and its agent, because other users may not have access to the build tree.
    Returns the path of the copy."""
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
