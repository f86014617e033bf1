#include "record/kernel/kernel_recording.h"

#include <kernel_layout.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <optional>

#include "common/blocked_signals.h"
#include "common/monotonic.h"
#include "common/procfs.h"

namespace jprof::record {
namespace {

constexpr std::chrono::milliseconds kReadEvery{50};
constexpr int kReadsPerPacket = 40;  // a packet that is not full is written after two seconds

// Writes the names of the threads that exist, as if each had been renamed at this time, which is
// before that of all other records.
void NameThreads(PacketWriter& writer, uint64_t time) {
  kernel_threads_renamed_layout record = {};
  record.time = time;
  record.id = KERNEL_THREADS_RENAMED_ID;
  for (const uint32_t process : procfs::Processes()) {
    for (const uint32_t thread : procfs::Threads(process)) {
      const std::string name = procfs::ThreadName(process, thread);
      record.process = process;
      record.thread = thread;
      const size_t size = std::min(name.size(), sizeof record.title - 1);
      std::memcpy(record.title, name.data(), size);
      record.title[size] = 0;
      writer.Add(0, {reinterpret_cast<const char*>(&record),
                     offsetof(kernel_threads_renamed_layout, title) + size + 1});
    }
  }
}

}  // namespace

struct KernelRecording::State {
  State(KernelEvents from, PacketWriter to) : events(std::move(from)), writer(std::move(to)) {
    end.contexts = ContextCounts(events.processors());
  }

  KernelEvents events;
  PacketWriter writer;
  KernelRecordingEnd end;
  std::optional<std::string> write_error;
  std::mutex lock;
  std::condition_variable stop_changed;
  bool stop = false;
  std::thread thread;

  void Read(bool all) {
    events.Read([this](uint32_t processor, std::string_view record) {
      writer.Add(processor, record);
      end.contexts.Add(processor, record);
      ++end.records;
      KeepError(writer.Flush(processor, 0, false));
    });
    if (!all) return;
    const std::vector<uint64_t> lost = events.Lost();
    for (uint32_t i = 0; i < lost.size(); ++i) KeepError(writer.Flush(i, lost[i], true));
  }

  void KeepError(const Result<void>& written) {
    if (!written && !write_error) write_error = written.error().message;
  }

  void Run() {
    for (int reads = 1;; ++reads) {
      std::unique_lock held(lock);
      if (stop_changed.wait_for(held, kReadEvery, [this] { return stop; })) return;
      held.unlock();
      Read(reads % kReadsPerPacket == 0);
    }
  }

  void StopThread() {
    {
      const std::lock_guard held(lock);
      stop = true;
    }
    stop_changed.notify_all();
    if (thread.joinable()) thread.join();
  }
  ~State() { StopThread(); }
};

KernelRecording::KernelRecording(std::unique_ptr<State> state) : state_(std::move(state)) {}
KernelRecording::KernelRecording(KernelRecording&&) noexcept = default;
KernelRecording& KernelRecording::operator=(KernelRecording&&) noexcept = default;
KernelRecording::~KernelRecording() = default;

Result<KernelRecording> KernelRecording::Begin(const std::filesystem::path& directory,
                                               const KernelEventsOptions& options,
                                               const TraceLimit& limit) {
  auto events = KernelEvents::Open(options);
  if (!events) return std::unexpected(events.error());
  std::vector<std::string> counters;
  for (const ptm::EventSpec& counter : options.counters) counters.push_back(counter.name);
  auto writer = PacketWriter::Create(directory, events->processors(), counters, limit);
  if (!writer) return std::unexpected(writer.error());
  auto state = std::make_unique<State>(*std::move(events), *std::move(writer));
  state->events.AddTarget(static_cast<uint32_t>(getpid()));
  const auto begin = static_cast<uint64_t>(MonotonicNanos());
  if (auto started = state->events.Start(); !started) return std::unexpected(started.error());
  NameThreads(state->writer, begin);
  state->writer.KeepFirst();
  const BlockedSignals blocked;  // signals are for the thread that waits for the program
  state->thread = std::thread([raw = state.get()] { raw->Run(); });
  return KernelRecording(std::move(state));
}

void KernelRecording::AddTarget(uint32_t process) { state_->events.AddTarget(process); }
void KernelRecording::RemoveSelf() { state_->events.RemoveTarget(static_cast<uint32_t>(getpid())); }

KernelRecordingEnd KernelRecording::End() {
  state_->StopThread();
  state_->events.Stop();
  state_->Read(true);
  state_->KeepError(state_->writer.Close());
  KernelRecordingEnd& end = state_->end;
  for (const uint64_t lost : state_->events.Lost()) end.lost += lost;
  end.lost += state_->writer.dropped();
  end.records -= std::min(end.records, state_->writer.dropped());
  end.notes = state_->events.notes();
  end.failed = state_->write_error.has_value();
  if (state_->write_error) end.notes.push_back(*state_->write_error);
  return std::move(end);
}

}  // namespace jprof::record
