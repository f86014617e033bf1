#include "record/tprof/tprof_record.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "common/monotonic.h"
#include "common/procfs.h"
#include "profile/files/recording_meta.h"
#include "record/attach/logged_jvms.h"
#include "record/place/profile_place.h"
#include "record/run/interruption.h"
#include "record/run/launcher.h"
#include "record/tprof/recording_files.h"
#include "record/tprof/sample_recorder.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

constexpr int kDrainMilliseconds = 200;
constexpr int kEndMilliseconds = 5000;  // for a program to end after SIGTERM
constexpr double kNanos = 1e9;

uint64_t MonotonicNow() { return static_cast<uint64_t>(MonotonicNanos()); }

// Raises the limit of open files: a sampled thread requires one descriptor per CPU. This affects
// only this process, because the program has already been forked.
void AllowManyFiles() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Waits until the time has passed or a signal arrives.
void Pause(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  timespec left = {whole, static_cast<long>((seconds - static_cast<double>(whole)) * kNanos)};
  while (Interruption::Number() == 0 && nanosleep(&left, &left) != 0) {
  }
}

// Provides the steps of RecordTprof, in their order.
class Recording {
 public:
  explicit Recording(const TprofPlan& plan)
      : plan_(plan), sampling_(plan.sampling), notes_(plan.notes) {}

  Result<void> HoldProgram() {
    if (!plan_.launch) return {};
    auto held = HeldProgram::Start(*plan_.launch);
    if (!held) return std::unexpected(held.error());
    program_.emplace(*std::move(held));
    if (plan_.whole_machine) return {};
    sampling_.pids = {static_cast<uint32_t>(program_->pid())};
    sampling_.on_exec = plan_.delay == 0;
    return {};
  }

  Result<void> OpenSampler() {
    AllowManyFiles();
    auto sampler = ptm::CpuSampler::Open(sampling_);
    if (!sampler) return std::unexpected(sampler.error());
    sampler_.emplace(*std::move(sampler));
    if (!sampler_->note().empty()) notes_.push_back(sampler_->note());
    return {};
  }

  // Makes the files of the recording. Removes a directory that cannot be filled.
  Result<void> CreateFiles() {
    if (auto made = MakePlace(plan_.out); !made) return made;
    auto written = WriteFiles();
    std::error_code ignored;
    if (!written) fs::remove_all(plan_.out, ignored);
    return written;
  }

  Result<void> AttachAgents() {
    if (plan_.agent.empty()) return {};
    const TprofJvmOptions options = {
        .agent = plan_.agent, .out = plan_.out, .pids = plan_.sampling.pids, .code = plan_.code};
    jvms_.Attach(options, notes_);
    return {};
  }

  Result<void> Start() {
    if (plan_.delay > 0) {
      if (auto released = Release(); !released) return released;
    }
    Pause(plan_.delay);
    if (!sampling_.on_exec) AddRunning();
    return plan_.delay == 0 ? Release() : Result<void>();
  }

  // Returns when the program has ended, the duration has passed or a signal has arrived.
  void Watch() {
    const uint64_t end = plan_.duration > 0
                             ? MonotonicNow() + static_cast<uint64_t>(plan_.duration * kNanos)
                             : ~uint64_t{0};
    while (Interruption::Number() == 0 && !outcome_) {
      const uint64_t now = MonotonicNow();
      if (now >= end) break;
      Drain(static_cast<int>(std::min<uint64_t>((end - now) / 1'000'000 + 1, kDrainMilliseconds)));
      if (program_) outcome_ = program_->Ended();
    }
  }

  Result<int> Finish() {
    sampler_->Stop();
    const uint64_t end = MonotonicNow();
    Drain(0);
    std::ranges::move(recorder_.foreign_jit().CopyTo(plan_.out), std::back_inserter(notes_));
    jvms_.Detach(notes_);
    if (Interruption::Number() != 0) EndProgram();
    if (auto closed = writer_.Close(end); !closed) return std::unexpected(closed.error());
    if (auto written = WriteRecordingMeta(plan_, notes_); !written)
      return std::unexpected(written.error());
    return outcome_ && Interruption::Number() == 0 ? outcome_->ExitCode() : 0;
  }

  // Detaches the agents after a step that failed.
  std::unexpected<Error> Abandon(const Error& error) {
    jvms_.Detach(notes_);
    return std::unexpected(error);
  }

 private:
  Result<void> WriteFiles() {
    const auto delay = static_cast<uint64_t>(plan_.delay * kNanos);
    const uint64_t start_unix = UnixNanos() + delay, start = MonotonicNow() + delay;
    if (auto written = WriteRecordingMeta(plan_, notes_); !written) return written;
    if (auto kept = KeepKernelSymbols(procfs::kKernelSymbols, plan_.out); !kept) return kept;
    return writer_.Open((plan_.out / profile::kSamplesFile).string(),
                        {.cpus = sampler_->cpus(), .start_unix_ns = start_unix, .start_ns = start});
  }

  // Starts sampling first, so that no mapping is missed.
  void AddRunning() {
    sampler_->Start();
    for (const uint32_t pid : sampling_.pids.empty() ? procfs::Processes() : sampling_.pids)
      recorder_.AddExisting(pid);
  }

  Result<void> Release() { return program_ ? program_->Release() : Result<void>(); }

  void Drain(int milliseconds) {
    sampler_->Drain(milliseconds,
                    [this](const ptm::SampleRecord& record) { recorder_.Add(record); });
  }

  // Sends a signal. A terminal has sent one to the program too, but kill has not.
  void EndProgram() {
    if (!program_ || outcome_) return;
    program_->Signal(SIGTERM);
    constexpr int kStep = 100;
    for (int waited = 0; waited < kEndMilliseconds && !outcome_; waited += kStep) {
      usleep(kStep * 1000);
      outcome_ = program_->Ended();
    }
  }

  const TprofPlan& plan_;
  ptm::CpuSamplerOptions sampling_;
  std::vector<std::string> notes_;
  std::optional<HeldProgram> program_;
  std::optional<Outcome> outcome_;  // of the program, once it has ended
  std::optional<ptm::CpuSampler> sampler_;
  profile::SampleWriter writer_;
  SampleRecorder recorder_{writer_};
  TprofJvms jvms_;
};

}  // namespace

Result<int> RecordTprof(const TprofPlan& plan) {
  const Interruption guard;
  Recording recording(plan);
  for (const auto step : {&Recording::HoldProgram, &Recording::OpenSampler, &Recording::CreateFiles,
                          &Recording::AttachAgents, &Recording::Start}) {
    if (auto done = (recording.*step)(); !done) return recording.Abandon(done.error());
  }
  recording.Watch();
  return recording.Finish();
}

}  // namespace jprof::record
