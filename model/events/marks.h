// Loads the points in time that programs have marked, and other events that they have written,
// while their timeline was recorded (docs/EVENTS.md, "Marks").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/events/stretches.h"

namespace jprof::model {

struct Mark {
  uint64_t time = 0;            // ns since the recording began
  uint32_t thread = kNoThread;  // index into Stretches::threads of the one that wrote it
  std::string text;             // of a mark; else the name of the event
};

// Loads those of all programs in the directory of a recording, in the order of time. Adds to
// `damages` what cannot be read.
std::vector<Mark> LoadMarks(const std::string& directory, const Stretches& stretches,
                            std::vector<std::string>& damages);

// Returns the first mark with this text at a time or after it, or null.
const Mark* FindMark(const std::vector<Mark>& marks, std::string_view text, uint64_t since);

}  // namespace jprof::model
