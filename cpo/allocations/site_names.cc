#include "cpo/allocations/site_names.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <ranges>

namespace jprof::cpo {
namespace {

constexpr std::string_view kOffset = "+0x";

// Returns "app.c:20", or an empty text if the line is not known.
std::string LineOf(const a2n::Frame& frame) {
  if (frame.file.empty()) return {};
  return fmt::format("{}:{}", std::filesystem::path(frame.file).filename().string(), frame.line);
}

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
  if (const std::string line = LineOf(inner); !line.empty()) text += ", " + line;
  if (frames.size() > 1) text += ", called by " + frames[1].function;
  return fmt::format(" ({})", text);
}

std::string SiteNames::ChainOf(const LoggedGroup& group) {
  if (group.kind != "site") return {};
  std::string chain;
  for (const auto part : std::views::split(group.key, '<')) {
    const std::string_view caller(part.begin(), part.end());
    std::vector<a2n::Frame> frames = FramesOf(caller);
    if (frames.empty()) frames.push_back({.function = std::string(caller), .file = {}});
    for (const a2n::Frame& frame : frames) {
      chain += (chain.empty() ? "" : " < ") + frame.function;
      if (const std::string line = LineOf(frame); !line.empty())
        chain += fmt::format(" ({})", line);
    }
  }
  return chain;
}

}  // namespace jprof::cpo
