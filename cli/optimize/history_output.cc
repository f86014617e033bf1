#include "cli/optimize/history_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/optimize/names.h"
#include "common/shell_word.h"
#include "cpo/agents/table.h"
#include "cpo/optimize/life.h"
#include "cpo/optimize/run_text.h"
#include "profile/files/printable_text.h"

namespace jprof::cli {
namespace {

using cpo::Directive;
using cpo::History;
using profile::CleanText;

size_t CountOf(const History& history, cpo::State state) {
  return static_cast<size_t>(std::ranges::count(history.directives, state, &Directive::state));
}

// Returns the highest number of a run; older plain runs are not kept.
uint32_t RunsOf(const History& history) {
  return history.runs.empty() ? 0 : history.runs.back().number;
}

void PrintPrediction(const cpo::Prediction& prediction, const Directive& directive) {
  const auto text = [&](double value) { return cpo::FigureText(value, prediction.unit); };
  if (prediction.is_guard) {
    fmt::print("    guarded    {} may rise by {}\n", prediction.figure, text(-prediction.low));
  } else {
    fmt::print("    predicted  {} {} {} [{}, {}]\n", text(prediction.value),
               cpo::FewerText(prediction.unit), prediction.figure, text(prediction.low),
               text(prediction.high));
  }
  for (const cpo::Validation& one : directive.validations) {
    if (one.figure == prediction.figure)
      fmt::print("    observed   {} {} [{}, {}] in {} runs\n", text(one.value),
                 cpo::FewerText(prediction.unit), text(one.low), text(one.high), one.runs);
  }
}

void PrintDirective(const Directive& directive) {
  fmt::print("  {}, {}: {}\n", NameOf(directive.state), directive.agent,
             CleanText(cpo::DirectiveText(directive.proposal)));
  for (const cpo::Prediction& one : directive.proposal.predictions) PrintPrediction(one, directive);
  if (!directive.proposal.cost.empty())
    fmt::print("    cost       {}\n", CleanText(directive.proposal.cost));
  if (const cpo::Claim& claim = directive.proposal.claim; claim.amount != 0)
    fmt::print("    claims     {} {}\n", claim.amount, claim.resource);
  if (!directive.reason.empty()) fmt::print("    reason     {}\n", CleanText(directive.reason));
}

void PrintRun(const cpo::Run& run) {
  size_t applied = 0;
  for (const auto& [id, is_applied] : run.tried) applied += is_applied ? 1 : 0;
  std::string what(NameOf(run.kind));
  if (run.kind == cpo::RunKind::kTrial)
    what += fmt::format(", {} of {} applied", applied, run.tried.size());
  if (run.state != cpo::RunState::kEnded) what += fmt::format(", {}", NameOf(run.state));
  if (run.state == cpo::RunState::kEnded && !run.is_comparable) what += ", not compared";
  fmt::print("  run {:<4} {:<26}", run.number, what);
  for (const cpo::Figure& figure : run.figures)
    fmt::print("  {} {}", figure.name, cpo::FigureText(figure.value, figure.unit));
  fmt::print("\n");
}

}  // namespace

void PrintOptimizeStatus(const std::vector<History>& histories) {
  size_t width = 7;
  for (const History& one : histories) width = std::max(width, CleanText(one.key.name).size());
  if (histories.empty()) {
    fmt::print("no program is known; the first run: jprof optimize -- CMD\n");
  } else {
    fmt::print("{:<{}}  RUNS  PROPOSED  APPLIED  VALIDATED  WITHDRAWN\n", "PROGRAM", width);
  }
  for (const History& one : histories) {
    fmt::print("{:<{}}  {:>4}  {:>8}  {:>7}  {:>9}  {:>9}\n", CleanText(one.key.name), width,
               RunsOf(one), CountOf(one, cpo::State::kProposed), CountOf(one, cpo::State::kApplied),
               CountOf(one, cpo::State::kValidated), CountOf(one, cpo::State::kWithdrawn));
  }
  fmt::print("\nagents\n{}", AgentsText());
}

void PrintOptimizeExplanation(const std::vector<History>& histories) {
  for (const History& history : histories) {
    fmt::print("{} ({}, arguments {})\n", CleanText(history.key.name),
               CleanText(history.key.identity), history.key.arguments);
    if (history.directives.empty()) fmt::print("  no directive was proposed\n");
    for (const Directive& one : history.directives) PrintDirective(one);
    for (const cpo::Run& run : history.runs) PrintRun(run);
  }
}

void PrintPlannedRun(const std::string& name, const cpo::PlannedRun& planned) {
  fmt::print("run {} of {}: {}", planned.number, CleanText(name), NameOf(planned.plan.kind));
  if (!planned.plan.agent.empty()) fmt::print(" by {}", planned.plan.agent);
  fmt::print("\n");
  for (const Directive& one : planned.directives)
    fmt::print("  applies {}\n", CleanText(cpo::DirectiveText(one.proposal)));
  if (planned.directives.empty()) fmt::print("  applies nothing\n");
  for (const auto& [variable, value] : planned.launch.environment)
    fmt::print("  sets {}={}\n", variable, QuotedWord(CleanText(value)));
  fmt::print("  starts");
  for (const std::string& word : planned.launch.arguments)
    fmt::print(" {}", QuotedWord(CleanText(word)));
  fmt::print("\n");
}

std::string AgentsText() {
  std::string text;
  for (const cpo::AgentRow& row : cpo::Agents()) {
    text += fmt::format("  {:<10}reads      {}\n", row.text.name, row.text.reads);
    text += fmt::format("  {:<10}models     {}\n", "", row.text.models);
    text += fmt::format("  {:<10}directs    {}\n", "", row.text.directs);
    text += fmt::format("  {:<10}validates  {}\n", "", row.text.validates);
  }
  return text;
}

}  // namespace jprof::cli
