// Compares estimators of the time of calling contexts on held-out sampled runs
// (docs/decisions/0021): see kHelp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "model/combined/combined.h"
#include "model/combined/shrinkage.h"
#include "model/open/open.h"

namespace {

using jprof::Result;
using namespace jprof::model;

constexpr char kHelp[] = R"(Usage: combined_candidates PROFILE...
Compares estimators of the time of calling contexts on held-out sampled runs. PROFILE: a combined
profile with at least two sampled runs; the estimators by callflow times require that its counted run
is a callflow:  jprof profile --counted callflow --runs 4 -- java ...

Each sampled run in turn is held out. The estimators see the calls, the callflow times and the other
sampled runs. Parameters are chosen on these other runs alone: their samples are divided at random
into two halves, and the choice is the one whose estimates from one half predict the other best.

  plain          the context's own samples, alpha added to every counted context
  calls          (a) the method's samples, divided among its contexts in proportion to calls^a
  callflow       (b) the same, in proportion to callflow's time in each context
  blend          (c) the context's own samples, and `weight` samples divided as in (a)
  blend-callflow (c) the same, divided as in (b)
  prior-callflow `weight` samples for each sample taken, divided by callflow's times over all
                 contexts, and the own samples
  prior-calls    the same, divided in proportion to calls^a
  tree-callflow  top down: of the samples of a context with all below it, its own part and that of
                 each context below, with `weight` samples divided by callflow's times
  tree-calls     the same, divided in proportion to calls^a
  callflow-only  callflow's times alone
  samples        the own samples as they are: without a score, as many contexts have none

Columns: the mean logarithm of the probability that the estimate gave to a held-out sample (higher is
better), and the mean absolute error of inclusive shares, in percent of the whole, of contexts of 0.1
to 1 % and of more than 1 % (lower is better).
Exit status: 0, or 2 for wrong use.
)";

using Values = std::vector<double>;

double Sum(const Values& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// The counted contexts. Samples of other code are those of the Java method that called it.
struct Tree {
  static constexpr uint32_t kNone = kNoNode;
  std::vector<uint32_t> parent, method;
  size_t methods = 0;
  Values calls, callflow;
  std::vector<Values> samples;  // by run

  size_t size() const { return parent.size(); }

  explicit Tree(const CombinedTree& tree) : samples(tree.runs) {
    std::vector<uint32_t> owner(tree.contexts.size(), kNone);
    for (size_t i = 1; i < tree.contexts.size(); ++i) {
      const CombinedContext& context = tree.contexts[i];
      owner[i] = owner[context.parent];
      if (context.is_java && context.counted) {
        parent.push_back(owner[context.parent]);
        owner[i] = static_cast<uint32_t>(parent.size() - 1);
        method.push_back(context.name);
        calls.push_back(static_cast<double>(context.calls));
        callflow.push_back(std::max(0.0, context.counted_ns));
        for (Values& run : samples) run.push_back(0);
      }
      for (size_t run = 0; owner[i] != kNone && run < tree.runs; ++run)
        samples[run][owner[i]] += tree.Samples(i, run);
    }
    methods = tree.names.size();
  }

  Values ByMethod(const Values& values) const {
    Values sums(methods);
    for (size_t i = 0; i < size(); ++i) sums[method[i]] += values[i];
    return sums;
  }
  Values Inclusive(Values values) const {
    for (size_t i = size(); i-- > 0;) {
      if (parent[i] != kNone) values[parent[i]] += values[i];
    }
    return values;
  }
};

Values Plain(const Tree& tree, const Values& seen, double alpha) {
  const double whole = Sum(seen) + alpha * static_cast<double>(tree.size());
  Values result;
  for (const double samples : seen) result.push_back((samples + alpha) / whole);
  return result;
}

// Each context's part of its method, in proportion to `weights`.
Values Divided(const Tree& tree, Values weights) {
  const double least = 1e-9 * (Sum(weights) + 1e-9) / static_cast<double>(tree.size());
  for (double& weight : weights) weight += least;
  const Values sums = tree.ByMethod(weights);
  for (size_t i = 0; i < tree.size(); ++i) weights[i] /= sums[tree.method[i]];
  return weights;
}

// Own samples and `weight` samples of the method divided by `parts`; a weight below 0: only these.
// Half a sample is added to each method.
Values Blend(const Tree& tree, const Values& seen, const Values& parts, double weight) {
  const Values sums = tree.ByMethod(seen);
  Values present(tree.methods);
  for (const uint32_t method : tree.method) present[method] = 0.5;
  const double whole = Sum(seen) + Sum(present);
  Values result(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    const double samples = sums[tree.method[i]];
    const double part = weight < 0 ? parts[i] : (seen[i] + weight * parts[i]) / (samples + weight);
    result[i] = (samples + 0.5) / whole * part;
  }
  return result;
}

// Own samples and `weight` samples for each of them, divided over all contexts by `base`.
Values Prior(const Values& seen, const Values& base, double weight) {
  const double all = Sum(seen), sum = Sum(base),
               least = 1e-6 * sum / static_cast<double>(seen.size());
  Values result;
  for (size_t i = 0; i < seen.size(); ++i) {
    const double prior = (base[i] + least) / (sum * (1 + 1e-6));
    result.push_back((seen[i] + weight * all * prior) / (all * (1 + weight)));
  }
  return result;
}

double Score(const Values& probabilities, const Values& samples) {
  double score = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (samples[i] > 0) score += samples[i] * std::log(std::max(probabilities[i], 1e-300));
  }
  return score / Sum(samples);
}

