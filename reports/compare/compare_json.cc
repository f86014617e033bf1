// Prints compare as JSON (docs/REPORTS.md).
#include <algorithm>

#include "reports/compare/compare.h"
#include "reports/print/json_writer.h"

namespace jprof::reports {
namespace {

// Writes a share, which needs more digits than JsonWriter::Number has.
void Digits(std::string_view key, double value, JsonWriter& json) {
  json.Key(key);
  json.Precise(value, 8);
}

void PutEstimate(std::string_view key, const model::Estimate& estimate, JsonWriter& json) {
  json.Key(key);
  json.StartObject();
  Digits("value", estimate.value, json);
  Digits("low", estimate.low, json);
  Digits("high", estimate.high, json);
  json.EndObject();
}

void PutAmount(std::string_view key, const Side& side, const model::Amount& amount,
               JsonWriter& json) {
  json.Key(key);
  json.StartObject();
  Digits("value", amount.value, json);
  if (side.counted) Digits("samples", amount.samples, json);
  if (!side.sampled) Digits("error", amount.error, json);
  json.EndObject();
}

void PutSide(const Side& side, const model::Amount& folded, JsonWriter& json) {
  json.StartRow();
  json.Member("directory", side.directory);
  json.Member("mode", side.mode);
  json.Member("metric", side.metric);
  json.Member("how", side.how);
  json.Member("unit", side.unit);
  json.Member("sampled", side.sampled);
  PutAmount("in_methods", side, side.inside, json);
  PutAmount("outside", side, side.outside, json);
  PutAmount("folded", side, folded, json);
  json.StringsMember("notes", side.notes);
  json.EndObject();
}

// Prints whole paths as long as all paths together do not have many more frames than the tree:
// those of a deep recursion would grow with the square of its depth. After that, only the two ends
// of a long path are printed.
class Paths {
 public:
  explicit Paths(const model::JointTree& tree)
      : tree_(tree), left_(kAlways + 8 * tree.contexts.size()) {}

  void Put(model::NodeIndex context, JsonWriter& json) {
    json.Key("path");
    json.StartArray();
    const uint32_t frames = tree_.contexts[context].level;
    const bool whole = frames <= 2 * kEnds || frames <= left_;
    left_ -= std::min<size_t>(left_, frames);
    const std::vector<model::NodeIndex> path = whole ? tree_.PathTo(context) : Ends(context);
    for (const model::NodeIndex at : path) {
      json.String(at == 0 ? fmt::format("({} more)", frames - 2 * kEnds)
                          : tree_.names[tree_.contexts[at].name]);
    }
    json.EndArray();
  }

 private:
  static constexpr uint32_t kEnds = 16;
  static constexpr size_t kAlways = 10'000;

  // Returns the first and the last frames, with a 0 for those between them.
  std::vector<model::NodeIndex> Ends(model::NodeIndex context) const {
    std::vector<model::NodeIndex> path = tree_.PathTo(context);
    path.erase(path.begin() + kEnds, path.end() - kEnds);
    path.insert(path.begin() + kEnds, 0);
    return path;
  }

