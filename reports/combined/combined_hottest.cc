#include "reports/combined/combined_hottest.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "reports/print/units.h"

namespace jprof::reports {
namespace {

struct Sum {
  double samples = 0;
  uint64_t calls = 0;
  bool is_java = true;
  std::unordered_map<uint32_t, double> by_caller;  // samples, by the caller's name
};

std::vector<Sum> SumsByName(const model::CombinedTree& tree) {
  const auto& contexts = tree.contexts;
  const std::vector<model::NodeIndex> callers = model::AttributedCallers(
      contexts, [&](model::NodeIndex i) { return contexts[i].is_java; },
      [&](model::NodeIndex a, model::NodeIndex b) { return contexts[a].name == contexts[b].name; });
  std::vector<Sum> sums(tree.names.size());
  for (size_t i = 1; i < tree.contexts.size(); ++i) {
    const model::CombinedContext& context = tree.contexts[i];
    const double own = model::Sum(tree.OwnSamples(i));
    Sum& sum = sums[context.name];
    sum.samples += own;
    sum.calls += context.calls;
    sum.is_java = context.is_java;
    const model::NodeIndex caller = callers[i];
    if (caller != 0 && caller != model::kNoNode) sum.by_caller[tree.contexts[caller].name] += own;
  }
  return sums;
}

std::string NameIn(model::NameForm form, const model::CombinedTree& tree, uint32_t name,
                   bool is_java) {
  return is_java ? model::MethodIn(form, tree.names[name]) : tree.names[name];
}

}  // namespace

std::vector<Hottest> HottestOf(const model::CombinedView& view, const Options& options) {
  const model::CombinedTree& tree = view.tree;
  const std::vector<Sum> sums = SumsByName(tree);
  std::vector<uint32_t> order(sums.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(
      order, [&](uint32_t a, uint32_t b) { return sums[a].samples > sums[b].samples; });
  const double whole = model::Sum(tree.AllSamples(0));
  std::vector<Hottest> methods;
  for (const uint32_t name : order) {
    const Sum& sum = sums[name];
    if (methods.size() == kHottest || !(sum.samples > 0)) break;
    Hottest& hot = methods.emplace_back();
    hot.share = 100 * sum.samples / whole;
    hot.name = NameIn(options.names, tree, name, sum.is_java);
    hot.is_java = sum.is_java;
    hot.count = sum.calls > 0 ? Counted(sum.calls, "call", "calls")
                              : Counted(static_cast<uint64_t>(sum.samples), "sample", "samples");
    const auto most = std::ranges::max_element(sum.by_caller, {}, [](const auto& caller) {
      return std::pair(caller.second, ~caller.first);  // the first of equal ones
    });
    if (most == sum.by_caller.end()) continue;
    hot.caller = NameIn(ShortOf(options.names), tree, most->first, sums[most->first].is_java);
    hot.caller_share = most->second / sum.samples;
  }
  return methods;
}

}  // namespace jprof::reports
