#!/usr/bin/env python3
"""Compares what jprof reports of C and C++ programs with what is true.

  code          how far each way of instrumenting changes the code: instructions of each function
                under callgrind, without those that belong to the instrumentation, against the
                uninstrumented build of the same compiler. Needs no jprof.
  itrace        `jprof itrace` and `jprof report arc` of the uninstrumented program against callgrind's
                self cost of it. Goal: as for instructions.
  instructions  jprof's calibrated instructions of each function (callflow --metrics instructions)
                against callgrind's of the uninstrumented build. A function's are its own and
                those of the C and C++ libraries that it calls: libraries have no hooks. Both use
                the same variants of the C library's functions, without instructions that repeat
                (callgrind counts each repetition); no function is left by a jump to another,
                because a library's would be its caller's in the profile. Goal: within 1 % for
                each function of 1 % of the program or more, the same ranking of the 20 largest.
  time          a program of which one function takes 91 % by the program's own clock and five
                million calls of a tiny one 9 %: jprof's calibrated shares (goal: within 5 points)
                and, beside them, uftrace's.

The programs: lua, cmark (C) and jsoncpp (C++), from source packages of Debian.

Usage: hook_accuracy.py [--build DIR] [--only code,itrace,instructions,time] [--programs lua,...]
                        [--compilers gcc,clang-14,clang-19] [--rounds N] [--json FILE]
Requires valgrind for code and instructions, and `jprof calibrate --hooks` for the others. Exit
status: 0; 1 if jprof misses a goal.
"""
import collections
import dataclasses
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import callgrind_file  # noqa: E402
import hook_programs  # noqa: E402
import measure  # noqa: E402

SHARE, GOAL, LARGEST = 0.01, 1.0, 20    # of the total; percent; functions
SPLIT, POINTS = 91.0, 5.0
TINY_CALLS = 5_000_000
# The C library's functions that every x86-64 processor has, valgrind's included.
OLD_PROCESSOR = {**os.environ, "GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join(
    "-" + name for name in "AVX AVX2 AVX512F AVX512VL AVX512BW AVX512CD AVX_Fast_Unaligned_Load "
    "ERMS FSRM RTM BMI2 SSE4_2 SSSE3".split())}
# gcc's own copies and fills repeat instructions otherwise.
NO_REPEAT = ["-mmemcpy-strategy=libcall:-1:noalign", "-mmemset-strategy=libcall:-1:noalign"]
OUTERMOST = "(below main)"    # what callgrind calls the C library's call of main
NO_TAIL_CALLS = ["-fno-optimize-sibling-calls"]
SLEDS = ["-fxray-instrument", "-fxray-instruction-threshold=1"]

# (name, compilers, flags): a baseline is the variant without a name of the same compiler and
# inlining.
VARIANTS = [
    ("-finstrument-functions", "gcc clang", ["-finstrument-functions"]),
    ("-finstrument-functions -fno-inline", "gcc clang", ["-finstrument-functions", "-fno-inline"]),
    ("-finstrument-functions-after-inlining", "clang",
     ["-finstrument-functions-after-inlining"]),
    ("trace-pc", "gcc", ["-fsanitize-coverage=trace-pc"]),
    ("trace-pc-guard,no-prune", "clang", ["-fsanitize-coverage=trace-pc-guard,no-prune"]),
    ("inline-8bit-counters,no-prune", "clang",
     ["-fsanitize-coverage=inline-8bit-counters,no-prune"]),
    ("-fxray-instrument", "clang", SLEDS),
]

# What the instrumented programs call, where no library has it. It is not part of the program.
STUBS = """
void __sanitizer_cov_trace_pc_guard(unsigned* guard) { (void)guard; }
void __sanitizer_cov_trace_pc_guard_init(unsigned* begin, unsigned* end) { (void)begin, (void)end; }
void __sanitizer_cov_8bit_counters_init(char* begin, char* end) { (void)begin, (void)end; }
void __sanitizer_cov_trace_pc(void) {}
"""

