#include "cpo/optimize/run_text.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "cpo/optimize/life.h"

namespace jprof::cpo {
namespace {

std::string CountText(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

template <typename Items, typename Text>
std::string Listed(const Items& items, const Text& text) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(text(item));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string ProposedText(const Proposal& proposal) {
  std::string text = DirectiveText(proposal);
  if (proposal.predictions.empty()) return text;
  const Prediction& first = proposal.predictions.front();
  return text + fmt::format("; {} {} {} predicted", FigureText(first.value, first.unit),
                            FewerText(first.unit), first.figure);
}

std::string MeasuredText(const RunStory& story) {
  const std::string& agent = story.begun.plan.agent;
  if (!story.agent_error.empty())
    return fmt::format("measured for {}, without a result: {}", agent, story.agent_error);
  if (!story.why_not_compared.empty())
    return fmt::format("measured for {}, without a result", agent);
  if (story.proposals.empty()) return fmt::format("measured; {} has nothing to propose", agent);
  return fmt::format("measured; {} proposes {} ({})", agent,
                     CountText(story.proposals.size(), "directive"),
                     Listed(story.proposals, ProposedText));
}

std::string AppliedText(const RunStory& story) {
  const bool is_trial = story.begun.plan.kind == RunKind::kTrial;
  const auto text = [](const Directive& one) { return DirectiveText(one.proposal); };
  if (!story.applied.empty()) {
    return fmt::format(
        "applied {} ({})",
        CountText(story.applied.size(), is_trial ? "directive" : "validated directive"),
        Listed(story.applied, text));
  }
  if (is_trial) return "without directives, to compare";
  for (const Directive& one : story.begun.history.directives) {
    if (one.IsUndecided() || one.state == State::kValidated)
      return fmt::format("applied nothing; {} {} ({}); --agent {} --runs N applies it", one.agent,
                         one.IsUndecided() ? "proposes" : "has validated", text(one), one.agent);
  }
  return "applied nothing: no directive is left";
}

// Returns "page faults 131,074 -> 258" of the figure that the directives of the trial are to lower.
std::string ComparedText(const RunStory& story) {
  const RunPlan& plan = story.begun.plan;
  for (const Directive& one : story.begun.history.directives) {
    if (!plan.tried.contains(one.id) || one.proposal.predictions.empty()) continue;
    const std::string& name = one.proposal.predictions.front().figure;
    const auto figure = std::ranges::find(story.figures, name, &Figure::name);
    if (figure == story.figures.end()) return "";
    const bool is_applied = !story.applied.empty();
    const auto other = TypicalFigure(story.begun.history, plan.agent, name, !is_applied);
    const std::string now = FigureText(figure->value, figure->unit);
    if (!other) return fmt::format("; {} {}", name, now);
    const std::string before = FigureText(*other, figure->unit);
    return is_applied ? fmt::format("; {} {} -> {}", name, before, now)
                      : fmt::format("; {} {} ({} with directives)", name, now, before);
  }
  return "";
}

std::string DecisionTexts(const RunStory& story) {
  std::string text;
  for (const Decision& one : story.decisions) {
    const bool is_validated = one.state == State::kValidated;
    if (!is_validated && one.state != State::kWithdrawn) continue;
    const auto directive =
        std::ranges::find(story.begun.history.directives, one.directive, &Directive::id);
    if (directive == story.begun.history.directives.end()) continue;
    text += fmt::format("; {} {}: {}", is_validated ? "validated" : "withdrew",
                        DirectiveText(directive->proposal), one.reason);
  }
  return text;
}

std::string ClaimTexts(const RunStory& story) {
  std::string text;
  for (const Directive& one : story.begun.refused) {
    text += fmt::format("; left out {}: not enough {} beside better claims",
                        DirectiveText(one.proposal), one.proposal.claim.resource);
  }
  for (const Directive& one : story.applied) {
    if (std::ranges::find(story.yielded, one.id) != story.yielded.end())
      text += fmt::format("; {} has yielded its {} to a better claim", DirectiveText(one.proposal),
                          one.proposal.claim.resource);
  }
  return text;
}

}  // namespace

std::string DirectiveText(const Proposal& proposal) {
  return fmt::format("{} {}: {}", proposal.kind, proposal.key, proposal.text);
}

std::string TextOf(const RunStory& story) {
  const BegunRun& begun = story.begun;
  std::string text = fmt::format("run {} of {}: ", begun.number, begun.history.key.name);
  const bool is_measured = begun.plan.kind == RunKind::kMeasured;
  text += is_measured ? MeasuredText(story) : AppliedText(story);
  if (!is_measured) text += ComparedText(story);
  text += ClaimTexts(story) + DecisionTexts(story);
  if (!is_measured && !story.agent_error.empty()) text += "; not observed: " + story.agent_error;
  if (!story.why_not_compared.empty())
    text += fmt::format("; {}: {}", is_measured ? "measures again" : "not compared",
                        story.why_not_compared);
  return text;
}

}  // namespace jprof::cpo
