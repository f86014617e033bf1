#include <fmt/format.h>

#include <algorithm>

#include "reports/print/units.h"
#include "reports/quality/fact_row.h"
#include "reports/quality/profile_facts.h"
#include "reports/quality/quality_of.h"
#include "reports/quality/sample_facts.h"

namespace jprof::reports {
namespace {

using enum Severity;

struct CombinedEvidence {
  const model::Combined& combined;
  const model::CombinedView& view;
};

Findings CombinedNotes(const CombinedEvidence& of) {
  Findings found;
  for (const std::string& note : of.combined.meta.notes) found.push_back({1, kMinor, note});
  return found;
}

// Grades a difference by its size: exit statuses are 3, other programs or machines 2, outputs 1.5,
// and other differences relative.
Findings Different(const CombinedEvidence& of) {
  Findings found;
  for (const model::RunDifference& difference : of.view.differences) {
    found.push_back({difference.size,
                     std::max(kMinor, Graded(difference.size, {.major = 0.1, .severe = 3})),
                     difference.text});
  }
  return found;
}

Findings Uncounted(const CombinedEvidence& of) {
  const double share = of.view.uncounted;
  return {
      {share, Graded(share, {.minor = 0.01, .major = 0.1, .severe = 0.5}),
       fmt::format("{:.1f} % of samples in contexts that the counted run did not see", 100 * share),
       fmt::format("{} contexts are in both", of.view.common_contexts)}};
}

Findings Outside(const CombinedEvidence& of) { return WithoutJavaFinding(of.view.outside); }

Findings FewSamples(const CombinedEvidence& of) {
  double samples = 0;
  for (const model::RunSummary& run : of.view.sampled) samples += run.samples;
  return {SamplesFinding(samples, fmt::format("{:.0f} samples in all runs", samples))};
}

Findings Unsampled(const CombinedEvidence& of) {
  return {{of.view.calls_unsampled, kInfo,
           fmt::format("{:.1f} % of calls in contexts without a sample",
                       100 * of.view.calls_unsampled)}};
}

// Returns what the usual differences between runs are known from.
std::string LearnedFrom(const profile::RunSpreads& usual) {
  if (usual.profiles == 0) return "known from ten programs on a virtual machine";
  return fmt::format("known from {} on this machine",
                     Counted(usual.profiles, "earlier profile", "earlier profiles"));
}

Findings Spread(const CombinedEvidence& of) {
  const profile::RunSpreads& spreads = of.view.times->spreads();
  const std::string differ =
      fmt::format("{:.1f} % in their total, {:.1f} % in a context's share",
                  100 * spreads.total.relative, 100 * spreads.share.relative);
  if (!of.view.times->knows_runs()) {
    return {{0, kMajor, "one sampled run: how much runs differ is not known",
             fmt::format("intervals contain the difference that is usual, {}: {}",
                         LearnedFrom(of.combined.meta.usual), differ)}};
  }
  return {{spreads.total.relative, Graded(spreads.total.relative, {.minor = 0.2, .major = 0.5}),
           "runs differ by " + differ,
           fmt::format("pooled from these runs and the usual difference, {}; the intervals "
                       "contain it, besides counting statistics",
                       LearnedFrom(of.combined.meta.usual))}};
}

Findings Runs(const CombinedEvidence& of) {
  const auto text = [](const model::RunSummary& summary) {
    return Finding{1, kInfo, fmt::format("{}: {}", summary.run.profile, RunText(summary))};
  };
  Findings found = {text(of.view.counted)};
  for (const model::RunSummary& summary : of.view.sampled) found.push_back(text(summary));
  return found;
}

constexpr FactRow<CombinedEvidence> kCombinedFacts[] = {
    {"runs_differ", Different,
     "The runs did not do the same work, so that calls of one and times of another do not belong "
     "together there.",
     "Make the program repeat itself (fixed seed, same input), and record again."},
    {"note", CombinedNotes, "It was noted when the runs were combined."},
    {"uncounted", Uncounted,
     "These contexts have times but no calls: the program took other paths in the counted run.",
     "jprof report combined --format csv PROFILE lists them: counted is no."},
    {"one_run", Spread,
     "How much runs differ widens every interval. The more runs, the better it is known.",
     "jprof profile --runs 3, or more"},
    {"samples", FewSamples, kSamplesMeaning,
     "jprof profile --runs N with more runs, or a higher --rate"},
    {"without_java", Outside, kWithoutJavaMeaning},
    {"unsampled", Unsampled,
     "Their times are estimates from the calls (marked ~), or below what samples can show.",
     "jprof profile --runs N with more runs, or a higher --rate"},
    {"run", Runs, "What each run was."},
};

}  // namespace

std::string RunText(const model::RunSummary& summary) {
  std::string text = summary.how;
  const profile::Run& run = summary.run;
  if (run.wall_seconds) text += fmt::format(", {:.3f} s elapsed", *run.wall_seconds);
  if (run.cpu_seconds) {
    text += fmt::format(", {:.3f} s CPU", *run.cpu_seconds);
  } else if (summary.cpu_seconds > 0) {
    text += fmt::format(", {:.3f} s CPU of Java threads", summary.cpu_seconds);
  }
  if (run.exit_status) text += fmt::format(", exit status {}", *run.exit_status);
  if (run.output == profile::Run::Output::kEqual) text += ", same output";
  if (run.output == profile::Run::Output::kDiffers) text += ", OTHER OUTPUT";
  if (summary.calls > 0)
    return text + fmt::format(": {} calls of {} methods", summary.calls, summary.methods);
  return text + fmt::format(": {:.0f} samples, {} methods", summary.samples, summary.methods);
}

Quality QualityOf(const model::Combined& combined, const model::CombinedView& view) {
  Quality quality;
  AddFacts<CombinedEvidence>(kCombinedFacts, {combined, view}, combined.directory, quality);
  quality.AddOf(view.counted.run.profile, QualityOfRun(combined.counted));
  for (size_t run = 0; run < combined.sampled.size(); ++run)
    quality.AddOf(view.sampled[run].run.profile, QualityOfRun(combined.sampled[run]));
  return quality;
}

}  // namespace jprof::reports
