#!/usr/bin/env python3
"""C and C++ functions that call jprof's hooks (docs/HOOKS.md): counts, contexts, threads, processes
and Java callers, against what the programs in tests/e2e/hooks know of themselves.

    hooks_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--list]

Programs that count are built by each compiler that is installed, without and with optimisation.
"""
import dataclasses
import json
import os
import platform
import shutil
import sys
import tempfile
import time

import child
import expectations
import jvms
import raw_profile
import reports
from cases import ERRORS, Cases
from lab import Skip

case = Cases()

HERE = os.path.dirname(os.path.abspath(__file__))
# Losses that are no errors in these programs: frames that end without an exit.
JUMPS = ("healed",)
DROPS = ("dropped",)  # events of a signal handler that interrupts a rare event


@dataclasses.dataclass(frozen=True)
class Compiler:
    c: str
    cxx: str
    flags: tuple

    def __str__(self):
        return " ".join((self.c, *self.flags))


def compilers():
    found = []
    for c, cxx in (("gcc", "g++"), ("clang", "clang++"), ("clang-19", "clang++-19")):
        if shutil.which(c) and shutil.which(cxx):
            found += [Compiler(c, cxx, (level,)) for level in ("-O0", "-O2")]
    if not found:
        jvms.skip("it needs gcc or clang")
    return found


# Sleds in every function. Only the compiler needs to know.
SLED_FLAGS = ("-fxray-instrument", "-fxray-instruction-threshold=1")


def sled_compilers():
    """Those of compilers() that make sleds which jprof knows."""
    return [c for c in compilers() if c.c.startswith("clang") and platform.machine() == "x86_64"]


class Workplace:
    """A folder in which a case builds programs and records them."""

    def __init__(self, args, folder):
        self.jprof, self.agent, self.programs = args.jprof, args.agent, args.programs
        self.folder = folder

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def folder_of_libraries(self):
        return os.path.dirname(self.agent)

    def build(self, source, compiler=None, *flags, hooks=True, name=None, text=None,
              module=None):
        """Builds a program or, by its flags, something else of a file in tests/e2e/hooks or of
        `text`. Returns its path."""
        compiler = compiler or compilers()[0]
        program, kind = os.path.splitext(source)
        program = name or program
        path = self.path(program)
        if text is not None:
            source = self.path(source)
            with open(source, "w", encoding="utf-8") as out:
                out.write(text)
        else:
            source = os.path.join(HERE, "hooks", source)
        command = [compiler.c if kind == ".c" else compiler.cxx, *compiler.flags, "-g", "-pthread",
                   f'-DMODULE="{module or program}"', "-I", os.path.join(HERE, "hooks"),
                   *(["-finstrument-functions"] if hooks else []), source, "-o", path, *flags]
        built = child.run(command)
        if built.returncode != 0:
            raise reports.ReportFailed(f"{' '.join(command)}: {built.stderr}")
        return path

    def record(self, command, *options, mode="calltree", status=0, **more):
        """Records a command into a new profile. Returns the profile's path and the command's
        result."""
        out = tempfile.mkdtemp(prefix="profile-", dir=self.folder)
        os.rmdir(out)
        done = child.run([self.jprof, mode, "--agent", self.agent, "-o", out, *options, "--",
                          *command], **{"timeout": 600, **more})
        if done.returncode != status:
            raise reports.ReportFailed(f"{' '.join(command)}: status {done.returncode}, not "
                                       f"{status}: {done.stderr[-600:]}")
        return out, done

    def report(self, profile, *options):
        return reports.log_rt(self.jprof, profile, *options)

    def calls(self, profile):
        return reports.calls_of(self.report(profile))

    def check(self, profile, stdout, what, allow=()):
        """The program's expectations, and the rules for every report."""
        report = self.report(profile, "--threads", "separate")
        failures = reports.check(report, what) + reports.check_losses(report, what, allow)
        failures += expectations.compare(expectations.parse(stdout), reports.calls_of(report),
                                         ("calls", "path", "thread"), what)
        if "EXPECT" not in stdout:
            failures.append(f"{what}: the program printed no expectation")
        return failures

    def count(self, source, *options, allow=(), mode="calltree"):
        """Builds a program by every compiler, records it and checks what it expects."""
        failures = []
        for compiler in compilers():
            program = self.build(source, compiler)
            profile, done = self.record([program], *options, mode=mode)
            failures += self.check(profile, done.stdout, str(compiler), allow)
        return failures


@case
def calls(work):
    return work.count("calls.c")


@case
def jumps(work):
    return work.count("jumps.c", allow=JUMPS)


@case
def throws(work):
    return work.count("throws.cc", allow=JUMPS)


@case
def closed_descriptors(work):
    """The program's files and output are as without jprof, its counts and events complete."""
    program, own = work.build("closes.c"), work.path("own")
    os.makedirs(own)
    plain = child.run([program, own]).stdout
    total, failures = 0, []
    for mode, *options in (["calltree"], ["callflow"], ["trace"], ["trace", "--mode=continuous"]):
        what = f"{mode} {options}"
        profile, done = work.record([program, own], *options, mode=mode)
        sizes = {os.path.getsize(os.path.join(own, file)) for file in os.listdir(own)}
        if done.stdout != plain or sizes != {6}:
            failures.append(f"{what}: files of {sizes} bytes, prints {done.stdout[:300]}")
        if mode != "trace":
            failures += work.check(profile, done.stdout, what)
            total = sum(work.calls(profile).by_method.values())
        elif (events := reports.stream_log_gen(work.jprof, profile)[0]) != 2 * total:
            failures.append(f"{what}: {events} events of {total} calls: {done.stderr}")
    return failures


