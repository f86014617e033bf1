#!/usr/bin/env python3
"""The counters for Java: a test program, with the checks of JNI, and the program in
docs/COUNTERS.md, in each JDK from 17 on.

Usage: java_test.py COUNTERS.MD JAR
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, os.pardir, os.pardir, "e2e"))
import jvms  # noqa: E402


def run(*command):
    done = subprocess.run(command, text=True, capture_output=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    assert "WARNING in native" not in done.stdout, done.stdout
    return done.stdout


def program_in(document, place):
    with open(document, encoding="utf-8") as file:
        program = re.search(r"^```java\n(.*?)^```$", file.read(), re.M | re.S).group(1)
    path = os.path.join(place, "Work.java")
    with open(path, "w", encoding="utf-8") as file:
        file.write(program)
    return path


def moved_library(jdk, jar, place):
    """A jar that is not beside its library finds it by the property, or says that it does not."""
    alone = os.path.join(place, "alone", "jprof-counters.jar")
    os.makedirs(os.path.dirname(alone), exist_ok=True)
    shutil.copy(jar, alone)
    path = f"{alone}:{place}"
    library = os.path.join(os.path.dirname(jar), "..", "..", "lib", "libjprof_counters_java.so")
    run(*jdk.java(f"-Djprof.counters.native={library}", "-cp", path, "Work"))
    missing = subprocess.run(jdk.java("-cp", path, "Work"), text=True, capture_output=True)
    assert missing.returncode == 1 and "jprof_counters_java" in missing.stderr, missing


def main():
    document, jar = sys.argv[1:]
    for jdk in jvms.needed_jdks(least=17):
        with tempfile.TemporaryDirectory(prefix="jprof-counters-") as place:
            run(jdk.tool("javac"), "--release", "17", "-Xlint:all", "-Werror", "-cp", jar, "-d",
                place, os.path.join(HERE, "CountersTest.java"), program_in(document, place))
            path = f"{jar}:{place}"
            said = run(*jdk.java("-Xcheck:jni", "-cp", path, "CountersTest"))
            assert said.endswith("passed\n"), said
            said = run(*jdk.java("-cp", path, "Work"))
            found = re.fullmatch(r"(\d+) ns, (\d+) page faults\n", said)
            assert found and int(found[1]) > 0 and int(found[2]) >= 100, said
            moved_library(jdk, jar, place)
        print(f"{jdk.name}: passed")


main()
