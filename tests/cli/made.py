"""Creates profiles and recordings without a profiled program, according to profile/files/layout.h
and profile/log/sample_log.h."""
import json
import os
import struct
import subprocess

INTERPRETED, SITE, THREAD = 1 << 28, 7 << 28, 9 << 28


def write(directory, name, data, mode="wb"):
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, name)
    with open(path, mode) as file:
        file.write(data)
    return path


def lengthen(directory, name, size=1 << 38):
    """A sparse file of 275 GB that occupies some KB on disk."""
    path = os.path.join(directory, name)
    open(path, "ab").close()
    os.truncate(path, size)


def method(number, class_name, name, signature, flags=0):
    texts = [
        text if isinstance(text, bytes) else text.encode()
        for text in (class_name, name, signature)]
    size = (16 + sum(map(len, texts)) + 7) // 8 * 8
    return struct.pack("<IIHHHH", size, number, flags, *map(len, texts)) + b"".join(texts).ljust(
        size - 16, b"\0")


def node(word, parent, entries=0, exits=0, self_time=0):
    return struct.pack("<IIIIIIqII24x", word, parent, entries, 0, 0, exits, self_time, 0, 0)


def profile(directory, thread=b"main", class_name="app/Main", name="run", node_count=3,
            thread_count=1, calls=1,
            methods_bytes=None, trace_blocks=0, mode="callflow", method_flags=0, self_time=70_000,
            site="", **meta):
    """One thread that called one method `calls` times. `counts` are the counts in the header. With
    a site, such as 3:42, all time of the method belongs to it."""
    methods = method(1, class_name, name, "()V", method_flags)
    nodes = bytes(64) + node(THREAD, 0, self_time=5)
    nodes += node(INTERPRETED + 1, 1, calls, calls, 0 if site else self_time)
    if site:
        methods += method(2, "Main.java", site, "", 256)
        nodes += node(SITE + 2, 2, self_time=self_time)
        node_count += 1
        meta = {"options": {"sites": True}, **meta}
    header = struct.pack("<8s6I3Q2I3Q3Q5Q9I", b"JPROFCTL", 1, 4096, 256, 64, thread_count, 1,
                         node_count, 1 << 32,
                         len(methods) if methods_bytes is None else methods_bytes,
                         2 if site else 1, 1,
                         trace_blocks, 0, 0, 1000,
                         2_000_001_000, 1_000_000_000, *[0] * 5, *[1000] * 9)
    record = struct.pack("<4I", 2, 0, 77, 1).ljust(136, b"\0") + thread.ljust(88, b"\0")
    write(directory, "control", header.ljust(4096, b"\0") + record.ljust(256, b"\0"))
    write(directory, "nodes", nodes)
    write(directory, "methods", methods)
    write(directory, "meta.json", json.dumps(
        {"format": 1, "jprof": "0.1.0", "mode": mode, "pid": 42, "command": ["java", "Demo"],
         "metrics": [{"name": "time", "unit": "ns", "scale": 1, "kind": "time"}],
         "jvm": {"name": "VM", "version": "17"}, "fingerprint": {"cpu": "c"}, **meta}).encode())
    return directory


SAMPLE, MAP, COMM, FORK, EXIT = range(5)
WORD = (1 << 64) - 1


def log_header(magic, version=2, cpus=0):
    return struct.pack("<8sIIIIQQ", magic, version, 0, cpus, 0, 0, 0)


def packet(content, records, pid=0, tid=0, begin=0, end=0, lost=0):
    """Returns a packet of a log (profile/log/log_format.h)."""
    content += bytes(-len(content) % 8)
    fields = struct.pack("<IIIIQQQ", len(content), records, pid, tid, begin, end, lost)
    check = 1
    for word in struct.unpack(f"<{(len(fields) + len(content)) // 8}Q", fields + content):
        check = (check ^ word) * 0x9e3779b97f4a7c15 & WORD
        check ^= check >> 32
    return fields + struct.pack("<Q", check) + content


def record(kind, text=b"", chain=(), kernel=0, pid=0, tid=0, time=0, address=0, length=0, offset=0,
           cpu=0):
    data = struct.pack("<BBHHHIIQQ", kind, kernel, cpu, len(text), len(chain), pid, tid, time,
                       address)
    if kind == MAP:
        data += struct.pack("<QQQQ", length, offset, 0, 0)
    data += text + struct.pack(f"<{len(chain)}Q", *chain)
    return data + bytes(-len(data) % 8)


