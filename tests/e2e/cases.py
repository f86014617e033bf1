"""The registry of the cases of one test program, and the options that select them."""
import argparse
import collections
import struct
import subprocess
import time

import jvms
import reports
from lab import Lab, Skip

# What a case with damaged or missing data raises: a failure, not a defect of the test.
ERRORS = (reports.ReportFailed, subprocess.TimeoutExpired, OSError, KeyError, ValueError,
          struct.error)


class Cases(dict):
    """Name -> function, in the order of definition. An instance is the decorator that registers."""

    def __init__(self):
        super().__init__()
        self.manual = set()  # the names of the cases that ctest does not run
        self.shared = []     # the names of those that run on one of the JDKs

    def __call__(self, function):
        self[function.__name__] = function
        return function

    def by_hand(self, function):
        """The decorator of a case that ctest does not run."""
        self.manual.add(function.__name__)
        return self(function)

    def on_one_jdk(self, function):
        """The decorator of a case that runs on one of the JDKs, the next case on the next one; on
        each with --jdk."""
        self.shared.append(function.__name__)
        return self(function)

    def runs_on(self, name, jdk, jdks):
        return name not in self.shared or jdks[self.shared.index(name) % len(jdks)] == jdk

    def parser(self, description):
        """A parser with --case and --list; --list prints the names and exits."""
        cases = self

        class List(argparse.Action):
            def __call__(self, parser, *_):
                print("\n".join(name for name in cases if name not in cases.manual))
                parser.exit()

        parser = argparse.ArgumentParser(
            description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--case", action="append", choices=self,
                            help="run only this case; repeatable")
        parser.add_argument("--list", action=List, nargs=0, help="print the names of the cases that ctest runs")
        return parser

    def chosen(self, args):
        """The (name, function) pairs that --case selects."""
        return [(name, self[name]) for name in args.case or self]

    def main(self, description):
        """The program of cases that need the agent and the compiled programs only. Returns the exit
        status."""
        parser = self.parser(description)
        parser.add_argument("--jprof", required=True)
        parser.add_argument("--agent", required=True)
        parser.add_argument("--programs", required=True, help="output folder of programs.py")
        parser.add_argument("--jdk", type=int)
        args = parser.parse_args()
        return self.run(args, lambda jdk: Lab.with_libraries(
            args.jprof, args.agent, args.programs, jdk))

    def run(self, args, lab_of):
        """Runs cases that return lists of failures, on every JDK that --jdk selects. lab_of(jdk)
        makes their argument. Prints the outcomes and returns the exit status."""
        outcomes = collections.Counter()
        jdks = jvms.needed_jdks([args.jdk] if args.jdk else ())
        for jdk in jdks:
            lab = lab_of(jdk)
            for name, function in self.chosen(args):
                if self.runs_on(name, jdk, jdks):
                    outcomes[_run_one(name, function, lab)] += 1
        if outcomes["FAIL"]:
            return 1
        return jvms.SKIPPED if set(outcomes) == {"skip"} else 0


def _run_one(name, function, lab):
    started = time.monotonic()
    try:
        failures = function(lab)
        state = "FAIL" if failures else "ok  "
    except Skip as why:
        failures, state = [f"skipped: {name}: {why}"], "skip"
    except ERRORS as error:
        failures, state = [f"{type(error).__name__}: {str(error)[:600]}"], "FAIL"
    print(f"{state} {name} {lab.jdk.name} ({time.monotonic() - started:.1f} s)", flush=True)
    for failure in failures[:20]:
        print("       " + failure)
    return state
