// `jprof a2n`: resolves addresses to names, like addr2line, for files and live processes.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "a2n/a2n.h"
#include "a2n/jit_files.h"
#include "cli/shared/commands.h"
#include "cli/shared/usage_error.h"
#include "common/procfs.h"
#include "profile/files/printable_text.h"
#include "record/run/scoped_user.h"
#include "reports/print/json_writer.h"

namespace jprof::cli {
namespace {

using profile::CleanText;

struct A2nArguments {
  std::string file;
  uint32_t pid = 0;
  bool functions = false, inlined = false, mangled = false, quiet = false, timing = false;
  std::string format = "text";
  std::vector<std::string> addresses;
  a2n::Options options;
};

Result<uint64_t> ParseAddress(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  uint64_t address = 0;
  const char* end = digits.data() + digits.size();
  const auto [after, error] = std::from_chars(digits.data(), end, address, 16);
  if (error != std::errc() || after != end)
    return WrongUse("'{}' is not an address: write it in hexadecimal, as 4f10 or 0x4f10", text);
  return address;
}

const char* Word(a2n::Outcome outcome) {
  switch (outcome) {
    case a2n::Outcome::kNoModule:
      return "NoModule";
    case a2n::Outcome::kNoSymbols:
      return "NoSymbols";
    case a2n::Outcome::kNoSymbolFound:
      return "NoSymbolFound";
    case a2n::Outcome::kSymbol:
      return "Symbol";
  }
  return "";
}

// Resolves and prints addresses of one file or process.
class AddressPrinter {
 public:
  explicit AddressPrinter(const A2nArguments& arguments)
      : arguments_(arguments), resolver_(arguments.options) {}

  Result<void> Open() {
    if (arguments_.pid != 0) return ReadProcess();
    std::error_code error;
    if (!std::filesystem::exists(arguments_.file, error))
      return Fail("{}: there is no such file", arguments_.file);
    resolver_.ResolveInFile(arguments_.file, 0);
    return {};
  }

  void Print(uint64_t address) {
    if (arguments_.timing) addresses_.push_back(address);
    const a2n::Place place = Resolve(address);
    std::vector<a2n::Frame> frames = arguments_.pid != 0
                                         ? resolver_.Frames(arguments_.pid, address, a2n::kAlways)
                                         : resolver_.FramesInFile(arguments_.file, address);
    if (!arguments_.inlined) frames.resize(1);
    if (arguments_.format == "json") {
      PrintJson(address, place, frames);
    } else {
      PrintText(place, frames);
    }
  }

  Result<void> Flush() { return out_.Finish(); }

  std::vector<a2n::Complaint> Complaints() const { return resolver_.Complaints(); }

  // Resolves all addresses again, to measure the cost without reading files.
  void PrintTiming() {
    constexpr int kPasses = 5;
    const double opened = Seconds() - began_;
    const double start = Seconds();
    uint64_t found = 0;
    for (int pass = 0; pass < kPasses; ++pass) {
      for (const uint64_t address : addresses_)
        found += Resolve(address).outcome == a2n::Outcome::kSymbol;
    }
    const double each =
        (Seconds() - start) / kPasses / static_cast<double>(std::max<size_t>(addresses_.size(), 1));
    fmt::print(stderr,
               "{} addresses, {} with a symbol, {:.3f} s in total; "
               "{:.2f} million per second after reading files\n",
               addresses_.size(), found / kPasses, opened, 1e-6 / each);
  }

 private:
  static double Seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  a2n::Place Resolve(uint64_t address) {
    return arguments_.pid != 0 ? resolver_.Resolve(arguments_.pid, address, a2n::kAlways)
                               : resolver_.ResolveInFile(arguments_.file, address);
  }

  Result<void> ReadProcess() {
    if (auto read = resolver_.MapsOf(arguments_.pid, a2n::kAlways); !read) return read;
    std::string damage;
    const std::string map =
        fmt::format("{}/root/tmp/perf-{}.map", procfs::Directory(arguments_.pid), arguments_.pid);
    const procfs::Status status = procfs::ReadStatus(arguments_.pid);
    const record::ScopedUser user(
        {status.user.value_or(geteuid()), status.group});  // made by that user
    if (eaccess(map.c_str(), R_OK) != 0) return {};
    auto codes = a2n::ReadPerfMap(map, &damage);
    if (!codes) damage = codes.error().message;
    if (!damage.empty()) PrintError(damage);
    if (!codes) return {};
    for (a2n::JittedCode& code : *codes) resolver_.Jitted(arguments_.pid, std::move(code));
    return {};
  }

  static bool Unknown(const a2n::Place& place, const a2n::Frame& frame) {
    return place.outcome != a2n::Outcome::kSymbol && frame.function == place.symbol;
  }

  void PrintText(const a2n::Place& place, const std::vector<a2n::Frame>& frames) {
    for (const a2n::Frame& frame : frames) {
      if (arguments_.functions)
        out_.Print("{}\n", Unknown(place, frame) ? "??" : CleanText(frame.function));
      if (frame.file.empty()) {
        out_.Text("??:0\n");
      } else {
        out_.Print("{}:{}\n", CleanText(frame.file),
                   frame.line == 0 ? "?" : std::to_string(frame.line));
      }
    }
  }