@case
def stopped_at_system_calls(work):
    """A debugger stops each thread at each system call."""
    if not shutil.which("strace"):
        jvms.skip("it needs strace")
    out = work.path("stopped")
    done = child.run(["strace", "-f", "-o", "/dev/null", work.jprof, "calltree", "--agent",
                      work.agent, "-o", out, "--", work.build("calls.c")], timeout=600)
    return work.check(out, done.stdout, "strace")


@case
def file_size_limit(work):
    """A limit on the size of files never ends the program; the report names it."""
    program = work.build("closes.c")
    own = work.path("own")
    os.makedirs(own)
    plain = child.run([program, own]).stdout
    limited = ["bash", "-c", f"ulimit -f 128; exec {program} {own}"]
    failures = []
    for mode in ("calltree", "callflow", "trace"):
        profile, done = work.record(limited, "--hooks=yes", mode=mode)
        if done.stdout != plain:
            failures.append(f"{mode}: prints {done.stdout}")
        report = child.run([work.jprof, "info", profile]).stdout
        if "file size limit of 131072 bytes" not in report:
            failures.append(f"{mode}: the limit is not named: {report}")
        if "--tree-memory" in report:
            failures.append(f"{mode}: a limit that was not reached is named: {report}")
    return failures


@case
def address_space_limit(work):
    """The profile takes a small share of a limited address space, beside the call tree."""
    program = work.build("calls.c")
    failures = []
    for mode in ("calltree", "callflow"):
        profile, done = work.record(["bash", "-c", f"ulimit -v 1000000; exec {program}"],
                                    "--hooks=yes", mode=mode)
        failures += work.check(profile, done.stdout, mode)
    little = ["bash", "-c", f"ulimit -v 500000; exec {program}"]
    profile, done = work.record(little, "--hooks=yes", mode="trace")
    profile, done = work.record(little, "--hooks=yes", "--tree-memory", "64M")
    failures += work.check(profile, done.stdout, "--tree-memory 64M")
    place, done = work.record(little, "--hooks=yes", status=2)
    if os.path.exists(place):
        failures.append(f"left behind: {profiles_at(place)}")
    for part in ("500000 KiB (ulimit -v)", "--tree-memory 64M", "ran without being profiled"):
        if part not in done.stderr:
            failures.append(f"no {part}: {done.stderr}")
    return failures


@case
def signals(work):
    failures = []
    for compiler in compilers():
        program = work.build("signals.c", compiler)
        profile, done = work.record([program])
        failures += work.check(profile, done.stdout, str(compiler), DROPS)
        ticks = int(done.stdout.split("TICKS ")[1])
        calls, losses = work.calls(profile), work.report(profile)["losses"]
        handled = calls.by_method["signals.OnTick"]
        if ticks < 10 or not ticks - losses["dropped"] <= handled <= ticks:
            failures.append(f"{compiler}: {ticks} signals, {handled} are counted, {losses}")
    return failures


def all_but_dropped(work, profile, stdout, what):
    """Every expected call is recorded, or both its events are counted as dropped."""
    report = work.report(profile)
    failures = reports.check(report, what) + reports.check_losses(report, what, DROPS)
    recorded, missing = reports.calls_of(report), 0
    for expected in expectations.parse(stdout):
        missing += expected.count - recorded.of(expected)
        if recorded.of(expected) > expected.count:
            failures.append(f"{what}: {expected}: {recorded.of(expected)} of {expected.count}")
    if 2 * missing > report["losses"]["dropped"]:
        failures.append(f"{what}: {missing} calls are missing, {report['losses']}")
    return failures


@case
def a_signal_at_every_instruction(work):
    if platform.machine() != "x86_64":
        raise Skip("it needs the trap flag of x86-64")
    failures = []
    program = work.build("stepped.c", compilers()[1])
    for mode, *arguments in (["calltree"], ["callflow", "3"], ["calltree", "4", "threads"]):
        profile, done = work.record([program, *arguments], mode=mode)
        failures += all_but_dropped(work, profile, done.stdout, f"{mode} {arguments}")
    return failures


@case
def threads(work):
    return work.count("threads.cc", allow=JUMPS)


def profiles_at(place):
    """The profiles at the place of a recording: itself, or those in it."""
    if os.path.exists(os.path.join(place, "control")):
        return [place]
    return sorted(os.path.join(place, name) for name in os.listdir(place))


def read_all(file):
    file.seek(0)
    return file.read()


def work_calls(work, place):
    """Of each profile: calls of Work, by the number of its callers."""
    return sorted(work.calls(path).by_method["processes.Work"] for path in profiles_at(place))


def build_java(work, jdk):
    """The class folder and the JNI library of HooksHost."""
    child.run([jdk.tool("javac"), "-d", work.path(jdk.name),
               os.path.join(HERE, "hooks", "HooksHost.java")], check=True)
    include = os.path.join(jdk.home, "include")
    headers = ("-I", include, "-I", os.path.join(include, "linux"))
    library = work.build("jni.c", None, "-shared", "-fPIC", *headers, name=f"libjni-{jdk.name}.so")
    return work.path(jdk.name), library, headers


