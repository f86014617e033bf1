// Counts how often the 95 % intervals of a few sampled runs contain the mean of the other runs
// (docs/decisions/0040): see kHelp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "calibrate/store/run_history.h"
#include "model/combined/combined.h"
#include "model/open/open.h"

namespace {

using jprof::calibrate::RunRecord;
using namespace jprof::model;

constexpr char kHelp[] =
    R"(Usage: interval_coverage PROFILE...
Counts how often the 95 % intervals of 1, 2, 3 and 5 sampled runs in a row contain the mean of the
other runs. PROFILE: a combined profile with many sampled runs, one for each program:
  bench/accuracy/coverage_runs.py records them

There is a table for each history of the machine: none, three pairs of runs of each other program,
and these and three pairs of the program's own runs, which are not those that are judged.

Columns, each with the median of half the interval, in percent of the value:
  whole      CPU time of the whole run
  time       CUM of contexts, and so time per call, whose number is exact
  share      CUM in percent of the whole
  alone      SELF
Contexts are those with at least 10 samples expected in K runs, and with less than 0.9 of their
caller's samples: others are one row with it in reports. Exit status: 0, or 2 for wrong use.
)";

struct Judged {
  size_t contained = 0, all = 0;
  std::vector<double> halves;  // relative

  void Add(const Estimate& estimate, double truth) {
    ++all;
    contained += estimate.Holds(truth);
    if (estimate.value > 0) halves.push_back((estimate.high - estimate.low) / 2 / estimate.value);
  }
  double Coverage() const { return static_cast<double>(contained) / static_cast<double>(all); }
  double Median() {
    if (halves.empty()) return 0;
    std::ranges::nth_element(halves, halves.begin() + static_cast<ptrdiff_t>(halves.size() / 2));
    return halves[halves.size() / 2];
  }
};

constexpr unsigned kMostRuns = 5;  // of which an interval is judged

constexpr const char* kQuantities[] = {"whole", "time", "share", "alone"};
using Coverages = std::map<std::string, Judged>;

// The tree with the samples of some runs in a row only.
CombinedTree RunsOf(const CombinedTree& tree, size_t first, size_t count) {
  CombinedTree part;
  part.runs = count;
  part.contexts = tree.contexts;
  part.period_ns.assign(tree.period_ns.begin() + static_cast<ptrdiff_t>(first),
                        tree.period_ns.begin() + static_cast<ptrdiff_t>(first + count));
  for (size_t i = 0; i < tree.contexts.size(); ++i) {
    for (size_t run = first; run < first + count; ++run) {
      part.samples.push_back(tree.Samples(i, run));
      part.all_samples.push_back(tree.AllSamples(i, run));
    }
  }
  return part;
}

// The tree without contexts that have too few samples to count for anything here.
CombinedTree Pruned(const CombinedTree& tree) {
  constexpr double kLeast = 10;
  CombinedTree kept = {.runs = tree.runs, .period_ns = tree.period_ns};
  kept.contexts.clear();
  std::vector<NodeIndex> place(tree.contexts.size());
  for (size_t i = 0; i < tree.contexts.size(); ++i) {
    if (i > 0 && Sum(tree.AllSamples(i)) < kLeast) continue;
    place[i] = static_cast<NodeIndex>(kept.contexts.size());
    kept.contexts.push_back(tree.contexts[i]);
    if (i > 0) kept.contexts.back().parent = place[tree.contexts[i].parent];
    std::ranges::copy(tree.OwnSamples(i), std::back_inserter(kept.samples));
    std::ranges::copy(tree.AllSamples(i), std::back_inserter(kept.all_samples));
  }
  return kept;
}

class Program {
 public:
  Program(std::string name, const CombinedTree& tree)
      : name_(std::move(name)),
        tree_(Pruned(tree)),
        recorded_{size_t{0}, tree.runs / 3, 2 * tree.runs / 3} {
    for (const size_t first : recorded_) {
      const CombinedTree pair = RunsOf(tree_, first, 2);
      spreads_.push_back(TimeModel(pair, {}).found());
    }
  }

  const std::string& name() const { return name_; }
  // What the recorded pairs of runs showed.
  const std::vector<jprof::profile::RunSpreads>& spreads() const { return spreads_; }

  Coverages Judge(size_t count, const jprof::profile::RunSpreads& usual, bool skip_records) const {
    Coverages found;
    for (size_t first = 0; first + count <= tree_.runs; ++first) {
      if (skip_records && IsRecorded(first, count)) continue;
      const CombinedTree few = RunsOf(tree_, first, count);
      const TimeModel model(few, usual);
      found["whole"].Add(model.Of(few.AllSamples(0), Part::kAll),
                         MeanOfOthers(0, first, count).time);
      for (size_t i = 1; i < tree_.contexts.size(); ++i) JudgeContext(i, first, few, model, found);
    }
    return found;
  }

 private:
  struct Truth {
    double time = 0, own = 0, share = 0;
  };

