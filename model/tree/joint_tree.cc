#include "model/tree/joint_tree.h"

#include <algorithm>

#include "profile/files/class_name.h"
#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

constexpr uint32_t kUnnamed = 0xffffffffu;
constexpr uint32_t kFolded = 0xfffffffeu;

// Frames that only the VM knows of. The same call may have them or not, depending on how it was
// linked and compiled.
constexpr std::string_view kMadeUp[] = {
    "java/lang/invoke/LambdaForm$", "java/lang/invoke/Invokers$Holder",
    "java/lang/invoke/DirectMethodHandle$Holder", "java/lang/invoke/DelegatingMethodHandle$Holder"};

bool IsMadeUp(std::string_view class_name) {
  return std::ranges::any_of(kMadeUp,
                             [&](std::string_view p) { return class_name.starts_with(p); });
}

}  // namespace

Amount AmountOf(const Forest& forest, size_t row) {
  const MetricTotals& column = forest.metrics[0];
  const Cell& cell = forest.rows.cell(row, 0);
  const bool counted = column.counts == 0;
  const double scale = counted && column.info.period.value > 0
                           ? static_cast<double>(column.info.period.value)
                           : column.info.scale;
  Amount amount = {.value = cell.base() * scale};
  if (!column.info.is_samples()) amount.error = cell.error * scale;
  if (column.counts != MetricTotals::kNoCounts) {
    amount.samples = static_cast<double>(forest.rows.cell(row, column.counts).raw);
  }
  return amount;
}

Amount& Amount::operator+=(const Amount& other) {
  value += other.value;
  samples += other.samples;
  error += other.error;
  return *this;
}

std::string ComparableName(const profile::MethodName& parts, std::string_view name, Builds builds,
                           uint16_t folded) {
  if (parts.flags & folded) return {};
  if (parts.flags & profile::kMethodNotJava) return std::string(name);
  if (IsMadeUp(parts.class_name)) return {};
  const std::string_view kept = profile::Unnumbered(parts.class_name);
  const std::string_view method =
      builds == Builds::kSeveral ? profile::UnnumberedLambda(parts.name) : parts.name;
  if (kept.size() == parts.class_name.size() && method.size() == parts.name.size())
    return std::string(name);
  return profile::CleanText(kept) + "." + profile::CleanText(method) +
         profile::CleanText(parts.signature);
}

std::vector<NodeIndex> JointTree::PathTo(NodeIndex context) const {
  std::vector<NodeIndex> path;
  for (; context != 0; context = contexts[context].parent) path.push_back(context);
  std::ranges::reverse(path);
  return path;
}

uint32_t JointTreeBuilder::NameOf(Forest& forest, profile::MethodId method) {
  uint32_t odd = kUnnamed;
  const uint32_t index = IndexOf(method);
  uint32_t& known = index < name_of_.size() ? name_of_[index] : odd;
  if (known != kUnnamed) return known;
  const bool overflow = method == profile::kOverflowMethod;
  std::string name(forest.names.Of(method));
  if (folded_) {
    name = overflow ? ""
                    : ComparableName(forest.names.Parts(method), name, Builds::kSeveral, *folded_);
  }
  if (name.empty()) return known = kFolded;
  const auto [entry, is_new] = names_.try_emplace(name, static_cast<uint32_t>(tree_.names.size()));
  if (is_new) tree_.names.push_back(name);
  return known = entry->second;
}

NodeIndex JointTreeBuilder::Child(NodeIndex parent, uint32_t name) {
  const NodeIndex child = children_.Child(tree_.contexts, parent, name);
  if (child == tree_.contexts.size()) {
    Context& context = tree_.contexts.emplace_back();
    context.name = name;
    context.parent = parent;
    context.level = tree_.contexts[parent].level + 1;
  }
  return child;
}

void JointTreeBuilder::Add(Forest& forest, size_t side) {
  name_of_.assign(forest.names.size(), kUnnamed);
  const std::vector<Row>& rows = forest.rows.rows;
  std::vector<NodeIndex> context_of(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const Amount amount = AmountOf(forest, i);
    const NodeIndex parent = rows[i].parent == kNoNode ? 0 : context_of[rows[i].parent];
    const uint32_t name = rows[i].parent == kNoNode ? kUnnamed : NameOf(forest, rows[i].method);
    if (name == kFolded && parent != 0) tree_.folded[side] += amount;
    context_of[i] = name == kFolded || name == kUnnamed ? parent : Child(parent, name);
    tree_.contexts[context_of[i]].self[side] += amount;
    tree_.context_of_row[side].push_back(name < kFolded ? context_of[i] : kNoNode);
    if (name >= kFolded) continue;
    tree_.methods.resize(tree_.names.size());
    tree_.methods[name].in |= static_cast<uint8_t>(1 << side);
  }
}

void JointTreeBuilder::SumUp() {
  for (size_t i = tree_.contexts.size(); i-- > 0;) {  // children come after their parents
    Context& context = tree_.contexts[i];
    for (size_t side = 0; side < 2; ++side) {
      context.all[side] += context.self[side];
      if (i != 0) tree_.contexts[context.parent].all[side] += context.all[side];
    }
  }
}

// Visits the contexts depth first, to know whether a method is inside itself.
void JointTreeBuilder::SumMethods() {
  std::vector<uint32_t> on_path(tree_.names.size());
  const std::vector<Context>& contexts = tree_.contexts;
  const auto enter = [&](NodeIndex at) {
    if (at == 0) return true;
    JointMethod& method = tree_.methods[contexts[at].name];
    ++method.contexts;
    const bool outermost = on_path[contexts[at].name]++ == 0;
    for (size_t side = 0; side < 2; ++side) {
      method.self[side] += contexts[at].self[side];
      if (outermost) method.all[side] += contexts[at].all[side];
    }
    return true;
  };
  VisitNodes(contexts, 0, enter, [&](NodeIndex at) {
    if (at != 0) --on_path[contexts[at].name];
  });
}

JointTree JointTreeBuilder::Take() {
  LinkNodes(tree_.contexts);
  SumUp();
  SumMethods();
  return std::move(tree_);
}

}  // namespace jprof::model
