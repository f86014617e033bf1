#include "cli/record_options.h"

#include <algorithm>

#include "ptm/names/event_name.h"

namespace jprof::cli {
namespace {

// An option of the command and the agent's word that it becomes.
struct Passed {
  std::string RecordOptions::*value;
  std::string_view option;
  std::string_view word;
};
constexpr Passed kPassed[] = {
    {&RecordOptions::threads, "--threads", "THREADS"},
    {&RecordOptions::methods, "--methods", "CLASSMETHODS"},
    {&RecordOptions::focus, "--focus", "FOCUS"},
    {&RecordOptions::tree_memory, "--tree-memory", "TREE_MEMORY"},
    {&RecordOptions::trace_mode, "--mode", "TRACE_MODE"},
    {&RecordOptions::trace_memory, "--trace-memory", "TRACE_MEMORY"},
    {&RecordOptions::probe, "--probe", "PROBE"},
    {&RecordOptions::rate, "--rate", "SCS_RATE"},
    {&RecordOptions::sample, "--sample", "CALLTREE,SAMPLE"},
    {&RecordOptions::timer, "--timer", "SCS,TIMER"},
    {&RecordOptions::delay, "--delay", "SCS,DELAY"},
    {&RecordOptions::duration, "--duration", "SCS,DURATION"},
};

// Patterns are joined by commas for people, by + for the agent.
std::string WithPluses(std::string text) {
  std::ranges::replace(text, ',', '+');
  return text;
}

// A comma would end the value.
std::string WithoutCommas(std::string_view value) {
  std::string text;
  for (const char c : value) text += c == ',' ? std::string("%2C") : std::string(1, c);
  return text;
}

// "THREADS=..." for one option, checked alone (or with what it needs) so that the error can name
// the option as it was typed.
Result<std::string> Word(const Passed& passed, const std::string& value) {
  const std::string word = fmt::format("{}={}", passed.word, WithoutCommas(value));
  const auto parsed = agent::ParseAgentOptions(word, "");
  if (parsed) return word;
  const std::string& message = parsed.error().message;
  const std::string_view name = passed.word.substr(passed.word.rfind(',') + 1);
  const bool named = message.starts_with(name);
  return WrongUse("{}{}", passed.option, named ? message.substr(name.size()) : ": " + message);
}

// The agent's word for what --event names: an event of the JVM as it is, one of the processor or
// the kernel by the name that PAPI or perf has for it, which only this side knows.
Result<std::string> SampledEvent(const std::string& typed, std::vector<std::string>& notes) {
  const auto known = agent::ParseTriggers(typed);
  if (known) return agent::ToString(*known);
  const size_t equals = typed.find('=');
  const std::string names[] = {typed.substr(0, equals)};
  if (agent::ParseTriggers(names[0])) return WrongUse("--event{}", known.error().message.substr(3));
  auto event = ptm::MetricsForAgent(names);
  if (!event) return WrongUse("{}; events of the JVM: jprof scs --help", event.error().message);
  std::ranges::move(event->notes, std::back_inserter(notes));
  const std::string period = equals != std::string::npos ? typed.substr(equals) : "=1000000";
  const std::string encoded = event->names.front() + period;
  if (const auto good = agent::ParseTriggers(encoded); !good)
    return WrongUse("--event{}", good.error().message.substr(3));
  return encoded;
}

void AddTimerOptions(CLI::App& sub, RecordOptions& options) {
  sub.add_flag("--force-rate", options.force_rate,
               "this rate even where an interrupt takes more than a fifth of the time between two");
  sub.add_option("--timer", options.timer,
                 "what counts CPU time: perf or posix (default: perf where it can be had)")
      ->type_name("T");
}

void AddSamplingOptions(CLI::App& sub, RecordOptions& options) {
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    sub.add_option(name, value, help)->type_name(type);
  };
  add("--rate", options.rate, "N",
      "stacks for each second of a thread's CPU time, up to 20000 (default 100)");
  sub.add_option("--event", options.events,
                 "sample at this, too or instead: an event below, or one of jprof metrics "
                 "--events; repeatable")
      ->type_name("E[=N]")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  AddTimerOptions(sub, options);
  sub.add_flag("--objects", options.objects,
               "the class of the allocated or locked object as a leaf");
  sub.add_flag("--java-only", options.java_only, "no native and kernel frames");
  sub.add_flag("--nostart", options.nostart, "sample when `jprof ctl PID start` says so");
  add("--delay", options.delay, "S", "begin after S seconds");
  add("--duration", options.duration, "S", "end after S seconds; the program goes on");
}

}  // namespace

