#!/usr/bin/env python3
"""Prints the last lines of scripts/test: the numbers of tests that passed, were skipped and failed,
and the reason of each skip.

  summary.py NAME=JUNIT-FILE...     files that ctest --output-junit has written
"""
import collections
import re
import sys
import xml.etree.ElementTree

# The output of a test that cannot run, or runs only in part: jprof's line, GoogleTest's, and
# unittest's.
REASONS = (
    re.compile(r"^\s*(?:pmu-lab: )?skipped: (?P<why>.+)$", re.M),
    re.compile(r"^\S+:\d+: Skipped\n(?P<why>.+)$", re.M),
    re.compile(r"^(?P<part>\w+) \([\w.]+\)(?:\n.*)? \.\.\. skipped '(?P<why>.*)'$", re.M),
)


def reasons(output):
    """The reasons without duplicates, in the order of the output."""
    found = [match for pattern in REASONS for match in pattern.finditer(output)]
    texts = [": ".join(filter(None, (m.groupdict().get("part"), m["why"])))
             for m in sorted(found, key=lambda m: m.start())]
    return list(dict.fromkeys(texts))


def main():
    counts, skipped, in_part, failed = collections.Counter(), [], [], []
    for word in sys.argv[1:]:
        build, path = word.split("=", 1)
        try:
            cases = list(xml.etree.ElementTree.parse(path).getroot().iter("testcase"))
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            failed.append(f"{build}: ctest wrote no result: {error}")
            continue
        for case in cases:
            name, why = f"{build}: {case.get('name')}", reasons(case.findtext("system-out") or "")
            notice = case.find("skipped")
            state = "passed" if case.get("status") == "run" else "failed"
            # A test that ctest could not start has another status and counts as failed.
            if case.get("status") == "disabled" or notice is not None and notice.get(
                    "message", "").startswith("SKIP_"):
                state = "skipped"
            counts[state] += 1
            if state == "failed":
                failed.append(name)
            elif state == "skipped":
                skipped.append(f"{name}: {'; '.join(why) or 'no reason given'}")
            elif why:
                in_part.append(f"{name}: {'; '.join(why)}")
    for title, names in (("Skipped", skipped), ("Passed, but skipped in part", in_part),
                         ("Failed", failed)):
        if names:
            print(f"\n{title}:")
            print("\n".join("  " + name for name in names))
    print(f"\n{counts['passed']} tests passed ({len(in_part)} of them skipped in part), "
          f"{counts['skipped']} skipped, "
          f"{len(failed)} failed")
    return 1 if failed else 0


sys.exit(main())
