#!/usr/bin/env python3
"""Compares tprof with known values: shares of two methods, code that is unloaded and replaced,
several JVMs, many processes, interruption, and usage errors.

Usage: tprof_test.py --jprof JPROF --programs DIR [--case NAME] [--list]
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import child
import jvms
from cases import Cases

case = Cases()


class Lab:
    def __init__(self, jprof, programs, work):
        self.jprof, self.work, self.count = jprof, work, 0
        self.classes = os.path.join(programs, "classes")

    def tprof(self, *arguments, status=0, **options):
        done = child.run([self.jprof, "tprof", *arguments], cwd=self.work, **options)
        if done.returncode != status:
            sys.exit(f"jprof tprof {' '.join(arguments)}: exit status {done.returncode}, not "
                     f"{status}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def java(self, jdk, main, *arguments, jvm=()):
        return [*jdk.java(*jvm), "-cp", self.classes, main, *map(str, arguments)]

    def record(self, *arguments, **options):
        """Makes a recording; returns its report, the finished process and the folder."""
        self.count += 1
        out = os.path.join(self.work, f"recording-{self.count}")
        done = self.tprof("-o", out, "--format", "json", *arguments, **options)
        text = done.stdout[done.stdout.index('{"report"'):]
        return json.loads(text), done, out


def check(condition, message):
    if not condition:
        sys.exit("FAILED: " + message)


def ticks(report, **wanted):
    return sum(r["ticks"] for r in report["rows"]
               if all(re.search(pattern, r[key]) for key, pattern in wanted.items()))


@case
def shares(lab):
    """Two methods at 2:1, compiled and unloaded ten times at each other's former address."""
    for jdk in jvms.needed_jdks():
        report, done, out = lab.record("--rate", "1000", "--", *lab.java(
            jdk, "TickShares", 10, 30_000_000, jvm=("-XX:+UseSerialGC", "-Xmx64m")))
        check(re.search(r"^sum -?\d+$", done.stdout, re.M),
              "the program's own output is missing: " + done.stdout[:200])
        twice, once = ticks(report, symbol=r"TickShares\$Twice\."), ticks(
            report, symbol=r"TickShares\$Once\.")
        share = 100 * twice / (twice + once)
        jitted = ticks(report, module="^JITCODE$")
        print(f"{jdk.name}: Twice {twice}, Once {once}: {share:.2f} % (66.67); JITCODE {jitted}, "
              f"all {report['ticks']}, "
              f"unresolved {report['unresolved']}")
        check(twice + once > 500, "too few ticks in the two methods")  # work is fixed, not its time
        check(abs(share - 66.67) < 3, "the share is off by more than 3 points")
        java = ticks(report, process="^java_")
        # Interpreted methods have the interpreter's name; stubs have no signature.
        other = [r for r in report["rows"] if r["module"] == "JITCODE"
                 and "TickShares" not in r["symbol"] and "(" in r["symbol"]]
        check(ticks(report, thread="tid_main_", symbol="TickShares") == twice + once,
              "ticks of another thread than main")
        check(sum(r["ticks"] for r in other) < 0.02 * java,
              f"ticks of jitted code under other names: {other[:5]}")
        check(report["unresolved"] <= 0.01 * report["ticks"], "more than 1 % unresolved")


@case
def several_jvms(lab):
    """A shell runs two JVMs at once and then executes a third: each has its own names."""
    jdk = jvms.needed_jdks()[0]
    java = " ".join(lab.java(jdk, "TickShares", 3, 20_000_000, jvm=("-XX:+UseSerialGC",)))
    report, _, _ = lab.record("--rate", "500", "--children", "--", "sh", "-c",
                              f"{java} >/dev/null & {java} >/dev/null & wait; exec {java}")
    processes = {r["process"] for r in report["rows"] if re.search(r"TickShares\$", r["symbol"])}
    twice, once = ticks(report, symbol="spinTwice|Twice.apply"), ticks(
        report, symbol="spinOnce|Once.apply")
    print(f"{len(processes)} JVMs: {sorted(processes)}; Twice {twice}, Once {once}")
    check(len(processes) == 3, "three JVMs were to be named")
    check(abs(100 * twice / (twice + once) - 66.67) < 5, "shares")


