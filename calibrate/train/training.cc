#include "calibrate/train/training.h"

#include <algorithm>
#include <ctime>
#include <optional>

#include "calibrate/train/programs.h"
#include "calibrate/train/runner.h"
#include "common/utc_text.h"

namespace jprof::calibrate {
namespace {

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
                                .bias = metric.is_time() ? clock.timer_overhead() : 0,
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
  auto shapes = Compare(runner, plan, ShapesProgram(plan, sizes.untraced),
                        ShapesProgram(plan, sizes.traced), sizes.repeats, metadata);
  if (!shapes) return std::unexpected(shapes.error());
  Evidence evidence{std::move(*shapes), {}, {}};
  for (const auto& [state, program] : KernelPrograms(plan, sizes)) {
    auto kernels = Compare(runner, plan, program, program, sizes.kernel_repeats, metadata);
    if (!kernels) return std::unexpected(kernels.error());
    evidence.kernels[state] = std::move(*kernels);
    if (!MeasuresInlining(sizes, state)) continue;
    auto inlined = RunInlined(runner, program, sizes.kernel_repeats);
    if (!inlined) return std::unexpected(inlined.error());
    evidence.kernels[state].inlined = std::move(*inlined);
  }
  auto profile = runner.Profile("interval by interval", ShapesProgram(plan, sizes.train), true);
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
  for (const auto& [state, program] : KernelPrograms(plan, sizes))
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
