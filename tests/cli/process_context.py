#!/usr/bin/env python3
"""Tests what a program publishes of itself (OpenTelemetry's process context): a library publishes
attributes in a JVM that is recorded; `jprof info`, OTLP and `jprof push` have them.

  process_context.py JPROF LIBRARY
"""
import json
import os
import shutil
import sys
import tempfile
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, os.pardir, "e2e"))
import child  # noqa: E402
import jvms  # noqa: E402

LIBRARY = os.path.abspath(sys.argv.pop(2))
JPROF = os.path.abspath(sys.argv.pop(1))
JDK = jvms.needed_jdks()[0]
PROGRAM = """
public class Work {
    static int count(int n) { return n == 0 ? 0 : 1 + count(n - 1); }
    public static void main(String[] words) { System.out.println(count(50)); }
}
"""


class ProcessContext(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof context "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.env = child.own_environment(self.folder, "LD_PRELOAD")
        with open(os.path.join(self.folder, "Work.java"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        self.run_in([JDK.tool("javac"), "Work.java"])

    def run_in(self, command, status=0, **env):
        done = child.run(command, 120, cwd=self.folder, env={**self.env, **env})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def record(self, name, **env):
        self.run_in([JPROF, "calltree", "-o", name, "--", "/usr/bin/env",
                     *(f"{key}={value}" for key, value in env.items()), *JDK.java("Work")])

    def test_attributes_are_recorded(self):
        self.record("app.jprof", LD_PRELOAD=LIBRARY)
        info = json.loads(self.run_in([JPROF, "info", "app.jprof", "--format", "json"]).stdout)
        self.assertEqual(info["published"], {"service.name": "shop", "service.namespace": "web?[1m",
                                             "deployment.environment.name": "staging"})
        text = self.run_in([JPROF, "info", "app.jprof"]).stdout
        self.assertIn("service.name shop", text)
        self.run_in([JPROF, "export", "app.jprof", "--format", "otlp"])
        with open(os.path.join(self.folder, "app.otlp.json"), encoding="utf-8") as file:
            resource = json.load(file)["resourceProfiles"][0]["resource"]["attributes"]
        self.assertEqual([one["value"]["stringValue"] for one in resource
                          if one["key"] == "service.name"], ["shop"])
        self.assertIn({"key": "deployment.environment.name", "value": {"stringValue": "staging"}},
                      resource)

    def test_names_and_labels_of_a_push(self):
        from http_server import Server
        self.record("app.jprof", LD_PRELOAD=LIBRARY)
        with Server() as server:
            for words in ([], ["--name", "mine", "--label", "service_namespace=typed"]):
                done = child.run([JPROF, "push", server.url, "app.jprof", *words], 120,
                                 cwd=self.folder, env=self.env)
                if "libcurl is not installed" in done.stderr:
                    self.skipTest(done.stderr)
                self.assertEqual(done.returncode, 0, done.stderr)
        names = [urllib.parse.parse_qs(urllib.parse.urlparse(path).query)["name"][0]
                 for path, _, _ in server.requests]
        self.assertEqual(names, [
            "shop{service_namespace=web?[1m,deployment_environment_name=staging}",
            "mine{service_namespace=typed,deployment_environment_name=staging}"])

    def test_a_program_that_publishes_nothing(self):
        self.record("app.jprof")
        info = json.loads(self.run_in([JPROF, "info", "app.jprof", "--format", "json"]).stdout)
        self.assertNotIn("published", info)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "app.jprof", "process_context")))


if __name__ == "__main__":
    unittest.main()
