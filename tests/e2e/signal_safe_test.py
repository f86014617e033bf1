#!/usr/bin/env python3
"""Follows the agent's machine code from the signal handler and from the probes, and checks all code
that they can reach.

Usage: signal_safe_test.py LIBJPROF.SO [OBJDUMP] [READELF]

A signal can arrive inside malloc, inside the dynamic linker, or before the thread's local storage
exists; a probe runs in Java state. Therefore neither may reach malloc or operator new, throw, lock
a mutex, or allocate a thread-local variable (__tls_get_addr); and no function may be bound at its
first call: the library is linked with -z now. The lists below contain the permitted functions of
other libraries; all others are an error. The test follows calls and jumps by address. If a function
calls through a pointer, INDIRECT lists what it can reach, which is also followed.
"""
import bisect
import re
import shutil
import subprocess
import sys
import tempfile

# Functions that only compute, and system calls: safe wherever they are called.
PURE = """memcpy memmove memset memcmp memchr strlen strcmp strncmp strncpy strstr llround
__errno_location"""
CALLS = """mmap munmap madvise posix_fallocate posix_fallocate64 fallocate fallocate64 ioctl read
write pread pread64 close syscall sched_yield clock_gettime nanosleep process_vm_readv sigfillset
pthread_sigmask open fcntl fstat getrlimit sigemptyset sigaddset sigpending sigismember
sigtimedwait"""
# Of a thread that attaches in a probe: PR_GET_NAME, constants, and a slot of the thread's own.
ATTACH = "prctl sysconf getpid pthread_setspecific"
# Of a function of C or C++: its module, without a lock. dl_iterate_phdr, which takes one, is called
# only before glibc 2.35.
MODULE = "_dl_find_object dl_iterate_phdr readlink getcwd getauxval"
SAFE = set(f"{PURE} {CALLS} {ATTACH} {MODULE}".split())
FORBIDDEN = re.compile(r"^(operator (new|delete)|__cxa_throw|std::__throw_|__tls_get_addr|"
                       r"(malloc|calloc|realloc|free)$)")

# Nothing that is reached throws (no function that throws is on the lists), so the landing pads that
# call this are never entered.
NOT_FOLLOWED = {"_Unwind_Resume"}

# Calls through a pointer: in which function, and what may be there.
FILTER = r"^std::_Function_handler<bool .*"
INDIRECT = [
    # engine::MethodSource: the VM's methods, native functions, texts that are known already.
    (r"^jprof::engine::MethodTable::Find\(", r"^jprof::hookit::FunctionSource::Describe\("),
    (r"^jprof::engine::MethodTable::Find\(",
     r"^jprof::(hotspot::Vm|agent::\(anonymous namespace\)::(NativeFunctions|Known))::Describe\("),
    (r"^jprof::engine::MethodCache::Resolve\(", r"^jprof::hotspot::Vm::Classify\("),
    (r"^jprof::engine::Timelines::Switch\(|^jprof::agent::VirtualRows::TimelineFor\(",
     r"^jprof::hotspot::Vm::VirtualThreadId\("),
    # What an event of a sled leaves the fast path for.
    (r"^jprof_with_vectors_kept$", r"::Handle(Cold|Timed)<.*jprof::engine::SledFrames"),
    # SafeFetchN, the VM's own load that may fault: not in this library.
    (r"^jprof::hotspot::MemoryReader::Word\(", None),
    (r"^jprof::hotspot::WalkState::EmitAt\(", r"^jprof::agent::ThreadNames::RefOf\("),
    # MemorySource: the product has none.
    (r"^jprof::hotspot::MemoryReader::(ReadSource|SourceBytes|SourceText|NextInSource|"
     r"IsSourceCode)\(", None),
    # The filters of methods and of threads.
    (r"^jprof::engine::NameAtFirstEvent\(", r"RecordedThreads::EarlyNames\(.*::_M_invoke\("),
    (r"^jprof::engine::MethodTable::Find\(", FILTER + r"MethodFilter\(.*::_M_invoke\("),
    (r"^jprof::engine::SelectedMethods::Add\(",
     r"^std::_Function_handler<unsigned long .*WatchOf\(.*::_M_invoke\("),
    (r"^jprof::engine::NameThread\(", FILTER + r"MakePlan\(.*::_M_invoke\("),
]

START = {
    "the signal handler": r"^jprof::agent::SampleSignals::OnSignal\(",
    "the end of frames": r"^jprof::engine::HealFunctions\(",
    "the probes and hooks": r"::On(Entry|Exit)<jprof::engine::|::Handle(Cold|Timed)<",
}

INSTRUCTION = re.compile(r"^\s*[0-9a-f]+:\s+(?:bnd |notrack )?"
                         r"(call|j\w+|blr?|br|b\.\w+|b|cbn?z|tbn?z)\s+(.*)$")


class Code:
    """Of each function, by address: its name, where it calls or jumps to, its calls by pointers."""

    def __init__(self, disassembly):
        self.name, self.targets, self.pointers = {}, {}, {}
        here = None
        for line in disassembly.splitlines():
            header = re.match(r"^([0-9a-f]+) <(.*)>:$", line)
            if header:
                here = int(header[1], 16)
                self.name[here] = header[2]
                self.targets[here], self.pointers[here] = set(), []
                continue
            instruction = INSTRUCTION.match(line)
            if not instruction or here is None:
                continue
            operation, operand = instruction.groups()
            target = re.search(r"(?:^|, )([0-9a-f]+) <", operand)
            if operand.startswith("*") or operation in ("blr", "br"):
                # A jump through a register is taken for a switch's table.
                if operation in ("call", "blr") or "rip" in operand:
                    self.pointers[here].append(line.strip())
            elif target:
                self.targets[here].add(int(target[1], 16))
        self.starts = sorted(self.name)

    def owner(self, address):
        return self.starts[bisect.bisect_right(self.starts, address) - 1]

    def matching(self, pattern):
        return [address for address, name in self.name.items() if re.search(pattern, name)]


