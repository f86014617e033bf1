"""The expectations that a program prints, and their comparison with the calls in a profile."""
import collections
import dataclasses
import re

SEPARATOR = " > "
JDK = ("java.", "jdk.", "sun.", "com.sun.")  # packages of the JDK


@dataclasses.dataclass
class Expectation:
    kind: str     # calls, path, thread, site
    method: str   # a method, or methods joined by " > "; of a site caller > mark > callee
    count: int
    thread: str = ""

    def __str__(self):
        where = f" on '{self.thread}'" if self.thread else ""
        return f"{self.method}{where}"

    def of_jdk(self):
        """Whether FOCUS=app does not record it."""
        return self.method.split(SEPARATOR)[-1].startswith(JDK)

    def without_jdk(self):
        """The expectation if the JDK's methods are not recorded: paths omit them."""
        kept = [m for m in self.method.split(SEPARATOR) if not m.startswith(JDK)]
        return dataclasses.replace(self, method=SEPARATOR.join(kept))


def parse(stdout):
    found = []
    for line in stdout.splitlines():
        if line.startswith("EXPECT "):
            method, count = line[len("EXPECT "):].rsplit(" ", 1)
            found.append(Expectation("calls", method, int(count)))
        elif line.startswith("EXPECTPATH "):
            path, count = line[len("EXPECTPATH "):].rsplit(" ", 1)
            found.append(Expectation("path", path, int(count)))
        elif line.startswith("EXPECTSITE "):
            path, count = line[len("EXPECTSITE "):].rsplit(" ", 1)
            found.append(Expectation("site", path, int(count)))
        elif line.startswith("EXPECTTHREAD "):
            thread, rest = line[len("EXPECTTHREAD "):].split(" | ", 1)
            method, count = rest.rsplit(" ", 1)
            found.append(Expectation("thread", method, int(count), thread))
    return found


def marked_sites(source):
    """Mark -> (line, its place in the line or None if it is the only one): "// site 2 3" marks two
    calls in the order in which they are in the line."""
    marks = {}
    with open(source, encoding="utf-8") as f:
        for line, text in enumerate(f, 1):
            of_line = text.partition("// site ")[2].split()
            for place, mark in enumerate(of_line):
                marks[mark] = (line, place if len(of_line) > 1 else None)
    return marks


def glob_to_regex(pattern):
    """Only '*' is special: signatures contain the other wildcards."""
    return re.compile(".*".join(re.escape(part) for part in pattern.split("*")) + r"\Z", re.S)


class Calls:
    """Calls of one profile: by method, by thread name and method, and by path."""

    def __init__(self):
        self.by_method = collections.Counter()
        self.by_thread = collections.Counter()
        self.nodes = {}  # key -> (parent key, name, calls)
        self.by_site = collections.defaultdict(collections.Counter)  # (caller, callee) -> site
        self.marks = {}  # of marked_sites

    def add(self, key, parent, name, calls, thread):
        self.nodes[key] = (parent, name, calls)
        self.by_method[name] += calls
        self.by_thread[thread, name] += calls

    def add_site(self, caller, site, callee, calls):
        """A site is (bytecode index, line)."""
        self.by_site[caller, callee][site] += calls

    def of(self, expectation):
        if expectation.kind == "thread":
            return self.by_thread[expectation.thread, expectation.method]
        if expectation.kind == "path":
            return self._on_path(expectation.method.split(SEPARATOR))
        if expectation.kind == "site":
            return self._at_site(*expectation.method.split(SEPARATOR))
        if "*" not in expectation.method:
            return self.by_method[expectation.method]
        regex = glob_to_regex(expectation.method)
        return sum(n for name, n in self.by_method.items() if regex.match(name))

    def _at_site(self, caller, mark, callee):
        line, place = self.marks[mark]
        sites = self.by_site[caller, callee]
        of_line = [calls for (_, at), calls in sorted(sites.items()) if at == line]
        if place is None:
            return sum(of_line)
        return of_line[place] if place < len(of_line) else 0

    def _on_path(self, path):
        total = 0
        for parent, name, calls in self.nodes.values():
            if name == path[-1] and self._ends_with(parent, path[:-1]):
                total += calls
        return total

    def _ends_with(self, key, path):
        for wanted in reversed(path):
            node = self.nodes.get(key)
            if node is None or node[1] != wanted:
                return False
            key = node[0]
        return True


def compare(expectations, calls, kinds, what, partly=frozenset()):
    """One line per expectation of these kinds that the calls violate. Of the methods in `partly`,
    calls may be missing."""
    failures = []
    for e in expectations:
        if e.kind not in kinds:
            continue
        at_most = not partly.isdisjoint(e.method.split(SEPARATOR))
        if calls.of(e) > e.count or (calls.of(e) < e.count and not at_most):
            failures.append(f"{what}: {e}: expected {'at most ' * at_most}{e.count}, "
                            f"got {calls.of(e)}")
    return failures