SPLIT_PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define PLAIN __attribute__((no_instrument_function))
static volatile unsigned long sink;
__attribute__((noinline)) void tiny(unsigned long n) { sink = n; }
__attribute__((noinline)) void many(long calls) {
  for (long i = 0; i < calls; ++i) tiny(i);
}
__attribute__((noinline)) void big(long amount) {
  unsigned long sum = sink;
  for (long i = 0; i < amount; ++i) {
    sum = sum * 6364136223846793005UL + 1442695040888963407UL;
    if (sum >> 60 == 3) sum ^= sum >> 7;
  }
  sink = sum;
}
PLAIN static long Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}
int main(int count, char** words) {
  const long calls = atol(words[1]), amount = atol(words[2]);
  long tiny_ns = 0, big_ns = 0;
  for (int part = 0; part < 50; ++part) {
    const long begin = Now();
    many(calls / 50);
    const long middle = Now();
    big(amount / 50);
    tiny_ns += middle - begin;
    big_ns += Now() - middle;
  }
  printf("tiny %ld big %ld\\n", tiny_ns, big_ns);
  return count > 9;
}
"""


@dataclasses.dataclass
class Comparison:
    judged: int          # functions of SHARE of the total or more
    within: int          # of these, within GOAL percent
    missing: list        # of these, absent from what was found
    median: float        # of the absolute errors, percent
    worst: float         # the largest error, with its sign
    worst_name: str
    same: int            # places of the largest that have the same function
    same_ranking: bool   # each pair of the largest that differs by more than GOAL is in its order


def compare(truth, found):
    """Compares two {function: instructions}."""
    total = sum(truth.values())
    judged = [name for name in truth if truth[name] >= SHARE * total]
    errors = {name: (found[name] - truth[name]) / truth[name] * 100
              for name in judged if name in found}
    worst = max(errors, key=lambda name: abs(errors[name]), default="")
    ranked = lambda values: sorted(values, key=lambda name: (-values[name], name))[:LARGEST]
    best = ranked(truth)
    ordered = all(
        found.get(high, 0) >= found.get(low, 0) for place, high in enumerate(best)
        for low in best[place + 1:] if truth[high] > truth[low] * (1 + GOAL / 100))
    return Comparison(
        len(judged), sum(abs(error) <= GOAL for error in errors.values()),
        sorted(name for name in judged if name not in found),
        statistics.median(map(abs, errors.values())) if errors else float("nan"),
        errors.get(worst, float("nan")), worst,
        sum(a == b for a, b in zip(best, ranked(found))), ordered)


# --- code: which instructions belong to the instrumentation ---

INSTRUCTION = re.compile(r"\s+([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t(.*)$")


def disassembly(path):
    """[(address, bytes, text)] of a program."""
    text = subprocess.run(["objdump", "-d", path], capture_output=True, text=True,
                          check=True).stdout
    return [(int(found[1], 16), found[2].strip(), found[3])
            for found in map(INSTRUCTION.match, text.splitlines()) if found]


def counters_of(path):
    """The addresses between which SanCov's counters are."""
    text = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    symbols = {words[2]: int(words[0], 16) for words in map(str.split, text.splitlines())
               if len(words) == 3}
    return range(symbols.get("__start___sancov_cntrs", 0), symbols.get("__stop___sancov_cntrs", 0))


def setters(code, place, registers):
    """Addresses of the nearest instructions before a call that set these argument registers."""
    found, open_ones = [], set(registers)
    for address, _, text in reversed(code[max(0, place - 8):place]):
        text = text.split("#")[0].strip()
        if text.startswith(("call", "ret", "j")) or not open_ones:
            break
        sets = re.search(r"[, ]%[re](di|si)$", text)
        if sets and sets[1] in open_ones and text.split()[0] in ("mov", "lea", "xor"):
            open_ones.remove(sets[1])
            found.append(address)
    return found


def instrumentation(path):
    """Addresses of the instructions that a program has only because it is instrumented."""
    code, counters = disassembly(path), counters_of(path)
    found = set()
    for place, (address, bytes_, text) in enumerate(code):
        following = [text for _, _, text in code[place + 1:place + 3]]
        counter = re.search(r"# ([0-9a-f]+)", text)
        if re.search(r"<__cyg_profile_func_\w+", text):
            # A jump to the hook is in place of the function's return.
            found.update(setters(code, place, ("di", "si")))
            found.update([address] if text.startswith("call") else [])
        elif re.match(r"call +\w+ <__sanitizer_cov_trace_pc", text):
            found.update([address, *setters(code, place, ("di",) if "guard" in text else ())])
        elif text.startswith(("addb   $0x1,", "incb")) and counter and int(
                counter[1], 16) in counters:
            found.add(address)
        elif bytes_ == "eb 09" and following and "nopw   0x200(" in following[0]:
            found.add(address)    # a sled that is not patched
        elif text == "nop" and len(following) == 2 and following[0].startswith("ret") and (
                "nopw 0x200(" in following[1]):
            found.add(address)    # aligns a sled
    return found


