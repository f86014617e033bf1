#!/usr/bin/env python3
"""Keeps tables of a page in docs/ equal to what a program prints from the code's own tables.

  docs_tables.py PAGE PROGRAM            fails if the page is out of date
  docs_tables.py PAGE PROGRAM --write    rewrites the page

PROGRAM prints one or more Markdown tables. A table of the page is one of them if its first line is
the same; the page must have each exactly once. Exits with 1 also if a planted change is not found.
"""
import os
import re
import subprocess
import sys

TABLE = re.compile(r"^\|.*\n\|[-:| ]+\n(?:\|.*\n)*", re.M)


def head(table):
    return table.splitlines()[0]


def updated(page, tables):
    """The page with these tables, or None if it does not have each of them exactly once."""
    heads = [head(found) for found in TABLE.findall(page)]
    if any(heads.count(head(table)) != 1 for table in tables):
        return None
    wanted = {head(table): table for table in tables}
    return TABLE.sub(lambda found: wanted.get(head(found.group()), found.group()), page)


def self_test(page, tables):
    """Plants a change in each table; each must make the page out of date. Returns the failures."""
    failures = []
    for table in tables:
        last = table.splitlines(keepends=True)[-1]
        planted = {
            "a changed row": table.replace(last, last[:2] + "x" + last[2:]),
            "a missing row": table.replace(last, ""),
            "an additional row": table + last,
            "a missing table": "",
        }
        for what, changed in planted.items():
            text = page.replace(table, changed)
            if text == page or updated(text, tables) == text:
                failures.append(f"planted: {what} in {head(table)}: not found")
    return failures


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--write"]):
        sys.exit(__doc__)
    path, program = sys.argv[1:3]
    name = os.path.basename(path)
    printed = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
    tables = TABLE.findall(printed)
    if not tables:
        sys.exit(f"{program} prints no table")
    with open(path, encoding="utf-8") as file:
        page = file.read()
    wanted = updated(page, tables)
    if wanted is None:
        heads = ", ".join(map(head, tables))
        sys.exit(f"{name}: must have one table each that begins with {heads}")
    if sys.argv[3:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted)
    elif wanted != page:
        sys.exit(
            f"{name}: generated tables are out of date; rewrite them with\n"
            f"  {sys.argv[0]} {path} {program} --write"
        )
    failures = self_test(wanted, tables)
    print("\n".join(failures) or f"{name}: {len(tables)} tables are up to date; planted cases found")
    sys.exit(1 if failures else 0)


main()