struct Choice {
  std::string text;
  std::function<Values(const Values& seen)> estimate;
};
struct Estimator {
  std::string name;
  std::vector<Choice> choices;
};

std::vector<Estimator> Estimators(const Tree& tree) {
  constexpr double kAlphas[] = {0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1};
  constexpr double kPowers[] = {0, 0.25, 0.5, 0.75, 1};
  constexpr double kWeights[] = {0.3, 1, 3, 10, 30, 100};
  constexpr double kPriors[] = {0.01, 0.03, 0.1, 0.3, 1, 3};
  Estimator plain{"plain", {}}, calls{"calls", {}}, blend{"blend", {}}, prior{"prior-calls", {}},
      polya{"tree-calls", {}};
  for (const double alpha : kAlphas) {
    plain.choices.push_back({fmt::format("{}", alpha),
                             [&tree, alpha](const Values& s) { return Plain(tree, s, alpha); }});
  }
  for (const double power : kPowers) {
    Values weights;
    for (const double count : tree.calls) weights.push_back(std::pow(count, power));
    for (const double weight : kPriors) {
      prior.choices.push_back(
          {fmt::format("{}/{}", power, weight),
           [weights, weight](const Values& s) { return Prior(s, weights, weight); }});
    }
    for (const double weight : kWeights) {
      polya.choices.push_back(
          {fmt::format("{}/{}", power, weight), [&tree, weights, weight](const Values& s) {
             return ShrunkShares(tree.parent, s, weights, weight);
           }});
    }
    const Values parts = Divided(tree, std::move(weights));
    calls.choices.push_back({fmt::format("{}", power), [&tree, parts](const Values& s) {
                               return Blend(tree, s, parts, -1);
                             }});
    for (const double weight : kWeights) {
      blend.choices.push_back(
          {fmt::format("{}/{}", power, weight),
           [&tree, parts, weight](const Values& s) { return Blend(tree, s, parts, weight); }});
    }
  }
  std::vector<Estimator> all = {plain, calls, blend, prior, polya};
  all.push_back({"samples", {{"", [](const Values& s) { return Prior(s, s, 0); }}}});
  if (Sum(tree.callflow) <= 0) return all;
  const Values parts = Divided(tree, tree.callflow);
  Estimator blended{"blend-callflow", {}};
  for (const double weight : kWeights) {
    blended.choices.push_back({fmt::format("{}", weight), [&tree, parts, weight](const Values& s) {
                                 return Blend(tree, s, parts, weight);
                               }});
  }
  all.push_back(
      {"callflow", {{"", [&tree, parts](const Values& s) { return Blend(tree, s, parts, -1); }}}});
  all.push_back(blended);
  Estimator prior_callflow{"prior-callflow", {}};
  for (const double weight : kPriors) {
    prior_callflow.choices.push_back({fmt::format("{}", weight), [&tree, weight](const Values& s) {
                                        return Prior(s, tree.callflow, weight);
                                      }});
  }
  all.push_back(prior_callflow);
  Estimator polya_callflow{"tree-callflow", {}};
  for (const double weight : kWeights) {
    polya_callflow.choices.push_back({fmt::format("{}", weight), [&tree, weight](const Values& s) {
                                        return ShrunkShares(tree.parent, s, tree.callflow, weight);
                                      }});
  }
  all.push_back(polya_callflow);
  all.push_back({"callflow-only", {{"", [&tree](const Values&) {
                                      return Plain(tree, tree.callflow,
                                                   1e-6 * Sum(tree.callflow) /
                                                       static_cast<double>(tree.size()));
                                    }}}});
  return all;
}

