#include "calibrate/train/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>

#include "calibrate/train/child.h"
#include "common/utc_text.h"
#include "options/agent_argument.h"
#include "options/agent_options.h"

namespace jprof::calibrate {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kRunLimit{
    300};  // a run takes seconds, but longer on a loaded machine

// Describes a run of the trainer Transitions: each of `rounds` makes `calls` walks of each shape.
struct Size {
  int calls, rounds;
};

struct Sizes {
  int trainings;
  Size untraced, traced, train;
  int repeats;         // of the untraced and traced runs; the least of each shape is used
  int kernel_repeats;  // the same of the kernels' runs
  bool few_walks;      // of the kernels
};

// Returns the counters of the metric set as the trainer's argument: a+b.
std::string CountersOf(const Plan& plan) {
  std::string counters;
  for (const auto part : std::views::split(std::string_view(plan.metrics), '+')) {
    const std::string_view metric(part);
    if (metric.starts_with("raw:")) counters.append(counters.empty() ? "" : "+").append(metric);
  }
  return counters;
}

// Returns the sizes of a plan. Counts hardly vary between walks: if all metrics are counters, few
// walks suffice. A quick plan then has one training and no check.
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

// Describes one program of the trainers' jar.
struct Program {
  std::vector<std::string> options;  // of the JVM
  std::string main;
  std::vector<std::string> arguments;
  bool inlines = false;  // production code instead of the code that there is with probes
};

// Returns a program of C: `main` is the kind of programs, the arguments are calls and rounds.
Program HookProgramOf(const char* kind, const Size& size) {
  return {{}, kind, {std::to_string(size.calls), std::to_string(size.rounds)}};
}

// Returns the same program with the arguments that make it count its own true cost.
Program Counted(Program program, const Plan& plan) {
  const std::string counters = CountersOf(plan);
  if (counters.empty()) return program;
  if (plan.hook_trainer.empty() && program.main == "Library")
    program.arguments.push_back(plan.natives.string());
  program.arguments.push_back(counters);
  return program;
}

Program Shapes(const Plan& plan, const Size& size) {
  if (!plan.hook_trainer.empty()) return HookProgramOf("shapes", size);
  // The JVM compiles only what the trainer requests, synchronously.
  return {{"-XX:-BackgroundCompilation", "-XX:CompileThresholdScaling=1000",
           "-XX:+UnlockDiagnosticVMOptions", "-XX:+WhiteBoxAPI"},
          "Transitions",
          {plan.natives.string(), std::to_string(size.calls), std::to_string(size.rounds)}};
}

// Returns the kernels by compile state. The arguments are warm-up walks, walks per round, rounds.
// In state R the JVM compiles by its own policy.
std::map<char, Program> Kernels(const Plan& plan, const Sizes& sizes) {
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

// Returns whether lost inlining is measured. It is in the error of times only; the interpreter does
// not inline, and functions of C with sleds are inlined as without.
bool MeasuresInlining(const Sizes& sizes, char state) {
  return !sizes.few_walks && state != 'I' && state != 'F';
}

class Runner {
 public:
  Runner(const Plan& plan, int total) : plan_(plan), total_(total) {}

  // Runs the trainer, under the agent if `agent_options` is not empty.
  Result<Truth> Run(std::string_view step, const Program& program,
                    const std::string& agent_options) {
    if (plan_.progress) plan_.progress(done_, total_, step);
    ++done_;
    const auto argv = Command(program, agent_options);
    const fs::path log = plan_.work / "trainer.log";
    const auto child = plan_.run_traced ? plan_.run_traced(argv, log)
                                        : RunChild(argv, log, kRunLimit, plan_.interrupted);
    if (!child) return std::unexpected(child.error());
    auto shapes = ParseShapes(child->output);
    functions_ = ParseFunctions(child->output);
    if (shapes && child->status == 0) return shapes;
    return Fail("the trainer failed under {} (exit status {}): {}",
                (plan_.hook_trainer.empty() ? plan_.java : plan_.hook_trainer).string(),
                child->status, Reason(child->output));
  }

  struct Profiled {
    profile::Reader reader;
    profile::Methods methods;
  };

  // Runs it under the agent and returns the profile, with the intervals if `train`.
  Result<Profiled> Profile(std::string_view step, const Program& program, bool train) {
    options::AgentOptions agent = {
        .mode = Mode::kCallflow, .out = plan_.work / "trainer.jprof", .train = train};
    fs::remove_all(agent.out);
    if (const auto done = options::ApplyOptions("METRICS=" + plan_.metrics, agent); !done)
      return WrongUse("{}", options::Render(done.error(), options::Interface::kAgentString));
    const auto run = Run(step, program, options::ToString(agent));
    if (!run) return std::unexpected(run.error());
    auto reader = profile::Reader::Open(agent.out);
    if (!reader) return std::unexpected(reader.error());
    profile::Methods methods = reader->ReadMethods();
    NameFunctions(functions_, methods);
    return Profiled{*std::move(reader), std::move(methods)};
  }

 private:
  std::vector<std::string> Command(const Program& program, const std::string& agent_options) const {
    if (!plan_.hook_trainer.empty()) return HookCommand(program, agent_options);
    std::vector<std::string> argv = {plan_.java.string()};
    if (!agent_options.empty())
      argv.push_back(options::AgentArgument(plan_.agent.string(), agent_options));
    if (!program.inlines) argv.push_back("-XX:-Inline");  // the same code as with probes
    argv.push_back("-XX:+UseSerialGC");
    argv.insert(argv.end(), program.options.begin(), program.options.end());
    argv.push_back("-Xbootclasspath/a:" + plan_.trainers.string());
    argv.push_back("jprof.trainers." + program.main);
    argv.insert(argv.end(), program.arguments.begin(), program.arguments.end());
    return argv;
  }

  std::vector<std::string> HookCommand(const Program& program,
                                       const std::string& agent_options) const {
    std::vector<std::string> argv;
    if (!agent_options.empty()) {
      argv = {"env", "LD_PRELOAD=" + plan_.agent.string(), "JPROF_HOOKS=" + agent_options};
    }
    argv.push_back(plan_.hook_trainer.string());
    argv.push_back(agent_options.empty() ? "plain" : "hooked");
    argv.push_back(program.main);
    argv.insert(argv.end(), program.arguments.begin(), program.arguments.end());
    if (!agent_options.empty() && !CountersOf(plan_).empty()) argv.push_back("-");
    return argv;
  }

  // Returns the line of output that best explains why the JVM failed.
  static std::string Reason(std::string_view output) {
    std::string first;
    while (!output.empty()) {
      const size_t end = std::min(output.find('\n'), output.size());
      const std::string_view line = output.substr(0, end);
      output.remove_prefix(std::min(end + 1, output.size()));
      const bool noise = line.empty() || line.starts_with("Warning:") ||
                         line.starts_with("WARNING:") || line.starts_with("shape ") ||
                         line.starts_with("function ") || line.find(" warning:") != line.npos;
      if (!noise && first.empty()) first = line;
      if (line.starts_with("Error") || line.starts_with("Exception") || line.starts_with("jprof")) {
        return std::string(line);
      }
    }
    return first.empty() ? "it printed nothing" : first;
  }

  const Plan& plan_;
  int total_;
  int done_ = 0;
  FunctionNames functions_;  // of the last run
};

// Returns the least of the means of several runs, because noise only adds, and adds to all events
// of a run alike. TAU uses the same estimator. On a busy machine, overheads are still 0.3 to 0.8 ns
// per event too large.
double Least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

// Sets `least` to the minimum of `member` over the runs that have a walk of this name.
template <typename Run>
void MinimumOver(const std::vector<Run>& runs, const ShapeName& name, std::vector<double>& least,
                 auto member) {
  for (size_t m = 0; m < least.size(); ++m) {
    std::vector<double> values;
    for (const Run& run : runs) {
      if (const auto found = run.find(name); found != run.end() && m < member(found->second).size())
        values.push_back(member(found->second)[m]);
    }
    least[m] = Least(values);
  }
}

Truth LeastOf(const std::vector<Truth>& runs) {
  Truth least = runs[0];
  for (auto& [name, truths] : least)
    MinimumOver(
        runs, name, truths, [](const auto& values) -> auto& { return values; });
  return least;
}

// Returns the least of all runs for each metric. Counts are the same in every run.
std::map<ShapeName, Walk> LeastOf(const std::vector<std::map<ShapeName, Walk>>& runs) {
  std::map<ShapeName, Walk> least = runs[0];
  for (auto& [name, walk] : least) {
    MinimumOver(
        runs, name, walk.metrics, [](const Walk& run) -> auto& { return run.metrics; });
  }
  return least;
}

struct ProfileMetadata {
  Fingerprint fingerprint;
  std::vector<MetricMetadata> metrics;
};

Result<ProfileMetadata> MetadataOf(const profile::Reader& profile) {
  ProfileMetadata metadata{.fingerprint = profile.meta().fingerprint};
  const profile::Clock& clock = profile.meta().clock;
  size_t counters = 0;
  for (const profile::Metric& metric : profile.meta().metrics) {
    metadata.metrics.push_back({.name = metric.name,
                                .unit = metric.unit,
                                .index = metadata.metrics.size(),
                                .is_time = metric.is_time(),
                                .scale = metric.scale,
                                .granularity = metric.is_time() ? clock.granularity_ticks : 1,
                                .bracket_ticks = clock.bracket_ticks,
                                .bias = metric.is_time() ? clock.bracket_bias() : 0,
                                .truth = metric.is_time() ? 0 : ++counters});
  }
  if (metadata.fingerprint.empty() || metadata.metrics.empty()) {
    return Fail(
        "the trainer's profile has no fingerprint or no metrics: is the agent another version?");
  }
  return metadata;
}

// Adjusts `walks` to the timer overhead of `reference`, because each run measures its own.
void Rebase(std::map<ShapeName, Walk>& walks, const ProfileMetadata& run,
            const ProfileMetadata& reference) {
  for (auto& [name, walk] : walks) {
    double events = 0;
    for (const auto& [key, count] : walk.counts) events += count;
    for (size_t m = 0; m < walk.metrics.size(); ++m) {
      walk.metrics[m] += events * (reference.metrics[m].bias - run.metrics[m].bias);
    }
  }
}

// Runs a program untraced and traced, `repeats` times.
Result<Walks> Compare(Runner& runner, const Plan& plan, const Program& untraced,
                      const Program& traced, int repeats,
                      std::optional<ProfileMetadata>& metadata) {
  const std::string counters = CountersOf(plan);
  const size_t truths_wanted =
      counters.empty() ? 1 : 2 + static_cast<size_t>(std::ranges::count(counters, '+'));
  std::vector<Truth> truths;
  std::vector<std::map<ShapeName, Walk>> walks;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    auto truth = runner.Run("without the profiler", Counted(untraced, plan), "");
    if (!truth) return std::unexpected(truth.error());
    if (truth->begin()->second.size() != truths_wanted)
      return Fail("the trainer counted other events than requested");
    truths.push_back(std::move(*truth));
    auto profile = runner.Profile("with the profiler", traced, false);
    if (!profile) return std::unexpected(profile.error());
    const auto tree = profile->reader.ReadTree();
    if (!tree) return std::unexpected(tree.error());
    walks.push_back(WalksOf(*tree, profile->methods));
    if (walks.back().empty()) return Fail("the trainer's profile contains none of its methods");
    const auto found = MetadataOf(profile->reader);
    if (!found) return std::unexpected(found.error());
    if (!metadata) metadata = *found;
    Rebase(walks.back(), *found, *metadata);
  }
  return Walks{.truth = LeastOf(truths), .walks = LeastOf(walks)};
}

// Returns the production time of each kernel.
Result<Truth> RunInlined(Runner& runner, Program program, int repeats) {
  program.inlines = true;
  std::vector<Truth> truths;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    auto truth = runner.Run("without the profiler, with inlining", program, "");
    if (!truth) return std::unexpected(truth.error());
    truths.push_back(std::move(*truth));
  }
  return LeastOf(truths);
}

