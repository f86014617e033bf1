// Provides what the makers of a ContextTree share: frames and modules are made once each, and nodes
// are in the order parents first.
#pragma once

#include <string>
#include <unordered_map>

#include "model/tree/context_tree.h"

namespace jprof::model {

class ContextBuilder {
 public:
  explicit ContextBuilder(ContextTree& tree) : tree_(tree) {
    tree.modules.push_back({"[java]", ""});
  }

  FrameIndex AddFrame(ExportFrame frame);
  // Returns the index of the module. Reads an empty `build_id` from the file if that still exists.
  uint32_t ModuleOf(const std::string& path, const std::string& build_id);
  // Appends a node. `parent` is kNoNode for a thread. LinkNodes links them when all are there.
  void AddNode(NodeIndex parent, FrameIndex frame, profile::ThreadIndex thread, char type);

 private:
  ContextTree& tree_;
  std::unordered_map<std::string, uint32_t> modules_;
};

// Returns "time: calibrated with ...", or why it is not.
std::string CorrectionNote(const std::string& metric, bool calibrated, const Source& source);

// Adds a note for each measure that has contexts below 0: over-calibrated ones, and those from
// which more timer overhead was subtracted than they had.
void AddNotesBelow0(const ContextTree& tree, std::vector<std::string>& notes);

// Returns the count, or the limit of the type if it is beyond that.
inline int64_t CountOf(uint64_t count) {
  return count > uint64_t{INT64_MAX} ? INT64_MAX : static_cast<int64_t>(count);
}

}  // namespace jprof::model
