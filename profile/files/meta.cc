#include "profile/files/meta.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "profile/files/json_fields.h"
#include "profile/files/layout.h"

namespace jprof::profile {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 6> kKinds = {"time",     "count", "samples",
                                               "weighted", "exact", "estimate"};
constexpr std::array<const char*, 3> kPeriodClocks = {"", "cpu", "elapsed"};

json ToJson(const Metric& metric) {
  json value = {{"name", metric.name},
                {"unit", metric.unit},
                {"scale", metric.scale},
                {"kind", kKinds[static_cast<size_t>(metric.kind)]}};
  if (metric.is_samples() || metric.is_estimate()) {
    value["period"] = metric.period.value;
    value["period_unit"] = metric.period.unit;
    if (metric.period.clock != Period::Clock::kUnknown)
      value["period_clock"] = kPeriodClocks[static_cast<size_t>(metric.period.clock)];
    if (metric.period.asked != 0) value["asked_period"] = metric.period.asked;
  }
  return value;
}

json ToJson(const RecordingOptions& options) {
  return {{"text", options.text},
          {"fold_recursion", options.fold_recursion},
          {"sites", options.sites},
          {"tree_memory", options.tree_memory},
          {"threads", options.threads},
          {"methods", options.methods},
          {"focus", options.focus},
          {"label_from", options.label_from},
          {"distribution", options.distribution},
          {"time_every", options.time_every},
          {"within", options.within},
          {"after", options.after},
          {"begins_paused", options.begins_paused},
          {"slow", options.slow},
          {"trace_mode", options.trace_mode},
          {"trace_memory", options.trace_memory},
          {"slow_memory", options.slow_memory},
          {"train", options.train},
          {"timer", options.timer},
          {"timer_reason", options.timer_reason},
          {"force_rate", options.force_rate},
          {"interrupt_ns", options.interrupt_ns},
          {"tprof", options.tprof},
          {"code", options.code}};
}

json ToJson(const Clock& clock) {
  return {{"source", "tsc"},
          {"ticks_per_second", clock.ticks_per_second},
          {"granularity_ticks", clock.granularity_ticks},
          {"read_ticks", clock.read_ticks},
          {"bracket_ticks", clock.bracket_ticks},
          {"bracket_period", clock.bracket_period}};
}

json ToJson(const Piece& piece) {
  return {{"number", piece.number},
          {"of", piece.of},
          {"begin_s", piece.begin_s},
          {"end_s", piece.end_s},
          {"left_out", piece.left_out}};
}

// Returns the value whose name is `name`, or `otherwise` for other names.
template <typename Enum, size_t n>
Enum ValueOf(const std::array<const char*, n>& names, const std::string& name, Enum otherwise) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? otherwise : static_cast<Enum>(found - names.begin());
}

Metric ParseMetric(const JsonFields& fields, Damages& damages) {
  Metric metric{.name = "unnamed", .scale = 0};
  std::string kind;
  fields.Read("name", metric.name);
  fields.Read("unit", metric.unit);
  fields.Read("scale", metric.scale);
  fields.Read("kind", kind);
  metric.kind = ValueOf(kKinds, kind, Metric::Kind::kCount);
  if (metric.is_samples() || metric.is_estimate()) {
    fields.Read("period", metric.period.value);
    fields.Read("asked_period", metric.period.asked);
    fields.Read("period_unit", metric.period.unit);
    std::string clock;
    fields.Read("period_clock", clock);
    metric.period.clock = ValueOf(kPeriodClocks, clock, Period::Clock::kUnknown);
  }
  if (metric.name.empty()) metric.name = "unnamed";
  if (!(metric.scale > 1e-12 && metric.scale < 1e12)) {
    damages.Add("meta.json: a metric has no usable scale: its raw values are printed", metric.name);
    metric.scale = 1;
  }
  return metric;
}

void Read(const JsonFields& fields, RecordingOptions& options) {
  fields.Read("text", options.text);
  fields.Read("fold_recursion", options.fold_recursion);
  fields.Read("sites", options.sites);
  fields.Read("tree_memory", options.tree_memory);
  fields.Read("threads", options.threads);
  fields.Read("methods", options.methods);
  fields.Read("focus", options.focus);
  fields.Read("label_from", options.label_from);
  options.distribution = fields.Texts("distribution");
  fields.Read("time_every", options.time_every);
  fields.Read("within", options.within);
  fields.Read("after", options.after);
  fields.Read("begins_paused", options.begins_paused);
  options.slow = fields.Texts("slow");
  fields.Read("trace_mode", options.trace_mode);
  fields.Read("trace_memory", options.trace_memory);
  fields.Read("slow_memory", options.slow_memory);
  fields.Read("train", options.train);
  fields.Read("timer", options.timer);
  fields.Read("timer_reason", options.timer_reason);
  fields.Read("force_rate", options.force_rate);
  fields.Read("interrupt_ns", options.interrupt_ns);
  fields.Read("tprof", options.tprof);
  fields.Read("code", options.code);
}

