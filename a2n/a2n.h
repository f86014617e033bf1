// Addresses to names: the public face of this folder. A Resolver is fed what happened to the
// address spaces of processes over time (who forked, executed, mapped what; which methods a JIT
// compiler put where and when), in any order of processes but in order of time within one, and then
// answers what stood at an address at a time.
//
// Only modules that an answer needs are opened, each once. One thread at a time. Times are
// nanoseconds of one clock, the caller's choice (CLOCK_MONOTONIC in jprof); kAlways, 0, means
// "since before we looked".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/procfs.h"
#include "common/result.h"

namespace jprof::a2n {

using Pid = uint32_t;
using Nanos = uint64_t;
inline constexpr Nanos kAlways = 0;
inline constexpr Nanos kForever = ~uint64_t{0};
inline constexpr Pid kKernel = ~uint32_t{0};  // the process to name for addresses of the kernel

// A file mapped executable.
struct Mapping {
  uint64_t start = 0, length = 0, file_offset = 0;
  std::string path;      // as the kernel says it; "[vdso]", "//anon" and the like are known
  std::string build_id;  // lower-case hex; empty: not known, then the file's own is not compared
  uint64_t inode = 0;    // 0: not known
};

// A method or stub that a JIT compiler made.
struct JittedCode {
  uint64_t start = 0, length = 0;
  Nanos loaded = kAlways, unloaded = kForever;
  std::string name;  // as it is to be printed: "pkg/Class.method(sig)ret", or a stub's name
  char type = 'J';   // of the method, as in reports: J, R, I (interpreter), O (stub)
  std::vector<uint8_t> code;  // its instructions; may be empty
  std::vector<std::pair<uint32_t, uint32_t>>
      lines;           // (offset in code, source line), sorted; may be empty
  std::string source;  // the file of these lines; empty: not known
};

// How far the answer got (in this order, each knows all that the one before knows).
enum class Outcome { kNoModule, kNoSymbols, kNoSymbolFound, kSymbol };

// What stood at an address. Views live as long as the Resolver. Between jitted methods: JITCODE,
// kNoSymbolFound; in other memory that no file is behind: "//anon", kNoSymbols.
struct Place {
  Outcome outcome = Outcome::kNoModule;
  std::string_view module;    // path; "JITCODE", "vmlinux", "[vdso]"; "NoModule"
  std::string_view symbol;    // demangled; "NoSymbols", "NoSymbolFound" as the outcome says
  uint64_t symbol_start = 0;  // run-time address of its first instruction
  uint64_t symbol_size = 0;   // 0: not known
  uint64_t offset = 0;        // address - symbol_start
  const JittedCode* jitted = nullptr;
};

// One of the functions inlined at an address, innermost first; the last is the function itself.
struct Frame {
  std::string function;
  std::string file;  // empty: not known
  uint32_t line = 0;
};

struct Options {
  std::vector<std::string> debug_folders = {"/usr/lib/debug"};
  std::string kallsyms = procfs::kKernelSymbols;  // or a copy of it
  bool demangle = true;
};

struct Statistics {
  uint64_t resolved = 0;
  uint32_t modules_opened = 0, modules_failed = 0;
};

class Resolver {
 public:
  explicit Resolver(Options options = {});
  ~Resolver();
  Resolver(const Resolver&) = delete;

  // What happened. A process that is not known yet begins empty.
  void Fork(Pid parent, Pid child, Nanos when);  // the child has what the parent had
  void Exec(Pid pid, Nanos when);                // empties the process; mappings follow
  void Exit(Pid pid, Nanos when);
  void Map(Pid pid, Nanos when, Mapping mapping);  // replaces what it overlaps
  // In any order of time. Later loads hide earlier ones where they overlap. `loaded` kAlways: since
  // the newest exec of the process that was told before this call; such code (of a perf map) does
  // not hide files.
  void Jitted(Pid pid, JittedCode code);
  // What the process has mapped now, from /proc; also remembers its root, so that containers' files
  // are found.
  Result<void> MapsOf(Pid pid, Nanos when);

  Place Resolve(Pid pid, uint64_t address, Nanos when);
  // Source position and inlined callers; one frame with the symbol only where nothing better is
  // known.
  std::vector<Frame> Frames(Pid pid, uint64_t address, Nanos when);
  // The instructions of [start, start + length) as they were mapped at that time; fewer or none if
  // they cannot be had.
  std::vector<uint8_t> Code(Pid pid, uint64_t start, uint64_t length, Nanos when);
  // Of a file by itself, at addresses as linked (what `addr2line -e` takes).
  Place ResolveInFile(const std::string& path, uint64_t address);
  std::vector<Frame> FramesInFile(const std::string& path, uint64_t address);

  // Modules that could not be opened or had no symbols, a line each: what, why, what would help.
  std::vector<std::string> Complaints() const;
  const Statistics& statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jprof::a2n
