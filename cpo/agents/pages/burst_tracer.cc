#include "cpo/agents/pages/burst_tracer.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/monotonic.h"
#include "itrace/tracer.h"
#include "profile/files/whole_file.h"
#include "profile/log/memory_log.h"
#include "record/run/small_file.h"

namespace jprof::cpo {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kMostBursts = 40;
constexpr double kBurstSeconds = 0.5;
constexpr uint64_t kBurstReferences = 2'000'000;
// A program that is traced is ten to a hundred times slower. So it is traced for a tenth of the
// time.
constexpr uint64_t kPause = 9;
constexpr uint64_t kLeastPauseNanos = 100'000'000;

uint64_t Now() { return static_cast<uint64_t>(MonotonicNanos()); }

fs::path ProblemIn(const fs::path& folder) { return folder / "bursts.problem"; }

class BurstWriter final : public itrace::TraceEvents {
 public:
  Result<void> Open(const fs::path& path) {
    return log_.Open(path.string(), {.start_unix_ns = UnixNanos(), .start_ns = Now()});
  }
  void OnReferences(std::span<const profile::MemoryReference> references) override {
    for (const profile::MemoryReference& reference : references) log_.Add(reference);
  }
  bool OnTick(uint64_t, bool) override { return log_.records() >= kBurstReferences; }
  Result<void> Close() { return log_.Close(Now()); }

 private:
  profile::MemoryWriter log_;
};

Result<void> TraceBurst(uint32_t pid, const fs::path& path) {
  BurstWriter writer;
  if (auto opened = writer.Open(path); !opened) return opened;
  auto tracer = itrace::Tracer::Seize(
      static_cast<pid_t>(pid),
      {.engine = itrace::Engine::kBlock, .records = false, .memory = true, .all_threads = true},
      {.seconds = kBurstSeconds}, writer);
  if (!tracer) return std::unexpected(tracer.error());
  if (auto run = (*tracer)->Run(); !run) return run;
  return writer.Close();
}

// Runs in a child of this process, which must only end by _exit.
[[noreturn]] void TraceInChild(uint32_t pid, const fs::path& folder, const fs::path& path) {
  sigset_t timer;  // of the tracer
  sigemptyset(&timer);
  sigaddset(&timer, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &timer, nullptr);
  const auto traced = TraceBurst(pid, path);
  if (!traced) (void)profile::WriteWholeFile(ProblemIn(folder).string(), traced.error().message);
  _exit(traced ? 0 : 1);
}

}  // namespace

BurstTracer::~BurstTracer() { Finish(); }

void BurstTracer::Look(uint32_t pid) {
  if (child_ != 0 && !HasEnded(false)) return;
  if (bursts_ < kMostBursts && Now() >= next_ns_) Begin(pid);
}

void BurstTracer::Begin(uint32_t pid) {
  const fs::path path = folder_ / fmt::format("burst-{:03}", bursts_++);
  began_ns_ = Now();
  child_ = fork();
  if (child_ == 0) TraceInChild(pid, folder_, path);
  if (child_ < 0) child_ = 0;
}

bool BurstTracer::HasEnded(bool wait) {
  int status = 0;
  if (waitpid(child_, &status, wait ? 0 : WNOHANG) == 0) return false;
  child_ = 0;
  const uint64_t now = Now();
  next_ns_ = now + std::max(kLeastPauseNanos, kPause * (now - began_ns_));
  return true;
}

void BurstTracer::Finish() {
  if (child_ != 0) HasEnded(true);
}

std::vector<fs::path> BurstTracer::Logs(const fs::path& folder) {
  std::vector<fs::path> logs;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().starts_with("burst-")) logs.push_back(entry.path());
  }
  std::ranges::sort(logs);
  return logs;
}

std::string BurstTracer::Problem() const { return record::ReadSmallFile(ProblemIn(folder_)); }

}  // namespace jprof::cpo
