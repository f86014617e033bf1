// The shadow stack of one traced thread (model/itrace/arc_model.h): what was called, jumped to or
// run into and has not ended. Finds an entry by its function or by where it returns to in constant
// time, whatever the depth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/flat_map.h"
#include "model/tree/node.h"

namespace jprof::model {

// Returns whether a call instruction at `call` (0 if there is none) returns to `address`.
bool ReturnsTo(uint64_t call, uint64_t address);

struct ArcEntry {
  enum class Reason : uint8_t {
    kRoot,
    kCall,
    kSignal,   // the node "(signal)"
    kHandler,  // of a signal
    kTail,     // jumped to by the entry below
    kMoved,    // code that was entered in its middle
  };
  // A call through the procedure linkage table that has not reached its function yet.
  struct Linkage {
    enum class How : uint8_t { kNone, kCall, kTail };
    How how = How::kNone;
    bool resolving = false;  // the function is unknown, and the dynamic linker comes next
    uint32_t module = 0;
    uint64_t call = 0;
  };

  NodeIndex node = 0;
  uint32_t function = 0;
  uint64_t call = 0;  // the instruction that called, or 0
  Reason reason = Reason::kRoot;
  bool resolver = false;
  Linkage linkage = {};

  bool is_frame() const { return reason < Reason::kTail; }
};

class ArcStack {
 public:
  static constexpr size_t kNone = ~size_t{0};

  // Creates a stack with the root, which is never removed.
  ArcStack() : entries_(1) {}

  size_t size() const { return entries_.size(); }
  ArcEntry& top() { return entries_.back().entry; }
  const ArcEntry& operator[](size_t i) const { return entries_[i].entry; }
  size_t frame() const { return entries_.back().frame; }  // the entry that the newest call made

  void Push(const ArcEntry& entry);
  // Removes the entries from index `size` on. Returns how many of them were frames.
  size_t Cut(size_t size);

  // Returns the newest entry of the function at index `from` or above, or kNone.
  size_t Newest(uint32_t function, size_t from);
  // Returns the newest entry that `function` called and that returns to `address`, or 0.
  size_t NewestReturn(uint32_t function, uint64_t address);
  // Returns the newest entry "(signal)", or 0.
  size_t NewestSignal() const { return entries_.back().signal; }

  uint64_t steps() const { return steps_; }  // entries that were indexed or looked at, for tests

 private:
  // An entry with the indices of related entries below it, 0 if there is none. `same_function` and
  // `same_call` (the same call by the same function) are set once the entry is indexed.
  struct Place {
    ArcEntry entry = {};
    uint32_t frame = 0, signal = 0;
    uint32_t same_function = 0, same_call = 0;
  };

  void Index();
  uint32_t& NewestCall(const Place& place, const Place& below);

  std::vector<Place> entries_;
  // These indexes cover only the entries below `indexed_`: most traces need no index, and the
  // others do not need one of all entries.
  size_t indexed_ = 1;
  FlatMap by_function_;  // to the newest entry, or 0
  FlatMap numbers_;      // of call instructions, from 1 on
  FlatMap by_call_;      // from number << 32 | caller to the newest entry, or 0
  uint32_t calls_ = 0;
  uint64_t steps_ = 0;
};

}  // namespace jprof::model
