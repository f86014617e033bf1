#include "record/count/count_table.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace jprof::record {
namespace {

// Returns the name without PMU and modifiers, in capitals.
std::string PlainName(std::string_view name) {
  const size_t pmu = name.find("::");
  if (pmu != std::string_view::npos) name.remove_prefix(pmu + 2);
  std::string plain(name.substr(0, name.find(':')));
  std::ranges::transform(plain, plain.begin(), [](unsigned char c) { return std::toupper(c); });
  return plain;
}

}  // namespace

std::optional<size_t> FindMetric(const CountTable& table,
                                 const std::vector<std::string_view>& names) {
  for (size_t i = 0; i < table.metrics.size(); ++i) {
    if (std::ranges::find(names, PlainName(table.metrics[i].name)) != names.end()) return i;
  }
  return std::nullopt;
}

void SumByName(CountTable& table) {
  std::map<std::string, CountRow> sums;
  for (const CountRow& row : table.rows) {
    CountRow& sum = sums[row.name];
    if (sum.counts.empty()) {
      sum = {.name = row.name, .threads = 0, .counts = std::vector<double>(row.counts.size(), 0)};
    }
    sum.threads += row.threads;
    for (size_t i = 0; i < row.counts.size(); ++i) sum.counts[i] += row.counts[i];
  }
  table.rows.clear();
  for (auto& [name, sum] : sums) table.rows.push_back(std::move(sum));
  table.by_name = true;
}

void SortByTime(CountTable& table) {
  const size_t by = FindMetric(table, {"TIME"}).value_or(0);
  std::ranges::stable_sort(table.rows, [by](const CountRow& a, const CountRow& b) {
    if (a.counts[by] != b.counts[by]) return a.counts[by] > b.counts[by];
    return a.tid < b.tid;
  });
}

}  // namespace jprof::record
