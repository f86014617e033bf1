// The tree of a merged profile, in memory. Its contexts have the sums of all profiles added so far.
// merge.h states what is merged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/flat_map.h"
#include "common/result.h"
#include "profile/merge/merged_methods.h"
#include "profile/merge/spread.h"
#include "profile/read/reader.h"

namespace jprof::profile {

class MergedTree {
 public:
  // `sampled` states whether children are distinguished by method and type, or by method only, and
  // `has_sites` whether some of the trees have sites, which are contexts here (Sites::kNodes).
  MergedTree(size_t metric_count, bool sampled, bool has_sites,
             ClassNames names = ClassNames::kUnnumbered);

  // Adds a context without parent, for one thread of the merged profile. Returns its number.
  uint32_t AddThread();

  // Adds a profile's tree. roots[t] is the context of its thread t. Raw values of metric m are
  // multiplied by factors[m]; a factor of 1 keeps them exact. `run` receives the sums of this
  // profile alone. Returns the context of each record. Fails if there are too many contexts or
  // methods.
  Result<std::vector<uint32_t>> Add(const CallTree& tree, const Methods& methods,
                                    const std::vector<uint32_t>& roots,
                                    const std::vector<double>& factors, SpreadRun& run);

  // These add a single context and its counts, from another source than a profile. AddContext
  // returns the context of that method below `parent`, which is added if it is new; AddCounts adds
  // to what a context counted while its method was of type `type`: entries[2], exits[2],
  // dispatches, and a value of each metric.
  Result<MethodId> AddMethod(const MethodName& name) { return methods_.Add(name); }
  uint32_t AddContext(uint32_t parent, MethodRef ref) { return FindOrAdd(parent, ref); }
  void AddCounts(uint32_t context, FrameKind type, const uint64_t (&counts)[5],
                 const int64_t* values);

  // Describe the contexts, whose parents come first.
  size_t contexts() const { return contexts_.size(); }
  uint32_t parent(uint32_t context) const { return contexts_[context].parent; }
  MethodRef ref(uint32_t context) const { return contexts_[context].ref; }
  uint32_t folded(uint32_t context) const { return contexts_[context].folded; }
  MethodName name(MethodId method) const { return methods_[method]; }
  // Calls visit(type, counts, values) for each type that the method had, as AddCounts takes them.
  template <typename Visit>
  void ForEachPart(uint32_t context, Visit visit) const {
    for (uint32_t p = contexts_[context].part; p != kNoRecord; p = parts_[p].next)
      visit(parts_[p].type, parts_[p].counts, values_.data() + p * metric_count_);
  }

  // Returns the number of contexts of the reader's tree (Sites::kFolded). SpreadRun has these.
  uint64_t folded_contexts() const { return slot_of_.size(); }

  struct Written {
    uint64_t node_count = 0;
    uint64_t methods_bytes = 0;
    uint32_t method_count = 0;
    uint32_t sites = 0, labels = 0;  // parts of method_count
  };
  // Writes the files nodes, extra and methods. The node of context i is i + 1; superseded records
  // follow. Fails if a file cannot be written or there are too many records.
  Result<Written> Write(const std::string& directory) const;

 private:
  struct Context {
    uint32_t parent = kNoRecord;
    uint32_t key = 0;
    MethodRef ref{};  // method and live type
    uint32_t part = kNoRecord;
    uint32_t folded = 0;  // the number of the context that it is in the reader's tree
  };
  // The counts of a context while its method was of one type.
  struct Part {
    uint32_t next = kNoRecord;  // of the same context
    FrameKind type = FrameKind::kNone;
    uint64_t counts[5] = {};  // entries[2], exits[2], dispatches
  };

  uint32_t KeyOf(MethodRef ref) const;
  uint32_t FindOrAdd(uint32_t parent, MethodRef ref);
  uint32_t FoldedNumber(uint32_t parent, MethodRef ref);
  void GrowTable();
  size_t PartOf(uint32_t context, FrameKind type);
  Result<std::vector<uint32_t>> MapMethods(const CallTree& tree, const Methods& methods);

  size_t metric_count_;
  bool sampled_;
  MergedMethods methods_;
  std::vector<Context> contexts_;
  std::vector<Part> parts_;
  std::vector<int64_t> values_;    // [part * metric_count_ + metric]
  std::vector<uint32_t> table_;    // open addressing: contexts by parent and key
  std::vector<uint32_t> slot_of_;  // [folded context]: its place in the current run, or kNoRecord
  bool has_sites_ = false;
  FlatMap folded_;  // folded contexts by the number of their parent and key; unused without sites
};

}  // namespace jprof::profile
