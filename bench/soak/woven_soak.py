#!/usr/bin/env python3
"""Soak test of counting calls in a running JVM: an H2 workload that checks its own answers, while
recordings begin and end in it, a second agent redefines and retransforms classes, others are loaded
and unloaded, and the heap is small.

    bench/soak/woven_soak.py                            30 minutes on every JDK
    bench/soak/woven_soak.py --minutes 2 --jdk 17
    bench/soak/woven_soak.py --counter probe            HotSpot's probes instead of woven counters
    bench/soak/woven_soak.py --launch                   one recording, that begins with the JVM

A recording is `jprof calltree --pid`. Of three, one ends by itself, one is interrupted, and one's
command is killed, after which `jprof detach` ends it. Requires the package libh2-java.

Prints what happened. Exit status 1 if the JVM crashed or hung, if an answer was wrong, or if a
recording did not begin, did not end or counted nothing; the folder of the JVM's files is printed.
"""
import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402
import child  # noqa: E402
import jvms  # noqa: E402

H2 = "/usr/share/java/h2.jar"
LAST_WITH_LATE_PROBE = 23
MADE = 20           # generated classes
LIMIT = 120         # seconds that a command and an answer of the program may take
MANIFEST = """Manifest-Version: 1.0
Premain-Class: SoakAgent
Can-Redefine-Classes: true
Can-Retransform-Classes: true
"""
MADE_SOURCE = """
public class Made%(i)d implements java.util.function.IntUnaryOperator {
  private int more(int x, int left) { return left == 0 ? x : more(x + 1, left - 1); }
  @Override public int applyAsInt(int x) { return more(x, %(i)d); }
}
"""


class Bad(Exception):
    """What went wrong."""


# ---- the program


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def compile_to(jdk, folder, sources):
    subprocess.run([jdk.tool("javac"), "-cp", H2, "-d", folder, *sources], check=True)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def program_jar(jdk, work):
    """The program and the second agent, with the second version of its changing class."""
    folder = os.path.join(measure.ROOT, "bench", "java")
    sources = [os.path.join(folder, name) for name in ("H2Soak.java", "SoakAgent.java")]
    classes = compile_to(jdk, os.path.join(work, "classes"), sources)
    with open(sources[1], encoding="utf-8") as f:
        other = f.read().replace("return 1;", "return 2;")
    os.makedirs(os.path.join(work, "other"))
    changed = compile_to(jdk, os.path.join(work, "changed"), [
        sources[0], write(os.path.join(work, "other", "SoakAgent.java"), other)])
    path = os.path.join(work, "soak.jar")
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", MANIFEST)
        for file in classes:
            jar.write(file, os.path.basename(file))
        jar.write(next(c for c in changed if c.endswith("$Changing.class")), "Changing.2")
    return path


def made_jar(jdk, work):
    """The classes that are loaded and dropped."""
    folder = os.path.join(work, "made")
    os.makedirs(folder)
    sources = [write(os.path.join(folder, f"Made{i}.java"), MADE_SOURCE % {"i": i})
               for i in range(MADE)]
    path = os.path.join(work, "made.jar")
    with zipfile.ZipFile(path, "w") as jar:
        for file in compile_to(jdk, os.path.join(work, "made-classes"), sources):
            jar.write(file, os.path.basename(file))
    return path


def java_command(args, jdk, work):
    jar = program_jar(jdk, work)
    flags = ["-XX:+EnableDynamicAgentLoading"] if jdk.major >= 21 else []
    return [jdk.tool("java"), "-Xmx256m", "-XX:ErrorFile=" + os.path.join(work, "hs_err.log"),
            *flags, *args.jvm, f"-javaagent:{jar}={args.pause}", "-cp", f"{H2}:{jar}", "H2Soak",
            made_jar(jdk, work), str(MADE), str(args.threads)]


