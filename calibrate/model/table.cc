#include "calibrate/model/table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/kinds.h"

namespace jprof::calibrate {
namespace {

using nlohmann::json;

char FlipStatic(char type) {
  const auto letter = static_cast<unsigned char>(type);
  return static_cast<char>(std::isupper(letter) ? std::tolower(letter) : std::toupper(letter));
}

const Overhead* FindKey(const Metric& metric, const Key& key) {
  const auto found = metric.keys.find(key);
  return found == metric.keys.end() ? nullptr : &found->second;
}

// Finds the same transition with the static bit of one method or both ignored.
const Overhead* FindIgnoringStatic(const Metric& metric, const Key& key) {
  Key other = key, running = key, both = key;
  other.other = both.other = FlipStatic(key.other);
  running.running = both.running = FlipStatic(key.running);
  for (const Key& candidate : {other, running, both}) {
    if (const Overhead* found = FindKey(metric, candidate)) return found;
  }
  return nullptr;
}

const Overhead* FindSmallest(const Metric& metric, EventKind event) {
  const Overhead* smallest = nullptr;
  for (const auto& [key, value] : metric.keys) {
    if (key.event != event) continue;
    if (smallest == nullptr || value.overhead < smallest->overhead) smallest = &value;
  }
  return smallest;
}

json OverheadToJson(const Overhead& value) {
  return {
      {"count", value.count},       {"observed", value.observed},        {"truth", value.truth},
      {"overhead", value.overhead}, {"minimum", value.minimum},          {"spread", value.spread},
      {"repeat", value.repeat},     {"context", value.context},          {"less", value.less},
      {"more", value.more},         {"instructions", value.instructions}};
}

Overhead OverheadFromJson(const json& from) {
  return {.count = from.at("count").get<uint64_t>(),
          .observed = from.at("observed").get<double>(),
          .truth = from.at("truth").get<double>(),
          .overhead = from.at("overhead").get<double>(),
          .minimum = from.at("minimum").get<double>(),
          .spread = from.at("spread").get<double>(),
          .repeat = from.at("repeat").get<double>(),
          .context = from.at("context").get<double>(),
          .less = from.value("less", 0.0),  // since version 3
          .more = from.value("more", 0.0),
          .instructions = from.value("instructions", 0.0)};  // since version 4
}

json ProbeToJson(const Probe& probe) {
  return {{"enter_in", probe.enter_in}, {"enter_out", probe.enter_out}, {"exit_in", probe.exit_in},
          {"exit_out", probe.exit_out}, {"argument", probe.argument},   {"result", probe.result}};
}

Probe ProbeFromJson(const json& from) {
  return {.enter_in = from.at("enter_in").get<double>(),
          .enter_out = from.at("enter_out").get<double>(),
          .exit_in = from.at("exit_in").get<double>(),
          .exit_out = from.at("exit_out").get<double>(),
          .argument = from.at("argument").get<double>(),
          .result = from.at("result").get<double>()};
}

Result<Metric> MetricFromJson(const json& from) {
  Metric metric{.name = from.at("name").get<std::string>(),
                .unit = from.at("unit").get<std::string>(),
                .granularity = from.at("granularity").get<double>(),
                .bias = from.at("bias").get<double>()};
  for (const auto& [text, value] : from.at("keys").items()) {
    const auto key = ParseKey(text);
    if (!key)
      return Fail(
          "calibration table: \"{}\" is no transition (like En-J-En-N): run jprof calibrate again",
          text);
    metric.keys[*key] = OverheadFromJson(value);
  }
  const json probes = from.value("probes", json::object());  // times have none
  for (const auto& [type, probe] : probes.items()) {
    if (type.size() != 1)
      return Fail("calibration table: \"{}\" is not a method type: run jprof calibrate again",
                  type);
    metric.probes[type[0]] = ProbeFromJson(probe);
  }
  return metric;
}

Result<Table> TableFromJson(const json& from) {
  const int version = from.at("version").get<int>();
  if (version < kOldestTableVersion || version > kTableVersion) {
    return Fail(
        "calibration table has version {}, this jprof reads {} to {}: run jprof calibrate again",
        version, kOldestTableVersion, kTableVersion);
  }
  Table table{.fingerprint = from.at("fingerprint").get<Fingerprint>(),
              .made_at = from.at("made_at").get<std::string>(),
              .version = version};
  for (const json& entry : from.at("metrics")) {
    auto metric = MetricFromJson(entry);
    if (!metric) return std::unexpected(metric.error());
    table.metrics.push_back(std::move(*metric));
  }
  return table;
}

}  // namespace

Found Lookup(const Metric& metric, const Key& key) {
  if (const Overhead* found = FindKey(metric, key)) return {*found, Level::kExact};
  if (const Overhead* found = FindIgnoringStatic(metric, key)) return {*found, Level::kNonStatic};
  Key any = key;
  any.previous = key.previous == EventKind::kEntry ? EventKind::kExit : EventKind::kEntry;
  if (const Overhead* found = FindKey(metric, any)) return {*found, Level::kAnyPrevious};
  if (const Overhead* found = FindIgnoringStatic(metric, any)) return {*found, Level::kAnyPrevious};
  if (const Overhead* found = FindSmallest(metric, key.event)) return {*found, Level::kPerEvent};
  return {};
}

double Overhead::Systematic() const {
  constexpr double kDeviations95 = 1.959964;  // standard deviations of a normal that hold 95 %
  return std::hypot(repeat, context, std::max(less, more) / kDeviations95);
}

Metric Rebased(Metric metric, double bias) {
  for (auto& [key, value] : metric.keys) {
    value.observed += bias - metric.bias;
    value.overhead += bias - metric.bias;
  }
  metric.bias = bias;
  return metric;
}

int AddInstructions(const Metric& counted, Metric& time) {
  int lowered = 0;
  for (auto& [key, value] : time.keys) {
    const Overhead* const found = FindKey(counted, key);
    if (found == nullptr) continue;
    value.instructions = std::max(0.0, found->truth);
    const double least = value.instructions / kMostInstructionsPerTick;
    if (value.truth >= least) continue;
    value.truth = least;
    value.overhead = value.observed - least;
    ++lowered;
  }
  return lowered;
}

std::vector<std::string> Differences(const Fingerprint& table, const Fingerprint& profile) {
  const auto value = [](const Fingerprint& from, const std::string& part) {
    const auto found = from.find(part);
    return found == from.end() ? std::string("nothing") : found->second;
  };
  Fingerprint parts = table;
  parts.insert(profile.begin(), profile.end());
  std::vector<std::string> differences;
  for (const auto& [part, unused] : parts) {
    const std::string ours = value(table, part), theirs = value(profile, part);
    if (ours != theirs) {
      differences.push_back(fmt::format("{}: table has {}, profile has {}", part, ours, theirs));
    }
  }
  return differences;
}

std::string TrainingCommand(const Fingerprint& fingerprint) {
  const auto probe = fingerprint.find("probe");
  const bool hooks = probe != fingerprint.end() && (probe->second == NameOf(ProbeKind::kHooks) ||
                                                    probe->second == NameOf(ProbeKind::kSleds));
  const auto metrics = fingerprint.find("metrics");
  std::string command = hooks ? "jprof calibrate --hooks" : "jprof calibrate";
  constexpr std::string_view kTraced = " traced";
  if (metrics != fingerprint.end() && metrics->second.ends_with(kTraced))
    command += " --metrics " + metrics->second.substr(0, metrics->second.size() - kTraced.size());
  return command;
}

const Metric* Table::Find(std::string_view metric_name) const {
  const auto found = std::ranges::find(metrics, metric_name, &Metric::name);
  return found == metrics.end() ? nullptr : &*found;
}

Result<Table> FromJson(std::string_view text) {
  try {
    return TableFromJson(json::parse(text));
  } catch (const json::exception& error) {
    return Fail("calibration table is damaged ({}): run jprof calibrate again", error.what());
  }
}

std::string ToJson(const Table& table) {
  json metrics = json::array();
  for (const Metric& metric : table.metrics) {
    json keys = json::object();
    for (const auto& [key, value] : metric.keys) keys[ToString(key)] = OverheadToJson(value);
    json probes = json::object();
    for (const auto& [type, probe] : metric.probes)
      probes[std::string(1, type)] = ProbeToJson(probe);
    metrics.push_back({{"name", metric.name},
                       {"unit", metric.unit},
                       {"granularity", metric.granularity},
                       {"bias", metric.bias},
                       {"keys", std::move(keys)},
                       {"probes", std::move(probes)}});
  }
  const json whole = {{"version", table.version},
                      {"made_at", table.made_at},
                      {"fingerprint", table.fingerprint},
                      {"metrics", std::move(metrics)}};
  return whole.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace jprof::calibrate
