// Finds the method entries of the interpreter: code in which the frame of the entered method
// is incomplete.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "jprof/hotspot/vm/memory_reader.h"
#include "jprof/hotspot/vm/struct_lookup.h"

namespace jprof::hotspot {

// The entries are read on first use, because the interpreter is generated after agents are loaded,
// and by any thread: concurrent threads write the same values. Once constructed, the object can be
// used in a signal handler.
class InterpreterEntries {
 public:
  explicit InterpreterEntries(Fields& field);
  // The whole code of the interpreter, [begin, end). Both are 0 if it does not exist yet.
  struct Range {
    uint64_t begin, end;
  };
  Range Code(const MemoryReader& memory) const;
  // Returns the code of the first part with this description, such as the name of a bytecode. Both
  // are 0 if there is none.
  Range CodeOf(const MemoryReader& memory, std::string_view description) const;
  // Returns the address from which on fp is the frame's, or 0 if there is none. Returns null if pc
  // is not in a method entry.
  const uint64_t* FrameFrom(const MemoryReader& memory, uint64_t pc);

 private:
  struct Entry {
    uint64_t begin, end, frame_from;
  };
  static constexpr int kMost = 128;

  void Find(const MemoryReader& memory);
  // Calls `visit` with the description and the code of each part, until it returns false.
  template <typename Visit>
  void ForEach(const MemoryReader& memory, Visit visit) const;

  uint64_t queue_;  // address of AbstractInterpreter::_code
  int64_t buffer_, limit_, first_, end_, codelet_size_, codelet_name_, codelet_bytes_;
  Entry entries_[kMost] = {};
  std::atomic<int> count_ = -1;
};

}  // namespace jprof::hotspot
