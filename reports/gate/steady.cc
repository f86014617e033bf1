#include "reports/gate/steady.h"

#include <algorithm>

#include "reports/gate/verdict.h"

namespace jprof::reports {
namespace {

using model::NodeIndex;

bool AreSteady(const std::vector<double>& values) {
  return std::ranges::adjacent_find(values, std::not_equal_to()) == values.end();
}

}  // namespace

Steady::Steady(const GateData& data, const GateMetric& metric)
    : data_(data), metric_(metric), varies_(data.tree.contexts.size()) {
  for (NodeIndex i = 1; i < varies_.size(); ++i) {
    const NodeIndex caller = data.tree.contexts[i].parent;
    varies_[i] = varies_[caller] && data.jvm_calls[caller] == JvmCall::kNone;
    for (const auto& runs : metric.runs) {
      for (const RunValues& run : runs)
        if (run.values[i] != runs.front().values[i]) varies_[i] = true;
    }
  }
}

std::vector<Steady::MethodRuns> Steady::ByMethod(const std::vector<bool>& selected) const {
  std::vector<MethodRuns> methods(data_.tree.names.size());
  for (NodeIndex i = 1; i < varies_.size(); ++i) {
    if (!selected[i] || !varies_[i]) continue;
    MethodRuns& method = methods[data_.tree.contexts[i].name];
    ++method.contexts;
    for (size_t side = 0; side < 2; ++side) {
      method.runs[side].resize(metric_.runs[side].size());
      for (size_t run = 0; run < metric_.runs[side].size(); ++run)
        method.runs[side][run] += metric_.runs[side][run].values[i];
    }
  }
  return methods;
}

Steady::Moved Steady::MovedOf(const std::vector<bool>& selected) const {
  Moved moved;
  const std::vector<MethodRuns> methods = ByMethod(selected);
  for (uint32_t name = 0; name < methods.size(); ++name) {
    const auto& runs = methods[name].runs;
    if (methods[name].contexts > 0 && AreSteady(runs[0]) && AreSteady(runs[1]))
      moved.push_back({name, {runs[0].front(), runs[1].front()}});
  }
  return moved;
}

double Steady::MeanOfBase(NodeIndex context) const {
  double sum = 0;
  for (const RunValues& run : metric_.runs[0]) sum += run.values[context];
  return sum / static_cast<double>(metric_.runs[0].size());
}

GateKeptOut Steady::KeptOut() const {
  GateKeptOut kept_out = {.metric = &metric_, .varies = {}};
  std::vector<bool> of_program(varies_.size());
  for (NodeIndex i = 1; i < varies_.size(); ++i) {
    const double value = MeanOfBase(i);
    kept_out.whole += value;
    if (data_.jvm_calls[i] == JvmCall::kInside) kept_out.inside += value;
    if (data_.jvm_calls[i] == JvmCall::kLinking) kept_out.linking += value;
    of_program[i] = data_.jvm_calls[i] == JvmCall::kNone;
  }
  const std::vector<MethodRuns> methods = ByMethod(of_program);
  for (uint32_t name = 0; name < methods.size(); ++name) {
    const MethodRuns& method = methods[name];
    if (method.contexts == 0 || (AreSteady(method.runs[0]) && AreSteady(method.runs[1]))) continue;
    GateVaries& varies = kept_out.varies.emplace_back(
        GateVaries{.name = name, .contexts = method.contexts, .runs = {}});
    for (size_t side = 0; side < 2; ++side) {
      const auto [least, most] = std::ranges::minmax(method.runs[side]);
      varies.runs[side] = {least, most};
    }
    kept_out.varying_contexts += method.contexts;
    for (const double value : method.runs[0])
      kept_out.varying += value / static_cast<double>(method.runs[0].size());
  }
  std::ranges::stable_sort(kept_out.varies, std::greater(), [](const GateVaries& varies) {
    return std::max(varies.runs[0].most - varies.runs[0].least,
                    varies.runs[1].most - varies.runs[1].least);
  });
  return kept_out;
}

}  // namespace jprof::reports
