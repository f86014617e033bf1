#include "reports/view/series_columns.h"

#include <algorithm>

#include "model/sums/series_table.h"
#include "profile/series/series.h"

namespace jprof::reports {
namespace {

constexpr size_t kMostMethods = 400;
// Each column reads all nodes: a large profile has fewer columns.
constexpr size_t kMostHeatColumns = 120, kLeastHeatColumns = 20;
constexpr uint64_t kMostNodesRead = 100'000'000;

}  // namespace

void AddSeries(const model::Source& source, ViewNames& names, ViewData& data) {
  if (!profile::Series::Exists(source.reader)) return;
  const uint64_t nodes = std::max<uint64_t>(source.reader.header().node_count, 1);
  auto table = model::LoadSeriesTable(
      source, {}, std::clamp<size_t>(kMostNodesRead / nodes, kLeastHeatColumns, kMostHeatColumns));
  if (!table) return data.Loss(table.error().message);
  std::vector<uint32_t> methods;
  std::vector<double> own, calls;
  const double scale = table->has_metric() ? table->metrics.front().info.scale : 1;
  const size_t count = std::min(table->methods.size(), kMostMethods);
  for (const model::MethodOverTime& method : std::span(table->methods).first(count)) {
    if (method.method == profile::kRootMethod) continue;
    methods.push_back(names.Of(table->names.Of(method.method)));
    for (size_t i = 0; i < table->columns(); ++i) {
      calls.push_back(static_cast<double>(method.calls[i]));
      own.push_back(method.own[i] * scale);
    }
  }
  const bool measured = table->has_metric();
  data["series"] = {{"begin", table->begin},
                    {"ends", data.Add(std::span<const double>(table->ends))},
                    {"metric", measured ? table->metrics.front().info.name : ""},
                    {"unit", measured ? table->metrics.front().info.unit : ""},
                    {"methods", data.Add(std::span<const uint32_t>(methods))},
                    {"own", measured ? data.Add(std::span<const double>(own)) : nlohmann::json()},
                    {"calls", data.Add(std::span<const double>(calls))}};
}

}  // namespace jprof::reports