class Callgrind:
    """Costs of programs, each measured once."""

    def __init__(self):
        if not shutil.which("valgrind"):
            measure.jvms.skip("valgrind is not installed: apt-get install valgrind")

    def costs(self, built, addresses=False):
        out = os.path.join(os.path.dirname(built.path), "callgrind")
        subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", f"--dump-instr={'yes' if addresses else 'no'}",
             f"--callgrind-out-file={out}", *built.command], check=True, env=OLD_PROCESSOR,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return callgrind_file.read(out)


def own(costs, program):
    return {name: function.instructions for name, function in costs.of(program).items()
            if name != OUTERMOST}


def without_instrumentation(built, costs, program):
    marked, result = instrumentation(built.path), collections.Counter(own(costs, program))
    for (file, name, address), count in costs.addresses.items():
        if file == program and address in marked:
            result[name] -= count
    return dict(result)


class Programs:
    def __init__(self, work, names, scale):
        self.work, self.callgrind = work, Callgrind()
        self.all = [p for p in hook_programs.programs(scale) if p.name in names]
        self.stubs = os.path.join(work, "libstubs.so")
        hook_programs.write(self.stubs + ".c", STUBS)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", self.stubs + ".c", "-o", self.stubs],
                       check=True)

    def build(self, program, compiler, flags):
        libraries = [self.stubs, f"-Wl,-rpath,{self.work}"] if any(
            "coverage" in flag for flag in flags) else []
        return hook_programs.build(program, self.work, compiler, flags, libraries)


def code(programs, compilers):
    """Prints how far each variant changes the code."""
    result = []
    print("code: instructions of functions, without those of the instrumentation, against the "
          "same compiler's\nuninstrumented build; functions of 1 % or more")
    print(f"{'program':9}{'compiler':10}{'variant':39}{'within 1 %':>11}{'median':>8}{'worst':>9}"
          f"{'same place':>12}")
    for program in programs.all:
        for compiler in compilers:
            truths = {}
            for name, families, flags in VARIANTS:
                if not any(compiler.startswith(family) for family in families.split()):
                    continue
                plain = tuple(flag for flag in flags if flag == "-fno-inline")
                try:
                    if plain not in truths:
                        built = programs.build(program, compiler, list(plain))
                        truths[plain] = own(programs.callgrind.costs(built), program.name)
                    built = programs.build(program, compiler, flags)
                    costs = programs.callgrind.costs(built, addresses=True)
                except subprocess.CalledProcessError as error:
                    failed = "link" if "-o" in error.cmd and "-c" not in error.cmd else "run"
                    print(f"{program.name:9}{compiler:10}{name:39} does not {failed}")
                    continue
                found = compare(truths[plain],
                                without_instrumentation(built, costs, program.name))
                print(f"{program.name:9}{compiler:10}{name:39}"
                      f"{f'{found.within} of {found.judged}':>11}{found.median:>7.1f}%"
                      f"{found.worst:>+8.1f}%{f'{found.same} of {LARGEST}':>12}", flush=True)
                result.append({"program": program.name, "compiler": compiler, "variant": name,
                               **dataclasses.asdict(found)})
    return result


# --- instructions and time: what jprof reports ---


class Jprof:
    def __init__(self, build, work):
        self.tool, self.out = os.path.join(build, "bin", "jprof"), os.path.join(work, "r.jprof")
        if not os.path.exists(self.tool):
            measure.jvms.skip(f"no jprof in {build}: scripts/build")

    def methods(self, command, *words):
        """What `jprof report methods` has of a run, or the message of a run that failed."""
        shutil.rmtree(self.out, ignore_errors=True)
        done = subprocess.run([self.tool, "callflow", *words, "-o", self.out, "--", *command],
                              capture_output=True, text=True, check=False,
                              env=OLD_PROCESSOR)
        if done.returncode != 0 or not os.path.exists(self.out):
            return None, (done.stderr.strip().splitlines() or ["no message"])[-1]
        text = subprocess.run([self.tool, "report", "methods", self.out, "--format", "json"],
                              capture_output=True, text=True, check=True).stdout
        return json.loads(text), done.stdout


    def traced_functions(self, command):
        """The functions of `jprof report arc`."""
        out = os.path.join(os.path.dirname(self.out), "r.itrace")
        shutil.rmtree(out, ignore_errors=True)
        subprocess.run([self.tool, "itrace", "-o", out, "--", *command], capture_output=True,
                       check=True, env=OLD_PROCESSOR)
        text = subprocess.run([self.tool, "report", "arc", out, "--format", "json"],
                              capture_output=True, text=True, check=True).stdout
        return json.loads(text)["functions"]


