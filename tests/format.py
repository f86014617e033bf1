#!/usr/bin/env python3
"""Checks the layout of the C++ sources: that of clang-format 14 with the .clang-format of the
tree, and no line over 100 columns outside raw string literals.

Usage: format.py ROOT

Prints a line for each violation and exits with 1, also if a planted violation is not found. Exits
with 77 (skipped) if clang-format 14 is not installed: other versions format differently. To format
a file: clang-format -i FILE.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

COLUMNS = 100
VERSION = 14
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)


def clang_format():
    """The path of the program, or None."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        said = subprocess.run([path, "--version"], capture_output=True, text=True) if path else None
        if said and re.search(rf"version {VERSION}\.", said.stdout):
            return path
    return None


def sources(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(each for each in folders if each != "build" and each[0] != ".")
        names = sorted(name for name in files if name.endswith((".cc", ".h")))
        yield from (os.path.join(folder, name) for name in names)


def long_lines(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    # Removes raw strings but keeps their line breaks, so that line numbers remain correct.
    bare = RAW_STRING.sub(lambda raw: re.sub(r"[^\n]", "", raw.group()), text)
    for number, line in enumerate(bare.split("\n"), 1):
        if len(line) > COLUMNS:
            yield f"{path}:{number}: {len(line)} columns, more than {COLUMNS}"


def violations(program, root):
    paths = list(sources(root))
    found = [complaint for path in paths for complaint in long_lines(path)]
    style = f"--style=file:{os.path.join(root, '.clang-format')}"
    said = subprocess.run([program, style, "--dry-run", *paths], capture_output=True, text=True)
    places = re.findall(r"^(.*:\d+):\d+: warning: ", said.stderr, re.MULTILINE)
    found += [f"{place}: not as clang-format writes it" for place in dict.fromkeys(places)]
    if said.returncode != 0 or (said.stderr.strip() and not places):
        found.append(f"clang-format: status {said.returncode}: {said.stderr.strip()[:1000]}")
    return len(paths), found


# (text of a file, text of the expected violation; None: there is none)
PLANTED = [
    ("int Sum(int a, int b) { return a + b; }\n", None),
    ("int  Sum(int a,int b) { return a+b; }\n", "not as clang-format writes it"),
    ("// " + "a" * 120 + "\n", "123 columns"),
    ('const char* text = R"(\n' + "a " * 70 + '\n)";\n', None),
]


def self_test(program, root):
    failures = []
    for text, expected in PLANTED:
        with tempfile.TemporaryDirectory() as planted:
            shutil.copy(os.path.join(root, ".clang-format"), planted)
            with open(os.path.join(planted, "x.cc"), "w", encoding="utf-8") as file:
                file.write(text)
            found = violations(program, planted)[1]
        said = any(expected in line for line in found) if expected else not found
        if not said:
            failures.append(f"planted: {text[:40]!r}: expected {expected!r}, found {found}")
    return failures


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = clang_format()
    if program is None:
        print(f"skipped: clang-format {VERSION} is not installed")
        sys.exit(77)
    count, complaints = violations(program, sys.argv[1])
    complaints += self_test(program, sys.argv[1])
    if count < 10:
        complaints.append(f"{sys.argv[1]}: only {count} source files: is this the root?")
    in_order = f"{count} files in order; {len(PLANTED)} planted cases as expected"
    print("\n".join(complaints) or in_order)
    sys.exit(1 if complaints else 0)


main()
