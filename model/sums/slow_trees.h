// What happened inside the slow calls that a trace has kept (`jprof trace --slow`): a tree of the
// calls that each made, with exact counts and times, and the calls before it.
#pragma once

#include <cstdint>
#include <vector>

#include "common/frame_kind.h"
#include "common/result.h"
#include "model/tree/node.h"
#include "profile/files/slow_call.h"
#include "profile/read/reader.h"

namespace jprof::model {

// A method in its context below a slow call, whose own node is the first one. A node of kRootMethod
// stands for events that are missing.
struct SlowNode : Node {
  profile::MethodId method{};
  FrameKind type{};
  uint32_t level = 0;
  uint64_t calls = 0;   // or the number of missing events
  int64_t cpu = 0;      // ticks in which the thread ran, with all below
  int64_t off_cpu = 0;  // ticks in which it did not run, with all below

  int64_t wall() const { return Sum(cpu, off_cpu); }
  void AddTimesOf(const SlowNode& other) {
    cpu = Sum(cpu, other.cpu);
    off_cpu = Sum(off_cpu, other.off_cpu);
  }

 private:
  // Adds without overflow, which damaged values could cause.
  static int64_t Sum(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};

// Calls that began before a slow one, on the same thread: one, or several of one method, one after
// another.
struct EarlierCall {
  profile::MethodRef method{};
  bool returned = false;  // the last one, before the slow one began
  uint64_t calls = 1;
};

struct SlowTree {
  profile::SlowCall call;
  std::vector<SlowNode> nodes;       // siblings: those that took longest first
  std::vector<EarlierCall> earlier;  // the latest ones, and what was still running, in their order
  uint64_t events = 0, missing = 0;  // from its entry to its exit

  bool is_kept() const { return events != 0; }
};

inline constexpr size_t kEarlierCalls = 8;

// Reads the slow calls with their trees, the slowest first. Fails if the trees need more than
// `memory` bytes, or if the profile cannot be read.
Result<std::vector<SlowTree>> LoadSlowTrees(profile::Reader& reader,
                                            uint64_t memory = profile::ReadingMemory());

}  // namespace jprof::model
