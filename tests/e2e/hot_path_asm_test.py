#!/usr/bin/env python3
"""Checks the machine code of the handlers that the probes and the hooks of functions jump to.

Usage: hot_path_asm_test.py LIBJPROF.SO [OBJDUMP]

A handler's fast path consists of all instructions that can be reached from its start without
leaving its function. It may leave only by a jump to its slow path: its own part that the compiler
split off as .cold, HandleCold, HandleTimed or, where only some intervals are timed,
HandleTimedInterval and BeginTimingCold. The fast path contains no call, no lock prefix, no
division, and no other instruction that waits or serialises; it reads the clock once (counts, and
intervals that are not timed: never), and it returns. The most important recordings also pass no
value through the stack, except saved registers: the slow path's operands stay in registers. With
operands on the stack, an event cost 1.4 times as much.

A slow path that decides which intervals are timed (ContinueTiming) must end the measurement of the
event after that decision; otherwise intervals are too long by what the decision takes.
"""
import itertools
import re
import subprocess
import sys

HANDLER = re.compile(
    r"::On(Entry|Exit)<jprof::engine::(.+), jprof::engine::(\w+), (true|false), (true|false), (true|false)>"
    r"\(char\*, void\*\)$")
HOOK = re.compile(r"jprof::hookit::.*::On(Entry|Exit)<jprof::engine::(.+)>\(void\*, void\*\)$")
# What the compiler's calls go to: a jump to the handler.
HOOK_CALL = re.compile(r"^__cyg_profile_func_(enter|exit)$")
SLOW = re.compile(
    r"\[clone \.cold(\.\d+)?\]$|::(Handle(Cold|Timed|TimedInterval)|BeginTimingCold)<")
REQUIRED = {(event, recording) for event in ("Entry", "Exit")
            for recording in ("CountTree", "TimeTree", "SparseTimeTree")}
CLOCK_READS = {"CountTree": 0, "TimeTree": 1, "Training<jprof::engine::TimeTree>": 1,
               "TimeTrace": 1, "SparseTimeTree": 0}
DECIDES = re.compile(r"::HandleTimedInterval<(?!.*\.cold).*EventKind\)(\d)")
DECISION = "ContinueTiming("
WITHOUT_STACK = {"CountTree", "TimeTree", "SparseTimeTree"}
# Counters as metrics: one that cannot be read in user space is read by a system call, so there are
# calls.
MAY_CALL = re.compile("^(Training<jprof::engine::)?CounterTree<")


# It reads the caller's frame from the stack, so it has no fast path.
WALKS = ("Entry", "SiteTree")


class X86:
    clock = re.compile(r"^rdtsc$")
    jump = re.compile(r"^(?:bnd |notrack )?j(\w+)\s+(?:([0-9a-f]+)\s+<(.*)>|\*)")
    always = {"mp"}  # j + mp
    end = re.compile(r"^(?:rep )?ret")
    forbidden = {
        "call": re.compile(r"^(?:notrack )?call"),
        "lock prefix": re.compile(r"\block\b|^xchg\s.*\("),
        "division": re.compile(r"^i?div[bwlq]?\s|^f?i?div|^v?div[sp][sd]"),
        "serialising instruction": re.compile(
            r"^(rdtscp|cpuid|[lms]fence|syscall|int|serialize|pause)\b"),
    }
    stack_store = re.compile(r"^mov\w*\s+[^,]+,\s*-?(0x[0-9a-f]+)?\(%rsp[^)]*\)$")


class AArch64:
    clock = re.compile(r"^mrs\s.*cntvct_el0")
    jump = re.compile(r"^(?:b|b\.(\w+)|cbn?z|tbn?z)\s+(?:.*,\s*)?([0-9a-f]+)\s+<(.*)>")
    always = {None}
    end = re.compile(r"^ret")
    forbidden = {
        "call": re.compile(r"^blr?\s"),
        "atomic operation": re.compile(r"^(ld|st)a?l?xr|^(ldadd|swp|cas|ldset|ldclr|stadd)"),
        "division": re.compile(r"^[sufv]?div\s"),
        "serialising instruction": re.compile(r"^(isb|dsb|dmb|svc|wfe|yield)\b"),
    }
    stack_store = re.compile(r"^st[rp]\w*\s+(?!x(19|2\d|30)\b).*\[sp")  # x19-x30: saved registers


