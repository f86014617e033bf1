"""Programs in Java from Debian's packages, each with an input: H2, Groovy and Jython."""
import os

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
