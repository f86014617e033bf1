// The attributes of the process context that a program has published (process_context.h).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jprof::model {

using ProcessAttributes = std::vector<std::pair<std::string, std::string>>;

// Decodes a message ProcessContext of opentelemetry-proto 1.11. Numbers and truth values become
// texts; lists and maps are left out. Texts are printable. Of attributes with one name the first is
// returned, and of a damaged message what comes before the damage.
ProcessAttributes DecodeProcessContext(std::string_view message);

// Returns those of a profile, or none.
ProcessAttributes ReadProcessAttributes(const std::string& directory);

}  // namespace jprof::model
