// The threads, methods and stacks of a chunk, as those of a tree of samples. Each is read when a
// sample first needs it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profile/import/jfr_chunk.h"
#include "profile/import/sample_tree.h"

namespace jprof::profile {

struct JfrStack {
  std::vector<ForeignFrame> frames;  // the innermost first
  bool is_cut = false;               // it was deeper than is recorded
  bool is_complete = true;           // the chunk has all methods of it
};

class JfrStacks {
 public:
  JfrStacks(const JfrChunk& chunk, SampleTree& tree);

  // Returns the stack of a constant, whose type is that of the event's leaf. It is empty if the
  // chunk lacks it.
  const JfrStack& StackOf(uint64_t type, uint64_t key);
  // Returns the tree's index of a thread.
  uint32_t ThreadOf(uint64_t type, uint64_t key);

 private:
  JfrStack ReadStack(uint64_t type, uint64_t key);
  ForeignFrame ReadFrame(const JfrType& type, JfrCursor& cursor, JfrStack& stack);
  MethodId MethodOf(uint64_t type, uint64_t key, bool* is_known);
  MethodId ReadMethod(uint64_t type, JfrCursor cursor);
  void SetKind(const JfrLeaf& leaf, const JfrValue& value, ForeignFrame* frame);
  FrameKind KindOf(const JfrLeaf& leaf, const JfrValue& value);

  const JfrChunk& chunk_;
  SampleTree& tree_;
  std::unordered_map<uint64_t, JfrStack> stacks_;
  std::unordered_map<uint64_t, MethodId> methods_;
  std::unordered_map<uint64_t, uint32_t> threads_;
  std::unordered_map<uint64_t, FrameKind> kinds_;
};

}  // namespace jprof::profile
