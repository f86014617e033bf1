#include "profile/reader_meta.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "profile/reader_text.h"

namespace jprof::profile {
namespace {

using nlohmann::json;

const json& At(const json& object, const char* name) {
  static const json kNothing;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : kNothing;
}

std::string Text(const json& value) {
  return value.is_string() ? CleanText(value.get_ref<const std::string&>()) : std::string();
}

double Number(const json& value, double otherwise) {
  return value.is_number() ? value.get<double>() : otherwise;
}

MetricInfo ParseMetric(const json& value, Damages& damages) {
  MetricInfo metric;
  metric.name = Text(At(value, "name"));
  metric.unit = Text(At(value, "unit"));
  metric.scale = Number(At(value, "scale"), 0);
  const std::string kind = Text(At(value, "kind"));
  metric.is_time = kind == "time";
  metric.is_weighted = kind == "weighted";
  metric.is_samples = metric.is_weighted || kind == "samples";
  metric.period = Number(At(value, "period"), 0);
  metric.period_unit = Text(At(value, "period_unit"));
  if (metric.name.empty()) metric.name = "unnamed";
  if (!(metric.scale > 1e-12 && metric.scale < 1e12)) {
    damages.Add("meta.json: a metric has no usable scale: its raw values are printed", metric.name);
    metric.scale = 1;
  }
  return metric;
}

}  // namespace

Meta ParseMeta(std::string_view text, Damages& damages) {
  Meta meta;
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) {
    damages.Add("meta.json: missing or no JSON: command, metric names and units are unknown");
    return meta;
  }
  meta.jprof = Text(At(root, "jprof"));
  meta.mode = Text(At(root, "mode"));
  const json& pid = At(root, "pid");
  if (pid.is_number_unsigned()) meta.pid = pid.get<uint64_t>();
  if (At(root, "command").is_array()) {
    for (const json& word : At(root, "command")) meta.command.push_back(Text(word));
  }
  meta.start = Text(At(root, "start"));
  const json& options = At(root, "options");
  meta.options = Text(At(options, "text"));
  const json& fold = At(options, "fold_recursion");
  meta.fold_recursion = fold.is_boolean() && fold.get<bool>();
  meta.trace_mode = Text(At(options, "trace_mode"));
  if (At(root, "metrics").is_array()) {
    for (const json& metric : At(root, "metrics")) meta.metrics.push_back(ParseMetric(metric, damages));
  }
  meta.probe = Text(At(At(root, "probe"), "kind"));
  meta.probe_note = Text(At(At(root, "probe"), "note"));
  meta.bracket_period = Number(At(At(root, "clock"), "bracket_period"), 0);
  meta.bracket_ticks = Number(At(At(root, "clock"), "bracket_ticks"), 0);
  const json& jvm = At(root, "jvm");
  meta.jvm = Text(At(jvm, "name")) + " " + Text(At(jvm, "version"));
  if (meta.jvm == " ") meta.jvm.clear();
  const json& fingerprint = At(root, "fingerprint");
  if (fingerprint.is_object()) {
    for (const auto& [name, value] : fingerprint.items()) meta.fingerprint[name] = Text(value);
  }
  return meta;
}

}  // namespace jprof::profile
