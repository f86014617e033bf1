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
    {&RecordOptions::tree_memory, "--tree-memory", "TREE_MEMORY"},
    {&RecordOptions::trace_mode, "--mode", "TRACE_MODE"},
    {&RecordOptions::trace_memory, "--trace-memory", "TRACE_MEMORY"},
    {&RecordOptions::probe, "--probe", "PROBE"},
};

// A comma would end the value.
std::string WithoutCommas(std::string_view value) {
  std::string text;
  for (const char c : value) text += c == ',' ? std::string("%2C") : std::string(1, c);
  return text;
}

// "THREADS=..." for one option, checked alone so that the error can name the option as it was
// typed.
Result<std::string> Word(const Passed& passed, const std::string& value) {
  const std::string word = fmt::format("{}={}", passed.word, WithoutCommas(value));
  const auto parsed = agent::ParseAgentOptions(word, "");
  if (parsed) return word;
  const std::string& message = parsed.error().message;
  const bool named = message.starts_with(passed.word);
  return WrongUse("{}{}", passed.option,
                  named ? message.substr(passed.word.size()) : ": " + message);
}

std::vector<std::string> SplitMetrics(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("+,"), text.size());
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

}  // namespace

void AddOptions(CLI::App& sub, RecordOptions& options) {
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    sub.add_option(name, value, help)->type_name(type);
  };
  add("-o,--out", options.out, "DIR",
      "where the profile goes (default: the main class or jar, NAME.jprof)");
  sub.add_flag("--force", options.force, "replace the profile that is there");
  if (options.mode == agent::Mode::kCallflow) {
    add("--metrics", options.metrics, "A+B",
        "what to measure, 8 at most (default: time; see jprof metrics)");
  }
  add("--threads", options.threads, "F",
      "threads to record: +name or -name, trailing * for any rest");
  add("--methods", options.methods, "F", "methods to record: +pkg/Class.method or -pkg/Class*");
  if (options.mode == agent::Mode::kTrace) {
    add("--mode", options.trace_mode, "M",
        "normal (stop when full), wrap (keep the last) or continuous");
    add("--trace-memory", options.trace_memory, "N", "per thread, with K, M or G (default 64M)");
  } else {
    add("--tree-memory", options.tree_memory, "N",
        "cap of the call tree, with K, M or G (default 512M)");
    sub.add_flag("--fold-recursion", options.fold_recursion,
                 "a method already on the path returns to that node: a smaller tree");
  }
  add("--probe", options.probe, "P",
      "where events come from: auto, hotspot or jvmti (default auto)");
  sub.add_flag("--children", options.children,
               "also the JVMs that the command starts, one profile each");
  add("--agent", options.agent, "LIB",
      "the agent library (default: JPROF_AGENT, or libjprof.so beside this program)");
}

Result<Understood> Understand(const RecordOptions& typed) {
  std::string text;
  for (const Passed& passed : kPassed) {
    const std::string& value = typed.*passed.value;
    if (value.empty()) continue;
    const auto word = Word(passed, value);
    if (!word) return std::unexpected(word.error());
    text += *word + ",";
  }
  auto options = agent::ParseAgentOptions(text, "");
  if (!options) return std::unexpected(options.error());
  options->mode = typed.mode;
  options->fold_recursion = typed.fold_recursion;
  options->children = typed.children;
  if (typed.metrics.empty()) return Understood{*std::move(options), {}};

  auto metrics = ptm::MetricsForAgent(SplitMetrics(typed.metrics));
  if (!metrics) return std::unexpected(metrics.error());
  options->metrics = std::move(metrics->names);
  return Understood{*std::move(options), std::move(metrics->notes)};
}

}  // namespace jprof::cli
