#!/usr/bin/env python3
"""Tests pieces of a recording with real JVMs (docs/TRIGGERS.md): --rotate, --keep.

  rotate.py JPROF
"""
import collections
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import child  # noqa: E402
import lab  # noqa: E402
from http_server import Server  # noqa: E402
from phases import JDK, MODES, PhasesTest  # noqa: E402
from raw_profile import RawProfile  # noqa: E402

JPROF = os.path.abspath(sys.argv.pop(1))
ROTATED = [mode for mode in MODES if mode != "both"]


def sums(profiles):
    """Entries, exits and raw values of the first metric by the path of names below each thread,
    without reports: the oracle."""
    total = collections.defaultdict(lambda: [0, 0, 0])
    for profile in profiles:
        raw = RawProfile(profile)
        threads = {root: records[0]["name"] for root, records in raw.roots().items()}
        paths = {}
        for index, node in raw.nodes.items():
            above = paths.get(node.parent)
            path = paths[index] = ((threads.get(index, "?"),) if above is None else
                                   above if node.superseded else
                                   (*above, raw.names.get(node.method, "?")))
            for i, value in enumerate((node.entries, node.exits, node.self_ticks)):
                total[path][i] += value
    return {path: values for path, values in total.items() if any(values)}


class Rotate(PhasesTest):
    JPROF = JPROF

    def path(self, name):
        return os.path.join(self.folder, name)

    def pieces(self, name):
        folder = os.path.join(self.path(name), "pieces")
        return [os.path.join(folder, piece) for piece in sorted(os.listdir(folder))]

    def start(self, name, *words, program=("700", "wait")):
        """Starts a recording in pieces of a second; returns jprof and the process of the program,
        in its second phase."""
        process = self.enterContext(child.running(
            [JPROF, "calltree", "--rotate", "1s", "-o", name, *words, "--", *JDK.java(), "Phases",
             *program], cwd=self.folder, env=self.env, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True))
        self.assertEqual(process.stdout.readline(), "phase 2\n")
        with open(os.path.join(self.path(name), "meta.json"), encoding="utf-8") as file:
            return process, json.load(file)["pid"]

    def await_pieces(self, name, number):
        end = time.monotonic() + 60
        while not os.path.exists(os.path.join(self.path(name), "pieces", f"{number:06}.jprof")):
            self.assertLess(time.monotonic(), end, f"there is no piece {number}")
            time.sleep(0.05)

    def assert_whole(self, name):
        """The sums of the pieces are what the whole has."""
        pieces = self.pieces(name)
        whole, parts = sums([self.path(name)]), sums(pieces)
        different = [(path, parts.get(path), whole.get(path)) for path in {*parts, *whole}
                     if parts.get(path) != whole.get(path)]
        self.assertEqual(different[:3], [], f"{len(different)} of {len(whole)} contexts")
        listed = self.info(name)["pieces"]
        self.assertEqual([piece["number"] for piece in listed], list(range(1, len(pieces) + 1)))
        self.assertEqual([0, *(piece["end_s"] for piece in listed)][:-1],
                         [piece["begin_s"] for piece in listed])
        return listed

    def test_pieces_add_up_exactly(self):
        for mode in ROTATED:
            with self.subTest(mode=mode):
                name = f"{mode}.jprof"
                done = self.jprof(*MODES[mode], "--rotate", "1s", "-o", name, "--", *JDK.java(),
                                  "Phases", 1200)
                self.assertGreaterEqual(len(self.assert_whole(name)), 3)
                self.assertRegex(done.stderr, r"pieces:  (\d) of \1, of 1 s each, made in \d\.\d+ s of CPU "
                                              rf"time; jprof report {name}/pieces/00000\d\.jprof\n")
                self.jprof("merge", *self.pieces(name), "-o", f"{mode}-pieces.jprof")
                self.jprof("merge", name, "-o", f"{mode}-whole.jprof")
                merged, whole = (
                    self.report(f"{mode}-{of}.jprof", "--uncalibrated") for of in ("pieces", "whole"))
                self.assertEqual(self.by_path(merged), self.by_path(whole))
                losses = {key: value for key, value in whole["losses"].items()
                          if key in ("dropped", "healed", "unmatched", "overflow", "samples_lost")}
                self.assertEqual({key: merged["losses"][key] for key in losses}, losses)

    @staticmethod
    def by_path(report):
        """Every number of every row of a report log-rt."""
        rows = {}
        for thread in report["threads"]:
            paths = {None: (thread["name"],)}
            for node in thread["nodes"]:
                path = paths[node["id"]] = (*paths[node["parent"]], node["name"])
                values = [node["calls"], node["cee"], *node["raw"], node["ds"]]
                if any(value for value in values):
                    rows[path] = [a + b for a, b in zip(rows.get(path, [0] * len(values)), values)]
        return rows

    def test_only_the_last_ones_remain(self):
        process, _ = self.start("kept.jprof", "--keep", "2", "--series", "500ms",
                                program=("2500",))
        most, sizes = 0, []
        folder = os.path.join(self.path("kept.jprof"), "pieces")
        while process.poll() is None:
            most = max(most, sum(name.endswith(".jprof") for name in os.listdir(folder)))
            sizes.append(len(os.listdir(folder)))
            time.sleep(0.02)
        process.communicate()
        self.assertLessEqual(most, 3, "two, and for a moment the one that is removed next")
        self.assertLessEqual(max(sizes), 4)
        names = [os.path.basename(piece) for piece in self.pieces("kept.jprof")]
        self.assertEqual(len(names), 2)
        numbers = [int(name[:6]) for name in names]
        self.assertEqual(numbers[1], numbers[0] + 1)
        self.assertGreater(numbers[0], 2)
        self.assertTrue(self.info("kept.jprof")["series"]["ended"], "both may be recorded")
        text = self.jprof("info", "kept.jprof").stdout
        self.assertRegex(text, rf"pieces +2 .*\n.*kept\.jprof/pieces/{names[0]}: \d+\.\d+ s to ")
        # What follows is as usual, and replacing the profile removes the pieces, too.
        self.jprof("calltree", "--force", "-o", "kept.jprof", "--", *JDK.java(), "Phases", "10")
        self.assertFalse(os.path.exists(folder))

    def test_a_killed_program_has_all_its_pieces(self):
        process, pid = self.start("killed.jprof")
        self.await_pieces("killed.jprof", 1)
        os.kill(pid, signal.SIGKILL)
        process.communicate()
        self.assert_whole("killed.jprof")
        finished = [self.info(piece)["finished"] for piece in self.pieces("killed.jprof")]
        self.assertEqual(finished, [True] * (len(finished) - 1) + [False])

    def test_a_killed_jprof_leaves_whole_pieces(self):
        process, pid = self.start("orphan.jprof")
        self.addCleanup(lambda: os.kill(pid, signal.SIGKILL))
        self.await_pieces("orphan.jprof", 2)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        folder = os.path.join(self.path("orphan.jprof"), "pieces")
        pieces = [os.path.join(folder, name) for name in sorted(os.listdir(folder))
                  if name.endswith(".jprof")]
        self.assertGreaterEqual(len(pieces), 2)
        whole = sums([self.path("orphan.jprof")])
        for path, values in sums(pieces).items():
            self.assertLessEqual(values[0], whole[path][0], path)
        for piece in pieces:
            self.assertEqual(self.info(piece)["damages"], [])
        # What such a jprof may leave behind does not disturb, and goes with the profile.
        os.makedirs(os.path.join(folder, ".new"))
        for source, name in (("nodes", "nodes"), ("meta.json", "meta.json.tmp")):
            shutil.copy(os.path.join(pieces[0], source), os.path.join(folder, ".new", name))
        self.assertEqual(len(self.info("orphan.jprof")["pieces"]), len(pieces))
        self.jprof("calltree", "--rotate", "1m", "--force", "-o", "orphan.jprof", "--", *JDK.java(),
                   "Phases", "10")
        self.assertEqual(os.listdir(folder), ["000001.jprof"])

    def test_a_piece_that_cannot_be_written_is_in_the_next_one(self):
        process, _ = self.start("blocked.jprof", program=("3000",))
        self.await_pieces("blocked.jprof", 1)
        blocked = os.path.join(self.path("blocked.jprof"), "pieces", ".new")
        while True:  # a file where the recorder makes a directory
            try:
                with open(blocked, "x", encoding="utf-8"):
                    break
            except OSError:
                time.sleep(0.01)
        time.sleep(1.5)
        os.unlink(blocked)
        stderr = process.communicate()[1]
        self.assertRegex(stderr, r"pieces:  number \d could not be written: cannot make the directory")
        listed = self.assert_whole("blocked.jprof")
        self.assertGreater(max(piece["end_s"] - piece["begin_s"] for piece in listed), 1.5)

    def test_a_profile_that_is_replaced_gets_no_pieces_of_another_program(self):
        first, _ = self.start("same.jprof", program=("4000",))
        self.await_pieces("same.jprof", 1)
        second, _ = self.start("same.jprof", "--force", program=("3000",))
        self.assertIn("replaced by another recording", first.communicate()[1])
        stderr = second.communicate()[1]
        self.assertEqual(second.returncode, 0, stderr)
        self.assertNotIn("could not be written", stderr)
        self.assert_whole("same.jprof")

    def test_a_full_disk_leaves_no_half_piece(self):
        try:
            with lab.small_disk("64k") as disk:
                self.full_disk(disk)
        except lab.Skip as reason:
            self.skipTest(str(reason))

    def full_disk(self, disk):
        process, _ = self.start("full.jprof", program=("3500",))
        self.await_pieces("full.jprof", 1)
        folder = os.path.join(self.path("full.jprof"), "pieces")
        with open(os.path.join(disk, "filled"), "wb") as file:
            file.write(bytes(48 << 10))
        os.rename(folder, folder + "-before")
        os.symlink(disk, folder)
        time.sleep(1.5)
        os.unlink(folder)
        os.rename(folder + "-before", folder)
        stderr = process.communicate()[1]
        self.assertRegex(stderr, r"pieces:  number \d could not be written: .*No space left")
        self.assertEqual(os.listdir(disk), ["filled"])
        self.assert_whole("full.jprof")

    def test_a_running_jvm_and_several(self):
        process = self.enterContext(child.running(
            [*JDK.java(), "Phases", "8000"], cwd=self.folder, env=self.env, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True))
        time.sleep(1)
        for _ in range(2):  # the second time in place of the first
            done = self.jprof("callflow", "--rotate", "1s", "--series", "1s", "--pid", process.pid,
                              "--duration", "2", "-o", "attached.jprof", "--force")
            self.assert_whole("attached.jprof")
            self.assertIn("jprof report series attached.jprof\n", done.stderr)
            self.assertRegex(done.stderr, r"jprof report attached.jprof/pieces/\d+.jprof\n")
        piece = self.info(self.pieces("attached.jprof")[0])["piece"]
        self.assertEqual((piece["number"], piece["of"]), (1, "attached.jprof"))
        script = self.path("two.sh")
        with open(script, "w", encoding="utf-8") as file:
            java = " ".join(JDK.java())
            file.write(f"{java} Phases 700\n{java} Phases 701\n")
        self.jprof("scs", "--rotate", "1s", "--keep", "9", "--children=all", "-o", "two.jprof", "--",
                   "sh", script)
        profiles = os.listdir(self.path("two.jprof"))
        self.assertEqual(len(profiles), 2)
        for profile in profiles:
            self.assert_whole(os.path.join("two.jprof", profile))

    def test_a_piece_is_read_by_everything(self):
        self.jprof("callflow", "--rotate", "1s", "--distribution", "Phases.run", "-o", "all.jprof",
                   "--", *JDK.java(), "Phases", "1200")
        first, second = self.pieces("all.jprof")[:2]
        head = self.jprof("report", first).stdout
        self.assertRegex(head, r"piece +piece 1 of all.jprof: 0\.000 s to \d\.\d+ s of the recording")
        self.assertIn("without how long single calls took", self.jprof("info", first).stdout)
        self.assertNotIn("had not returned", head)
        report = self.report(second)
        self.assertEqual(report["profile"]["piece"]["number"], 2)
        self.assertTrue(report["profile"]["finished"])
        self.assertAlmostEqual(report["profile"]["elapsed_s"], 1, delta=0.9)
        self.assertIn("Phases.second", self.jprof("report", "methods", second).stdout)
        self.assertIn("has no trace", self.jprof("report", "log-gen", second, status=2).stderr)
        self.assertIn("piece 2 of all.jprof", self.jprof("info", second).stdout)
        self.assertIn("piece 2 of all.jprof", self.jprof("compare", first, second).stdout)
        for name in ("distribution", "series"):
            done = self.jprof("report", name, second, status=2)
            self.assertRegex(done.stderr, "piece of a recording.* the whole profile")
        self.jprof("view", second, "-o", "piece.html")
        for form in ("pprof", "collapsed", "callgrind", "sqlite"):
            self.jprof("export", "--format", form, second, "-o", f"piece.{form}")
        self.jprof("merge", second, first, "-o", "merged.jprof")
        self.assertNotIn("piece", self.report("merged.jprof")["profile"])
        with Server() as server:
            self.jprof("push", server.url, second)
            self.assertTrue(server.requests)

    def test_a_damaged_piece_is_named(self):
        self.jprof("callflow", "--rotate", "1s", "-o", "hurt.jprof", "--", *JDK.java(), "Phases",
                   "10")
        pieces = self.pieces("hurt.jprof")
        os.truncate(os.path.join(pieces[0], "control"), 100)
        info = self.info("hurt.jprof")
        self.assertEqual(info["damages"],
                         ["pieces/000001.jprof: cannot be read as a profile"])
        self.assertEqual(len(info.get("pieces", [])), len(pieces) - 1)

    def test_a_trace_keeps_its_last_files(self):
        done = self.jprof("trace", "--mode", "continuous", "--rotate", "1", "--keep", "2", "-o",
                          "trace.jprof", "--", *JDK.java(), "Phases", "2000")
        names = sorted(name for name in os.listdir(self.path("trace.jprof")) if "zst" in name)
        self.assertEqual(len(names), 2, names)
        self.assertGreater(names[0], "trace-000001.zst")
        self.assertIn("older trace events were overwritten", done.stderr)
        losses = RawProfile(self.path("trace.jprof")).losses()
        self.assertGreater(losses["trace_overwritten"], 0)
        report = self.jprof("report", "log-gen", "trace.jprof").stdout
        self.assertNotIn("damaged", report)
        self.assertIn("Phases.", report)

    def test_wrong_use(self):
        java = ["--", *JDK.java(), "Phases", "1"]
        for words, text in (
                (["calltree", "--rotate", ""], "--rotate '' is no length of a piece from 1s to 7d"),
                (["calltree", "--rotate", "1x"], "--rotate '1x' is no length"),
                (["callflow", "--rotate", "900ms"], "--rotate '900ms' is no length"),
                (["scs", "--rotate", "8d"], "--rotate '8d' is no length"),
                (["calltree", "--rotate", "1m", "--keep", "0"], "--keep"),
                (["calltree", "--rotate", "1m", "--keep", "10001"], "--keep"),
                (["calltree", "--rotate", "1m", "--keep", ""], "--keep"),
                (["calltree", "--keep", "3"], "--rotate"),
                (["calltree", "--rotate", "1m", "--rotate", "2m"], "--rotate: give it once; see"),
                (["calltree", "--sample", "--rotate", "1m"], "--rotate is not for --sample"),
                (["trace", "--rotate", "1m"], "--mode continuous"),
                (["trace", "--mode", "wrap", "--rotate", "1m"], "--mode continuous"),
                (["trace", "--mode", "continuous", "--rotate", ""], "--rotate: '' is not a time"),
                (["trace", "--mode", "continuous", "--keep", "2"], "--keep needs --rotate"),
                (["objects", "--rotate", "1m"], "--rotate"),
                (["profile", "--rotate", "1m"], "--rotate")):
            with self.subTest(words=words):
                self.assertIn(text, self.jprof(*words, *java, status=2).stderr)


if __name__ == "__main__":
    unittest.main()
