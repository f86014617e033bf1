#include "model/tree/live_history.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/shell_word.h"
#include "profile/files/allocation_sample.h"
#include "profile/files/object_metrics.h"

namespace jprof::model {
namespace {

using profile::CallTree;
using profile::MethodId;

MethodId MethodAt(const CallTree& tree, uint32_t record) {
  return profile::MethodOf(tree.ref[record]);
}

// Adds records to the contexts that have their class and path.
class Contexts {
 public:
  Contexts(const CallTree& tree, LiveHistory& history) : tree_(tree), history_(history) {}

  void Add(const profile::LiveRecord& record) {
    LiveContext& context = history_.contexts[PlaceOf(record.node)];
    const auto bytes = static_cast<double>(record.bytes);
    Followed followed = {.first = record.first, .last = record.last};
    if (history_.interval != 0) {
      followed.probability =
          profile::SampledProbability(std::max<uint64_t>(record.bytes, 1), history_.interval);
    }
    followed.value = record.objects;
    context.objects.push_back(followed);
    followed.value = bytes;
    context.bytes.push_back(followed);
  }

 private:
  size_t PlaceOf(uint32_t record) {
    const auto [known, is_new] = place_of_.try_emplace(record, 0);
    if (is_new) known->second = PlaceOfPath(record);
    return known->second;
  }
  size_t PlaceOfPath(uint32_t record) {
    LiveContext context = {.type = MethodAt(tree_, record)};
    for (uint32_t at = tree_.parent[record]; at != profile::kNoRecord; at = tree_.parent[at]) {
      const MethodId method = MethodAt(tree_, at);
      if (method != profile::kRootMethod) context.path.push_back(method);
    }
    const auto [known, is_new] =
        places_.try_emplace({context.type, context.path}, history_.contexts.size());
    if (is_new) history_.contexts.push_back(std::move(context));
    return known->second;
  }

  const CallTree& tree_;
  LiveHistory& history_;
  std::map<uint32_t, size_t> place_of_;  // by record
  std::map<std::pair<MethodId, std::vector<MethodId>>, size_t> places_;
};

// Returns the interval of the samples, or 0 if all objects were counted.
uint64_t IntervalOf(const profile::Meta& meta) {
  const auto estimate = std::ranges::find_if(
      meta.metrics, [](const profile::Metric& metric) { return metric.is_estimate(); });
  return estimate != meta.metrics.end() ? estimate->period.value : 0;
}

}  // namespace

bool LacksSnapshot(const Source& source) {
  return source.reader.header().live_snapshots == 0 &&
         std::ranges::any_of(source.reader.meta().metrics, profile::IsLive);
}

Result<LiveHistory> LoadLive(Source& source) {
  if (LacksSnapshot(source)) {
    return WrongUse(
        "{} has no snapshot of its live objects: the program ended before one was taken; record it "
        "with: jprof objects --live sampled --snapshots 30s -- java ...",
        source.reader.shown());
  }
  auto tree = source.reader.ReadTree();
  if (!tree) return std::unexpected(tree.error());
  if (tree->live_times.empty()) {
    return WrongUse(
        "{} has no live objects; record them with: jprof objects --live sampled -- "
        "java ...",
        source.reader.shown());
  }
  LiveHistory history = {.names = Names(source.reader),
                         .interval = IntervalOf(source.reader.meta())};
  for (const uint64_t ns : tree->live_times) history.times.push_back(static_cast<double>(ns) / 1e9);
  if (std::ranges::adjacent_find(history.times, std::greater_equal()) != history.times.end())
    return Fail("{}: the times of its snapshots are damaged", source.reader.shown());
  Contexts contexts(*tree, history);
  for (const profile::LiveRecord& record : tree->live) contexts.Add(record);
  return history;
}

LiveNow::LiveNow(const LiveHistory& history) {
  const auto last = static_cast<uint32_t>(history.times.size());
  const auto exists = [last](const Followed& object) { return object.last >= last; };
  for (const LiveContext& context : history.contexts) {
    if (std::ranges::none_of(context.objects, exists)) continue;
    const MethodId method = context.path.empty() ? profile::kRootMethod : context.path.front();
    for (const Key& key : {Key(context.type, std::nullopt), Key(context.type, method)}) {
      Sums& sums = sums_.try_emplace(key, Sums{LiveSum(last), LiveSum(last)}).first->second;
      for (const Followed& object : context.objects) sums.objects.Add(object);
      for (const Followed& object : context.bytes) sums.bytes.Add(object);
    }
  }
}

const LiveNow::Sums* LiveNow::Find(const Key& key) const {
  const auto found = sums_.find(key);
  return found != sums_.end() ? &found->second : nullptr;
}

}  // namespace jprof::model
