"""The JDKs of this machine and the modes a JVM runs in. Shared by the tests and the benchmarks."""
import dataclasses
import glob
import os
import re
import sys

JVM_FOLDER = "/usr/lib/jvm"
HEAP = "-Xmx512m"  # default of every JVM that a test starts
SKIPPED = 77       # the exit status of a test that cannot run here: ctest counts it as skipped


@dataclasses.dataclass(frozen=True)
class Jdk:
    home: str
    major: int
    version: str

    @property
    def name(self):
        return f"jdk{self.major}"

    def tool(self, name):
        return os.path.join(self.home, "bin", name)

    def java(self, *flags):
        return [self.tool("java"), HEAP, *flags]


def jdk_at(home):
    """The JDK in this folder; None if there is none with java and javac."""
    release = os.path.join(home, "release")
    tools = [os.path.join(home, "bin", t) for t in ("java", "javac")]
    if not all(map(os.path.exists, tools + [release])):
        return None
    with open(release, encoding="utf-8") as f:
        found = re.search(r'JAVA_VERSION="((\d+)[^"]*)"', f.read())
    return Jdk(home, int(found[2]), found[1]) if found else None


def find_jdks():
    """All JDKs with java and javac in the JVM folder (without duplicates by links) and JAVA_HOME,
    oldest first."""
    homes = {os.path.realpath(p) for p in glob.glob(os.path.join(JVM_FOLDER, "*"))}
    if os.environ.get("JAVA_HOME"):
        homes.add(os.path.realpath(os.environ["JAVA_HOME"]))
    return sorted(filter(None, map(jdk_at, homes)), key=lambda j: (j.major, j.home))


def skip(reason):
    """Ends a test that cannot run on this machine."""
    print(f"skipped: {reason}", flush=True)
    sys.exit(SKIPPED)


def needed_jdks(only=(), least=0):
    """The JDKs from version `least` on, restricted to `only` unless it is empty. Skips the test if
    there is none."""
    found = [j for j in find_jdks() if j.major >= least and (not only or j.major in only)]
    if not found:
        wanted = " or ".join(
            map(str, only)) if only else f"{least} or later" if least else "of any version"
        skip(f"it needs a JDK {wanted} under {JVM_FOLDER} or in JAVA_HOME")
    return found


# -Xcomp compiles the program's own classes before their first call; compiling the JDK's would take
# seconds per run.
MODES = {
    "tiered": lambda program: [],
    "int": lambda program: ["-Xint"],
    "c1": lambda program: ["-XX:TieredStopAtLevel=1"],
    "c2": lambda program: ["-XX:-TieredCompilation"],
    "comp": lambda program: [
        "-Xcomp", "-XX:CompileCommand=quiet", f"-XX:CompileCommand=compileonly,{program}*::*"],
}

# Variants of the JVM: collectors, pointer and header layouts, profiled C1 tiers, code caches.
VARIANTS = {
    "serial": ["-XX:+UseSerialGC"],
    "parallel": ["-XX:+UseParallelGC"],
    "z": ["-XX:+UseZGC"],
    "shenandoah": ["-XX:+UseShenandoahGC"],
    "wide-pointers": ["-XX:-UseCompressedOops"],
    # The JVM warns that it cannot use its archive, and from JDK 25 on that the flag is deprecated.
    "wide-classes": ["-Xlog:disable", "-XX:-PrintWarnings", "-XX:-UseCompressedOops",
                     "-XX:-UseCompressedClassPointers"],
    "compact-headers": ["-XX:+UseCompactObjectHeaders"],
    "level-2": ["-XX:TieredStopAtLevel=2"],
    "level-3": ["-XX:TieredStopAtLevel=3"],
    "small-code-cache": ["-XX:ReservedCodeCacheSize=4M"],
    "one-segment": ["-XX:-SegmentedCodeCache"],
    "checked-jni": ["-Xcheck:jni"],
    "no-archive": ["-Xshare:off"],
}
