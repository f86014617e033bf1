#include "cli/scale/sizes.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <ranges>
#include <string>

namespace jprof::cli {
namespace {

constexpr uint64_t kMostSize = std::numeric_limits<int64_t>::max();  // what programs can read
constexpr std::string_view kSuffixes = "kMG";

std::unexpected<Error> NoSize(std::string_view part) {
  return WrongUse(
      "--sizes: '{}' is no size; give whole numbers from 1 on, such as 1000,2000,4k,8k or 1k..8k",
      part);
}

Result<uint64_t> ParseSize(std::string_view part) {
  uint64_t size = 0, unit = 1;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size);
  const std::string_view suffix(end, part.data() + part.size());
  if (error != std::errc() || suffix.size() > 1) return NoSize(part);
  if (!suffix.empty()) {
    const size_t place = kSuffixes.find(suffix == "K" ? 'k' : suffix.front());
    if (place == kSuffixes.npos) return NoSize(part);
    for (size_t i = 0; i <= place; ++i) unit *= 1000;
  }
  if (size == 0) return NoSize(part);
  if (size > kMostSize / unit) return WrongUse("--sizes: {} is above {}", part, kMostSize);
  return size * unit;
}

// Adds one size, or those of a range.
Result<void> AddSizes(std::string_view part, std::vector<uint64_t>& sizes) {
  const size_t dots = part.find("..");
  const auto first = ParseSize(part.substr(0, dots));
  if (!first) return std::unexpected(first.error());
  if (dots == part.npos) {
    sizes.push_back(*first);
    return {};
  }
  const auto last = ParseSize(part.substr(dots + 2));
  if (!last) return std::unexpected(last.error());
  if (*last < *first) return WrongUse("--sizes: {} goes down; write the smaller size first", part);
  for (uint64_t size = *first; size <= *last; size *= 2) {
    sizes.push_back(size);
    if (size > kMostSize / 2) break;
  }
  return {};
}

}  // namespace

Result<std::vector<uint64_t>> ParseSizes(std::string_view text) {
  std::vector<uint64_t> sizes;
  for (const auto part : std::views::split(text, ',')) {
    if (auto added = AddSizes(std::string_view(part.begin(), part.end()), sizes); !added)
      return std::unexpected(added.error());
  }
  std::ranges::sort(sizes);
  if (const auto twice = std::ranges::adjacent_find(sizes); twice != sizes.end())
    return WrongUse("--sizes: {} comes twice", *twice);
  if (sizes.size() < 2)
    return WrongUse("--sizes: {} is one size; growth shows from two on, and reliably from four",
                    sizes.front());
  if (sizes.size() > kMostSizes)
    return WrongUse("--sizes: {} sizes; at most {} can run", sizes.size(), kMostSizes);
  return sizes;
}

}  // namespace jprof::cli
