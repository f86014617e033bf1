#!/usr/bin/env python3
"""Compares `jprof a2n` with addr2line on random addresses of code: names, chains of inlined
functions, speed, memory.

The files: libjvm.so, libc.so.6, and a C++ program with much inlining that the benchmark compiles
with
-O2 -g. For a file with DWARF (its own or in a debug package), the oracle is `addr2line -f -i -C`;
for a file without, also a table made from nm: the nearest function at or below the address whose
size includes it. Differences are counted by class, with examples:

  same          the names of the whole chain are equal
  spelling      equal except for spaces, "(anonymous namespace)", clone suffixes, or parameters and
                qualification that one of them omits
  alias         another name of the same function (one address in the symbol table)
  padding       no function contains the address; the oracle returns the preceding one
  ours only     addr2line finds no name
  theirs only   jprof finds no name
  misplaced     addr2line gives the outermost function's name to the innermost frame, because DWARF
                has no linkage name
  chain         the innermost name is equal, the functions around it are not
  other         all other differences
"""
import bisect
import collections
import glob
import os
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shared"))
import measure  # noqa: E402

PROGRAM = r"""
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
namespace shop {
struct Item { std::string name; double price; int count; };
class Basket {
 public:
  void Add(Item item) { items_.push_back(std::move(item)); }
  double Sum() const {
    return std::accumulate(items_.begin(), items_.end(), 0.0,
                           [](double sum, const Item& i) { return sum + i.price * i.count; });
  }
  template <typename Key> void Sort(Key key) {
    std::sort(items_.begin(), items_.end(),
              [&](const Item& a, const Item& b) { return key(a) < key(b); });
  }
  std::map<std::string, std::vector<Item>> ByName() const {
    std::map<std::string, std::vector<Item>> names;
    for (const Item& item : items_) names[item.name].push_back(item);
    return names;
  }
 private:
  std::vector<Item> items_;
};
}
int main(int argc, char** argv) {
  shop::Basket basket;
  for (int i = 0; i < argc * 100; ++i) basket.Add({"n" + std::to_string(i % 17), i * 0.5, i});
  basket.Sort([](const shop::Item& i) { return i.price; });
  basket.Sort([](const shop::Item& i) { return i.name; });
  std::unordered_map<std::string, std::function<double(double)>> table;
  table["x"] = [](double v) { return v * 2; };
  table["y"] = [&](double v) { return v + basket.Sum(); };
  std::set<std::string> words;
  std::istringstream in(argv[0]);
  for (std::string word; in >> word;) words.insert(word);
  std::regex expression("([a-z]+)/([0-9]*)");
  std::smatch match;
  std::string text = argv[0];
  if (std::regex_search(text, match, expression)) words.insert(match[1]);
  for (auto& [name, items] : basket.ByName()) std::printf("%s %zu\n", name.c_str(), items.size());
  std::printf("%f %zu\n", table["y"](1), words.size());
}
"""


