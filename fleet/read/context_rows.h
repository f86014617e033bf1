// The contexts of a selection with their sums, as the server returns them, and the tree they are.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/result.h"
#include "fleet/read/selection.h"
#include "profile/merge/merged_tree.h"

namespace jprof::fleet {

using ContextId = std::string;  // 16 bytes

// A method or the name of a thread.
struct FrameName {
  uint8_t kind = 0;  // FrameClass
  uint16_t flags = 0;
  std::string class_name, name, signature;
};

// What a context counted while its method was of one type.
struct TypeSums {
  FrameKind type = FrameKind::kNone;
  bool live = false;
  uint64_t counts[5] = {};
  std::vector<int64_t> values;
};

struct ContextRow {
  ContextId id, parent, folded;
  uint64_t frame = 0;
  uint32_t depth = 0;
  uint32_t above = profile::kNoRecord;  // place of the parent
  bool hidden = false;                  // part of a row of its caller
  std::vector<TypeSums> sums;
};

struct ContextRows {
  std::vector<ContextRow> rows;  // parents first
  std::unordered_map<uint64_t, FrameName> frames;
};

// Sums the counts of the runs. Times are converted to the clock of the first run.
Result<ContextRows> SumContexts(Server& server, const std::vector<SelectedRun>& runs);

// Marks contexts as hidden that have, with all that they called, less than `share` of all calls and
// of each metric. Returns how many there are.
size_t HideSmall(ContextRows& contexts, double share);

// Returns the names of frames by their numbers.
Result<std::unordered_map<uint64_t, FrameName>> FrameNames(Server& server,
                                                           const std::vector<uint64_t>& frames);

// Returns the groups of runs that have the same clock, with the factor that converts its ticks to
// those of the first run.
struct ClockGroup {
  double factor = 1;
  std::vector<SelectedRun> runs;
};
std::vector<ClockGroup> ByClock(const std::vector<SelectedRun>& runs);

}  // namespace jprof::fleet
