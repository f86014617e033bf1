#!/usr/bin/env python3
"""Records a small server (bench/java/GateServer.java) three times: the gate passes the unchanged
program, although its calls vary from run to run, and fails one more call in each request.

    gate_test.py --jprof JPROF --agent LIBRARY --source GateServer.java

bench/accuracy/gate.py does it fifty times.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import jvms


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jprof", required=True)
    parser.add_argument("--agent", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--programs")
    args = parser.parse_args()
    jdk = jvms.needed_jdks()[-1]
    with tempfile.TemporaryDirectory(prefix="jprof-gate-") as work:
        subprocess.run([jdk.tool("javac"), "-d", work, args.source], check=True, timeout=600)

        def profile(audits, *options):
            return subprocess.run(
                [args.jprof, "profile", "--agent", args.agent, *options, "--", *jdk.java(), "-cp",
                 work, "GateServer", "300", str(audits)], capture_output=True, text=True, cwd=work,
                timeout=600, env={**os.environ, "XDG_DATA_HOME": work}, check=False)

        saved = profile(0, "--save", "main")
        assert saved.returncode == 0, saved.stderr
        conditions = ("--fail-if", "calls > 0%", "--fail-if", "calls of each GateServer > 0%")
        same = profile(0, "--baseline", "main", *conditions)
        assert same.returncode == 0, same.stderr
        assert "jprof gate: passed: 2 conditions hold" in same.stderr, same.stderr
        more = profile(1, "--baseline", "main", *conditions, "--junit", "gate.xml")
        assert more.returncode == 1, more.stderr
        assert "jprof gate: FAILED: 2 of 2 conditions are violated" in more.stderr, more.stderr
        assert "+300  GateServer.audit(String)" in more.stderr, more.stderr
        assert os.path.exists(os.path.join(work, "gate.xml"))
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
