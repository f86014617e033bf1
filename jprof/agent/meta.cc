#include "jprof/agent/meta.h"

#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "jprof/engine/events.h"
#include "profile/layout.h"

namespace jprof::agent {
namespace {

using nlohmann::json;

std::string SystemProperty(jvmtiEnv* jvmti, const char* name) {
  char* value = nullptr;
  if (jvmti->GetSystemProperty(name, &value) != JVMTI_ERROR_NONE || value == nullptr) return "";
  std::string result = value;
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(value));
  return result;
}

std::string FileText(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

json CommandLine() {
  json words = json::array();
  std::istringstream in(FileText("/proc/self/cmdline"));
  for (std::string word; std::getline(in, word, '\0');) words.push_back(word);
  return words;
}

std::string CpuModel() {
  std::istringstream in(FileText("/proc/cpuinfo"));
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(": ");
    if (colon != std::string::npos && line.starts_with("model name")) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string StartTime(uint64_t unix_ns) {
  const auto seconds = static_cast<time_t>(unix_ns / 1'000'000'000);
  tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

uint64_t UnixNanos() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

std::string TextOf(const Filter& filter) {
  std::string text;
  for (const FilterItem& item : filter.items) {
    text += (item.include ? '+' : '-') + item.text + (item.prefix ? "*" : "");
  }
  return text;
}

const char* ModeName(Mode mode) {
  switch (mode) {
    case Mode::kCalltree:
      return "calltree";
    case Mode::kTrace:
      return "trace";
    case Mode::kTprof:
      return "tprof";
    case Mode::kScs:
      return "scs";
    case Mode::kCallflow:
      break;
  }
  return "callflow";
}

const char* TraceModeName(TraceMode mode) {
  switch (mode) {
    case TraceMode::kWrap:
      return "wrap";
    case TraceMode::kContinuous:
      return "continuous";
    case TraceMode::kNormal:
      break;
  }
  return "normal";
}

}  // namespace

std::string MetaJson(jvmtiEnv* jvmti, const AgentOptions& options, const engine::Session* session,
                     const ProbeFacts& probe) {
  utsname machine = {};
  uname(&machine);
  char directory[4096] = {};
  if (getcwd(directory, sizeof directory) == nullptr) directory[0] = '\0';

  json metrics = json::array();
  std::string metric_names;
  if (session != nullptr && session->options().clock) {
    metrics.push_back({{"name", "time"},
                       {"unit", "ns"},
                       {"scale", 1e9 / session->clock().ticks_per_second},
                       {"kind", "time"}});
    metric_names = "time";
  }
  if (session != nullptr) {
    for (const ptm::EventSpec& event : session->options().counters) {
      metrics.push_back(
          {{"name", event.name}, {"unit", "events"}, {"scale", 1}, {"kind", "count"}});
      metric_names += (metric_names.empty() ? "" : "+") + event.name;
    }
  }
  for (const SampledMetric& metric : MetricsOf(options.triggers)) {
    metrics.push_back({{"name", metric.name},
                       {"unit", metric.unit},
                       {"scale", 1},
                       {"kind", metric.weighted ? "weighted" : "samples"},
                       {"period", metric.period},
                       {"period_unit", metric.period_unit}});
    if (metric.asked_period != 0) metrics.back()["asked_period"] = metric.asked_period;
  }
  const std::string version = SystemProperty(jvmti, "java.vm.version");
  json meta = {
      {"format", profile::kFormatVersion},
      {"jprof", JPROF_VERSION},
      {"mode", ModeName(options.mode)},
      {"pid", getpid()},
      {"command", CommandLine()},
      {"cwd", directory},
      {"start", StartTime(session != nullptr ? session->start_unix_ns() : UnixNanos())},
      {"options",
       {{"text", options.text},
        {"fold_recursion", options.fold_recursion},
        {"tree_memory", options.tree_memory},
        {"threads", TextOf(options.threads)},
        {"methods", TextOf(options.methods)},
        {"focus", TextOf(options.focus)},
        {"trace_mode", TraceModeName(options.trace_mode)},
        {"trace_memory", options.trace_memory},
        {"train", options.train},
        {"timer", options.timer == ptm::TimerSource::kPerf    ? "perf"
                  : options.timer == ptm::TimerSource::kPosix ? "posix"
                                                              : "auto"},
        {"force_rate", options.force_rate},
        {"interrupt_ns", options.interrupt_ns},
        {"tprof", options.jit_log},
        {"code", options.jit_code}}},
      {"metrics", metrics},
      {"probe", {{"kind", probe.kind}, {"note", probe.note}}},
      {"machine",
       {{"cpu", CpuModel()},
        {"arch", machine.machine},
        {"kernel", machine.release},
        {"cpus", sysconf(_SC_NPROCESSORS_ONLN)}}},
      {"jvm",
       {{"name", SystemProperty(jvmti, "java.vm.name")},
        {"version", version},
        {"vendor", SystemProperty(jvmti, "java.vm.vendor")},
        {"home", SystemProperty(jvmti, "java.home")},
        {"build_id", probe.build_id}}},
      {"fingerprint",
       {{"cpu", CpuModel()},
        {"arch", machine.machine},
        {"kernel", machine.release},
        {"jvm", version + (probe.build_id.empty() ? "" : " " + probe.build_id.substr(0, 12))},
        {"probe", probe.kind},
        {"handler", std::to_string(engine::kHandlerVersion)},
        {"metrics", metric_names}}},
  };
  if (session != nullptr) {
    const engine::ClockFacts& clock = session->clock();
    meta["clock"] = {{"source", "tsc"},
                     {"ticks_per_second", clock.ticks_per_second},
                     {"granularity_ticks", clock.granularity},
                     {"read_ticks", clock.read_ticks},
                     {"bracket_ticks", clock.bracket_ticks},
                     {"bracket_period", session->options().bracket_period}};
  }
  return meta.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace jprof::agent
