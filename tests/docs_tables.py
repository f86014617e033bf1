#!/usr/bin/env python3
"""Keeps the table of docs/AGENT_OPTIONS.md what the table in options/option_table.cc says.

  options_docs.py ROOT PROGRAM            fails if the page is out of date; PROGRAM prints the table
  options_docs.py ROOT PROGRAM --write    rewrites the page
"""
import os
import re
import subprocess
import sys

TABLE = re.compile(r"^\| word \|.*\n(?:\|.*\n)*", re.M)


def updated(page, table):
    """The page with this table; None if it has none, or more than one."""
    if len(TABLE.findall(page)) != 1:
        return None
    return TABLE.sub(lambda _: table, page)


def self_test(page, table):
    """Planted: a word changed, a row dropped, a row added; each must make the page out of date."""
    rows = table.splitlines(keepends=True)
    planted = {
        "a changed word": page.replace("`OUT=DIR`", "`OUT=FILE`"),
        "a missing row": page.replace(rows[-1], ""),
        "an additional row": page.replace(rows[-1], rows[-1] + "| `NEW` | | new |\n"),
    }
    failures = [
        f"planted: {what}: not found"
        for what, text in planted.items()
        if text == page or updated(text, table) == text
    ]
    if updated("no table\n", table) is not None:
        failures.append("planted: a page without the table: not found")
    return failures


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--write"]):
        sys.exit(__doc__)
    root, program = sys.argv[1:3]
    path = os.path.join(root, "docs", "AGENT_OPTIONS.md")
    table = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
    with open(path, encoding="utf-8") as file:
        page = file.read()
    wanted = updated(page, table)
    if wanted is None:
        sys.exit("docs/AGENT_OPTIONS.md: there must be one table that begins with | word |")
    if sys.argv[3:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted)
    elif wanted != page:
        sys.exit(
            "docs/AGENT_OPTIONS.md: the table of options is out of date; rewrite it with\n"
            f"  {sys.argv[0]} {root} {program} --write"
        )
    failures = self_test(wanted, table)
    print("\n".join(failures) or "the table of options is up to date; 4 planted cases as expected")
    sys.exit(1 if failures else 0)


main()
