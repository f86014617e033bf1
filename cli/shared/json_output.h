// Prints JSON documents that people read, too: indented, a value a line.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "reports/print/json_writer.h"

namespace jprof::cli {

// Returns the document that `write` writes, without blanks.
Result<std::string> CompactJson(const std::function<void(reports::JsonWriter&)>& write);

// Prints the document that `write` writes on standard output. Fails if that cannot be written.
Result<void> PrintIndentedJson(const std::function<void(reports::JsonWriter&)>& write);

// Returns a document without blanks, as JsonWriter writes it, with two blanks for each level.
std::string Indented(std::string_view json);

// Writes the member with the fewest digits that read back as `value`, and a decimal point: "2.0".
void DecimalMember(std::string_view key, double value, reports::JsonWriter& json);

// Writes the member, null if there is no value.
template <typename T>
void OptionalMember(std::string_view key, const std::optional<T>& value,
                    reports::JsonWriter& json) {
  if (value) return json.Member(key, *value);
  json.Key(key);
  json.Null();
}

}  // namespace jprof::cli
