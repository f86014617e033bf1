// Sums up the allocated objects of a profile of mode objects. In its tree a class is a row below
// the method that allocates it, and only the rows of classes have objects. Their bytes and those of
// the rows "not seen by the probe" are all that the VM has counted. Past the memory cap, the rows
// "(overflow)" have the bytes of objects of any class.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "model/tree/forest.h"

namespace jprof::model {

// Returns whether the profile has allocated objects.
bool HasObjects(const Forest& forest);

// Returns the place of a metric of objects among those of the forest, or nothing if it is not there
// (--metric), or was not recorded.
std::optional<size_t> PlaceOf(const Forest& forest, std::string_view name);

// Returns for each row the value of a metric in the row itself and in the rows of classes right
// below it: what the method has allocated itself.
std::vector<int64_t> WithClasses(const Forest& forest, size_t metric);

// Returns whether the row stands for objects that the probe did not report.
bool IsUnseen(const Forest& forest, const Row& row);
// Returns the sum of these rows for the first metric.
int64_t UnseenOf(const Forest& forest);

// Sums up the objects of a class, those of them that one method has allocated, or the bytes of no
// class: those that were not seen, or are past the memory cap.
struct ObjectSum {
  // The class, the method (kRootMethod stands for what is outside any method), or the row's name.
  profile::MethodId method{};
  FrameKind type = FrameKind::kNone;
  uint64_t contexts = 0;           // the number of its rows
  std::vector<int64_t> values;     // by metric
  int64_t removed = 0;             // objects that were asked for and not allocated; and the
  int64_t without_new = 0;         // opposite; each is summed over the contexts
  std::vector<ObjectSum> callers;  // of a class, else empty
  // Of a method of the JDK that allocates a class: the method of the program that had most bytes
  // allocated so (model/sums/program_rows.h), and these bytes. kRootMethod: there is none.
  profile::MethodId program_method = profile::kRootMethod;
  int64_t program_bytes = 0;
};

// Returns the classes, the methods of each, and the sums of no class, in descending order of what
// `rank` returns. Together they have all bytes of the profile.
std::vector<ObjectSum> SumByClass(const Forest& forest,
                                  const std::function<int64_t(const ObjectSum&)>& rank);

}  // namespace jprof::model
