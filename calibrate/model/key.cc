#include "calibrate/model/key.h"

namespace jprof::calibrate {
namespace {

constexpr std::string_view kTypes = "IJRNLFCOTijrnlfcot?";

std::string_view Name(EventKind kind) { return kind == EventKind::kEntry ? "En" : "Ex"; }

std::optional<EventKind> ParseEvent(std::string_view text) {
  if (text == "En") return EventKind::kEntry;
  if (text == "Ex") return EventKind::kExit;
  return std::nullopt;
}

}  // namespace

std::string ToString(const Key& key) {
  std::string text;
  text += Name(key.previous);
  text += '-';
  text += key.running;
  text += '-';
  text += Name(key.event);
  text += '-';
  text += key.other;
  return text;
}

std::optional<Key> ParseKey(std::string_view text) {
  if (text.size() != 9 || text[2] != '-' || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto previous = ParseEvent(text.substr(0, 2));
  const auto event = ParseEvent(text.substr(5, 2));
  if (!previous || !event || !kTypes.contains(text[3]) || !kTypes.contains(text[8])) {
    return std::nullopt;
  }
  return Key{*previous, text[3], *event, text[8]};
}

}  // namespace jprof::calibrate
