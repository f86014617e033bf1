// Checks what the schema of specifications cannot say. Pure.
#pragma once

#include <string_view>

#include "common/result.h"
#include "events/spec/checked_xml.h"

namespace jprof::events {

// Requires an element that the schema has validated. Fails with FILE:LINE:COLUMN if names occur
// twice or are reserved words of C, C++ or Java, if a field that an event refers to does
// not exist or has the wrong type, or if a pair has not exactly one begin and one end.
Result<void> CheckMeaning(const Element& root, std::string_view file);

}  // namespace jprof::events
