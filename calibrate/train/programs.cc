#include "calibrate/train/programs.h"

#include <ranges>
#include <string_view>

namespace jprof::calibrate {
namespace {

// Returns a program of C: `main` is the kind of programs, the arguments are calls and rounds.
Program HookProgramOf(const char* kind, const Size& size) {
  return {{}, kind, {std::to_string(size.calls), std::to_string(size.rounds)}};
}

}  // namespace

std::string CountersOf(const Plan& plan) {
  std::string counters;
  for (const auto part : std::views::split(std::string_view(plan.metrics), '+')) {
    const std::string_view metric(part);
    if (metric.starts_with("raw:")) counters.append(counters.empty() ? "" : "+").append(metric);
  }
  return counters;
}

Sizes SizesOf(const Plan& plan) {
  const bool counters_only =
      !plan.metrics.empty() && CountersOf(plan).size() == plan.metrics.size();
  if (!plan.hook_trainer.empty()) {
    if (counters_only) return {1, {50, 1}, {50, 1}, {50, 1}, 1, 1, true};
    if (plan.quick) return {2, {5'000, 11}, {5'000, 11}, {1'000, 2}, 3, 1, false};
    return {2, {20'000, 21}, {20'000, 21}, {5'000, 2}, 5, 3, false};
  }
  if (plan.run_traced) return {1, {10, 1}, {10, 1}, {10, 1}, 1, 0, true};
  if (counters_only && plan.quick) return {1, {50, 1}, {100, 1}, {20, 1}, 1, 0, true};
  if (counters_only) return {2, {500, 3}, {500, 3}, {100, 1}, 2, 1, true};
  if (plan.quick) return {2, {500, 11}, {500, 5}, {200, 2}, 3, 1, false};
  return {2, {2000, 11}, {2000, 7}, {500, 2}, 3, 2, false};
}

Program ShapesProgram(const Plan& plan, const Size& size) {
  if (!plan.hook_trainer.empty()) return HookProgramOf("shapes", size);
  // The JVM compiles only what the trainer requests, synchronously.
  return {{"-XX:-BackgroundCompilation", "-XX:CompileThresholdScaling=1000",
           "-XX:+UnlockDiagnosticVMOptions", "-XX:+WhiteBoxAPI"},
          "Transitions",
          {plan.natives.string(), std::to_string(size.calls), std::to_string(size.rounds)}};
}

// The arguments of Library are warm-up walks, walks per round and rounds.
std::map<char, Program> KernelPrograms(const Plan& plan, const Sizes& sizes) {
  if (sizes.kernel_repeats == 0) return {};
  if (!plan.hook_trainer.empty())
    return {{'F', HookProgramOf("kernels", sizes.few_walks ? Size{50, 1} : Size{1'000, 11})}};
  if (sizes.few_walks) {
    return {{'I', {{"-Xint"}, "Library", {"0", "10", "1"}}},
            {'J',
             {{"-XX:TieredStopAtLevel=1", "-XX:-BackgroundCompilation"},
              "Library",
              {"200", "20", "1"}}},
            {'R', {{"-XX:-BackgroundCompilation"}, "Library", {"1000", "50", "1"}}}};
  }
  return {{'I', {{"-Xint"}, "Library", {"0", "20", "3"}}},
          {'J', {{"-XX:TieredStopAtLevel=1"}, "Library", {"200", "100", "3"}}},
          {'R', {{}, "Library", {"2000", "200", "3"}}}};
}

Program Counted(Program program, const Plan& plan) {
  const std::string counters = CountersOf(plan);
  if (counters.empty()) return program;
  if (plan.hook_trainer.empty() && program.main == "Library")
    program.arguments.push_back(plan.natives.string());
  program.arguments.push_back(counters);
  return program;
}

bool MeasuresInlining(const Sizes& sizes, char state) {
  return !sizes.few_walks && state != 'I' && state != 'F';
}

}  // namespace jprof::calibrate
