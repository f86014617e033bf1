#!/usr/bin/env python3
"""What a read of counters costs a Java program (docs/COUNTERS.md), beside System.nanoTime.

    bench/cost/counters_java.py [JAVA_HOME]

ns per read in elapsed time: median and least of 101 interleaved rounds of 20,000 reads. Requires a
built jprof-counters.jar.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402

JAR = os.path.join(measure.BUILD, "share", "jprof", "jprof-counters.jar")


def main():
    home = sys.argv[1] if len(sys.argv) > 1 else None
    javac, java = (os.path.join(home, "bin", name) if home else shutil.which(name)
                   for name in ("javac", "java"))
    with tempfile.TemporaryDirectory(prefix="jprof-counters-") as folder:
        subprocess.run([javac, "-cp", JAR, "-d", folder,
                        os.path.join(measure.ROOT, "bench", "java", "CounterReads.java")],
                       check=True)
        print("| ns per read | median | least |\n|---|---:|---:|", flush=True)
        subprocess.run([java, "-cp", f"{JAR}:{folder}", "CounterReads"], check=True)


main()
