#include "model/combined/run_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/tree/run_description.h"
#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

using profile::CleanText;

double RunSeconds(const RunSummary& summary) {
  return summary.run.cpu_seconds.value_or(summary.cpu_seconds);
}

class Differences {
 public:
  Differences(const Combined& combined, const CombinedView& view)
      : combined_(combined), view_(view) {}

  std::vector<RunDifference> Find() {
    const profile::Meta& counted = combined_.counted.reader.meta();
    for (size_t run = 0; run < combined_.sampled.size(); ++run) {
      const profile::Meta& sampled = combined_.sampled[run].reader.meta();
      Texts(run, "JVM", counted.jvm.Title(), sampled.jvm.Title());
      Texts(run, "processor", counted.machine.cpu, sampled.machine.cpu);
      Texts(run, "command", CommandText(counted.command), CommandText(sampled.command));
      Outcome(view_.sampled[run]);
      if (run > 0) CpuTime(run);
    }
    Outcome(view_.counted);
    Methods();
    std::ranges::stable_sort(found_, [](const auto& a, const auto& b) { return a.size > b.size; });
    return std::move(found_);
  }

 private:
  void Add(double size, std::string text) { found_.push_back({size, std::move(text)}); }

  void Texts(size_t run, const char* what, const std::string& counted, const std::string& sampled) {
    if (counted == sampled) return;
    Add(2, fmt::format("{}: {} {}, {} {}", what, view_.counted.run.profile, CleanText(counted),
                       view_.sampled[run].run.profile, CleanText(sampled)));
  }

  void Outcome(const RunSummary& summary) {
    const profile::Run& first = view_.sampled.front().run;
    if (summary.run.exit_status && first.exit_status &&
        summary.run.exit_status != first.exit_status) {
      Add(3, fmt::format("exit status: {} {}, {} {}", first.profile, *first.exit_status,
                         summary.run.profile, *summary.run.exit_status));
    }
    if (summary.run.output == profile::Run::Output::kDiffers) {
      Add(1.5, fmt::format("output: that of {} differs from that of {}", summary.run.profile,
                           first.profile));
    }
  }

  void CpuTime(size_t run) {
    const double first = RunSeconds(view_.sampled.front()), other = RunSeconds(view_.sampled[run]);
    constexpr double kWorthNaming = 0.05;
    if (!(first > 0) || !(other > 0)) return;
    const double change = other / first - 1;
    if (std::abs(change) < kWorthNaming) return;
    Add(std::abs(change), fmt::format("CPU time: {} {:.3f} s, {} {:.3f} s ({:+.0f} %)",
                                      view_.sampled.front().run.profile, first,
                                      view_.sampled[run].run.profile, other, 100 * change));
  }

  // Adds methods whose share of the samples differs between sampled runs by more than chance, and
  // methods that were sampled but not counted.
  void Methods() {
    const CombinedTree& tree = view_.tree;
    const size_t runs = tree.runs;
    std::vector<double> own(tree.names.size() * runs), total(runs);
    std::vector<bool> counted(tree.names.size()), java(tree.names.size());
    for (size_t i = 0; i < tree.contexts.size(); ++i) {
      const CombinedContext& context = tree.contexts[i];
      if (i > 0 && context.counted) counted[context.name] = true;
      if (i > 0 && context.is_java) java[context.name] = true;
      for (size_t run = 0; run < runs; ++run) {
        total[run] += tree.Samples(i, run);
        if (i > 0) own[context.name * runs + run] += tree.Samples(i, run);
      }
    }
    for (size_t name = 0; name < tree.names.size(); ++name) {
      if (java[name]) Uncounted(name, own, total, counted[name]);
      for (size_t run = 1; run < runs; ++run) Share(name, run, own, total);
    }
  }

  void Share(size_t name, size_t run, const std::vector<double>& own,
             const std::vector<double>& total) {
    constexpr double kLeastShare = 0.01, kDeviations = 4;
    const size_t runs = total.size();
    if (!(total[0] > 0) || !(total[run] > 0)) return;
    const double a = own[name * runs] / total[0], b = own[name * runs + run] / total[run];
    const double error = std::sqrt(a / total[0] + b / total[run]);
    if (std::abs(a - b) < kLeastShare || std::abs(a - b) < kDeviations * error) return;
    Add(std::abs(a - b),
        fmt::format("{}: {:.1f} % of {}, {:.1f} % of {}", view_.tree.names[name], 100 * a,
                    view_.sampled[0].run.profile, 100 * b, view_.sampled[run].run.profile));
  }

  void Uncounted(size_t name, const std::vector<double>& own, const std::vector<double>& total,
                 bool counted) {
    constexpr double kLeastShare = 0.005;
    double samples = 0, all = 0;
    for (size_t run = 0; run < total.size(); ++run) {
      samples += own[name * total.size() + run];
      all += total[run];
    }
    if (counted || !(all > 0) || samples / all < kLeastShare) return;
    Add(samples / all, fmt::format("{}: {:.1f} % of the samples, not called in the counted run",
                                   view_.tree.names[name], 100 * samples / all));
  }

  const Combined& combined_;
  const CombinedView& view_;
  std::vector<RunDifference> found_;
};

}  // namespace

std::vector<RunDifference> DifferencesOf(const Combined& combined, const CombinedView& view) {
  return Differences(combined, view).Find();
}

}  // namespace jprof::model
