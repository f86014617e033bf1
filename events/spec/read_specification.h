// Reads a specification of events from XML.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "events/spec/specification.h"

namespace jprof::events {

// Fails with FILE:LINE:COLUMN and what is wrong there, if the text is not XML, is not as the schema
// says, or contradicts itself: names that do not exist or occur twice, words that a language
// reserves, pairs that do not match. `file` is only named in messages.
Result<Specification> ParseSpecification(std::string_view text, std::string_view file);

// Reads the file and parses it.
Result<Specification> ReadSpecification(const std::string& file);

}  // namespace jprof::events