def java_failures(calls, module, rounds, times, what):
    """The native functions are below their Java caller, and the callbacks below these."""
    native, back = f"{module}.Java_HooksHost_work", "HooksHost.back(I)I"
    wanted = [("path", ["HooksHost.calls(I)I", "HooksHost.work(I)I", native], rounds),
              ("path", [native, f"{module}.CallsBack", back], times * rounds)]
    return expectations.compare(
        [expectations.Expectation(kind, " > ".join(path), n) for kind, path, n in wanted], calls,
        ("path",), what)


@case
def java_above(work):
    failures = []
    for jdk in jvms.needed_jdks():
        classes, library, _ = build_java(work, jdk)
        profile, _ = work.record([*jdk.java(), "-cp", classes, "HooksHost", library], "--hooks=yes")
        failures += java_failures(work.calls(profile), os.path.basename(library), 50, 3, jdk.name)
    return failures


@case
def java_below(work):
    """A C++ program that creates a JVM: one tree."""
    failures = []
    for jdk in jvms.needed_jdks():
        classes, library, headers = build_java(work, jdk)
        server = os.path.join(jdk.home, "lib", "server")
        program = work.build("embedded.cc", None, *headers, f"-L{server}", f"-Wl,-rpath,{server}",
                             "-ljvm")
        place, _ = work.record([program, classes, library])
        calls = work.calls(profiles_at(place)[0])
        failures += java_failures(calls, os.path.basename(library), 10, 2, jdk.name)
        failures += expectations.compare(
            [expectations.Expectation(
                "path", "embedded.main > embedded.CallsJava(JNIEnv_*, _jclass*, _jmethodID*) > "
                "embedded.JNIEnv_::CallStaticIntMethod(_jclass*, _jmethodID*, ...) > "
                "HooksHost.calls(I)I", 10)], calls, ("path",), jdk.name)
    return failures


@case
def libraries_at_one_address(work):
    """Two libraries that are loaded one after the other at the same address."""
    program, libraries = work.build("loads.c", None, "-ldl"), []
    for name, other in (("one", "Left"), ("two", "Right")):
        text = f"""static __attribute__((noinline)) int {other}(int n) {{ return n + 1; }}
                   volatile int result;
                   void Function(int n) {{ while (n-- > 0) result += {other}(n); }}"""
        libraries.append(work.build(f"{name}.c", None, "-shared", "-fPIC", text=text))
    profile, done = work.record([program, *libraries])
    calls, failures = work.calls(profile), []
    if len(set(done.stdout.splitlines())) != 1:
        raise Skip("the libraries were not at the same address: " + done.stdout)
    for name, count in (("one.Function", 3), ("two.Function", 3), ("one.Left", 15),
                        ("two.Right", 15)):
        if calls.by_method[name] != count:
            failures.append(f"{name}: {calls.by_method[name]} calls, not {count}")
    return failures


@case
def libraries_of_one_relative_path(work):
    """Two files that are loaded as ./part, one after the other, from two directories. The program's
    errno stays."""
    text = """
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdio.h>
        #include <unistd.h>
        int main(int argc, char** argv) {
          for (int i = 1; i < argc; ++i) {
            if (chdir(argv[i]) != 0) return 1;
            errno = 0;
            void* part = dlopen("./part", RTLD_NOW);
            const int loaded = errno;
            ((void (*)(void))dlsym(part, i == 1 ? "Left" : "Right"))();
            errno = 0;
            dlclose(part);
            printf("%d %d\\n", loaded, errno);
          }
          return 0;
        }"""
    program, folders, failures = work.build("relative.c", None, "-ldl", text=text), [], []
    ways = [("hooks", None, ("-finstrument-functions",))]
    ways += [("sleds", clang, SLED_FLAGS) for clang in sled_compilers()[:1]]
    for way, compiler, flags in ways:
        folders = [work.path(f"{way}-{name}") for name in ("Left", "Right")]
        for folder in folders:
            os.mkdir(folder)
            name = folder.rsplit("-", 1)[1]
            code = work.build(f"{name}.c", compiler, "-c", "-fPIC", *flags, hooks=False,
                              name=f"{name}.o", text=f"void {name}(void) {{ __asm__(\"\"); }}")
            child.run(["gcc", "-shared", code, "-o", os.path.join(folder, "part")], check=True)
        profile, done = work.record([program, *folders], "--hooks=yes")
        calls = work.calls(profile).by_method
        if (calls["part.Left"], calls["part.Right"]) != (1, 1):
            failures.append(f"{way}: {calls}")
        if done.stdout != child.run([program, *folders]).stdout:
            failures.append(f"{way}: errno: {done.stdout}")
    return failures


