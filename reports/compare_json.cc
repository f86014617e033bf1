// compare, as JSON (docs/REPORTS.md).
#include <algorithm>

#include "reports/compare.h"
#include "reports/json_writer.h"

namespace jprof::reports {
namespace {

// Shares need more digits than JsonWriter::Number has.
void Digits(std::string_view key, double value, JsonWriter& json) {
  json.Key(key);
  json.Precise(value, 8);
}

void PutEstimate(std::string_view key, const Estimate& estimate, JsonWriter& json) {
  json.Key(key);
  json.StartObject();
  Digits("value", estimate.value, json);
  Digits("low", estimate.low, json);
  Digits("high", estimate.high, json);
  json.EndObject();
}

void PutAmount(std::string_view key, const Side& side, const Amount& amount, JsonWriter& json) {
  json.Key(key);
  json.StartObject();
  Digits("value", amount.value, json);
  if (side.counted) Digits("samples", amount.samples, json);
  if (!side.sampled) Digits("error", amount.error, json);
  json.EndObject();
}

void PutSide(const Side& side, const Amount& folded, JsonWriter& json) {
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

void PutPath(const JointTree& tree, uint32_t context, JsonWriter& json) {
  json.Key("path");
  json.StartArray();
  for (const uint32_t at : tree.PathTo(context)) json.String(tree.names[tree.contexts[at].name]);
  json.EndArray();
}

void PutMethod(const FlatAndContext& flat, const HotMethod& method, JsonWriter& json) {
  json.StartRow();
  json.Member("name", flat.tree.names[method.name]);
  PutEstimate("self", method.self, json);
  PutEstimate("cumulative", method.all, json);
  json.Key("contexts");
  json.StartArray();
  for (const Part& part : method.parts) {
    json.StartRow();
    PutEstimate("share", part.share, json);
    PutPath(flat.tree, part.context, json);
    json.EndObject();
  }
  json.EndArray();
  json.Member("other_contexts", method.other_parts);
  Digits("other_share", method.other_share, json);
  json.EndObject();
}

void PutMethods(std::string_view key, const FlatAndContext& flat,
                const std::vector<HotMethod>& methods, JsonWriter& json) {
  json.Key(key);
  json.StartArray();
  for (const HotMethod& method : methods) PutMethod(flat, method, json);
  json.EndArray();
}

void PutDifference(const Difference& difference, JsonWriter& json) {
  PutEstimate("a", difference.a, json);
  PutEstimate("b", difference.b, json);
  PutEstimate("change", difference.change, json);
  json.Member("within_error", difference.within);
}

void PutDifferences(const Comparison& comparison, const std::array<Amount, 2>& self,
                    const std::array<Amount, 2>& all, JsonWriter& json) {
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
  const JointTree& tree = comparison.tree;
  json.Key("contexts");
  json.StartArray();
  for (size_t i = 0; i < std::min(most, comparison.contexts.size()); ++i) {
    const uint32_t id = comparison.contexts[i].id;
    json.StartRow();
    PutPath(tree, id, json);
    PutDifferences(comparison, tree.contexts[id].self, tree.contexts[id].all, json);
    json.EndObject();
  }
  json.EndArray();
}

void PutMethods(const Comparison& comparison, size_t most, JsonWriter& json) {
  const JointTree& tree = comparison.tree;
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

}  // namespace

void PrintJson(const FlatAndContext& flat, const CompareOptions&, Output& out) {
  JsonWriter json(out);
  json.StartObject();
  json.Member("report", "compare");
  json.Key("profiles");
  json.StartArray();
  PutSide(flat.side, {}, json);
  json.EndArray();
  PutMethods("methods", flat, flat.by_self, json);
  PutMethods("cumulative_methods", flat, flat.by_all, json);
  PutMethods("small_flat_large_with_callees", flat, flat.hidden, json);
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
  json.Member("absolute", comparison.absolute);
  json.Member("contexts_compared", comparison.contexts.size());
  json.Member("contexts_beyond_error", comparison.contexts_beyond);
  json.Member("methods_compared", comparison.methods.size());
  json.Member("methods_beyond_error", comparison.methods_beyond);
  PutTop(comparison.top, json);
  PutContexts(comparison, options.top, json);
  PutMethods(comparison, options.top, json);
  json.EndObject();
  json.Finish();
}

}  // namespace jprof::reports
