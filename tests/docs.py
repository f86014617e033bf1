#!/usr/bin/env python3
"""Checks the documents: README.md, CONTRIBUTING.md, CHANGELOG.md, {bench,trainers}/README.md,
docs/**/*.md.

  docs.py ROOT

  paths      every path named in `code` exists. A path has a slash, and its first part is a folder
             of the tree. Braces and stars are expanded: common/nearest.{h,cc}, docs/*.md. Build
             outputs (build/...) and placeholders (with <, > or $) are not paths of the tree.
  links      every link to a page or file resolves, and its #anchor is a heading of that page.
  columns    no line has more than 100 columns, outside tables and fenced code.
  decisions  docs/decisions/**/NNNN-title.md: numbered without gaps, the title with its number, a
             date, and the sections Context, Decision and Consequence, in that order, none empty.
  sources    every docs/*.md named in a source file, a test or a script exists.
  costs      docs/MEASURED.md has the table that bench/cost/costs.py --list prints, and README.md shows
             no other rows under the heading of that table.

Prints a line per violation and exits with 1, also if a violation planted for a rule is not found.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

COLUMNS = 100
SPAN = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```\s*$", re.M | re.S)
WORD = re.compile(r"[\w.*{},/+-]+")
HEADING = re.compile(r"^#+ +(.*)$", re.M)
RECORD = re.compile(
    r"# (\d{4})\. \S.*\n\nDate: \d{4}-\d\d-\d\d\n\n"
    r"## Context\n+(?!#)\S.*?## Decision\n+(?!#)\S.*?## Consequence\n+(?!#)\S.*\Z", re.S)
NAMED_DOCUMENT = re.compile(r"\bdocs/[\w/-]+\.md\b")
SOURCES = (".h", ".cc", ".c", ".py", ".java", ".txt", ".cmake", "")


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def documents(root):
    named = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md",
             "trainers/README.md"]
    found = glob.glob(os.path.join(root, "docs", "**", "*.md"), recursive=True)
    return [name for name in named if os.path.exists(os.path.join(root, name))] + sorted(
        os.path.relpath(path, root) for path in found)


def expand(path):
    braces = re.search(r"\{([^{}]*)\}", path)
    if not braces:
        return [path]
    before, after = path[:braces.start()], path[braces.end():]
    return [one for part in braces.group(1).split(",") for one in expand(before + part + after)]


def folders_of(root):
    names = (name for name in os.listdir(root) if os.path.isdir(os.path.join(root, name)))
    return set(names) - {"build", ".git"}


def paths_in(text, folders):
    """The paths of the tree that `code` of the text names. Code may continue in the next line."""
    for paragraph in re.split(r"\n\s*\n", FENCE.sub("", text)):
        for span in SPAN.findall(paragraph):
            if any(mark in span for mark in "<>$"):
                continue
            for word in WORD.findall(span):
                word = word.strip(".,")
                # A word with other characters (Class::x, pkg/Class.method(sig)) is not a path.
                if "/" in word and word.split("/")[0] in folders:
                    yield word


def bad_paths(root, name):
    base = os.path.dirname(name)
    for path in dict.fromkeys(paths_in(read(root, name), folders_of(root))):
        for one in expand(path):
            places = [os.path.join(root, one), os.path.join(root, base, one)]
            if not any(glob.glob(place) for place in places):
                yield f"{name} names {one}, which does not exist"


def anchors(text):
    """The anchors of a page's headings, as GitHub generates them."""
    for heading in HEADING.findall(FENCE.sub("", text)):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def bad_links(root, name):
    base = os.path.dirname(name)
    for link in dict.fromkeys(LINK.findall(FENCE.sub("", read(root, name)))):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        page = os.path.normpath(os.path.join(base, target)) if target else name
        if not os.path.exists(os.path.join(root, page)):
            yield f"{name} links to {link}, which does not exist"
        elif anchor and anchor not in anchors(read(root, page)):
            yield f"{name} links to {link}, which is not a heading"


def long_lines(root, name):
    bare = FENCE.sub(lambda fence: re.sub(r"[^\n]", "", fence.group()), read(root, name))
    for number, line in enumerate(bare.split("\n"), 1):
        if len(line) > COLUMNS and not line.startswith("|"):
            yield f"{name}:{number}: {len(line)} columns, more than {COLUMNS}"


def bad_decisions(root, names):
    records = sorted((name for name in names if name.startswith("docs/decisions/")),
                     key=os.path.basename)
    for number, name in enumerate(records, 1):
        record = RECORD.match(read(root, name))
        if not record:
            yield (f"{name}: not a record: '# NNNN. Title', 'Date: YYYY-MM-DD', then the sections "
                   "Context, Decision and Consequence")
        elif not os.path.basename(name).startswith(record.group(1) + "-"):
            yield f"{name}: its title has number {record.group(1)}"
        elif int(record.group(1)) != number:
            yield f"{name}: the next number is {number:04}"