@case
def libraries_at_one_address_in_a_jvm(work):
    """The same in a JVM, whose agent records."""
    text = """__attribute__((noinline)) void %s(void) { __asm__ volatile(""); }
              void Function(void) { for (int i = 0; i < 10; ++i) %s(); }"""
    paths = [work.build(f"{name}.c", None, "-shared", "-fPIC", text=text % (other, other))
             for name, other in (("one", "Left"), ("two", "Right"))]
    failures = []
    for jdk in jvms.needed_jdks():
        classes, _, headers = build_java(work, jdk)
        loader = work.build("loader.c", None, "-shared", "-fPIC", "-ldl", *headers, hooks=False,
                            text=f"""
            #include <dlfcn.h>
            #include <jni.h>
            JNIEXPORT jint JNICALL Java_HooksHost_work(JNIEnv* env, jclass of, jint rounds) {{
              static int count;
              void* library = dlopen(count++ % 2 == 0 ? "{paths[0]}" : "{paths[1]}", RTLD_NOW);
              ((void (*)(void))dlsym(library, "Function"))();
              return dlclose(library);
            }}""")
        profile, _ = work.record([*jdk.java(), "-cp", classes, "HooksHost", loader], "--hooks=yes")
        calls = work.calls(profile)
        for name, count in (("one.Left", 250), ("two.Right", 250), ("one.Function", 25),
                            ("two.Function", 25)):
            if calls.by_method[name] != count:
                failures.append(f"{jdk.name}: {name}: {calls.by_method[name]} calls, not {count}")
    return failures


@case
def coroutines(work):
    """Entries are exact. Their callers are not (docs/HOOKS.md)."""
    return work.count("contexts.c", allow=("healed", "unmatched"))


@case
def coroutines_of_cxx20(work):
    """C++20 coroutines have no stack of their own, so counts and callers are exact."""
    failures, built = [], 0
    for compiler in compilers():
        try:
            program = work.build("generator.cc", compiler, "-std=c++20")
        except reports.ReportFailed:
            continue  # clang 14 and the headers of gcc 12
        built += 1
        profile, done = work.record([program])
        failures += work.check(profile, done.stdout, str(compiler))
    if built == 0:
        raise Skip("it needs a compiler with coroutines")
    return failures


@case
def ends(work):
    """However a program ends, its calls are in the profile."""
    program, failures = work.build("processes.c"), []
    for what, status, finished in (("exit", 3, True), ("_exit", 3, True), ("_Exit", 3, True),
                                   ("quick_exit", 3, None), ("abort", 134, False),
                                   ("kill", 137, False)):
        profile, done = work.record([program, what], status=status)
        report = work.report(profile)
        calls = reports.calls_of(report)
        if calls.by_method["processes.Work"] != 10 or finished not in (
                None, report["profile"]["finished"]):
            failures.append(f"{what}: {calls.by_method}, {report['profile']}")
    return failures


@case
def children(work):
    """A child made by fork() or by an exec has its own profile, unless --children says otherwise."""
    program, failures = work.build("processes.c"), []
    for what, options, expected in (
            ("fork", (), [2, 3, 10]), ("fork", ("--children=no",), [10]),
            ("exec", (), [10, 10]), ("exec", ("--children=no",), [10]),
            ("spawn", (), [10, 10]), ("spawn", ("--children=no",), [10]),
            ("vfork", (), [10, 15]), ("vfork", ("--children=no",), [15])):
        place, _ = work.record([program, what], *options,
                               status=3 if what == "exec" else 0)
        if work_calls(work, place) != expected:
            failures.append(f"{what} {options}: {work_calls(work, place)}, not {expected}")
    return failures


@case
def a_fork_in_open_functions(work):
    """The calls of a child are below what its parent had entered. These functions have no calls in
    the child, which leaves them without a loss."""
    program, failures = work.build("processes.c"), []
    for mode in ("calltree", "callflow"):
        place, _ = work.record([program, "fork_below"], mode=mode)
        found = [work.report(path) for path in profiles_at(place)]
        found.sort(key=lambda report: reports.calls_of(report).by_method["processes.main"])
        if len(found) != 2:
            return [f"{mode}: {len(found)} profiles"]
        for report, expected in zip(found, ((0, 0, 0, 9), (1, 1, 1, 10))):
            failures += reports.check(report, mode) + reports.check_losses(report, mode)
            calls = reports.calls_of(report)
            calls_of = tuple(calls.by_method[f"processes.{name}"]
                             for name in ("main", "Outer", "Inner", "Work"))
            if calls_of != expected:
                failures.append(f"{mode}: {calls_of}, not {expected}")
        failures += expectations.compare(
            [expectations.Expectation("path", " > ".join(f"processes.{name}" for name in path), 1)
             for path in (("main", "Outer", "Inner", "Work"), ("main", "Outer", "Work"),
                          ("main", "Work"))],
            reports.calls_of(found[0]), ("path",), f"{mode}: the child")
    return failures


@case
def a_removed_profile(work):
    """If the profile's directory is removed, renamed or replaced while the program runs, the
    command says so and reports no other process's profile."""
    program, failures = work.build("processes.c"), []
    for children in ("all", "no"):
        for what in ("rm -r {0}", "mv {0} {0}.moved", "rm -r {0}; touch {0}"):
            out = tempfile.mkdtemp(prefix="removed-", dir=work.folder)
            os.rmdir(out)
            done = child.run([work.jprof, "calltree", "--agent", work.agent, "-o", out,
                              f"--children={children}", "--", program, "system",
                              what.format(out)])
            if (done.returncode != 1 or "was removed or renamed while" not in done.stderr or
                    "next:" in done.stderr or "reason is above" in done.stderr):
                failures.append(f"{children}, {what}: {done.returncode}, {done.stderr}")
    return failures


