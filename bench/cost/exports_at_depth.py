#!/usr/bin/env python3
"""Exports profiles of a recursion 20,000 calls deep, by a C program with hooks and a Java program.

Usage: bench/cost/exports_at_depth.py [--jprof BIN] [--agent LIB] [--depth N] [--out DIR]

Prints the size of each profile, and of each export its size, its ratio to the profile and what a
reader of the format says. Readers that are not installed are named. Exits with 1 if an export
fails, if a reader refuses one, or if one is more than 10 times its profile."""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402

MOST_RATIO = 10
SUMS = ("pprof", "callgrind", "speedscope", "collapsed", "otlp", "sqlite")
TRACES = ("perfetto", "chrome")

C = """
#include <stdio.h>
#include <stdlib.h>
#define F(name) __attribute__((noinline)) long name(long n)
F(first); F(second); F(third);
F(first) { return n ? second(n - 1) + 1 : 0; }
F(second) { return n ? third(n - 1) + 1 : 0; }
F(third) { return n ? first(n - 1) + 1 : 0; }
int main(int count, char** words) { printf("%ld\\n", first(atol(words[1]))); }
"""
JAVA = """
public class Deep {
  static long first(long n) { return n == 0 ? 0 : second(n - 1) + 1; }
  static long second(long n) { return n == 0 ? 0 : third(n - 1) + 1; }
  static long third(long n) { return n == 0 ? 0 : first(n - 1) + 1; }
  public static void main(String[] words) throws Exception {
    final long depth = Long.parseLong(words[0]);
    final Thread deep =
        new Thread(null, () -> System.out.println(first(depth)), "deep", 1 << 30);
    deep.start();
    deep.join();
  }
}
"""


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False,
                          timeout=300, **more)
    if done.returncode != 0:
        said = (done.stderr or done.stdout)[-300:].decode("utf-8", "replace").strip()
        raise ValueError(f"{pathlib.Path(command[0]).name}: status {done.returncode}: {said}")
    return done.stdout


def only_stacks(path):
    """Each line is a stack and a number."""
    for line in path.read_text(encoding="utf-8").splitlines():
        int(line.rsplit(" ", 1)[1])


def json_text(path):
    json.loads(path.read_bytes())


def messages(path):
    """Without a schema, protoc prints the number and value of each field."""
    whole = path.read_bytes()
    run("protoc", "--decode_raw",
        input=gzip.decompress(whole) if whole.startswith(b"\x1f\x8b") else whole)


def whole_database(path):
    if run("sqlite3", path, "PRAGMA integrity_check").strip() != b"ok":
        raise ValueError("the database is damaged")
    run("sqlite3", path, "SELECT sum(calls) FROM method_self")


PYTHON = "python3"
READERS = {  # format: programs that read it, the best first
    "pprof": {"go": lambda path: run("go", "tool", "pprof", "-top", path), "protoc": messages},
    "callgrind": {"callgrind_annotate": lambda path: run("callgrind_annotate", path)},
    "speedscope": {PYTHON: json_text},
    "collapsed": {PYTHON: only_stacks},
    "otlp": {PYTHON: json_text},
    "sqlite": {"sqlite3": whole_database},
    "perfetto": {"protoc": messages},
    "chrome": {PYTHON: json_text},
}


def verdict(form, path):
    """Whether a reader of the format accepts the file, in words; and whether one refuses it."""
    absent = []
    for program, read in READERS[form].items():
        if program != PYTHON and shutil.which(program) is None:
            absent.append(program)
            continue
        lacks = f" (no {', '.join(absent)})" if absent else ""
        try:
            read(path)
        except (ValueError, IndexError, RecursionError, OSError,
                subprocess.TimeoutExpired) as failed:
            return f"REFUSED by {program}{lacks}: {failed}", True
        return f"read by {program}{lacks}", False
    return f"not read: no {', '.join(absent)}", False


def size(path):
    if path.is_dir():
        return sum(file.stat().st_size for file in path.iterdir())
    return path.stat().st_size


def programs(place, depth):
    """Name and command of each program that can be built here."""
    (place / "deep.c").write_text(C, encoding="utf-8")
    run("cc", "-finstrument-functions", "-o", place / "deep", place / "deep.c")
    yield "C", [place / "deep", str(depth)]
    (place / "Deep.java").write_text(JAVA, encoding="utf-8")
    for jdk in measure.jvms.needed_jdks(())[:1]:
        run(jdk.tool("javac"), "-d", place, place / "Deep.java")
        yield "Java", [jdk.tool("java"), "-cp", place, "Deep", str(depth)]


def exports(args, place, program, mode, formats):
    """Records the command and prints a line for each export. Returns the number of failures."""
    name, command = program
    profile, failures = place / f"{name}-{mode}.jprof", 0
    limit = ["bash", "-c", 'ulimit -s unlimited; exec "$@"', "bash"]
    run(*limit, args.jprof, mode, "--agent", args.agent, "-o", profile, "--", *command)
    whole = size(profile)
    print(f"{name} {mode}: profile of {whole / 2**20:.1f} MiB")
    for form in formats:
        path = place / f"{name}-{mode}.{form}"
        try:
            run(args.jprof, "export", profile, "--uncalibrated", "--format", form, "-o", path)
        except (ValueError, subprocess.TimeoutExpired) as failed:
            print(f"  {form:11} EXPORT FAILED: {failed}")
            failures += 1
            continue
        ratio = size(path) / whole
        said, refused = verdict(form, path)
        too_large = ratio > MOST_RATIO
        print(f"  {form:11} {size(path) / 2**20:8.1f} MiB {ratio:6.2f} x"
              f"{' TOO LARGE' if too_large else ''}  {said}", flush=True)
        failures += refused or too_large
        path.unlink()
    return failures


def main():
    options = measure.parser(__doc__)
    options.add_argument("--jprof", default=os.path.join(measure.BUILD, "bin", "jprof"))
    options.add_argument("--agent", default=os.path.join(measure.BUILD, "lib", "libjprof.so"))
    options.add_argument("--depth", type=int, default=20000)
    options.add_argument("--out", help="for profiles and exports (default: temporary)")
    args = options.parse_args()
    failures = 0
    with measure.folder("exports", 2, 1, args.out) as place:
        for program in programs(pathlib.Path(place), args.depth):
            for mode, formats in (("callflow", SUMS), ("trace", TRACES)):
                failures += exports(args, pathlib.Path(place), program, mode, formats)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
