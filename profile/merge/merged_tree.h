// The tree of a merged profile, in memory. Its contexts have the sums of all profiles added so far.
// merge.h states what is merged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/flat_map.h"
#include "common/result.h"
#include "profile/merge/spread.h"
#include "profile/read/reader.h"

namespace jprof::profile {

// Methods by name. Ids are dense from 1; method 1 stands for all methods without a name.
class MergedMethods {
 public:
  MergedMethods();

  // Returns the id of the method, which is added if it is new. Fails if there are too many methods.
  Result<MethodId> Add(const MethodName& name);

  size_t size() const { return records_.size(); }
  uint32_t sites() const;  // part of size()
  // Returns the text of the file `methods`.
  std::string Text() const;

 private:
  struct Entry {
    uint16_t flags = 0;
    uint16_t lengths[3] = {};
    const std::string* key = nullptr;  // in ids_
  };
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<Entry> records_;  // [id - 1]
};

class MergedTree {
 public:
  // `sampled` states whether children are distinguished by method and type, or by method only, and
  // `has_sites` whether some of the trees have sites, which are contexts here (Sites::kNodes).
  MergedTree(size_t metric_count, bool sampled, bool has_sites);

  // Adds a context without parent, for one thread of the merged profile. Returns its number.
  uint32_t AddThread();

  // Adds a profile's tree. roots[t] is the context of its thread t. Raw values of metric m are
  // multiplied by factors[m]; a factor of 1 keeps them exact. `run` receives the sums of this
  // profile alone. Fails if there are too many contexts or methods.
  Result<void> Add(const CallTree& tree, const Methods& methods, const std::vector<uint32_t>& roots,
                   const std::vector<double>& factors, SpreadRun& run);

  // Returns the number of contexts of the reader's tree (Sites::kFolded). SpreadRun has these.
  uint64_t folded_contexts() const { return slot_of_.size(); }

  struct Written {
    uint64_t node_count = 0;
    uint64_t methods_bytes = 0;
    uint32_t method_count = 0;
    uint32_t sites = 0;  // part of method_count
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