std::vector<std::string> SplitMetrics(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("+,"), text.size());
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

void AddOptions(CLI::App& sub, RecordOptions& options) {
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    sub.add_option(name, value, help)->type_name(type);
  };
  add("-o,--out", options.out, "DIR",
      "where the profile goes (default: the main class or jar, NAME.jprof)");
  sub.add_flag(
      "--force", options.force,
      "replace the profile that is there; allow caps above a third of the available memory");
  if (options.mode == agent::Mode::kCallflow) {
    add("--metrics", options.metrics, "A+B",
        "what to measure, 8 at most (default: time; see jprof metrics)");
  }
  if (options.mode == agent::Mode::kScs) AddSamplingOptions(sub, options);
  if (options.mode == agent::Mode::kCalltree) {
    add("--sample", options.sample, "N",
        "also N samples a second of CPU time, up to 20000: exact calls, sampled time");
    AddTimerOptions(sub, options);
  }
  add("--threads", options.threads, "F",
      "threads to record: +name or -name, trailing * for any rest");
  if (options.mode != agent::Mode::kScs) {
    add("--methods", options.methods, "F", "methods to record: +pkg/Class.method or -pkg/Class*");
    add("--focus", options.focus, "P,P",
        "probe only these, all else runs at full speed: com.acme.*,-com.acme.util.*, or app");
    sub.add_flag("--keep-intrinsics", options.keep_intrinsics,
                 "with --focus: inlining and intrinsics also inside these methods");
  }
  if (options.mode == agent::Mode::kTrace) {
    add("--mode", options.trace_mode, "M",
        "normal (stop when full), wrap (keep the last) or continuous");
    add("--trace-memory", options.trace_memory, "N", "per thread, with K, M or G (default 64M)");
  } else {
    add("--tree-memory", options.tree_memory, "N",
        "cap of the call tree, with K, M or G (default 512M); from half of it on recursion is "
        "folded");
    sub.add_flag("--fold-recursion", options.fold_recursion,
                 "a method already on the path returns to that node: a smaller tree");
  }
  if (options.mode != agent::Mode::kScs) {
    add("--probe", options.probe, "P",
        "where events come from: auto, hotspot or jvmti (default auto)");
  }
  sub.add_flag("--children", options.children,
               "also the JVMs that the command starts, one profile each");
  add("--agent", options.agent, "LIB",
      "the agent library (default: JPROF_AGENT, or libjprof.so beside this program)");
}

Result<Understood> Understand(const RecordOptions& typed) {
  std::string text;
  for (const Passed& passed : kPassed) {
    if ((typed.*passed.value).empty()) continue;
    const bool patterns = passed.value == &RecordOptions::focus;
    const std::string value = patterns ? WithPluses(typed.focus) : typed.*passed.value;
    const auto word = Word(passed, value);
    if (!word) return std::unexpected(word.error());
    // Where it may stand beside FOCUS it must not bring SCS with it.
    text +=
        word->substr(passed.value == &RecordOptions::timer ? std::string_view("SCS,").size() : 0) +
        ",";
  }
  std::vector<std::string> notes;
  if (typed.mode == agent::Mode::kScs) {
    std::string events;
    for (const std::string& event : typed.events) {
      auto word = SampledEvent(event, notes);
      if (!word) return std::unexpected(word.error());
      events += (events.empty() ? "" : "+") + *word;
    }
    text += events.empty() ? "SCS" : "SCS=" + events;
  }
  if (typed.mode == agent::Mode::kCalltree && typed.sample.empty()) {
    if (typed.force_rate) return WrongUse("--force-rate: only samples have a rate; add --sample N");
    if (!typed.timer.empty()) return WrongUse("--timer: only samples have one; add --sample N");
  }
  auto options = agent::ParseAgentOptions(text, "");
  if (!options && options.error().message.starts_with("TIMER"))
    return WrongUse("--timer{}", options.error().message.substr(5));
  if (!options) return std::unexpected(options.error());
  options->force_rate = typed.force_rate;
  options->mode = typed.mode;
  options->object_info = typed.objects;
  options->java_only = typed.java_only;
  options->start = !typed.nostart;
  options->keep_intrinsics = typed.keep_intrinsics;
  options->fold_recursion = typed.fold_recursion;
  options->children = typed.children;
  if (typed.metrics.empty()) return Understood{*std::move(options), std::move(notes)};

  auto metrics = ptm::MetricsForAgent(SplitMetrics(typed.metrics));
  if (!metrics) return std::unexpected(metrics.error());
  options->metrics = std::move(metrics->names);
  return Understood{*std::move(options), std::move(metrics->notes)};
}

}  // namespace jprof::cli
