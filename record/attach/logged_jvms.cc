#include "record/attach/logged_jvms.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "common/fd.h"
#include "profile/files/layout.h"
#include "profile/log/jit_log.h"
#include "record/attach/attach_target.h"
#include "record/attach/jvm.h"
#include "record/run/interruption.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

Result<AttachedAgent> AttachOne(uint32_t pid, const TprofJvmOptions& options, const fs::path& log) {
  auto target = FindTarget(pid);
  if (!target) return std::unexpected(target.error());
  return AttachedAgent::Load(*std::move(target), options.agent, JitLogOptions(log, options.code));
}

}  // namespace

options::AgentOptions JitLogOptions(const fs::path& out, bool code) {
  options::AgentOptions options;
  options.mode = options::Mode::kTprof;
  options.jit_log = true;
  options.jit_code = code;
  options.out = out.string();
  return options;
}

void TprofJvms::Attach(const TprofJvmOptions& options, std::vector<std::string>& notes) {
  for (const Jvm& jvm : RunningJvms()) {
    if (Interruption::Number() != 0) return;
    if (!options.pids.empty() && std::ranges::count(options.pids, jvm.pid) == 0) continue;
    const fs::path log = options.out / fmt::format("jvm-{}.jprof", jvm.pid);
    auto agent = AttachOne(jvm.pid, options, log);
    if (agent) {
      std::ranges::copy(agent->notes(), std::back_inserter(notes));
      attached_.push_back({*std::move(agent), log});
    } else {
      notes.push_back(fmt::format("the jitted code of process {} has no names: {}", jvm.pid,
                                  agent.error().message));
    }
  }
}

void TprofJvms::Detach(std::vector<std::string>& notes) {
  for (LoggedJvm& one : attached_) {
    if (const auto done = one.agent.Detach(); !done) notes.push_back(done.error().message);
    SetLoggedPid(one.log, one.agent.target().pid);
  }
  attached_.clear();
}

void SetLoggedPid(const fs::path& profile, uint32_t pid) {
  const Fd log(open((profile / profile::kJitLogFile).c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!log) return;
  (void)!pwrite(log.get(), &pid, sizeof pid, offsetof(profile::LogHeader, pid));
}

}  // namespace jprof::record
