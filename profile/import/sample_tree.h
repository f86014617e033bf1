// Collects the samples of another profiler as the call tree of a sampled profile (mode scs): a
// reader of a format names threads, methods and sites, and adds one stack after the other. The tree
// is in memory, so that nothing is written of a file that turns out to be damaged.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/flat_map.h"
#include "common/frame_kind.h"
#include "common/result.h"
#include "profile/files/layout.h"

namespace jprof::profile {

// Names a method of Java or, by its flags, another function: of native functions and functions of
// the kernel `class_name` is the module, or empty.
struct ForeignMethod {
  std::string_view class_name;  // internal form, pkg/Class
  std::string_view name, signature;
  uint16_t flags = 0;  // MethodFlags
};

struct ForeignThread {
  std::string_view name;
  uint32_t tid = 0;  // the kernel's, or 0
  bool is_virtual = false;
};

struct ForeignFrame {
  MethodId method{};
  FrameKind kind = FrameKind::kNone;
  MethodId site = kRootMethod;  // kRootMethod if no bytecode and no line is known
};

struct ForeignSample {
  int64_t value = 1;        // of the first metric
  int64_t count = 1;        // samples that it stands for
  bool is_cut = false;      // outer frames are missing
  bool is_unknown = false;  // frames are missing, but it is not known which
};

class SampleTree {
 public:
  struct Method {
    std::string class_name, name, signature;
    uint16_t flags = 0;
  };
  struct Node {
    MethodRef ref{};
    uint32_t parent = 0;  // an index below the node's own; of a thread's row its own
    int64_t value = 0, count = 0;
  };
  struct Thread {
    std::string name;
    uint32_t tid = 0;
    bool is_virtual = false;
    uint32_t root = 0;  // its row
    uint64_t samples = 0, unknown = 0, cut = 0, lost = 0;
  };

  // The tree holds as much as fits into so many bytes; Check fails if there was more.
  explicit SampleTree(uint64_t memory = ~uint64_t{0});

  // Return the id of the method, which is added if it is new. A name longer than a profile can
  // hold is cut.
  MethodId AddMethod(const ForeignMethod& method);
  // A bytecode of any method. `bytecode` is negative if it is not known, and `line` is 0.
  MethodId AddSite(std::string_view file, int64_t bytecode, uint32_t line);
  // Return the index of the thread. Threads of one name and number are one.
  uint32_t AddThread(const ForeignThread& thread);

  // Adds a sample with its stack, the innermost frame first. Requires that the value is the count.
  void Add(uint32_t thread, std::span<const ForeignFrame> stack, const ForeignSample& sample);
  // Counts samples of the thread that the other profiler has lost.
  void AddLost(uint32_t thread, uint64_t samples) { threads_[thread].lost += samples; }

  // Fails if there is more than a profile can hold of contexts, methods, threads, names or samples.
  Result<void> Check() const;

  std::span<const Method> methods() const { return methods_; }  // the first one has id 1
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Thread> threads() const { return threads_; }
  bool has_sites() const { return has_sites_; }
  uint64_t samples() const { return samples_; }
  uint64_t cut() const { return cut_; }

 private:
  uint32_t Child(uint32_t parent, MethodRef ref);
  uint32_t Step(uint32_t from, const ForeignFrame& frame);
  // Returns the child for frames of which only `text` is known.
  uint32_t Note(uint32_t from, std::string_view text);

  std::vector<Method> methods_;
  std::vector<Node> nodes_;
  std::vector<Thread> threads_;
  std::unordered_map<std::string, MethodId> ids_;
  std::unordered_map<std::string, uint32_t> thread_ids_;
  FlatMap children_;  // by the parent and the method's reference
  size_t most_nodes_, most_texts_;
  bool has_sites_ = false, is_full_ = false, is_too_large_ = false;
  uint64_t samples_ = 0, cut_ = 0;
  int64_t all_values_ = 0;  // the sum, which the roots of the tree have
  size_t texts_ = 0;        // bytes of the names of methods
};

}  // namespace jprof::profile
