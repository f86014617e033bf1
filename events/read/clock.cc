#include "events/read/clock.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "events/read/file_bytes.h"

namespace jprof::events {
namespace {

constexpr uint64_t kMostMetadata = uint64_t{64} << 20;
constexpr uint64_t kNanos = 1'000'000'000;

// Replaces the value if the text has a number after the key.
template <typename T>
void Read(std::string_view text, std::string_view key, T& value) {
  const size_t at = text.find(key);
  if (at == text.npos) return;
  const std::string_view number = text.substr(at + key.size());
  std::from_chars(number.data(), number.data() + number.size(), value);
}

// Returns the text from behind the key to the next quotation mark, or an empty one.
std::string TextAfter(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == text.npos) return "";
  const std::string_view rest = text.substr(at + key.size());
  return std::string(rest.substr(0, rest.find('"')));
}

}  // namespace

TraceMetadata ParseMetadata(std::string_view text) {
  TraceMetadata metadata;
  int closed = 0;
  Read(text, "\n  freq = ", metadata.frequency);
  Read(text, "\n  offset_s = ", metadata.seconds);
  Read(text, "\n  offset = ", metadata.ticks);
  Read(text, "\n  process = ", metadata.process);
  Read(text, "\n  closed = ", closed);
  metadata.closed = closed != 0;
  constexpr size_t kMostCounters = 64;  // what is more is damage
  for (std::string name;
       metadata.counters.size() < kMostCounters &&
       !(name = TextAfter(text, fmt::format("\n  counter_{} = \"", metadata.counters.size())))
            .empty();)
    metadata.counters.push_back(std::move(name));
  if (metadata.frequency == 0) metadata.frequency = kNanos;
  return metadata;
}

TraceMetadata ReadMetadata(const std::string& directory) {
  return ParseMetadata(ReadBytes(directory + "/metadata", kMostMetadata));
}

UnixTime TimeOf(const TraceMetadata& metadata, uint64_t ticks) {
  using Wide = unsigned __int128;
  const Wide sum = Wide{ticks} + metadata.ticks;
  const auto whole = static_cast<uint64_t>(sum / metadata.frequency);
  const Wide rest = sum % metadata.frequency;
  return {.seconds = static_cast<int64_t>(static_cast<uint64_t>(metadata.seconds) + whole),
          .nanos = static_cast<uint32_t>(rest * kNanos / metadata.frequency)};
}

int64_t NanosSince(const TraceMetadata& metadata, uint64_t ticks, uint64_t start_unix_ns) {
  const UnixTime time = TimeOf(metadata, ticks);
  // Damaged numbers wrap around.
  return static_cast<int64_t>(static_cast<uint64_t>(time.seconds) * 1'000'000'000 + time.nanos -
                              start_unix_ns);
}

}  // namespace jprof::events
