#!/usr/bin/env python3
"""What counting costs, side by side in one run: plain, `jprof calltree --counter woven`, and
`jprof calltree --counter probe`.

    bench/cost/woven.py
    bench/cost/woven.py --jdk 17 --only loops,kernels --json figures.json
    bench/cost/woven.py --java JDK/bin/java --only javac --rounds 5
    bench/cost/woven.py --sources plain,probe --rounds 1 --seconds 0.5 --files 100
    bench/cost/woven.py --sources woven --against OTHER/bin/jprof

  loops    ns of CPU time per call (entry and exit) of methods that do nothing else, when compiled.
           The counts of the profile must be those of the program
  kernels  CPU time of one turn of programs that live on inlining and on intrinsics, when compiled
  javac    files of java.xml: fresh, CPU time of the process and elapsed time of one compilation in
           a new JVM; again, those of the third and later compilations in one JVM, CPU time of the
           thread that compiles
  h2       inserts, selects and joins in a database in memory (package libh2-java)
  groovy   a script (package groovy)
  hello    elapsed time of Hello World, median of at least 10

Each row is measured source by source, round by round; medians are printed, and their ratios to
plain. With --against, woven counting by another build is the source `before`. Every source must
compute the same answers. Profiles are removed.

Exit status 1 if a run fails, an answer or a count is wrong, or woven counting misses a goal.
"""
import collections
import dataclasses
import hashlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import javac_program as javac  # noqa: E402
import measure  # noqa: E402
import child  # noqa: E402
import jvms  # noqa: E402

SOURCES = ("plain", "woven", "probe")
PROGRAMS = ("WovenLoops", "WovenKernels", "CompileAgain", "H2Work", "Hello")
KERNELS = ("words", "strings", "matrix", "sort", "cas", "sha256", "math", "copies", "virtual")
H2, GROOVY = "/usr/share/java/h2.jar", "/usr/share/java/groovy-all.jar"
LIMIT = 900          # seconds that one run may take
HELLO_RUNS = 10
COMPILATIONS = 4     # in one JVM; those from the third on count
GOALS = {  # (part, row): most; a row of None stands for each row of the part
    ("kernels", None): 2.5,
    ("javac", None): 1.5,
    ("h2", None): 1.5,
    ("groovy", None): 1.5,
    ("hello", "elapsed"): 0.1,  # seconds more than plain
}
SCRIPT = """
class Account {
    String owner
    BigDecimal balance = 0
    def deposit(amount) { balance += amount; this }
}
def accounts = (1..200).collect { new Account(owner: "owner $it") }
(1..600000).each { accounts[it % 200].deposit(it % 97) }
println accounts.collect { it.balance }.sum()
println accounts.groupBy { it.owner.size() }.collectEntries { k, v -> [k, v*.balance.max()] }
def fib
fib = { n -> n < 2 ? n : fib(n - 1) + fib(n - 2) }
println fib(25)
def words = (1..20000).collect { "word${it % 131}" }.join(' ')
println words.split(' ').countBy { it }.sort { a, b -> b.value <=> a.value ?: a.key <=> b.key }
"""


class Failed(Exception):
    """A run is not what it should be; the message says why."""


@dataclasses.dataclass
class Row:
    """Values of each round, by source. `unit`: of the values."""
    part: str
    name: str
    unit: str
    values: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(list))

    def median(self, source):
        values = self.values.get(source)
        return statistics.median(values) if values else None

    def against_plain(self, source):
        """The ratio to plain; for Hello World the difference. None if it was not measured."""
        plain, value = self.median("plain"), self.median(source)
        if plain is None or value is None:
            return None
        return value - plain if self.part == "hello" else value / plain

    def goal(self):
        return GOALS.get((self.part, self.name), GOALS.get((self.part, None)))


def run(command, cwd):
    """Runs the command to its end. Ends it with all its processes after LIMIT seconds. Raises
    Failed, or OSError if the command cannot be started."""
    paths = [os.path.join(cwd, name) for name in ("stdout", "stderr")]
    with open(paths[0], "wb") as out, open(paths[1], "wb") as errors:
        started = time.monotonic()
        with child.running(command, cwd=cwd, stdout=out, stderr=errors) as process:
            timer = threading.Timer(LIMIT, os.killpg, (process.pid, signal.SIGKILL))
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.monotonic() - started
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
    texts = []
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as f:
            texts.append(f.read())
    if process.returncode != 0:
        why = " (ended after its time limit)" if wall > LIMIT else ""
        raise Failed(f"exit status {process.returncode}{why}: {texts[1][-1500:].strip()}")
    return measure.Run(usage.ru_utime + usage.ru_stime, wall, process.returncode, texts[0])