void Read(const JsonFields& fields, Clock& clock) {
  fields.Read("ticks_per_second", clock.ticks_per_second);
  fields.Read("granularity_ticks", clock.granularity_ticks);
  fields.Read("read_ticks", clock.read_ticks);
  fields.Read("bracket_ticks", clock.bracket_ticks);
  fields.Read("bracket_period", clock.bracket_period);
}

void Read(const JsonFields& fields, Machine& machine) {
  fields.Read("cpu", machine.cpu);
  fields.Read("arch", machine.arch);
  fields.Read("kernel", machine.kernel);
  fields.Read("cpus", machine.cpus);
}

void Read(const JsonFields& fields, Jvm& jvm) {
  fields.Read("name", jvm.name);
  fields.Read("version", jvm.version);
  fields.Read("vendor", jvm.vendor);
  fields.Read("home", jvm.home);
  fields.Read("build_id", jvm.build_id);
}

void Read(const JsonFields& fields, Piece& piece) {
  fields.Read("number", piece.number);
  fields.Read("of", piece.of);
  fields.Read("begin_s", piece.begin_s);
  fields.Read("end_s", piece.end_s);
  piece.left_out = fields.Texts("left_out");
}

}  // namespace

std::string Meta::ModeText() const {
  std::string text = mode.empty() ? "unknown mode" : mode;
  if (options.fold_recursion) text += " with folded recursion";
  if (options.time_every > 1) text += fmt::format(", one interval in {} timed", options.time_every);
  return text;
}

double Clock::timer_overhead() const {
  return bracket_period > 1 ? bracket_ticks * (1 - 1 / static_cast<double>(bracket_period)) : 0;
}

std::string Piece::Text() const {
  return fmt::format("piece {} of {}: {:.3f} s to {:.3f} s of the recording", number, of, begin_s,
                     end_s);
}

std::string Jvm::Title() const {
  return name.empty() || version.empty() ? name + version : name + " " + version;
}

std::string ToJson(const Meta& meta) {
  json metrics = json::array();
  for (const Metric& metric : meta.metrics) metrics.push_back(ToJson(metric));
  json root = {
      {"format", kFormatVersion},
      {"jprof", meta.jprof},
      {"mode", meta.mode},
      {"pid", meta.pid},
      {"command", meta.command},
      {"cwd", meta.cwd},
      {"start", meta.start},
      {"options", ToJson(meta.options)},
      {"metrics", metrics},
      {"probe", {{"kind", meta.probe.kind}, {"note", meta.probe.note}}},
      {"machine",
       {{"cpu", meta.machine.cpu},
        {"arch", meta.machine.arch},
        {"kernel", meta.machine.kernel},
        {"cpus", meta.machine.cpus}}},
      {"jvm",
       {{"name", meta.jvm.name},
        {"version", meta.jvm.version},
        {"vendor", meta.jvm.vendor},
        {"home", meta.jvm.home},
        {"build_id", meta.jvm.build_id}}},
      {"fingerprint", meta.fingerprint},
  };
  if (meta.clock.ticks_per_second > 0) root["clock"] = ToJson(meta.clock);
  if (meta.piece.number != 0) root["piece"] = ToJson(meta.piece);
  return root.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Meta ParseMeta(std::string_view text, Damages& damages) {
  Meta meta;
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) {
    damages.Add("meta.json: missing or not JSON: command, metric names and units are unknown");
    return meta;
  }
  const JsonFields fields(root);
  fields.Read("jprof", meta.jprof);
  fields.Read("mode", meta.mode);
  fields.Read("pid", meta.pid);
  fields.Read("cwd", meta.cwd);
  fields.Read("start", meta.start);
  if (const json& command = fields.At("command"); command.is_array()) {
    for (const json& word : command) meta.command.push_back(JsonFields::Text(word));
  }
  Read(fields.In("options"), meta.options);
  if (const json& metrics = fields.At("metrics"); metrics.is_array()) {
    for (const json& metric : metrics)
      meta.metrics.push_back(ParseMetric(JsonFields(metric), damages));
  }
  fields.In("probe").Read("kind", meta.probe.kind);
  fields.In("probe").Read("note", meta.probe.note);
  Read(fields.In("clock"), meta.clock);
  Read(fields.In("machine"), meta.machine);
  Read(fields.In("jvm"), meta.jvm);
  Read(fields.In("piece"), meta.piece);
  if (const json& fingerprint = fields.At("fingerprint"); fingerprint.is_object()) {
    for (const auto& [name, value] : fingerprint.items())
      meta.fingerprint[name] = JsonFields::Text(value);
  }
  return meta;
}

}  // namespace jprof::profile
