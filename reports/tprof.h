// tprof: where the whole machine spent its time, flat. A recording (profile/sample_log.h and what
// lies beside it) becomes ticks with names, and the ticks become the eight classic stanzas.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2n/a2n.h"
#include "profile/sample_log.h"
#include "reports/output.h"
#include "reports/source.h"

namespace jprof::reports {

// One sample with names; indices into TickTable::names.
struct Tick {
  uint32_t process = 0, thread = 0, module = 0, symbol = 0;
  uint32_t pid = 0;    // a2n::kKernel for addresses of the kernel
  uint32_t owner = 0;  // the process, also of these
  uint64_t address = 0, time = 0;
  std::span<const uint64_t> chain;  // of the recording; empty: recorded without
};

struct TickTable {
  std::vector<std::string> names;
  std::vector<Tick> ticks;
  uint64_t unresolved =
      0;  // ticks without a module, or in a module with symbols none of which covers them
  std::vector<std::string> complaints;  // of modules that could not be read
};

// A recording's directory, opened.
struct Recording {
  profile::SampleLog log;
  std::unique_ptr<a2n::Resolver>
      resolver;  // fed with all that the recording says of address spaces
  std::map<uint32_t, std::string> thread_names;  // of JVMs, where they said so
  std::string title;                             // platform, mode and the like: a line each
  uint64_t jitted = 0;                           // compiled methods and stubs known
  std::vector<std::string> notes;                // what is missing and why
};

// Error: not a recording of `jprof tprof`.
Result<Recording> OpenRecording(const std::filesystem::path& directory);

TickTable NameTicks(Recording& recording);

struct TprofOptions {
  Format format = Format::kText;
  double clip = 0;       // rows below this share of all ticks are summed up in one
  bool by_line = false;  // source lines below the symbols of Module_Symbol
  std::string
      annotate;  // instructions of the symbols whose names contain this, instead of the stanzas
  std::string callers;  // who called the symbols whose names contain this, instead of the stanzas
};

Result<void> PrintTprof(Recording& recording, const TprofOptions& options, Output& out);

// Instructions with the ticks beside each, for every symbol whose name contains `wanted`, the
// hottest first.
Result<void> PrintAnnotated(Recording& recording, const TickTable& table, std::string_view wanted,
                            Output& out);

// A line for each process, thread and call chain, outermost first, and its ticks, as flame-graph
// tools read them. Without chains: the symbol that was hit.
void PrintCollapsed(Recording& recording, const TickTable& table, Output& out);

// Who called the symbols whose names contain `wanted`, by ticks in these and what they called.
// Error: recorded without chains, or in none.
Result<void> PrintCallers(Recording& recording, const TickTable& table, std::string_view wanted,
                          Output& out);

}  // namespace jprof::reports
