#include "record/itrace/itrace_plan.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "common/procfs.h"
#include "options/java_program.h"
#include "record/attach/jvm.h"
#include "record/attach/logged_jvms.h"
#include "record/place/place_claim.h"
#include "record/place/profile_place.h"
#include "record/run/installation.h"
#include "record/run/no_process.h"
#include "record/run/pages_library.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;
using itrace::Engine;
using itrace::TraceRange;

Result<void> CheckItrace(const ItraceRequest& r, const std::vector<std::string>& command) {
  if (r.pid == 0 && command.empty())
    return WrongUse("nothing to trace: give -p PID, or a command after --");
  if (r.pid != 0 && !command.empty()) return WrongUse("give either -p or a command, not both");
  if (r.pid != 0 && !procfs::Runs(r.pid)) return NoProcess(r.pid, errno);
  if (r.pid == static_cast<uint32_t>(getpid())) return WrongUse("jprof cannot trace itself");
  if (r.tid != 0 && r.pid == 0) return WrongUse("--tid requires -p");
  if (!r.function.empty() && (!r.from.empty() || !r.to.empty()))
    return WrongUse("--function excludes --from and --to");
  if (r.from.empty() != r.to.empty() && r.from.empty()) return WrongUse("--to requires --from");
  if (r.calls && r.function.empty() && r.to.empty())
    return WrongUse("--calls requires --function, or --from and --to");
  if (!r.threads.empty() && (!r.function.empty() || !r.from.empty() || r.tid != 0))
    return WrongUse("--threads all excludes --function, --from and --tid");
  if (r.not_taken && r.no_records)
    return WrongUse("--not-taken and --no-records exclude each other");
  if (r.memory && !itrace::kRecordsMemory)
    return WrongUse("--memory: references to memory are recorded on x86-64 only");
  if (r.sites && !r.memory) return WrongUse("--sites requires --memory");
  if (r.sites && r.pid != 0)
    return WrongUse("--sites excludes -p: only a program that jprof starts loads the library");
  return {};
}

Engine EngineOf(const std::string& name) {
  return name == "step" ? Engine::kStep : name == "block" ? Engine::kBlock : Engine::kAuto;
}

TraceRange RangeOf(const ItraceRequest& r) {
  TraceRange range = {.calls = r.calls.value_or(1),
                      .instructions = r.instructions,
                      .seconds = r.duration,
                      .tid = r.tid};
  range.begin = r.pid == 0 ? TraceRange::Begin::kExec : TraceRange::Begin::kNow;
  if (!r.function.empty() || !r.from.empty()) range.begin = TraceRange::Begin::kPlace;
  if (!r.function.empty()) range.end = TraceRange::End::kReturn;
  if (!r.to.empty()) range.end = TraceRange::End::kPlace;
  return range;
}

fs::path FreeItracePlace(const std::string& name) {
  fs::path place = name + ".itrace";
  for (int i = 2; fs::exists(fs::symlink_status(place)); ++i)
    place = fmt::format("{}-{}.itrace", name, i);
  return place;
}

// Returns how to start the program. A JVM gets the agent, for the names of jitted code.
Result<Launch> ItraceLaunch(const ItraceRequest& request, const std::vector<std::string>& command,
                            ItracePlan& plan) {
  const auto program = FindProgram(command.front());
  if (!program) return std::unexpected(program.error());
  const Launch plain = {*program, command, std::nullopt, {}};
  if (!StartsJvm(command.front()) || plan.out.empty()) return plain;
  const auto agent = FindAgent(request.agent);
  if (!agent) {
    plan.notes.push_back("jitted code will have no names: " + agent.error().message);
    return plain;
  }
  plan.jvm = plan.out / "jvm.jprof";
  const char* tool_options = std::getenv("JAVA_TOOL_OPTIONS");
  return WithAgent(command, *agent, options::ToString(JitLogOptions(plan.jvm, false)),
                   {.tool_options = tool_options != nullptr ? tool_options : ""});
}

// Has the program log where its memory is, if it can.
void PlanSites(ItracePlan& plan) {
  if (auto fits = CheckPagesLibrary(plan.launch->program); !fits) {
    plan.notes.push_back(fmt::format("the sites of allocations are not recorded: {}: {}",
                                     plan.launch->program.string(), fits.error().message));
    return;
  }
  plan.sites = true;
  PreloadPagesLibrary(fs::absolute(plan.out), *plan.launch);
}

// Plans to attach the agent to a JVM that already runs, so that its code has names.
void PlanItraceAttach(const ItraceRequest& request, ItracePlan& plan) {
  const bool jvm = std::ranges::any_of(
      RunningJvms(), [&request](const Jvm& one) { return one.pid == request.pid; });
  if (!jvm || plan.out.empty()) return;
  auto agent = FindAgent(request.agent);
  if (!agent) {
    plan.notes.push_back("jitted code will have no names: " + agent.error().message);
    return;
  }
  plan.agent = *std::move(agent);
  plan.jvm = plan.out / fmt::format("jvm-{}.jprof", request.pid);
}

std::string ItraceTarget(const ItraceRequest& request, const std::vector<std::string>& command) {
  if (!command.empty()) return fmt::format("{}", fmt::join(command, " "));
  const auto words = procfs::CommandLine(request.pid);
  return fmt::format("process {}: {}", request.pid, fmt::join(words, " "));
}

}  // namespace

Result<ItracePlan> PlanItrace(const ItraceRequest& request,
                              const std::vector<std::string>& command) {
  if (auto good = CheckItrace(request, command); !good) return std::unexpected(good.error());
  ItracePlan plan = {.options = {.engine = EngineOf(request.engine),
                                 .records = !request.no_records,
                                 .memory = request.memory,
                                 .not_taken = request.not_taken,
                                 .all_threads = request.threads == "all",
                                 .pin = !request.no_pin},
                     .range = RangeOf(request),
                     .begin = request.function.empty() ? request.from : request.function,
                     .end = request.to,
                     .pid = request.pid,
                     .command = ItraceTarget(request, command)};
  const bool jvm = !command.empty() && StartsJvm(command.front());
  if (plan.options.writes() || (jvm && !plan.begin.empty())) {
    const auto words = command.empty() ? procfs::CommandLine(request.pid) : command;
    const std::string name =
        words.empty() ? fmt::format("{}", request.pid) : options::ProfileName(words);
    const auto place = PrepareUnclaimed(
        request.out.empty() ? FreeItracePlace(name) : fs::path(request.out), false);
    if (!place) return std::unexpected(place.error());
    plan.out = *place;
  }
  if (command.empty()) PlanItraceAttach(request, plan);
  if (!command.empty()) {
    auto launch = ItraceLaunch(request, command, plan);
    if (!launch) return std::unexpected(launch.error());
    plan.launch = *std::move(launch);
    if (request.sites) PlanSites(plan);
  }
  return plan;
}

}  // namespace jprof::record