@case
def daemons(work):
    """A process that outlives the command is named, and its parent has ended normally. Its calls
    are below what its parent had entered."""
    program, (read, write) = work.build("processes.c"), os.pipe()
    with open(work.path("printed"), "w+", encoding="utf-8") as printed, \
            open(work.path("errors"), "w+", encoding="utf-8") as errors:
        place, _ = work.record([program, "daemon"], stdin=read, stdout=printed, stderr=errors)
        first = [work.report(path) for path in profiles_at(place)]
        while not (pid := read_all(printed).strip()):
            time.sleep(0.01)
        os.write(write, b"\n")
        while len(found := profiles_at(place)) < 2 or not all(
                work.report(path)["profile"]["finished"] for path in found):
            time.sleep(0.05)
        said, failures = read_all(errors), []
    if f"(PID {pid}) still runs" not in said or "abnormally" in said:
        failures.append(said)
    if len(first) != 1 or not first[0]["profile"]["finished"]:
        failures.append(f"the parent: {[report['profile'] for report in first]}")
    after = work.report(next(path for path in found if path.endswith(f"-{pid}")))
    failures += reports.check(after, "the child") + reports.check_losses(after, "the child")
    calls = reports.calls_of(after)
    failures += expectations.compare(
        [expectations.Expectation("path", "processes.main > processes.Work", 1)], calls, ("path",),
        "the child")
    if (calls.by_method["processes.main"], calls.by_method["processes.Work"]) != (0, 7):
        failures.append(f"the child: {calls.by_method}")
    return failures


@case
def a_fork_while_the_recording_starts(work):
    place, _ = work.record([work.build("early_fork.c")])
    found = [work.calls(path).by_method["early_fork.Work"] for path in profiles_at(place)]
    return [] if found == [1] * 11 else [f"calls of each process: {found}"]


@case
def a_fork_while_labels_are_added(work):
    place, _ = work.record([work.build("label_forks.c")])
    found = [work.calls(path).by_method["label_forks.Work"] for path in profiles_at(place)]
    return [] if found == [1] * 41 else [f"calls of each process: {found}"]


SLEDS = r"""
#include <setjmp.h>
#include <stdexcept>
#define ALONE __attribute__((noinline))
static jmp_buf place;
static volatile int sink;
ALONE void leaf(int i) { sink = i; }
ALONE void jumps(int depth) { if (depth == 0) longjmp(place, 1); jumps(depth - 1); leaf(depth); }
ALONE void throws(int depth) {
  if (depth == 0) throw std::runtime_error("x");
  throws(depth - 1);
  leaf(depth);
}
ALONE double mixed(int a, double b, int c, double d) { leaf(a); return a + b * c + d; }
int main() {
  double sum = 0;
  for (int i = 0; i < 100; ++i) sum += mixed(i, 0.5, 2, 1.25);
  for (int i = 0; i < 10; ++i) if (setjmp(place) == 0) jumps(3); else leaf(i);
  for (int i = 0; i < 10; ++i) try { throws(3); } catch (const std::exception&) { leaf(i); }
  return sum == 5175 ? 0 : 1;  // arguments and results survive the handlers
}
"""


@case
def sleds(work):
    """XRay's sleds, patched without its runtime: the option is given only when compiling."""
    clangs = [c for c in sled_compilers() if "-O2" in c.flags]
    if not clangs:
        jvms.skip("it needs clang on x86-64")
    failures = []
    for compiler in clangs:
        code = work.build("sleds.cc", compiler, "-c", *SLED_FLAGS, hooks=False, name="sleds.o",
                          text=SLEDS)
        program = work.path("sleds")
        child.run([compiler.cxx, code, "-o", program], check=True)
        profile, _ = work.record([program])
        report = work.report(profile, "--threads", "separate")
        wanted = {"mixed(int, double, int, double)": 100, "jumps(int)": 40, "throws(int)": 40,
                  "leaf(int)": 120, "main": 1}
        for name, count in wanted.items():
            found = sum(node["calls"] for thread in report["threads"] for node in thread["nodes"]
                        if node["name"] == f"sleds.{name}")
            if found != count:
                failures.append(f"{compiler}: {name} was called {count} times, not {found}")
        failures += reports.check(report, str(compiler))
        # Its functions may run before the library's own constructors.
        done = child.run([program], env={**os.environ, "LD_PRELOAD": work.agent,
                                         "JPROF_HOOKS": "CALLTREE,OUT=/nowhere/at/all"})
        if "runs without" not in done.stderr:
            failures.append(f"{compiler}: without a message: {done}")
    return failures