def bad_sources(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(each for each in folders if each != "build" and each[0] != ".")
        for file in sorted(files):
            path = os.path.relpath(os.path.join(folder, file), root)
            if os.path.splitext(file)[1] not in SOURCES or path == "tests/docs.py":
                continue
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as source:
                named = dict.fromkeys(NAMED_DOCUMENT.findall(source.read()))
            for one in named:
                if not os.path.exists(os.path.join(root, one)):
                    yield f"{path} names {one}, which does not exist"


def bad_costs(root):
    costs = os.path.join(root, "bench", "cost", "costs.py")
    if not os.path.exists(costs):
        return
    table = subprocess.run([sys.executable, costs, "--list"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    texts = {name: read(root, name) for name in documents(root)}
    if f"\n\n{table}\n" not in texts.get("docs/MEASURED.md", ""):
        yield "docs/MEASURED.md: its cost table is not the one that bench/cost/costs.py --list prints"
    heading, *rows = table.splitlines()
    shown = re.findall(rf"^{re.escape(heading)}\n((?:\|.*\n)*)", texts.get("README.md", ""), re.M)
    for row in "".join(shown).splitlines():
        if row not in rows:
            yield f"README.md: bench/cost/costs.py --list does not print the row {row}"


def violations(root):
    names = documents(root)
    for name in names:
        for rule in (bad_paths, bad_links, long_lines):
            yield from rule(root, name)
    yield from bad_decisions(root, names)
    yield from bad_sources(root)
    yield from bad_costs(root)


GOOD_RECORD = (
    "# 0001. One\n\nDate: 2026-11-21\n\n"
    "## Context\nA.\n\n## Decision\nB.\n\n## Consequence\nC.\n")
COSTS = {"bench/cost/costs.py": "print('| what |\\n|---|\\n| a |\\n| b |')\n",
         "docs/MEASURED.md": "A:\n\n| what |\n|---|\n| a |\n| b |\n\nB.\n"}
# (rule, files of a tree, text of the expected violation; None: there is none)
PLANTED = [
    ("paths", {"docs/X.md": "`common/a.h` `common/*.h`\n`pkg/Class.run` `build/x` `common/<x>`\n"},
     None),
    ("paths", {"docs/X.md": "```\n`common/b.h`\n```\n"}, None),
    ("paths", {"docs/X.md": "`common/a.{h,cc}`\n"}, "names common/a.cc,"),
    ("paths", {"README.md": "`run\ncommon/b.h`\n"}, "README.md names common/b.h,"),
    ("links", {"docs/X.md": "# A b: c\n[x](Y.md#d-e) [x](#a-b-c) [x](https://a.b/c)\n",
               "docs/Y.md": "## D e\n"}, None),
    ("links", {"docs/X.md": "[x](Z.md)\n"}, "links to Z.md, which does not exist"),
    ("links", {"docs/X.md": "# A\n[x](#b)\n"}, "links to #b, which is not a heading"),
    ("columns", {"docs/X.md": "| " + "a" * 120 + " |\n```\n" + "b" * 120 + "\n```\n"}, None),
    ("columns", {"CONTRIBUTING.md": "a\n" + "b " * 51 + "\n"}, "CONTRIBUTING.md:2: 102 columns"),
    ("decisions", {"docs/decisions/0001-a.md": GOOD_RECORD}, None),
    ("decisions", {"docs/decisions/0001-a.md": GOOD_RECORD.replace("Date: ", "")}, "not a record"),
    ("decisions", {"docs/decisions/0001-a.md": GOOD_RECORD.replace("C.\n", "")}, "not a record"),
    ("decisions", {"docs/decisions/0001-a.md": GOOD_RECORD.replace("Decision", "Choice")},
     "not a record"),
    ("decisions", {"docs/decisions/0002-a.md": GOOD_RECORD}, "its title has number 0001"),
    ("decisions", {"docs/decisions/0002-a.md": GOOD_RECORD.replace("0001", "0002")},
     "the next number is 0001"),
    ("decisions", {"docs/decisions/x/0002-a.md": GOOD_RECORD.replace("0001", "0002"),
                   "docs/decisions/0001-a.md": GOOD_RECORD}, None),
    ("decisions", {"docs/decisions/x/0001-a.md": GOOD_RECORD,
                   "docs/decisions/y/0001-b.md": GOOD_RECORD}, "the next number is 0002"),
    ("sources", {"common/x.cc": "// docs/X.md\n", "docs/X.md": ""}, None),
    ("sources", {"common/x.cc": "// See docs/NONE.md.\n"}, "common/x.cc names docs/NONE.md,"),
    ("costs", {**COSTS, "README.md": "| x |\n|---|\n| y |\n"}, None),
    ("costs", {**COSTS, "README.md": "| what |\n|---|\n| b |\n"}, None),
    ("costs", {**COSTS, "README.md": "| what |\n|---|\n| a |\n| c |\n"}, "the row | c |"),
    ("costs", {**COSTS, "docs/MEASURED.md": "A:\n\n| what |\n|---|\n\n| a |\n| b |\n\nB.\n"},
     "its cost table is not the one"),
    ("costs", {"bench/cost/costs.py": COSTS["bench/cost/costs.py"]}, "its cost table is not the one"),
]


def plant(root, files):
    for path, text in {"common/a.h": "", **files}.items():
        os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)


def self_test():
    for rule, files, expected in PLANTED:
        with tempfile.TemporaryDirectory() as root:
            plant(root, files)
            found = list(violations(root))
        as_expected = len(found) == 1 and expected in found[0] if expected else not found
        if not as_expected:
            yield f"planted ({rule}): {files}: expected {expected}, found {found}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = sys.argv[1]
    complaints = list(self_test()) + list(violations(root))
    count = len(documents(root))
    if count < 10:
        complaints.append(f"{root}: only {count} documents: is this the root?")
    print("\n".join(complaints) or f"{count} documents in order; {len(PLANTED)} planted cases")
    sys.exit(1 if complaints else 0)


main()
