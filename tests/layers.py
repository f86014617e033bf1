#!/usr/bin/env python3
"""Checks which folder may include which, what may be used only in certain folders, and that no
product file and no folder is too large.

  layers.py ROOT    checks the tree, then that each rule detects a violation planted for it
"""
import os
import re
import sys
import tempfile

# The tables of docs/ARCHITECTURE.md. Folders: | `folder/` | what | `folder`, `one/header.h` |
FOLDER = re.compile(r"^\| `([\w/]+)/` \|[^|]*\|([^|]*)\|$", re.M)
# Rooms, which are subfolders of one library: | `folder/room` | what | `room`, `one/header.h` |
ROOM = re.compile(r"^\| `(\w+/[\w/]*\w)` \|[^|]*\|([^|]*)\|$", re.M)


def read_rules(row, text):
    """Folder -> folders and single headers that it may include besides its own. The rule of a file
    is that of its nearest listed ancestor."""
    rules = {}
    for folder, allowed in row.findall(text):
        rules[folder] = re.findall(r"`([\w./]+)`", allowed)
        if not rules[folder] and allowed.strip() != "nothing":
            raise SystemExit(f"docs/ARCHITECTURE.md: {folder}: '{allowed.strip()}' names no folder")
    return rules


def read_rooms(text):
    """Room -> rooms of the same folder, as paths, and single headers that it may include."""
    return {room: [name if "/" in name else f"{os.path.dirname(room)}/{name}" for name in allowed]
            for room, allowed in read_rules(ROOM, text).items()}


ARCHITECTURE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs",
                            "ARCHITECTURE.md")
with open(ARCHITECTURE, encoding="utf-8") as architecture:
    TEXT = architecture.read()
MAY_INCLUDE = read_rules(FOLDER, TEXT)
ROOMS = read_rooms(TEXT)

# What may be used only in certain folders: (what, pattern in the code, folders).
ONLY_IN = [
    (
        "JVMTI and JNI headers",
        re.compile(r'#\s*include\s*[<"](jvmti|jni|jvmticmlr)\.h'),
        ["jprof/agent", "ptm/java", "trainers"],
    ),
    ("perf_event", re.compile(r"linux/perf_event\.h|\bperf_event_open\b"), ["ptm"]),
    ("inline assembly", re.compile(r"\b(__asm__|asm)\b\s*(volatile|goto|\()|\b__asm__\b"), ["ptm", "itrace", "events/runtime"]),
    (
        "libdw and libelf",
        re.compile(r'#\s*include\s*[<"](elfutils/|libelf\.h|gelf\.h|dwarf\.h)'),
        ["a2n"],
    ),
]

# As ONLY_IN, for string literals, with the reason for each place.
STRINGS_ONLY_IN = [
    (
        "paths of the proc file system",
        re.compile(r'"/proc[/"]'),
        [
            "common/procfs.h",
            "common/procfs.cc",
            "jprof/unwind",  # runs in signal handlers, which may not allocate
            "jprof/hookit",  # the same
            "cpo/shim",  # runs within malloc, and may not allocate
        ],
    ),
]

