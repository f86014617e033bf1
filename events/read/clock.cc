#include "events/read/clock.h"

#include <charconv>
#include <string_view>

#include "events/read/file_bytes.h"

namespace jprof::events {
namespace {

constexpr uint64_t kMostBytes = 64 << 20;

// Returns what follows "NAME = " in the text, up to the semicolon; an empty text if there is none.
std::string_view ValueOf(std::string_view text, std::string_view name) {
  const std::string key = fmt::format(" {} = ", name);
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  return rest.substr(0, rest.find(';'));
}

uint64_t NumberOf(std::string_view text, std::string_view name) {
  uint64_t number = 0;
  const std::string_view value = ValueOf(text, name);
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

}  // namespace

Result<TraceClock> ReadClock(const std::string& directory) {
  const std::string path = directory + "/metadata";
  const std::string text = ReadBytes(path, kMostBytes);
  const size_t begin = text.find("\nclock {");
  if (begin == std::string::npos) return Fail("{}: describes no clock", path);
  const std::string_view clock =
      std::string_view(text).substr(begin, text.find('}', begin) - begin);
  TraceClock read = {.frequency = NumberOf(clock, "freq"),
                     .offset_seconds = NumberOf(clock, "offset_s"),
                     .offset_ticks = NumberOf(clock, "offset")};
  if (read.frequency == 0) return Fail("{}: its clock has no frequency", path);
  for (int i = 0;; ++i) {
    std::string_view name = ValueOf(text, fmt::format("counter_{}", i));
    if (name.size() < 2) return read;
    read.counters.emplace_back(name.substr(1, name.size() - 2));  // without quotation marks
  }
}

}  // namespace jprof::events
