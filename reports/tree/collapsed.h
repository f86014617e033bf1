// Writes collapsed stacks, as flame-graph tools read them: "thread;frame;frame value".
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "model/tree/deep_recursion.h"
#include "reports/print/output.h"

namespace jprof::reports {

class CollapsedStacks {
 public:
  explicit CollapsedStacks(Output& out) : out_(out) {}
  ~CollapsedStacks();  // writes what is left, and remarks on folded recursion
  CollapsedStacks(const CollapsedStacks&) = delete;
  CollapsedStacks& operator=(const CollapsedStacks&) = delete;

  // Adds a context below the last one of a lower level; the first one has level 0. Writes a line if
  // the context's own value has come to a whole unit. Contexts below kWholeFrames are written
  // later, folded, when the next one above them is added. Frames are divided by ';' and the value
  // by the last blank, so `frame` loses its ';', and an empty one becomes "(unnamed)".
  void Add(uint32_t level, std::string frame, double value);

 private:
  // Holds the last context of the level kWholeFrames and those below it.
  struct Deep {
    model::DeepRecursion contexts = model::DeepRecursion(0);
    std::vector<model::NodeIndex> stack;  // contexts, by level below kWholeFrames
    std::vector<double> values;           // by context
    std::vector<std::string> names;
    std::unordered_map<std::string, model::FrameIndex> frame_of;
  };

  void AddDeep(uint32_t level, const std::string& frame, double value);
  void WriteDeep();
  void Write(const std::string& stack, double value);
  uint64_t WholeOf(double value);

  Output& out_;
  double carry_ = 0;
  std::string stack_;
  std::vector<size_t> frame_ends_;  // of the stack's text, by level
  Deep deep_;
  uint64_t folded_ = 0;
};

}  // namespace jprof::reports