class Lab:
    """The runs on one JDK, and what was wrong in them."""

    def __init__(self, args, jdk, work):
        self.args, self.jdk, self.work = args, jdk, work
        self.rows, self.counted, self.wrong = [], collections.defaultdict(dict), []
        self.profile, self.classes = os.path.join(work, "profile"), os.path.join(work, "programs")
        folder = os.path.join(measure.ROOT, "bench", "java")
        subprocess.run([jdk.tool("javac"), "-d", self.classes,
                        *(os.path.join(folder, name + ".java") for name in PROGRAMS)], check=True)

    def java(self, *words, heap=jvms.HEAP, jars=()):
        return [self.jdk.tool("java"), heap, "-cp", ":".join([self.classes, *jars]), *words]

    def once(self, source, command):
        """One run of the command. Its profile, if it makes one, is self.profile."""
        shutil.rmtree(self.profile, ignore_errors=True)
        if source == "plain":
            return run(command, self.work)
        jprof = self.args.against if source == "before" else self.args.jprof
        counter = ["--counter", "woven" if source == "before" else source]
        return run([jprof, "calltree", *counter, *self.args.options.split(), "--force",
                    "-o", self.profile, "--", *command], self.work)

    def read(self, *words):
        """What jprof prints of the profile with these words. Raises Failed."""
        done = subprocess.run([self.args.jprof, *words, self.profile, "--format", "json"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"jprof {words[0]}: {done.stderr[-500:].strip()}")
        return json.loads(done.stdout)

    def calls(self):
        """All calls of the profile. Raises Failed if there are none."""
        calls = self.read("info")["calls"]
        if not calls:
            raise Failed("no call was counted")
        return calls

    def calls_of(self, method):
        """The calls of a method by the profile."""
        return sum(m["calls"] for m in self.read("report", "methods")["methods"]
                   if m["name"].startswith(method + "("))

    def measure(self, part, what, command, values, rounds=None):
        """Runs the command once a round for each source. `values`: function (run, source) ->
        ({name of the row: (unit, value)}, the answer), which may raise Failed."""
        rows, answer, failed = {}, None, set()
        for number in range(rounds or self.args.rounds):
            for source in self.args.sources:
                if source in failed:
                    continue
                print(f"JDK {self.jdk.major} {what}: round {number + 1}, {source}",
                      file=sys.stderr, flush=True)
                try:
                    found, this = values(self.once(source, command), source)
                    calls = self.calls() if source != "plain" else 0
                    if calls and part not in ("hello", "kernels"):
                        self.counted[what][source] = calls
                    if answer is None:
                        answer = this
                    if this != answer:
                        raise Failed(f"computed {str(this)[:300]}, not {str(answer)[:300]}")
                except (Failed, OSError) as error:
                    failed.add(source)
                    self.wrong.append(f"JDK {self.jdk.major} {what}, {source}: {error}")
                    print(self.wrong[-1], file=sys.stderr, flush=True)
                    continue
                for name, (unit, value) in found.items():
                    rows.setdefault(name, Row(part, name, unit)).values[source].append(value)
        self.rows += rows.values()
        shutil.rmtree(self.profile, ignore_errors=True)


# ---- parts: each measures its rows


def loops(lab):
    def values(run, source):
        found, answers = {}, []
        for line in run.stdout.splitlines():
            _, name, ns, method, calls, result = line.split()
            found[name] = ("ns", float(ns))
            answers.append((name, result))
            counted = int(calls) if source == "plain" else lab.calls_of(method)
            if counted != int(calls):
                lab.wrong.append(f"JDK {lab.jdk.major} loop {name}, {source}: {counted} calls of "
                                 f"{method} counted, {calls} made")
        return found, answers

    lab.measure("loops", "loops", lab.java(
        "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,WovenLoops::outlined",
        "WovenLoops", str(lab.args.seconds)), values)


def kernels(lab):
    def values(run, source):
        _, name, ns, turns, checksum = run.stdout.split()
        if source != "plain":
            lab.counted[f"{name}, per turn"][source] = lab.calls() // int(turns)
        return {name: ("ms", int(ns) / 1e6)}, checksum

    for name in KERNELS:
        lab.measure("kernels", name, lab.java("WovenKernels", name, str(lab.args.seconds)), values)


def digest(folder):
    """Of all files in the folder, with their names."""
    sha = hashlib.sha256()
    for path in sorted(os.path.join(d, f) for d, _, files in os.walk(folder) for f in files):
        with open(path, "rb") as f:
            sha.update(path.encode() + f.read())
    return sha.hexdigest()


def compilation(lab):
    archive = javac.source_zip(lab.jdk)
    if archive is None:
        print(f"JDK {lab.jdk.version}: javac skipped, its src.zip is missing (Debian: "
              f"openjdk-{lab.jdk.major}-source)", flush=True)
        return
    words, classes = os.path.join(lab.work, "words"), os.path.join(lab.work, "classes")
    with open(words, "w", encoding="utf-8") as f:
        f.write("\n".join(javac.unpack(archive, lab.work, lab.args.files)))

    def times(run):
        """[(CPU time, elapsed time) of each compilation, in seconds]; empties the folder."""
        made = digest(classes)
        shutil.rmtree(classes)
        return [(int(cpu) / 1e9, int(wall) / 1e9) for cpu, wall in
                re.findall(r"^compilation \d+ (\d+) (\d+)$", run.stdout, re.M)], made

    def fresh(run, _):
        _, made = times(run)
        return {"fresh, CPU": ("s", run.cpu), "fresh, elapsed": ("s", run.wall)}, made

    def again(run, _):
        all_times, made = times(run)
        cpu, wall = (statistics.median(t[i] for t in all_times[2:]) for i in (0, 1))
        return {"again, CPU": ("s", cpu), "again, elapsed": ("s", wall)}, made

    for what, times_in_jvm, values in (("javac fresh", 1, fresh),
                                       ("javac again", COMPILATIONS, again)):
        lab.measure("javac", what, lab.java(
            "CompileAgain", str(times_in_jvm), "-proc:none", "-nowarn", "-XDignore.symbol.file",
            "-implicit:none", "--patch-module", f"java.xml={os.path.join(lab.work, 'java.xml')}",
            "-d", classes, "@" + words, heap="-Xmx1g"), values)


def process_times(run, _):
    return {"CPU": ("s", run.cpu), "elapsed": ("s", run.wall)}, run.stdout


def h2(lab):
    if not os.path.exists(H2):
        print(f"h2 skipped: {H2} is missing (Debian: libh2-java)", flush=True)
        return
    lab.measure("h2", "h2", lab.java("H2Work", "60000", jars=[H2]), process_times)


def groovy(lab):
    if not os.path.exists(GROOVY):
        print(f"groovy skipped: {GROOVY} is missing (Debian: groovy)", flush=True)
        return
    script = os.path.join(lab.work, "script.groovy")
    with open(script, "w", encoding="utf-8") as f:
        f.write(SCRIPT)
    lab.measure("groovy", "groovy", lab.java("groovy.ui.GroovyMain", script, jars=[GROOVY]),
                process_times)


def hello(lab):
    lab.measure("hello", "hello", lab.java("Hello"), lambda run, _: (
        {"elapsed": ("s", run.wall)}, run.stdout), max(HELLO_RUNS, lab.args.rounds))


PARTS = {"loops": loops, "kernels": kernels, "javac": compilation, "h2": h2, "groovy": groovy,
         "hello": hello}


# ---- tables


def show(lab):
    sources = lab.args.sources
    for part in lab.args.only:
        rows = [row for row in lab.rows if row.part == part]
        if not rows:
            continue
        print(f"\n{part:18}" + "".join(f"{s:>20}" for s in sources))
        for row in rows:
            cells = ""
            for source in sources:
                value, against = row.median(source), row.against_plain(source)
                text = "-" if value is None else f"{value:.3f} {row.unit}"
                if value is not None and against is not None and source != "plain":
                    text += f" {against:+7.3f}" if part == "hello" else f" {against:6.2f}x"
                else:
                    text += " " * 8
                cells += f"{text:>20}"
            print(f"{row.name:18}{cells}".rstrip())
    if lab.counted:
        print(f"\n{'calls counted':18}" + "".join(f"{s:>20}" for s in sources[1:]))
        for what, counts in lab.counted.items():
            print(f"{what:18}" + "".join(f"{counts.get(s, '-'):>20}" for s in sources[1:]))
    sys.stdout.flush()


def show_goals(labs):
    """Prints each goal and whether woven counting meets it; returns how many it misses."""
    missed = 0
    print(f"\n{'goals':32}{'at most':>10}{'woven':>10}{'':>12}{'(probe':>10})")
    for lab in labs:
        for row in lab.rows:
            goal = row.goal()
            if goal is None:
                continue
            woven, probe = row.against_plain("woven"), row.against_plain("probe")
            text = "not measured" if woven is None else "met" if woven <= goal else "MISSED"
            missed += text == "MISSED"
            unit, sign = (" s", "+") if row.part == "hello" else ("x", "")
            cells = [f"{v:{sign}.2f}{unit}" if v is not None else "-" for v in (goal, woven, probe)]
            print(f"JDK {lab.jdk.major} {row.part} {row.name}".ljust(32)
                  + f"{cells[0]:>10}{cells[1]:>10}{text:>14}{'(' + cells[2]:>10})")
    return missed


def write(path, labs, load):
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"load": load, "jdks": [
            {"version": lab.jdk.version, "wrong": lab.wrong, "calls": lab.counted, "rows": [
                {"part": r.part, "name": r.name, "unit": r.unit, "goal": r.goal(),
                 "values": r.values, "against_plain": {s: r.against_plain(s) for s in r.values}}
                for r in lab.rows]} for lab in labs]}, f, indent=1)
        f.write("\n")


