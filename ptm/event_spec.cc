#include "ptm/event_spec.h"

#include <linux/perf_event.h>

#include <charconv>
#include <optional>

namespace jprof::ptm {
namespace {

bool NeedsEscape(char c) {
  return c == '+' || c == ',' || c == '=' || c == '%' || static_cast<unsigned char>(c) <= ' ' ||
         c == 0x7f;
}

std::string Escape(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (NeedsEscape(c)) {
      out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

template <typename T>
std::optional<T> Hex(std::string_view text) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<std::string> Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const auto byte = Hex<uint8_t>(text.substr(i + 1, 2));
    if (!byte) return std::nullopt;
    out += static_cast<char>(*byte);
    i += 2;
  }
  return out;
}

// Cuts `rest` at its first ':' and parses the part before it as hex.
template <typename T>
bool NextField(std::string_view& rest, T& value) {
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return false;
  const auto number = Hex<T>(rest.substr(0, colon));
  if (!number) return false;
  value = *number;
  rest.remove_prefix(colon + 1);
  return true;
}

}  // namespace

bool IsSoftware(const EventSpec& event) { return event.type == PERF_TYPE_SOFTWARE; }

std::string EncodeMetric(const EventSpec& event) {
  return fmt::format("{}{:x}:{:x}:{:x}:{:x}:{:x}:{}", kEncodedPrefix, event.type, event.config,
                     event.config1, event.config2, event.exclude, Escape(event.name));
}

Result<EventSpec> DecodeMetric(std::string_view text) {
  std::string_view rest = text;
  EventSpec event;
  const bool numbers = rest.starts_with(kEncodedPrefix) &&
                       (rest.remove_prefix(kEncodedPrefix.size()), true) &&
                       NextField(rest, event.type) && NextField(rest, event.config) &&
                       NextField(rest, event.config1) && NextField(rest, event.config2) &&
                       NextField(rest, event.exclude) && event.exclude <= kExcludeAll;
  const auto name = numbers ? Unescape(rest) : std::nullopt;
  if (!name || name->empty()) {
    return WrongUse(
        "metric '{}': the agent accepts time, dispatches and encoded events "
        "(raw:TYPE:CONFIG:CONFIG1:CONFIG2:EXCLUDE:NAME, in hex); start the program with `jprof "
        "callflow "
        "--metrics NAME`, which encodes event names",
        text);
  }
  event.name = *name;
  return event;
}

}  // namespace jprof::ptm
