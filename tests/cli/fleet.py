#!/usr/bin/env python3
"""Tests `jprof fleet` and pushes to ClickHouse, with two shards that the test starts: what is read
equals what `jprof merge` makes of the same profiles, each run counts once whatever is repeated,
killed or pushed again, and every command that reads a profile takes a URL.

  fleet.py JPROF [FOLDER OF NPM PACKAGES]
"""
import csv
import http.server
import io
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import clickhouse
import made

JPROF = os.path.abspath(sys.argv.pop(1))
NPM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and "/" in sys.argv[1] else ""
CLUSTER = None
HERE = os.path.dirname(os.path.abspath(__file__))


def setUpModule():
    global CLUSTER  # pylint: disable=global-statement
    CLUSTER = clickhouse.Cluster()
    unittest.addModuleCleanup(CLUSTER.stop)
    CLUSTER.start()


class Fleet(unittest.TestCase):
    number = 0

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="jprof fleet ")
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(self.path("tmp"))
        self.a, self.b = CLUSTER.servers
        Fleet.number += 1
        self.database = f"fleet{Fleet.number}"

    def path(self, name):
        return os.path.join(self.folder, name)

    def jprof(self, *words, status=0, env=None, **how):
        done = subprocess.run(
            [JPROF, *words], capture_output=True, text=True, timeout=600, cwd=self.folder,
            env={**os.environ, "XDG_STATE_HOME": self.path("state"), "TMPDIR": self.path("tmp"),
                 **(env or {})}, **how)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def init(self):
        self.jprof("fleet", "init", self.a.url(self.database), self.b.url(self.database),
                   "--cluster", "profiles")
        return self.a.url(self.database)

    def made(self, number, **how):
        """A profile of a run of its own, that differs from the others."""
        how = {"calls": number, "self_time": 1000 * number, "pid": number,
               "start": f"2026-11-{1 + number % 20:02}T10:00:00Z", **how}
        made.profile(self.path(f"{number}.jprof"), **how)
        return f"{number}.jprof"

    def rows(self, profile, report="log-rt"):
        raw = [] if report == "scs" else ["--uncalibrated"]
        text = self.jprof("report", report, profile, "--format", "csv", *raw).stdout
        rows = list(csv.DictReader(io.StringIO(text)))
        return sorted(tuple(sorted((name, value) for name, value in row.items()
                                   if name not in ("id", "parent"))) for row in rows)

    def calls(self, url):
        answer = self.jprof("fleet", "top", url, "--by", "calls", "--format", "json").stdout
        return sum(row["total"] for row in json.loads(answer)["rows"])

    def equals_merge(self, url, profiles):
        self.jprof("merge", *profiles, "-o", "merged.jprof", "--force")
        for report in ("log-rt", "methods"):
            self.assertEqual(self.rows(url, report), self.rows("merged.jprof", report))

    def test_sums_are_those_of_merge(self):
        url = self.init()
        profiles = [self.made(n, thread=b"main" if n % 3 else b"worker",
                              class_name=f"app/Class{n % 4}") for n in range(1, 10)]
        profiles.append(self.made(11, site="3:42"))
        done = self.jprof("push", url, *profiles, "--name", "shop", "--app-version", "1")
        self.assertRegex(done.stderr, r"pushed:  10 runs \(56 calls, ")
        shards = [server.ask("SELECT count() FROM runs_local", self.database)
                  for server in (self.a, self.b)]
        self.assertEqual(sum(int(rows[0][0]) for rows in shards), 10)
        self.equals_merge(url + "?min_share=0", profiles)
        again = self.jprof("push", url, *profiles, "--name", "shop", "--app-version", "1")
        self.assertIn("10 runs were there already", again.stderr)
        # Other names: pushed again, and in the place of the first push.
        self.jprof("push", url, *profiles[:4], "--name", "shop", "--app-version", "2")
        self.equals_merge(url + "?min_share=0", profiles)
        self.equals_merge(url + "?min_share=0&version=2", profiles[:4])
        self.equals_merge(url.replace(str(self.a.http), str(self.b.http)) +
                          "?service=shop&version=1", profiles[4:])

    def test_samples_and_generated_classes(self):
        url = self.init()
        metrics = [{"name": "cpu", "unit": "samples", "scale": 1, "kind": "samples",
                    "period": 1000000, "period_unit": "ns", "period_clock": "cpu"}]
        profiles = [self.made(n, mode="scs", calls=0, metrics=metrics, site="3:42" if n % 2 else "",
                              class_name=f"app/Foo$$Lambda${n}/0x{n}") for n in range(1, 6)]
        self.jprof("push", url, *profiles)
        self.jprof("merge", *profiles, "-o", "m.jprof")
        self.assertEqual(self.rows(url, "scs"), self.rows("m.jprof", "scs"))
        top = json.loads(self.jprof("fleet", "top", url, "--format", "json").stdout)
        self.assertEqual([row["name"] for row in top["rows"] if row["total"] > 100],
                         ["app.Foo$$Lambda.run"])

    def test_clocks_of_different_rates(self):
        url = self.init()
        profiles = []
        for number, rate in ((1, 2_650_004_100), (2, 2_649_996_000), (3, 3_000_001_000)):
            metric = {"name": "time", "unit": "ns", "scale": 1e9 / rate, "kind": "time"}
            profiles.append(self.made(number, metrics=[metric], self_time=rate))
            with open(self.path(f"{number}.jprof/control"), "r+b") as file:
                file.seek(104)
                self.assertEqual(int.from_bytes(file.read(8), "little"), 1_000_000_000)
                file.seek(104)
                file.write(rate.to_bytes(8, "little"))
        self.jprof("push", url, *profiles)
        top = json.loads(self.jprof("fleet", "top", url, "--format", "json").stdout)
        self.assertAlmostEqual(top["rows"][0]["total"] / 3e9, 1, 6)
        self.jprof("merge", *profiles, "-o", "m.jprof")
        read = [dict(row) for row in self.rows(url)]
        merged = [dict(row) for row in self.rows("m.jprof")]
        for one, other in zip(read, merged):
            self.assertEqual((one["name"], one["calls"]), (other["name"], other["calls"]))
            self.assertAlmostEqual(float(one["base:time"]) / float(other["base:time"]), 1, 5)

    def test_init(self):
        url = self.init()
        self.assertIn("already", self.jprof("fleet", "init", url, "--cluster", "profiles").stderr)
        wrong = self.jprof("fleet", "init", url, status=2)
        self.assertIn("with --cluster profiles", wrong.stderr)
        none = self.jprof("fleet", "init", url, "--cluster", "nothing", status=2)
        self.assertIn("knows no cluster nothing", none.stderr)
        self.a.ask("INSERT INTO jprof_schema (version, cluster) VALUES (99, 'profiles')",
                   self.database)
        for words in (("fleet", "init", url, "--cluster", "profiles"), ("report", url),
                      ("push", url, self.made(1))):
            self.assertIn("have version 99", self.jprof(*words, status=1).stderr)
        empty = self.a.url("default")
        self.assertIn(f"jprof fleet init {empty}", self.jprof("report", empty, status=1).stderr)

    def test_one_server_without_cluster(self):
        url = self.b.url(self.database)
        self.jprof("fleet", "init", url)
        self.jprof("push", url, self.made(1), self.made(2))
        self.equals_merge(url, ["1.jprof", "2.jprof"])

    def test_wrong_urls(self):
        for url, text in (
                ("clickhouse://u:secret@127.0.0.1/db", "contains a password"),
                ("clickhouse://127.0.0.1", "names no database"),
                ("clickhouse://127.0.0.1/a;b", "no name of letters"),
                ("clickhouse:///db", "names no host"),
                ("clickhouse://127.0.0.1:99999/db", "the port 99999"),
                (self.a.url("x", "?servise=a"), "did you mean 'service'?"),
                (self.a.url("x", "?from=soon"), "from=soon: write a date"),
                (self.a.url("x", "?min_share=2"), "min_share=2: write a part")):
            done = self.jprof("report", url, status=2)
            self.assertIn(text, done.stderr)
            self.assertNotIn("secret", done.stderr)
        gone = self.jprof("report", "clickhouse://127.0.0.1:1/db", status=1)
        self.assertIn("is the server running", gone.stderr)

    def test_password(self):
        url = self.init()
        self.jprof("push", url, self.made(1))
        named = url.replace("//", "//reader@")
        self.assertIn("put the password into ~/.netrc", self.jprof("info", named, status=1).stderr)
        self.jprof("info", named, env={"JPROF_FLEET_PASSWORD": "secret word"})
        with open(self.path(".netrc"), "w", encoding="utf-8") as file:
            file.write('machine 127.0.0.1 login reader password "secret word"\n')
        os.chmod(self.path(".netrc"), 0o600)
        self.jprof("info", named, env={"HOME": self.folder})

    def test_certificates_are_checked(self):
        openssl = shutil.which("openssl")
        if openssl is None:
            self.skipTest("openssl is not installed")
        subprocess.run([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
                        "-subj", "/CN=127.0.0.1", "-keyout", self.path("key"), "-out",
                        self.path("certificate")], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path("certificate"), self.path("key"))
        asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                asked.append(self.path)

        with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
            server.socket = context.wrap_socket(server.socket, server_side=True)
            server.handle_error = lambda *_: None
            threading.Thread(target=server.serve_forever, daemon=True).start()
            done = self.jprof("report", f"clickhouses://127.0.0.1:{server.server_port}/db", status=1)
            server.shutdown()
        self.assertRegex(done.stderr, "(?i)certificate")
        self.assertEqual(asked, [])

    def test_selections(self):
        url = self.init()
        for number in range(1, 7):
            self.jprof("push", url, self.made(number), "--name", "shop" if number < 5 else "bank",
                       "--host", f"h{number}", "--label", f"zone=z{number % 2}")
        self.equals_merge(url + "?label.zone=z1", ["1.jprof", "3.jprof", "5.jprof"])
        self.equals_merge(url + "?service=bank&host=h6", ["6.jprof"])
        self.equals_merge(url + "?from=2026-11-03&to=2026-11-04", ["2.jprof", "3.jprof"])
        self.equals_merge(url + "?from=2026-11-03T09:00&to=2026-11-03T10:00", ["2.jprof"])
        none = self.jprof("report", url + "?service=ship", status=2)
        self.assertIn("it has bank (2 runs, 2026-11-06 to 2026-11-07), shop (4 runs", none.stderr)
        self.jprof("push", url, self.made(8, mode="calltree", metrics=[]))
        mixed = self.jprof("report", url, status=2)
        self.assertIn("mode=callflow&metrics=time", mixed.stderr)
        self.equals_merge(url + "?mode=callflow&service=shop", [f"{n}.jprof" for n in range(1, 5)])

    def test_every_reader_takes_a_url(self):
        url = self.init()
        self.jprof("push", url, *[self.made(n) for n in range(1, 4)], "--name", "shop")
        self.jprof("push", url, *[self.made(n) for n in range(4, 7)], "--name", "shop",
                   "--app-version", "2")
        self.assertIn("merged from 6 profiles", self.jprof("report", url).stdout)
        one, two = url + "?version=", url + "?version=2"
        self.assertIn("app.Main.run", self.jprof("report", "methods", one).stdout)
        self.jprof("view", two, "-o", "a.html")
        self.jprof("view", one, two, "-o", "b.html")
        self.assertGreater(os.path.getsize(self.path("b.html")), 10_000)
        self.assertIn("app", self.jprof("compare", one, two).stdout)
        verdict = self.jprof("compare", one, two, "--fail-if", "calls > 0%")
        self.assertIn("vary from run to run", verdict.stdout)  # known by the spread of the runs
        self.jprof("export", url, "--format", "collapsed", "-o", "a.txt")
        with open(self.path("a.txt"), encoding="utf-8") as file:
            self.assertIn("app", file.read())
        info = json.loads(self.jprof("info", url, "--format", "json").stdout)
        self.assertEqual(len(info["merged"]["profiles"]), 6)
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_what_is_printed_names_the_url(self):
        """Not the temporary folder, which no longer exists when it is read."""
        url = self.init()
        self.jprof("push", url, self.made(1), "--name", "shop", "--app-version", "1")
        self.jprof("push", url, self.made(2), "--name", "shop", "--app-version", "2")
        shop, two = url + "?service=shop", url + "?version=2"
        for words in (["report", shop], ["report", "methods", shop],
                      ["report", "methods", shop, "--format", "json"],
                      ["info", shop], ["info", shop, "--format", "json"], ["info", "--quality", shop],
                      ["compare", two, shop], ["compare", two, shop, "--format", "json"],
                      ["compare", two, shop, "--fail-if", "calls > 0%"],
                      ["view", shop, "-o", "a.html"], ["compare", two, shop, "-o", "b.html"],
                      ["merge", two, shop, "-o", "m.jprof"], ["report", "lines", shop],
                      ["export", shop, "--format", "pprof", "-o", "a.pb.gz"]):
            with self.subTest(words=words):
                done = self.jprof(*words, status=2 if "lines" in words else 0)
                printed = done.stdout + done.stderr
                if words[-1] == "b.html":
                    printed += self.text("b.html")
                self.assertEqual(printed.count("jprof-fleet"), 0)
                if words[0] not in ("export", "merge", "view"):
                    self.assertGreater(printed.replace("&amp;", "&").count(shop), 0, printed[:2000])
        merged = json.loads(self.jprof("info", "m.jprof", "--format", "json").stdout)["merged"]
        self.assertEqual([one["path"] for one in merged["profiles"]], [two, shop])

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def test_merge_takes_a_url(self):
        url = self.init()
        names = [self.made(n) for n in range(1, 7)]
        self.jprof("push", url, *names[:4])
        self.jprof("merge", url + "?min_share=0", *names[4:], "-o", "both.jprof")
        self.jprof("merge", *names, "-o", "merged.jprof")
        for report in ("log-rt", "methods"):  # the spread is that of three inputs, and of six
            both, merged = ([{name: value for name, value in row if not re.search(
                "runs|_(min|median|max)(:|$)", name)} for row in self.rows(profile, report)]
                            for profile in ("both.jprof", "merged.jprof"))
            self.assertEqual(both, merged)

    def ask_assistant(self, words, tool, **arguments):
        messages = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}}]
        for number in (1, 2):  # the second one is answered from what the first has read
            messages.append({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                             "params": {"name": tool, "arguments": arguments}})
        done = self.jprof("mcp", *words, input="".join(json.dumps(one) + "\n" for one in messages))
        answers = [json.loads(line)["result"] for line in done.stdout.splitlines()[1:]]
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(os.listdir(self.path("tmp")), [])
        return done, answers[0]

    def test_assistants_read_the_databases_they_may(self):
        url = self.init()
        self.jprof("push", url, self.made(3), self.made(4), "--name", "shop")
        shop = url + "?service=shop"
        done, answer = self.ask_assistant(("--fleet", url), "hottest", profile=shop)
        self.assertEqual(answer["structuredContent"]["rows"][0]["calls"], 7)
        self.assertIn(shop, answer["content"][0]["text"])
        self.assertEqual(done.stderr.count("read 2 runs"), 1)
        _, answer = self.ask_assistant(("--fleet", url), "compare", base=shop, new=shop)
        self.assertFalse(answer["isError"], answer)
        other = self.b.url(self.database)
        for words in ((), ("--fleet", other), ("--root", self.folder)):
            done, answer = self.ask_assistant(words, "hottest", profile=shop)
            self.assertTrue(answer["isError"])
            self.assertIn(f"start it with: jprof mcp --fleet {url}", answer["content"][0]["text"])
            self.assertNotIn("read ", done.stderr)
        for wrong, why in (("http://a/b", "clickhouse://"), (shop, "parameters belong")):
            self.assertIn(why, self.jprof("mcp", "--fleet", wrong, status=2, input="").stderr)

    def test_published_names(self):
        """What a program has published of itself names its runs, unless a name was typed."""
        def field(number, value):
            value = value.encode() if isinstance(value, str) else value
            return bytes([number << 3 | 2, len(value)]) + value

        url = self.init()
        for number in (1, 2, 3):
            attributes = b"".join(
                field(1, field(1, name) + field(2, field(1, value)))
                for name, value in (("service.name", f"shop{number}"), ("service.version", "3.1"),
                                    ("service.namespace", "web"), ("host.arch", "x")))
            self.made(number)
            with open(self.path(f"{number}.jprof/process_context"), "wb") as file:
                file.write(field(1, attributes))
        self.jprof("push", url, "1.jprof", "--label", "service_namespace=typed")
        self.jprof("push", url, "2.jprof", "--name", "mine", "--app-version", "4")
        self.jprof("push", url, "3.jprof", "--redact")
        rows = self.a.ask("SELECT service, version, label_names, label_values FROM runs "
                          "ORDER BY service", self.database)
        self.assertEqual(rows, [
            ["mine", "4", "['service_namespace']", "['web']"],
            ["shop1", "3.1", "['service_namespace']", "['typed']"],
            ["shop3", "3.1", "[]", "[]"]])

    def test_sums_beyond_64_bits(self):
        url = self.init()
        self.jprof("push", url, *[self.made(n, self_time=2**62) for n in (1, 2, 3)])
        self.assertIn("64 bits", self.jprof("report", url, status=1).stderr)
        top = json.loads(self.jprof("fleet", "top", url, "--format", "json").stdout)["rows"]
        self.assertGreater(top[0]["share"], 0.9)

    def test_a_signal_leaves_no_files(self):
        with socket.socket() as listener:  # a server that does not answer
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            url = f"clickhouse://127.0.0.1:{listener.getsockname()[1]}/db"
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with subprocess.Popen([JPROF, "report", url], cwd=self.folder,
                                      stderr=subprocess.DEVNULL,
                                      env={**os.environ, "TMPDIR": self.path("tmp")}) as report:
                    connection, _ = listener.accept()
                    self.assertEqual(len(os.listdir(self.path("tmp"))), 1)
                    report.send_signal(number)
                    self.assertEqual(report.wait(60), -number)
                    connection.close()
                self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_a_silent_server_is_given_up(self):
        """It accepts connections and never answers: what is pushed is kept, and it is asked once,
        not once for each batch."""
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            listener.settimeout(0.1)
            connections = []
            url = f"clickhouse://127.0.0.1:{listener.getsockname()[1]}/db"

            def push(*words):
                done = []
                pusher = threading.Thread(target=lambda: done.append(self.jprof(
                    "push", url, *words, "--timeout", "1", status=1)))
                pusher.start()
                while pusher.is_alive():
                    try:
                        connections.append(listener.accept()[0])
                    except TimeoutError:
                        pass
                pusher.join()
                return done[0].stderr

            # The same run twice is in two batches.
            first = push(self.made(1), self.made(2), "1.jprof")
            self.assertIn("the server has been silent for 1 s", first)
            self.assertIn("3 profiles are kept in", first)
            self.assertEqual(len(connections), 1)
            self.assertIn("silent", push(self.made(3)))  # the spool comes first
            self.assertEqual(len(connections), 2)
            for connection in connections:
                connection.close()

    def test_small_contexts_are_one_row(self):
        url = self.init()
        self.jprof("push", url, self.made(1, calls=1_000_000, self_time=10**9),
                   self.made(2, class_name="app/Rare"))
        rows = [dict(row) for row in self.rows(url)]
        self.assertIn("(contexts below 0.01 % of the whole)", [row["name"] for row in rows])
        self.assertNotIn("app/Rare.run()V", [row["name"] for row in rows])
        self.assertEqual(sum(int(row["calls"]) for row in rows), 1_000_002)
        self.assertIn("1 of 3 contexts have less than", self.jprof("report", url).stdout)
        self.equals_merge(url + "?min_share=0", ["1.jprof", "2.jprof"])

    def test_history_and_outliers(self):
        url = self.init()
        number = 0
        for day in range(1, 9):
            for host in range(6):
                number += 1
                # A method that takes three times as much from the 5th day on, and on host 3.
                heavy = (3 if day > 4 else 1) * (9 if host == 3 else 1)
                name = self.made(number, start=f"2026-11-{day:02}T10:00:0{host}Z",
                                 class_name="app/Cart", name="total", self_time=1000 * heavy,
                                 thread=b"main")
                made.profile(self.path(f"o{number}.jprof"), pid=1000 + number, self_time=20_000 + host,
                             start=f"2026-11-{day:02}T10:00:0{host}Z", class_name="app/Other")
                self.jprof("merge", name, f"o{number}.jprof", "-o", f"m{number}.jprof")
        for host in range(6):
            self.jprof("push", url, *[f"m{n}.jprof" for n in range(1, number + 1)
                                      if (n - 1) % 6 == host], "--host", f"host{host}",
                       "--label", f"usual={host != 3}")
        usual = url + "?label.usual=True"
        text = self.jprof("fleet", "history", usual, "--method", "Cart.total").stdout
        self.assertEqual(text.count(" changed "), 1, text)
        history = json.loads(self.jprof("fleet", "history", usual + "&to=2026-11-08",
                                        "--method", "app.Cart.total", "--format", "json").stdout)["rows"]
        self.assertEqual([row["day"] for row in history if row["changed"]], ["2026-11-05"])
        self.assertEqual({row["runs"] for row in history}, {5})
        found = json.loads(self.jprof("fleet", "outliers", url, "--format", "json").stdout)["rows"]
        self.assertEqual({row["host"] for row in found}, {"host3"})
        self.assertEqual(found[0]["name"], "app.Cart.total")
        top = json.loads(self.jprof("fleet", "top", url, "--contexts", "--format",
                                    "json").stdout)["rows"]
        self.assertEqual(top[0]["path"], "main")
        by_context = json.loads(self.jprof("fleet", "history", url, "--context", top[0]["context"],
                                           "--format", "json").stdout)["rows"]
        self.assertEqual(len(by_context), 8)
        self.assertIn("no such method", self.jprof("fleet", "history", url, "--method", "none",
                                                   status=2).stderr)
        self.assertIn("no selected run has it", self.jprof("fleet", "history", url, "--context",
                                                           "0" * 32, status=2).stderr)
        self.assertIn("name", self.jprof("fleet", "top", url, "--format", "csv").stdout)

    def test_a_damaged_profile_keeps_no_other_from_being_sent(self):
        url = self.init()
        names = [self.made(n) for n in range(1, 6)]
        os.truncate(self.path(names[2] + "/control"), 100)
        done = self.jprof("push", url, *names, status=2)
        self.assertIn(names[2], done.stderr)
        self.assertIn("pushed:  4 runs", done.stderr)
        self.assertEqual(self.calls(url), 1 + 2 + 4 + 5)
        self.assertIn("1 run was there already", self.jprof("push", url, names[0]).stderr)

    def test_spool(self):
        url = self.init()
        self.b.kill()
        try:
            done = self.jprof("push", url, *[self.made(n) for n in range(1, 9)], status=1)
        finally:
            self.b.start()
        self.assertIn("are kept in", done.stderr)
        self.assertIn("8 profiles", done.stderr)
        for number in range(1, 9):  # the copies are what is sent
            shutil.rmtree(self.path(f"{number}.jprof"))
        sent = self.jprof("push", url, "--spooled")
        self.assertIn("pushed:  8 profiles of the spool", sent.stderr)
        self.assertEqual(self.calls(url), 36)
        self.assertIn("the spool is empty", self.jprof("push", url, "--spooled").stderr)
        # A copy that is damaged keeps no other from being sent.
        self.b.kill()
        try:
            kept = self.jprof("push", url, self.made(9), self.made(10), status=1)
        finally:
            self.b.start()
        self.assertIn("2 profiles are kept in", kept.stderr)
        spool = os.path.join(self.path("state"), "jprof", "spool")
        damaged = [entry.path for entry in os.scandir(os.path.join(spool, os.listdir(spool)[0]))][0]
        os.truncate(os.path.join(damaged, "profile.jprof", "control"), 100)
        sent = self.jprof("push", url, "--spooled", status=2)
        self.assertIn(damaged, sent.stderr)
        self.assertIn(self.calls(url), (36 + 9, 36 + 10))
        gone = "clickhouse://127.0.0.1:1/db"
        os.makedirs(self.path("shared"), mode=0o755)
        self.jprof("push", gone, self.made(1), self.made(2), "--spool", "shared", status=1)
        self.assertEqual(os.stat(self.path("shared")).st_mode & 0o777, 0o755)
        kept = os.path.join(self.path("shared"), os.listdir(self.path("shared"))[0])
        self.assertEqual(os.stat(kept).st_mode & 0o777, 0o700)
        for name, age in (("new.unfinished", 0), ("old.unfinished", 2 * 86400)):
            os.mkdir(os.path.join(kept, name))
            os.utime(os.path.join(kept, name), (time.time() - age,) * 2)
        self.jprof("push", gone, "--spooled", "--spool", "shared", status=1)
        self.assertEqual([name for name in os.listdir(kept) if name.endswith("unfinished")],
                         ["new.unfinished"])
        full = self.jprof("push", gone, self.made(1), "--spool", "s", "--spool-limit", "1K", status=1)
        self.assertIn("is full", full.stderr)
        self.assertEqual(os.listdir(os.path.join(self.path("s"), os.listdir(self.path("s"))[0])), [])

    def test_doctor_says_what_waits(self):
        def spool_row():
            done = subprocess.run(
                [JPROF, "doctor", "--java", "/bin/true", "--format", "json"], cwd=self.folder,
                capture_output=True, text=True, timeout=120, check=False,
                env={**os.environ, "XDG_STATE_HOME": self.path("state")})
            return json.loads(done.stdout)["servers"][1]

        self.assertEqual(spool_row()["verdict"], "ok")
        self.jprof("push", "clickhouse://127.0.0.1:1/db", self.made(1), self.made(2), status=1)
        row = spool_row()
        self.assertEqual(row["verdict"], "note")
        self.assertIn("2 profiles wait in " + self.path("state/jprof/spool"), row["detail"])
        self.assertIn("--spooled", row["remedy"])
        shutil.rmtree(self.path("state"))
        with open(self.path("state"), "w", encoding="utf-8"):  # no folder can be made there
            pass
        os.chmod(self.path("state"), 0o400)
        self.assertEqual(spool_row()["verdict"], "no")

    def test_a_shard_killed_during_a_push(self):
        url = self.init()
        names = [self.made(n) for n in range(1, 301)]
        expected = sum(range(1, 301))
        env = {**os.environ, "XDG_STATE_HOME": self.path("state")}
        # Two pushers at once; one shard dies in the middle, and comes back.
        pushers = [subprocess.Popen([JPROF, "push", url, *words], cwd=self.folder, env=env,
                                    stderr=subprocess.PIPE, text=True)
                   for words in (names[:200], names[100:])]
        end = time.monotonic() + 60
        while time.monotonic() < end and all(pusher.poll() is None for pusher in pushers):
            if int(self.b.ask("SELECT count() FROM counts_local", self.database)[0][0]) > 0:
                break
        self.b.kill()
        for pusher in pushers:
            pusher.communicate(timeout=300)
        self.b.start()
        self.jprof("push", url, "--spooled")
        self.jprof("push", url, *names)
        self.assertEqual(self.calls(url), expected)
        self.equals_merge(url + "?min_share=0", names)

    def test_redacted(self):
        url = self.init()
        self.jprof("push", url, self.made(1, command=["java", "SecretWord"], cwd="/SecretWord",
                                          thread=b"SecretWord"), "--redact", "--name", "n")
        text = "".join(str(self.a.ask(f"SELECT * FROM {table}", self.database))
                       for table in ("runs", "threads", "frames"))
        self.assertNotIn("SecretWord", text)
        self.assertIn("(all threads)", text)
        self.assertNotIn("1.jprof", text)

    def test_keep(self):
        url = self.init()
        self.jprof("push", url, self.made(1, start="2020-01-02T03:04:05Z"),
                   self.made(2, start=time.strftime("%Y-%m-%dT00:00:00Z", time.gmtime())))
        done = self.jprof("fleet", "init", url, self.b.url(self.database), "--cluster", "profiles",
                          "--keep", "90d")
        self.assertEqual(sum(map(int, re.findall(r"removed (\d+) days", done.stderr))), 1)
        self.assertEqual(self.calls(url), 2)
        # A time before 1970 is not one of the future.
        none = self.jprof("fleet", "init", url, "--cluster", "profiles", "--keep", "40000d")
        self.assertIn("removed 0 days", none.stderr)
        self.assertEqual(self.calls(url), 2)
        self.assertIn("--keep 90d", self.jprof("fleet", "init", url, "--keep", "9", status=2).stderr)

    def test_dump(self):
        url = self.init()
        self.jprof("push", url, *[self.made(n) for n in range(1, 6)])
        self.jprof("fleet", "dump", url, "-o", "csv")
        self.jprof("fleet", "dump", url, "-o", "json", "--format", "json")
        with open(self.path("csv/counts.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        with open(self.path("json/counts.json"), encoding="utf-8") as file:
            objects = [json.loads(line) for line in file]
        for some in (rows, objects):
            self.assertEqual(sum(int(row["entries_0"]) + int(row["entries_1"]) for row in some), 15)
        again = self.jprof("fleet", "dump", url, "-o", "csv", status=2)
        self.assertIn("csv/runs.csv exists already: choose another folder with -o", again.stderr)

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        full = self.jprof("fleet", "dump", url, "-o", "full", status=1, preexec_fn=small_files)
        self.assertIn("runs.csv", full.stderr)
        node = shutil.which("node")
        if not NPM or not node or not os.path.isdir(NPM + "/node_modules/@duckdb/node-api"):
            self.skipTest("DuckDB is not installed: scripts/setup")
        done = subprocess.run([node, HERE + "/fleet_duckdb.mjs", NPM, self.path("csv"),
                               self.path("json")], capture_output=True, text=True, timeout=120,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for answer in json.loads(done.stdout):
            self.assertEqual(answer, [{"name": "run", "calls": "15", "time": "15000", "hosts": "1"}])

    def test_a_dump_needs_little_memory(self):
        """Ten times the rows need hardly more memory: far less than the file has bytes."""
        url = self.init()
        self.jprof("push", url, self.made(1))
        known = 1

        def dump(rows, folder):
            nonlocal known
            self.a.ask("INSERT INTO counts SELECT c.* FROM (SELECT * FROM counts LIMIT 1) AS c CROSS "
                       f"JOIN (SELECT number FROM system.numbers LIMIT {rows - known}) AS n",
                       self.database)
            known = rows
            with subprocess.Popen([JPROF, "fleet", "dump", url, "-o", folder], cwd=self.folder,
                                  stderr=subprocess.DEVNULL) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            return os.path.getsize(self.path(f"{folder}/counts.csv")), usage.ru_maxrss * 1024

        small_file, small = dump(40_000, "small")
        large_file, large = dump(400_000, "large")
        self.assertGreater(large_file, 9 * small_file)
        self.assertLess(large - small, (large_file - small_file) / 4)


if __name__ == "__main__":
    if clickhouse.program() is None:
        print("skipped: clickhouse-server is not installed; scripts/setup installs it")
        sys.exit(77)
    unittest.main()
