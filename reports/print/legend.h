// Formats the legend in the head of a text report.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "common/frame_kind.h"

namespace jprof::reports {

// Returns the lines " legend    TEXT", where TEXT is broken between words so that no line has more
// than 110 columns; further lines are indented as TEXT is. A line break in TEXT stays.
std::string Legend(std::string_view text);

// Returns the letters of these kinds and what they mean: "I interpreted, J compiled by C1".
std::string KindsText(std::initializer_list<FrameKind> kinds);

}  // namespace jprof::reports