class Program:
    """The running program. `process`: it, or the jprof that started it."""

    def __init__(self, process):
        self.process, self.lines = process, queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        if self._line() != "ready":
            raise Bad("the program did not start")

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())
        self.lines.put("")

    def _line(self):
        try:
            line = self.lines.get(timeout=LIMIT)
        except queue.Empty:
            raise Bad(f"the program hangs: no answer within {LIMIT} s") from None
        if not line:
            raise Bad(f"the program ended: status {self.process.wait(LIMIT)}")
        return line

    def ask(self, line):
        """{name: number} of its state."""
        with contextlib.suppress(BrokenPipeError):  # it ended: the missing answer shows that
            os.write(self.process.stdin.fileno(), f"{line}\n".encode())
        return {name: int(value) for name, value in
                (word.split("=") for word in self._line().split())}

    def end(self):
        state = self.ask("end")
        try:
            status = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise Bad("the program does not end") from None
        if status != 0:
            raise Bad(f"the program ended with status {status}")
        return state


# ---- recordings


class Soak:
    """What happened on one JDK."""

    def __init__(self, args, jdk, work):
        self.args, self.jdk, self.work = args, jdk, work
        self.cycles, self.calls, self.state = 0, 0, {}

    def counter(self):
        return ["--counter", self.args.counter] if self.args.has_counter else []

    def profile(self):
        return os.path.join(self.work, "profile")

    def calltree(self, *words):
        shutil.rmtree(self.profile(), ignore_errors=True)
        return [self.args.jprof, "calltree", *self.counter(), *self.args.options.split(), *words,
                "--force", "-o", self.profile()]

    def check_profile(self):
        done = child.run([self.args.jprof, "info", self.profile(), "--format", "json"], LIMIT)
        if done.returncode != 0:
            raise Bad(f"jprof info: {done.stderr.strip()}")
        calls = json.loads(done.stdout)["calls"]
        if not calls:
            raise Bad("the recording counted nothing")
        self.calls += calls

    def wait(self, command, process):
        try:
            _, errors = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            raise Bad(f"`jprof calltree --pid` does not end: {command}") from None
        if process.returncode != 0:
            raise Bad(f"`jprof calltree --pid`: status {process.returncode}: {errors.strip()}")

    def begins(self, process):
        """Waits until the recording has begun: then its directory has the metadata."""
        until = time.monotonic() + LIMIT
        while not os.path.exists(os.path.join(self.profile(), "meta.json")):
            if process.poll() is not None:
                raise Bad(f"`jprof calltree --pid`: status {process.returncode}: "
                          f"{process.stderr.read().strip()}")
            if time.monotonic() > until:
                raise Bad(f"the recording did not begin within {LIMIT} s")
            time.sleep(0.05)
        time.sleep(self.args.seconds)

    def cycle(self, pid):
        """One recording; how it ends depends on its number."""
        how = self.cycles % 3
        words = ["--pid", str(pid)]
        if how == 0:
            words += ["--duration", str(max(1, round(self.args.seconds)))]
        command = self.calltree(*words)
        with child.running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True) as process:
            if how != 0:
                self.begins(process)
                process.send_signal(signal.SIGINT if how == 1 else signal.SIGKILL)
            if how != 2:
                self.wait(command, process)
        if how == 2:
            done = child.run([self.args.jprof, "detach", str(pid)], LIMIT)
            if done.returncode != 0:
                raise Bad(f"`jprof detach`: status {done.returncode}: {done.stderr.strip()}")
        self.check_profile()
        self.cycles += 1

    def attached(self, program, until):
        while time.monotonic() < until:
            before = program.ask("state")
            self.cycle(program.process.pid)
            time.sleep(self.args.between)
            self.state = program.ask("state")
            if self.state["wrong"]:
                raise Bad("the program computed something wrong")
            if self.state["answers"] == before["answers"]:
                raise Bad("the program made no progress during a recording")
            if self.cycles % 10 == 0:
                self.show()

    def launched(self, program, until):
        while time.monotonic() < until:
            before = self.state
            time.sleep(min(10, max(0, until - time.monotonic())) + 1)
            self.state = program.ask("state")
            if self.state["wrong"]:
                raise Bad("the program computed something wrong")
            if self.state["answers"] == before.get("answers"):
                raise Bad("the program makes no progress")

    def run(self):
        """Raises Bad if something is wrong."""
        command = java_command(self.args, self.jdk, self.work)
        if self.args.launch:
            command = [*self.calltree(), "--", *command]
        with open(os.path.join(self.work, "stderr"), "w", encoding="utf-8") as errors:
            with child.running(command, cwd=self.work, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=errors, text=True) as process:
                try:
                    self.work_with(Program(process))
                except Bad as error:
                    raise Bad(f"{error}\n  {self.ending(process)}") from None
        if self.args.launch:
            self.check_profile()

    def work_with(self, program):
        until = time.monotonic() + self.args.minutes * 60
        (self.launched if self.args.launch else self.attached)(program, until)
        self.state = program.end()

    @staticmethod
    def ending(process):
        """Whether the program ended by itself; a crash takes it some seconds."""
        try:
            return f"the program ended with status {process.wait(10)}"
        except subprocess.TimeoutExpired:
            return "the program still runs"

    def show(self):
        names = " ".join(f"{name} {value}" for name, value in self.state.items())
        print(f"JDK {self.jdk.major}: recordings {self.cycles}, calls {self.calls}, {names}",
              flush=True)

    def keep_files(self):
        kept = tempfile.mkdtemp(prefix="jprof-woven-soak-")
        if os.path.exists(os.path.join(self.work, "hs_err.log")):
            print("  the JVM crashed: hs_err.log")
        for name in os.listdir(self.work):
            if name.startswith(("hs_err", "core", "replay", "stderr")):
                shutil.copy(os.path.join(self.work, name), kept)
        with open(os.path.join(self.work, "stderr"), encoding="utf-8", errors="replace") as f:
            print(f.read()[-2000:].rstrip())
        print(f"  files of the JVM: {kept}", flush=True)


