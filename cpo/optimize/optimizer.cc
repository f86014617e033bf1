#include "cpo/optimize/optimizer.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "cpo/optimize/life.h"
#include "cpo/optimize/run_text.h"
#include "record/run/temporary_folder.h"

namespace jprof::cpo {
namespace {

constexpr int kLooksBetweenYields = 10;  // the program is looked at every tenth of a second

std::vector<Candidate> CandidatesOf(const OptimizeRequest& request) {
  std::vector<Candidate> candidates;
  for (const Agent* agent : request.agents)
    candidates.push_back({agent->text().name, !agent->IsOnRequest() || request.on_request});
  return candidates;
}

std::vector<Directive> AppliedIn(const History& history, const RunPlan& plan) {
  std::vector<Directive> applied;
  for (const Directive& one : history.directives) {
    const auto tried = plan.tried.find(one.id);
    const bool is_tried = tried != plan.tried.end() && tried->second;
    if (is_tried || std::ranges::find(plan.applied, one.id) != plan.applied.end())
      applied.push_back(one);
  }
  return applied;
}

RunPlan PlanFor(const History& history, const OptimizeRequest& request) {
  RunPlan plan = ChoosePlan(history, CandidatesOf(request), request.measure);
  for (const Directive& one : AppliedIn(history, plan)) {
    const std::string& resource = one.proposal.claim.resource;
    for (const Agent* agent : request.agents) {
      if (agent->text().name == one.agent && one.proposal.claim.amount != 0)
        plan.capacities[resource] = std::max(plan.capacities[resource], agent->Capacity(resource));
    }
  }
  return plan;
}

record::Launch PlainLaunch(const ProgramCommand& command) {
  return {command.program, command.words, std::nullopt, {}};
}

// An agent in a run.
struct AgentPart {
  Agent* agent;
  std::vector<Directive> directives;
  AgentRun run;
};

// The run of all agents: each changes what the ones before have made of the launch.
class PreparedRun {
 public:
  PreparedRun(const RunPlan& plan, std::vector<Directive> applied, const OptimizeRequest& request)
      : launch_(PlainLaunch(request.command)), applied_(std::move(applied)) {
    for (Agent* agent : request.agents) {
      AgentPart part = {agent, {}, {}};
      for (const Directive& one : applied_) {
        if (one.agent == agent->text().name) part.directives.push_back(one);
      }
      const bool is_subject = plan.agent == agent->text().name;
      if (is_subject) subject_ = parts_.size();
      if (is_subject || !part.directives.empty()) parts_.push_back(std::move(part));
    }
  }

  // Lets the agents change the launch. Fails with the error of an agent.
  Result<void> Prepare(const std::filesystem::path& folder, bool measure) {
    for (AgentPart& part : parts_) {
      part.run = {launch_, folder / part.agent->text().name, {}};
      std::error_code failed;
      if (!folder.empty()) std::filesystem::create_directories(part.run.folder, failed);
      if (failed) return Fail("cannot make {}: {}", part.run.folder.string(), failed.message());
      const bool is_measured = measure && &part == subject();
      auto done = is_measured ? part.agent->Measure(part.run)
                              : part.agent->Apply(part.directives, part.run);
      if (!done) return done;
      launch_ = part.run.launch;
    }
    return {};
  }

  void Watch(uint32_t pid) {
    for (const AgentPart& part : parts_) {
      if (part.run.watch) part.run.watch(pid);
    }
  }

  // Tells the agents of directives that have lost their claims.
  void Yield(const std::vector<RowId>& yielded) {
    for (const RowId id : yielded) {
      if (std::ranges::find(yielded_, id) != yielded_.end()) continue;
      yielded_.push_back(id);
      for (const AgentPart& part : parts_) {
        const auto own = std::ranges::find(part.directives, id, &Directive::id);
        if (own != part.directives.end()) part.agent->Yield(*own);
      }
    }
  }

  // Returns the agent that measures, or whose directives are tried; null if there is none.
  AgentPart* subject() { return subject_ < parts_.size() ? &parts_[subject_] : nullptr; }
  const std::vector<AgentPart>& parts() const { return parts_; }
  const record::Launch& launch() const { return launch_; }
  const std::vector<Directive>& applied() const { return applied_; }
  const std::vector<RowId>& yielded() const { return yielded_; }
  bool HasClaims() const {
    return std::ranges::any_of(applied_,
                               [](const Directive& one) { return one.proposal.claim.amount != 0; });
  }

