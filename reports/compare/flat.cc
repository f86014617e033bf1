// Compares the flat profile with the calling contexts.
#include <algorithm>
#include <array>
#include <optional>

#include "reports/compare/compare.h"
#include "reports/compare/greatest.h"

namespace jprof::reports {
namespace {

bool IsOutermost(const model::JointTree& tree, model::NodeIndex context) {
  const uint32_t name = tree.contexts[context].name;
  for (model::NodeIndex at = tree.contexts[context].parent; at != 0;
       at = tree.contexts[at].parent) {
    if (tree.contexts[at].name == name) return false;
  }
  return true;
}

// The amounts of contexts and of methods by which a list is sorted.
struct By {
  std::array<model::Amount, 2> model::Context::*context;
  std::array<model::Amount, 2> model::JointMethod::*method;
  bool outermost;  // only the outermost calls of a recursion, which include the others
};
constexpr By kBySelf = {&model::Context::self, &model::JointMethod::self, false};
constexpr By kByAll = {&model::Context::all, &model::JointMethod::all, true};

class FlatLists {
 public:
  FlatLists(FlatAndContext& flat, size_t top) : flat_(flat), tree_(flat.tree), top_(top) {}

  std::vector<HotMethod> Hottest(const By& by) {
    const auto names = Greatest(tree_.methods.size(), 0, top_, [&](uint32_t name) {
      return (tree_.methods[name].*by.method)[0].value;
    });
    std::vector<HotMethod> hot;
    for (const uint32_t name : names) hot.push_back(Method(name));
    AddParts(by, hot);
    return hot;
  }

  // Returns methods whose exclusive share is at most a tenth of the inclusive one, which is at
  // least 5 % of the whole.
  std::vector<HotMethod> Hidden() {
    const auto names = Greatest(tree_.methods.size(), 0, top_, [&](uint32_t name) {
      const HotMethod method = Method(name);
      const bool is_hidden = method.self.high < method.all.low / 10 && method.all.value >= 0.05;
      return is_hidden ? method.all.value : 0;
    });
    std::vector<HotMethod> hidden;
    for (const uint32_t name : names) hidden.push_back(Method(name));
    return hidden;
  }

 private:
  HotMethod Method(uint32_t name) const {
    const model::JointMethod& method = tree_.methods[name];
    const model::Amount& inside = flat_.side.inside;
    return {.name = name,
            .self = ShareOf(flat_.side, method.self[0], inside),
            .all = ShareOf(flat_.side, method.all[0], inside)};
  }

  void AddParts(const By& by, std::vector<HotMethod>& hot) {
    std::vector<HotMethod*> wanted(tree_.methods.size());
    for (HotMethod& method : hot) wanted[method.name] = &method;
    for (model::NodeIndex i = 1; i < tree_.contexts.size(); ++i) {
      const model::Context& context = tree_.contexts[i];
      HotMethod* method = wanted[context.name];
      const model::Amount& part = (context.*by.context)[0];
      if (method == nullptr || part.value == 0 || (by.outermost && !IsOutermost(tree_, i)))
        continue;
      const model::Amount& whole = (tree_.methods[context.name].*by.method)[0];
      method->parts.push_back({i, ShareOf(flat_.side, part, whole)});
    }
    for (HotMethod& method : hot) KeepGreatest(method);
  }

  void KeepGreatest(HotMethod& method) {
    std::ranges::stable_sort(method.parts, [](const Part& a, const Part& b) {
      return Finite(a.share.value) > Finite(b.share.value);
    });
    const size_t kept = std::min(method.parts.size(), top_);
    method.other_parts = method.parts.size() - kept;
    for (size_t i = kept; i < method.parts.size(); ++i)
      method.other_share += method.parts[i].share.value;
    method.parts.resize(kept);
  }

  FlatAndContext& flat_;
  const model::JointTree& tree_;
  size_t top_;
};

}  // namespace

Result<FlatAndContext> CompareWithin(model::Source& source, const CompareOptions& options) {
  Result<model::Forest> forest = LoadSide(source, options.metric);
  if (!forest) return std::unexpected(forest.error());
  FlatAndContext flat;
  flat.side = SideOf(source, *forest);
  model::JointTreeBuilder builder(/*folded=*/std::nullopt);
  builder.Add(*forest, 0);
  flat.tree = builder.Take();
  MeasureSide(flat.tree, 0, flat.side);
  if (auto good = CheckSide(flat.side); !good) return std::unexpected(good.error());
  FlatLists lists(flat, options.top);
  flat.by_self = lists.Hottest(kBySelf);
  flat.by_all = lists.Hottest(kByAll);
  flat.hidden = lists.Hidden();
  return flat;
}

}  // namespace jprof::reports