SOURCES = (".h", ".cc", ".c", ".S")
MOST_LINES = 350  # of a product file
MOST_FILES = 40  # of a folder, without those in its subfolders
NO_PRODUCT = ("tests", "bench", "trainers")
NOT_OURS = ("build", "node_modules", "__pycache__")  # what git ignores: built or installed
# Tables of instructions, with a few lines for each: to divide them would hide which are missing.
MAY_BE_LONG = ("itrace/translator.cc", "itrace/x86_decoder.cc")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
# Comments and strings cannot include or execute anything; the literals of #include lines are kept.
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|^(\s*#\s*include[^\n]*)|"(?:\\.|[^"\\\n])*"', re.M | re.S)


def code_of(text, strings=False):
    """The text without comments and, unless `strings`, without the contents of string literals."""

    def kept(match):
        if strings and match.group().startswith('"'):
            return match.group()
        return match.group(1) or ""

    return NOISE.sub(kept, text)


def misplaced(path, code, rules):
    for what, pattern, places in rules:
        allowed = any((path + "/").startswith(place + "/") for place in places)
        if pattern.search(code) and not allowed:
            yield f"{path}: {what} may only be used in {', '.join(places)}"


def folder_of(path):
    folder = os.path.dirname(path)
    while folder and folder not in MAY_INCLUDE:
        folder = os.path.dirname(folder)
    return folder


def sources(root):
    tops = sorted({folder.split("/")[0] for folder in MAY_INCLUDE})
    for top in tops:
        for directory, _, files in os.walk(os.path.join(root, top)):
            for name in sorted(files):
                if name.endswith(SOURCES):
                    yield os.path.relpath(os.path.join(directory, name), root)


def check_include(path, included, folder):
    top = included.split("/")[0]
    if "/" not in included or not any(known.split("/")[0] == top for known in MAY_INCLUDE):
        return f'{path}: "{included}" is not a path from the root of the tree'
    target = folder_of(included)
    if target == folder:
        return check_room(path, included, folder)
    if target in MAY_INCLUDE[folder] or included in MAY_INCLUDE[folder]:
        return None
    return f"{path}: {folder or 'this folder'} may not include {included}"


def check_room(path, included, folder):
    """Files of a folder that are in none of its rooms may include all of them."""
    room, target = os.path.dirname(path), os.path.dirname(included)
    if room in (folder, target) or target in ROOMS.get(room, []) or included in ROOMS.get(room, []):
        return None
    return f"{path}: the room {room} may not include {included}"


def cycle(includes):
    """One cycle among files, as a list of paths, or None."""
    state, trail = {}, []

    def visit(path):
        state[path] = "open"
        trail.append(path)
        for included in includes.get(path, []):
            if state.get(included) == "open":
                return trail[trail.index(included) :] + [included]
            if included in includes and included not in state:
                found = visit(included)
                if found:
                    return found
        state[path] = "done"
        trail.pop()
        return None

    for path in sorted(includes):
        if path not in state:
            found = visit(path)
            if found:
                return found
    return None


def folder_cycle(rules):
    """A cycle in a table itself, or None."""
    return cycle({folder: [f for f in allowed if f in rules] for folder, allowed in rules.items()})


def missing_folders(root):
    """Rules whose folders or headers do not exist."""
    named = {path for rules in (MAY_INCLUDE, ROOMS) for folder, allowed in rules.items()
             for path in [folder, *allowed]}
    return [f"docs/ARCHITECTURE.md: there is no {path}" for path in sorted(named)
            if not os.path.exists(os.path.join(root, path))]


def folders_with_files(root):
    """Each folder with the names of its own files, without hidden folders and NOT_OURS."""
    for directory, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in NOT_OURS)
        yield os.path.relpath(directory, root), sorted(files)


def too_long(root, path):
    if not path.endswith((*SOURCES, ".ts")) or path in MAY_BE_LONG:
        return None
    with open(os.path.join(root, path), encoding="utf-8") as file:
        lines = sum(1 for _ in file)
    return f"{path}: {lines} lines, more than {MOST_LINES}" if lines > MOST_LINES else None


def too_large(root):
    """Product files with too many lines, and folders outside tests/ with too many files."""
    for folder, files in folders_with_files(root):
        top = folder.split("/")[0]
        if top != "tests" and len(files) > MOST_FILES:
            yield f"{folder}: {len(files)} files, more than {MOST_FILES}"
        if top not in NO_PRODUCT:
            paths = [os.path.normpath(os.path.join(folder, name)) for name in files]
            yield from filter(None, (too_long(root, path) for path in paths))


def violations(root):
    found, includes = list(too_large(root)), {}
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        code = code_of(text)
        folder = folder_of(path)
        if not folder:
            found.append(f"{path}: its folder has no rule in docs/ARCHITECTURE.md")
            continue
        if os.path.dirname(path) not in (folder, *ROOMS):
            found.append(f"{path}: its folder is no room in docs/ARCHITECTURE.md")
        includes[path] = INCLUDE.findall(code)
        found += filter(
            None, (check_include(path, included, folder) for included in includes[path])
        )
        found += misplaced(path, code, ONLY_IN)
        found += misplaced(path, code_of(text, strings=True), STRINGS_ONLY_IN)
    for loop in (cycle(includes), folder_cycle(MAY_INCLUDE), folder_cycle(ROOMS)):
        if loop:
            found.append("a cycle: " + " -> ".join(loop))
    return found