  const model::JointTree& tree_;
  size_t left_;  // frames that may still be printed
};

void PutMethod(const FlatAndContext& flat, const HotMethod& method, Paths& paths,
               JsonWriter& json) {
  json.StartRow();
  json.Member("name", flat.tree.names[method.name]);
  PutEstimate("self", method.self, json);
  PutEstimate("cumulative", method.all, json);
  json.Key("contexts");
  json.StartArray();
  for (const Part& part : method.parts) {
    json.StartRow();
    PutEstimate("share", part.share, json);
    paths.Put(part.context, json);
    json.EndObject();
  }
  json.EndArray();
  json.Member("other_contexts", method.other_parts);
  Digits("other_share", method.other_share, json);
  json.EndObject();
}

void PutMethods(std::string_view key, const FlatAndContext& flat,
                const std::vector<HotMethod>& methods, Paths& paths, JsonWriter& json) {
  json.Key(key);
  json.StartArray();
  for (const HotMethod& method : methods) PutMethod(flat, method, paths, json);
  json.EndArray();
}

void PutDifference(const Difference& difference, JsonWriter& json) {
  PutEstimate("a", difference.a, json);
  PutEstimate("b", difference.b, json);
  PutEstimate("change", difference.change, json);
  json.Member("within_error", difference.within);
}

void PutDifferences(const Comparison& comparison, const std::array<model::Amount, 2>& self,
                    const std::array<model::Amount, 2>& all, JsonWriter& json) {
  PutDifference(comparison.Of(self), json);
  json.Key("cumulative");
  json.StartObject();
  PutDifference(comparison.Of(all), json);
  json.EndObject();
}

void PutTop(const TopTen& top, JsonWriter& json) {
  json.Key("top");
  json.StartObject();
  json.Member("size", top.size);
  json.Member("both", top.both);
  json.Member("either", top.either);
  Digits("spearman_a", top.rank_a, json);
  Digits("spearman_b", top.rank_b, json);
  Digits("spearman_either", top.rank_either, json);
  json.EndObject();
}

void PutContexts(const Comparison& comparison, size_t most, JsonWriter& json) {
  const model::JointTree& tree = comparison.tree;
  Paths paths(tree);
  json.Key("contexts");
  json.StartArray();
  for (size_t i = 0; i < std::min(most, comparison.contexts.size()); ++i) {
    const uint32_t id = comparison.contexts[i].id;
    json.StartRow();
    paths.Put(id, json);
    PutDifferences(comparison, tree.contexts[id].self, tree.contexts[id].all, json);
    json.EndObject();
  }
  json.EndArray();
}

void PutMethods(const Comparison& comparison, size_t most, JsonWriter& json) {
  const model::JointTree& tree = comparison.tree;
  json.Key("methods");
  json.StartArray();
  for (size_t i = 0; i < std::min(most, comparison.methods.size()); ++i) {
    const uint32_t id = comparison.methods[i].id;
    json.StartRow();
    json.Member("name", tree.names[id]);
    PutDifferences(comparison, tree.methods[id].self, tree.methods[id].all, json);
    json.EndObject();
  }
  json.EndArray();
}

void PutCallTime(std::string_view key, const model::CallTime& time, JsonWriter& json) {
  json.Key(key);
  json.StartObject();
  Digits("value_ns", time.time, json);
  if (time.vague) Digits("at_most_ns", time.most, json);
  json.EndObject();
}

void PutClock(const ClockChange& clock, JsonWriter& json) {
  constexpr const char* kNames[] = {"p50", "p90", "p99"};
  json.Key(clock.clock);
  json.StartObject();
  for (size_t i = 0; i < clock.quantiles.size(); ++i) {
    const TimeChange& quantile = clock.quantiles[i];
    json.Key(kNames[i]);
    json.StartObject();
    PutCallTime("a", quantile.a, json);
    PutCallTime("b", quantile.b, json);
    PutEstimate("ratio", quantile.ratio, json);
    json.Member("within_error", quantile.within);
    json.EndObject();
  }
  json.Key("mean");
  json.StartObject();
  PutCallTime("a", clock.means[0], json);
  PutCallTime("b", clock.means[1], json);
  json.EndObject();
  json.EndObject();
}

void PutCallChange(const CallChange& change, JsonWriter& json) {
  json.Member("calls_a", change.calls[0]);
  json.Member("calls_b", change.calls[1]);
  for (const ClockChange& clock : change.clocks) PutClock(clock, json);
}

void PutCalls(const Comparison& comparison, size_t most, JsonWriter& json) {
  if (comparison.calls.empty()) return;
  const auto& [contexts, methods] = comparison.calls;
  Paths paths(comparison.tree);
  json.Key("single_calls");
  json.StartObject();
  json.Key("contexts");
  json.StartArray();
  for (size_t i = 0; i < std::min(most, contexts.size()); ++i) {
    json.StartRow();
    paths.Put(contexts[i].id, json);
    PutCallChange(contexts[i], json);
    json.EndObject();
  }
  json.EndArray();
  json.Key("methods");
  json.StartArray();
  for (size_t i = 0; i < std::min(most, methods.size()); ++i) {
    json.StartRow();
    json.Member("name", comparison.tree.names[methods[i].id]);
    PutCallChange(methods[i], json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace

void PrintJson(const FlatAndContext& flat, const CompareOptions&, Output& out) {
  JsonWriter json(out);
  json.StartObject();
  json.Member("report", "compare");
  json.Key("profiles");
  json.StartArray();
  PutSide(flat.side, {}, json);
  json.EndArray();
  JsonQuality(flat.side.quality, json);
  Paths paths(flat.tree);
  PutMethods("methods", flat, flat.by_self, paths, json);
  PutMethods("cumulative_methods", flat, flat.by_all, paths, json);
  PutMethods("small_flat_large_with_callees", flat, flat.hidden, paths, json);
  json.EndObject();
  json.Finish();
}

void PrintJson(const Comparison& comparison, const CompareOptions& options, Output& out) {
  JsonWriter json(out);
  json.StartObject();
  json.Member("report", "compare");
  json.Key("profiles");
  json.StartArray();
  for (size_t side = 0; side < 2; ++side)
    PutSide(comparison.sides[side], comparison.tree.folded[side], json);
  json.EndArray();
  JsonQuality(QualityOfBoth(comparison), json);
  json.Member("absolute", comparison.absolute);
  json.Member("contexts_compared", comparison.contexts.size());
  json.Member("contexts_beyond_error", comparison.contexts_beyond);
  json.Member("methods_compared", comparison.methods.size());
  json.Member("methods_beyond_error", comparison.methods_beyond);
  PutTop(comparison.top, json);
  PutContexts(comparison, options.top, json);
  PutMethods(comparison, options.top, json);
  PutCalls(comparison, options.top, json);
  json.EndObject();
  json.Finish();
}

}  // namespace jprof::reports
