// The life of a directive: proposed, applied, validated or withdrawn. Pure: decides from the
// history of a program, which the database has, what the next run does and what follows from it.
//
// - The first run is measured. An agent proposes directives, with predicted benefits.
// - The next ones try the undecided directives: the design (trial_design.h) says which of them a
//   run applies.
// - A directive is validated when the interval of its observed benefit is above zero and the
//   benefit is at least half of what was predicted. It is withdrawn when the interval ends below
//   that half, when a guarded figure has become worse than is permitted, when the interval still
//   contains no benefit after EnoughRuns, and when it is still undecided after twice as many.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cpo/database/store.h"

namespace jprof::cpo {

inline constexpr size_t kMostTried = 8;            // directives at a time; the others wait
inline constexpr int kMostFailedMeasurements = 3;  // then the agent gives the program up

// An agent that is considered for a run.
struct Candidate {
  std::string name;
  // Whether its directives may be applied in this run (Agent::IsOnRequest).
  bool may_apply = true;
};

// Returns the number of compared runs after which a directive must show a benefit.
uint32_t EnoughRuns(size_t tried);

// Chooses what a run does for the first candidate that has something to do; none has for a plain
// run. Validated directives of all candidates are applied. With `measure` the first one measures
// again.
RunPlan ChoosePlan(const History& history, std::span<const Candidate> candidates, bool measure);

// Returns the decisions on the directives of an agent that the runs so far permit, also those that
// change only a validation.
std::vector<Decision> DecideOn(const History& history, const std::string& agent);

// Returns the mean of a figure over the comparable runs of an agent's trials that applied all of
// its tried directives (or none of them), else of the measured run; nothing if there is none.
std::optional<double> TypicalFigure(const History& history, const std::string& agent,
                                    const std::string& figure, bool applied);

// Returns "1.234 s", "131,074": a value of a figure for people.
std::string FigureText(double value, const std::string& unit);
// Returns the word for a lower value: "fewer" of counts, which have no unit, else "less".
inline std::string_view FewerText(const std::string& unit) {
  return unit.empty() ? "fewer" : "less";
}

}  // namespace jprof::cpo
