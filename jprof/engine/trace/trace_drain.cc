#include "jprof/engine/trace/trace_drain.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>

#include "common/blocked_signals.h"
#include "common/mapped_memory.h"
#include "common/uninterrupted_lock.h"

namespace jprof::engine {
namespace {

using profile::kTraceBlockBytes;
using profile::TraceBlock;

constexpr size_t kMostBlocks = (64ull << 30) / kTraceBlockBytes;
constexpr int kLevel = 1;  // the background thread must keep up with the program
constexpr int kMostWaits = 400;
constexpr timespec kPause = {0, 500'000};
constexpr timespec kPauseWhenFull = {0, 50'000'000};

}  // namespace

TraceDrain::~TraceDrain() {
  Stop();
  full_.clear();
  free_.clear();
  UnmapArray(links_, kMostBlocks);
  ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(context_));
  ::operator delete(buffer_);
}

bool TraceDrain::Start(profile::Writer* writer, TraceRotation rotation) {
  writer_ = writer;
  if (!files_.Open(writer, rotation)) return false;
  links_ = MapArray<Link>(kMostBlocks);
  context_ = ZSTD_createCCtx();
  buffer_ = ::operator new(ZSTD_compressBound(kTraceBlockBytes), std::nothrow);
  if (links_ == nullptr || context_ == nullptr || buffer_ == nullptr) return false;
  // The program's signals must not be delivered to this thread.
  const BlockedSignals blocked;
  const bool started = pthread_create(&thread_, nullptr, Run, this) == 0;
  running_.store(started, std::memory_order_release);
  return started;
}

void TraceDrain::Stop() {
  if (!running()) return;
  stop_.store(true, std::memory_order_release);
  pthread_join(thread_, nullptr);
  running_.store(false, std::memory_order_release);
}

TraceDrain::Link* TraceDrain::LinkOf(const TraceBlock* block) {
  const size_t index = (reinterpret_cast<const char*>(block) - writer_->trace()) / kTraceBlockBytes;
  return &links_[index];
}

void TraceDrain::Put(TraceBlock* full) {
  Link* link = LinkOf(full);
  link->block = full;
  const UninterruptedLock guard(lock_);
  full_.push_back(*link);
}

TraceBlock* TraceDrain::TakeFree() {
  const UninterruptedLock guard(lock_);
  if (free_.empty()) return nullptr;
  Link& link = free_.front();
  free_.pop_front();
  return link.block;
}

TraceBlock* TraceDrain::AwaitFree() {
  for (int wait = 0; wait < kMostWaits && running() && !stuck_.load(std::memory_order_relaxed);
       ++wait) {
    nanosleep(&kPause, nullptr);
    if (TraceBlock* block = TakeFree()) return block;
  }
  stuck_.store(true, std::memory_order_relaxed);
  return nullptr;
}

TraceDrain::Drained TraceDrain::DrainOne() {
  Link* link;
  {
    const UninterruptedLock guard(lock_);
    if (full_.empty()) return Drained::kAll;
    link = &full_.front();
    full_.pop_front();
  }
  if (const int error = Append(*link->block); error != 0) {
    error_ = error;
    stuck_.store(true, std::memory_order_relaxed);
    const UninterruptedLock guard(lock_);
    full_.push_front(*link);  // until then the reader finds it in `trace`
    return Drained::kNoSpace;
  }
  *link->block = TraceBlock{};  // now in a compressed file: must not be counted twice
  stuck_.store(false, std::memory_order_relaxed);
  const UninterruptedLock guard(lock_);
  free_.push_back(*link);
  return Drained::kOne;
}

int TraceDrain::Append(const TraceBlock& block) {
  const size_t bound = ZSTD_compressBound(kTraceBlockBytes);
  const size_t size = ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(context_), buffer_, bound, &block,
                                        kTraceBlockBytes, kLevel);
  if (ZSTD_isError(size)) return EIO;
  return files_.Append(block, {static_cast<char*>(buffer_), size});
}

// Moves blocks to the file. Retries occasionally while the disk is full. At the end, blocks that do
// not fit stay in `trace`.
void TraceDrain::Loop() {
  bool was_full = false;
  for (;;) {
    const bool stopping = stop_.load(std::memory_order_acquire);
    Drained drained;
    while ((drained = DrainOne()) == Drained::kOne) {
    }
    was_full |= drained == Drained::kNoSpace;
    if (stopping) break;
    nanosleep(drained == Drained::kNoSpace ? &kPauseWhenFull : &kPause, nullptr);
  }
  if (was_full) profile::NoteFailedGrowth(*writer_->header(), error_);
}

void* TraceDrain::Run(void* self) {
  static_cast<TraceDrain*>(self)->Loop();
  return nullptr;
}

}  // namespace jprof::engine
