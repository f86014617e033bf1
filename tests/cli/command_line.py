#!/usr/bin/env python3
"""Tests how `jprof callflow|calltree|trace` starts a program, with a shell script as `java`:
requires no JVM.

  command_line.py JPROF
"""
import glob
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))
FORMAT = os.path.join(os.path.dirname(__file__), "../../docs/PROFILE_FORMAT.md")

# Prints its arguments, one per line; then executes $THEN.
JAVA = """#!/bin/sh
for word; do echo "[$word]"; done
echo "JAVA_TOOL_OPTIONS=${JAVA_TOOL_OPTIONS-unset}"
eval "${THEN-}"
"""


def alive(pid):
    """Whether the process runs: an ended one may be a zombie that has not been reaped."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(
            tempfile.mkdtemp(prefix="jprof cli ")
        )  # tests a path with a blank
        self.addCleanup(shutil.rmtree, self.folder)
        self.agent = self.write("lib/agent.so", "")
        self.java = self.write("bin/java", JAVA)
        self.env = {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "HOME": self.folder}

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def make_profile(self, name):
        self.write(name + "/meta.json", "{}")
        with open(os.path.join(self.folder, name, "control"), "wb") as file:
            file.write(b"JPROFCTL".ljust(4096, b"\0"))

    def run_jprof(self, *words, then="", **env):
        return child.run([JPROF, *words], 60, cwd=self.folder,
                         env={**self.env, "THEN": then, **env})

    def record(self, *words, **env):
        mode, *options = words[: words.index("--")]
        return self.run_jprof(
            mode, "--agent", self.agent, *options, *words[words.index("--") :], **env
        )

    def refused(self, result, *said):
        """Checks: exit status 2, one line on stderr with these texts, nothing started."""
        self.assertEqual(result.returncode, 2, result)
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("jprof: "), result.stderr)
        for words in said:
            self.assertIn(words, result.stderr)

    # Errors are reported before anything starts.

    def test_unknown_words_name_the_nearest(self):
        self.refused(
            self.run_jprof("calltre"), "jprof has no command 'calltre'; did you mean calltree?"
        )
        self.refused(
            self.run_jprof("--versoin"), "jprof has no option '--versoin'; did you mean --version?"
        )
        self.refused(
            self.record("callflow", "--thread", "x", "--", "java"),
            "'--thread'; did you mean --threads?",
        )
        self.refused(
            self.record("callflow", "--fold", "--", "java"), "did you mean --fold-recursion?"
        )
        for mode in ("calltree", "trace"):
            self.refused(
                self.record(mode, "--metrics", "time", "--", "java"),
                f"{mode} has no option '--metrics'",
            )

    def test_the_command_stands_behind_two_dashes(self):
        self.refused(
            self.run_jprof("callflow", "java", "-cp", "x", "Main"),
            "put -- before the program: jprof callflow -- java ...",
        )
        self.refused(self.run_jprof("callflow"), "jprof callflow -- java -jar app.jar")
        self.refused(self.run_jprof("trace", "--"), "jprof trace -- java -jar app.jar")

    def test_values_that_are_none(self):
        for words, said in [
            (("--tree-memory", "12Q"), "--tree-memory: '12Q' is not a size"),
            (("--probe", "hotspt"), "--probe: there is no 'hotspt'; did you mean hotspot?"),
            (("--threads", "a*b"), "--threads: a * is only allowed at the end"),
            (("--threads", "a+"), "--threads: there is no pattern after a + or -"),
            (("--metrics", "PAPI_TOT_INZ"), "PAPI_TOT_INS"),
            (("--metrics", "a+b+c+d+e+f+g+h+i"), "8"),
            (("-o",), "--out"),
        ]:
            self.refused(self.record("callflow", *words, "--", "java"), said)
        self.refused(
            self.record("trace", "--mode", "rap", "--", "java"),
            "--mode: there is no 'rap'; did you mean wrap?",
        )
        self.refused(
            self.record("callflow", "--", "java", JPROFOPTS="verbos"),
            "JPROFOPTS",
            "did you mean VERBOSE?",
        )

    def test_programs_that_are_none(self):
        self.refused(self.record("callflow", "--", "jaava"), "there is no 'jaava' in PATH")
        self.refused(
            self.record("callflow", "--", "./no/java"),
            "cannot run ./no/java: there is no such file",
        )
        self.refused(self.record("callflow", "--", "./lib"), "not an executable file")
        self.refused(
            self.record("callflow", "--", "java", PATH="/nowhere"), "there is no 'java' in PATH"
        )

    def test_the_jvms_of_other_programs_get_it_by_the_environment(self):
        result = self.record("callflow", "--", "sh", "-c", 'echo "$JAVA_TOOL_OPTIONS"; exit 3')
        self.assertEqual(result.returncode, 3)
        self.assertIn("=CALLFLOW,OUT=", result.stdout)
        self.assertIn("/sh.jprof,CHILDREN=all", result.stdout.replace('" "', " "))
        for word in ("--children=first", "--children=FIRST"):
            result = self.record("callflow", word, "--", "sh", "-c", 'echo "$JAVA_TOOL_OPTIONS"')
            self.assertIn(",CHILDREN=first", result.stdout)
        self.refused(
            self.record("callflow", "--children=no", "--", "sh", "-c", "echo started"),
            "sh is not java",
            "--children=all",
        )
        self.refused(self.record("callflow", "--children=al", "--", "java"),
                     "--children: there is no 'al'; did you mean all?")

    def test_a_java_command_gets_it_as_an_argument(self):
        for word in ("--children=no", "--children=first", "--children=auto"):
            result = self.record("callflow", word, "--", "java", "Main")
            self.assertIn("[-agentpath:", result.stdout)
            self.assertIn("JAVA_TOOL_OPTIONS=unset", result.stdout)

    def test_no_agent(self):
        self.refused(self.run_jprof("callflow", "--agent", "gone.so", "--", "java"), "gone.so")
        equals = self.write("a=b/agent.so", "")
        self.refused(self.run_jprof("callflow", "--agent", equals, "--", "java"), "'='")

    def test_places_that_cannot_be_written(self):
        self.refused(
            self.record("callflow", "-o", "no/where", "--", "java"),
            "no/where",
            "No such file or directory",
        )
        self.refused(self.record("callflow", "-o", "/proc/x.jprof", "--", "java"), "/proc/x.jprof")
        self.write("file", "")
        self.refused(
            self.record("callflow", "-o", "file", "--", "java"), "exists and is not a profile"
        )
        self.write("full/precious", "")
        self.refused(
            self.record("callflow", "--force", "-o", "full", "--", "java"),
            "exists and is not a profile",
        )
        self.assertTrue(os.path.exists(os.path.join(self.folder, "full/precious")))

    def test_a_profile_is_replaced_only_by_force(self):
        self.make_profile("old.jprof")
        self.refused(
            self.record("callflow", "-o", "old.jprof", "--", "java"),
            "is already a profile",
            "--force",
        )
        self.assertIn(
            "OUT=", self.record("callflow", "--force", "-o", "old.jprof", "--", "java").stdout
        )
        self.assertFalse(os.path.exists(os.path.join(self.folder, "old.jprof")))
    def every_file(self, name):
        """A profile with all files that docs/PROFILE_FORMAT.md lists."""
        self.make_profile(name)
        with open(FORMAT, encoding="utf-8") as file:
            files = re.findall(r"^\| `([\w.]+)` \|", file.read().split("## ", 1)[0], re.M)
        self.assertIn("jitlog", files)
        for one in files:
            if one not in ("meta.json", "control"):
                self.write(f"{name}/{one}", "")
        return sorted(files)

    def test_force_knows_every_file_of_the_format(self):
        self.every_file("old.jprof")
        result = self.record("callflow", "--force", "-o", "old.jprof", "--", "java")
        self.assertIn("OUT=", result.stdout)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "old.jprof")))
        self.assertEqual(sorted(os.listdir(self.folder)), ["bin", "lib"])

    def test_force_removes_nothing_where_it_cannot_remove_all(self):
        files = self.every_file("mixed.jprof")
        force = ("callflow", "--force", "-o", "mixed.jprof", "--", "java")
        left = lambda: sorted(os.listdir(os.path.join(self.folder, "mixed.jprof")))
        self.write("mixed.jprof/precious", "")
        self.refused(self.record(*force), "precious", "nothing was removed")
        self.assertEqual(left(), sorted([*files, "precious"]))
        os.unlink(os.path.join(self.folder, "mixed.jprof/precious"))

        os.unlink(os.path.join(self.folder, "mixed.jprof/trace"))
        # a directory with the name of a profile's file
        self.write("mixed.jprof/trace/precious", "")
        self.refused(self.record(*force), "trace", "nothing was removed")
        self.assertEqual(left(), files)
        shutil.rmtree(os.path.join(self.folder, "mixed.jprof/trace"))
        files.remove("trace")

        os.symlink("mixed.jprof", os.path.join(self.folder, "link.jprof"))
        self.refused(
            self.record("callflow", "--force", "-o", "link.jprof", "--", "java"), "symbolic link"
        )
        self.assertEqual(left(), files)

    def test_force_removes_nothing_where_the_folder_may_not_be_written(self):
        files = self.every_file("locked/old.jprof")
        os.chmod(self.folder, 0o755)
        jprof, as_nobody = JPROF, {}
        if os.geteuid() == 0:
            # A user who owns the profile, but not its folder.
            os.chown(os.path.join(self.folder, "locked/old.jprof"), 65534, 65534)
            as_nobody = {"user": 65534, "group": 65534, "extra_groups": []}
            jprof = child.copy_for_all(JPROF, os.path.join(self.folder, "locked"))
        else:
            os.chmod(os.path.join(self.folder, "locked"), 0o555)
            self.addCleanup(os.chmod, os.path.join(self.folder, "locked"), 0o755)
        force = [jprof, "callflow", "--agent", self.agent, "--force", "-o", "locked/old.jprof"]
        result = child.run([*force, "--", "java"], cwd=self.folder, env=self.env, **as_nobody)
        self.refused(result, "cannot remove the old profile")
        self.assertEqual(sorted(os.listdir(f"{self.folder}/locked/old.jprof")), files)

    # What the program receives.

    def test_java_gets_the_agent_as_its_first_argument(self):
        result = self.record(
            "callflow", "-o", "d", "--", "java", "-cp", "a b", "Main", "--", "[x,y]", "", "-o"
        )
        place = self.folder.replace(" ", "%20") + "/d"
        self.assertEqual(
            result.stdout.splitlines(),
            [
                f"[-agentpath:{self.agent}=CALLFLOW,OUT={place}]",
                "[-cp]",
                "[a b]",
                "[Main]",
                "[--]",
                "[[x,y]]",
                "[]",
                "[-o]",
                "JAVA_TOOL_OPTIONS=unset",
            ],
        )

    def test_options_reach_the_agent(self):
        result = self.record(
            "trace",
            "-o",
            "d",
            "--threads",
            "pool-1*+-a,b",
            "--methods",
            "-java/*",
            "--mode",
            "wrap",
            "--trace-memory",
            "1m",
            "--probe",
            "JVMTI",
            "--",
            "java",
        )
        self.assertIn(
            "d,THREADS=+pool%2D1*+-a%2Cb,CLASSMETHODS=-java/*,"
            "TRACE_MODE=wrap,TRACE_MEMORY=1M,PROBE=jvmti]",
            result.stdout,
        )
        forced = self.record("calltree", "-o", "d", "--tree-memory", "227G", "--force", "--",
                             "java")
        self.assertIn("TREE_MEMORY=227G", forced.stdout)
        result = self.record("callflow", "-o", "d", "--metrics", "time+dispatches", "--", "java")
        self.assertIn("d,METRICS=time+dispatches]", result.stdout)
        result = self.record(
            "calltree", "-o", "d", "--tree-memory", "64M", "--fold-recursion", "--", "java"
        )
        self.assertIn("[-agentpath:", result.stdout)
        self.assertIn("=CALLTREE,", result.stdout)
        self.assertIn("d,TREE_MEMORY=64M,FOLD_RECURSION]", result.stdout)

    def kept_cost(self, ns=None):
        """The contents of the file with the cost of an interrupt; `ns` replaces the figure in
        it."""
        files = glob.glob(f"{self.folder}/.local/share/jprof/calibration/*.machine")
        self.assertEqual(len(files), 1)
        with open(files[0], encoding="utf-8") as file:
            kept = json.load(file)
        if ns is not None:
            kept["interrupt_ns"] = ns
            with open(files[0], "w", encoding="utf-8") as file:
                json.dump(kept, file)
        return kept

    def test_a_rate_that_interrupts_cannot_serve_is_lowered(self):
        self.record("scs", "--rate", "400", "--", "java")  # permitted at any cost of an interrupt
        self.assertFalse(os.path.exists(f"{self.folder}/.local/share/jprof"))
        self.record("scs", "--rate", "401", "--", "java")
        self.assertTrue(200 <= self.kept_cost()["interrupt_ns"] <= 500_000)
        self.kept_cost(33_000)
        line = "jprof: sampling at 6,000/s instead of 10,000/s: an interrupt costs 33 us here\n"
        for words, options in [
            (("scs", "--rate", "10000"), "=SCS=TIME=100000,"),
            (("scs", "--event", "TIME=100000"), "=SCS=TIME=100000,"),
            (("scs", "--event", "perf::CPU-CLOCK=100000"), "CPU-CLOCK=100000,"),
            (("calltree", "--sample", "10000"), ",SAMPLE=10000,"),
        ]:
            result = self.record(*words, "--", "java")
            self.assertIn(line, result.stderr)
            self.assertIn(options, result.stdout)
            self.assertIn("INTERRUPT_NS=33000", result.stdout)
            forced = self.record(*words, "--force-rate", "--", "java")
            self.assertNotIn("sampling at", forced.stderr)
            self.assertIn("FORCE_RATE", forced.stdout)
            self.assertNotIn("INTERRUPT_NS", forced.stdout)
        fine = self.record("scs", "--rate", "6000", "--", "java")
        self.assertNotIn("sampling at", fine.stderr)
        events = self.record("scs", "--event", "perf::PAGE-FAULTS=1", "--", "java")
        self.assertNotIn("sampling at", events.stderr)
        # The rate in JPROFOPTS is limited as well.
        result = self.record("scs", "--", "java", JPROFOPTS="SCS=TIME=100000")
        self.assertIn(line, result.stderr)
        self.assertEqual(self.kept_cost()["interrupt_ns"], 33_000)  # measured once
        self.assertIn("33.0 us, timers of up to 6000", self.run_jprof("metrics").stdout)

    def test_a_cap_above_a_third_of_the_memory_is_refused(self):
        self.refused(self.record("calltree", "--tree-memory", "227G", "--", "java"),
                     "--tree-memory 227G: 227G is more than a third of", "or add --force")
        self.refused(self.record("trace", "--trace-memory", "64G", "--", "java"),
                     "--trace-memory 64G:")
        if os.stat("/dev/shm").st_dev != os.stat("/").st_dev:
            words = ("trace", "--mode", "continuous", "-o", f"/dev/shm/jprof-{os.getpid()}")
            self.refused(self.record(*words, "--", "java"), "tmpfs", "-o")
            self.assertIn(
                "TRACE_MODE=continuous", self.record(*words, "--force", "--", "java").stdout)

    def test_a_cost_that_no_machine_has_is_measured_again(self):
        self.record("scs", "--rate", "1000", "--", "java")
        for ns in (199, 500_001):
            self.kept_cost(ns)
            self.record("scs", "--rate", "1000", "--", "java")
            self.assertTrue(200 <= self.kept_cost()["interrupt_ns"] <= 500_000)

    def test_a_cost_that_cannot_be_kept_is_measured_each_time(self):
        for _ in range(2):
            result = self.record("scs", "--rate", "1000", "--", "java", XDG_DATA_HOME="/dev/null/x")
            self.assertIn("INTERRUPT_NS=", result.stdout)

    def test_the_rate_of_the_whole_machine_is_lowered_too(self):
        self.record("scs", "--rate", "1000", "--", "java")
        self.kept_cost(400_000)
        said = "sampling at 500/s instead of 1,000/s: an interrupt costs 400 us here"
        for words in (["--rate", "1000"], ["--event", "cpu-clock", "--period", "1000000"]):
            self.assertIn(said, self.run_jprof("tprof", *words, "--", "true").stderr)
        forced = self.run_jprof("tprof", "--rate", "1000", "--force-rate", "--", "true")
        self.assertNotIn("sampling at", forced.stderr)
        events = self.run_jprof("tprof", "--event", "page-faults", "--period", "1", "--", "true")
        self.assertNotIn("sampling at", events.stderr)

    def test_rates_and_timers_that_are_none(self):
        for forced in ([], ["--force-rate"]):
            for words, said in [
                (("scs", "--rate", "20001"),
                 "--rate: '20001' is not a whole number from 1 to 20000"),
                (("scs", "--event", "TIME=49999"), "--event: TIME=49999: a timer's period"),
                (("scs", "--event", "perf::CPU-CLOCK=49999"), "perf::CPU-CLOCK=49999: a timer's"),
                (("calltree", "--sample", "20001"), "--sample: '20001' is not a whole number"),
                (("tprof", "--rate", "20001"), "20000"),
                (("tprof", "--event", "cpu-clock", "--period", "49999"), "49999 ns of"),
            ]:
                self.refused(self.record(*words, *forced, "--", "java"), said)
        for words, said in [
            (("scs", "--timer", "posx"), "--timer: there is no 'posx'; did you mean posix?"),
            (("scs", "--event", "IDLE", "--timer", "posix"),
             "--timer: no trigger samples by CPU time"),
            (("calltree", "--timer", "posix"), "--timer needs --sample: only sampling has timers"),
            (("calltree", "--force-rate"), "--force-rate needs --sample: only sampling has timers"),
        ]:
            self.refused(self.record(*words, "--", "java"), said)
        self.refused(self.record("calltree", "--", "java", JPROFOPTS="timer=posix"),
                     "jprof: JPROFOPTS: TIMER needs SCS or SAMPLE: only sampling has timers")
        result = self.record("callflow", "--keep-intrinsics", "--", "java")
        self.assertIn("KEEP_INTRINSICS", result.stdout)
        result = self.record("calltree", "--sample", "100", "--timer", "posix", "--focus", "a.*",
                             "--", "java")
        self.assertIn("=CALLTREE,", result.stdout)
        self.assertIn("SAMPLE=100,TIMER=posix,FOCUS=+a.*]", result.stdout)

    def test_jdk_tools_get_it_by_their_J_option(self):
        self.write("jdk/lib/jvm.cfg", "")
        self.write("jdk/bin/javac", JAVA)
        os.symlink("../jdk/bin/javac", os.path.join(self.folder, "bin/javac"))
        result = self.record("callflow", "-o", "d", "--", "javac", "A.java")
        self.assertIn(f"[-J-agentpath:{self.agent}=CALLFLOW,OUT=", result.stdout)

    def test_children_get_it_by_the_environment(self):
        result = self.record(
            "callflow", "-o", "d", "--children", "--", "java", "Main", JAVA_TOOL_OPTIONS="-Xint"
        )
        self.assertEqual(result.stdout.splitlines()[0], "[Main]")
        quoted = self.agent.replace(" ", '" "')
        self.assertIn(f"JAVA_TOOL_OPTIONS=-Xint -agentpath:{quoted}=CALLFLOW,OUT=", result.stdout)
        self.assertIn(",CHILDREN=all", result.stdout)

    def test_default_names(self):
        def name_of(*command):
            found = [
                line
                for line in self.record("callflow", "--", *command).stdout.splitlines()
                if "OUT=" in line
            ]
            return found[0].split("OUT=")[1].rstrip("]").split("/")[-1].split(",")[0]

        self.assertEqual(
            name_of("java", "-Xmx1g", "-cp", "x.jar", "com.acme.Main", "y.jar"), "Main.jprof"
        )
        self.assertEqual(name_of("java", "-jar", "lib/app-1.2.jar", "Main"), "app-1.2.jprof")
        self.assertEqual(name_of("java", "-m", "acme/com.acme.Main"), "Main.jprof")
        self.assertEqual(name_of("java", "--module=acme"), "acme.jprof")
        self.assertEqual(name_of("java", "src/Hello.java"), "Hello.jprof")
        self.assertEqual(name_of("java", "-version"), "java.jprof")
        os.mkdir(os.path.join(self.folder, "Main.jprof"))
        self.assertEqual(name_of("java", "Main"), "Main-2.jprof")
        os.mkdir(os.path.join(self.folder, "Main-2.jprof"))
        self.assertEqual(name_of("java", "Main"), "Main-3.jprof")

    def test_standard_streams_are_the_programs(self):
        result = child.run(
            [JPROF, "callflow", "--agent", self.agent, "--", "java"],
            60,
            cwd=self.folder,
            env={**self.env, "THEN": "cat; echo oops >&2"},
            input=b"\x00in\xff",
            text=False,
        )
        self.assertTrue(result.stdout.endswith(b"\x00in\xff"))
        self.assertIn(b"oops\n", result.stderr)

    def test_the_limit_of_files_is_the_programs_own(self):
        def few():
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))

        env = {**self.env, "THEN": "ulimit -Sn"}
        for mode in ("scs", "calltree", "callflow", "trace"):
            words = [JPROF, mode, "--agent", self.agent, "--", "java"]
            result = child.run(words, cwd=self.folder, env=env, preexec_fn=few)
            self.assertEqual(result.stdout.splitlines()[-1], "200", result)

    def test_calibrate_that_is_interrupted_leaves_nothing(self):
        trainers = os.path.join(os.path.dirname(JPROF), "../share/jprof/trainers.jar")
        if not os.path.exists(trainers):
            self.skipTest("this jprof was built without a JDK")
        work, said = os.path.join(self.folder, "work"), os.path.join(self.folder, "pids")
        os.mkdir(work)
        then = f'sleep 60 & echo $! $$ >"{said}"; ls "$TMPDIR"/*/ >&2; wait'
        env = {**self.env, "THEN": then, "TMPDIR": work}
        for number in (signal.SIGINT, signal.SIGTERM):
            words = [JPROF, "calibrate", "--agent", self.agent, "--java", self.java, "--quick"]
            with child.running(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True) as program:
                while not os.path.exists(said) or not os.path.getsize(said):
                    time.sleep(0.05)
                self.assertNotEqual(os.listdir(work), [])
                program.send_signal(number)  # to this process only
                _, errors = program.communicate(timeout=600)
            self.assertEqual(program.returncode, 128 + number, errors)
            self.assertEqual(errors.splitlines()[-1], "jprof: interrupted: no table was stored")
            self.assertEqual(os.listdir(work), [])
            with open(said, encoding="ascii") as file:
                pids = [int(pid) for pid in file.read().split()]
            # The trainer's children are also killed, but not waited for.
            until = time.monotonic() + 20
            while any(map(alive, pids)) and time.monotonic() < until:
                time.sleep(0.05)
            self.assertFalse(any(map(alive, pids)), "the trainer, or a child of it, still runs")
            os.unlink(said)

    # How it ends.

    def test_a_java_that_makes_no_profile(self):
        result = self.record("callflow", "-o", "d", "--", "java", then="exit 1")
        self.assertEqual(result.returncode, 2)
        self.assertIn("no profile: the JVM did not start", result.stderr)
        for then, status in (("exit 0", 0), ("exit 7", 7), (f'mkdir "{self.folder}/d"; exit 1', 1)):
            result = self.record("callflow", "-o", "d", "--", "java", then=then)
            self.assertEqual(result.returncode, status)
            self.assertIn("no profile: the program ran without being profiled", result.stderr)

    def test_children_that_start_no_jvm(self):
        self.assertEqual(
            self.record("callflow", "--children", "--", "sh", "-c", "exit 7").returncode, 7
        )
        result = self.record("callflow", "--children", "--", "true")
        self.assertEqual(result.returncode, 2)
        self.assertIn("no profile: true started no JVM", result.stderr)
        self.assertIn("a program as it is: jprof tprof -- true ...", result.stderr)

    def test_death_by_signal(self):
        result = self.record("callflow", "--children", "--", "sh", "-c", "kill -9 $$")
        self.assertEqual(result.returncode, 128 + 9)
        self.assertIn("sh was ended by signal 9 (Killed)", result.stderr)

    def test_signals_are_passed_on_and_do_not_end_us(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            name = number.name[3:]
            script = (
                f"trap 'echo got {name}; exit 5' {name}; echo ready; while :; do sleep 0.05; done"
            )
            with child.running(
                [JPROF, "callflow", "--agent", self.agent, "--children", "--", "sh", "-c", script],
                cwd=self.folder,
                env=self.env,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            ) as program:
                self.assertEqual(program.stdout.readline(), "ready\n")
                program.send_signal(number)
                rest, _ = program.communicate(timeout=600)
            self.assertEqual((rest, program.returncode), (f"got {name}\n", 5))

    def test_an_ignored_signal_stays_ignored(self):
        result = child.run(
            [
                "nohup",
                JPROF,
                "callflow",
                "--agent",
                self.agent,
                "--children",
                "--",
                "sh",
                "-c",
                "kill -HUP $$; echo alive",
            ],
            60,
            cwd=self.folder,
            env=self.env,
        )
        self.assertEqual(result.stdout, "alive\n")

    # The three lines, for a profile that the script provides.

    def profile_maker(self, **fields):
        """A shell command that copies a profile to the path in the agent's options."""
        header = struct.pack(
            "<8sIIIIII",
            b"JPROFCTL",
            fields.get("version", 1),
            4096,
            256,
            64,
            fields.get("threads", 0),
            1,
        )
        header += struct.pack("<QQQII", 1, 1024, 0, fields.get("methods", 3), 1)
        header += struct.pack("<QQQQQQ", 0, 0, 0, 0, 0, 10**9)
        header += struct.pack("<QQQQQ", 0, 0, fields.get("disk_full", 0), 0, 0)
        self.write(
            "made/meta.json",
            '{"mode":"%s","metrics":[],"probe":{"kind":"hotspot","note":""}}'
            % fields.get("mode", "calltree"),
        )
        for name in ("nodes", "methods"):
            self.write("made/" + name, "")
        with open(os.path.join(self.folder, "made/control"), "wb") as file:
            file.write(header.ljust(4096, b"\0"))
            file.write(struct.pack("<II", 2, 0).ljust(256, b"\0") * fields.get("threads", 0))
        return f'cp -r "{self.folder}/made" "{self.folder}/d e"; exit 6'

    def test_three_lines(self):
        result = self.record("calltree", "-o", "d e", "--", "java", then=self.profile_maker())
        self.assertEqual(result.returncode, 6)
        place, lost, following = result.stderr.splitlines()
        self.assertEqual(place, "jprof: profile: 'd e' (0 threads, 2 methods)")
        self.assertIn("jprof: lost:    ", lost)
        self.assertEqual(following, "jprof: next:    jprof report 'd e'")

    def test_the_next_command_of_a_profile_without_a_table_is_to_calibrate(self):
        then = self.profile_maker(mode="callflow").replace("exit 6", "exit 0")
        result = self.record("callflow", "-o", "d e", "--", "java", then=then)
        self.assertIn("there is no calibration table yet", result.stderr)
        self.assertEqual(result.stderr.splitlines()[-1], "jprof: next:    jprof calibrate")
        self.assertEqual(result.stderr.count("next:"), 1)

    def test_losses_are_told(self):
        result = self.record(
            "calltree", "-o", "d e", "--", "java", then=self.profile_maker(disk_full=1)
        )
        self.assertRegex(result.stderr, "lost: .*disk full")

    def test_filters_that_match_nothing(self):
        then = self.profile_maker(methods=1).replace("exit 6", "exit 0")
        result = self.record(
            "calltree", "-o", "d e", "--methods", "no.such", "--", "java", then=then
        )
        self.assertEqual(result.returncode, 2)
        self.assertIn("lost:    everything: no method matched --methods", result.stderr)
        shutil.rmtree(os.path.join(self.folder, "d e"))
        then = self.profile_maker(threads=2)  # without names
        result = self.record(
            "calltree", "-o", "d e", "--threads", "no-such", "--", "java", then=then
        )
        self.assertEqual(result.returncode, 6)  # the program's status has priority
        self.assertIn("lost:    everything: no thread matched --threads", result.stderr)

    # jprof info

    def test_info_says_what_a_profile_is(self):
        self.profile_maker(threads=2, disk_full=1)
        done = self.run_jprof("info", "made")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = dict(line.split(None, 1) for line in done.stdout.splitlines() if line[0] != " ")
        self.assertTrue(rows["profile"].startswith("made (calltree, "), rows)
        self.assertEqual((rows["probe"], rows["threads"]), ("hotspot", "2"))
        self.assertEqual(rows["metrics"], "none: counts only")
        self.assertIn("disk full", rows["lost"])
        as_json = json.loads(self.run_jprof("info", "made", "--format", "json").stdout)
        self.assertEqual((as_json["mode"], as_json["losses"]["disk_full"]), ("calltree", 1))
        self.assertEqual((len(as_json["threads"]), as_json["calls"]), (2, 0))

    def test_info_of_what_is_no_profile(self):
        self.refused(self.run_jprof("info", "nowhere"), "nowhere")
        self.refused(self.run_jprof("info"), "jprof info needs DIR, for example: jprof info app.jprof")
        self.write("folder/file", "")
        self.refused(self.run_jprof("info", "folder"), "not a jprof profile")
        self.profile_maker(version=99)
        self.refused(self.run_jprof("info", "made"), "format 99")
        self.refused(self.run_jprof("info", "made", "--format", "xml"), "--format")


if __name__ == "__main__":
    unittest.main(verbosity=2)  # prints which tests were skipped, and why
