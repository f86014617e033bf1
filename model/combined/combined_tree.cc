#include "model/combined/combined_tree.h"

#include <utility>

#include "profile/files/cut_stack.h"

namespace jprof::model {

const CombinedTreeBuilder::Name& CombinedTreeBuilder::NameOf(Forest& forest,
                                                             profile::MethodId method) {
  const uint32_t index = IndexOf(method);
  const bool overflow = method == profile::kOverflowMethod;
  if (index >= name_of_.size() && !overflow) name_of_.resize(size_t{index} + 1);
  static thread_local Name overflow_name;
  Name& name = overflow ? (overflow_name = Name{}) : name_of_[index];
  if (name.known) return name;
  name.known = true;
  name.is_java = overflow || (forest.names.Parts(method).flags & profile::kMethodNotJava) == 0;
  std::string text(forest.names.Of(method));
  if (name.is_java && !overflow) {
    text = ComparableName(forest.names.Parts(method), text, builds_);
    name.generated = text.empty();
    if (name.generated) return name;
  }
  name.cuts = profile::StandsForOuterFrames(text);
  AddName(text, name);
  return name;
}

void CombinedTreeBuilder::AddName(const std::string& text, Name& name) {
  const auto [entry, is_new] = names_.try_emplace(text, static_cast<uint32_t>(tree_.names.size()));
  if (is_new) tree_.names.push_back(text);
  name.id = entry->second;
  if (!name.is_java) return;
  const size_t signature = text.find('(');
  if (signature == std::string::npos) {
    const auto found = overloads_.find(text);
    if (found != overloads_.end()) name.overloads = &found->second;
  } else if (is_new) {
    overloads_[text.substr(0, signature)].push_back(name.id);
  }
}

// Returns the name with a signature that a method without one has below `parent`: the only one, or
// the only one that is called there. Returns the name itself if that is not known.
CombinedTreeBuilder::Name CombinedTreeBuilder::Overload(NodeIndex parent, const Name& name) {
  Name found = name;
  if (name.overloads == nullptr) return found;
  if (!called_) {
    called_.emplace();
    for (NodeIndex at = 1; at < tree_.contexts.size(); ++at)
      (*called_)[uint64_t{tree_.contexts[at].parent} << 32 | tree_.contexts[at].name] = at;
  }
  size_t matches = 0;
  for (const uint32_t id : *name.overloads) {
    const uint64_t key = uint64_t{parent} << 32 | id;
    const bool is_called = called_->Get(key, FlatMap::kNone) != FlatMap::kNone;
    if (!is_called && name.overloads->size() > 1) continue;
    found.id = id;
    ++matches;
  }
  return matches == 1 ? found : name;
}

NodeIndex CombinedTreeBuilder::Append(NodeIndex parent, const Name& name) {
  const auto index = static_cast<NodeIndex>(tree_.contexts.size());
  CombinedContext& context = tree_.contexts.emplace_back();
  context.name = name.id;
  context.parent = parent;
  context.level = tree_.contexts[parent].level + 1;
  context.is_java = name.is_java;
  return index;
}

// Returns the child of that name, or the context of that name on the path to `parent`.
NodeIndex CombinedTreeBuilder::Child(NodeIndex parent, const Name& name) {
  const NodeIndex child = children_.Child(tree_.contexts, parent, name.id);
  if (child != tree_.contexts.size()) return child;
  for (NodeIndex at = parent; at != 0; at = tree_.contexts[at].parent) {
    if (tree_.contexts[at].name != name.id) continue;
    children_.Set(parent, name.id, at);
    return at;
  }
  return Append(parent, name);
}

CombinedTreeBuilder::Place CombinedTreeBuilder::PlaceOf(Forest& forest, NodeIndex row,
                                                        const std::vector<Place>& places) {
  const Row& at = forest.rows.rows[row];
  if (at.parent == kNoNode) return {};
  const Place& parent = places[at.parent];
  const Name& name = NameOf(forest, at.method);
  if (name.generated) return {parent.java, parent.java, true};
  if (!name.is_java) {
    const NodeIndex context = Child(parent.context, name);
    return {context, name.cuts ? context : parent.java, false};
  }
  const NodeIndex context = Child(parent.java, Overload(parent.java, name));
  return {context, context, false};
}

void CombinedTreeBuilder::Vote(NodeIndex context, char type, double samples, uint64_t calls) {
  votes_.resize(tree_.contexts.size());
  Votes& best = votes_[context];
  if (std::pair(samples, calls) <= std::pair(best.samples, best.calls)) return;
  best = {samples, calls};
  tree_.contexts[context].type = type;
}

template <typename Has, typename Visit>
std::vector<NodeIndex> CombinedTreeBuilder::AddRows(Forest& forest, const Has& has,
                                                    const Visit& visit) {
  name_of_.assign(forest.names.size(), {});
  called_.reset();
  const auto size = static_cast<NodeIndex>(forest.rows.rows.size());
  std::vector<Place> places(size);
  std::vector<NodeIndex> contexts(size);
  for (NodeIndex i = 0; i < size; ++i) {
    if (!has(i)) continue;
    places[i] = PlaceOf(forest, i, places);
    contexts[i] = places[i].folded ? kNoNode : places[i].context;
    visit(i, places[i]);
  }
  return contexts;
}

// Visits the rows depth first: a row whose context is on the path already is an inner call.
void CombinedTreeBuilder::FindRecursion(const Forest& forest, bool counted,
                                        const std::vector<NodeIndex>& contexts) {
  const std::vector<Row>& rows = forest.rows.rows;
  std::vector<uint32_t> on_path(tree_.contexts.size());
  const auto counts = [&](NodeIndex row) { return contexts[row] != kNoNode && contexts[row] != 0; };
  const auto enter = [&](NodeIndex at) {
    if (counts(at) && on_path[contexts[at]]++ > 0) {
      tree_.contexts[contexts[at]].recursive = true;
      tree_.contexts[contexts[at]].inner_calls += counted ? rows[at].calls : 0;
    }
    return true;
  };
  const auto leave = [&](NodeIndex at) {
    if (counts(at)) --on_path[contexts[at]];
  };
  for (const NodeIndex root : forest.rows.roots) VisitNodes(rows, root, enter, leave);
}

std::vector<NodeIndex> CombinedTreeBuilder::AddCounted(Forest& forest, size_t time_metric) {
  tree_.has_times = time_metric != kNoMetric;
  const auto every = [](NodeIndex) { return true; };
  auto contexts = AddRows(forest, every, [&](NodeIndex index, const Place& place) {
    const Row& row = forest.rows.rows[index];
    CombinedContext& context = tree_.contexts[place.context];
    if (tree_.has_times) {
      const double scale = forest.metrics[time_metric].info.scale;
      const Cell& cell = forest.rows.cell(index, time_metric);
      context.counted_ns += cell.base() * scale;
      context.counted_error += cell.error * scale;
    }
    context.counted = true;
    if (place.folded) {
      tree_.folded.calls += row.calls;
    } else {
      context.calls += row.calls;
      Vote(place.context, forest.names.LetterOf(row.method, row.type, false), -0.5, row.calls);
    }
  });
  FindRecursion(forest, /*counted=*/true, contexts);
  return contexts;
}

std::vector<NodeIndex> CombinedTreeBuilder::AddSampled(Forest& forest, size_t run, size_t metric,
                                                       double period_ns) {
  tree_.period_ns.resize(tree_.runs);
  tree_.period_ns[run] = period_ns;
  const std::vector<double> all = Cumulative(forest.rows, metric);
  const auto has_samples = [&](NodeIndex index) { return all[index] > 0; };
  auto contexts = AddRows(forest, has_samples, [&](NodeIndex index, const Place& place) {
    const Row& row = forest.rows.rows[index];
    const auto samples = static_cast<double>(forest.rows.cell(index, metric).raw);
    tree_.samples.resize(tree_.contexts.size() * tree_.runs);
    tree_.samples[place.context * tree_.runs + run] += samples;
    tree_.contexts[place.context].sampled = true;
    if (place.folded) {
      tree_.folded.samples += samples;
    } else {
      Vote(place.context, forest.names.LetterOf(row.method, row.type, false), samples, 0);
    }
  });
  FindRecursion(forest, /*counted=*/false, contexts);
  return contexts;
}

std::vector<NodeIndex> CombinedTreeBuilder::Match(Forest& forest) {
  return AddRows(
      forest, [](NodeIndex) { return true; }, [](NodeIndex, const Place&) {});
}

void CombinedTreeBuilder::SumUp() {
  const size_t runs = tree_.runs, size = tree_.contexts.size();
  tree_.samples.resize(size * runs);
  tree_.all_samples = tree_.samples;
  for (size_t i = size; i-- > 1;) {  // children come after their parents
    const NodeIndex parent = tree_.contexts[i].parent;
    for (size_t run = 0; run < runs; ++run)
      tree_.all_samples[parent * runs + run] += tree_.all_samples[i * runs + run];
  }
  for (const CombinedContext& context : tree_.contexts)
    tree_.counted_all.push_back(context.counted_ns);
  AddUpNodes(tree_.contexts, tree_.counted_all);
}

CombinedTree CombinedTreeBuilder::Take() {
  LinkNodes(tree_.contexts);
  SumUp();
  return std::move(tree_);
}

}  // namespace jprof::model
