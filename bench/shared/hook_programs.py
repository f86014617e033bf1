"""Real programs for the benchmarks of C and C++, built from Debian's source packages with any
compiler and flags. Each does the same work in every run, without a clock and without addresses."""
import dataclasses
import glob
import hashlib
import os
import subprocess

import debian_source

LUA_SCRIPT = """
local seed = 42
local function random(n) seed = (seed * 1103515245 + 12345) % 2147483648; return seed % n + 1 end
local words = {}
for i = 1, 400 do
  local letters = {}
  for j = 1, 3 + random(6) do letters[j] = string.char(96 + random(26)) end
  words[i] = table.concat(letters)
end
local Account = {}
Account.__index = Account
function Account.new(name) return setmetatable({name = name, balance = 0, log = {}}, Account) end
function Account:add(amount)
  self.balance = self.balance + amount
  self.log[#self.log + 1] = string.format("%s %d", self.name, amount)
end
local sum = 0
for round = 1, ROUNDS do
  local text = {}
  for i = 1, 600 do text[i] = words[random(#words)] end
  local line = table.concat(text, " ")
  local counts = {}
  for word in line:gmatch("%a+") do counts[word] = (counts[word] or 0) + 1 end
  local sorted = {}
  for word, count in pairs(counts) do sorted[#sorted + 1] = word .. ":" .. count end
  table.sort(sorted, function(a, b) return a > b end)
  sum = sum + #line:gsub("a(%w)", "%1A"):upper() + #sorted[1]
  local account = Account.new("n" .. round)
  for i = 1, 200 do account:add(random(100)) end
  sum = sum + account.balance + #account.log
  local function depth(n) if n < 2 then return n end return depth(n - 1) + depth(n - 2) end
  sum = sum + depth(12)
  local ok = pcall(function() if round % 2 == 0 then error({}) end end)
  sum = sum + (ok and 1 or 0)
  local chunk = load("local t = {} for i = 1, 20 do t[i] = i * 2 end return #t + " .. round)
  sum = sum + chunk()
end
print(sum)
"""

JSON_DRIVER = """
#include <json/json.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

static unsigned long Weight(const Json::Value& value) {
  unsigned long sum = 1;
  if (value.isObject()) {
    for (const std::string& name : value.getMemberNames()) sum += name.size() + Weight(value[name]);
  } else if (value.isArray()) {
    for (const Json::Value& one : value) sum += Weight(one);
  } else if (value.isString()) {
    sum += value.asString().size();
  } else if (value.isNumeric()) {
    sum += static_cast<unsigned long>(value.asDouble());
  }
  return sum;
}

int main(int count, char** words) {
  std::ifstream file(words[1]);
  std::stringstream text;
  text << file.rdbuf();
  const std::string document = text.str();
  const int rounds = count > 2 ? std::atoi(words[2]) : 1;
  unsigned long sum = 0;
  for (int round = 0; round < rounds; ++round) {
    Json::CharReaderBuilder readers;
    std::unique_ptr<Json::CharReader> reader(readers.newCharReader());
    Json::Value root;
    std::string errors;
    if (!reader->parse(document.data(), document.data() + document.size(), &root, &errors)) {
      return 1;
    }
    sum += Weight(root);
    Json::StreamWriterBuilder writers;
    writers["indentation"] = round % 2 ? "" : "  ";
    sum += Json::writeString(writers, root).size();
    Json::Value copy = root;
    copy["list"].append(round);
    sum += copy == root ? 1 : 0;
  }
  std::cout << sum << "\\n";
}
"""

CMARK_HEADERS = {
    "config.h": """
#include <stdbool.h>
#define HAVE_STDBOOL_H 1
#define HAVE___BUILTIN_EXPECT 1
#define HAVE___ATTRIBUTE__ 1
#define CMARK_ATTRIBUTE(list) __attribute__(list)
#define CMARK_INLINE inline
""",
    "cmark_version.h": """
#define CMARK_VERSION 0x001e02
#define CMARK_VERSION_STRING "0.30.2"
""",
    "cmark_export.h": """
#define CMARK_EXPORT
#define CMARK_NO_EXPORT
""",
}


class Random:
    """The same numbers on every machine and with every Python."""

    def __init__(self):
        self.state = 42

    def below(self, limit):
        self.state = (self.state * 1103515245 + 12345) % 2 ** 31
        return (self.state >> 8) % limit


def json_text(count):
    random = Random()
    rows = []
    for number in range(count):
        tags = ", ".join(f'"tag{random.below(50)}\\n{random.below(9)}"'
                         for _ in range(random.below(5)))
        rows.append(f'{{"id": {number}, "name": "row {random.below(10 ** 6)}", '
                    f'"value": {random.below(10 ** 6)}.{random.below(1000)}, "ok": '
                    f'{"true" if random.below(2) else "false"}, "none": null, "tags": [{tags}]}}')
    return '{"list": [\n' + ",\n".join(rows) + "]}\n"