# Waits for the command in a small process: the peak memory of a child is at least that of the
# process that forked it.
WATCH = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(child.pid, 0)
open(sys.argv[1], 'w').write(str(usage.ru_maxrss))
os._exit(os.waitstatus_to_exitcode(status) & 255)
"""


class Measured:
    def __init__(self, command, text):
        """Runs the command with the text as its input and records its time and peak memory."""
        with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, \
                tempfile.TemporaryFile() as err, \
                tempfile.NamedTemporaryFile("r") as peak:
            source.write(text.encode())
            source.seek(0)
            started = time.monotonic()
            status = subprocess.run([sys.executable, "-IS", "-c", WATCH, peak.name, *command],
                                    stdin=source, stdout=out, stderr=err).returncode
            self.seconds = time.monotonic() - started
            self.megabytes = int(peak.read() or 0) / 1024
            out.seek(0)
            err.seek(0)
            self.output = out.read().decode("utf-8", "replace")
            self.errors = err.read().decode("utf-8", "replace")
        if status != 0:
            sys.exit(f"{' '.join(command)} failed with {status}: {self.errors[-500:]}")


def code_ranges(path):
    """(start, length) of the sections that contain code."""
    listing = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True,
                             check=True).stdout
    found = re.findall(
        r"\]\s+(\.\S+)\s+PROGBITS\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)\s+[0-9a-f]+\s+[WA]*X",
        listing)
    return [(int(start, 16), int(size, 16)) for name, start, size in found
            if not name.startswith(".plt")]


def random_addresses(path, count, seed):
    ranges = code_ranges(path)
    pick = random.Random(seed)
    starts = pick.choices(ranges, weights=[size for _, size in ranges], k=count)
    return [start + pick.randrange(size) for start, size in starts]


def has_dwarf(path):
    """Whether the file, or its debug file by build id, contains DWARF."""
    if ".debug_info" in subprocess.run(["readelf", "-SW", path], capture_output=True,
                                       text=True).stdout:
        return True
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
    build = re.search(r"Build ID: ([0-9a-f]+)", notes)
    return bool(build) and os.path.exists(
        f"/usr/lib/debug/.build-id/{build[1][:2]}/{build[1][2:]}.debug")


def symbols(path):
    """Functions by address: ([address], [(end, names)]), of the file and of its debug file."""
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
    build = re.search(r"Build ID: ([0-9a-f]+)", notes)
    debug = f"/usr/lib/debug/.build-id/{build[1][:2]}/{build[1][2:]}.debug" if build else ""
    table = collections.defaultdict(lambda: [0, set()])
    for command in (["nm", "-CS", path], ["nm", "-CSD", path], ["nm", "-CS", debug]):
        for line in subprocess.run(command, capture_output=True, text=True).stdout.splitlines():
            row = re.match(r"([0-9a-f]{16}) ([0-9a-f]{16}) ([tTwWiIuV]) (.+)", line)
            if row:
                entry = table[int(row[1], 16)]
                entry[0] = max(entry[0], int(row[1], 16) + int(row[2], 16))
                entry[1].add(re.sub(r"@.*", "", row[4]) if "operator" not in row[4] else row[4])
    addresses = sorted(table)
    return addresses, [table[a] for a in addresses]


def by_nm(table, address):
    """The names of the nearest function at or below the address that contains it."""
    addresses, entries = table
    place = bisect.bisect_right(addresses, address) - 1
    for back in range(place, max(-1, place - 20), -1):
        if entries[back][0] > address:
            return entries[back][1]
    return set()


def blocks(output, count):
    """Chains of function names, in the order of the addresses; each chain follows a line with its
    address."""
    chains, lines = [], output.split("\n")
    i = 0
    while i < len(lines) and len(chains) <= count:
        if re.fullmatch(r"0x[0-9a-f]+", lines[i]):
            chains.append([])
            i += 1
        elif i + 1 < len(lines):
            chains[-1].append((lines[i], lines[i + 1]))
            i += 2
        else:
            break
    return chains


def run_addr2line(tool, path, addresses):
    ran = Measured([tool, "-f", "-i", "-C", "-a", "-e", path],
                   "".join(f"{a:x}\n" for a in addresses))
    return ran, blocks(ran.output, len(addresses))


def run_jprof(jprof, path, addresses):
    import json
    text = "".join(f"{a:x}\n" for a in addresses)
    ran = Measured([jprof, "a2n", "-f", "-i", "-q", "--timing", "-e", path], text)
    rows = [json.loads(line)
            for line in Measured([jprof, "a2n", "-q", "--format", "json", "-i", "-e", path],
                                                  text).output.splitlines()]
    chains = [[(("??" if f["function"].startswith("NoSymbol") else f["function"]),
                f"{f['file'] or '??'}:{f['line']}")
               for f in row["frames"]] for row in rows]
    return ran, chains, [row["symbol"] for row in rows]


def bare(name):
    """The name without the parts that the two tools print differently."""
    name = re.sub(
        r" ?\[clone [^]]*\]|\.(isra|part|constprop|cold|lto_priv)(\.\d+)*"
        r"|@@?[A-Za-z_0-9.]+$|\[abi:\w+\]", "", name)
    name = name.replace("(anonymous namespace)::", "").replace(" ", "")
    return name


def core(name):
    """The unqualified name, without parameters."""
    name, depth, out = bare(name), 0, ""
    for character in name:
        depth += character in "<({"
        if depth == 0:
            out += character
        depth -= character in ">)}"
    return out.split("::")[-1] or name


def same_name(ours, theirs):
    if theirs.startswith("_Z"):  # llvm-addr2line does not demangle some names
        return not ours.startswith("_Z")
    return ours == theirs or bare(ours) == bare(theirs) or core(ours) == core(theirs)


def part_of_name(ours, theirs):
    """Whether `theirs` is DWARF's unqualified form of the symbol table's full name."""
    return same_name(ours, theirs) or bare(theirs) in bare(ours)


def classify(ours, theirs, aliases):
    our_names, their_names = [f for f, _ in ours], [f for f, _ in theirs]
    if our_names == their_names:
        return "same"
    if their_names == ["??"]:
        return "ours only"
    if our_names == ["??"] and not aliases:
        return "padding"
    if our_names == ["??"]:
        return "theirs only"
    if len(ours) == len(theirs) and all(same_name(a, b) for a, b in zip(our_names, their_names)):
        return "spelling"
    if len(ours) == len(theirs) and all(
            same_name(a, b) or {a, b} <= aliases for a, b in zip(our_names, their_names)):
        return "alias"
    if len(ours) == len(theirs) and all(map(part_of_name, our_names, their_names)):
        return "spelling"
    if len(ours) == len(theirs) > 1 and all(map(part_of_name, our_names[1:], their_names[1:])) and \
            core(their_names[0]) == core(our_names[-1]):
        return "misplaced"
    return "chain" if same_name(our_names[0], their_names[0]) else "other"


def report(name, addresses, ours, theirs, table, examples, also):
    count, shown, lines_equal, lines_compared = collections.Counter(), collections.defaultdict(
        list), 0, 0
    for address, our, their in zip(addresses, ours, theirs):
        aliases = by_nm(table, address)
        kind = classify(our, their, aliases)
        count[kind] += 1
        if kind in ("same", "spelling") and not their[0][1].startswith("??"):
            lines_compared += 1
            line = re.sub(r" \(discriminator \d+\)", "", their[0][1])
            lines_equal += our[0][1].rsplit(":", 1)[-1] == line.rsplit(":", 1)[-1]
        if kind != "same" and len(shown[kind]) < examples:
            chain = lambda frames: " < ".join(
                f if len(f) < 90 else f[:60] + "..." + f[-27:] for f, _ in frames)
            shown[kind].append(
                f"      {address:x}\n        ours   {chain(our)}\n        {name:<6} {chain(their)}")
    total = len(addresses)
    print(f"  against {also}:")
    for kind, times in count.most_common():
        print(f"    {kind:<12} {times:>8}  {100 * times / total:8.4f} %")
        print("\n".join(shown[kind])) if shown[kind] else None
    if lines_compared:
        print(
            f"    innermost line number equal: {lines_equal} of {lines_compared} "
            f"({100 * lines_equal / lines_compared:.3f} %)")


def report_nm(addresses, symbols_of_ours, table, examples):
    """Compares jprof's ELF names with the table."""
    wrong, shown = collections.Counter(), []
    for address, name in zip(addresses, symbols_of_ours):
        names = by_nm(table, address)
        if not names and name.startswith("NoSymbol"):
            kind = "same (no function there)"
        elif any(bare(name) == bare(n) for n in names):
            kind = "same"
        elif not names:
            kind = "ours only (symbol without a size, or a label)"
        else:
            kind = "other"
        wrong[kind] += 1
        if not kind.startswith("same") and len(shown) < examples:
            shown.append(
                f"      {address:x}: ours {name}, nm {' = '.join(sorted(names)) or 'none'}")
    print("  names against nm's table:")
    for kind, times in wrong.most_common():
        print(f"    {kind:<46} {times:>8}  {100 * times / len(addresses):8.4f} %")
    print("\n".join(shown)) if shown else None