@case
def sled_matrix(work):
    """Sleds of each clang and level of optimisation keep registers and flags, and calls are exact.
    All objects are in one program, so that it runs and is recorded once."""
    clangs = [c for c in (f"clang-{version}" for version in range(14, 25)) if shutil.which(c)]
    if not clangs or platform.machine() != "x86_64":
        raise Skip("it needs clang-14 or later on x86-64")
    objects, variants = [], []
    for clang in clangs:
        for level in ("O0", "O1", "O2", "O3", "Os", "Oz"):
            variants.append(f"{clang.replace('-', '')}_{level}")
            objects.append(work.build("sled_matrix.c", Compiler(clang, "", (f"-{level}",)), "-c",
                                      "-w", f"-DVARIANT={variants[-1]}", *SLED_FLAGS, hooks=False,
                                      name=f"{variants[-1]}.o", module="sled_matrix"))
    listed = " ".join(f"X({variant})" for variant in variants)
    program = work.build("sled_matrix.c", Compiler(clangs[0], "", ()), f"-DVARIANTS={listed}",
                         *objects, hooks=False)
    plain, failures = child.run([program], check=True), []
    for mode in ("calltree", "callflow"):
        profile, done = work.record([program], mode=mode)
        failures += work.check(profile, done.stdout, mode, JUMPS)
        if "clang-14" in clangs and "sleds before conditional" not in raw_profile.RawProfile(
                profile).meta["probe"]["note"]:
            failures.append("the profile does not tell how many sleds were left")
        for line, other in zip(plain.stdout.splitlines(), done.stdout.splitlines(), strict=True):
            if line != other:
                failures.append(f"{mode}: it printed {other}, not {line}")
    return failures


@case
def sleds_that_come_late(work):
    """The recording of a program without hooks begins when it loads a library with sleds."""
    clangs = sled_compilers()
    if not clangs:
        raise Skip("it needs clang on x86-64")
    text = """__attribute__((noinline)) int Inner(int n) { __asm__(""); return n + 1; }
              volatile int result;
              __attribute__((constructor)) void Begins(void) { result = Inner(1); }
              void Function(int n) { while (n-- > 0) result += Inner(n); }"""
    code = work.build("part.c", clangs[0], "-c", "-fPIC", *SLED_FLAGS, hooks=False, name="part.o",
                      text=text)
    libraries = [work.path("one"), work.path("two")]
    for library in libraries:
        child.run([clangs[0].c, "-shared", code, "-o", library], check=True)
    program = work.build("loads.c", None, "-ldl", hooks=False)
    profile, _ = work.record([program, *libraries], "--hooks=yes")
    calls, failures = work.calls(profile), []
    for name, count in (("Begins", 3), ("Function", 3), ("Inner", 18)):
        for module in ("one", "two"):
            if calls.by_method[f"{module}.{name}"] != count:
                failures.append(f"{module}.{name}: {calls.by_method}, not {count}")
    return failures


@case
def sleds_that_cannot_be_patched(work):
    """A library whose code the system does not let anybody change is named as a loss."""
    clangs = sled_compilers()
    if not clangs:
        raise Skip("it needs clang on x86-64")
    library = work.path("library.so")
    code = work.build("library.c", clangs[0], "-c", "-fPIC", *SLED_FLAGS, hooks=False,
                      name="library.o", text="int Function(int n) { __asm__(\"\"); return n + 1; }")
    child.run([clangs[0].c, "-shared", code, "-o", library], check=True)
    refuse_new_code, no_new_code = 1, 75
    program = work.build("refuses.c", clangs[0], "-ldl", *SLED_FLAGS, hooks=False, text=f"""
        #include <dlfcn.h>
        #include <sys/prctl.h>
        __attribute__((noinline)) int Own(int n) {{ __asm__(""); return n + 1; }}
        int main(int argc, char** argv) {{
          if (prctl(65 /* PR_SET_MDWE */, {refuse_new_code}, 0, 0, 0) != 0) return {no_new_code};
          dlclose(dlopen(argv[1], RTLD_NOW));
          int (*function)(int) = (int (*)(int))dlsym(dlopen(argv[1], RTLD_NOW), "Function");
          return Own(function(1)) == 3 ? 0 : 1;
        }}""")
    if child.run([program, library]).returncode == no_new_code:
        raise Skip("the kernel cannot refuse new code")
    first = work.build("first.c", None, hooks=False, text=f"""
        #include <sys/prctl.h>
        #include <unistd.h>
        int main(int argc, char** argv) {{
          if (prctl(65 /* PR_SET_MDWE */, {refuse_new_code}, 0, 0, 0) != 0) return 1;
          execv(argv[1], argv + 1);
          return 1;
        }}""")
    failures = []
    for command, refused in (([program, library], [library]),
                             ([first, program, library], [program, library])):
        profile, done = work.record(command, "--hooks=yes")
        losses, info = work.report(profile)["losses"], child.run([work.jprof, "info", profile]).stdout
        own = work.calls(profile).by_method["refuses.Own"]
        if own != (program not in refused):
            failures.append(f"Own was recorded {own} times")
        if losses["unpatched_modules"] != len(refused):
            failures.append(f"losses: {losses}")
        for module in refused:
            if module not in info or done.stderr.count(f"functions of {module} are not") != 1:
                failures.append(f"{module}: {info} {done.stderr}")
    return failures


@case
def little_stack(work):
    """The first call of a function may be in a handler that has the least stack for signals."""
    text = """
        #include <signal.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/mman.h>
        enum { kStack = 8192, kBelow = 32768 };
        __attribute__((noinline)) void First(void) { __asm__(""); }
        static void Handle(int number) { First(); }
        int main(void) {
          char* space = mmap(NULL, kBelow + kStack, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
          memset(space, 0x5a, kBelow);
          stack_t stack = {.ss_sp = space + kBelow, .ss_size = kStack};
          struct sigaction action = {.sa_handler = Handle, .sa_flags = SA_ONSTACK};
          if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0) return 1;
          raise(SIGUSR1);
          int changed = 0;
          for (int i = 0; i < kBelow; ++i) changed += space[i] != 0x5a;
          printf("%d\\n", changed);
          return 0;
        }"""
    failures = []
    for compiler in compilers():
        program = work.build("stack.c", compiler, name=f"stack-{compiler.c}", text=text)
        for mode in ("calltree", "callflow", "trace"):
            profile, done = work.record([program], mode=mode)
            if done.stdout != "0\n":
                failures.append(f"{compiler.c} {mode}: {done.stdout.strip()} bytes below the stack")
            if mode != "trace" and sum(work.calls(profile).by_method.values()) != 3:
                failures.append(f"{compiler.c} {mode}: {work.calls(profile).by_method}")
    return failures