Result<Evidence> RunTraining(Runner& runner, const Plan& plan, const Sizes& sizes,
                             std::optional<ProfileMetadata>& metadata) {
  auto shapes = Compare(runner, plan, Shapes(plan, sizes.untraced), Shapes(plan, sizes.traced),
                        sizes.repeats, metadata);
  if (!shapes) return std::unexpected(shapes.error());
  Evidence evidence{std::move(*shapes), {}, {}};
  for (const auto& [state, program] : Kernels(plan, sizes)) {
    auto kernels = Compare(runner, plan, program, program, sizes.kernel_repeats, metadata);
    if (!kernels) return std::unexpected(kernels.error());
    evidence.kernels[state] = std::move(*kernels);
    if (!MeasuresInlining(sizes, state)) continue;
    auto inlined = RunInlined(runner, program, sizes.kernel_repeats);
    if (!inlined) return std::unexpected(inlined.error());
    evidence.kernels[state].inlined = std::move(*inlined);
  }
  auto profile = runner.Profile("interval by interval", Shapes(plan, sizes.train), true);
  if (!profile) return std::unexpected(profile.error());
  evidence.samples = SamplesOf(profile->reader, profile->methods);
  if (evidence.samples.records == 0) return Fail("the training run recorded no intervals");
  return evidence;
}

