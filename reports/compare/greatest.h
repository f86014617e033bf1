// Finds the greatest values of a list.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace jprof::reports {

// Replaces NaN (from a damaged table), which would break the sort order.
inline double Finite(double value) { return std::isfinite(value) ? value : 0; }

// Returns up to `count` indices with the greatest positive values, the greatest first.
template <typename Value>
std::vector<uint32_t> Greatest(size_t size, uint32_t from, size_t count, const Value& value) {
  std::vector<std::pair<double, uint32_t>> found;
  for (auto i = from; i < size; ++i) {
    if (const double v = Finite(value(i)); v > 0) found.emplace_back(-v, i);
  }
  count = std::min(count, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<ptrdiff_t>(count), found.end());
  std::vector<uint32_t> greatest;
  for (size_t i = 0; i < count; ++i) greatest.push_back(found[i].second);
  return greatest;
}

}  // namespace jprof::reports
