#include "cli/events/record_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>

#include "common/utc_text.h"
#include "profile/files/printable_text.h"

namespace jprof::cli {
namespace {

std::string TimeText(events::UnixTime time) {
  std::string text = UtcText(static_cast<std::time_t>(time.seconds));
  text.pop_back();
  return fmt::format("{}.{:09}Z", text, time.nanos);
}

// Text is valid, without control characters, and quoted as JSON and C have it.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char byte : profile::CleanText(text)) {
    if (byte == '"' || byte == '\\') quoted += '\\';
    quoted += byte;
  }
  return quoted + "\"";
}

// Returns the name of an enumerated value, or the number.
std::string ValueText(const events::Field& field, const events::FieldValue& value, bool json) {
  return std::visit(
      [&](const auto& one) -> std::string {
        using Value = std::decay_t<decltype(one)>;
        if constexpr (std::same_as<Value, std::string_view>) {
          return Quoted(one);
        } else if constexpr (std::same_as<Value, double>) {
          return json && !std::isfinite(one) ? "null" : fmt::format("{}", one);
        } else {
          const auto named =
              std::ranges::find_if(field.values, [&](const events::NamedValue& candidate) {
                return candidate.number == static_cast<uint64_t>(one);
              });
          if (named != field.values.end()) return json ? Quoted(named->name) : named->name;
          if (!json && field.type == events::FieldType::kAddress) return fmt::format("{:#x}", one);
          return fmt::format("{}", one);
        }
      },
      value);
}

}  // namespace

std::string TextLine(const events::Record& record, events::UnixTime time) {
  std::string line = fmt::format("{} {}/{} {}", TimeText(time), record.writer.process,
                                 record.writer.thread, record.event.full_name);
  for (size_t i = 0; i < record.values.size(); ++i) {
    const events::Field& field = record.event.fields[i];
    line += fmt::format(" {}={}", field.name, ValueText(field, record.values[i], false));
  }
  return line;
}

std::string JsonLine(const events::Record& record, events::UnixTime time) {
  std::string line = fmt::format(
      R"({{"time":"{}","process":{},"thread":{},"thread_name":{},"event":"{}","version":{},"fields":{{)",
      TimeText(time), record.writer.process, record.writer.thread, Quoted(record.writer.name),
      record.event.full_name, record.event.event.version);
  for (size_t i = 0; i < record.values.size(); ++i) {
    const events::Field& field = record.event.fields[i];
    line += fmt::format("{}\"{}\":{}", i == 0 ? "" : ",", field.name,
                        ValueText(field, record.values[i], true));
  }
  return line + "}}";
}

}  // namespace jprof::cli
