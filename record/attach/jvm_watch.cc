#include "record/attach/jvm_watch.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace jprof::record {
namespace {

// The number of looks at a process: a program loads its VM soon after it started.
constexpr int kMostLooks = 30;
constexpr size_t kMostText = 60;

bool IsVmLibrary(const procfs::Mapping& mapping) {
  return mapping.path.ends_with("/libjvm.so") || mapping.path.contains("/libj9vm");
}

}  // namespace

void JvmWatch::Look(uint32_t root) {
  const std::vector<uint32_t> running = procfs::Processes(proc_);
  Forget(running);
  for (const uint32_t pid : running) {
    const auto [found, is_new] = processes_.try_emplace(pid);
    if (is_new) found->second.below = IsBelow(pid, root);
    if (found->second.below) LookAt(pid, found->second);
  }
}

void JvmWatch::Forget(const std::vector<uint32_t>& running) {
  std::erase_if(processes_, [&](const auto& process) {
    return !std::ranges::binary_search(running, process.first);
  });
}

// Returns whether a process is below `root`. The pids of children are usually greater than those of
// their parents, which are known then.
bool JvmWatch::IsBelow(uint32_t pid, uint32_t root) const {
  for (int depth = 0; depth < 100 && pid > 1; ++depth) {
    if (pid == root) return true;
    pid = procfs::ReadStatus(pid, proc_).parent;
    const auto known = processes_.find(pid);
    if (known != processes_.end() && known->second.below) return true;
  }
  return false;
}

void JvmWatch::LookAt(uint32_t pid, Process& process) {
  auto command = procfs::CommandLine(pid, proc_);
  if (command.empty()) return;  // it has ended
  if (command != process.command) process = {.below = true, .command = std::move(command)};
  if (process.is_jvm || process.looks++ >= kMostLooks) return;
  const auto maps = procfs::ReadMaps(pid, proc_);
  if (!maps || std::ranges::none_of(*maps, IsVmLibrary)) return;
  process.is_jvm = true;
  const std::string options = procfs::EnvironmentAtStart(pid, "JAVA_TOOL_OPTIONS", proc_);
  seen_.push_back({pid, process.command, options.contains(agent_)});
}

std::string UnprofiledText(const SeenJvm& jvm) {
  std::string command = fmt::format("{}", fmt::join(jvm.command, " "));
  if (command.size() > kMostText) command = command.substr(0, kMostText) + "...";
  return fmt::format(
      "{} {} was not profiled: {}", jvm.pid, command,
      jvm.had_agent ? "the agent did not start in it (the reason is above)"
                    : "it was started without JAVA_TOOL_OPTIONS, which brings the agent; keep that "
                      "variable, or put `jprof` before the java command itself");
}

}  // namespace jprof::record
