#include "cpo/agents/pages/site_names.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

namespace jprof::cpo {
namespace {

constexpr std::string_view kOffset = "+0x";

}  // namespace

SiteNames::SiteNames(const Log& log) {
  for (const LoggedModule& module : log.modules)
    paths_.emplace(std::filesystem::path(module.path).filename().string(), module.path);
}

std::string SiteNames::NameOf(std::string_view caller, bool with_line) {
  const size_t plus = caller.rfind(kOffset);
  if (plus == caller.npos) return {};
  const auto path = paths_.find(caller.substr(0, plus));
  uint64_t address = 0;
  const char* const digits = caller.data() + plus + kOffset.size();
  std::from_chars(digits, caller.data() + caller.size(), address, 16);
  if (path == paths_.end() || address == 0) return {};
  // The call is before the address that it returns to.
  const std::vector<a2n::Frame> frames = resolver_.FramesInFile(path->second, address - 1);
  if (frames.empty() || frames.front().function.starts_with("No")) return {};
  const a2n::Frame& frame = frames.front();
  if (!with_line || frame.file.empty()) return frame.function;
  return fmt::format("{}, {}:{}", frame.function,
                     std::filesystem::path(frame.file).filename().string(), frame.line);
}

std::string SiteNames::Of(const LoggedGroup& group) {
  if (group.kind != "site") return {};
  const std::string_view key = group.key;
  const size_t first = key.find('<');
  const std::string inner = NameOf(key.substr(0, first), true);
  if (inner.empty()) return {};
  if (first == key.npos) return fmt::format(" ({})", inner);
  const std::string_view rest = key.substr(first + 1);
  const std::string outer = NameOf(rest.substr(0, rest.find('<')), false);
  return outer.empty() ? fmt::format(" ({})", inner)
                       : fmt::format(" ({}, called by {})", inner, outer);
}

}  // namespace jprof::cpo