@case
def the_clock_is_forbidden(work):
    """A program that forbids itself to read the clock, or files to grow, goes on unrecorded."""
    failures = []
    for name, call in (("strict", "PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0"),
                       ("tsc", "PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0")):
        program = work.build(f"{name}.c", None, text=f"""
            #include <linux/seccomp.h>
            #include <sys/prctl.h>
            #include <sys/syscall.h>
            #include <unistd.h>
            __attribute__((noinline)) void Work(void) {{ __asm__ volatile(""); }}
            __attribute__((no_instrument_function)) int main(int count, char** arguments) {{
              for (int i = 0; i < (count > 1 ? 0 : 7); ++i) Work();
              if (prctl({call}) != 0) return 1;
              for (int i = 0; i < 9; ++i) Work();
              syscall(SYS_exit, 0);
            }}""")
        for mode in ("calltree", "callflow", "trace"):
            profile, done = work.record([program], mode=mode)
            if "the recording ends here" not in done.stderr:
                failures.append(f"{name}, {mode}: {done.stderr}")
            if mode != "trace" and work.calls(profile).by_method[f"{name}.Work"] != 7:
                failures.append(f"{name}, {mode}: {work.calls(profile).by_method}")
        _, done = work.record([program, "at once"], mode="callflow", status=2)
        if "the recording ends here" not in done.stderr:
            failures.append(f"{name}, at once: {done.stderr}")
    return failures


@case
def sanitizers(work):
    """A program with a sanitizer, shared or static, behaves as without jprof and is recorded."""
    failures, tried = [], 0
    for compiler in (c for c in compilers() if "-O0" in c.flags):
        for name in ("address", "thread", "undefined", "leak"):
            try:
                program = work.build("processes.c", compiler, f"-fsanitize={name}")
            except reports.ReportFailed:
                continue  # not installed
            if child.run([program, "none"]).returncode != 0:
                continue  # it does not run here
            tried += 1
            profile, done = work.record([program, "none"])
            if work.calls(profile).by_method["processes.Work"] != 10 or "==" in done.stderr:
                failures.append(f"{compiler} {name}: {work.calls(profile).by_method}, "
                                f"{done.stderr}")
    if tried == 0:
        raise Skip("no program with a sanitizer can be built and run here")
    return failures


@case
def a_static_program(work):
    """It cannot be recorded: one line states why."""
    program = work.build("processes.c", None, "-static")
    _, done = work.record([program, "none"], status=2)
    return [] if "linked statically" in done.stderr else [done.stderr]


@case
def places(work):
    """A relative path, another working directory, a preloaded library, a script, a stripped file."""
    program, failures = work.build("processes.c"), []

    def check(what, command, *options, names="processes.Work", calls=10, **more):
        place, done = work.record(command, *options, **more)
        found = work.calls(profiles_at(place)[0]).by_method
        if found[names] != calls:
            failures.append(f"{what}: {found}")
        return done

    check("relative", ["./processes", "chdir"], cwd=work.folder)
    preloaded = child.run(["sh", "-c", "ls /lib/*/libm.so.6"]).stdout.split()
    if preloaded:
        check("preloaded", [program, "none"], env={**os.environ, "LD_PRELOAD": preloaded[0]})
    check("script", ["sh", "-c", f"true; {program} none; true"], "--hooks=yes")
    place, done = work.record(["sh", "-c", f"{program} none; true"], "--hooks=no", status=2)
    if "no profile" not in done.stderr:
        failures.append(f"--hooks=no: {done.stderr}")
    child.run(["strip", program], check=True)
    place, _ = work.record([program, "none"])
    if max(work.calls(place).by_method.values()) != 10:
        failures.append(f"stripped: {work.calls(place).by_method}")
    return failures


@case
def options(work):
    """Options of the recording commands on a program of C."""
    program, failures = work.build("calls.c"), []
    plain, done = work.record([program])
    total = sum(work.calls(plain).by_method.values())
    for more in (("--fold-recursion",), ("--tree-memory=1M",), ("--threads=main",)):
        profile, _ = work.record([program], *more)
        calls = sum(work.calls(profile).by_method.values())
        if calls != total:
            failures.append(f"{more}: {calls} calls, not {total}")
    profile, _ = work.record([program], "--threads=nobody", status=2)
    trace, _ = work.record([program], mode="trace")
    events, _ = reports.stream_log_gen(work.jprof, trace)
    if events != 2 * total:
        failures.append(f"trace: {events} events of {total} calls")
    flow, _ = work.record([program], mode="callflow")
    raw = raw_profile.RawProfile(flow)
    cpu = sum(t["cpu_ns_end"] - t["cpu_ns_start"] for t in raw.threads)
    own = sum(t["own_ticks"] for t in raw.threads) * raw.meta["metrics"][0]["scale"]
    if not 0.5 < (raw.time() + own) / cpu < 1.5:
        failures.append(f"callflow: {raw.time()} ns and own {own} ns of {cpu} ns CPU time")
    return failures


