#include "model/sums/series_table.h"

#include <algorithm>
#include <unordered_map>

#include "model/sums/flat.h"
#include "profile/files/file_list.h"
#include "profile/series/series_cursor.h"

namespace jprof::model {
namespace {

// Adds up the columns one after another.
class SeriesSums {
 public:
  SeriesSums(const Source& source, const ForestOptions& options, size_t columns)
      : source_(source), options_(options), columns_(columns) {}

  // Adds the column of this window.
  Result<void> Add(std::shared_ptr<const profile::Window> window) {
    auto reader = profile::Reader::Open(source_.reader.directory());
    if (!reader) return std::unexpected(reader.error());
    Source part = source_;
    part.reader = *std::move(reader);
    part.reader.Restrict(std::move(window));
    auto forest = LoadForest(part, options_);
    if (!forest) return std::unexpected(forest.error());
    for (const MethodSum& sum : SumByMethod(*forest, /*with_cumulative=*/false)) AddTo(sum);
    table_.ends.push_back(static_cast<double>(part.reader.window()->end_ns) / 1e9);
    if (!forest->metrics.empty()) AddTotals(forest->metrics.front());
    table_.names = std::move(forest->names);
    return {};
  }

  // Returns how much memory the table needs when it is complete.
  uint64_t bytes() const {
    return table_.methods.size() *
           (sizeof(MethodOverTime) + columns_ * (sizeof(uint64_t) + sizeof(double)));
  }

  SeriesTable Take() {
    std::ranges::stable_sort(table_.methods, std::greater(), [this](const MethodOverTime& method) {
      return std::pair(table_.has_metric() ? method.all_own : 0.0, method.all_calls);
    });
    return std::move(table_);
  }
  SeriesTable& table() { return table_; }

 private:
  void AddTotals(const MetricTotals& metric) {
    if (table_.metrics.empty()) {
      table_.metrics.push_back(metric);
    } else {
      table_.metrics.front().raw += metric.raw;
    }
  }
  void AddTo(const MethodSum& sum) {
    const auto [known, is_new] = place_.try_emplace(IndexOf(sum.method), table_.methods.size());
    if (is_new) {
      table_.methods.push_back({.method = sum.method,
                                .type = sum.type,
                                .calls = std::vector<uint64_t>(columns_),
                                .own = std::vector<double>(columns_)});
    }
    MethodOverTime& method = table_.methods[known->second];
    const size_t column = table_.ends.size();
    const double own = sum.self.empty() ? 0 : sum.self.front().base();
    method.type = sum.type;
    method.calls[column] = sum.calls;
    method.own[column] = own;
    method.all_calls += sum.calls;
    method.all_own += own;
  }

  const Source& source_;
  const ForestOptions& options_;
  const size_t columns_;
  SeriesTable table_;
  std::unordered_map<uint32_t, size_t> place_;  // of a method in the table
};

}  // namespace

Result<SeriesTable> LoadSeriesTable(const Source& source, const ForestOptions& options,
                                    size_t most_columns) {
  const auto series = profile::Series::Open(source.reader);
  if (!series) return std::unexpected(series.error());
  if (series->intervals().empty())
    return WrongUse("{}: its series has no snapshot that can be read", source.reader.shown());
  const profile::Window* const window = source.reader.window();
  const size_t first = window != nullptr ? window->first : 0;
  const size_t last = window != nullptr ? window->last : series->intervals().size();
  const size_t step = (last - first - 1) / most_columns + 1;
  ForestOptions loaded = options;
  loaded.merged = true;
  loaded.pools = false;
  const auto& metrics = source.reader.meta().metrics;
  if (loaded.metric.empty() && !metrics.empty()) loaded.metric = metrics.front().name;
  const uint64_t memory = profile::ReadingMemory();
  auto cursor = profile::SeriesCursor::Open(*series, first, memory);
  if (!cursor) return std::unexpected(cursor.error());
  SeriesSums sums(source, loaded, (last - first + step - 1) / step);
  for (size_t i = first; i < last; i += step) {
    auto part = cursor->Next(std::min(i + step, last));
    if (!part) return std::unexpected(part.error());
    if (auto added = sums.Add(*std::move(part)); !added) return std::unexpected(added.error());
    if (sums.bytes() > memory) return profile::NotEnoughMemory(profile::kSeriesFile, memory);
  }
  SeriesTable& table = sums.table();
  table.begin = first == 0 ? 0 : static_cast<double>(series->intervals()[first - 1].end_ns) / 1e9;
  table.first = first;
  table.intervals = last - first;
  return sums.Take();
}

}  // namespace jprof::model
