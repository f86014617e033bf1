#include "reports/gate/gate_words.h"

#include <cmath>

#include "model/values/amount.h"
#include "reports/compare/compare.h"
#include "reports/print/units.h"

namespace jprof::reports {
namespace {

constexpr size_t kCallers = 6;

std::string GateValueText(const GateMetric& metric, double value) {
  if (metric.unit == "ns") return value < 0 ? "-" + Duration(-value) : Duration(value);
  return metric.unit.empty() ? fmt::format("{}", model::Rounded(value))
                             : model::AmountIn(metric.unit, value);
}

std::string SignedText(const GateMetric& metric, double value) {
  return (value >= 0 ? "+" : "") + GateValueText(metric, value);
}

// Returns "+1.25 %". A change as small as one call of millions is "+1.2e-05 %".
std::string RelativeText(double share) {
  if (!std::isfinite(share)) return "from 0";
  const double percent = 100 * share;
  const bool is_tiny = percent != 0 && std::abs(percent) < 0.01;
  return is_tiny ? fmt::format("{:+.1e} %", percent) : fmt::format("{:+.2f} %", percent);
}

bool IsExactMetric(const GateMetric& metric) { return metric.kind == GateMetric::Kind::kExact; }

}  // namespace

std::string HeadlineOf(const Verdict& verdict) {
  const size_t all = verdict.conditions.size();
  if (verdict.violated == 0)
    return fmt::format("passed: {}", Counted(all, "condition holds", "conditions hold"));
  return fmt::format("FAILED: {} of {} {} violated", verdict.violated,
                     Counted(all, "condition", "conditions"), verdict.violated == 1 ? "is" : "are");
}

std::string ChangeText(const GateMetric& metric, const GateChange& change) {
  const std::string values =
      GateValueText(metric, change.base.value) + " -> " + GateValueText(metric, change.now.value);
  if (IsExactMetric(metric) && change.absolute.value == 0) return values + " (no change)";
  if (!std::isfinite(change.relative.value))
    return fmt::format("{} ({}, from 0)", values, SignedText(metric, change.absolute.value));
  if (IsExactMetric(metric)) {
    return fmt::format("{} ({}, {})", values, SignedText(metric, change.absolute.value),
                       RelativeText(change.relative.value));
  }
  const std::string high = std::isfinite(change.relative.high) ? RelativeText(change.relative.high)
                                                               : std::string("unknown");
  return fmt::format("{} ({}; 95 %: {} to {})", values, RelativeText(change.relative.value),
                     RelativeText(change.relative.low), high);
}

std::string GrowthText(const GateMetric& metric, const GateChange& change) {
  return SignedText(metric, change.absolute.value);
}

std::string FoundText(const ConditionVerdict& verdict) {
  if (verdict.condition.each == Condition::Each::kNone)
    return ChangeText(*verdict.metric, verdict.change);
  const bool by_method = verdict.condition.each == Condition::Each::kMethod;
  return fmt::format("{} of {}", verdict.violating,
                     by_method ? Counted(verdict.compared, "method", "methods")
                               : Counted(verdict.compared, "context", "contexts"));
}

std::string NameText(const GateReport& report, const GateItem& item) {
  const model::JointTree& tree = report.data.tree;
  if (item.context != model::kNoNode) {
    return item.context == 0 ? "(outside of any method)"
                             : PathText(tree, item.context, kCallers, report.names);
  }
  return Shortened(model::MethodIn(report.names, tree.names[item.name]));
}

std::string RunsText(const GateMetric& metric, const GateVaries::Runs& runs) {
  const std::string least = GateValueText(metric, runs.least);
  return runs.least == runs.most ? least : least + " to " + GateValueText(metric, runs.most);
}

std::vector<std::string> KeptOutTexts(const GateReport& report, const GateKeptOut& kept_out) {
  const GateMetric& metric = *kept_out.metric;
  std::vector<std::string> texts;
  const auto share = [&](double part) { return model::PercentOf(part, kept_out.whole); };
  if (kept_out.inside > 0) {
    texts.push_back(fmt::format(
        "{:.1f} % of the {}: methods of the JDK that the JDK called; to compare them, name them "
        "(of java.util.*)",
        share(kept_out.inside), metric.name));
  }
  if (kept_out.linking > 0) {
    texts.push_back(fmt::format("{:.1f} % of the {}: loading, linking and initialising classes",
                                share(kept_out.linking), metric.name));
  }
  const double jvm = report.data.sides[0].jvm_calls;
  if (metric.name == "calls" && jvm > 0) {
    texts.push_back(fmt::format("{:.0f} calls on threads of the JVM, such as Finalizer",
                                jvm / static_cast<double>(report.data.sides[0].counted_runs)));
  }
  if (kept_out.is_unknown()) {
    texts.push_back(fmt::format(
        "{} that vary from run to run are not known: a profile has one counted run (jprof profile "
        "--runs 3 --save NAME makes three)",
        metric.name));
  } else if (kept_out.varies.empty()) {
    texts.push_back(fmt::format("no {} of the program vary from run to run ({} and {} runs)",
                                metric.name, metric.runs[0].size(), metric.runs[1].size()));
  } else {
    texts.push_back(
        fmt::format("{:.1f} % of the {}: {} of {} vary from run to run:", share(kept_out.varying),
                    metric.name, Counted(kept_out.varying_contexts, "context", "contexts"),
                    Counted(kept_out.varies.size(), "method", "methods")));
  }
  return texts;
}

}  // namespace jprof::reports
