"""A program with two phases for tests of what is recorded over time, and what such tests share:
series.py and rotate.py."""
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
import jvms  # noqa: E402

JDK = jvms.needed_jdks()[0]

# Two phases that call different methods, and methods that are compiled meanwhile.
PROGRAM = """
public class Phases {
    static int first(int n) { return n % 7 == 0 ? 1 : small(n); }
    static int second(int n) { return n % 5 == 0 ? 2 : small(n + 1); }
    static int small(int n) { return n & 3; }
    static int run(boolean one, long ms) {
        int sum = 0, n = 0;
        for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end; ) {
            for (int i = 0; i < 1000; ++i) sum += one ? first(n++) : second(n++);
        }
        return sum;
    }
    public static void main(String[] words) throws Exception {
        long ms = Long.parseLong(words[0]);
        Thread other = new Thread(() -> run(true, ms), "other");
        other.start();
        int sum = run(true, ms);
        other.join();
        System.out.println("phase 2");
        sum += run(false, ms);
        System.out.println("done " + (sum != 42));
        if (words.length > 1) Thread.sleep(60_000);
    }
}
"""
MODES = {
    "callflow": ["callflow"],
    "probes": ["calltree", "--counter", "probe"],
    "woven": ["calltree"],
    "samples": ["scs", "--rate", "1000"],
    "both": ["calltree", "--sample"],
    "events": ["scs", "--event", "WALL", "--event", "ALLOCATED_BYTES"],
}


class PhasesTest(unittest.TestCase):
    JPROF = ""  # set by those who derive from it

    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof phases "))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        with open(os.path.join(cls.folder, "Phases.java"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        child.run([JDK.tool("javac"), "--release", "17", "Phases.java"], cwd=cls.folder, check=True)
        cls.env = {**os.environ, "XDG_DATA_HOME": os.path.join(cls.folder, "data")}
        for name in ("JAVA_TOOL_OPTIONS", "JPROFOPTS"):
            cls.env.pop(name, None)

    def jprof(self, *words, status=0):
        done = child.run([self.JPROF, *map(str, words)], 240, cwd=self.folder, env=self.env)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def report(self, name, *words, report="log-rt"):
        return json.loads(self.jprof("report", report, "--format", "json", *words, name).stdout)

    def info(self, name):
        return json.loads(self.jprof("info", "--format", "json", name).stdout)

    def rows(self, name, *words):
        """Calls, raw values and samples of each path of each thread."""
        report = self.report(name, "--uncalibrated", "--threads", "separate", *words)
        sums = {}
        for thread in report["threads"]:
            paths = {None: (thread["tid"], thread["name"])}
            for node in thread["nodes"]:
                path = (*paths[node["parent"]], node["name"])
                paths[node["id"]] = path
                values = [node["calls"], *node["raw"]]
                before = sums.get(path, [0] * len(values))
                sums[path] = [a + b for a, b in zip(before, values)]
        return sums

    def add(self, total, more):
        for path, values in more.items():
            before = total.setdefault(path, [0] * len(values))
            total[path] = [a + b for a, b in zip(before, values)]