 private:
  record::Launch launch_;
  std::vector<Directive> applied_;
  std::vector<AgentPart> parts_;
  size_t subject_ = SIZE_MAX;
  std::vector<RowId> yielded_;
};

// Stores which process has the claims, and looks for those that it has lost.
record::ProcessObserver ObserverOf(Store& store, RowId run, PreparedRun& prepared) {
  return [&store, run, &prepared, looks = 0](uint32_t pid) mutable {
    if (prepared.HasClaims()) {
      if (looks == 0) (void)store.SetProgram(run, KeyOf(pid));
      if (++looks % kLooksBetweenYields == 0) {
        if (const auto yielded = store.Yielded(run)) prepared.Yield(*yielded);
      }
    }
    prepared.Watch(pid);
  };
}

std::string WhyNotComparable(const record::Outcome& outcome) {
  if (outcome.interruption != 0) return "it was interrupted";
  if (outcome.signal != 0) return fmt::format("signal {} ended it", outcome.signal);
  return "";
}

// Has the agents look at what the run left.
void Look(PreparedRun& prepared, const record::Outcome& outcome, bool is_measured,
          RunStory& story) {
  for (const AgentPart& part : prepared.parts()) {
    const bool is_subject = &part == prepared.subject();
    if (prepared.subject() != nullptr && !is_subject) continue;
    auto figures = part.agent->Observe(part.run, outcome);
    if (!figures) {
      story.agent_error = figures.error().message;
      continue;
    }
    std::ranges::move(*figures, std::back_inserter(story.figures));
    if (!is_measured) continue;
    auto proposals = part.agent->Model(part.run, outcome);
    if (proposals) story.proposals = *std::move(proposals);
    if (!proposals) story.agent_error = proposals.error().message;
  }
}

// Has the agents look at what the run left, and stores the end.
void Finish(Store& store, const BegunRun& begun, PreparedRun& prepared, OptimizedRun& done) {
  RunStory story = {.begun = begun,
                    .applied = prepared.applied(),
                    .figures = {},
                    .proposals = {},
                    .decisions = {},
                    .yielded = prepared.yielded(),
                    .why_not_compared = WhyNotComparable(done.outcome),
                    .agent_error = {}};
  const bool is_measured = begun.plan.kind == RunKind::kMeasured;
  if (story.why_not_compared.empty()) Look(prepared, done.outcome, is_measured, story);
  const bool is_comparable = story.why_not_compared.empty() && story.agent_error.empty();
  const RunEnd end = {done.outcome.ExitCode(), is_comparable, story.figures};
  const std::string& agent = begun.plan.agent;
  if (is_measured && is_comparable) {
    if (auto stored = store.EndMeasured(begun.id, end, story.proposals); !stored)
      done.failure = stored.error();
  } else {
    const auto decide = [&](const History& history) {
      return agent.empty() || is_measured ? std::vector<Decision>() : DecideOn(history, agent);
    };
    auto decisions = store.End(begun.id, end, decide);
    if (decisions) story.decisions = *std::move(decisions);
    if (!decisions) done.failure = decisions.error();
  }
  done.text = TextOf(story);
}

}  // namespace

Result<PlannedRun> PlanNextRun(const History& history, const OptimizeRequest& request) {
  PlannedRun planned;
  planned.plan = PlanFor(history, request);
  planned.number = history.runs.empty() ? 1 : history.runs.back().number + 1;
  planned.directives = AppliedIn(history, planned.plan);
  const record::TemporaryFolder folder("jprof-optimize");
  PreparedRun prepared(planned.plan, planned.directives, request);
  const bool measure = planned.plan.kind == RunKind::kMeasured;
  if (auto done = prepared.Prepare(folder.path(), measure); !done)
    return std::unexpected(done.error());
  planned.launch = prepared.launch();
  return planned;
}

Result<OptimizedRun> OptimizeOnce(Store& store, const ProgramKey& program,
                                  const MachineKey& machine, const OptimizeRequest& request,
                                  const RunProgram& run) {
  const record::TemporaryFolder folder("jprof-optimize");
  if (folder.path().empty()) return Fail("cannot make a folder for temporary files; set TMPDIR");
  const auto begun = store.Begin(program, machine, KeyOf(static_cast<uint32_t>(getpid())),
                                 [&](const History& history) { return PlanFor(history, request); });
  if (!begun) return std::unexpected(begun.error());
  PreparedRun prepared(begun->plan, AppliedIn(begun->history, begun->plan), request);
  auto good = prepared.Prepare(folder.path(), begun->plan.kind == RunKind::kMeasured);
  auto outcome = good ? run(prepared.launch(), ObserverOf(store, begun->id, prepared))
                      : Result<record::Outcome>(std::unexpected(good.error()));
  if (!outcome) {
    (void)store.Abandon(begun->id);
    return std::unexpected(outcome.error());
  }
  OptimizedRun done = {.outcome = *outcome, .text = {}, .failure = {}};
  Finish(store, *begun, prepared, done);
  return done;
}

}  // namespace jprof::cpo
