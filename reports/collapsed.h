// Writes collapsed stacks, as flame-graph tools read them: "thread;frame;frame value".
#pragma once

#include <string>
#include <vector>

#include "reports/output.h"

namespace jprof::reports {

class CollapsedStacks {
 public:
  explicit CollapsedStacks(Output& out) : out_(out) {}

  // A context below the last one of a lower level, level 0 first. Writes a line if its own value
  // has come to a whole unit. Frames are divided by ';' and the value by the last blank: `frame`
  // loses its ';'.
  void Add(uint32_t level, std::string frame, double value);

 private:
  uint64_t WholeOf(double value);

  Output& out_;
  double carry_ = 0;
  std::string stack_;
  std::vector<size_t> frame_ends_;  // of the stack's text, by level
};

}  // namespace jprof::reports
