// The writing side of a profile: its files, and the allocation of their parts. It is used inside
// the profiled process.
//
// - Nothing throws or exits. An allocation that fails returns 0 or null; when a file cannot grow,
//   `disk_full` and its cause are set.
// - Any thread may call the functions below, also from a probe. They are not on the fast path.
// - A thread waits for a file that another thread is growing only when no space is left; it then
//   sleeps (mapped_file.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"
#include "profile/files/distribution.h"
#include "profile/files/kept_file.h"
#include "profile/files/layout.h"
#include "profile/files/live_record.h"
#include "profile/files/lock_edge.h"
#include "profile/files/mapped_file.h"
#include "profile/files/slow_call.h"

namespace jprof::profile {

struct WriterOptions {
  std::string directory;
  bool directory_is_made = false;  // by the caller, and empty; if Open fails, it is removed
  // Bytes of nodes; beyond them new contexts fold into overflow nodes.
  uint64_t tree_memory = 512ull << 20;
  uint32_t metric_count = 1;
  bool trace = false;
  uint64_t trace_bytes_limit = 64ull << 30;
  bool train = false;
  bool locks = false;
  bool live = false;           // with live objects
  bool distributions = false;  // with calls that are timed one by one
  bool slow_calls = false;     // with a list of slow calls
  // If this is not 0, nodes begin a region of addresses of this size (more than `tree_memory` by a
  // fifth) in the given range, which no other recording of the process uses. After Close they can
  // still be read and written, and are zeros. The same is true of the values of `locks`, because
  // Java code writes these, too.
  uint64_t node_region = 0;
  AddressRange node_addresses;
};

// Sets `disk_full` and its cause. `error` is the errno of a file that could not grow; 0 means that
// the file has reached its greatest size, and nothing is set.
void NoteFailedGrowth(ControlHeader& header, int error);

// Counts a method, class or module whose calls are not counted, and appends its name to those
// before it. A name that does not fit is omitted, but of the first one the end is kept.
void NoteUncounted(UncountedRecord& record, std::string_view name);

class Writer {
 public:
  // Makes the directory, which must not exist unless `directory_is_made`, and its files. If it
  // fails, it leaves neither.
  Result<void> Open(const WriterOptions& options);

  ControlHeader* header() { return header_; }
  Node* nodes() const { return reinterpret_cast<Node*>(nodes_.data()); }
  const char* trace() const { return trace_.data(); }
  const char* methods() const { return methods_.data(); }
  // Returns the metrics beyond the first. Those of node i begin at extra()[i * (metric_count - 1)].
  // Returns null if there is only one metric.
  int64_t* extra() const { return reinterpret_cast<int64_t*>(extra_.data()); }
  uint32_t metric_count() const { return metric_count_; }

  // Allocates `count` consecutive zeroed nodes. Returns the first index, or 0 if the cap is reached
  // or the disk is full. With `past_cap`, which is for overflow and superseded nodes, a reserve of
  // one eighth beyond the cap may be used.
  uint32_t AllocateNodes(uint32_t count, bool past_cap = false);

  // Returns a zeroed record, or null if there is no space for more threads.
  ThreadRecord* AllocateThread();
  uint32_t IndexOf(const ThreadRecord* record) const;
  ThreadRecord* ThreadAt(uint32_t index);  // below header()->thread_count

  // Grows the names file in advance for one method. Callers need not serialise.
  void ExpectMethod();
  // Appends a method and returns its id, or kRootMethod on failure. Callers must serialise.
  MethodId AddMethod(std::string_view class_name, std::string_view name, std::string_view signature,
                     uint16_t flags);

  // Returns a zeroed trace block (kTraceBlockBytes), or null if none is left.
  TraceBlock* AllocateTraceBlock();

  // Returns space for `count` consecutive train records, or null if there is none.
  TrainRecord* AllocateTrain(uint32_t count);

  // Returns a zeroed edge of locks, or null if there is no space.
  LockEdge* AllocateLockEdge();

  // Returns a zeroed record of live objects, or null if there is no space.
  LiveRecord* AllocateLive();

  // Returns a zeroed distribution, or null if there is no space.
  DistributionRecord* AllocateDistribution();
  uint32_t IndexOf(const DistributionRecord* record) const;
  DistributionRecord* DistributionAt(uint32_t index);  // below header()->distributions

  // Return a zeroed record of the list of slow calls, or null if there is no space.
  SlowCall* AllocateSlowCall();
  SlowCounts* AllocateSlowCounts();

  // Returns the number that no index of a node reaches.
  uint64_t most_nodes() const { return header_->node_limit + node_reserve_ + 1; }

  // Marks the profile as ended normally. Requires that no thread records any more.
  void Finish(uint64_t end_ticks);

  // Unmaps the files, which stay on disk. Nothing else may be called afterwards.
  void Close();

  // Returns the directory's descriptor, which is valid for the next call only. Returns a negative
  // value and sets errno if there is none.
  int directory_fd() { return directory_.Get(); }

 private:
  bool Grow(MappedFile& file, size_t bytes);
  char* AllocateSlow();
  // Adds `count` to *used, whose previous value goes to *first, if `has_room(*first + count)` is
  // true.
  template <typename Used, typename HasRoom>
  static bool Take(Used* used, uint64_t count, HasRoom has_room, Used* first);

  KeptFile directory_;
  uint32_t metric_count_ = 1;
  uint64_t node_reserve_ = 0;
  bool keeps_nodes_ = false, keeps_extra_ = false;
  ControlHeader* header_ = nullptr;
  MappedFile control_, nodes_, extra_, methods_, trace_, train_, locks_, live_, distributions_,
      slow_calls_;
};

}  // namespace jprof::profile
