#include "a2n/proc_maps.h"

#include <algorithm>
#include <charconv>

namespace jprof::a2n {
namespace {

// Takes a number and the character behind it off the text.
bool Take(std::string_view& text, uint64_t& value, int base, char behind) {
  const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || after == text.data() + text.size() || *after != behind) return false;
  text.remove_prefix(static_cast<size_t>(after - text.data()) + 1);
  return true;
}

// The kernel writes a line break in a name as \012.
std::string Unescaped(std::string_view path) {
  std::string text(path);
  for (size_t at = 0; (at = text.find("\\012", at)) != std::string::npos; ++at)
    text.replace(at, 4, 1, '\n');
  return text;
}

// "7f..-7f.. r-xp 00026000 fe:01 1234       /usr/lib/x.so"
bool ParseLine(std::string_view line, Mapping& mapping) {
  uint64_t end = 0, major = 0, minor = 0;
  if (!Take(line, mapping.start, 16, '-') || !Take(line, end, 16, ' ') || end <= mapping.start)
    return false;
  if (line.size() < 5 || line[2] != 'x' || line[4] != ' ') return false;
  line.remove_prefix(5);
  mapping.length = end - mapping.start;
  if (!Take(line, mapping.file_offset, 16, ' ') || !Take(line, major, 16, ':') ||
      !Take(line, minor, 16, ' '))
    return false;
  const auto [after, error] =
      std::from_chars(line.data(), line.data() + line.size(), mapping.inode);
  if (error != std::errc()) return false;
  line.remove_prefix(static_cast<size_t>(after - line.data()));
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  mapping.path = line.empty() ? "//anon" : Unescaped(line);
  return true;
}

}  // namespace

std::vector<Mapping> ParseMaps(std::string_view text) {
  std::vector<Mapping> mappings;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    Mapping mapping;
    if (ParseLine(text.substr(at, end - at), mapping)) mappings.push_back(std::move(mapping));
    at = end + 1;
  }
  return mappings;
}

}  // namespace jprof::a2n
