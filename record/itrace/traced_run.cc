#include "record/itrace/traced_run.h"

#include <sys/uio.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "a2n/hooks.h"
#include "common/monotonic.h"
#include "common/procfs.h"
#include "itrace/tracer.h"
#include "ptm/thread_instructions.h"
#include "record/itrace/released_trace.h"
#include "record/run/interruption.h"

namespace jprof::record {
namespace {

// The symbols of the agent, and of a trainer that runs without it.
constexpr const char* kCounterSymbols[] = {"jprof_thread_instructions_offset",
                                           "jprof_trainer_instructions_offset"};
constexpr int kPoll = 100;  // ms

// Finds the exported symbols of the modules of a process. Modules are read again while they load.
class Symbols {
 public:
  explicit Symbols(uint32_t pid) : pid_(pid) {}

  // Returns the addresses of the symbol in the order of the modules' addresses.
  std::vector<uint64_t> Find(const std::string& name) {
    std::vector<uint64_t> found;
    const auto maps = procfs::ReadMaps(pid_);
    if (!maps) return found;
    for (const procfs::Mapping& mapping : *maps) {
      if (mapping.offset != 0 || !mapping.path.starts_with('/')) continue;
      const auto [known, is_new] = known_.try_emplace({mapping.path, name});
      if (is_new) known->second = a2n::ExportedSymbol(mapping.path, name);
      if (known->second) found.push_back(mapping.start + *known->second);
    }
    return found;
  }

  // Returns the module that exports the symbol, or an empty span if none does.
  itrace::CodeSpan ModuleWith(const std::string& name) {
    itrace::CodeSpan span;
    const auto found = Find(name);
    const auto maps = procfs::ReadMaps(pid_);
    if (found.empty() || !maps) return span;
    const auto holds = std::ranges::find_if(*maps, [&](const procfs::Mapping& mapping) {
      return found.front() >= mapping.start && found.front() < mapping.end;
    });
    if (holds == maps->end()) return span;
    span = {~uint64_t{0}, 0};
    for (const procfs::Mapping& mapping : *maps) {
      if (mapping.path != holds->path) continue;
      span = {std::min(span.begin, mapping.start), std::max(span.end, mapping.end)};
    }
    return span;
  }

  std::optional<int64_t> Read(const std::string& name) {
    for (const uint64_t address : Find(name)) {
      int64_t value = 0;
      const iovec to = {&value, sizeof value};
      const iovec from = {reinterpret_cast<void*>(address), sizeof value};
      if (process_vm_readv(static_cast<pid_t>(pid_), &to, 1, &from, 1, 0) == sizeof value &&
          value != 0)
        return value;
    }
    return std::nullopt;
  }

 private:
  uint32_t pid_;
  std::map<std::pair<std::string, std::string>, std::optional<uint64_t>> known_;
};

class StopOnInterruption : public itrace::TraceEvents {
 public:
  bool OnTick(uint64_t, bool) override { return Interruption::Number() != 0; }
};

}  // namespace

Result<Outcome> RunTraced(const Launch& launch, const TracedPart& part) {
  const Interruption guard;
  const int64_t start = MonotonicNanos();
  Launch traced = launch;
  traced.environment.emplace_back(ptm::kTracedVariable, part.begin);
  auto program = HeldProgram::Start(traced);
  if (!program) return std::unexpected(program.error());
  Symbols symbols(static_cast<uint32_t>(program->pid()));
  itrace::TraceRange range = {.begin = itrace::TraceRange::Begin::kPlace,
                              .begin_places = [&] { return symbols.Find(part.begin); },
                              .calls = part.end.empty() ? 1u : 0u};
  if (!part.end.empty()) {
    range.end = itrace::TraceRange::End::kPlace;
    range.end_places = [&] { return symbols.Find(part.end); };
  }
  StopOnInterruption events;
  auto tracer = itrace::Tracer::Seize(
      program->pid(), {.records = false, .all_threads = part.all_threads}, range, events);
  if (!tracer) return std::unexpected(tracer.error());
  (*tracer)->find_thread_counter = [&] {
    std::optional<int64_t> offset;
    for (const char* name : kCounterSymbols) {
      if (!offset) offset = symbols.Read(name);
    }
    return offset;
  };
  // In the agent's own code, what remains of a hook is a constant number of instructions.
  (*tracer)->find_quiet_code = [&] { return symbols.ModuleWith("jprof_instructions_begin"); };
  Result<void> released;
  if (auto run = RunReleased(**tracer, &*program, released); !run)
    return std::unexpected(run.error());
  if (!released) return std::unexpected(released.error());
  std::optional<Outcome> outcome;
  if (const auto status = (*tracer)->process_status()) outcome = OutcomeOf(*status);
  while (!outcome) {
    program->AwaitEnd(kPoll);
    outcome = program->Ended();
  }
  outcome->interruption = Interruption::Number();
  outcome->wall_seconds = static_cast<double>(MonotonicNanos() - start) / 1e9;
  return *outcome;
}

}  // namespace jprof::record
