// Prints the verdict of a gate as JSON (docs/GATE.md).
#include "reports/gate/gate_words.h"
#include "reports/print/json_writer.h"

namespace jprof::reports {
namespace {

void PutGateEstimate(std::string_view key, const model::Estimate& estimate, JsonWriter& json) {
  json.Key(key);
  json.StartObject();
  json.Key("value");
  json.Shortest(estimate.value);  // null if it is infinite
  json.Key("low");
  json.Shortest(estimate.low);
  json.Key("high");
  json.Shortest(estimate.high);
  json.EndObject();
}

void PutGateChange(const GateChange& change, JsonWriter& json) {
  PutGateEstimate("base", change.base, json);
  PutGateEstimate("new", change.now, json);
  PutGateEstimate("change", change.absolute, json);
  PutGateEstimate("relative_change", change.relative, json);
}

void PutGateItems(std::string_view key, const GateData& data, const std::vector<GateItem>& items,
                  JsonWriter& json) {
  json.Key(key);
  json.StartArray();
  for (const GateItem& item : items) {
    json.StartRow();
    json.Member("name", data.tree.names[item.name]);
    if (item.context != model::kNoNode) {
      std::vector<std::string> path;
      for (const model::NodeIndex at : data.tree.PathTo(item.context))
        path.push_back(data.tree.names[data.tree.contexts[at].name]);
      json.StringsMember("path", path);
    }
    PutGateChange(item.change, json);
    json.EndObject();
  }
  json.EndArray();
}

void PutGateCondition(const GateData& data, const ConditionVerdict& verdict, JsonWriter& json) {
  json.StartRow();
  json.Member("condition", verdict.condition.text);
  json.Member("violated", verdict.violated);
  json.Member("metric", verdict.metric->name);
  json.Member("unit", verdict.metric->unit);
  json.Member("exact", verdict.metric->kind == GateMetric::Kind::kExact);
  if (verdict.condition.each == Condition::Each::kNone) {
    PutGateChange(verdict.change, json);
  } else {
    json.Member("compared", verdict.compared);
    json.Member("violating", verdict.violating);
  }
  PutGateItems("methods", data, verdict.methods, json);
  PutGateItems("contexts", data, verdict.contexts, json);
  json.EndObject();
}

void PutGateKeptOut(const GateData& data, const GateKeptOut& kept_out, JsonWriter& json) {
  json.StartRow();
  json.Member("metric", kept_out.metric->name);
  json.Key("whole");
  json.Shortest(kept_out.whole);
  json.Key("inside_jdk");
  json.Shortest(kept_out.inside);
  json.Key("class_loading");
  json.Shortest(kept_out.linking);
  json.Key("varying");
  json.Shortest(kept_out.varying);
  json.Member("runs_of_base", kept_out.metric->runs[0].size());
  json.Member("runs_of_new", kept_out.metric->runs[1].size());
  json.Key("varying_methods");
  json.StartArray();
  for (const GateVaries& varies : kept_out.varies) {
    json.StartRow();
    json.Member("name", data.tree.names[varies.name]);
    json.Member("contexts", varies.contexts);
    constexpr const char* kKeys[2][2] = {{"base_least", "base_most"}, {"new_least", "new_most"}};
    for (size_t side = 0; side < 2; ++side) {
      json.Key(kKeys[side][0]);
      json.Shortest(varies.runs[side].least);
      json.Key(kKeys[side][1]);
      json.Shortest(varies.runs[side].most);
    }
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace

void PrintGateJson(const GateReport& report, Output& out) {
  JsonWriter json(out);
  json.StartObject();
  json.Member("report", "gate");
  json.Member("passed", report.verdict.violated == 0);
  json.Member("base", report.data.sides[0].directory);
  json.Member("new", report.data.sides[1].directory);
  json.Key("conditions");
  json.StartArray();
  for (const ConditionVerdict& verdict : report.verdict.conditions)
    PutGateCondition(report.data, verdict, json);
  json.EndArray();
  json.Key("kept_out");
  json.StartArray();
  for (const GateKeptOut& kept_out : report.verdict.kept_out)
    PutGateKeptOut(report.data, kept_out, json);
  json.EndArray();
  std::vector<std::string> notes;
  for (const GateSide& side : report.data.sides)
    notes.insert(notes.end(), side.notes.begin(), side.notes.end());
  json.StringsMember("notes", notes);
  json.EndObject();
  json.Finish();
}

}  // namespace jprof::reports
