// Finds the methods of the program that call methods of the JDK.
#pragma once

#include <string_view>
#include <vector>

#include "model/tree/forest.h"

namespace jprof::model {

// Returns whether a class, named as the JVM names it ("java/lang/String"), belongs to the JDK.
bool IsOfJdk(std::string_view class_name);

class ProgramRows {
 public:
  // Requires that the forest outlives this object.
  explicit ProgramRows(const Forest& forest);

  // Returns the first row above a row of the JDK whose method does not belong to the JDK. Returns
  // kNoNode if there is none, or if the row itself does not belong to the JDK.
  NodeIndex Above(NodeIndex row);

 private:
  bool IsOfJdkRow(NodeIndex row) const;

  const Forest& forest_;
  std::vector<NodeIndex> above_;  // by row
};

}  // namespace jprof::model