def recording(directory, *records, end=True, lost=0, **meta):
    """A recording of `jprof tprof`."""
    data = log_header(b"jprofsmp", cpus=1)
    if records:
        data += packet(b"".join(records), len(records))
    if end:
        data += packet(b"", len(records), end=1_000_000_000, lost=lost)
    write(directory, "samples", data)
    write(directory, "kallsyms", b"ffffffff81000000 T start_kernel\nffffffff81002000 T _end\n")
    write(directory, "recording.json", json.dumps(
        {"sampling": "time", "platform": "Linux", "command": "app", "notes": [], **meta}).encode())
    return directory


BEGIN, JUMP, TAKEN, NOT_TAKEN, CALL, RETURN, SYSTEM_CALL, SIGNAL, SIGNAL_RETURN, BRANCHES_END = \
    range(10)


def leb128(value, signed):
    """The bytes of a number, as profile/log/branch_log.h has it."""
    if signed:
        value = (value + (1 << 63) & WORD) - (1 << 63)
    data = bytearray()
    while True:
        last = -64 <= value < 64 if signed else value < 128
        data.append(value & 0x7f | (0 if last else 0x80))
        if last:
            return bytes(data)
        value >>= 7


def trace(directory, blocks, **meta):
    """`blocks`: (first event, first value, [(method, exit, delta)]) of one thread."""
    profile(directory, mode="trace", trace_blocks=len(blocks), node_count=1, **meta)
    os.remove(os.path.join(directory, "nodes"))
    data = b""
    for sequence, (first, value, events) in enumerate(blocks):
        body = b"".join(leb128(method << 5 | 3 << 1 | leaves, False) + leb128(delta << 1, False)
                        for method, leaves, delta in events)
        head = struct.pack("<IIQQqII", 0, len(body), sequence + 1, first, value, len(events), 0)
        data += (head + body).ljust(32 * 1024, b"\0")
    write(directory, "trace", data)
    return directory


def branch_packet(pid, tid, time, branches):
    """`branches`: kind, from, to and number of instructions of each."""
    data, at = b"", 0
    for kind, start, to, instructions in branches:
        data += bytes([kind])
        if kind == BEGIN:
            data += leb128(to - at, True)
        else:
            data += leb128(start - at, True)
            if kind != BRANCHES_END:
                data += leb128(to - start, True)
        data += leb128(instructions, False)
        at = to
    return packet(data, len(branches), pid, tid, time, time)


def itrace(directory, records, *threads, **meta):
    """A trace of `jprof itrace`; `threads`: pid, tid and branches of each."""
    recording(directory, *records, **meta)
    data = log_header(b"jprofbra")
    for pid, tid, branches in threads:
        data += branch_packet(pid, tid, 1000, branches)
    count = sum(len(branches) for _, _, branches in threads)
    write(directory, "branches", data + packet(b"", count, end=2_000_000))
    return directory


def may_watch(jprof):
    """Whether this user may watch whole CPUs, which counting other users' threads requires."""
    done = subprocess.run([jprof, "stat", "-e", "time", "--", "true"], capture_output=True,
                          text=True, timeout=600)
    return "not distinguished" not in done.stderr


SAMPLES = [{"name": "TIME", "unit": "samples", "scale": 1, "kind": "samples", "period": 1000000,
            "period_unit": "ns", "period_clock": "cpu"}]

# Copies the profile that the agent would make: $MADE/scs or $MADE/calltree; then executes $THEN.
JAVA = """#!/bin/sh
options=${1#-agentpath:*=}
mode=$(echo "$options" | sed 's/[,=].*//' | tr A-Z a-z)
out=$(echo "$options" | sed -n 's/.*OUT=\\([^,]*\\).*/\\1/p')
case "$options" in *CHILDREN=all*) mkdir -p "$out"; out="$out/App-$$";; esac
[ -n "$NO_PROFILE" ] || cp -r "$MADE/$mode" "$out"
echo "$options" >> "$MADE/log"
eval "${THEN-}"
"""


def java(folder):
    """A script `java` that makes the profiles of JAVA."""
    path = write(folder, "java", JAVA.encode())
    os.chmod(path, 0o755)