// Checks the first training's table on the last one's kernels.
void CrossCheck(const Metric& table, const Evidence& other, const MetricMetadata& metadata,
                Trained& trained) {
  auto kernels = other.kernels.find(metadata.is_time ? 'R' : 'J');
  if (kernels == other.kernels.end()) kernels = other.kernels.find('F');
  if (kernels == other.kernels.end()) return;
  const Centre left = CentreOf(LeftPerEvent(kernels->second, table, metadata));
  trained.checks.push_back({metadata.name, metadata.unit, left.median * metadata.scale,
                            left.deviation * metadata.scale});
}

}  // namespace

Result<Trained> Train(const Plan& plan) {
  const Sizes sizes = SizesOf(plan);
  int kernel_runs = 0;
  for (const auto& [state, program] : Kernels(plan, sizes))
    kernel_runs += (MeasuresInlining(sizes, state) ? 3 : 2) * sizes.kernel_repeats;
  Runner runner(plan, sizes.trainings * (2 * sizes.repeats + kernel_runs + 1));
  std::optional<ProfileMetadata> metadata;
  std::vector<Evidence> trainings;
  for (int training = 0; training < sizes.trainings; ++training) {
    auto evidence = RunTraining(runner, plan, sizes, metadata);
    if (!evidence) return std::unexpected(evidence.error());
    trainings.push_back(std::move(*evidence));
  }
  Trained trained{
      .table = {.fingerprint = metadata->fingerprint, .made_at = UtcText(std::time(nullptr))}};
  for (const MetricMetadata& metric : metadata->metrics) {
    const Metric first = MakeMetric(trainings.front(), metric),
                 second = MakeMetric(trainings.back(), metric);
    CrossCheck(first, trainings.back(), metric, trained);
    if (metric.is_time) trained.scale = metric.scale;
    trained.table.metrics.push_back(Combine(first, second));
  }
  return trained;
}

}  // namespace jprof::calibrate