def plain_name(name, program):
    """jprof's name of a function as callgrind writes it."""
    name = name.removeprefix(program + ".")
    return re.sub(r"\s", "", name)


def instructions(programs, jprof, compilers, counters):
    """Prints jprof's instructions against callgrind's. Returns the goals missed."""
    missed = []
    for program in programs.all:
        for compiler in compilers:
            clang = compiler.startswith("clang")
            same = NO_TAIL_CALLS + ([] if clang else NO_REPEAT)
            flags = same + (SLEDS if clang else ["-finstrument-functions"])
            plain = programs.build(program, compiler, same)
            costs = programs.callgrind.costs(plain)
            truth = {plain_name(name, ""): f.instructions + f.outside
                     for name, f in costs.of(program.name).items() if name != OUTERMOST}
            report, message = jprof.methods(programs.build(program, compiler, flags).command,
                                            "--metrics", counters)
            if report is None:
                print(f"skipped: instructions of {program.name}: {message}")
                continue
            if not report["metrics"][0]["calibrated"]:
                print(f"instructions of {program.name}, {compiler}: NOT CALIBRATED: jprof "
                      f"calibrate --hooks --metrics {counters}")
            found = {plain_name(m["name"], program.name): m["base"][0] for m in report["methods"]}
            result = compare(truth, found)
            good = result.within == result.judged and result.same_ranking
            print(f"instructions: {program.name:9}{compiler:10}{result.within} of {result.judged} "
                  f"within {GOAL:.0f} %, median {result.median:.2f} %, worst {result.worst:+.1f} % "
                  f"({result.worst_name}), ranking {'same' if result.same_ranking else 'DIFFERENT'}"
                  f", {result.same} of {LARGEST} places the same: {'ok' if good else 'MISSED'}")
            if not good:
                missed.append(f"instructions of {program.name}, {compiler}")
    return missed


def traced(programs, jprof, compilers):
    """Prints what `jprof itrace` counts of the unchanged programs. Returns the goals missed."""
    missed = []
    for program in programs.all:
        for compiler in compilers:
            plain = programs.build(program, compiler, [])
            truth = own(programs.callgrind.costs(plain), program.name)
            functions = jprof.traced_functions(plain.command)
            found = collections.Counter()
            for function in functions:
                name = plain_name(function["function"], program.name)
                # callgrind counts each repetition of an instruction with a rep prefix
                found[name] += function["self"] + function["repeats"]
            truth = {plain_name(name, ""): count for name, count in truth.items()}
            found = {name: found[name] for name in truth}
            result = compare(truth, found)
            good = result.within == result.judged and result.same_ranking
            print(f"itrace: {program.name:9}{compiler:10}{result.within} of {result.judged} within "
                  f"{GOAL:.0f} %, median {result.median:.3f} %, worst {result.worst:+.3f} % "
                  f"({result.worst_name}), ranking {'same' if result.same_ranking else 'DIFFERENT'}"
                  f", {result.same} of {LARGEST} places the same: {'ok' if good else 'MISSED'}")
            if not good:
                missed.append(f"itrace of {program.name}, {compiler}")
    return missed


def seconds(text, unit):
    return float(text) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}[unit]


def uftrace_split(program, arguments, work):
    """The share of `big` in what uftrace reports as self time of big, many and tiny."""
    out = os.path.join(work, "uftrace.data")
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run(["uftrace", "record", "--no-libcall", "-d", out, program, *arguments],
                   check=True, stdout=subprocess.DEVNULL)
    text = subprocess.run(["uftrace", "report", "-d", out, "-f", "self"], check=True, text=True,
                          capture_output=True).stdout
    times = {name: seconds(amount, unit) for amount, unit, name in re.findall(
        r"^\s+([0-9.]+) (ns|us|ms|s|m)\s+(\w+)$", text, re.M)}
    return 100 * times["big"] / sum(times[name] for name in ("big", "many", "tiny"))