@case
def many_processes(lab):
    """200 short processes: all are recorded, and the code of their program has its module."""
    report, _, _ = lab.record("--rate", "2000", "--", "sh", "-c",
                              "i=0; while [ $i -lt 200 ]; do od -An -N200000 -c /dev/zero -v "
                              ">/dev/null; i=$((i+1)); done")
    processes = {r["process"] for r in report["rows"] if r["process"].startswith("od_")}
    named = ticks(report, process="^od_", module="/od$|libc|vmlinux|ld-linux|coreutils")
    print(
        f"{len(processes)} processes of od, {ticks(report, process='^od_')} ticks, {named} in "
        f"known modules")
    check(len(processes) > 150, "200 processes ran")
    check(named >= 0.98 * ticks(report, process="^od_"), "ticks without their module")


@case
def interrupted(lab):
    """Ctrl-C ends the recording; the report is still printed."""
    out = os.path.join(lab.work, "interrupted")
    with child.running([lab.jprof, "tprof", "--clip", "0", "-o", out, "--", "sleep", "60"], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE,
                       text=True, cwd=lab.work) as recording:
        time.sleep(1.5)
        recording.send_signal(signal.SIGINT)
        stdout, stderr = recording.communicate(timeout=600)
    check(recording.returncode == 0, f"exit status {recording.returncode}: {stderr}")
    check(stdout.count(")) ") == 8, "eight stanzas were to be printed: " + stdout[:300])


@case
def stanzas(lab):
    """Each stanza's outermost rows sum to the total; text, csv and a second report agree."""
    out = os.path.join(lab.work, "stanzas")
    text = lab.tprof("--clip", "0", "-o", out, "--rate", "1000", "--", "sh", "-c",
                     "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done").stdout
    total = int(re.search(r"(?m)^ ticks +(\d+) in all", text).group(1))
    parts = re.split(r"=+\n    \)\) (\w+)\n=+\n", text)[1:]
    names, bodies = parts[::2], parts[1::2]
    check(names == ["Process", "Process_Module", "Process_Module_Symbol", "Process_Thread",
                    "Process_Thread_Module",
                    "Process_Thread_Module_Symbol", "Module", "Module_Symbol"], f"stanzas {names}")
    for name, body in zip(names, bodies):
        outer = sum(int(m) for m in re.findall(r"^    (?:PID|MOD) +(\d+)", body, re.M))
        check(outer == total, f"{name}: rows sum to {outer}, not {total}")
    check(lab.tprof("--clip", "0", "--from", out).stdout == text, "the second report differs")
    again = child.run([lab.jprof, "report", "tprof", "--all", out])
    check(again.returncode == 0 and again.stdout == text, "jprof report tprof differs")
    rows = lab.tprof("--from", out, "--format", "csv").stdout.splitlines()[1:]
    check(sum(int(row.rsplit(",", 1)[1]) for row in rows) == total, "csv does not sum to the total")
    print(f"8 stanzas, {total} ticks, {len(rows)} rows")


@case
def annotated_jitted_code(lab):
    """With --code the report has the instructions of a compiled method, with all its ticks; without
    it, a line that recommends the option."""
    jdk = jvms.needed_jdks()[0]
    java = lab.java(jdk, "TickShares", 3, 20_000_000, jvm=("-XX:+UseSerialGC", "-Xmx64m"))
    for code in (True, False):
        report, _, out = lab.record("--rate", "500", *(["--code"] if code else []), "--", *java)
        wanted = ticks(report, module="^JITCODE$", symbol=r"TickShares\$Twice\.")
        check(wanted > 50, f"too few ticks: {wanted}")
        text = lab.tprof("--from", out, "--annotate", "Twice.").stdout
        heads = re.findall(r"^\S*TickShares\$Twice\..* \[JITCODE\] at [0-9a-f]+: (\d+) ticks", text,
                           re.M)
        check(sum(map(int, heads)) == wanted, f"{heads} is not {wanted} ticks")
        hit = re.findall(r"^ +(\d+) +[\d.]+ +[0-9a-f]+  \w+", text, re.M)
        print(
            f"{'with' if code else 'without'} --code: {len(heads)} versions, {wanted} ticks, "
            f"{len(hit)} instructions with ticks")
        if code:
            check(sum(map(int, hit)) == wanted,
                  f"instructions have {sum(map(int, hit))} of {wanted} ticks")
            check("its instructions are not in the recording" not in text,
                  "no instructions in spite of --code")
            check(re.search(r"^ +line \d+$|TickShares\.java:\d+$", text, re.M),
                  "no source lines: " + text[:500])
        else:
            check(not hit and "not in the recording (record with --code)" in text, text[:500])