def functions(disassembly):
    """[(name, [(address, instruction)])], from `objdump -d -C --no-show-raw-insn`. Functions of
    different files may have the same name."""
    found, body = [], None
    for line in disassembly.splitlines():
        header = re.match(r"^[0-9a-f]+ <(.*)>:$", line)
        if header:
            body = []
            found.append((header[1], body))
            continue
        instruction = re.match(r"^\s*([0-9a-f]+):\s+(.*?)\s*(?:#.*|//.*)?$", line)
        if instruction and body is not None and instruction[2]:
            body.append((int(instruction[1], 16), re.sub(r"\s+", " ", instruction[2])))
    return found


def fast_path(body, arch):
    """(reachable instructions, violations among the jumps out of the function)"""
    at = {address: i for i, (address, _) in enumerate(body)}
    reached, wrong, todo = set(), [], [0]
    while todo:
        i = todo.pop()
        if i in reached:
            continue
        if i >= len(body):
            wrong.append("runs past its end")
            continue
        reached.add(i)
        text = body[i][1]
        if arch.end.match(text):
            continue
        jump = arch.jump.match(text)
        conditional = True
        if jump:
            conditional = jump[1] not in arch.always or text.startswith(("cb", "tb"))
            target = int(jump[2], 16) if jump[2] else None
            if target in at:
                todo.append(at[target])
            elif target is None or not SLOW.search(re.sub(r"[+-]0x[0-9a-f]+$", "", jump[3])):
                wrong.append(f"jumps to something else than its slow path: {text}")
        if conditional:
            todo.append(i + 1)
    return [body[i][1] for i in sorted(reached)], wrong


def decision_is_measured(body, arch):
    """Whether each call of the decision is followed by a reading of the clock, and only then by
    the call that subtracts what was measured, if that is not inlined."""
    call = arch.forbidden["call"]
    texts = [text for _, text in body if call.search(text) or arch.clock.match(text)]
    decisions = [i for i, text in enumerate(texts) if DECISION in text]
    return bool(decisions) and all(
        i + 1 < len(texts) and arch.clock.match(texts[i + 1]) for i in decisions)


def check(disassembly, arch):
    """The violations, one line each; empty if there are none."""
    wrong, seen, hooks, hook_calls, deciding = [], set(), set(), set(), set()
    for name, body in functions(disassembly):
        handler = HANDLER.search(name) or HOOK.search(name)
        if HOOK_CALL.match(name):
            hook_calls.add(name)
            if any(arch.forbidden["call"].search(text) for _, text in body):
                wrong.append(f"{name}: a call: {[text for _, text in body]}")
        decides = DECIDES.search(name)
        if decides:
            deciding.add(decides[1])
            if not decision_is_measured(body, arch):
                wrong.append(f"{name}: the decision about the next interval is not measured")
        if not handler:
            continue
        event, recording = handler[1], handler[2].strip()
        hook = handler.re is HOOK
        if not hook and (event, recording) == WALKS:
            continue
        focus = not hook and "true" in (handler[5], handler[6])
        title = f"On{event}<{recording}>, functions" if hook else (
            f"On{event}<{recording}, {handler[3]}, {handler[4]}, {handler[5]}, {handler[6]}>")
        (hooks if hook else seen).add((event, recording))
        path, faults = fast_path(body, arch)
        for what, pattern in arch.forbidden.items():
            if what == "call" and MAY_CALL.match(recording):
                continue
            faults += [f"{what}: {text}" for text in path if pattern.search(text)]
        reads = sum(bool(arch.clock.match(text)) for text in path)
        wanted = CLOCK_READS.get(recording, reads)
        # In focus the compiler may have a copy of what follows the early way out for each of its
        # tests; what one copy does is seen in the handler without focus.
        if reads != wanted and not (focus and wanted != 0 and reads > wanted):
            faults.append(f"reads the clock {reads} times, not {CLOCK_READS[recording]}")
        # With several counters in focus GCC ends the path in the .cold part: two jumps more.
        elsewhere = focus and MAY_CALL.match(recording)
        if not elsewhere and not any(arch.end.match(text) for text in path):
            faults.append("never returns")
        if recording in WITHOUT_STACK:
            faults += [
                f"store on the stack: {text}" for text in path if arch.stack_store.match(text)]
        wrong += [f"{title}: {fault}" for fault in faults]
        print(f"{title}: {len(path)} instructions on the fast path")
    wrong += [
        f"On{event}<{recording}> is not in the library"
        for event, recording in sorted(REQUIRED - seen)]
    wrong += [
        f"On{event}<{recording}> of functions is not in the library"
        for event, recording in sorted(seen - hooks)]
    if len(deciding) != 2:
        wrong.append("HandleTimedInterval of entries and of exits is not in the library")
    if len(hook_calls) != 2:
        wrong.append(f"of the hooks only {sorted(hook_calls)} are in the library")
    return wrong


