// Compresses full trace blocks into the files of a continuous trace in a thread of its own, and
// returns them empty.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <boost/intrusive/slist.hpp>
#include <cstdint>

#include "common/spin_lock.h"
#include "jprof/engine/trace/trace_files.h"
#include "profile/files/writer.h"

namespace jprof::engine {

// Put, TakeFree and AwaitFree may be called in probes, by any thread.
class TraceDrain {
 public:
  ~TraceDrain();

  // Starts the background thread. Returns false if there is no file, no thread or no memory.
  bool Start(profile::Writer* writer, TraceRotation rotation);
  // Writes the queued blocks and ends the background thread.
  void Stop();
  bool running() const { return running_.load(std::memory_order_acquire); }

  void Put(profile::TraceBlock* full);
  // Returns null if there is no block at present, or none within the waiting time.
  profile::TraceBlock* TakeFree();
  profile::TraceBlock* AwaitFree();

 private:
  struct Link : boost::intrusive::slist_base_hook<> {
    profile::TraceBlock* block = nullptr;
  };
  using Queue = boost::intrusive::slist<Link, boost::intrusive::cache_last<true>>;

  enum class Drained { kOne, kAll, kNoSpace };

  static void* Run(void* self);
  void Loop();
  Drained DrainOne();
  int Append(const profile::TraceBlock& block);  // returns an errno, or 0 if it has been written
  Link* LinkOf(const profile::TraceBlock* block);

  profile::Writer* writer_ = nullptr;
  SpinLock lock_;  // guards full_ and free_
  Queue full_, free_;
  Link* links_ = nullptr;
  TraceFiles files_;
  void* context_ = nullptr;  // ZSTD_CCtx
  int error_ = 0;            // why the last block could not be written
  void* buffer_ = nullptr;
  pthread_t thread_ = {};
  std::atomic<bool> running_ = false;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> stuck_ = false;  // blocks cannot be written at present
};

}  // namespace jprof::engine
