"""Reads what callgrind writes: instructions and calls of each function, instructions by address.

The format: lines "fn=(1) name" choose the function, "ob=(1) path" its object file; a line of
numbers is a cost of that function; "calls=N ..." says how often it called the function of the
preceding "cfn=" line, and the line of numbers after it is the callee's inclusive cost. A name is
given once, with its number in parentheses, and by that number alone afterwards.
"""
import collections
import dataclasses
import os
import re

NAME = re.compile(r"\((\d+)\)(?: (.*))?$")
RECURSION = re.compile(r"'\d+$")    # callgrind names the levels of a recursion f, f'2, ...


@dataclasses.dataclass
class Function:
    instructions: int = 0    # self
    calls: int = 0           # of it, by others and by itself
    outside: int = 0         # of functions of other objects that it calls, what these call included


class Names:
    """The names of one kind (objects or functions), by their numbers."""

    def __init__(self):
        self.known = {}

    def of(self, text):
        found = NAME.match(text)
        if not found:
            return text
        if found[2] is not None:
            self.known[found[1]] = RECURSION.sub("", found[2])
        return self.known[found[1]]


@dataclasses.dataclass
class Costs:
    functions: dict          # (file name of the object, function): Function
    addresses: dict          # (object, function, address): instructions; with --dump-instr=yes
    made: dict               # (object, function, name of the callee): calls

    def of(self, program):
        """{function: Function} of one object, by its file name. A function that recursion or
        inlined copies split is one."""
        return {name: function for (file, name), function in self.functions.items()
                if file == program}


class Position:
    """Position columns may be relative to those of the line before, or '*' for the same."""

    def __init__(self):
        self.value = 0

    def move(self, text):
        if text.startswith("+"):
            self.value += int(text[1:], 0)
        elif text.startswith("-"):
            self.value -= int(text[1:], 0)
        elif text != "*":
            self.value = int(text, 0)
        return self.value


def parse(lines):
    functions = collections.defaultdict(Function)
    addresses, made = collections.Counter(), collections.Counter()
    objects, names, address = Names(), Names(), Position()
    instructions_given, called, outside, object_name, function, callee, callee_object = (
        False, False, False, "", "", "", None)
    columns = 1
    for line in lines:
        line = line.rstrip("\n")
        head, separator, rest = line.partition("=")
        if line.startswith("positions:"):
            columns = len(line.split()) - 1
            instructions_given = "instr" in line.split()
        elif separator and head == "ob":
            object_name = os.path.basename(objects.of(rest))
        elif separator and head == "fn":
            function = names.of(rest)
        elif separator and head == "cob":
            callee_object = os.path.basename(objects.of(rest))
        elif separator and head == "cfn":
            callee = names.of(rest)
        elif separator and head == "calls":
            where = object_name if callee_object is None else callee_object
            count = int(rest.split()[0])
            functions[where, callee].calls += count
            made[object_name, function, callee] += count
            called, outside, callee_object = True, where != object_name, None
        elif line[:1] in "+-*0123456789" and line:
            numbers = line.split()
            place = address.move(numbers[0])
            cost = int(numbers[columns]) if len(numbers) > columns else 0
            if called and outside:
                functions[object_name, function].outside += cost
            if not called:
                functions[object_name, function].instructions += cost
                if instructions_given:
                    addresses[object_name, function, place] += cost
            called = False
    return Costs(dict(functions), dict(addresses), dict(made))


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return parse(file)