def compare(jprof, path, options):
    addresses = random_addresses(path, options.count, options.seed)
    dwarf = has_dwarf(path)
    print(
        f"{path} ({os.path.getsize(path) / 2**20:.1f} MiB, {'DWARF' if dwarf else 'no DWARF'}, "
        f"{len(addresses)} addresses)")
    ran, ours, names = run_jprof(jprof, path, addresses)
    table = symbols(path)
    print(
        f"  jprof a2n    {ran.seconds:7.2f} s  {ran.megabytes:6.0f} MB   "
        f"{ran.errors.strip().splitlines()[-1]}")
    report_nm(addresses, names, table, options.examples)
    for tool in options.tools:
        few = addresses[: options.llvm_count] if "llvm" in tool else addresses
        theirs, chains = run_addr2line(tool, path, few)
        print(f"  {tool:<12} {theirs.seconds:7.2f} s  {theirs.megabytes:6.0f} MB   {len(few)} "
              f"addresses, start-up included: "
              f"{len(few) / theirs.seconds:.0f} per second")
        report(tool[:6], few, ours, chains, table, options.examples, tool)


def compiled_program(folder):
    source, program = os.path.join(folder, "shop.cc"), os.path.join(folder, "shop")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    subprocess.run(["g++", "-std=c++20", "-O2", "-g", "-o", program, source], check=True)
    return program


def libjvm():
    found = glob.glob("/usr/lib/jvm/*/lib/server/libjvm.so")
    return [sorted(found)[0]] if found else []


def main():
    parser = measure.parser(__doc__)
    parser.add_argument("--jprof", default="build/release/bin/jprof",
                        help="the command to test (%(default)s)")
    parser.add_argument("--count", type=int, default=100_000,
                        help="addresses per file (%(default)s)")
    parser.add_argument("--llvm-count", type=int, default=20_000,
                        help="addresses per file for llvm-addr2line, which is slow (%(default)s)")
    parser.add_argument("--examples", type=int, default=3,
                        help="examples of each kind of difference (%(default)s)")
    parser.add_argument("--seed", type=int, default=1,
                        help="seed of the random addresses (%(default)s)")
    parser.add_argument("--tools", nargs="*", default=["addr2line", "llvm-addr2line"],
                        help="tools to compare with, if installed")
    parser.add_argument("files", nargs="*",
                        help="files instead of libjvm.so, libc.so.6 and the compiled program")
    options = parser.parse_args()
    options.tools = [
        t for t in options.tools
        if subprocess.run(["which", t], capture_output=True).returncode == 0]
    with tempfile.TemporaryDirectory() as folder:
        files = options.files or libjvm() + glob.glob("/lib/*/libc.so.6")[:1] + [
            compiled_program(folder)]
        for path in files:
            compare(options.jprof, path, options)


main()
