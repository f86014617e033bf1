#!/usr/bin/env python3
"""Checks that each CMake target finds the headers of the folders that docs/ARCHITECTURE.md allows
it, and no others.

Usage: targets.py ROOT BUILD

Reads BUILD/compile_commands.json, prints a line for each violation, and exits with 1 if there is
one, or if a planted include compiles that must not, or does not compile that must.
"""
import json
import os
import shlex
import subprocess
import sys
import tempfile

from layers import MAY_INCLUDE, folder_of


def compilations(root, build):
    """(folder, directory, arguments) of each C++ compilation of a folder that has a rule."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            path = entry["file"]
            # A unity source is in the folder's directory in the build tree.
            base = build if path.startswith(build + os.sep) else root
            folder = folder_of(os.path.relpath(path, base))
            if folder and path.endswith((".cc", ".cxx")):
                yield folder, entry["directory"], shlex.split(entry["command"])


def include_paths(arguments):
    return [word[2:] for word in arguments if word.startswith("-I")]


def header_folders(path):
    """The folders of the tree whose headers are found below an include path."""
    for directory, _, files in os.walk(path):
        yield from {folder_of(os.path.relpath(os.path.join(directory, name), path))
                    for name in files if name.endswith(".h")}


def violations(root, build):
    links = os.path.join(build, "include") + os.sep
    found, count = set(), 0
    for folder, _, arguments in compilations(root, build):
        count += 1
        for path in include_paths(arguments):
            if os.path.realpath(path) == os.path.realpath(root):
                found.add(f"{folder}: finds every header of the tree")
            if not path.startswith(links):
                continue
            for seen in header_folders(path):
                if seen != folder and seen not in MAY_INCLUDE[folder]:
                    found.add(f"{folder}: finds the headers of {seen}")
    return sorted(found), count


# (folder, header, whether a source of the folder may include it)
PLANTED = [
    ("ptm", "common/result.h", True),
    ("ptm", "profile/files/layout.h", False),
    ("reports", "profile/files/layout.h", True),
    ("reports", "ptm/tsc.h", False),
    ("jprof/engine", "jprof/hotspot/probe/probe.h", False),
]


def compiles(compilation, text):
    _, directory, arguments = compilation
    with tempfile.NamedTemporaryFile("w", suffix=".cc", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        kept = [arguments[0], *(word for word in arguments if word.startswith(("-I", "-std")))]
        said = subprocess.run(
            [*kept, "-fsyntax-only", file.name], cwd=directory, capture_output=True, text=True
        )
    return said.returncode == 0


def self_test(root, build):
    by_folder = {one[0]: one for one in compilations(root, build)}
    failures = []
    for folder, header, allowed in PLANTED:
        if not os.path.exists(os.path.join(root, header)):
            failures.append(f"planted: there is no {header}")
        elif compiles(by_folder[folder], f'#include "{header}"\n') != allowed:
            verb = "does not compile" if allowed else "compiles"
            failures.append(f"planted: {header} included in {folder} {verb}")
    return failures


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root, build = (os.path.realpath(path) for path in sys.argv[1:])
    complaints, count = violations(root, build)
    if count < 5:
        complaints.append(f"{build}: only {count} compilations: is this the build tree?")
    else:
        complaints += self_test(root, build)
    print("\n".join(complaints) or f"{count} compilations; {len(PLANTED)} planted as expected")
    sys.exit(1 if complaints else 0)


main()