# ---- options


def names(known):
    """The type of an option with a list of these names."""
    def parse(text):
        chosen = text.split(",")
        for name in chosen:
            if name not in known:
                raise ValueError(name)
        return [name for name in known if name in chosen]
    parse.__name__ = f"list of {', '.join(known)}"
    return parse


def arguments():
    parser = measure.parser(__doc__)
    parser.add_argument("--jprof", default=os.path.join(measure.BUILD, "bin", "jprof"))
    parser.add_argument("--java", action="append", metavar="JAVA",
                        help="a JDK by its java; repeatable (all that are installed)")
    parser.add_argument("--jdk", type=int, help="only this JDK, e.g. 17")
    parser.add_argument("--sources", type=names(SOURCES),
                        help=f"some of {','.join(SOURCES)}; plain is always measured")
    parser.add_argument("--against", metavar="JPROF", help="another build's jprof, side by side")
    parser.add_argument("--only", type=names(list(PARTS)), default=list(PARTS),
                        help=f"some of {','.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=3, help="of each row (%(default)s)")
    parser.add_argument("--seconds", type=float, default=1,
                        help="measured, of a loop and a kernel; kernels warm up for twice that "
                        "(%(default)s)")
    parser.add_argument("--files", type=int, default=400, help="that javac compiles (%(default)s)")
    parser.add_argument("--options", default="--fold-recursion --tree-memory 2G",
                        help="more options of jprof calltree (%(default)s)")
    parser.add_argument("--out", help="folder for temporary files, e.g. /dev/shm")
    parser.add_argument("--json", metavar="FILE", help="also writes all figures to this file")
    args = parser.parse_args()
    args.jprof = os.path.abspath(args.jprof)
    if not os.path.exists(args.jprof):
        parser.error(f"{args.jprof} does not exist: scripts/build makes it, or use --jprof")
    if args.against is not None and not (os.path.isfile(args.against)
                                         and os.access(args.against, os.X_OK)):
        parser.error(f"--against: {args.against!r} is not a program")
    chosen = [s for s in args.sources or SOURCES if s != "plain"]
    args.against = args.against and os.path.abspath(args.against)
    args.sources = ["plain", *(["before"] if args.against else []), *chosen]
    args.jdks = jdks(parser, args)
    return args


def jdks(parser, args):
    if not args.java:
        return measure.jdks_of(args)
    found = []
    for java in args.java:
        home = os.path.dirname(os.path.dirname(os.path.realpath(java)))
        found.append(jvms.jdk_at(home) or parser.error(f"{java} is not the java of a JDK"))
    return found


def main():
    args, labs = arguments(), []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the profiles are removed
    load = os.getloadavg()
    print(f"load {load[0]:.2f}, {args.rounds} rounds, medians", flush=True)
    for jdk in args.jdks:
        with measure.folder("woven", 3, 4, args.out) as work:
            labs.append(Lab(args, jdk, work))
            for part in args.only:
                PARTS[part](labs[-1])
        print(f"\nJDK {jdk.version}; load now {os.getloadavg()[0]:.2f}")
        show(labs[-1])
        if args.json:
            write(args.json, labs, load)
    missed = show_goals(labs)
    wrong = [text for lab in labs for text in lab.wrong]
    for text in wrong:
        print(f"WRONG: {text}")
    return 1 if missed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
