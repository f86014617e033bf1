#!/usr/bin/env python3
"""Tests --pid with real JVMs: samples, jitted code, another JVM user's view of files (a container).

  attach_jvm.py JPROF
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
import jvms  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))
JDKS = jvms.needed_jdks()

PROGRAM = """
public class Busy {
    static long spin(long n) {
        long sum = 0;
        for (long i = 0; i < n; i++) sum += i * i ^ sum >> 3;
        return sum;
    }
    public static void main(String[] words) throws Exception {
        long sum = 0;
        for (int i = 0; i < 3000; i++) sum += spin(10_000);
        System.out.println("warm");
        while (System.in.available() == 0) sum += spin(1_000_000);
        System.out.println("done " + (sum == 0));
    }
}
"""
# The JVM's own /tmp is empty, except for the program.
CONTAINED = "mount -t tmpfs tmpfs /tmp && mkdir /tmp/app && cp Busy.class /tmp/app && " \
            'cd /tmp/app && exec "$@"'


class AttachJvm(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof, 100% + "))
        self.addCleanup(shutil.rmtree, self.folder)
        with open(os.path.join(self.folder, "Busy.java"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        child.run([JDKS[0].tool("javac"), "--release", "17", "Busy.java"], cwd=self.folder,
                  check=True)
        self.env = child.own_environment(self.folder)

    def jprof(self, *words):
        return child.run([JPROF, *map(str, words)], 120, cwd=self.folder, env=self.env)

    def busy(self, jdk, prefix=()):
        jvm = self.enterContext(child.running(
            [*prefix, *jdk.java("-cp", ".", "Busy")], cwd=self.folder, env=self.env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        self.assertEqual(jvm.stdout.readline(), "warm\n")
        return jvm

    def finish(self, jvm):
        out, _ = jvm.communicate("x", 60)
        self.assertEqual((jvm.returncode, out), (0, "done false\n"))

    def methods(self, profile):
        done = self.jprof("report", "methods", profile, "--format", "json")
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def test_samples_twice_and_logs_jitted_code(self):
        for jdk in JDKS:
            with self.subTest(jdk=jdk.name):
                jvm = self.busy(jdk)
                row = next(one for one in json.loads(self.jprof("ps", "--format", "json").stdout)
                           ["jvms"] if one["pid"] == jvm.pid)
                self.assertEqual((row["jdk"], row["agent"], row["command"][-1]),
                                 (jdk.version, False, "Busy"))
                for number in (1, 2):
                    out = f"{jdk.name}-{number}.jprof"
                    done = self.jprof("scs", "--pid", jvm.pid, "--duration", 1, "--rate", 100,
                                      "-o", out)
                    self.assertEqual(done.returncode, 0, done)
                    self.assertIn("Busy", self.methods(out))
                    info = json.loads(self.jprof("info", out, "--format", "json").stdout)
                    self.assertEqual((info["mode"], info["finished"]), ("scs", True))
                done = self.jprof("tprof", "--pid", jvm.pid, "--duration", 1, "-o",
                                  f"{jdk.name}-tprof")
                self.assertEqual(done.returncode, 0, done)
                self.assertIn("Busy.spin", done.stdout)
                self.finish(jvm)

    def test_a_container(self):
        prefix = ("unshare", "--pid", "--mount", "--mount-proc", "--fork", "--kill-child")
        if child.run([*prefix, "true"]).returncode != 0:
            self.skipTest("this user may not make namespaces")
        jdk = JDKS[-1]
        outer = self.busy(jdk, [*prefix, "sh", "-c", CONTAINED, "sh"])
        with open(f"/proc/{outer.pid}/task/{outer.pid}/children", encoding="utf-8") as file:
            pid = int(file.read())
        done = self.jprof("scs", "--pid", pid, "--duration", 1, "-o", "inside.jprof")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("Busy", self.methods("inside.jprof"))
        done = self.jprof("tprof", "--pid", pid, "--duration", 1, "-o", "inside-tprof")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("Busy.spin", done.stdout)
        for number in (1, 2):
            out = f"inside-{number}.jprof"
            done = self.jprof("calltree", "--counter", "woven", "--pid", pid, "--duration", 1,
                              "-o", out)
            self.assertEqual(done.returncode, 0, done)
            self.assertIn("Busy.spin", self.methods(out))
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
            agents = {line.split()[5] for line in maps if "libjprof.so" in line}
        self.assertEqual(len(agents), 1, agents)
        self.assertEqual([name for name in os.listdir(f"/proc/{pid}/root/tmp")
                          if name.startswith("jprof-attach")], [])
        self.finish(outer)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # prints which tests were skipped, and why
