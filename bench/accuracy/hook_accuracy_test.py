#!/usr/bin/env python3
"""Tests of callgrind_file.py and of the comparison of hook_accuracy.py."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import callgrind_file  # noqa: E402
import hook_accuracy  # noqa: E402

TEXT = """version: 1
positions: instr line
events: Ir

ob=(1) /somewhere/program
fl=(1) a.c
fn=(1) main
0x100 1 5
+4 +1 7
cfn=(2) work
calls=3 0x200 10
* * 60
cob=(2) /lib/libc.so.6
cfi=(2) malloc.c
cfn=(3) malloc
calls=2 0x900 0
+4 * 30

fn=(2)
0x200 10 20
fi=(3) inlined.h
+4 3 10
fe=(1)
+4 11 20
cfn=(4) work'2
calls=1 0x200 10
* * 10

fn=(4)
0x200 10 10

ob=(2)
fl=(2)
fn=(3)
0x900 0 30
"""


class Callgrind(unittest.TestCase):
    def setUp(self):
        self.costs = callgrind_file.parse(TEXT.splitlines(keepends=True))

    def test_self_costs_without_what_callees_cost(self):
        program = self.costs.of("program")
        self.assertEqual(12, program["main"].instructions)
        self.assertEqual(30, self.costs.of("libc.so.6")["malloc"].instructions)

    def test_levels_of_a_recursion_are_one_function(self):
        work = self.costs.of("program")["work"]
        self.assertEqual((60, 4), (work.instructions, work.calls))

    def test_callees_in_other_objects_are_charged_to_their_caller_apart(self):
        program = self.costs.of("program")
        self.assertEqual((30, 0), (program["main"].outside, program["work"].outside))

    def test_addresses_relative_to_the_line_before(self):
        self.assertEqual(7, self.costs.addresses["program", "main", 0x104])
        self.assertEqual(20, self.costs.addresses["program", "work", 0x208])

    def test_calls_by_caller(self):
        self.assertEqual(2, self.costs.made["program", "main", "malloc"])


class Comparison(unittest.TestCase):
    TRUTH = {"a": 1000, "b": 500, "c": 100, "d": 5}

    def test_a_function_below_the_share_is_not_judged(self):
        found = hook_accuracy.compare(self.TRUTH, {"a": 1005, "b": 500, "c": 100, "d": 50})
        self.assertEqual((3, 3), (found.judged, found.within))
        self.assertAlmostEqual(0.5, found.worst)

    def test_a_wrong_function_is_named_and_signed(self):
        found = hook_accuracy.compare(self.TRUTH, {"a": 1000, "b": 400, "c": 100, "d": 5})
        self.assertEqual((2, "b"), (found.within, found.worst_name))
        self.assertAlmostEqual(-20, found.worst)

    def test_a_missing_function_is_not_within(self):
        found = hook_accuracy.compare(self.TRUTH, {"a": 1000, "b": 500})
        self.assertEqual((3, 2, ["c"]), (found.judged, found.within, found.missing))

    def test_ranking_of_functions_that_differ_by_more_than_the_goal(self):
        self.assertTrue(hook_accuracy.compare(self.TRUTH, dict(self.TRUTH)).same_ranking)
        swapped = {"a": 500, "b": 1000, "c": 100, "d": 5}
        self.assertFalse(hook_accuracy.compare(self.TRUTH, swapped).same_ranking)


if __name__ == "__main__":
    unittest.main()
