#include <algorithm>

#include "cli/optimize/history_output.h"
#include "cli/optimize/names.h"
#include "cli/shared/json_output.h"
#include "cpo/agents/table.h"

namespace jprof::cli {
namespace {

using reports::JsonWriter;

void ShortestMember(std::string_view key, double value, JsonWriter& json) {
  json.Key(key);
  json.Shortest(value);
}

// Writes the members of a value with its interval.
template <typename Estimate>
void EstimateMembers(const Estimate& estimate, JsonWriter& json) {
  json.Member("figure", estimate.figure);
  ShortestMember("benefit", estimate.value, json);
  ShortestMember("low", estimate.low, json);
  ShortestMember("high", estimate.high, json);
}

template <typename Items, typename Write>
void ArrayMember(std::string_view key, const Items& items, JsonWriter& json, const Write& write) {
  json.Key(key);
  json.StartArray();
  for (const auto& item : items) {
    json.StartObject();
    write(item);
    json.EndObject();
  }
  json.EndArray();
}

void DirectiveMembers(const cpo::Directive& one, JsonWriter& json) {
  json.Member("agent", one.agent);
  json.Member("kind", one.proposal.kind);
  json.Member("key", one.proposal.key);
  json.Member("text", one.proposal.text);
  json.Member("state", NameOf(one.state));
  json.Member("reason", one.reason);
  json.Member("cost", one.proposal.cost);
  json.Member("claims", one.proposal.claim.resource);
  json.Member("amount", one.proposal.claim.amount);
  ArrayMember("predictions", one.proposal.predictions, json,
              [&](const cpo::Prediction& prediction) {
                EstimateMembers(prediction, json);
                json.Member("unit", prediction.unit);
                json.Member("guard", prediction.is_guard);
              });
  ArrayMember("observed", one.validations, json, [&](const cpo::Validation& validation) {
    EstimateMembers(validation, json);
    json.Member("runs", validation.runs);
  });
}

// Writes the keys of the directives that the run tried and applied, or left out.
void TriedMember(std::string_view key, bool applied, const cpo::Run& run,
                 const cpo::History& history, JsonWriter& json) {
  json.Key(key);
  json.StartArray();
  for (const cpo::Directive& one : history.directives) {
    const auto tried = run.tried.find(one.id);
    if (tried != run.tried.end() && tried->second == applied) json.String(one.proposal.key);
  }
  json.EndArray();
}

void RunMembers(const cpo::Run& run, const cpo::History& history, JsonWriter& json) {
  json.Member("number", run.number);
  json.Member("kind", NameOf(run.kind));
  json.Member("state", NameOf(run.state));
  json.Member("agent", run.agent);
  json.Member("compared", run.is_comparable);
  json.Member("exit_code", run.exit_code);
  TriedMember("applied", /*applied=*/true, run, history, json);
  TriedMember("left_out", /*applied=*/false, run, history, json);
  ArrayMember("figures", run.figures, json, [&](const cpo::Figure& figure) {
    json.Member("name", figure.name);
    ShortestMember("value", figure.value, json);
    json.Member("unit", figure.unit);
  });
}

}  // namespace

void WriteOptimizeJson(const std::vector<cpo::History>& histories, JsonWriter& json) {
  json.StartObject();
  ArrayMember("programs", histories, json, [&](const cpo::History& history) {
    json.Member("name", history.key.name);
    json.Member("identity", history.key.identity);
    json.Member("arguments", history.key.arguments);
    ArrayMember("directives", history.directives, json,
                [&](const cpo::Directive& one) { DirectiveMembers(one, json); });
    ArrayMember("runs", history.runs, json,
                [&](const cpo::Run& run) { RunMembers(run, history, json); });
  });
  ArrayMember("agents", cpo::Agents(), json, [&](const cpo::AgentRow& row) {
    json.Member("name", std::string_view(row.text.name));
    json.Member("reads", std::string_view(row.text.reads));
    json.Member("models", std::string_view(row.text.models));
    json.Member("directs", std::string_view(row.text.directs));
    json.Member("validates", std::string_view(row.text.validates));
  });
  json.EndObject();
}

}  // namespace jprof::cli
