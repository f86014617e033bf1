#include "reports/view/distribution_view.h"

#include <algorithm>

#include "model/sums/distributions.h"

namespace jprof::reports {
namespace {

using model::TimeHistogram;
using nlohmann::json;

constexpr size_t kMostRows = 2000;

json Describe(const TimeHistogram& times) {
  const model::CallTimes all = times.All();
  const model::CallSummary summary = times.Summary();
  const std::pair<const char*, model::CallTime> values[] = {
      {"min", summary.least}, {"p50", summary.p50},     {"p90", summary.p90},
      {"p99", summary.p99},   {"max", summary.longest}, {"mean", summary.mean}};
  json described = {{"removed", all.measured > 0 ? all.removed / all.measured : 0}};
  json below = json::array(), buckets = json::array();
  for (const auto& [name, value] : values) {
    described[name] = value.vague ? value.most : value.time;
    if (value.vague) below.push_back(name);
  }
  for (const TimeHistogram::Bucket& bucket : times.buckets)
    buckets.push_back({bucket.calls.mean(), bucket.calls.calls});
  described["below"] = std::move(below);
  described["buckets"] = std::move(buckets);
  return described;
}

json Describe(const model::Distribution& distribution) {
  return {{"calls", distribution.cpu.All().calls},
          {"cpu", Describe(distribution.cpu)},
          {"elapsed", Describe(distribution.elapsed)}};
}

}  // namespace

void AddDistributions(model::Forest& forest, ViewNames& names, ViewData& data) {
  std::vector<model::RowDistribution> rows = DistributionsOf(forest);
  if (rows.empty()) return;
  json methods = json::array(), contexts = json::array();
  for (const model::MethodDistribution& sum : SumByMethod(forest, rows)) {
    json& method = methods.emplace_back(Describe(sum.distribution));
    method["method"] = names.Of(forest.names.Of(sum.method));
  }
  if (rows.size() > kMostRows) {
    std::ranges::stable_sort(rows, std::greater(), [](const model::RowDistribution& row) {
      return row.distribution.cpu.All().measured;
    });
    rows.resize(kMostRows);
  }
  for (const model::RowDistribution& row : rows) {
    json& context = contexts.emplace_back(Describe(row.distribution));
    context["row"] = row.row;
  }
  const json described = {{"methods", std::move(methods)}, {"rows", std::move(contexts)}};
  data["distributions"] = data.AddText(described.dump());
}

}  // namespace jprof::reports
