#include "events/spec/identity.h"

#include <iterator>
#include <map>

namespace jprof::events {
namespace {

template <typename T>
T Fnv1a(std::string_view text, T hash, T prime) {
  for (const char byte : text) hash = static_cast<T>((hash ^ static_cast<uint8_t>(byte)) * prime);
  return hash;
}

std::string IdentityLine(std::string_view full_name, const Event& event) {
  return fmt::format("{:08x} {:016x} {} {}", EventId(full_name, event.version), FieldsHash(event),
                     full_name, event.version);
}

// Returns id -> line of the lines that begin with an id.
std::map<std::string_view, std::string_view> LinesById(std::string_view kept) {
  std::map<std::string_view, std::string_view> lines;
  while (!kept.empty()) {
    const std::string_view line = kept.substr(0, kept.find('\n'));
    kept.remove_prefix(std::min(kept.size(), line.size() + 1));
    if (!line.starts_with('#') && !line.empty()) lines[line.substr(0, line.find(' '))] = line;
  }
  return lines;
}

Result<void> CheckOne(const std::string& line, const std::string& full_name, uint32_t version,
                      const std::map<std::string_view, std::string_view>& kept) {
  const auto found = kept.find(std::string_view(line).substr(0, 8));
  if (found == kept.end())
    return Fail("{} version {} is not among the kept identities; add the line: {}", full_name,
                version, line);
  if (found->second == line) return {};
  return Fail(
      "the fields of {} are not those of its version {} in the kept identities; old traces could "
      "not be read: raise its version to {}, and keep both lines",
      full_name, version, version + 1);
}

template <typename F>
void ForEach(const Specification& specification, F f) {
  for (const EventClass& of : specification.classes)
    for (const Event& event : of.events) f(FullName(specification, of, event), event);
}

}  // namespace

std::string FullName(const Specification& specification, const EventClass& of, const Event& event) {
  return fmt::format("{}::{}::{}", specification.layer, of.name, event.name);
}

uint32_t EventId(std::string_view full_name, uint32_t version) {
  const uint32_t id =
      Fnv1a(fmt::format("{}#{}", full_name, version), uint32_t{2166136261}, uint32_t{16777619});
  return id == 0 ? 1 : id;
}

uint64_t FieldsHash(const Event& event) {
  std::string text;
  for (const Context context : event.written)
    fmt::format_to(std::back_inserter(text), "@{};", TraitsOf(context).name);
  for (const Field& field : event.fields) {
    fmt::format_to(std::back_inserter(text), "{} {} {}", TraitsOf(field.type).name, field.name,
                   field.unit);
    for (const NamedValue& value : field.values)
      fmt::format_to(std::back_inserter(text), " {}={}", value.name, value.number);
    text += ';';
  }
  return Fnv1a(text, uint64_t{14695981039346656037U}, uint64_t{1099511628211});
}

std::string IdentityLines(const Specification& specification) {
  std::string lines;
  ForEach(specification, [&](const std::string& full_name, const Event& event) {
    lines += IdentityLine(full_name, event) + "\n";
  });
  return lines;
}

Result<void> CheckIdentities(const Specification& specification, std::string_view kept) {
  const auto lines = LinesById(kept);
  Result<void> checked;
  ForEach(specification, [&](const std::string& full_name, const Event& event) {
    if (checked)
      checked = CheckOne(IdentityLine(full_name, event), full_name, event.version, lines);
  });
  return checked;
}

}  // namespace jprof::events
