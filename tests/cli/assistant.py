#!/usr/bin/env python3
"""Tests `jprof mcp`: by the protocol's public clients from npm, of the revisions with `initialize`
and of those without, and with what no client sends.

  assistant.py JPROF [NODE]
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import made

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
JPROF = os.path.abspath(sys.argv.pop(1))
NODE = sys.argv.pop(1) if len(sys.argv) > 1 and os.path.isabs(sys.argv[1]) else None
TOOLS = ["hottest", "callers", "callees", "lines", "compare", "quality"]
BEGIN = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
         "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                    "clientInfo": {"name": "test", "version": "1"}}}


def call(tool, number=1, **arguments):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}}


class Assistant(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="jprof mcp "))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.env = {**os.environ, "XDG_DATA_HOME": os.path.join(cls.folder, "data")}
        cls.root = os.path.join(cls.folder, "root")
        made.profile(os.path.join(cls.root, "a.jprof"), site="3:42")
        made.profile(os.path.join(cls.root, "b.jprof"), self_time=90_000)
        made.profile(os.path.join(cls.folder, "outside.jprof"))

    def serve(self, given, *words, status=0):
        """The process that was given these bytes, and the messages that it answered."""
        done = child.run([JPROF, "mcp", *words], 120, cwd=self.root, env=self.env, input=given,
                         text=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done, [json.loads(line) for line in done.stdout.splitlines()]

    def tell(self, *messages, words=()):
        given = b"".join(json.dumps(message).encode() + b"\n" for message in (BEGIN, *messages))
        return self.serve(given, *words)[1][1:]

    def answer(self, tool, words=(), **arguments):
        result, = self.tell(call(tool, **arguments), words=words)
        return result["result"]

    def error(self, tool, words=(), **arguments):
        result = self.answer(tool, words, **arguments)
        self.assertTrue(result["isError"], result)
        self.assertNotIn("structuredContent", result)
        return result["content"][0]["text"]

    # What the tools answer.

    def test_hottest(self):
        result = self.answer("hottest", profile="a.jprof")
        self.assertFalse(result["isError"], result)
        row, = result["structuredContent"]["rows"]
        self.assertEqual((row["name"], row["calls"]), ("app.Main.run()", 1))
        self.assertLessEqual(row["self"]["low"], row["self"]["value"])
        self.assertIn("app.Main.run()", result["content"][0]["text"])

    def test_lines(self):
        rows = self.answer("lines", profile="a.jprof", method="run")["structuredContent"]["lines"]
        self.assertEqual([(row["line"], row["file"]) for row in rows],
                         [(None, "Main.java"), (42, "Main.java")])
        self.assertIn("--call-sites", self.error("lines", profile="b.jprof"))

    def test_newest_profile_is_the_default(self):
        os.utime(os.path.join(self.root, "b.jprof"))
        self.assertEqual(self.answer("quality")["structuredContent"]["profile"], "b.jprof")

    def test_neighbours(self):
        rows = self.answer("callers", profile="a.jprof", method="run")["structuredContent"]["rows"]
        self.assertEqual([row["role"] for row in rows], ["method", "caller"])
        rows = self.answer("callees", profile="a.jprof",
                           method="app/Main.run()V")["structuredContent"]["rows"]
        self.assertEqual([row["role"] for row in rows], ["method"])

    def test_compare(self):
        text = self.answer("compare", base="a.jprof", new="b.jprof", absolute=True)
        self.assertFalse(text["isError"], text)
        self.assertEqual([side["directory"] for side in text["structuredContent"]["profiles"]],
                         ["a.jprof", "b.jprof"])

    # What is refused.

    def test_errors_name_the_next_step(self):
        self.assertIn("did you mean 'a.jprof'?", self.error("hottest", profile="a.jpro"))
        self.assertIn("the tool hottest lists methods",
                      self.error("callers", profile="a.jprof", method="nothing at all"))
        self.assertIn("it has: profile, limit", self.error("quality", verbose=True))
        self.assertIn("time", self.error("hottest", profile="a.jprof", metric="tims"))

    def test_root(self):
        inside = ["--root", self.root]
        self.assertFalse(self.answer("quality", inside, profile="a.jprof")["isError"])
        self.assertFalse(self.answer("quality", inside)["isError"])
        os.symlink(os.path.join(self.folder, "outside.jprof"), os.path.join(self.root, "link"))
        self.addCleanup(os.unlink, os.path.join(self.root, "link"))
        for path in ("../outside.jprof", os.path.join(self.folder, "outside.jprof"), "link",
                     self.root + "x", "/", "/etc/passwd", "a.jprof/../../outside.jprof"):
            self.assertIn("is outside of", self.error("quality", inside, profile=path), path)
        self.assertIn("is outside of",
                      self.error("compare", inside, base="a.jprof", new="../outside.jprof"))
        both = [*inside, "--root", self.folder]
        self.assertFalse(self.answer("quality", both, profile="../outside.jprof")["isError"])

    def test_wrong_use(self):
        done, _ = self.serve(b"", "--root", "nowhere", status=2)
        self.assertIn(b"--root nowhere: not a folder", done.stderr)
        self.serve(b"", "more", status=2)

    def test_damaged_profiles(self):
        for name in ("control", "nodes", "methods", "meta.json"):
            damaged = os.path.join(self.root, "damaged.jprof")
            for kept in (0, 1, 100, 4200):
                made.profile(damaged)
                os.truncate(os.path.join(damaged, name), kept)
                for tool, more in (("hottest", {}), ("callers", {"method": "run"}), ("quality", {})):
                    answer = self.answer(tool, profile="damaged.jprof", **more)
                    said = answer["content"][0]["text"]
                    if name == "control" and kept <= 100 and tool != "quality":  # it is no profile
                        self.assertTrue(answer["isError"], said)
                    self.assertTrue(answer["isError"] or "damage" in said or "good" in said, said)
            shutil.rmtree(damaged)

    # What no client sends.

    def test_odd_lines(self):
        deep = b"[" * 200_000
        for line in (b"\xff\xfe", b"null", b"{", deep, b'{"a":' * 50_000, b"\0", b"[]", b'""',
                     b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
                     b'{"jsonrpc":"2.0","id":1,"method":7}',
                     b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
                     b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
                     b"x" * 3_000_000):
            _, answers = self.serve(line + b'\n{"jsonrpc":"2.0","id":9,"method":"ping"}\n')
            self.assertIn("error", answers[0], line[:50])
            self.assertEqual(answers[1], {"jsonrpc": "2.0", "id": 9, "result": {}}, line[:50])

    def test_odd_values(self):
        for params in ({"name": None}, {"name": "quality", "arguments": 7}, {"arguments": {}}, []):
            answer, = self.tell({**call("quality"), "params": params})
            self.assertEqual(answer["error"]["code"], -32602, params)
        for value in (None, 0, 201, -1, 1.5, "5", 1 << 70, [], {}):
            self.assertIn("argument limit", self.error("quality", limit=value), value)
        for value in ("", "a\0b", "x" * 5000, 7, ["a"], {"a": {}}):
            self.assertIn("argument profile", self.error("quality", profile=value), value)

    def test_end_in_the_middle_of_a_message(self):
        self.assertEqual(self.serve(b"")[1], [])
        self.assertEqual(self.serve(b'{"jsonrpc"')[1][0]["error"]["code"], -32700)
        self.assertEqual(self.serve(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')[1][0]["id"], 1)

    def test_many_requests_at_once(self):
        answers = self.tell(*(call("quality", number, profile="a.jprof") for number in range(1, 301)))
        self.assertEqual([answer["id"] for answer in answers], list(range(1, 301)))

    def test_cancelled(self):
        answers = self.tell(
            call("quality", 1, profile="a.jprof"), call("quality", "two", profile="a.jprof"),
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "two"}},
            {"jsonrpc": "2.0", "id": 3, "method": "ping"})
        self.assertEqual([answer["id"] for answer in answers], [1, 3])

    def test_client_that_leaves(self):
        server = subprocess.Popen([JPROF, "mcp"], cwd=self.root, env=self.env, stderr=subprocess.PIPE,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        server.stdout.close()
        server.stdin.write(json.dumps(BEGIN).encode() + b"\n")
        server.stdin.flush()
        self.assertEqual(server.wait(120), 0)
        server.stdin.close()
        self.assertEqual(server.stderr.read(), b"")
        server.stderr.close()

    def test_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = subprocess.Popen([JPROF, "mcp"], cwd=self.root, env=self.env,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            server.stdin.write(json.dumps(BEGIN).encode() + b"\n")
            server.stdin.flush()
            server.stdout.readline()
            server.send_signal(number)
            self.assertEqual(server.wait(120), -number)
            server.stdin.close()
            server.stdout.close()

    # The public clients.

    def client(self, kind):
        if NODE is None or not os.path.isdir(os.path.join(HERE, "assistant", "node_modules")):
            self.skipTest("scripts/setup installs the protocol's public clients")
        calls = [{"name": "hottest", "arguments": {"profile": "a.jprof", "limit": 5}},
                 {"name": "callers", "arguments": {"profile": "a.jprof", "method": "run"}},
                 {"name": "callees", "arguments": {"profile": "a.jprof", "method": "run"}},
                 {"name": "lines", "arguments": {"profile": "a.jprof", "method": "run"}},
                 {"name": "compare", "arguments": {"base": "a.jprof", "new": "b.jprof"}},
                 {"name": "quality", "arguments": {"profile": "a.jprof"}},
                 {"name": "quality", "arguments": {"profile": "nowhere"}},
                 {"name": "no_tool", "arguments": {}}]
        done = child.run([NODE, os.path.join(HERE, "assistant", "client.mjs"), kind, JPROF, self.root,
                          json.dumps(calls)], 240, cwd=self.root, env=self.env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        seen = json.loads(done.stdout)
        self.assertEqual(seen["server"]["name"], "jprof")
        self.assertEqual([tool["name"] for tool in seen["tools"]], TOOLS)
        self.assertTrue(all(tool["annotations"]["readOnlyHint"] for tool in seen["tools"]))
        for (name, answer) in zip(TOOLS, seen["answers"]):
            self.assertFalse(answer["isError"], answer)
            self.assertTrue(answer["structuredContent"], name)
            self.assertIn("a.jprof", answer["content"][0]["text"])
        self.assertTrue(seen["answers"][6]["isError"])
        self.assertIn("no_tool", seen["answers"][7]["failed"])
        return seen

    def test_client_of_the_revisions_with_initialize(self):
        self.client("legacy")

    def test_client_of_the_newest_revision(self):
        self.assertEqual(self.client("modern")["revision"], "2026-07-28")


if __name__ == "__main__":
    unittest.main()
