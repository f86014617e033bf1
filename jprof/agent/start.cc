#include "jprof/agent/start.h"

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "common/control_protocol.h"
#include "common/no_memory.h"
#include "jprof/agent/agent.h"
#include "jprof/agent/calls/woven_counter.h"
#include "jprof/agent/sampling/sample_signals.h"
#include "jprof/agent/vm/in_use.h"
#include "jprof/hookit/hook_recording.h"
#include "jprof/setup/counter_choice.h"
#include "jprof/setup/plan.h"
#include "jprof/setup/print_message.h"
#include "jprof/setup/profile_directory.h"
#include "profile/files/unused_directory.h"
#include "ptm/cpu_sampler.h"
#include "ptm/thread_timer.h"

namespace jprof::agent {
namespace {

// A child made by fork() does not have the agent's threads.
void InChild() {
  if (const InUse<Agent> agent; agent) agent->LeaveToParent();
  hookit::Leave();
  EndFork();
}
void HandleForks() {
  static const int handled = pthread_atfork(BeginFork, EndFork, InChild);
  (void)handled;
}

}  // namespace

void ResolveCounter(JavaVM* java, options::AgentOptions& options, bool attached) {
  const bool has_choice =
      options.mode == options::Mode::kCalltree || options.mode == options::Mode::kObjects;
  if (!has_choice || options.counter != options::Counter::kAuto) return;
  const int version = MajorVersion(java);
  const setup::CounterChoice choice = setup::ChooseCounter(options, version, attached);
  options.counter = choice.counter;
  if (choice.counter == options::Counter::kProbe) return;
  if (const auto possible = CheckWovenCounter(version); !possible) {
    options.counter = options::Counter::kProbe;
    const bool needs_woven = options.removed || !options.label_from.empty();
    if (needs_woven || (attached && !setup::CheckAttach(options, version))) {
      options.counter = options::Counter::kWoven;  // it will be refused, with the reason
      return;
    }
    return setup::PrintMessage(
        fmt::format("calls are counted by probes: {}", possible.error().message));
  }
  setup::PrintMessage(
      fmt::format("woven counting: {}; native methods and intrinsics are not counted (all are with "
                  "--counter probe, COUNTER=probe)",
                  choice.why));
}

void ResolveTimer(options::AgentOptions& options) {
  const auto clock =
      std::ranges::find(options.triggers, options::TriggerKind::kTime, &options::Trigger::kind);
  if (options.timer != ptm::TimerSource::kAny || clock == options.triggers.end()) return;
  const auto possible = ptm::CheckThreadTimer({.event = ptm::CpuClock(),
                                               .period = clock->every,
                                               .signal = kTimerSignal,
                                               .source = ptm::TimerSource::kPerf});
  if (possible) return;
  options.timer = ptm::TimerSource::kPosix;
  options.timer_reason = possible.error().message;
}

Result<std::string> StartAgent(JavaVM* java, JNIEnv* jni, options::AgentOptions options) {
  ResolveTimer(options);
  auto plan = setup::MakePlan(options);
  if (!plan) return std::unexpected(plan.error());
  jvmtiEnv* jvmti = NewJvmtiEnv(java);
  if (jvmti == nullptr) return Fail("this JVM has no JVMTI 11");
  if (options.interrupt_ns == 0) {  // else the command has measured it and reported the change
    for (const std::string& line : options.lowered)
      setup::PrintMessage(line + "; FORCE_RATE keeps the rate");
  }
  engine::Session* const hooks = SessionOfHooks(*plan);
  auto directory = hooks != nullptr ? Result<std::string>(hookit::Own().directory)
                                    : setup::MakeProfileDirectory(options);
  if (!directory || directory->empty()) {
    jvmti->DisposeEnvironment();
    return directory;
  }
  const std::string made = setup::FullPath(*directory);
  Agent* const agent = new Agent(java, jni, jvmti, std::move(options), *std::move(plan), hooks,
                                 *std::move(directory));
  Publish(*agent);
  HandleForks();
  const Result<void> opened = FailWithoutMemory([&] { return agent->Open(); });
  if (opened) return made;
  UnpublishAll();
  agent->Close();
  if (agent->attached()) delete agent;
  profile::RemoveUnused(made.c_str());
  return std::unexpected(opened.error());
}

Result<std::string> DetachAgent(JNIEnv* jni) {
  std::unique_ptr<Agent> ended;
  {
    const InUse<Agent> agent;
    if (!agent) return WrongUse(control::kNotRecording);
    if (!agent->attached()) {
      return WrongUse(
          "this recording began with the JVM and ends with it; `jprof ctl` can stop its samples");
    }
    if (auto restored = agent->EndAndRestoreCode(jni); !restored)
      return std::unexpected(restored.error());
    ended.reset(&*agent);
  }
  UnpublishAll();
  ended->Close();
  return setup::FullPath(ended->directory());
}

}  // namespace jprof::agent