def prove_the_checks():
    """Checks each rule on a correct handler and on that handler with one violation."""
    probe = ("int jprof::hotspot::(anonymous namespace)::On%s<jprof::engine::%s, "
             "jprof::engine::JavaFrames, false, false, false>(char*, void*)")
    hook = "void jprof::hookit::(anonymous namespace)::On%s<jprof::engine::%s>(void*, void*)"

    def library(changed="", change="nop", at=probe, call="jmp *0x10(%rip)"):
        text, address = "", 0x1000
        for name in ("enter", "exit"):
            text += f"{address:016x} <__cyg_profile_func_{name}>:\n  {address:x}:\t{call}\n\n"
            address += 0x100
        for name, (event, recording) in itertools.product((probe, hook), sorted(REQUIRED)):
            this = name % (event, recording)
            body = ["test %rax,%rax", f"je {0x9000:x} <{this} [clone .cold]>", "@jmp",
                    "call 10 <never reached>",
                    "rdtsc" if CLOCK_READS[recording] else "nop", "mov %rax,0x8(%rcx)", "ret",
                    "call 10 <padding>"]
            text += f"{address:016x} <{this}>:\n"
            for i, instruction in enumerate(body):
                if (name, event, recording, i) == (at, "Exit", "TimeTree", 5):
                    instruction = changed or instruction
                if instruction == "@jmp":
                    instruction = f"jmp {address + 4:x} <{this}+0x4>"
                text += f"  {address + i:x}:\t{instruction}\n"
            text += "\n"
            address += 0x100
        for kind in (0, 1):
            text += decider(kind, "call 10 <jprof::ContinueTiming(int)>", "rdtsc")
        return text.replace("clone .cold", change) if change != "nop" else text

    def decider(kind, *instructions):
        name = f"int jprof::HandleTimedInterval<jprof::SparseTimeTree, (jprof::EventKind){kind}>"
        return f"8000 <{name}(long)>:\n" + "".join(
            f"  {0x8000 + i:x}:\t{text}\n" for i, text in enumerate(instructions)) + "\n"

    def expect(disassembly, fault):
        found = check(disassembly, X86)
        if not fault:
            assert not found, found
        else:
            assert any(fault in line for line in found), (fault, found)

    expect(library(), "")
    for instruction, fault in (
            ("call 2000 <f>", "call"), ("call *0x8(%rax)", "call"),
            ("lock addl $0x1,(%rax)", "lock prefix"),
            ("xchg %rax,(%rdx)", "lock prefix"), ("idiv %rcx", "division"),
            ("divq 0x8(%rsp)", "division"),
            ("divsd %xmm1,%xmm0", "division"), ("mfence", "serialising"),
            ("rdtsc", "reads the clock 2 times"),
            ("jmp 2000 <f>", "something else"), ("jne 2000 <f+0x8>", "something else"),
            ("jmp *%rax", "something else"),
            ("jmp 1200 <f>", "never returns"), 
            ("mov %rax,0x8(%rsp)", "store on the stack"),
            ("movaps %xmm0,0x30(%rsp)", "store on the stack")):
        expect(library(instruction), fault)
        expect(library(instruction, at=hook), fault)
    expect(library(call="call 2000 <f>"), "__cyg_profile_func_enter: a call")
    expect(library().replace("__cyg_profile_func_exit", "f"), "of the hooks only")
    expect(library().replace("hookit", "other"), "of functions is not in the library")
    expect(library(change="clone .constprop"), "something else")
    clock, call, after = ("rdtsc", "call 10 <jprof::ContinueTiming(int)>",
                          "call 10 <jprof::AfterTimedEvent(int)>")
    for code, fault in (((clock, call, clock, after), ""), ((clock, call, after), "not measured"),
                        ((call, after, clock), "not measured"), ((clock, call), "not measured"),
                        ((clock, after), "not measured")):
        expect(library() + decider(0, *code), fault)
    expect(library().replace("EventKind)1", "EventKind)0"), "of entries and of exits")
    expect("", "is not in the library")


def main():
    import contextlib, io
    with contextlib.redirect_stdout(io.StringIO()):
        prove_the_checks()
    library = sys.argv[1]
    objdump = sys.argv[2] if len(sys.argv) > 2 else "objdump"
    disassembly = subprocess.run([objdump, "-d", "-C", "--no-show-raw-insn", library], check=True,
                                 text=True,
                                 stdout=subprocess.PIPE).stdout
    arch = AArch64 if "aarch64" in disassembly[:400] else X86
    wrong = check(disassembly, arch)
    for line in wrong:
        print("FAILED", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
