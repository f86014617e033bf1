#!/usr/bin/env python3
"""The program in docs/COUNTERS.md compiles as C and does what it says.

Usage: docs_test.py COUNTERS.MD CC INCLUDE_DIR LIBRARY
"""
import os
import re
import subprocess
import sys
import tempfile


def main():
    document, compiler, include, library = sys.argv[1:]
    with open(document, encoding="utf-8") as file:
        program = re.search(r"^```c\n(.*?)^```$", file.read(), re.M | re.S).group(1)
    with tempfile.TemporaryDirectory() as place:
        source, binary = os.path.join(place, "work.c"), os.path.join(place, "work")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program)
        subprocess.run(
            [compiler, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-I", include, source, library,
             "-Wl,-rpath," + os.path.dirname(library), "-o", binary],
            check=True)
        said = subprocess.run([binary], check=True, text=True, capture_output=True).stdout
    found = re.fullmatch(r"(\d+) ns, (\d+) page faults\n", said)
    assert found and int(found[1]) > 0 and 100 <= int(found[2]) < 200, said


main()
