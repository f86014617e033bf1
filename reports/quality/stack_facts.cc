#include <algorithm>
#include <map>

#include "model/values/amount.h"
#include "model/values/statistics.h"
#include "profile/read/losses.h"
#include "reports/print/units.h"
#include "reports/quality/metric_text.h"
#include "reports/quality/profile_facts.h"
#include "reports/quality/sample_facts.h"

namespace jprof::reports {
namespace {

using enum Severity;

// Returns the first sampled metric of a profile with a tree, or null.
const model::MetricTotals* FirstSampled(const ProfileEvidence& of) {
  if (of.forest == nullptr) return nullptr;
  const auto found = std::ranges::find_if(
      of.metrics, [](const model::MetricTotals& metric) { return metric.info.is_samples(); });
  return found == of.metrics.end() || found->raw <= 0 ? nullptr : &*found;
}

// Calls `visit` with each row and what was sampled in it alone, in raw units of the first sampled
// metric.
template <typename Visit>
void ForEachSampled(const ProfileEvidence& of, const Visit& visit) {
  const auto m = static_cast<size_t>(FirstSampled(of) - of.metrics.data());
  const model::Rows& rows = of.forest->rows;
  for (size_t i = 0; i < rows.rows.size(); ++i)
    visit(i, rows.rows[i], static_cast<double>(rows.cell(i, m).raw));
}

Findings Covered(const ProfileEvidence& of) {
  const auto coverage = profile::CoverageOf(of.reader().header());
  if (!coverage) return {};
  const std::vector<profile::Loss> losses = profile::Losses(of.reader());
  const auto loss = std::ranges::find(losses, "uncovered_cpu_ms", &profile::Loss::name);
  const bool by_chance = loss == losses.end() || loss->count == 0;
  const double missing = 1 - coverage->Percent() / 100;
  return {{coverage->Percent() / 100,
           by_chance ? kInfo : Graded(missing, {.minor = 0, .major = 0.1, .severe = 0.5}),
           fmt::format("{:.1f} % of the CPU time has samples", coverage->Percent()),
           fmt::format("of the {} of CPU time of the sampled threads{}",
                       Duration(coverage->cpu_seconds * 1e9),
                       by_chance ? "" : fmt::format("; {} {}", loss->count, loss->description))}};
}

Findings Sampled(const ProfileEvidence& of) {
  Findings found;
  for (size_t m = 0; m < of.metrics.size(); ++m) {
    const model::MetricTotals& metric = of.metrics[m];
    if (!metric.info.is_samples() || IsPrintedBefore(of.metrics, m)) continue;
    const bool counted = metric.counts != model::MetricTotals::kNoCounts;
    const double samples = counted ? of.metrics[metric.counts].raw : 0;
    const bool is_exact = metric.info.period.value <= 1;  // each event is a sample
    std::string text = SampledText(of.metrics, m);
    if (metric.info.name != "samples") text = metric.info.name + ": " + text;
    Finding finding = m > 0 || is_exact || !counted ? Finding{samples, kInfo, text}
                                                    : SamplesFinding(samples, text);
    finding.detail = RateText(metric.info);
    found.push_back(std::move(finding));
  }
  return found;
}

// Finds the share of the samples on whose stacks no frame is a Java method.
Findings WithoutJava(const ProfileEvidence& of) {
  const model::MetricTotals* metric = FirstSampled(of);
  if (metric == nullptr) return {};
  std::vector<bool> in_java(of.forest->rows.rows.size());
  double outside = 0;
  ForEachSampled(of, [&](size_t i, const model::Row& row, double own) {
    if (row.parent != model::kNoNode) {
      const bool is_java = row.method != profile::kOverflowMethod &&
                           (of.names->Parts(row.method).flags & profile::kMethodNotJava) == 0;
      in_java[i] = is_java || in_java[row.parent];
    }
    if (!in_java[i]) outside += own;
  });
  return WithoutJavaFinding(outside / metric->raw);
}

Findings WithoutSymbols(const ProfileEvidence& of) {
  if (FirstSampled(of) == nullptr) return {};
  std::map<std::string, double> modules;
  ForEachSampled(of, [&](size_t, const model::Row& row, double own) {
    if (own > 0 && of.names->IsUnnamed(row.method))
      modules[std::string(of.names->Parts(row.method).class_name)] += own;
  });
  return NoSymbolsFinding(modules, FirstSampled(of)->raw);
}

// Returns the fact about a part of all stacks, which `text` describes.
Findings OfStacks(uint64_t count, uint64_t stacks, const Limits& limits, std::string_view text) {
  if (count == 0 || stacks == 0) return {};
  const double share = static_cast<double>(count) / static_cast<double>(stacks);
  return {{share, Graded(share, limits), fmt::format("{:.2f} % of stacks {}", 100 * share, text),
           fmt::format("{} of {}", count, stacks)}};
}

Findings UnknownFrames(const ProfileEvidence& of) {
  const profile::ThreadRecord sum = SumOfSamples(of.reader());
  return OfStacks(sum.samples_unknown, sum.samples, {.minor = 0.01, .major = 0.1},
                  "have unknown frames");
}

Findings CutStacks(const ProfileEvidence& of) {
  const profile::ThreadRecord sum = SumOfSamples(of.reader());
  return OfStacks(sum.samples_truncated, sum.samples, {.minor = 0.01, .major = 0.1},
                  "are cut at the depth limit");
}

Findings InHeap(const ProfileEvidence& of) {
  return OfStacks(of.reader().header().samples_in_heap, SumOfSamples(of.reader()).samples,
                  {.minor = 0.01, .major = 0.2}, "are of virtual threads and end early");
}

Findings OwnStacks(const ProfileEvidence& of) {
  const profile::ThreadRecord sum = SumOfSamples(of.reader());
  return OfStacks(sum.samples_own, sum.samples + sum.samples_own, {.minor = 0.1, .major = 0.5},
                  "were in the profiler itself and are dropped");
}

Findings SamplingCost(const ProfileEvidence& of) {
  const profile::ThreadRecord sum = SumOfSamples(of.reader());
  const double per_second = static_cast<double>(of.reader().header().ticks_per_second);
  if (sum.samples == 0 || sum.sampling_ticks == 0 || per_second == 0) return {};
  const double cost = static_cast<double>(sum.sampling_ticks) / per_second * 1e9;
  const auto cpu_ns = static_cast<double>(of.reader().header().sampled_cpu_ns);
  const double share = cpu_ns > 0 ? cost / cpu_ns : 0;
  return {{share, Graded(share, {.minor = 0.2, .major = 1}),
           fmt::format("taking the stacks cost {}{}", Duration(cost),
                       cpu_ns > 0 ? fmt::format(" ({:.1f} % of the CPU time)", 100 * share) : ""),
           Duration(cost / static_cast<double>(sum.samples)) + " each"}};
}

Findings OtherTimer(const ProfileEvidence& of) {
  const std::string& reason = of.reader().meta().options.timer_reason;
  if (reason.empty()) return {};
  return {{1, kInfo, "POSIX timers of the threads, not perf events", reason}};
}

constexpr FactRow<ProfileEvidence> kStackFacts[] = {
    {"covered", Covered,
     "Each sample stands for a part of the CPU time of its thread. Time without samples is missing "
     "in all values.",
     "jprof info PROFILE names the threads; --timer posix samples in another way."},
    {"samples", Sampled, kSamplesMeaning, "Record for a longer time, or with a higher --rate."},
    {"without_java", WithoutJava, kWithoutJavaMeaning},
    {"without_symbols", WithoutSymbols, kNoSymbolsMeaning, kNoSymbolsAdvice},
    {"unknown_frames", UnknownFrames,
     "A part of the stack could not be read, so that its callers are missing or wrong."},
    {"cut_stacks", CutStacks,
     "Their outer frames are missing: they appear below the thread, not below their callers."},
    {"in_heap", InHeap, "Their outer frames were still in the heap when the sample was taken."},
    {"own_stacks", OwnStacks, "Time of the profiler itself is not attributed to the program."},
    {"sampling_cost", SamplingCost,
     "It is elapsed time in the signal handler: on a busy machine it includes waiting for a CPU.",
     "Record with a lower --rate."},
    {"timer", OtherTimer,
     "Stacks have no functions of the kernel. jprof doctor states what perf events need."},
};

}  // namespace

profile::ThreadRecord SumOfSamples(const profile::Reader& reader) {
  profile::ThreadRecord sum;
  for (const profile::Thread& thread : reader.threads()) {
    sum.samples += thread.record.samples;
    sum.samples_unknown += thread.record.samples_unknown;
    sum.samples_truncated += thread.record.samples_truncated;
    sum.samples_own += thread.record.samples_own;
    sum.samples_lost += thread.record.samples_lost;
    sum.sampling_ticks += thread.record.sampling_ticks;
  }
  return sum;
}

ProfileFacts StackFacts() { return kStackFacts; }

}  // namespace jprof::reports