  bool IsRecorded(size_t first, size_t count) const {
    return std::ranges::any_of(recorded_,
                               [&](size_t at) { return at + 1 >= first && at < first + count; });
  }

  double Expected(std::span<const double> samples, size_t count) const {
    return Sum(samples) * static_cast<double>(count) / static_cast<double>(tree_.runs);
  }

  Truth MeanOfOthers(size_t context, size_t first, size_t count) const {
    Truth truth;
    const auto others = static_cast<double>(tree_.runs - count);
    for (size_t run = 0; run < tree_.runs; ++run) {
      if (run >= first && run < first + count) continue;
      const double all = tree_.AllSamples(context, run);
      truth.time += all * tree_.period_ns[run] / others;
      truth.own += tree_.Samples(context, run) * tree_.period_ns[run] / others;
      truth.share += all / tree_.AllSamples(0, run) / others;
    }
    return truth;
  }

  void JudgeContext(size_t i, size_t first, const CombinedTree& few, const TimeModel& model,
                    Coverages& found) const {
    constexpr double kLeast = 10, kSame = 0.9;
    const bool has_own = Expected(tree_.OwnSamples(i), few.runs) >= kLeast;
    const bool has_all =
        Expected(tree_.AllSamples(i), few.runs) >= kLeast &&
        Sum(tree_.AllSamples(i)) < kSame * Sum(tree_.AllSamples(tree_.contexts[i].parent));
    if (!has_own && !has_all) return;
    const Truth truth = MeanOfOthers(i, first, few.runs);
    if (has_own) found["alone"].Add(model.Of(few.OwnSamples(i), Part::kOwn), truth.own);
    if (!has_all) return;
    found["time"].Add(model.Of(few.AllSamples(i), Part::kAll), truth.time);
    found["share"].Add(model.ShareOf(few.AllSamples(i), Part::kAll), truth.share);
  }

  std::string name_;
  CombinedTree tree_;
  std::array<size_t, 3> recorded_;  // the first runs of the pairs in the history
  std::vector<jprof::profile::RunSpreads> spreads_;
};

void PrintRow(const std::string& name, const std::vector<std::pair<double, double>>& values) {
  fmt::print("{:24}", name);
  for (const auto& [coverage, half] : values) {
    if (std::isnan(coverage))
      fmt::print("{:>18}", "-");
    else
      fmt::print("{:9.1f} % {:5.1f} %", 100 * coverage, 100 * half);
  }
  fmt::print("\n");
}

void JudgeAll(const std::vector<Program>& programs, size_t count, const std::string& history) {
  fmt::print("\n{} runs in a row, history: {}\n{:24}", count, history, "");
  for (const char* quantity : kQuantities) fmt::print("{:>18}", quantity);
  fmt::print("\n");
  std::vector<std::pair<double, double>> sums(std::size(kQuantities));
  std::vector<double> with(std::size(kQuantities));
  for (size_t i = 0; i < programs.size(); ++i) {
    std::vector<RunRecord> records;
    for (size_t other = 0; other < programs.size(); ++other) {
      if (history == "none" || (history == "others" && other == i)) continue;
      for (const auto& found : programs[other].spreads())
        records.push_back({other, found.total, found.share, found.own_share});
    }
    const auto usual = jprof::calibrate::UsualSpreads(records, i);
    Coverages found = programs[i].Judge(count, usual, history == "own");
    std::vector<std::pair<double, double>> row;
    for (size_t column = 0; column < std::size(kQuantities); ++column) {
      Judged& judged = found[kQuantities[column]];
      row.emplace_back(judged.all > 0 ? judged.Coverage() : NAN, judged.Median());
      if (judged.all == 0) continue;
      sums[column].first += row.back().first;
      sums[column].second += row.back().second;
      ++with[column];
    }
    PrintRow(programs[i].name(), row);
  }
  for (size_t column = 0; column < sums.size(); ++column) {
    sums[column].first /= with[column];
    sums[column].second /= with[column];
  }
  PrintRow("mean of programs", sums);
}

int WrongUse(std::string_view message) {
  fmt::print(stderr, "interval_coverage: {}\n{}", message, kHelp);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") return fmt::print("{}", kHelp), 0;
  if (argc < 2) return WrongUse("no profile");
  std::vector<Program> programs;
  for (const std::string word : std::span(argv + 1, argv + argc)) {
    auto combined = OpenCombined(word, {});
    if (!combined) return WrongUse(combined.error().message);
    if (combined->sampled.size() <= kMostRuns)
      return WrongUse(fmt::format("{}: needs more than {} sampled runs", word, kMostRuns));
    const auto view = LoadCombined(*combined);
    if (!view) return WrongUse(view.error().message);
    programs.emplace_back(std::filesystem::path(word).stem().string(), view->tree);
  }
  for (const size_t count : {1u, 2u, 3u, kMostRuns})
    for (const char* history : {"none", "others", "own"}) JudgeAll(programs, count, history);
}