def walk(code, roots):
    """What is wrong: one line each, with the way there."""
    wrong, came_from, todo = [], {root: None for root in roots}, list(roots)

    def way(address):
        names = []
        while address is not None:
            names.append(code.name[address].split("(")[0])
            address = came_from[address]
        return " <- ".join(names[:6])

    def visit(target, here):
        if target not in came_from:
            came_from[target] = here
            todo.append(target)

    while todo:
        here = todo.pop()
        name = code.name[here]
        outside = re.match(r"^([\w.]+)(@[\w.]+)*@plt$", name)
        if outside:
            if outside[1] not in SAFE:
                wrong.append(f"reaches {outside[1]}: {way(here)}")
            continue
        if FORBIDDEN.match(name):
            wrong.append(f"reaches {name.split('(')[0]}: {way(here)}")
            continue
        for target in sorted(code.targets[here]):
            target = code.owner(target)
            if code.name[target] not in NOT_FOLLOWED:
                visit(target, here)
        if not code.pointers[here]:
            continue
        known = [reached for where, reached in INDIRECT if re.search(where, name)]
        if not known:
            wrong.append(f"calls through a pointer: {code.pointers[here][0]}: {way(here)}")
        for pattern in filter(None, known):
            for target in code.matching(pattern):
                visit(target, here)
    return wrong, len(came_from)


def check(disassembly, dynamic):
    """What is wrong, one line each."""
    wrong = []
    wrong += load_faults(dynamic)
    code = Code(disassembly)
    for what, pattern in START.items():
        roots = code.matching(pattern)
        if not roots:
            wrong.append(f"{what}: not in the library")
            continue
        faults, reached = walk(code, roots)
        print(f"{what}: {reached} functions can be reached")
        wrong += [f"{what} {fault}" for fault in faults]
    for where, reached in INDIRECT:
        if not code.matching(where) or (reached and not code.matching(reached)):
            wrong.append(f"nothing in the library is called {where} or {reached}: mend INDIRECT")
    return wrong


# A library in which a handler reaches some code, and what the walk must say of that code.
SELF_TEST = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static __attribute__((noinline)) void deep(char* p) { DEEP; __asm__ volatile("" ::: "memory"); }
static __attribute__((noinline)) int middle(char* p) { deep(p); return p[1] + 1; }
int handler(char* p) {
  int x = middle(p);
  memset(p, x, 100);
  __asm__ volatile("" ::: "memory");
  return p[2];
}
"""
LAZY = "bound at their first call"
# A running JVM keeps 512 bytes, in all, for the thread-local storage of libraries that it loads.
MOST_THREAD_LOCAL = 160
LARGE = f"more than {MOST_THREAD_LOCAL}"
PLANTED = [
    ("p[0] = 1", "now", None),
    ("p[0] = 1", "lazy", LAZY),
    ("*(void**)p = malloc(p[0])", "now",
     "reaches malloc: malloc@plt <- deep <- middle <- handler"),
    ("free(p)", "now", "reaches free"),
    ("pthread_mutex_lock((pthread_mutex_t*)p)", "now", "reaches pthread_mutex_lock"),
    ("(*(void (**)(void))p)()", "now", "calls through a pointer"),
    ("static __thread char* last; *(char**)p = last; last = p", "now", "reaches __tls_get_addr"),
    ("static __thread char all[200]; *(char**)p = all", "now", LARGE),
]


def prove_the_checks(objdump, readelf):
    flags = ["-O1", "-fPIC", "-shared", "-fno-optimize-sibling-calls", "-ftls-model=global-dynamic"]
    with tempfile.TemporaryDirectory() as folder:
        source, library = f"{folder}/a.c", f"{folder}/a.so"
        for deep, binding, fault in PLANTED:
            with open(source, "w", encoding="utf-8") as f:
                f.write(SELF_TEST.replace("DEEP", deep))
            subprocess.run(["cc", *flags, f"-Wl,-z,{binding}", "-o", library, source], check=True)
            disassembly, dynamic = read(library, objdump, readelf)
            code = Code(disassembly)
            found, _ = walk(code, code.matching("^handler$"))
            found += load_faults(dynamic)
            if fault is None:
                assert not found, found
            else:
                assert any(fault in line for line in found), (fault, found)


def load_faults(dynamic):
    """What is wrong with how the dynamic linker loads the library."""
    faults = []
    if "BIND_NOW" not in dynamic and not re.search(r"Flags:.*\bNOW\b", dynamic):
        faults.append("functions are bound at their first call: link with -z now")
    segment = re.search(r"^ *TLS +(?:0x\w+ +){4}0x(\w+)", dynamic, re.MULTILINE)
    if segment and int(segment[1], 16) > MOST_THREAD_LOCAL:
        faults.append(f"{int(segment[1], 16)} bytes are thread-local, {LARGE}")
    return faults


def read(library, objdump, readelf):
    def run(*command):
        return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout

    return run(objdump, "-d", "-C", "--no-show-raw-insn", library), run(readelf, "-dlW", library)


def main():
    library = sys.argv[1]
    objdump = sys.argv[2] if len(sys.argv) > 2 else "objdump"
    readelf = sys.argv[3] if len(sys.argv) > 3 else "readelf"
    if shutil.which("cc"):
        prove_the_checks("objdump" if shutil.which("objdump") else objdump, readelf)
    wrong = check(*read(library, objdump, readelf))
    for line in wrong:
        print("FAILED", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
