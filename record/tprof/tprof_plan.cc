#include "record/tprof/tprof_plan.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "common/procfs.h"
#include "options/java_program.h"
#include "ptm/names/event_name.h"
#include "record/attach/logged_jvms.h"
#include "record/place/place_claim.h"
#include "record/place/profile_place.h"
#include "record/run/installation.h"
#include "record/run/interrupt_cost.h"
#include "record/run/no_process.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

// Returns all processes of this user, which can be sampled if the whole machine cannot.
std::vector<uint32_t> OwnProcesses() {
  std::vector<uint32_t> pids = procfs::Processes();
  std::erase_if(pids, [](uint32_t pid) {
    return procfs::Owner(pid) != geteuid() || pid == static_cast<uint32_t>(getpid());
  });
  return pids;
}

Result<void> CheckPids(const std::vector<uint32_t>& pids) {
  for (const uint32_t pid : pids) {
    const auto owner = procfs::Owner(pid);
    if (!owner || !procfs::Runs(pid)) return NoProcess(pid, errno);
    if (geteuid() != 0 && *owner != geteuid()) {
      return WrongUse(
          "process {} belongs to another user: only root or a user with CAP_PERFMON can sample it",
          pid);
    }
  }
  return {};
}

// Returns the options of the agent. With --children each JVM makes a directory in the recording.
std::string AgentText(const TprofRequest& request, const fs::path& out) {
  options::AgentOptions options =
      JitLogOptions(request.children ? out : out / "jvm.jprof", request.code);
  if (request.children) options.children = options::Children::kAll;
  return options::ToString(options);
}

// Returns how to start the command. It gets the agent if it is a JVM, or with --children.
Result<Launch> LaunchOf(const TprofRequest& request, const std::vector<std::string>& command,
                        const fs::path& out, std::vector<std::string>& notes) {
  const auto program = FindProgram(command.front());
  if (!program) return std::unexpected(program.error());
  const Launch plain = {*program, command, std::nullopt};
  if (!StartsJvm(command.front()) && !request.children) return plain;
  const auto agent = FindAgent(request.agent);
  if (!agent) {
    notes.push_back("jitted code will have no names: " + agent.error().message);
    return plain;
  }
  const char* tool_options = std::getenv("JAVA_TOOL_OPTIONS");
  return WithAgent(command, *agent, AgentText(request, out),
                   {.environment = request.children,
                    .tool_options = tool_options != nullptr ? tool_options : ""});
}

std::string TargetText(const TprofRequest& request, const std::vector<std::string>& command) {
  if (!command.empty()) return fmt::format("{}", fmt::join(command, " "));
  if (request.pids.empty()) return "the whole machine";
  return fmt::format("process {}", fmt::join(request.pids, ", "));
}

// Plans to attach the agent to sampled JVMs that already run. The default excludes JVMs that were
// not requested, such as those of services: attaching changes them, sampling does not.
void PlanAttach(const TprofRequest& request, TprofPlan& plan) {
  plan.code = request.code;
  if (!request.attach.value_or(!request.pids.empty())) return;
  if (auto agent = FindAgent(request.agent)) {
    plan.agent = *std::move(agent);
  } else {
    plan.notes.push_back("the jitted code of running JVMs will have no names: " +
                         agent.error().message);
  }
}

// If this user may not sample the whole machine, samples the user's own processes instead.
Result<void> LimitToPermission(TprofPlan& plan) {
  const ptm::Permission permission = ptm::SamplingPermission();
  if (!plan.whole_machine || permission.whole_machine) return {};
  plan.notes.push_back("only this user's processes are sampled: " + permission.advice);
  plan.whole_machine = false;
  if (plan.launch) return {};
  plan.sampling.pids = OwnProcesses();
  if (!plan.sampling.pids.empty()) return {};
  return WrongUse("this user may not sample the whole machine and has no other process: {}",
                  permission.advice);
}

}  // namespace

Result<void> CheckRequest(const TprofRequest& request, const std::vector<std::string>& command) {
  if (request.all && !request.pids.empty()) return WrongUse("-a and -p exclude each other");
  if (!request.pids.empty() && !command.empty())
    return WrongUse("give either -p or a command, not both");
  if (request.rate != 0 && request.period != 0)
    return WrongUse("--rate and --period exclude each other");
  if (request.attach == true && !command.empty() && !request.all)
    return WrongUse("--attach requires -a or -p: no JVM that runs already is sampled");
  if (request.event.empty() && request.period != 0) return WrongUse("--period requires --event");
  return {};
}

Result<ptm::CpuSamplerOptions> SamplingOf(const TprofRequest& request) {
  ptm::CpuSamplerOptions sampling = {.chains = request.chains, .pids = request.pids};
  if (request.rate != 0) sampling.rate = request.rate;
  if (request.event.empty()) return sampling;
  auto event = ptm::CheckEvent(request.event);
  if (!event) return std::unexpected(event.error());
  sampling.event = event->spec;
  if (request.period != 0) {
    sampling.rate = 0;
    sampling.period = request.period;
  }
  return sampling;
}

Result<TprofPlan> PlanTprof(const TprofRequest& request, const std::vector<std::string>& command) {
  if (auto good = CheckRequest(request, command); !good) return std::unexpected(good.error());
  if (auto known = CheckPids(request.pids); !known) return std::unexpected(known.error());
  auto sampling = SamplingOf(request);
  if (!sampling) return std::unexpected(sampling.error());
  TprofPlan plan = {.sampling = *std::move(sampling),
                    .whole_machine = request.all || (command.empty() && request.pids.empty()),
                    .delay = request.delay,
                    .duration = request.duration,
                    .command = TargetText(request, command)};
  const std::string name = command.empty() ? "machine" : options::ProfileName(command);
  const auto place = PrepareUnclaimed(
      request.out.empty() ? FreePlace(name + "-tprof").string() : request.out, false);
  if (!place) return std::unexpected(place.error());
  plan.out = *place;
  if (!command.empty()) {
    auto launch = LaunchOf(request, command, plan.out, plan.notes);
    if (!launch) return std::unexpected(launch.error());
    plan.launch = *std::move(launch);
  }
  if (auto limited = LimitToPermission(plan); !limited) return std::unexpected(limited.error());
  PlanAttach(request, plan);
  if (auto limited = LimitSampler(plan.sampling, request.force_rate, plan.notes); !limited)
    return std::unexpected(limited.error());
  return plan;
}

}  // namespace jprof::record
