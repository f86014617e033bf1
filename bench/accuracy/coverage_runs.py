#!/usr/bin/env python3
"""Records many sampled runs of ten programs and counts how often the intervals of a few runs
contain the mean of the others (interval_coverage; docs/decisions/0040).

    bench/accuracy/coverage_runs.py [--jdk 17] [--runs 20] [--out DIR] [--build DIR] [PROGRAM ...]

Programs: hello, javap, jdeps, jar, clojure, h2, groovy, jython, javac, phases (all by default). A
program whose profile is in DIR is not recorded again. 20 runs of all take about 10 minutes.
"""
import argparse
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import debian_programs  # noqa: E402
import javac_program  # noqa: E402
import measure  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SHARE = "/usr/share/java/"


def commands(jdk, work):
    """Name -> command line; the ones of Debian's packages only if these are installed."""
    classes = os.path.join(work, "classes-of-bench")
    sources = [os.path.join(HERE, "..", "java", name + ".java") for name in ("TwoPhases", "Hello")]
    subprocess.run([jdk.tool("javac"), "-d", classes, *sources], check=True)
    javac = javac_program.arguments(work, 200)

    def tool(module, name, *words):
        return [*jdk.java(), "-m", f"{module}/{name}", *words]

    found = {
        "hello": [*jdk.java(), "-cp", classes, "Hello"],
        "javap": tool("jdk.jdeps", "com.sun.tools.javap.Main", "-c", "-p", "java.lang.String",
                      "java.util.HashMap", "java.util.concurrent.ForkJoinPool"),
        "jdeps": tool("jdk.jdeps", "com.sun.tools.jdeps.Main", "-s", classes),
        "jar": tool("jdk.jartool", "sun.tools.jar.Main", "-cf", os.path.join(work, "out.jar"), "-C",
                    work, "java.xml"),
        "clojure": [*jdk.java(), "-cp",
                    ":".join(SHARE + n for n in ("clojure.jar", "core.specs.alpha.jar",
                                                 "spec.alpha.jar")),
                    "clojure.main", "-e", "(reduce + (map inc (range 100000)))"],
    }
    for name in debian_programs.PROGRAMS:
        found[name] = debian_programs.command(jdk, name, work, [])
    found["javac"] = tool("jdk.compiler", "com.sun.tools.javac.Main", *javac)
    found["phases"] = [*jdk.java(), "-cp", classes, "TwoPhases", "calls"]
    needs = {"clojure": "clojure.jar",
             **{name: os.path.basename(jar) for name, (jar, _, _) in
                debian_programs.PROGRAMS.items()}}
    for name, jar in needs.items():
        if not os.path.exists(SHARE + jar):
            print(f"{name}: left out: {SHARE + jar} is not installed", file=sys.stderr)
            del found[name]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jdk", type=int, default=17)
    parser.add_argument("--runs", default="20")
    parser.add_argument("--out", default="coverage")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    jdks = [j for j in measure.jvms.find_jdks() if j.major == arguments.jdk]
    if not jdks:
        parser.error(f"no JDK {arguments.jdk}")
    work = os.path.abspath(os.path.join(arguments.out, f"work-{arguments.jdk}"))
    os.makedirs(os.path.join(work, "classes"), exist_ok=True)
    found, profiles = commands(jdks[0], work), []
    binaries = os.path.join(arguments.build, "bin")
    # What these runs show is no history of the user's own programs.
    environment = {**os.environ, "XDG_DATA_HOME": os.path.join(work, "data")}
    for name in arguments.programs or found:
        if name not in found:
            parser.error(f"no program {name}: {', '.join(found)}")
        profiles.append(os.path.join(arguments.out, f"{name}-{arguments.jdk}.jprof"))
        if os.path.exists(os.path.join(profiles[-1], "runs.json")):
            continue
        print(f"{name}: {arguments.runs} runs", file=sys.stderr, flush=True)
        done = subprocess.run([os.path.join(binaries, "jprof"), "profile", "--runs",
                               arguments.runs, "--force", "-o", profiles[-1], "--", *found[name]],
                              capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            raise SystemExit(f"{name}: exit status {done.returncode}\n{done.stderr[-1000:]}")
    return subprocess.run([os.path.join(binaries, "interval_coverage"), *profiles]).returncode


if __name__ == "__main__":
    sys.exit(main())
