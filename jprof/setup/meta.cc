#include "jprof/setup/meta.h"

#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "common/monotonic.h"
#include "common/procfs.h"
#include "common/utc_text.h"
#include "jprof/engine/event.h"
#include "profile/files/lock_metrics.h"
#include "profile/files/object_metrics.h"

namespace jprof::setup {
namespace {

constexpr char kTracedUnit[] = "instructions";  // counted by a tracer

std::string TextOf(const options::FilterItem& item) {
  return (item.include ? '+' : '-') + item.text + (item.prefix ? "*" : "");
}

// Returns the patterns as they are typed, "com.acme,-com.acme.Log".
std::string TypedText(const options::Filter& filter) {
  std::string text;
  for (const options::FilterItem& item : filter.items)
    text += (text.empty() ? "" : ",") + TextOf(item).substr(item.include ? 1 : 0);
  return text;
}
std::string TextOf(const options::Filter& filter) {
  std::string text;
  for (const options::FilterItem& item : filter.items) text += TextOf(item);
  return text;
}

std::vector<std::string> ItemTexts(const options::Filter& filter) {
  std::vector<std::string> texts;
  for (const options::FilterItem& item : filter.items) texts.push_back(TextOf(item));
  return texts;
}

const char* TraceModeName(options::TraceMode mode) {
  switch (mode) {
    case options::TraceMode::kWrap:
      return "wrap";
    case options::TraceMode::kContinuous:
      return "continuous";
    case options::TraceMode::kNormal:
      break;
  }
  return "normal";
}

const char* TimerName(ptm::TimerSource timer) {
  switch (timer) {
    case ptm::TimerSource::kPerf:
      return "perf";
    case ptm::TimerSource::kPosix:
      return "posix";
    default:
      return "auto";
  }
}

std::vector<profile::Metric> ObjectMetrics(const options::AgentOptions& options) {
  using profile::Metric;
  std::vector<Metric> metrics;
  for (const profile::ObjectMetric& row :
       profile::ObjectMetrics(options.live != options::Live::kNo, options.removed)) {
    metrics.push_back({.name = std::string(row.name),
                       .unit = std::string(row.unit),
                       .kind = Metric::Kind::kExact});
    if (!row.live || options.live != options::Live::kSampled) continue;
    metrics.back().kind = Metric::Kind::kEstimate;
    metrics.back().period = {.value = options.live_interval, .unit = "bytes"};
  }
  return metrics;
}

std::vector<profile::Metric> MetricsOf(const options::AgentOptions& options,
                                       const engine::Session* session) {
  using profile::Metric;
  std::vector<Metric> metrics;
  if (session != nullptr && session->options().clock) {
    metrics.push_back({.name = "time",
                       .unit = "ns",
                       .scale = 1e9 / session->clock().ticks_per_second,
                       .kind = Metric::Kind::kTime});
  }
  if (session != nullptr) {
    for (const ptm::EventSpec& event : session->options().counters) {
      const bool traced = event.type == ptm::kCountedInMemory;
      metrics.push_back({.name = event.name,
                         .unit = traced ? kTracedUnit : "events",
                         .kind = Metric::Kind::kCount});
    }
  }
  std::ranges::move(MetricsOf(options.triggers), std::back_inserter(metrics));
  if (options.mode == Mode::kLocks)
    std::ranges::move(profile::LockMetrics(options.lite), std::back_inserter(metrics));
  if (options.mode == options::Mode::kObjects) {
    std::ranges::move(ObjectMetrics(options), std::back_inserter(metrics));
  }
  return metrics;
}

profile::RecordingOptions RecordingOptionsOf(const options::AgentOptions& options) {
  return {.text = options.text,
          .fold_recursion = options.fold_recursion,
          .tree_memory = options.tree_memory,
          .threads = TextOf(options.threads),
          .methods = TextOf(options.methods),
          .focus = TextOf(options.focus),
          .label_from = fmt::format("{}", fmt::join(options.label_from, "+")),
          .distribution = ItemTexts(options.distribution),
          .time_every = options.time_every,
          .within = TypedText(options.within),
          .after = options.after,
          .begins_paused = !options.start,
          .slow = options.slow,
          .trace_mode = TraceModeName(options.trace_mode),
          .trace_memory = options.trace_memory,
          .slow_memory = options.slow.empty() ? 0 : options.slow_memory,
          .train = options.train,
          .timer = TimerName(options.timer),
          .timer_reason = options.timer_reason,
          .force_rate = options.force_rate,
          .interrupt_ns = options.interrupt_ns,
          .tprof = options.jit_log,
          .code = options.jit_code,
          .sites = options.call_sites || options.mode == options::Mode::kScs};
}

profile::Clock ClockOf(const engine::Session& session) {
  const engine::ClockProperties& clock = session.clock();
  return {.ticks_per_second = clock.ticks_per_second,
          .granularity_ticks = static_cast<double>(clock.granularity),
          .read_ticks = clock.read_ticks,
          .bracket_ticks = clock.timer_overhead_ticks,
          .bracket_period = session.timing().period};
}

profile::Machine ThisMachine() {
  utsname name = {};
  uname(&name);
  return {.cpu = procfs::CpuModel(),
          .arch = name.machine,
          .kernel = name.release,
          .cpus = static_cast<uint64_t>(std::max(0l, sysconf(_SC_NPROCESSORS_ONLN)))};
}

// Returns what determines the cost of a transition.
std::map<std::string, std::string> FingerprintOf(const profile::Meta& meta) {
  std::string corrected;
  for (const profile::Metric& metric : meta.metrics) {
    if (!metric.is_disturbed()) continue;
    corrected += (corrected.empty() ? "" : "+") + metric.name;
    if (metric.unit == kTracedUnit) corrected += " traced";  // probes cost another number then
  }
  const std::string& build_id = meta.jvm.build_id;
  return {{"cpu", meta.machine.cpu},
          {"arch", meta.machine.arch},
          {"kernel", meta.machine.kernel},
          {"jvm", meta.jvm.version + (build_id.empty() ? "" : " " + build_id.substr(0, 12))},
          {"probe", meta.probe.kind},
          {"handler", std::to_string(engine::kHandlerVersion)},
          {"metrics", corrected}};
}

}  // namespace

profile::Meta GatherMeta(profile::Jvm jvm, const options::AgentOptions& options,
                         const engine::Session* session, const ProbeMetadata& probe) {
  char directory[4096] = {};
  if (getcwd(directory, sizeof directory) == nullptr) directory[0] = '\0';
  profile::Meta meta = {
      .jprof = JPROF_VERSION,
      .mode = std::string(NameOf(options.mode)),
      .pid = static_cast<uint64_t>(getpid()),
      .command = procfs::CommandLine(procfs::kSelf),
      .cwd = directory,
      .start = UtcText(static_cast<time_t>(
          (session != nullptr ? session->start_unix_ns() : UnixNanos()) / 1'000'000'000)),
      .options = RecordingOptionsOf(options),
      .metrics = MetricsOf(options, session),
      .probe = {std::string(NameOf(probe.kind)), probe.note},
      .clock = session != nullptr ? ClockOf(*session) : profile::Clock{},
      .machine = ThisMachine(),
      .jvm = std::move(jvm),
      .fingerprint = {},
  };
  meta.fingerprint = FingerprintOf(meta);
  return meta;
}

}  // namespace jprof::setup