# (path, text, text of the expected violation), each planted separately; None = must be accepted.
PLANTED = [
    (
        "common/x.h",
        '#include "profile/files/layout.h"\n',
        "common may not include profile/files/layout.h",
    ),
    ("reports/x.cc", '#include "ptm/tsc.h"\n', "reports may not include ptm/tsc.h"),
    (
        "reports/x.cc",
        '#include "options/agent_options.h"\n',
        "reports may not include options",
    ),
    ("jprof/agent/x.cc", '#include "reports/report.h"\n', "jprof/agent may not include reports"),
    (
        "jprof/engine/x.cc",
        '#include "jprof/hotspot/x.h"\n',
        "jprof/engine may not include jprof/hotspot",
    ),
    (
        "jprof/engine/x.cc",
        '#include "ptm/names/event_name.h"\n',
        "jprof/engine may not include ptm/names",
    ),
    ("ptm/x.cc", '#include "ptm/names/event_name.h"\n', "ptm may not include ptm/names"),
    ("cli/x.cc", '#include "jprof/agent/agent.h"\n', "cli may not include jprof/agent/agent.h"),
    ("cli/x.cc", '#include "options/agent_options.h"\n', None),
    ("cli/x.cc", '#include "commands.h"\n', "not a path from the root"),
    ("jprof/x.cc", "int x;\n", "has no rule"),
    ("jprof/engine/x.cc", "#include <jvmti.h>\n", "JVMTI and JNI headers may only be used in"),
    ("jprof/hotspot/x.cc", "# include <jni.h>\n", "JVMTI and JNI headers may only be used in"),
    ("jprof/agent/x.cc", "#include <jvmti.h>\n", None),
    ("jprof/engine/x.cc", "#include <linux/perf_event.h>\n", "perf_event may only be used in"),
    (
        "reports/x.cc",
        'void f() { __asm__ volatile("nop"); }\n',
        "inline assembly may only be used in",
    ),
    ("reports/x.cc", 'void f() { asm("nop"); }\n', "inline assembly may only be used in"),
    ("ptm/x.cc", 'void f() { asm volatile("nop"); }\n', None),
    ("cli/x.cc", "#include <elfutils/libdw.h>\n", "libdw and libelf may only be used in"),
    ("a2n/x.cc", "#include <gelf.h>\n", None),
    (
        "reports/x.cc",
        '// #include "ptm/tsc.h"\n/* asm("nop") */ const char* s = "perf_event_open";\n',
        None,
    ),
    ("cli/x.cc", 'auto f = open("/proc/self/maps");\n', "paths of the proc file system may only"),
    ("ptm/x.cc", 'auto p = root + "/proc" + name;\n', "paths of the proc file system may only"),
    ("common/procfs.cc", 'auto f = open("/proc/stat");\n', None),
    ("common/procfs_x.cc", 'auto f = "/proc/stat";\n', "paths of the proc file system may only"),
    ("cli/x.cc", '// "/proc/self"\nauto s = "see /proc/PID/status and /process";\n', None),
    ("profile/x.h", '#include "profile/x.h"\n', "a cycle: profile/x.h -> profile/x.h"),
    (
        "profile/read/x.cc",
        '#include "profile/merge/merge.h"\n',
        "the room profile/read may not include profile/merge/merge.h",
    ),
    ("profile/merge/x.cc", '#include "profile/read/reader.h"\n', None),
    ("profile/x.cc", '#include "profile/merge/merge.h"\n', None),
    ("profile/elsewhere/x.cc", "int x;\n", "its folder is no room"),
    ("cli/x.cc", "\n" * 351, "cli/x.cc: 351 lines, more than 350"),
    ("cli/x.cc", "\n" * 350, None),
    ("reports/view/src/x.ts", "\n" * 351, "reports/view/src/x.ts: 351 lines, more than 350"),
    ("itrace/translator.cc", "\n" * 351, None),
    ("reports/view/node_modules/x/x.ts", "\n" * 351, None),
    ("tests/unit/x.cc", "\n" * 351, None),
    ("bench/cost/x.cc", "\n" * 351, None),
    ("cli/x.md", "\n" * 351, None),
]

# (folder, number of its files, text of the expected violation), as above.
PLANTED_FOLDERS = [
    ("docs/pages", 41, "docs/pages: 41 files, more than 40"),
    ("docs/pages", 40, None),
    ("tests/pages", 41, None),
    ("build/pages", 41, None),
    ("reports/view/node_modules/x", 41, None),
    (".git/pages", 41, None),
]


def violations_among(files):
    """The violations in a tree that has only these files: path -> text."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return violations(root)


def self_test():
    failures = []
    with tempfile.TemporaryDirectory() as empty:
        if "docs/ARCHITECTURE.md: there is no cli" not in missing_folders(empty):
            failures.append("planted: rules of folders that do not exist: not found")
    cases = [(path, {path: text}, expected) for path, text, expected in PLANTED]
    cases += [(folder, {f"{folder}/{number}": "" for number in range(count)}, expected)
              for folder, count, expected in PLANTED_FOLDERS]
    for place, files, expected in cases:
        found = violations_among(files)
        if (expected is None and found) or (
            expected is not None and not any(expected in line for line in found)
        ):
            failures.append(f"planted in {place}: {next(iter(files.values())).strip()!r}: "
                            f"expected {expected!r}, found {found}")
    return failures


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    count = sum(1 for _ in sources(sys.argv[1]))
    if count < 10:
        sys.exit(f"{sys.argv[1]}: only {count} source files: is this the root of the tree?")
    complaints = violations(sys.argv[1]) + missing_folders(sys.argv[1]) + self_test()
    print(
        "\n".join(complaints)
        or f"{count} files in order; {len(PLANTED + PLANTED_FOLDERS)} planted cases as expected"
    )
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
