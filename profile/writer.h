// The writing side of a profile: its files, and the allocation of their parts. Used inside the
// profiled process.
//
// - Nothing throws or exits. An allocation that fails returns 0 or null; when the disk is full,
//   `disk_full` is set.
// - Any thread may call the functions below, also from a probe. They are not on the fast path.
// - A thread waits for a file that another thread grows only when no room is left; then it sleeps
//   (mapped_file.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"
#include "profile/layout.h"
#include "profile/mapped_file.h"

namespace jprof::profile {

struct WriterOptions {
  std::string directory;
  bool directory_is_made = false;  // by the caller, and empty
  // Bytes of nodes; beyond them new contexts fold into overflow nodes.
  uint64_t tree_memory = 512ull << 20;
  uint32_t metric_count = 1;
  bool trace = false;
  uint64_t trace_bytes_limit = 64ull << 30;
  bool train = false;
};

class Writer {
 public:
  // Makes the directory, which must not exist unless the caller has made it, and the files in it.
  Result<void> Open(const WriterOptions& options);

  // Writes `text` to `file` in the directory (a temporary, then a rename).
  bool WriteFile(const char* file, std::string_view text) const;

  ControlHeader* header() { return header_; }
  Node* nodes() const { return reinterpret_cast<Node*>(nodes_.data()); }
  const char* trace() const { return trace_.data(); }
  const char* methods() const { return methods_.data(); }
  // Metrics beyond the first of node i: extra()[i * (metric_count - 1) ...]; null if there is one
  // metric.
  int64_t* extra() const { return reinterpret_cast<int64_t*>(extra_.data()); }
  uint32_t metric_count() const { return metric_count_; }

  // A run of `count` zeroed nodes. Returns its first index, or 0 when the cap is reached or the
  // disk is full. `past_cap`: overflow and former nodes may use a reserve of one eighth beyond the
  // cap.
  uint32_t AllocateNodes(uint32_t count, bool past_cap = false);

  // A zeroed record; null when there is no room for more threads.
  ThreadRecord* AllocateThread();
  uint32_t IndexOf(const ThreadRecord* record) const;
  ThreadRecord* ThreadAt(uint32_t index);  // below header()->thread_count

  // Grows the file of names for a method that may follow; for use before callers serialise.
  void ExpectMethod();
  // Appends a method and returns its id; kRootMethod when that failed. Callers serialise.
  MethodId AddMethod(std::string_view class_name, std::string_view name, std::string_view signature,
                     uint16_t flags);

  // A trace block (kTraceBlockBytes, zeroed), null when there is none left.
  TraceBlock* AllocateTraceBlock();

  // Room for `count` train records at once; null when there is none.
  TrainRecord* AllocateTrain(uint32_t count);

  // Marks the profile as ended in order. Requires that no thread records any more.
  void Finish(uint64_t end_ticks);

  int directory_fd() const { return directory_fd_; }

 private:
  bool Grow(MappedFile& file, size_t bytes);
  // Adds `count` to *used, of which *first is what it was, once `has_room(*first + count)` says so.
  template <typename Used, typename HasRoom>
  static bool Take(Used* used, uint64_t count, HasRoom has_room, Used* first);

  int directory_fd_ = -1;
  uint32_t metric_count_ = 1;
  uint64_t node_reserve_ = 0;
  ControlHeader* header_ = nullptr;
  MappedFile control_, nodes_, extra_, methods_, trace_, train_;
};

}  // namespace jprof::profile
