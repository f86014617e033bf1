#!/usr/bin/env python3
"""Runs commands that start JVMs plain and under `jprof calltree --`, and prints whether they behave
the same and which profiles were made.

    bench/soak/any_command.py [--jprof build/release/bin/jprof] [NAME]...

The commands are those that are installed of groovy, jython, mvn and ant (Debian has packages of
these names), and two shell scripts. The standard error is compared without the lines of jprof and
without HotSpot's "Picked up JAVA_TOOL_OPTIONS". Exit status: 1 if a command behaves differently.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

FILES = {
    "Sum.java": """public class Sum {
    public static void main(String[] words) {
        long sum = 0;
        for (int i = 0; i < Integer.parseInt(words[0]); i++) sum += Math.floorMod(sum + i, 1000);
        System.out.println(sum);
        System.exit(words.length);
    }
}
""",
    "x.groovy": "println((1..10).collect { it * it }.sum())\n",
    "x.py": "print(sum(i * i for i in range(1, 11)))\n",
    "build.xml": '<project default="run"><target name="run"><echo message="built"/>'
                 '<fail message="stopped"/></target></project>\n',
    "pom.xml": "<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId>"
               "<artifactId>a</artifactId><version>1</version></project>\n",
    "two.sh": 'java -version 2>/dev/null; java Sum 1000; java Sum 3000000; '
              'echo "last: $?"; exit 4\n',
    "one.sh": "exec java Sum 1000 x\n",
}
COMMANDS = {
    "groovy": ["groovy", "x.groovy"],
    "jython": ["jython", "x.py"],
    "mvn": ["mvn", "-v"],
    "mvn, no plugins": ["mvn", "-o", "-q", "help:evaluate"],  # fails: there is no plugin offline
    "ant": ["ant", "-q"],
    "script, two JVMs": ["sh", "two.sh"],
    "script, exec": ["sh", "one.sh"],
}
VARYING = re.compile(r"\d+([.:]\d+)*( ?m?s(econds?)?)?|\bPT\S+")  # times


def compared(stderr):
    own = re.compile(r"jprof: .*\n|Picked up JAVA_TOOL_OPTIONS: .*\n")  # also behind a last line
    return [VARYING.sub("N", line) for line in own.sub("", stderr).splitlines()]


def profiles(place):
    if os.path.exists(f"{place}/control"):
        return os.path.basename(place)
    return " ".join(sorted(re.sub(r"-\d+$", "-PID", name) for name in os.listdir(place))) \
        if os.path.isdir(place) else "none"


def run(command, folder, environment):
    return subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300, check=False)


def environment_with_jdk():
    """Debian's groovy requires JAVA_HOME where there is no default-java."""
    environment = dict(os.environ)
    environment.pop("JAVA_TOOL_OPTIONS", None)
    java = os.path.realpath(shutil.which("java"))
    environment.setdefault("JAVA_HOME", os.path.dirname(os.path.dirname(java)))
    return environment


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jprof", default=os.path.join(HERE, "../../build/release/bin/jprof"))
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(COMMANDS))
    args = parser.parse_args()
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        environment = environment_with_jdk()
        subprocess.run(["javac", "Sum.java"], cwd=folder, check=True)
        print(f"{'command':<20}{'status':<12}{'stdout':<8}{'stderr':<8}profiles")
        for name, command in COMMANDS.items():
            if args.names and name not in args.names:
                continue
            if shutil.which(command[0]) is None:
                print(f"{name:<20}not installed")
                continue
            plain = run(command, folder, environment)
            place = f"{folder}/profile"
            done = run([os.path.abspath(args.jprof), "calltree", "-o", place, "--", *command],
                       folder, environment)
            same = (done.returncode == plain.returncode,
                    [VARYING.sub("N", line) for line in done.stdout.splitlines()] ==
                    [VARYING.sub("N", line) for line in plain.stdout.splitlines()],
                    compared(done.stderr) == compared(plain.stderr))
            words = ["same" if one else "OTHER" for one in same]
            words[0] += f" ({done.returncode})"
            print(f"{name:<20}{words[0]:<12}{words[1]:<8}{words[2]:<8}{profiles(place)}",
                  flush=True)
            if not all(same):
                different = 1
                print(f"plain: {plain.stderr[-500:]!r}\njprof: {done.stderr[-1500:]!r}")
            shutil.rmtree(place, ignore_errors=True)
    return different


if __name__ == "__main__":
    sys.exit(main())
