#include "jprof/agent/sampling/sample_timers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

#include "common/errno_text.h"
#include "jprof/agent/sampling/sample_signals.h"
#include "jprof/setup/print_message.h"
#include "ptm/cpu_sampler.h"
#include "ptm/tsc.h"
#include "ptm/virtual_clock.h"

namespace jprof::agent {
namespace {

bool HasTimer(const options::Trigger& trigger) {
  return trigger.kind == options::TriggerKind::kTime ||
         trigger.kind == options::TriggerKind::kEvent;
}

Result<ptm::ThreadTimerSettings> SettingOf(const options::Trigger& trigger,
                                           const options::AgentOptions& options) {
  const bool with_kernel = !options.java_only && options.mode != options::Mode::kCalltree;
  ptm::ThreadTimerSettings setting = {ptm::CpuClock(), trigger.every, kTimerSignal, with_kernel,
                                      options.timer};
  if (trigger.kind == options::TriggerKind::kEvent) {
    auto event = ptm::DecodeMetric(trigger.event);
    if (!event) return std::unexpected(event.error());
    setting.event = *std::move(event);
  } else if (options.timer == ptm::TimerSource::kPerf) {
    if (const auto possible = ptm::CheckThreadTimer(setting); !possible)
      return WrongUse("TIMER=PERF: {}; or use TIMER=POSIX", possible.error().message);
  }
  return setting;
}

}  // namespace

void Mark(engine::Thread& thread, profile::ThreadFlags flag, int error) {
  uint32_t* const flags = &thread.record->flags;
  uint32_t before = __atomic_load_n(flags, __ATOMIC_RELAXED), after;
  do {
    if ((before & flag) != 0) return;
    after = before | flag;
    if (flag == profile::kThreadNotSampled || (before & profile::kThreadNotSampled) == 0)
      after = profile::WithoutError(after) | profile::FlagsOfError(error);
  } while (!__atomic_compare_exchange_n(flags, &before, after, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
}

Result<std::vector<ptm::ThreadTimerSettings>> SampleTimers::SettingsOf(
    const options::AgentOptions& options) {
  std::vector<ptm::ThreadTimerSettings> settings;
  for (const options::Trigger& trigger : options.triggers) {
    if (!HasTimer(trigger)) continue;
    auto setting = SettingOf(trigger, options);
    if (!setting) return std::unexpected(setting.error());
    settings.push_back(*std::move(setting));
  }
  return settings;
}

std::vector<uint32_t> SampleTimers::TriggersOf(const options::AgentOptions& options) {
  std::vector<uint32_t> places;
  for (uint32_t i = 0; i < options.triggers.size(); ++i) {
    if (HasTimer(options.triggers[i])) places.push_back(i);
  }
  return places;
}

SampleTimers::SampleTimers(std::vector<ptm::ThreadTimerSettings> settings,
                           std::vector<uint32_t> triggers, engine::Session& session)
    : settings_(std::move(settings)),
      triggers_(std::move(triggers)),
      session_(session),
      clock_(static_cast<size_t>(
          std::ranges::find_if(settings_, ptm::CountsTime, &ptm::ThreadTimerSettings::event) -
          settings_.begin())) {}

int SampleTimers::Open(SampledThread& sampled, uint32_t tid) {
  const uint64_t random = static_cast<uint64_t>(ptm::ReadTsc()) * 0x9e3779b97f4a7c15ull >> 20;
  int failed = 0;
  for (size_t i = 0; i < settings_.size(); ++i) {
    const int error = sampled.timers[i].Open(settings_[i], random, tid);
    if (error == 0) continue;
    failed = error;
    if (tid != 0 && !ptm::VirtualClock::CpuNanosOf(tid)) continue;  // the thread has just ended
    if (!failure_reported_.exchange(true)) {
      setup::PrintMessage(
          fmt::format("cannot sample by {}: {}", settings_[i].event.name, ErrnoText(error)));
    }
  }
  return failed;
}

void SampleTimers::Close(engine::Thread& thread, SampledThread& sampled) {
  std::lock_guard guard(sampled.timers_lock);
  UpdateCoverage(thread, sampled, false);
  sampled.ended = true;
  for (ptm::ThreadTimer& timer : sampled.timers) timer.Close();
}

void SampleTimers::StartOrStop(const SampleGate& gate, engine::Thread& thread,
                               SampledThread& sampled) {
  std::lock_guard guard(sampled.timers_lock);
  if (sampled.ended) return;
  for (ptm::ThreadTimer& timer : sampled.timers) {
    if (gate.open()) {
      timer.Start();
    } else {
      timer.Stop();
    }
  }
  UpdateCoverage(thread, sampled, gate.open());
}

void SampleTimers::StartOrStopAll(const SampleGate& gate) {
  session_.threads().ForEach([&](engine::Thread& thread) {
    if (SampledThread* sampled = SampledThreadOf(thread)) StartOrStop(gate, thread, *sampled);
  });
}

void SampleTimers::UpdateCoverage(engine::Thread& thread, SampledThread& sampled, bool on) {
  if (std::ranges::any_of(sampled.timers, &ptm::ThreadTimer::lost))
    Mark(thread, profile::kThreadNotSampled, EBADF);
  if (clock_ == count()) return;
  sampled.coverage.Update(*session_.writer().header(), *thread.record, on);
}

void SampleTimers::UpdateCoverage() {
  session_.threads().ForEach([&](engine::Thread& thread) {
    SampledThread* const sampled = SampledThreadOf(thread);
    if (sampled == nullptr) return;
    std::lock_guard guard(sampled->timers_lock);
    if (sampled->ended) return;
    UpdateCoverage(thread, *sampled, sampled->coverage.on());
    if (sampled->coverage.on()) sampled->coverage.LookForBlocked(*thread.record, kTimerSignal);
  });
}

void SampleTimers::ForgetCoverage() {
  UpdateCoverage();
  profile::ControlHeader& header = *session_.writer().header();
  header.sampled_cpu_ns = header.signalled_cpu_ns = header.samples_in_heap = 0;
}

}  // namespace jprof::agent
