#include "cpo/optimize/life.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cpo/optimize/effect.h"
#include "cpo/optimize/trial_design.h"

namespace jprof::cpo {
namespace {

double PredictedOf(const Directive& directive) {
  const auto& predictions = directive.proposal.predictions;
  return predictions.empty() ? 0 : predictions.front().value;
}

// Returns the newest measured run of the agent whose proposals were stored, or null.
const Run* MeasuredRun(const History& history, const std::string& agent) {
  const Run* measured = nullptr;
  for (const Run& run : history.runs) {
    if (run.kind == RunKind::kMeasured && run.agent == agent && run.state == RunState::kEnded &&
        run.is_comparable)
      measured = &run;
  }
  return measured;
}

bool IsMeasuring(const History& history, const std::string& agent) {
  return std::ranges::any_of(history.runs, [&](const Run& run) {
    return run.kind == RunKind::kMeasured && run.agent == agent && run.state == RunState::kRunning;
  });
}

int FailedMeasurements(const History& history, const std::string& agent) {
  return static_cast<int>(std::ranges::count_if(history.runs, [&](const Run& run) {
    return run.kind == RunKind::kMeasured && run.agent == agent && run.state == RunState::kEnded &&
           !run.is_comparable;
  }));
}

// Returns the runs that tried directives of the agent since it measured, with the exit status of
// the measured run. Runs that have not ended count for the design only.
std::vector<const Run*> TrialsOf(const History& history, const std::string& agent,
                                 bool with_running) {
  std::vector<const Run*> trials;
  const Run* const measured = MeasuredRun(history, agent);
  if (measured == nullptr) return trials;
  for (const Run& run : history.runs) {
    if (run.kind != RunKind::kTrial || run.agent != agent || run.number < measured->number)
      continue;
    const bool has_ended =
        run.state == RunState::kEnded && run.is_comparable && run.exit_code == measured->exit_code;
    if (has_ended || (with_running && run.state == RunState::kRunning)) trials.push_back(&run);
  }
  return trials;
}

// Returns the undecided directives of the agent that are tried now, the most promising first.
std::vector<const Directive*> TriedOf(const History& history, const std::string& agent) {
  std::vector<const Directive*> tried;
  for (const Directive& one : history.directives) {
    if (one.agent == agent && one.IsUndecided()) tried.push_back(&one);
  }
  std::ranges::stable_sort(tried, std::ranges::greater(),
                           [](const Directive* one) { return PredictedOf(*one); });
  if (tried.size() > kMostTried) tried.resize(kMostTried);
  return tried;
}

// Returns whether the run applied the directive. One that was decided since was not tried in the
// later runs, and has been applied or left out by its state.
bool Applied(const Run& run, const Directive& directive) {
  const auto tried = run.tried.find(directive.id);
  return tried != run.tried.end() ? tried->second : directive.state == State::kValidated;
}

std::vector<const Directive*> DirectivesOf(const History& history, const std::string& agent) {
  std::vector<const Directive*> own;
  for (const Directive& one : history.directives) {
    if (one.agent == agent) own.push_back(&one);
  }
  return own;
}

const Figure* FigureOf(const Run& run, const std::string& name) {
  const auto found = std::ranges::find(run.figures, name, &Figure::name);
  return found == run.figures.end() ? nullptr : &*found;
}

std::optional<Effect> ObservedEffect(const History& history, const Directive& directive,
                                     const std::string& figure) {
  const auto own = DirectivesOf(history, directive.agent);
  std::vector<ComparedRun> runs;
  for (const Run* run : TrialsOf(history, directive.agent, /*with_running=*/false)) {
    const Figure* const value = FigureOf(*run, figure);
    if (value == nullptr) continue;
    runs.push_back({{}, value->value});
    for (const Directive* one : own) runs.back().applied.push_back(Applied(*run, *one));
  }
  const auto at = std::ranges::find(own, directive.id, &Directive::id) - own.begin();
  return BenefitOf(runs, static_cast<size_t>(at));
}

std::string EffectText(const Effect& effect, const Prediction& prediction) {
  return fmt::format("{} fell by {} [{}, {}] in {} runs, {} predicted", prediction.figure,
                     FigureText(effect.value, prediction.unit),
                     FigureText(effect.low, prediction.unit),
                     FigureText(effect.high, prediction.unit), effect.runs,
                     FigureText(prediction.value, prediction.unit));
}

// Decides by the figure that the directive is to lower.
void DecideByBenefit(const Effect& effect, const Prediction& prediction, uint32_t enough,
                     Decision& decision) {
  const double half = prediction.value / 2;
  const std::string text = EffectText(effect, prediction);
  const auto withdraw = [&](std::string_view why) {
    decision.state = State::kWithdrawn;
    decision.reason = fmt::format("{}: {}", text, why);
  };
  if (effect.high < half) return withdraw("less than half");
  if (effect.low > 0 && effect.value >= half) {
    decision.state = State::kValidated;
    decision.reason = text;
    return;
  }
  if (effect.runs >= enough && effect.low <= 0) return withdraw("it may do harm");
  if (effect.runs >= 2 * enough) return withdraw("undecided");
}

bool IsWorse(const Effect& effect, const Prediction& guard) { return effect.high < guard.low; }

// Returns "CPU time changed by 0.1 s [-0.2 s, 0.4 s]", or "became worse by" if it did.
std::string GuardText(const Effect& effect, const Prediction& prediction) {
  return fmt::format("{} {} by {} [{}, {}] in {} runs", prediction.figure,
                     IsWorse(effect, prediction) ? "became worse" : "changed",
                     FigureText(-effect.value, prediction.unit),
                     FigureText(-effect.high, prediction.unit),
                     FigureText(-effect.low, prediction.unit), effect.runs);
}

// Decides by all figures. Returns nothing if the runs do not show anything yet.
std::optional<Decision> DecideOnOne(const History& history, const Directive& directive,
                                    uint32_t enough) {
  Decision decision = {directive.id, directive.state, directive.reason, {}};
  std::string worse, doubtful, guards;
  uint32_t runs = 0;
  for (const Prediction& prediction : directive.proposal.predictions) {
    const auto effect = ObservedEffect(history, directive, prediction.figure);
    if (!effect) continue;
    decision.validations.push_back(
        {prediction.figure, effect->value, effect->low, effect->high, effect->runs});
    if (!prediction.is_guard) {
      DecideByBenefit(*effect, prediction, enough, decision);
    } else if (IsWorse(*effect, prediction)) {
      worse = GuardText(*effect, prediction);
    } else if (effect->value < prediction.low) {
      doubtful = GuardText(*effect, prediction) + ": more than is permitted";
      runs = effect->runs;
    } else {
      guards += "; " + GuardText(*effect, prediction);
    }
  }
  const bool is_validated = decision.state == State::kValidated;
  if (worse.empty() && is_validated && runs >= enough) worse = doubtful;
  if (!worse.empty()) {
    decision.state = State::kWithdrawn;
    decision.reason = worse;
  } else if (is_validated && !doubtful.empty()) {
    decision.state = directive.state;
    decision.reason = directive.reason;
  } else if (is_validated) {
    decision.reason += guards;
  }
  if (decision.validations.empty()) return std::nullopt;
  return decision;
}

RunPlan PlanTrial(const History& history, const std::string& agent, RunPlan plan) {
  const auto tried = TriedOf(history, agent);
  std::vector<std::vector<bool>> before;
  for (const Run* run : TrialsOf(history, agent, /*with_running=*/true)) {
    before.emplace_back();
    for (const Directive* one : tried) before.back().push_back(Applied(*run, *one));
  }
  const std::vector<bool> arm = ArmOf(NextArm(before, tried.size()), tried.size());
  plan.agent = agent;
  plan.kind = RunKind::kTrial;
  for (size_t i = 0; i < tried.size(); ++i) plan.tried[tried[i]->id] = arm[i];
  return plan;
}

}  // namespace

uint32_t EnoughRuns(size_t tried) {
  return static_cast<uint32_t>(std::max<size_t>(12, 2 * ArmCount(tried)));
}

RunPlan ChoosePlan(const History& history, std::span<const Candidate> candidates, bool measure) {
  RunPlan plan;
  for (const Directive& one : history.directives) {
    const auto agent = std::ranges::find(candidates, one.agent, &Candidate::name);
    if (one.state == State::kValidated && agent != candidates.end() && agent->may_apply)
      plan.applied.push_back(one.id);
  }
  for (const Candidate& candidate : candidates) {
    const bool is_new = MeasuredRun(history, candidate.name) == nullptr;
    const bool has_failed = FailedMeasurements(history, candidate.name) >= kMostFailedMeasurements;
    if (measure || (is_new && !has_failed)) {
      if (!measure && IsMeasuring(history, candidate.name)) continue;
      std::erase_if(plan.applied, [&](RowId id) {
        return std::ranges::find(history.directives, id, &Directive::id)->agent == candidate.name;
      });
      plan.agent = candidate.name;
      plan.kind = RunKind::kMeasured;
      return plan;
    }
    if (candidate.may_apply && !TriedOf(history, candidate.name).empty())
      return PlanTrial(history, candidate.name, std::move(plan));
  }
  return plan;
}

std::vector<Decision> DecideOn(const History& history, const std::string& agent) {
  std::vector<Decision> decisions;
  const auto tried = TriedOf(history, agent);
  for (const Directive* one : tried) {
    if (const auto decision = DecideOnOne(history, *one, EnoughRuns(tried.size())))
      decisions.push_back(*decision);
  }
  return decisions;
}

std::optional<double> TypicalFigure(const History& history, const std::string& agent,
                                    const std::string& figure, bool applied) {
  double sum = 0;
  int count = 0;
  for (const Run* run : TrialsOf(history, agent, /*with_running=*/false)) {
    const Figure* const value = FigureOf(*run, figure);
    const bool matches =
        std::ranges::all_of(run->tried, [&](const auto& tried) { return tried.second == applied; });
    if (value == nullptr || !matches || run->tried.empty()) continue;
    sum += value->value;
    ++count;
  }
  if (count > 0) return sum / count;
  const Run* const measured = applied ? nullptr : MeasuredRun(history, agent);
  const Figure* const value = measured != nullptr ? FigureOf(*measured, figure) : nullptr;
  return value != nullptr ? std::optional(value->value) : std::nullopt;
}

std::string FigureText(double value, const std::string& unit) {
  if (!unit.empty() && std::abs(value) < 1000)
    return fmt::format("{:.3f} {}", std::round(value * 1000) / 1000 + 0.0, unit);  // not -0.000
  std::string digits = fmt::format("{:.0f}", std::abs(value));
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  const bool is_negative = value < 0 && digits != "0";
  return fmt::format("{}{}{}{}", is_negative ? "-" : "", digits, unit.empty() ? "" : " ", unit);
}

}  // namespace jprof::cpo
