#!/usr/bin/env python3
"""Checks that every path named in README.md and docs/*.md exists.

  docs_paths.py ROOT

A path is a word in `code` or a link target that has a slash and whose first part is a folder of the tree, or a
file name of the tree's root. Braces and stars are expanded: common/nearest.{h,cc}, docs/*.md. Build outputs
(build/...) and placeholders (with <, > or $) are not paths of the tree.
"""
import glob
import os
import re
import sys
import tempfile

SPAN = re.compile(r"`([^`\n]+)`|\]\(([^)\s]+)\)")
FENCE = re.compile(r"^\s*```.*?^\s*```\s*$", re.M | re.S)
WORD = re.compile(r"[\w.*{},/+-]+")


def expand(path):
    braces = re.search(r"\{([^{}]*)\}", path)
    if not braces:
        return [path]
    return [
        one
        for part in braces.group(1).split(",")
        for one in expand(path[: braces.start()] + part + path[braces.end() :])
    ]


def named_paths(text, root):
    folders = {name for name in os.listdir(root) if os.path.isdir(os.path.join(root, name))} - {
        "build",
        ".git",
    }
    for match in SPAN.finditer(FENCE.sub("", text)):
        span, link = match.groups()
        if link:
            if not re.match(r"[a-z]+:|#", link):
                yield link.split("#")[0]
            continue
        if any(mark in span for mark in "<>$"):
            continue
        for word in WORD.findall(span):
            word = word.strip(".,")
            # A word glued to other signs (Class::x, pkg/Class.method(sig)) is no path of ours.
            if "/" in word and word.split("/")[0] in folders:
                yield word


def missing(root, document):
    with open(os.path.join(root, document), encoding="utf-8") as file:
        text = file.read()
    base = os.path.dirname(document)
    for path in dict.fromkeys(named_paths(text, root)):
        for one in expand(path):
            places = [os.path.join(root, one), os.path.join(root, base, one)]
            if not any(glob.glob(place) for place in places):
                yield f"{document} names {one}, which does not exist"


def documents(root):
    return [
        name
        for name in ["README.md"]
        + sorted(
            os.path.relpath(path, root) for path in glob.glob(os.path.join(root, "docs", "*.md"))
        )
        if os.path.exists(os.path.join(root, name))
    ]


def self_test():
    """A document with one good and several bad names must yield exactly the bad ones."""
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "docs"))
        os.makedirs(os.path.join(root, "common"))
        open(os.path.join(root, "common", "a.h"), "w").close()
        with open(os.path.join(root, "docs", "X.md"), "w", encoding="utf-8") as file:
            file.write(
                "`common/a.h` `common/a.{h,cc}` [x](Y.md) [y](https://a.b/c) `pkg/Class.run` `common/b*.h`\n"
                "`build/x/y` `common/<name>`\n```\ncommon/nothing.h\n```\n"
            )
        found = [line.split(" names ")[1].split(",")[0] for line in missing(root, "docs/X.md")]
    expected = ["common/a.cc", "Y.md", "common/b*.h"]
    return [] if found == expected else [f"self-test: expected {expected}, found {found}"]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = sys.argv[1]
    names = documents(root)
    complaints = self_test() + [line for name in names for line in missing(root, name)]
    print("\n".join(complaints) or f"{len(names)} documents name only what exists")
    sys.exit(1 if complaints else 0)


main()
