#!/usr/bin/env python3
"""Installs the build into an empty folder and uses it with the installed files only.

  install.py CMAKE BUILD
"""
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
import jvms  # noqa: E402


def run(*words, **options):
    return child.run(words, check=True, **options)


COUNTING = """
public class Counting {
  public static void main(String[] args) throws Exception {
    try (var counters = jprof.counters.Counters.open("time"); var mine = counters.start()) {
      System.out.println(mine.readOne() >= 0);
    }
  }
}
"""


def count_in_java(prefix):
    """The installed jar finds its library, and that the one of C."""
    source = os.path.join(prefix, "Counting.java")
    with open(source, "w", encoding="utf-8") as file:
        file.write(COUNTING)
    jar = os.path.join(prefix, "share/jprof/jprof-counters.jar")
    said = run(*jvms.needed_jdks()[0].java("-cp", jar, source)).stdout
    assert said == "true\n", said


def main():
    cmake, build = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="jprof install ") as prefix:
        run(cmake, "--install", build, "--prefix", prefix)
        jprof = os.path.join(prefix, "bin", "jprof")
        for path in ("bin/jprof", "lib/jprof/libjprof.so", "lib/jprof/libjprof_java.so",
                     "lib/jprof/libjprof_locks.so", "lib/jprof/libjprof-pages.so",
                     "lib/jprof/libjprof_trainer.so", "share/jprof/trainers.jar",
                     "include/jprof_counters.h", "share/man/man1/jprof.1.gz",
                     "share/man/man1/jprof-profile.1.gz",
                     "share/bash-completion/completions/jprof",
                     "share/zsh/vendor-completions/_jprof",
                     "share/fish/vendor_completions.d/jprof.fish",
                     "lib/jprof/libjprof_counters_java.so", "share/jprof/jprof-counters.jar",
                     "share/jprof/jprof-jmh.jar", "share/jprof/jprof-label.jar",
                     "include/jprof-label.h",
                     "lib/libjprof-ptm.so"):
            assert os.path.isfile(os.path.join(prefix, path)), f"{path} is not installed"
        count_in_java(prefix)
        assert run(jprof, "--version").stdout.startswith("jprof "), "jprof --version"

        homes = {"HOME": prefix, "XDG_DATA_HOME": os.path.join(prefix, "data")}
        jdks = jvms.needed_jdks()
        doctor = run(jprof, "doctor", "--java", jdks[0].java()[0], env={**os.environ, **homes}).stdout
        assert "can be profiled" in doctor and "calibrate " in doctor, doctor
        for jdk in jdks:
            profile = os.path.join(prefix, f"profile {jdk.major}.jprof")
            done = run(
                jprof,
                "callflow",
                "-o",
                profile,
                "--",
                *jdk.java(),
                "-cp",
                os.path.join(prefix, "share/jprof/trainers.jar"),
                "Demo",
                "1000",
                env={**os.environ, **homes},
            )
            assert len(done.stdout.splitlines()) == 10, done.stdout
            report = run(jprof, "report", "log-rt", profile).stdout
            assert "Demo.main(String[])" in report, report[:2000]
        print(f"installed and used with {len(jdks)} JDKs")


main()