  void PrintJson(uint64_t address, const a2n::Place& place, const std::vector<a2n::Frame>& frames) {
    reports::JsonWriter json(out_);
    json.StartObject();
    json.Member("address", fmt::format("{:#x}", address));
    json.Member("outcome", Word(place.outcome));
    json.Member("module", place.module);
    json.Member("symbol", place.symbol);
    if (place.outcome == a2n::Outcome::kSymbol) {
      json.Member("symbol_start", fmt::format("{:#x}", place.symbol_start));
      json.Member("symbol_size", place.symbol_size);
      json.Member("offset", place.offset);
    }
    json.Key("frames");
    json.StartArray();
    for (const a2n::Frame& frame : frames) {
      json.StartObject();
      json.Member("function", frame.function);
      json.Member("file", frame.file);
      json.Member("line", frame.line);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
    json.Finish();
  }

  const A2nArguments& arguments_;
  a2n::Resolver resolver_;
  reports::Output out_{stdout};
  double began_ = Seconds();
  std::vector<uint64_t> addresses_;
};

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// Prints `text`, which consists of complete lines, each blank or with an address.
Result<void> PrintLines(AddressPrinter& printer, std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = Trimmed(text.substr(0, end));
    text.remove_prefix(end + 1);
    if (line.empty()) continue;
    const auto address = ParseAddress(line);
    if (!address) return std::unexpected(address.error());
    printer.Print(*address);
  }
  return {};
}

// Prints the names after each line, so that another program can write an address to a pipe and wait
// for the result.
Result<void> PrintInput(AddressPrinter& printer) {
  constexpr size_t kLongestLine = 4096;
  std::string text;
  char piece[1 << 16];
  while (true) {
    const ssize_t got = read(STDIN_FILENO, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    text.append(piece, got > 0 ? static_cast<size_t>(got) : 0);
    if (got <= 0 && !text.empty() && text.back() != '\n') text += '\n';
    const size_t whole = text.rfind('\n') + 1;  // 0 if no line is complete yet
    if (auto printed = PrintLines(printer, std::string_view(text).substr(0, whole)); !printed)
      return printed;
    text.erase(0, whole);
    if (auto written = printer.Flush(); !written) return written;
    if (got <= 0) return {};
    if (text.size() > kLongestLine) return WrongUse("a line of standard input is not an address");
  }
}

Result<int> Run(const A2nArguments& arguments) {
  if (arguments.file.empty() == (arguments.pid == 0))
    return WrongUse("a2n requires either -e FILE or -p PID");
  std::vector<uint64_t> addresses;
  for (const std::string& text : arguments.addresses) {
    const auto address = ParseAddress(text);
    if (!address) return std::unexpected(address.error());
    addresses.push_back(*address);
  }
  AddressPrinter printer(arguments);
  if (auto opened = printer.Open(); !opened) return std::unexpected(opened.error());
  for (const uint64_t address : addresses) printer.Print(address);
  Result<void> done;
  if (addresses.empty()) done = PrintInput(printer);
  if (auto written = printer.Flush(); done) done = written;
  if (arguments.timing) printer.PrintTiming();
  if (!arguments.quiet)
    for (const a2n::Complaint& complaint : printer.Complaints()) PrintError(complaint.text);
  return StatusOf(done);
}

}  // namespace

Action A2nCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<A2nArguments>();
  line.Option("-e,--exe", arguments->file, "FILE",
              "Resolve addresses of this file, as nm and objdump print them");
  line.Option("-p,--pid", arguments->pid, "PID",
              "Resolve addresses of this running process (also reads its perf map)");
  line.Flag("-f,--functions", arguments->functions,
            "Print the function on a line before file:line");
  line.Flag("-i,--inlines", arguments->inlined,
            "Also print the functions that it was inlined into");
  line.Flag("--mangled", arguments->mangled, "Do not demangle C++ and Rust names");
  line.Flag("-q,--quiet", arguments->quiet, "Do not report on stderr why names are missing");
  line.Flag("--timing", arguments->timing, "Report the elapsed time on stderr");
  line.Option("--format", arguments->format, "text|json",
              "text (default), or json: one object per line, always with functions")
      .OneOf({"text", "json"});
  line.Option("--debug-folder", arguments->options.debug_folders, "DIR",
              "Directory of debug files (default /usr/lib/debug)")
      .OneValueEach();
  line.Option("ADDR", arguments->addresses, "",
              "Addresses in hexadecimal; without any, they are read from standard input");
  line.Footer(
      "Examples:\n"
      "  jprof a2n -e /lib/x86_64-linux-gnu/libc.so.6 -f "
      "-i 26e50   one address with inlined functions\n"
      "  jprof a2n -e ./server -f < addresses                       many, one per line\n"
      "  jprof a2n -p 4711 -f 7f3a5c0e1234                          "
      "in a running process, with its JIT code\n"
      "  jprof a2n -p 4711 --format json 7f3a5c0e1234 "
      "| jq .        with module, symbol and offset");
  return [arguments] {
    arguments->options.demangle = !arguments->mangled;
    return Run(*arguments);
  };
}

}  // namespace jprof::cli
