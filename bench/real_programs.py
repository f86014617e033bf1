#!/usr/bin/env python3
"""Runs real programs under callflow: H2, Groovy and Jython from Debian's packages.

    bench/real_programs.py [--rounds 1] [--jdk 17] [--mode callflow] [--program h2]

Each must end with the output and the exit status of its untraced run; CPU times are printed side by
side. Exit status 1 if one does not; 77 if none of the packages (libh2-java groovy jython) is
installed.
"""
import collections
import glob
import os
import shutil
import sys

import measure

H2 = """
CREATE TABLE t(id INT PRIMARY KEY, name VARCHAR(40), v DOUBLE);
INSERT INTO t SELECT x, 'name ' || x, x * 1.5 FROM SYSTEM_RANGE(1, 5000);
CREATE INDEX iv ON t(v);
SELECT COUNT(*), SUM(v), MAX(name) FROM t WHERE id BETWEEN 100 AND 4000;
SELECT MOD(id, 7) AS k, COUNT(*), AVG(v) FROM t GROUP BY MOD(id, 7) ORDER BY k;
UPDATE t SET v = v + 1 WHERE MOD(id, 3) = 0;
DELETE FROM t WHERE v > 7000;
SELECT COUNT(*), SUM(v) FROM t;
SELECT a.name FROM t a JOIN t b ON a.id = b.id + 1 WHERE b.v BETWEEN 100 AND 110 ORDER BY a.id;
"""
GROOVY = """
def sum = 0
(1..20000).each { sum += it * 2 }
println sum
println "the quick brown fox jumps over the lazy dog".split(' ').collect { it.toUpperCase() }.sort()
println((1..10).collectEntries { [it, it ** 2] })
def fib
fib = { n -> n < 2 ? n : fib(n - 1) + fib(n - 2) }
println fib(15)
"""
JYTHON = """
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(17))
d = dict((str(i), i * i) for i in range(2000))
print(sum(d.values()), sorted(d)[:5])
import re, json
print(json.dumps({"a": [1, 2, {"b": None}]}, sort_keys=True),
      re.sub(r"(\\w)o", r"\\1O", "foo boo zoo"))
try:
    fib(None, 1)
except TypeError as e:
    print(type(e))
"""

# name -> (jar, input, arguments after the jar; {} = the file with the input)
PROGRAMS = {
    "h2": ("/usr/share/java/h2.jar", H2,
           ["org.h2.tools.RunScript", "-url", "jdbc:h2:mem:x", "-script", "{}",
                                          "-showResults"]),
    "groovy": ("/usr/share/java/groovy-all.jar", GROOVY, ["groovy.ui.GroovyMain", "{}"]),
    "jython": ("/usr/share/java/jython.jar", JYTHON, ["org.python.util.jython", "{}"]),
}


def command(jdk, name, work, flags):
    jar, text, arguments = PROGRAMS[name]
    script = os.path.join(work, name + ".txt")
    with open(script, "w", encoding="utf-8") as f:
        f.write(text)
    return [*jdk.java(), *flags, "-cp", jar, *(a.format(script) for a in arguments)]


def compare(args, jdk, name):
    """Whether the traced run equals the untraced one; None if the program does not run on this
    JDK."""
    with measure.folder("real", 2, 4, args.out) as work:
        profile = os.path.join(work, f"{name}-{jdk.major}")

        def once(kind):
            shutil.rmtree(profile, ignore_errors=True)
            agent = (f"-agentpath:{os.path.abspath(args.agent)}={args.mode},tree_memory=2G,"
                     f"out={profile}")
            # Jython caches classes: traced and untraced runs have separate caches.
            flags = [agent] if kind == "traced" else []
            return measure.run(
                command(jdk, name, work, flags + [f"-Dpython.cachedir={work}/cache-{kind}"]),
                cwd=work)

        first = once("untraced")
        if first.status != 0 or not first.stdout.strip():
            print(
                f"{name:8} JDK {jdk.major}: does not run on this JDK untraced (status "
                f"{first.status})")
            return None
        results = measure.interleaved(["untraced", "traced"], args.rounds, once)
        same = all(r.status == 0 and r.stdout == first.stdout for r in results["traced"])
        figures = measure.figures(args.jprof, profile)
        untraced, traced = (measure.median(results[k]) for k in ("untraced", "traced"))
        print(f"{name:8} JDK {jdk.major}: {'same output' if same else 'OUTPUT DIFFERS'}, CPU "
              f"{untraced:.2f} s -> "
              f"{traced:.2f} s, {figures.events} events, {figures.contexts} contexts, lost: "
              f"{figures.lost or 'nothing'}",
              flush=True)
        for file in glob.glob(os.path.join(work, "hs_err*")):
            print(open(file, encoding="utf-8", errors="replace").read(3000))
        shutil.rmtree(profile, ignore_errors=True)
        return same and not figures.lost


def main():
    parser = measure.arguments(__doc__)
    parser.set_defaults(rounds=1)
    parser.add_argument("--mode", default="callflow")
    parser.add_argument("--program", choices=PROGRAMS)
    args = parser.parse_args()
    outcome = collections.Counter()
    for jdk in measure.jdks_of(args):
        for name in PROGRAMS:
            if args.program not in (None, name):
                continue
            if not os.path.exists(PROGRAMS[name][0]):
                print(
                    f"skipped: {name}: {PROGRAMS[name][0]} is not installed; scripts/setup "
                    f"installs it")
                continue
            outcome[compare(args, jdk, name)] += 1
    if outcome[False]:
        return 1
    return 0 if outcome[True] else 77


if __name__ == "__main__":
    sys.exit(main())