const Choice& Choose(const std::vector<Choice>& choices, const Values& seen) {
  if (choices.size() == 1) return choices.front();
  std::mt19937 source(1);
  Values first(seen.size()), second(seen.size());
  for (size_t i = 0; i < seen.size(); ++i) {
    std::binomial_distribution<int> half(static_cast<int>(std::lround(seen[i])), 0.5);
    first[i] = half(source);
    second[i] = seen[i] - first[i];
  }
  const Choice* best = nullptr;
  double highest = 0;
  for (const Choice& choice : choices) {
    const double score =
        Score(choice.estimate(first), second) + Score(choice.estimate(second), first);
    if (best == nullptr || score > highest) {
      best = &choice;
      highest = score;
    }
  }
  return *best;
}

double ShareError(const Tree& tree, const Values& estimate, Values held, double least,
                  double most) {
  const double whole = Sum(held);
  for (double& value : held) value /= whole;
  const Values a = tree.Inclusive(estimate), b = tree.Inclusive(std::move(held));
  double sum = 0, count = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::max(a[i], b[i]) < least || std::max(a[i], b[i]) >= most) continue;
    sum += std::abs(a[i] - b[i]);
    ++count;
  }
  return count > 0 ? 100 * sum / count : 0;
}

void Judge(const Tree& tree) {
  fmt::print("    {:15}{:>10}{:>15}{:>12}  choices\n", "estimator", "log score", "error 0.1-1 %",
             "error > 1 %");
  for (const Estimator& estimator : Estimators(tree)) {
    double score = 0, small = 0, large = 0;
    std::vector<std::string> chosen;
    const auto runs = static_cast<double>(tree.samples.size());
    for (const Values& held : tree.samples) {
      Values seen(tree.size());
      for (const Values& run : tree.samples) {
        for (size_t i = 0; &run != &held && i < seen.size(); ++i) seen[i] += run[i];
      }
      const Choice& choice = Choose(estimator.choices, seen);
      const Values found = choice.estimate(seen);
      score += Score(found, held) / runs;
      small += ShareError(tree, found, held, 0.001, 0.01) / runs;
      large += ShareError(tree, found, held, 0.01, 2) / runs;
      if (!choice.text.empty()) chosen.push_back(choice.text);
    }
    fmt::print("    {:15}{:10.3f}{:15.4f}{:12.4f}  {}\n", estimator.name, score, small, large,
               fmt::join(chosen, " "));
  }
}

Result<void> JudgeProfile(const std::string& directory) {
  auto combined = OpenCombined(directory, {});
  if (!combined) return std::unexpected(combined.error());
  if (combined->sampled.size() < 2) return jprof::WrongUse("{}: needs two sampled runs", directory);
  const auto view = LoadCombined(*combined);
  if (!view) return std::unexpected(view.error());
  const Tree tree(view->tree);
  Values samples;
  for (const Values& run : tree.samples) samples.push_back(Sum(run));
  fmt::print("{}: {} contexts, samples {}{}\n", directory, tree.size(), fmt::join(samples, " "),
             view->calibrated ? ", callflow calibrated" : "");
  Judge(tree);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]).starts_with("-")) {
    fmt::print(argc < 2 ? stderr : stdout, "{}", kHelp);
    return argc < 2 ? 2 : 0;
  }
  for (int i = 1; i < argc; ++i) {
    const auto judged = JudgeProfile(argv[i]);
    if (judged) continue;
    fmt::print(stderr, "combined_candidates: {}\n", judged.error().message);
    return 2;
  }
  return 0;
}