@case
def odd_names(lab):
    """The name of the recording may contain what separates options, and what a shell or the JVM
    splits at: the agent's log of jitted code is in it."""
    java = lab.java(jvms.needed_jdks()[0], "TickShares", 1, 1_000_000, jvm=("-XX:+UseSerialGC",))
    for name in ("a,b", "a=b", "it's", 'a "b" c', "100%,50%"):
        for more in ([], ["--children"]):
            out = os.path.join(lab.work, name + "".join(more))
            lab.tprof(*more, "-o", out, "--", *java)
            logs = [folder for folder, _, files in os.walk(out) if "jitlog" in files]
            check(len(logs) == 1, f"{name} {more}: {logs}")


SECRET_MAP = """touch /tmp/perf-$$.map
mount --bind "$1" /tmp/perf-$$.map || exit 3
echo ready
while :; do :; done"""


@case
def secrets_of_root(lab):
    """A process of another user mounts a file of root where its perf map would be: root's recording
    has no copy of it."""
    if os.geteuid() != 0:
        print("skipped: only root samples the processes of other users")
        sys.exit(77)
    secret = os.path.join(lab.work, "secret")
    os.chmod(lab.work, 0o755)
    with open(os.open(secret, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        file.write("for the eyes of root")
    nobody = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/"}
    with child.running(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", SECRET_MAP,
                      "sh", secret], stdout=subprocess.PIPE, text=True, **nobody) as process:
        if process.stdout.readline() != "ready\n":
            print("skipped: users may not make namespaces here")
            sys.exit(77)
        out = os.path.join(lab.work, "rec")
        lab.tprof("-p", str(process.pid), "-o", out, "--duration", "1")
    copies = [name for name in os.listdir(out) if name.startswith("perf-")]
    check(not copies, f"copied: {copies}")
    with open(os.path.join(out, "recording.json"), encoding="utf-8") as file:
        check(f"perf-{process.pid}.map of process" in file.read(), "the loss is not named")


@case
def bad_use(lab):
    """One line names the error, the exit status is 2, and nothing is started."""
    for arguments, message in (
            (["--event", "PAPI_NONSENSE", "--", "true"], "PAPI_NONSENSE"),
            (["-p", "999999999"], "999999999"),
            (["-a", "-p", "1"], "exclude"),
            (["--from", os.path.join(lab.work, "nowhere")], "nowhere"),
            (["--period", "5", "--", "true"], "--event"),
            (["--format", "xml", "--duration", "1"], "xml"),
            (["--", "no-such-program"], "no-such-program"),
            (["--rate", "0", "--duration", "1"], "rate")):
        done = lab.tprof(*arguments, status=2)
        check(message in done.stderr and done.stderr.count("\n") == 1,
              f"{arguments}: {done.stderr}")
    check(lab.tprof("--", "sh", "-c", "exit 7", status=7).stdout.count(")) ") == 1,
          "the program's status is passed on")


def main():
    parser = case.parser(__doc__)
    parser.add_argument("--jprof")
    parser.add_argument("--programs")
    options = parser.parse_args()
    for name, function in case.chosen(options):
        with tempfile.TemporaryDirectory(prefix="jprof-tprof-") as work:
            print(f"{name}: {function.__doc__.splitlines()[0]}")
            function(Lab(os.path.abspath(options.jprof), os.path.abspath(options.programs), work))


if __name__ == "__main__":
    main()
