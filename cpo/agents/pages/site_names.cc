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

std::vector<a2n::Frame> SiteNames::FramesOf(std::string_view caller) {
  const size_t plus = caller.rfind(kOffset);
  if (plus == caller.npos) return {};
  const auto path = paths_.find(caller.substr(0, plus));
  uint64_t address = 0;
  const char* const digits = caller.data() + plus + kOffset.size();
  std::from_chars(digits, caller.data() + caller.size(), address, 16);
  if (path == paths_.end() || address == 0) return {};
  // The call is before the address that it returns to.
  std::vector<a2n::Frame> frames = resolver_.FramesInFile(path->second, address - 1);
  if (!frames.empty() && frames.front().function.starts_with("NoSymbol")) return {};
  return frames;
}

std::string SiteNames::Of(const LoggedGroup& group) {
  if (group.kind != "site") return {};
  const std::string_view key = group.key;
  const size_t first = key.find('<');
  std::vector<a2n::Frame> frames = FramesOf(key.substr(0, first));
  if (frames.empty()) return {};
  if (frames.size() == 1 && first != key.npos) {
    const std::string_view rest = key.substr(first + 1);
    const auto callers = FramesOf(rest.substr(0, rest.find('<')));
    frames.insert(frames.end(), callers.begin(), callers.end());
  }
  const a2n::Frame& inner = frames.front();
  std::string text = inner.function;
  if (!inner.file.empty())
    text +=
        fmt::format(", {}:{}", std::filesystem::path(inner.file).filename().string(), inner.line);
  if (frames.size() > 1) text += ", called by " + frames[1].function;
  return fmt::format(" ({})", text);
}

}  // namespace jprof::cpo
