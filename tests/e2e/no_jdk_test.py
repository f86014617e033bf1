#!/usr/bin/env python3
"""Checks that without a JDK the tests that need one are skipped instead of passing untested: one
case of each test program that looks for JDKs before any case, and all cases of the others.

Usage: no_jdk_test.py CTEST BUILD
"""
import concurrent.futures
import json
import os
import sys

import child
import jvms
from lab import Skip, own_mounts

# End-to-end tests that need no JVM, and this test itself.
WITHOUT = ("e2e.hot_path_asm", "e2e.signal_safe", "e2e.metrics", "e2e.no_jdk", "e2e.pages",
           "e2e.tprof.many_processes",
           "e2e.tprof.interrupted", "e2e.tprof.stanzas", "e2e.tprof.bad_use",
           "e2e.tprof.secrets_of_root")
# The other cases of hooks are of C and C++.
HOOKS_WITH_JVM = ("e2e.hooks.java_above", "e2e.hooks.java_below",
                  "e2e.hooks.libraries_at_one_address_in_a_jvm")
MORE = ("cli.real_jvm", "cli.install", "cli.import", "cli.process_context")


def without_jdks():
    if os.geteuid() != 0:
        raise Skip("hiding the JDKs needs root")
    own_mounts()
    child.run(["mount", "-t", "tmpfs", "tmpfs", jvms.JVM_FOLDER], check=True)
    os.environ.pop("JAVA_HOME", None)


def needs_jdk(test):
    if test.startswith("e2e.hooks."):
        return test in HOOKS_WITH_JVM
    return test in MORE or test.startswith("e2e.") and test not in WITHOUT


def main():
    ctest, build = sys.argv[1:]
    listed = json.loads(
        child.run([ctest, "--test-dir", build, "--show-only=json-v1"], check=True).stdout)["tests"]
    tests = [t for t in listed if needs_jdk(t["name"])]
    # A program with cases that need no JDK looks for one in each of the others.
    mixed = {t["command"][1] for t in listed if t["name"].startswith("e2e.") and t not in tests}
    tests = list({t["name"] if t["command"][1] in mixed else t["command"][1]: t
                  for t in tests}.values())
    try:
        without_jdks()
    except Skip as why:
        jvms.skip(why)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(lambda t: child.run(t["command"]), tests))
    wrong = [f"{t['name']}: exit status {e.returncode}: {(e.stdout + e.stderr).strip()[-300:]}"
             for t, e in zip(tests, ended)
             if e.returncode != jvms.SKIPPED or "skipped: " not in e.stdout]
    print("\n".join(wrong + [f"{len(tests)} tests without a JDK, {len(wrong)} not skipped"]))
    sys.exit(1 if wrong or len(tests) < 20 else 0)


main()