# ---- options


def arguments():
    parser = measure.parser(__doc__)
    parser.add_argument("--jprof", default=os.path.join(measure.BUILD, "bin", "jprof"))
    parser.add_argument("--minutes", type=float, default=30, help="per JDK (%(default)s)")
    parser.add_argument("--jdk", type=int, help="only this JDK, e.g. 17")
    parser.add_argument("--counter", choices=("woven", "probe"), default="woven",
                        help="what counts the calls (%(default)s)")
    parser.add_argument("--launch", action="store_true",
                        help="record from the JVM's start, instead of attaching")
    parser.add_argument("--seconds", type=float, default=2,
                        help="of a recording (%(default)s)")
    parser.add_argument("--between", type=float, default=1,
                        help="seconds between two recordings (%(default)s)")
    parser.add_argument("--pause", type=int, default=500,
                        help="milliseconds between two redefinitions (%(default)s)")
    parser.add_argument("--threads", type=int, default=4,
                        help="databases and their threads (%(default)s)")
    parser.add_argument("--jvm", action="append", default=[], metavar="FLAG",
                        help="a flag of the JVM, e.g. --jvm=-XX:+UseZGC; repeatable")
    parser.add_argument("--options", default="--fold-recursion",
                        help="more options of jprof calltree (%(default)s)")
    parser.add_argument("--out", help="folder for temporary files, e.g. /dev/shm")
    args = parser.parse_args()
    args.jprof = os.path.abspath(args.jprof)
    text = subprocess.run([args.jprof, "calltree", "--help"], capture_output=True, text=True).stdout
    args.has_counter = "--counter" in text
    if args.counter == "woven" and not args.has_counter:
        parser.error("this jprof has no `calltree --counter`: use --counter probe")
    if not os.path.exists(H2):
        jvms.skip(f"{H2} is missing (Debian: libh2-java)")
    return args


def main():
    args, failed = arguments(), 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the files are removed
    for jdk in measure.jdks_of(args):
        if args.counter == "probe" and not args.launch and jdk.major > LAST_WITH_LATE_PROBE:
            print(f"JDK {jdk.major} skipped: probes in a running JVM need JDK "
                  f"{LAST_WITH_LATE_PROBE} or older")
            continue
        with measure.folder("woven-soak", 2, 2, args.out) as work:
            soak = Soak(args, jdk, work)
            try:
                soak.run()
            except Bad as error:
                failed += 1
                print(f"JDK {jdk.major} FAILED in recording {soak.cycles + 1}: {error}")
                soak.keep_files()
            soak.show()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
