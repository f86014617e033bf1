// Checks which options can be given together.
#include <algorithm>

#include "options/label_methods.h"
#include "options/option_errors.h"
#include "options/slow_methods.h"

namespace jprof::options {
namespace {

// Returns the first of these options that is set, or null if there is none.
const Option* FirstSet(const AgentOptions& options, OptionNames names) {
  for (const std::string_view name : names) {
    const Option* const option = FindOption(name);
    if (ValueOf(*option, options)) return option;
  }
  return nullptr;
}

bool HasTime(const AgentOptions& o) {
  return o.triggers.empty() ||
         std::ranges::count(o.triggers, TriggerKind::kTime, &Trigger::kind) != 0;
}

// Returns whether the mode records calls that can be left out while a program runs.
bool RecordsByProbes(const AgentOptions& o) {
  return o.mode == Mode::kCallflow || o.mode == Mode::kCalltree || o.mode == Mode::kTrace;
}

// Checks WITHIN, AFTER, and NOSTART of recordings of calls. COUNTER=auto takes probes for them.
Checked CheckGate(const AgentOptions& o) {
  const bool pauses_calls = !o.start && o.mode != Mode::kScs && o.triggers.empty();
  if (o.after != 0 && o.within.Empty())
    return Needs(*FindOption("AFTER"), {"WITHIN"}, "it counts the calls of these methods");
  if (o.within.Empty() && !pauses_calls) return {};
  const Option& option = *FindOption(o.within.Empty() ? "NOSTART" : "WITHIN");
  if (!RecordsByProbes(o))
    return Needs(option, {"CALLFLOW", "CALLTREE", "TRACE"},
                 "the others record what happens anywhere");
  if (o.counter == Counter::kWoven || !o.label_from.empty())
    return Needs(option, {"COUNTER"},
                 "methods that count themselves always count: use COUNTER=probe (--counter probe)");
  if (o.train) return Wrong(option, "TRAIN measures all calls; remove one of the two");
  if (o.within.Empty()) return {};
  if (!o.triggers.empty())
    return Wrong(option, "samples are taken anywhere: remove SAMPLE (--sample), or this");
  if (!o.within.items.front().include)
    return Wrong(option, "name the methods to record; patterns that begin with - can only follow");
  return {};
}

// Checks options that require sampling.
Checked CheckSampling(const AgentOptions& o) {
  const bool sampling = o.mode == Mode::kScs || !o.triggers.empty();
  if (sampling && o.mode != Mode::kScs && o.mode != Mode::kCalltree) {
    return Needs(*FindOption("SAMPLE"), {"CALLTREE", "SCS"}, "only these take samples");
  }
  if (!o.start && !sampling && !RecordsByProbes(o))
    return Needs(*FindOption("NOSTART"), {"SCS", "SAMPLE", "CALLFLOW", "CALLTREE", "TRACE"},
                 "the others cannot be started and stopped");
  if (const Option* given = FirstSet(o, {"DELAY", "DURATION"}); given && !sampling)
    return Needs(*given, {"SCS", "SAMPLE"}, "only sampling can be started and stopped");
  if (const Option* given = FirstSet(o, {"FORCE_RATE", "TIMER"}); given && !sampling)
    return Needs(*given, {"SCS", "SAMPLE"}, "only sampling has timers");
  if (const Option* given = FirstSet(o, {"TIMER"}); given && o.mode == Mode::kScs && !HasTime(o))
    return Wrong(*given, "no trigger samples by CPU time; add TIME");
  if (o.object_info && o.mode != Mode::kScs) return Needs(*FindOption("OBJECTINFO"), {"SCS"});
  return {};
}

// Checks options that do not apply to methods that count themselves.
Checked CheckCounter(const AgentOptions& o) {
  const Option& counter = *FindOption("COUNTER");
  if (o.counter != Counter::kAuto && o.mode != Mode::kCalltree && o.mode != Mode::kObjects)
    return Needs(counter, {"CALLTREE", "OBJECTS"}, "the others record entries and exits by probes");
  if (o.counter != Counter::kWoven) return {};
  if (const Option* given = FirstSet(o, {"PROBE", "KEEP_INTRINSICS", "TRAIN"}))
    return Wrong(*given, "no probes are used if the methods count themselves; remove it");
  if (o.hooks == Hooks::kYes)
    return Wrong(*FindOption("HOOKS"),
                 "functions of C and C++ are not counted with woven counters");
  if (o.tree_memory > kMostWovenTree)
    return Wrong(*FindOption("TREE_MEMORY"), "woven counters have at most 14G");
  return {};
}

// Returns whether events read the clock and no counters.
bool HasOnlyTime(const AgentOptions& o) {
  return std::ranges::all_of(
      o.metrics, [](const std::string& name) { return name == "time" || name == "dispatches"; });
}

// Checks that calls can be timed one by one.
Checked CheckDistribution(const AgentOptions& o) {
  if (o.distribution.Empty()) return {};
  const Option& distribution = *FindOption("DISTRIBUTION");
  if (o.mode != Mode::kCallflow)
    return Needs(distribution, {"CALLFLOW"}, "the others do not measure how long calls take");
  if (!HasOnlyTime(o))
    return Wrong(distribution,
                 "calls are timed one by one only if time is the one metric; remove the others");
  if (!o.distribution.items.front().include)
    return Wrong(distribution,
                 "name the methods to be timed; patterns that begin with - can only follow");
  if (o.train) return Wrong(distribution, "calls are not timed one by one while TRAIN is on");
  return {};
}

// Checks that time can be estimated from some of the intervals.
Checked CheckTimeEvery(const AgentOptions& o) {
  if (o.time_every <= 1) return {};
  const Option& option = *FindOption("TIME_EVERY");
  if (o.mode != Mode::kCallflow)
    return Needs(option, {"CALLFLOW"}, "a trace has the time of each event, and the others none");
  if (!HasOnlyTime(o))
    return Wrong(option,
                 "counters are read at every event: remove the other metrics, or this option");
  if (!o.distribution.Empty())
    return Wrong(option, "DISTRIBUTION (--distribution) times each call: remove one of the two");
  if (o.train) return Wrong(option, "TRAIN measures every interval: remove one of the two");
  return {};
}

// Checks SLOW.
Checked CheckSlow(const AgentOptions& o) {
  if (o.slow.empty()) {
    if (const Option* given = FirstSet(o, {"SLOW_MEMORY"})) return Needs(*given, {"SLOW"});
    return {};
  }
  const Option& option = *FindOption("SLOW");
  if (o.mode != Mode::kTrace)
    return Needs(option, {"TRACE"}, "only a trace can keep what belongs to a slow call");
  if (o.trace_mode != TraceMode::kNormal)
    return Wrong(*FindOption("TRACE_MODE"),
                 "the trace is kept for slow calls, by SLOW (--slow); remove one of the two");
  for (const std::string& text : o.slow) {
    if (const auto methods = ParseSlowMethods(text); !methods)
      return Wrong(option, methods.error().message);
  }
  return {};
}

// Checks LABEL_FROM. COUNTER=auto weaves if it is given.
Checked CheckLabels(const AgentOptions& o) {
  if (o.label_from.empty()) return {};
  const Option& option = *FindOption("LABEL_FROM");
  for (const std::string& text : o.label_from) {
    if (const auto method = ParseLabelMethod(text); !method)
      return Wrong(option, method.error().message);
  }
  if (o.mode != Mode::kCalltree && o.mode != Mode::kObjects)
    return Needs(option, {"COUNTER"},
                 "only methods that count themselves set labels from arguments (jprof calltree "
                 "--counter woven)");
  if (const Option* given = FirstSet(o, {"PROBE", "KEEP_INTRINSICS"});
      given || o.counter == Counter::kProbe || o.hooks == Hooks::kYes)
    return Wrong(option,
                 "only methods that count themselves set labels from arguments: use COUNTER=woven "
                 "(--counter woven), without options of probes and hooks");
  if (o.call_sites)
    return Wrong(*FindOption("CALL_SITES"),
                 "call sites and labels exclude each other; remove one of the two");
  return {};
}

// Checks that files of a trace can follow each other.
Checked CheckRotation(const AgentOptions& o) {
  if (o.rotate == 0 && o.keep == 0) return {};
  if (o.rotate == 0) return Needs(*FindOption("KEEP"), {"ROTATE"});
  if (!o.slow.empty())
    return Wrong(*FindOption("ROTATE"),
                 "a trace that is kept for slow calls, by SLOW (--slow), has no files that follow "
                 "each other; remove one of the two");
  if (o.mode != Mode::kTrace || o.trace_mode != TraceMode::kContinuous)
    return Needs(*FindOption("ROTATE"), {"TRACE_MODE"},
                 "only a continuous trace has several files (TRACE_MODE=continuous, --mode "
                 "continuous)");
  return {};
}

// Checks options that the mode does not support.
Checked CheckMode(const AgentOptions& o) {
  if (o.mode == Mode::kCalltree && !o.metrics.empty())
    return Needs(*FindOption("METRICS"), {"CALLFLOW"}, "CALLTREE only counts calls");
  if (o.mode == Mode::kScs) {
    if (const Option* given =
            FirstSet(o, {"METRICS", "TRAIN", "FOCUS", "CLASSMETHODS", "KEEP_INTRINSICS"}))
      return Wrong(*given, "SCS samples whole stacks and does not support this option; remove it");
  }
  if (o.jvm_events && o.mode != Mode::kCalltree && o.mode != Mode::kCallflow)
    return Needs(*FindOption("EVENTS"), {"CALLTREE", "CALLFLOW"});
  if (Checked done = CheckDistribution(o); !done) return done;
  if (Checked done = CheckTimeEvery(o); !done) return done;
  if (o.call_sites && o.mode != Mode::kCalltree)
    return Needs(*FindOption("CALL_SITES"), {"CALLTREE"});
  if (o.call_sites && o.probe == ProbeChoice::kJvmti)
    return Wrong(*FindOption("CALL_SITES"),
                 "JVMTI does not report where a method is called; remove one of the two");
  if (o.call_sites && o.fold_recursion)
    return Wrong(*FindOption("CALL_SITES"),
                 "folded recursion does not know where recursive calls are made; remove one of the "
                 "two");
  if (Checked done = CheckRotation(o); !done) return done;
  if (o.lite && o.mode != Mode::kLocks) return Needs(*FindOption("LITE"), {"LOCKS"});
  if (o.mode == Mode::kLocks) {
    if (const Option* given = FirstSet(
            o, {"METRICS", "TRAIN", "FOCUS", "CLASSMETHODS", "KEEP_INTRINSICS", "PROBE", "HOOKS"}))
      return Wrong(*given, "LOCKS weaves all classes and does not support this option; remove it");
    if (o.tree_memory > kMostWovenTree)
      return Wrong(*FindOption("TREE_MEMORY"), "woven counters have at most 14G");
  }
  if (o.removed && o.mode != Mode::kObjects) return Needs(*FindOption("REMOVED"), {"OBJECTS"});
  if (o.removed && o.counter == Counter::kProbe)
    return Wrong(*FindOption("REMOVED"),
                 "only woven code counts what it asks for; remove it, or the choice of probes");
  if (o.mode == Mode::kObjects) {
    if (const Option* given =
            FirstSet(o, {"METRICS", "TRAIN", "PROBE", "KEEP_INTRINSICS", "HOOKS"}))
      return Wrong(*given,
                   "OBJECTS counts calls and objects and does not support this option; "
                   "remove it");
  }
  if (const Option* given = FirstSet(o, {"LIVE", "SNAPSHOTS", "LIVE_INTERVAL"});
      given && o.mode != Mode::kObjects)
    return Needs(*given, {"OBJECTS"});
  if (const Option* given = FirstSet(o, {"SNAPSHOTS", "LIVE_INTERVAL"});
      given && o.live == Live::kNo)
    return Needs(*given, {"LIVE"});
  if (o.mode != Mode::kTprof) return {};
  if (const Option* given =
          FirstSet(o, {"METRICS", "THREADS", "CLASSMETHODS", "FOCUS", "KEEP_INTRINSICS", "TRAIN"}))
    return Needs(*given, {"CALLFLOW"}, "TPROF alone records no calls");
  return {};
}

}  // namespace

Checked Check(const AgentOptions& options) {
  if (options.jit_code && !options.jit_log)
    return Needs(*FindOption("CODE"), {"TPROF"},
                 "only the log of jitted code contains instructions");
  if (options.keep_intrinsics && options.probe == ProbeChoice::kJvmti)
    return Wrong(*FindOption("KEEP_INTRINSICS"),
                 "with the events of JVMTI no code is compiled; remove it");
  if (Checked done = CheckSampling(options); !done) return done;
  if (Checked done = CheckCounter(options); !done) return done;
  if (Checked done = CheckLabels(options); !done) return done;
  if (Checked done = CheckGate(options); !done) return done;
  if (Checked done = CheckSlow(options); !done) return done;
  return CheckMode(options);
}

}  // namespace jprof::options