@case
def linked(work):
    """Linked with -ljprof_hook: records only if it is asked to, and wrong options do not stop it."""
    where = work.folder_of_libraries()
    program = work.build("processes.c", None, f"-L{where}", f"-Wl,-rpath,{where}", "-ljprof_hook")
    failures = []

    def run(**more):
        return child.run([program, "none"], cwd=work.folder,
                         env={**os.environ, **more})

    before = set(os.listdir(work.folder))
    done = run()
    if done.returncode or done.stderr or set(os.listdir(work.folder)) != before:
        failures.append(f"without options: {done}")
    for wrong in ("NONSENSE=1", "SCS", "OUT=/nowhere/at/all"):
        done = run(JPROF_HOOKS=wrong)
        if done.returncode or done.stderr.count("\n") != 1 or "runs without" not in done.stderr:
            failures.append(f"{wrong}: {done}")
    done = run(JPROF_HOOKS=f"CALLTREE,OUT={work.path('own')}")
    if done.returncode or work_calls(work, work.path("own")) != [10]:
        failures.append(f"with options: {done}")
    return failures


def locks_of(work, hooks, *arguments):
    """What locks.cc prints and the report of its locks, by name without the module."""
    program = work.build("locks.cc", hooks=hooks)
    profile, done = work.record([program, *arguments], mode="locks")
    report = json.loads(reports.run_report(work.jprof, "log-jlm", profile, "--format", "json",
                                           "--contexts"))
    for row in report["locks"]:
        row["lock"] = row["lock"].removeprefix("locks.")
    return done.stdout, report


def wrong_locks(output, report):
    """Compares what the program prints with the report; -1 as `slow` is any number."""
    rows = {row["lock"]: row for row in report["locks"] if row["kind"] == "lock"}
    for line in output.splitlines():
        name, *numbers, kind = line.split(" ", 6)
        gets, nonrec, slow, least, most = map(int, numbers)
        row = rows.get(f"{name} ({kind})")
        if row is None:
            yield f"{name} ({kind}): not in the report: {sorted(rows)}"
            continue
        found = tuple(row[key] for key in ("gets", "nonrec", "rec", "slow"))
        slow = slow if slow >= 0 else row["slow"]
        if found != (gets, nonrec, gets - nonrec, slow):
            yield f"{name}: {found}, not {(gets, nonrec, gets - nonrec, slow)}"
        if most and not least <= row["hold_ns"] <= most:
            yield f"{name}: held {row['hold_ns']} ns, not {least} to {most}"


def wrong_lock_contexts(report):
    """Who waits for whom, and the inversion with a lock that has no name."""
    waits = [row for row in report["locks"]
             if row["kind"] == "wait" and row["lock"] == "wanted_mutex (mutex)"]
    if [("WaitsForIt" in row["context"], "HasIt" in row["owner"]) for row in waits] != [(True, True)]:
        yield f"waits: {waits}"
    handed = [row["owner"] for row in report["locks"]
              if row["kind"] == "wait" and "WaitsForHanded" in row["context"]]
    if not (len(handed) == 1 and "Handed" in handed[0]):
        yield f"who has the mutex behind pthread_cond_wait: {handed}"
    functions = ("LeftThenRight", "RightThenLeft", "BehindTried", "BackAgain")
    orders = [{name for name in functions for order in cycle["orders"]
               if all(name in order[side]["context"] for side in ("has", "asks_for"))}
              for cycle in report["cycles"] if cycle["same_objects"]]
    if sorted(map(sorted, orders)) != [sorted(functions[2:]), sorted(functions[:2])]:
        yield f"the inversions are not the only cycles: {orders}"
    contexts = [(row["lock"], row["context"]) for row in report["locks"]
                if row["kind"] == "context"]
    if len(contexts) != len(set(contexts)):
        yield f"a context has several rows: {contexts}"


@case
def locks(work):
    return [failure for hooks in (False, True) for output, report in [locks_of(work, hooks)]
            for failure in (*wrong_locks(output, report), *wrong_lock_contexts(report))]


@case
def locks_and_forks(work):
    output, report = locks_of(work, False, "forks")
    return list(wrong_locks(output, report))


def main():
    parser = case.parser(__doc__)
    for name in ("jprof", "agent", "programs"):
        parser.add_argument("--" + name, required=True, type=os.path.abspath)
    args = parser.parse_args()
    status = 0
    for name, function in case.chosen(args):
        with tempfile.TemporaryDirectory(prefix="jprof-hooks-") as folder:
            try:
                failures = function(Workplace(args, folder))
            except Skip as why:
                print(f"skip {name}: {why}")
                status = status or jvms.SKIPPED
                continue
            except ERRORS as error:
                failures = [f"{type(error).__name__}: {str(error)[:900]}"]
        print("FAIL" if failures else "ok  ", name, flush=True)
        for failure in failures[:20]:
            print("       " + failure)
        status = 1 if failures else status
    return status


if __name__ == "__main__":
    sys.exit(main())