def tuned(program):
    """Arguments by which `big` takes 91 % of the program's own time."""
    split = lambda arguments: [int(n) for n in re.findall(r"\d+", subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=True).stdout)]
    amount = 50_000_000
    for _ in range(3):
        tiny, big = split([str(TINY_CALLS), str(amount)])
        amount = round(amount * tiny / big * SPLIT / (100 - SPLIT))
    return [str(TINY_CALLS), str(amount)], split


def time_split(jprof, work, compilers, rounds):
    """Prints the share of big. Returns the goals missed."""
    missed = []
    for compiler in compilers:
        path = os.path.join(work, f"split-{compiler}")
        hook_programs.write(path + ".c", SPLIT_PROGRAM)
        flags = SLEDS if compiler.startswith("clang") else ["-finstrument-functions"]
        for name, own_flags in ((path, []), (path + "-hooks", flags)):
            subprocess.run([compiler, "-O2", *own_flags, "-c", path + ".c", "-o", name + ".o"],
                           check=True)
            subprocess.run([compiler, name + ".o", "-o", name], check=True)
        arguments, split = tuned(path)
        truths, found, raw, peers, errors = [], [], [], [], []
        for _ in range(rounds):
            tiny, big = split(arguments)
            truths.append(100 * big / (tiny + big))
            report, message = jprof.methods([path + "-hooks", *arguments])
            if report is None:
                print(f"skipped: time: {message}")
                return missed
            if not report["metrics"][0]["calibrated"]:
                measure.jvms.skip("no calibration: jprof calibrate --hooks")
            of = {plain_name(m["name"], os.path.basename(path) + "-hooks"): m
                  for m in report["methods"]}
            share = lambda key: 100 * of["big"][key][0] / sum(
                of[name][key][0] for name in ("big", "many", "tiny"))
            found.append(share("base"))
            raw.append(share("raw"))
            errors.append(100 * sum(of[name]["error"][0] for name in ("many", "tiny")) / sum(
                of[name]["base"][0] for name in ("big", "many", "tiny")))
            if shutil.which("uftrace") and not compiler.startswith("clang"):
                peers.append(uftrace_split(path + "-hooks", arguments, work))
        truth, ours = statistics.median(truths), statistics.median(found)
        good = abs(ours - truth) <= POINTS
        peer = f", uftrace {statistics.median(peers):.1f} %" if peers else ""
        print(f"time: {compiler:10} big is {truth:.1f} % by the program's clock; jprof "
              f"{ours:.1f} % ({min(found):.1f} to {max(found):.1f}; ERROR of the rest "
              f"{statistics.median(errors):.1f} points), uncalibrated "
              f"{statistics.median(raw):.1f} %{peer}: {'ok' if good else 'MISSED'}", flush=True)
        if not good:
            missed.append(f"time, {compiler}")
    if not shutil.which("uftrace"):
        print("skipped: uftrace is not installed")
    return missed


def main():
    parser = measure.build_arguments(__doc__)
    parser.add_argument("--only", default="code,itrace,instructions,time")
    parser.add_argument("--programs", default="lua,cmark,jsoncpp")
    parser.add_argument("--compilers", default="gcc,clang-14,clang-19")
    parser.add_argument("--scale", type=float, default=0.3, help="the work of the programs")
    parser.add_argument("--metric", default="instructions",
                        help="jprof's metric to compare with callgrind's instructions")
    parser.add_argument("--rounds", type=int, default=5, help="of the time (5)")
    parser.add_argument("--json", metavar="FILE", help="write the figures of the code to FILE")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    parts = options.only.split(",")
    compilers = [c for c in options.compilers.split(",") if shutil.which(c)]
    for compiler in set(options.compilers.split(",")) - set(compilers):
        print(f"skipped: {compiler} is not installed")
    missed = []
    print("load average", *os.getloadavg())
    with measure.folder("hook-accuracy", 2, 4) as work:
        programs = Programs(work, options.programs.split(","), options.scale) if set(parts) & {
            "code", "itrace", "instructions"} else None
        if "code" in parts:
            figures = code(programs, compilers)
            if options.json:
                hook_programs.write(options.json, json.dumps(figures, indent=1) + "\n")
        if "time" in parts:
            missed += time_split(Jprof(options.build, work), work, compilers, options.rounds)
        if "itrace" in parts:
            missed += traced(programs, Jprof(options.build, work), compilers)
        if "instructions" in parts:
            missed += instructions(programs, Jprof(options.build, work), compilers,
                                   options.metric)
    if missed:
        sys.exit("missed: " + "; ".join(missed))


if __name__ == "__main__":
    main()
