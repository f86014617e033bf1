// Resolves addresses to names: the public interface of this folder. The input of a Resolver is the
// history of the address spaces of processes (fork, exec, mappings, and the code that JIT compilers
// generated, with times), in any order of processes but in order of time within one. Its output is
// the code at a given address and time.
//
// - Only modules that a lookup needs are opened, each once.
// - One thread at a time may use a Resolver.
// - Times are nanoseconds of one clock that the caller chooses (CLOCK_MONOTONIC in jprof). kAlways,
//   0, means "since before the recording".
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
inline constexpr Pid kKernel = ~uint32_t{0};  // the process id for kernel addresses

// A file mapped executable.
struct Mapping {
  uint64_t start = 0, length = 0, file_offset = 0;
  std::string path;      // from the kernel; "[vdso]", "//anon" and the like are recognised
  std::string build_id;  // lower-case hex; if empty, the file's own is not compared
  uint64_t inode = 0;    // 0 if unknown
};

// A method or stub that a JIT compiler generated.
struct JittedCode {
  uint64_t start = 0, length = 0;
  Nanos loaded = kAlways, unloaded = kForever;
  std::string name;           // in printable form: "pkg/Class.method(sig)ret", or a stub's name
  char type = 'J';            // as in reports: the method's J or R, I (interpreter), O (stub)
  std::vector<uint8_t> code;  // its instructions; may be empty
  // (offset in code, source line), sorted; may be empty
  std::vector<std::pair<uint32_t, uint32_t>> lines;
  std::string source;  // the source file of these lines; empty if unknown
};

// States how far the lookup got. Each outcome includes the information of the preceding ones.
enum class Outcome { kNoModule, kNoSymbols, kNoSymbolFound, kSymbol };

// The result of a lookup. Views are valid as long as the Resolver. An address between jitted
// methods yields JITCODE and kNoSymbolFound, one in other anonymous memory "//anon" and kNoSymbols.
struct Place {
  Outcome outcome = Outcome::kNoModule;
  std::string_view module;    // path; "JITCODE", "vmlinux", "[vdso]"; "NoModule"
  std::string_view symbol;    // demangled; "NoSymbols", "NoSymbolFound" by outcome
  uint64_t symbol_start = 0;  // run-time address of its first instruction
  uint64_t symbol_size = 0;   // 0 if unknown
  uint64_t offset = 0;        // address - symbol_start
  const JittedCode* jitted = nullptr;
};

// One of the functions inlined at an address, which are listed innermost first. The last is the
// function itself.
struct Frame {
  std::string function;
  std::string file;  // empty if unknown
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

// A line for the user about a module, which states what is wrong, why, and what would help.
struct Complaint {
  std::string text;
  bool missing = false;  // the file does not exist any more
};

class Resolver {
 public:
  explicit Resolver(Options options = {});
  ~Resolver();
  Resolver(const Resolver&) = delete;

  // These add to the history. A process that is not known yet begins empty.
  void Fork(Pid parent, Pid child, Nanos when);  // the child inherits the parent's mappings
  void Exec(Pid pid, Nanos when);                // empties the process; mappings follow
  void Exit(Pid pid, Nanos when);
  void Map(Pid pid, Nanos when, Mapping mapping);  // replaces the mappings that it overlaps
  // Adds jitted code, in any order of time. Later loads hide earlier ones where they overlap. A
  // `loaded` of kAlways means since the newest exec of the process that was added before this call;
  // such code (from a perf map) does not hide files.
  void Jitted(Pid pid, JittedCode code);
  // Adds the current mappings of the process from /proc. Also records its root directory, so that
  // the files of containers are found.
  Result<void> MapsOf(Pid pid, Nanos when);

  Place Resolve(Pid pid, uint64_t address, Nanos when);
  // Returns the source position and inlined callers, or one frame with only the symbol if nothing
  // better is known.
  std::vector<Frame> Frames(Pid pid, uint64_t address, Nanos when);
  // Returns the instructions of [start, start + length) as mapped at that time, or fewer or none if
  // they are not available.
  std::vector<uint8_t> Code(Pid pid, uint64_t start, uint64_t length, Nanos when);
  // Both look up a file by itself, at link addresses (as `addr2line -e` does).
  Place ResolveInFile(const std::string& path, uint64_t address);
  std::vector<Frame> FramesInFile(const std::string& path, uint64_t address);

  // Returns the modules that could not be opened or have no symbols.
  std::vector<Complaint> Complaints() const;
  const Statistics& statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jprof::a2n
