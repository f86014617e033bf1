// Reads a profile directory (layout.h), in tools outside the profiled process.
//
// - No byte is trusted: sizes, indices and counts are checked against the actual files.
// - Damaged parts are dropped and listed in damages(). Open fails only for a directory that is not
//   a profile, or a profile of another version.
// - Reading works while the profile is being written, and after kill -9.
// - Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "profile/files/damage.h"
#include "profile/files/kernel_counts.h"
#include "profile/files/layout.h"
#include "profile/files/live_record.h"
#include "profile/files/lock_edge.h"
#include "profile/files/meta.h"
#include "profile/read/distribution_buckets.h"
#include "profile/read/reader_file.h"
#include "profile/read/reading_memory.h"
#include "profile/read/shown_name.h"
#include "profile/read/slow_calls.h"
#include "profile/read/window.h"

namespace jprof::profile {

inline constexpr uint32_t kNoRecord = 0xffffffffu;
inline constexpr size_t kMaxMetrics = 8;

// Identifies a thread by its place in Reader::threads().
enum class ThreadIndex : uint32_t {};
constexpr uint32_t IndexOf(ThreadIndex thread) { return static_cast<uint32_t>(thread); }

struct Thread {
  ThreadRecord record;
  std::string name;
};

// Counts of one record. Index 0 is for events after an entry, index 1 for those after an exit.
struct Counts {
  uint32_t entries[2] = {};
  uint32_t exits[2] = {};
};

// States what becomes of sites, the nodes of kind kSite.
enum class Sites : uint8_t {
  // What a site has belongs to its parent. Calls of one method in one context are one context,
  // wherever they are made: this is the tree that a recording without sites has.
  kFolded,
  kApart,  // the same, but calls from different sites are different contexts: CallTree::site
  kNodes,  // they are contexts
};

// Every valid node record in file order, by column: element i of each vector belongs to record i. A
// record is a context or a superseded record: the counts of the context `parent` from before its
// method changed type. parent[i] < i is a context, or kNoRecord for the root of a thread.
struct CallTree {
  std::vector<MethodRef> ref;
  std::vector<uint32_t> parent;
  std::vector<uint8_t> superseded;
  std::vector<ThreadIndex> thread;
  // With Sites::kApart, if the recording has sites: where in its caller a context is called or, of
  // a superseded record, the bytecode of its context that the values belong to. kRootMethod if it
  // is not known.
  std::vector<MethodId> site;
  std::vector<Counts> counts;
  std::vector<uint32_t> dispatches;
  std::vector<uint32_t> interrupts;  // that came while it was current; empty if not recorded
  std::vector<std::vector<int64_t>> metrics;  // [metric][record], raw
  // Relations of locks, with records in place of nodes, or kNoRecord if the owner is not known.
  std::vector<LockEdge> lock_edges;
  // Live objects, with the record in place of the node, and the times of the snapshots, from that
  // with the number 1 on, in ns since the start.
  std::vector<LiveRecord> live;
  std::vector<uint64_t> live_times;
  // How long calls of watched methods took. Several may be of one record.
  std::vector<Distribution> distributions;

  size_t size() const { return ref.size(); }
};

struct MethodName {
  std::string_view class_name;  // pkg/Class
  std::string_view name;
  std::string_view signature;  // (args)ret
  uint16_t flags = 0;          // MethodFlags
};

// Methods by id. An id that the file does not contain yields an empty name.
class Methods {
 public:
  MethodName operator[](MethodId id) const;
  size_t size() const { return entries_.size(); }  // one more than the highest id
  // Gives a method of the file another class and name, without a signature.
  void Rename(MethodId id, std::string_view class_name, std::string_view name);

 private:
  friend class Reader;
  struct Entry {
    uint64_t offset = 0;
    uint32_t lengths[3] = {};
    uint16_t flags = 0;
  };
  std::string text_;
  std::vector<Entry> entries_;
};

class Reader {
 public:
  // Opens a profile. Fails if the directory is wrong (with kWrongUse where another argument
  // would help).
  static Result<Reader> Open(const std::string& directory);

  const std::string& directory() const { return directory_; }
  // Returns what the directory is called in what is printed (shown_name.h).
  const std::string& shown() const { return ShownName(directory_); }
  const Meta& meta() const { return meta_; }
  const ControlHeader& header() const { return header_; }
  const std::vector<Thread>& threads() const { return threads_; }
  // Returns the CPU time of the recorded threads until they ended.
  uint64_t CpuNanos() const;
  const Damages& damages() const { return damages_; }
  Damages& damages() { return damages_; }

  // Restricts what is read from here on to a window of the recording: the header, the threads, and
  // the tree without what was idle then. Locks, live objects, distributions of calls and what the
  // kernel counted are not known for a window, and are left out.
  void Restrict(std::shared_ptr<const Window> window);
  // Returns the window, or null if the profile is read as a whole.
  const Window* window() const { return window_.get(); }
  // Returns whether calls of it may have begun before it and ended after it: it is a window, or a
  // piece of a recording.
  bool is_part() const { return window_ != nullptr || meta_.piece.number != 0; }

  // Reads the tree. Trees whose root belongs to no thread record are attributed to one thread named
  // "(unknown)", which is added to threads(). Fails if the tree needs more than `memory` bytes.
  Result<CallTree> ReadTree(uint64_t memory = ReadingMemory(), Sites sites = Sites::kFolded);

  // Returns the maximum number of methods in the tree. It excludes sites, filtered methods and the
  // one that stands for all methods without a readable name.
  uint32_t RecordedMethods() const {
    const uint32_t others = 1 + header_.filtered_methods + header_.sites + header_.labels;
    return header_.method_count > others ? header_.method_count - others : 0;
  }
  // Reads the methods. Call it after ReadTree or ReadTrace: a live profile gains methods meanwhile.
  Methods ReadMethods();

  // Reads the slow calls of a profile of `jprof trace --slow`. Fails if they need more than
  // `memory` bytes.
  Result<SlowCalls> ReadSlowCalls(uint64_t memory = ReadingMemory()) const;

  // Returns the text of calibration.json, which is empty if there is none.
  std::string ReadCalibration() const;

  // Opens a file of the profile. An error is listed in damages(), which must not move meanwhile.
  ReaderFile OpenFile(const char* name) const;

 private:
  Reader() = default;
  void ReadThreads(const ReaderFile& control);
  // These fail if the records need more than `memory` bytes.
  Result<std::vector<LockEdge>> ReadLockEdges(uint64_t memory) const;
  Result<std::vector<LiveRecord>> ReadLive(uint64_t memory) const;
  Result<std::vector<Distribution>> ReadDistributions(uint64_t memory) const;
  Result<std::vector<KernelCounts>> ReadKernelCounts(uint64_t memory) const;

  std::string directory_;
  Meta meta_;
  ControlHeader header_;
  std::vector<Thread> threads_;
  // The place of the metric from which kNoInterrupts, the last one, is computed; none if it is not
  // there.
  std::optional<size_t> with_interrupts_;
  std::shared_ptr<const Window> window_;
  mutable Damages damages_;  // reading adds to it
};

}  // namespace jprof::profile
