#include "jprof/setup/plan.h"

#include <utility>

#include "jprof/engine/woven.h"
#include "options/late_calls.h"
#include "options/slow_methods.h"
#include "profile/files/lock_metrics.h"
#include "profile/files/object_metrics.h"

namespace jprof::setup {
namespace {

// Sets the metrics that METRICS= selects. `dispatches` adds none: every profile has them.
Result<void> SelectMetrics(const options::AgentOptions& options, engine::SessionOptions& session) {
  session.clock = false;
  if (options.mode == options::Mode::kCalltree || options.mode == options::Mode::kScs ||
      options.mode == options::Mode::kLocks || options.mode == options::Mode::kObjects)
    return {};
  session.clock = options.metrics.empty();
  for (const std::string& name : options.metrics) {
    if (name == "time") {
      session.clock = true;
    } else if (name.starts_with(ptm::kEncodedPrefix)) {
      auto event = ptm::DecodeMetric(name);
      if (!event) return std::unexpected(event.error());
      session.counters.push_back(std::move(*event));
    } else if (name != "dispatches") {
      return WrongUse(
          "the agent cannot resolve the metric {}: use `jprof callflow --metrics`, which can",
          name);
    }
  }
  if (session.counters.empty()) session.clock = true;
  if (session.counters.size() > ptm::kMaxEvents) return WrongUse("more than 8 metrics");
  if (!session.counters.empty() && options.mode == options::Mode::kTrace) {
    return WrongUse("a trace has one metric, time");
  }
  return {};
}

engine::TraceKeep TraceKeepOf(options::TraceMode mode) {
  switch (mode) {
    case options::TraceMode::kWrap:
      return engine::TraceKeep::kWrap;
    case options::TraceMode::kContinuous:
      return engine::TraceKeep::kContinuous;
    case options::TraceMode::kNormal:
      break;
  }
  return engine::TraceKeep::kNormal;
}

// Returns which patterns select a method, or 0 if it is not selected.
engine::MethodTable::Watch WatchOf(const options::Filter& filter) {
  return [filter](std::string_view class_name, std::string_view name) -> uint64_t {
    if (!filter.AcceptsMethod(class_name, name)) return 0;
    return filter.ItemsOfMethod(class_name, name);
  };
}

// Makes the trace keep what SLOW asks for. Requires that its items can be parsed.
void KeepSlowCalls(const options::AgentOptions& options, engine::SessionOptions& session) {
  if (options.slow.empty()) return;
  options::Filter watched;  // with one item for each of SLOW
  for (const std::string& text : options.slow) {
    auto methods = options::ParseSlowMethods(text);
    if (!methods) continue;
    session.slow_ns.push_back(methods->ns);
    watched.items.push_back(std::move(methods->filter.items.front()));
  }
  session.files.slow_calls = true;
  session.slow_memory = options.slow_memory;
  session.trace_keep = engine::TraceKeep::kWrap;
  session.watch = WatchOf(watched);
}

Source SourceOf(const options::AgentOptions& options) {
  switch (options.mode) {
    case options::Mode::kTprof:
      return Source::kNone;
    case options::Mode::kScs:
      return Source::kSamples;
    case options::Mode::kLocks:
      return Source::kWoven;
    case options::Mode::kCalltree:
    case options::Mode::kObjects:
      return options.counter == options::Counter::kWoven ? Source::kWoven : Source::kProbe;
    default:
      return Source::kProbe;
  }
}

void ChooseParts(const options::AgentOptions& options, Plan& plan) {
  const bool samples = plan.source == Source::kSamples;
  plan.jit_log = options.jit_log && !samples;
  plan.events = options.jvm_events;
  plan.objects = options.mode == options::Mode::kObjects;
  plan.sampling = plan.has_session() && !options.triggers.empty();
  plan.vm_triggers = samples;
  plan.virtual_thread_names = samples;
  plan.functions =
      plan.source == Source::kProbe && !plan.objects && options.hooks != options::Hooks::kNo;
  plan.debug_info = samples || (plan.source == Source::kWoven && plan.sampling);
  plan.hotspot_probe =
      plan.source == Source::kProbe && options.probe != options::ProbeChoice::kJvmti;
  plan.jvmti_probe = plan.source == Source::kProbe && !plan.objects &&
                     options.probe != options::ProbeChoice::kHotspot;
}

}  // namespace

Result<void> CheckAttach(const options::AgentOptions& options, int java_version) {
  const Source source = SourceOf(options);
  const bool counts = source == Source::kProbe || source == Source::kWoven;
  if (!counts) return {};
  if (options.mode == options::Mode::kTrace || options.train)
    return WrongUse("{} must begin with the JVM: `jprof trace -- java ...`",
                    options.train ? "TRAIN" : "TRACE");
  if (source == Source::kWoven) return {};
  if (options.mode == options::Mode::kObjects)
    return WrongUse(
        "OBJECTS in a running JVM needs woven counting: use --counter woven (COUNTER=woven)");
  if (!options.triggers.empty())
    return WrongUse(
        "SAMPLE in a running JVM needs woven counting: use --counter woven (COUNTER=woven)");
  if (options.probe == options::ProbeChoice::kJvmti)
    return WrongUse("PROBE=jvmti must begin with the JVM, which sends no method events otherwise");
  if (java_version <= options::kLastJdkWithLateCalls) return {};
  return WrongUse(
      "the interpreter of JDK 24 and later sends method events only if that was requested when the "
      "JVM started; use `jprof calltree --pid PID` or `jprof scs --pid PID`, or start the program "
      "with `jprof callflow -- ...`");
}

Result<Plan> MakePlan(const options::AgentOptions& options, bool has_vm) {
  Plan plan;
  engine::SessionOptions& session = plan.session;
  if (const auto selected = SelectMetrics(options, session); !selected)
    return std::unexpected(selected.error());
  if (!has_vm && !options.distribution.Empty())
    return WrongUse(
        "calls of C and C++ functions cannot be timed one by one, because their names are known "
        "only when a report is printed: remove --distribution (DISTRIBUTION)");
  if (!has_vm && !options.within.Empty())
    return WrongUse(
        "the recording of C and C++ functions cannot be limited to some of them, because their "
        "names are known only when a report is printed: remove --within (WITHIN), and call "
        "jprof_recording_start() and jprof_recording_stop() instead");
  const bool native_locks = options.mode == options::Mode::kLocks && !has_vm;
  if (!has_vm && !options.slow.empty())
    return WrongUse(
        "slow calls of C and C++ functions cannot be kept, because their names are known only when "
        "a report is printed: remove --slow (SLOW), or use --mode wrap");
  plan.source = native_locks ? Source::kProbe : SourceOf(options);
  ChooseParts(options, plan);
  plan.kind = options.mode == options::Mode::kTrace ? engine::RecordingKind::kTimeTrace
              : options.call_sites                  ? engine::RecordingKind::kSiteTree
                                   : engine::TreeWith(session.clock, session.counters.size());
  plan.locks = options.mode == options::Mode::kLocks;
  plan.allocations = plan.objects && options.removed;
  session.files.metric_count = static_cast<uint32_t>(
      (session.clock ? 1 : 0) + session.counters.size() + MetricsOf(options.triggers).size() +
      (plan.locks ? profile::LockMetrics(options.lite).size() : 0) +
      (plan.objects
           ? profile::ObjectMetrics(options.live != options::Live::kNo, options.removed).size()
           : 0));
  session.files.live = options.live != options::Live::kNo;
  session.files.locks = plan.locks;
  session.files.tree_memory = options.tree_memory;
  session.files.trace = options.mode == options::Mode::kTrace;
  session.files.train = options.train;
  if (plan.source == Source::kWoven) {
    const auto addresses = engine::PrepareWoven();
    if (!addresses) return std::unexpected(addresses.error());
    session.files.node_region = engine::kWovenRegion;
    session.files.node_addresses = *addresses;
  }
  session.files.distributions = !options.distribution.Empty();
  if (session.files.distributions) session.watch = WatchOf(options.distribution);
  if (!options.within.Empty()) session.gates = WatchOf(options.within);
  session.gate_after = options.after;
  session.begins_paused = !options.start && !plan.sampling;
  session.time_every = static_cast<uint32_t>(options.time_every);
  if (session.time_every > 1) plan.kind = engine::RecordingKind::kSparseTimeTree;
  session.fold_recursion = options.fold_recursion;
  session.call_sites = options.call_sites;
  session.trace_keep = TraceKeepOf(options.trace_mode);
  session.trace_memory = options.trace_memory;
  KeepSlowCalls(options, session);
  session.trace_rotate_ns = options.rotate * 1'000'000'000;
  session.trace_files = options.keep;
  if (!options.threads.Empty()) {
    session.thread_filter = [filter = options.threads](std::string_view name) {
      return filter.AcceptsThread(name);
    };
  }
  return plan;
}

}  // namespace jprof::setup