def markdown_text(count):
    random = Random()
    words = ["plain", "*strong*", "**bold**", "`code`", "[link](http://a.example/b)", "&amp;",
             "text", "<b>html</b>", "\\*", "![image](x.png)", "word", "a_b_c", "[ref]"]
    parts = ["[ref]: http://a.example 'title'\n"]
    for _ in range(count):
        line = " ".join(words[random.below(len(words))] for _ in range(8 + random.below(30)))
        kind = random.below(6)
        parts.append(
            ("# " + line[:60], "- " + line + "\n- " + line[:40] + "\n  1. inner", "> " + line,
             "    indented code", "```c\nint x;\n```", line + "\nand a second line  \nand a third")
            [kind] + "\n")
    return "\n".join(parts)


def letters(count):
    random = Random()
    words = ["".join(chr(97 + random.below(26)) for _ in range(2 + random.below(8)))
             for _ in range(500)]
    return " ".join(words[random.below(500)] for _ in range(count))


@dataclasses.dataclass
class Program:
    name: str
    package: str
    language: str                  # "c" or "c++"
    sources: list                  # below the package's folder, as patterns
    without: tuple = ()            # file names that the patterns match but the program lacks
    includes: tuple = ()           # folders below the package's folder
    defines: tuple = ()
    libraries: tuple = ()
    headers: dict = dataclasses.field(default_factory=dict)    # generated headers
    driver: str = ""               # a source file that the program consists of besides
    input: str = ""                # what its input file contains
    arguments: tuple = ()          # @ is the input file


def programs(scale=1.0):
    """The programs; scale multiplies the work."""
    rounds = lambda number: max(1, round(number * scale))
    return [
        Program("lua", "lua5.4", "c", ["src/*.c"], without=("luac.c",), includes=("src",),
                defines=("-DLUA_USE_POSIX", "-Dluai_makeseed(state)=42"), libraries=("-lm",),
                headers={"lua5.4-deb-multiarch.h": '#define DEB_HOST_MULTIARCH "none"\n'},
                input=LUA_SCRIPT.replace("ROUNDS", str(rounds(60))), arguments=("@",)),
        Program("cmark", "cmark", "c", ["src/*.c"], includes=("src",), headers=CMARK_HEADERS,
                input=markdown_text(rounds(3000)), arguments=("--to", "html", "@")),
        Program("bzip2", "bzip2", "c", ["*.c"],
                without=("bzip2recover.c", "dlltest.c", "mk251.c", "spewG.c", "unzcrash.c"),
                defines=("-D_FILE_OFFSET_BITS=64",), input=letters(rounds(120000)),
                arguments=("--stdout", "--compress", "@")),
        Program("jsoncpp", "libjsoncpp-dev", "c++", ["src/lib_json/*.cpp"], includes=("include",),
                driver=JSON_DRIVER, input=json_text(rounds(1500)), arguments=("@", "3")),
    ]


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Built:
    def __init__(self, path, command):
        self.path, self.command = path, command


def compiler_of(program, compiler):
    """The C++ driver that belongs to a C compiler: g++ for gcc, clang++-19 for clang-19."""
    if program.language == "c":
        return compiler
    return compiler.replace("gcc", "g++").replace("clang", "clang++")


def build(program, folder, compiler, flags, libraries=()):
    """Compiles the program with the flags. Returns what to run. Raises CalledProcessError."""
    source = debian_source.tree(program.package)
    key = hashlib.sha256(repr((program, compiler, flags, libraries)).encode()).hexdigest()[:12]
    place = os.path.join(folder, f"{program.name}-{key}")
    os.makedirs(place, exist_ok=True)
    for name, text in program.headers.items():
        write(os.path.join(place, name), text)
    given = os.path.join(place, "input")
    write(given, program.input)
    files = [path for pattern in program.sources
             for path in sorted(glob.glob(os.path.join(source, pattern)))
             if os.path.basename(path) not in program.without]
    if program.driver:
        driver = os.path.join(place, "driver" + (".cc" if program.language == "c++" else ".c"))
        write(driver, program.driver)
        files.append(driver)
    tool = compiler_of(program, compiler)
    common = ["-O2", "-gdwarf-4", "-w", *program.defines, f"-I{place}",
              *(f"-I{os.path.join(source, folder)}" for folder in program.includes)]
    objects = []
    for path in files:
        objects.append(os.path.join(place, os.path.basename(path) + ".o"))
        if not os.path.exists(objects[-1]):
            subprocess.run([tool, *common, *flags, "-c", path, "-o", objects[-1]], check=True)
    path = os.path.join(place, program.name)
    # Linked with these flags, the program would contain the compiler's own runtimes.
    linked = [flag for flag in flags if not flag.startswith(("-fsanitize", "-fxray"))]
    subprocess.run([tool, *linked, *objects, "-o", path, *program.libraries, *libraries],
                   check=True)
    return Built(path, [path, *(given if word == "@" else word for word in program.arguments)])
