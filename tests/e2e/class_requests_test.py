#!/usr/bin/env python3
"""Woven counting asks a program's class loaders for no class that the program does not ask for, on
every JDK found.

    class_requests_test.py --jprof BIN --agent LIB --programs DIR [--case NAME ...] [--jdk N]
"""
import os
import re
import sys

import reports
from cases import Cases

case = Cases()


def requests(lab, *options):
    """Failures of a woven run, which prints the names that its loaders are asked for, and the
    counted calls of the method that collects them."""
    program = ("-cp", os.path.join(lab.programs, "classes"), "ClassRequests")
    with lab.folder() as folder:
        profile = os.path.join(folder, "p.jprof")
        plain = lab.run(lab.jdk.java(*program))
        woven = lab.cli("calltree", "--counter", "woven", *options, "--agent", lab.agent, "-o",
                        profile, "--", *lab.jdk.java(*program))
        report = reports.log_rt(lab.jprof, profile)
        calls = sum(node["calls"] for thread in report["threads"]
                    for node in thread["nodes"] if node["name"].startswith("ClassRequests.request("))
    names = len(re.findall(r"java\.lang\.\w+|ClassRequests\$(?:First|Second)", plain.stdout))
    failures = [] if "java.lang.Integer" in plain.stdout else [f"plain: {plain.stderr[-300:]}"]
    if any(report["losses"].values()):  # classes that the loaders have found, not defined
        failures.append(f"losses: {report['losses']}")
    if (woven.returncode, woven.stdout) != (0, plain.stdout):
        failures.append(f"status {woven.returncode}: {woven.stdout} instead of {plain.stdout}: "
                        f"{woven.stderr[-500:]}")
    return failures, calls, names


@case
def all_methods(lab):
    """Each request is counted, and no other."""
    failures, calls, names = requests(lab)
    return failures + ([] if calls == names else [f"{calls} requests counted instead of {names}"])


@case
def loaders_out_of_focus(lab):
    """The methods of the loaders are not counted, those of the loaded classes are."""
    failures, calls, _ = requests(lab, "--focus", "ClassRequests$First")
    return failures + ([f"{calls} requests counted"] if calls else [])


if __name__ == "__main__":
    sys.exit(case.main(__doc__))
