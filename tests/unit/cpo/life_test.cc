// Lives of directives with an agent that is made for the test, and programs that are not run.
#include "cpo/optimize/life.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include "cpo/optimize/optimizer.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::cpo {
namespace {

constexpr AgentText kFakeText = {"fake", "nothing", "a guess", "nothing", "faults"};

struct FakeEffect {
  std::string key;
  double predicted = 0, actual = 0;
  uint64_t pages = 0;
};

class FakeAgent final : public Agent {
 public:
  std::vector<FakeEffect> effects;
  double noise = 0, guard_harm = 0, guard_noise = 0;
  bool on_request = false, has_guard = false, model_fails = false;
  int exit_code = 0, signal = 0;
  uint64_t capacity = 1000;
  std::vector<std::string> applied;  // in the last run
  std::vector<std::string> yielded;  // in all runs

  const AgentText& text() const override { return kFakeText; }
  bool IsOnRequest() const override { return on_request; }
  Result<void> Eligible(const ProgramCommand&) override { return {}; }
  Result<void> Measure(AgentRun& run) override { return Apply({}, run); }

  Result<std::vector<Proposal>> Model(const AgentRun&, const record::Outcome&) override {
    if (model_fails) return Fail("no references were seen");
    std::vector<Proposal> proposals;
    for (const FakeEffect& one : effects) {
      proposals.push_back({.kind = "site",
                           .key = one.key,
                           .text = "huge",
                           .setting = "huge",
                           .predictions = {{"faults", "", one.predicted, 0, 2 * one.predicted}},
                           .claim = {"huge pages", one.pages}});
      if (has_guard) proposals.back().predictions.push_back({"time", "s", 0, -1, 1, true});
    }
    return proposals;
  }

  Result<void> Apply(const std::vector<Directive>& directives, AgentRun& run) override {
    applied.clear();
    for (const Directive& one : directives) applied.push_back(one.proposal.key);
    run.launch.environment.emplace_back("FAKE", std::to_string(directives.size()));
    return {};
  }

  Result<std::vector<Figure>> Observe(const AgentRun&, const record::Outcome&) override {
    std::normal_distribution<double> spread(0, 1);
    double faults = 1000 + noise * spread(random_), time = 5 + guard_noise * spread(random_);
    for (const FakeEffect& one : effects) {
      if (std::ranges::find(applied, one.key) == applied.end()) continue;
      faults -= one.actual;
      time += guard_harm;
    }
    return std::vector<Figure>{{"faults", faults, ""}, {"time", time, "s"}};
  }

  uint64_t Capacity(std::string_view) const override { return capacity; }
  void Yield(const Directive& one) override { yielded.push_back(one.proposal.key); }

 private:
  std::mt19937 random_{3};
};

class Life : public testing::Test {
 protected:
  OptimizedRun Run(bool on_request = false, bool measure = false) {
    agent_.applied.clear();
    const OptimizeRequest request = {{"/bin/fake", {"fake"}}, {&agent_}, on_request, measure};
    auto done = OptimizeOnce(
        store_, key_, {{"cpu", "x"}}, request,
        [&](const record::Launch& launch, const record::ProcessObserver& observe) {
          launch_ = launch;
          if (const auto act = std::exchange(meanwhile_, nullptr)) act(observe);
          return Result<record::Outcome>({.status = agent_.exit_code, .signal = agent_.signal});
        });
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    EXPECT_FALSE(done->failure);
    EXPECT_TRUE(store_.CheckConsistency());
    return *done;
  }

  History Load() { return *store_.Load(key_, {{"cpu", "x"}}); }

  // Returns the state and the reason of a directive.
  std::pair<State, std::string> StateOf(const std::string& key) {
    const History history = Load();
    for (const Directive& one : history.directives) {
      if (one.proposal.key == key) return {one.state, one.reason};
    }
    ADD_FAILURE() << "no directive " << key;
    return {};
  }

  // Runs until all is decided, and returns how many runs that took; 0 if it has no end.
  int RunUntilDecided() {
    for (int runs = 1; runs < 100; ++runs) {
      Run();
      const History history = Load();
      if (std::ranges::none_of(history.directives, &Directive::IsUndecided)) return runs;
    }
    return 0;
  }

  TemporaryDirectory folder_{"cpo-life"};
  Store store_ = *Store::Open(folder_.path() / "optimize.db");
  ProgramKey key_ = {"fake", "build-id:1", "none"};
  FakeAgent agent_;
  record::Launch launch_;
  std::function<void(const record::ProcessObserver&)> meanwhile_;  // while the program runs
};

TEST_F(Life, OfAGoodDirective) {
  agent_.effects = {{"main+0x10", 900, 880}};
  EXPECT_EQ(Run().text,
            "run 1 of fake: measured; fake proposes 1 directive (site main+0x10: huge; 900 fewer "
            "faults predicted)");
  EXPECT_EQ(StateOf("main+0x10").first, State::kProposed);
  EXPECT_EQ(Run().text,
            "run 2 of fake: applied 1 directive (site main+0x10: huge); faults 1,000 -> 120");
  EXPECT_EQ(StateOf("main+0x10").first, State::kApplied);
  EXPECT_EQ(Run().text,
            "run 3 of fake: without directives, to compare; faults 1,000 (120 with directives)");
  Run();
  EXPECT_EQ(Run().text,
            "run 5 of fake: applied 1 directive (site main+0x10: huge); faults 1,000 -> 120; "
            "validated site main+0x10: huge: faults fell by 880 [880, 880] in 4 runs, 900 "
            "predicted");
  EXPECT_EQ(StateOf("main+0x10").first, State::kValidated);
  EXPECT_EQ(Run().text, "run 6 of fake: applied 1 validated directive (site main+0x10: huge)");
  EXPECT_EQ(launch_.environment.back().second, "1");
}

TEST_F(Life, OfAUselessAndOfAHarmfulOne) {
  agent_.effects = {{"useless", 900, 20}, {"harmful", 500, -300}};
  agent_.noise = 5;
  EXPECT_GT(RunUntilDecided(), 0);
  EXPECT_EQ(StateOf("useless").first, State::kWithdrawn);
  EXPECT_NE(StateOf("useless").second.find("less than half"), std::string::npos);
  EXPECT_EQ(StateOf("harmful").first, State::kWithdrawn);
  EXPECT_NE(Run().text.find("applied nothing: no directive is left"), std::string::npos);
  EXPECT_TRUE(agent_.applied.empty());
}

TEST_F(Life, GoodOnesAreToldFromOthersThatAreAppliedWithThem) {
  agent_.effects = {{"a", 400, 390}, {"b", 300, 0}, {"c", 200, 210}, {"d", 100, -50}};
  agent_.noise = 3;
  EXPECT_GT(RunUntilDecided(), 0);
  EXPECT_EQ(StateOf("a").first, State::kValidated);
  EXPECT_EQ(StateOf("b").first, State::kWithdrawn);
  EXPECT_EQ(StateOf("c").first, State::kValidated);
  EXPECT_EQ(StateOf("d").first, State::kWithdrawn);
  Run();
  EXPECT_EQ(agent_.applied, (std::vector<std::string>{"a", "c"}));
}

TEST_F(Life, OneThatStaysUndecidedIsWithdrawnAfterEnoughRuns) {
  agent_.effects = {{"lost in the noise", 10, 5}};
  agent_.noise = 200;
  const int runs = RunUntilDecided();
  EXPECT_GT(runs, 1);
  EXPECT_LE(runs, 1 + 2 * static_cast<int>(EnoughRuns(1)));
  EXPECT_EQ(StateOf("lost in the noise").first, State::kWithdrawn);
  EXPECT_FALSE(StateOf("lost in the noise").second.empty());
}

TEST_F(Life, MoreThanCanBeTriedAtATimeWait) {
  for (int i = 0; i < 11; ++i)
    agent_.effects.push_back({"site" + std::to_string(i), 100.0 - i, 100.0 - i});
  Run();
  Run();
  EXPECT_EQ(agent_.applied.size(), kMostTried);
  EXPECT_GT(RunUntilDecided(), 0);
  const History history = Load();
  for (const Directive& one : history.directives) EXPECT_EQ(one.state, State::kValidated);
}

TEST_F(Life, AGuardThatBecomesWorseWithdraws) {
  agent_.effects = {{"slow", 900, 900}};
  agent_.has_guard = true;
  agent_.guard_harm = 2;
  EXPECT_GT(RunUntilDecided(), 0);
  EXPECT_EQ(StateOf("slow").first, State::kWithdrawn);
  EXPECT_EQ(StateOf("slow").second, "time became worse by 2.000 s [2.000 s, 2.000 s] in 4 runs");
}

TEST_F(Life, AGuardThatMayHaveBecomeWorseIsWaitedFor) {
  agent_.effects = {{"doubtful", 900, 900}};
  agent_.has_guard = true;
  agent_.guard_harm = 3;
  agent_.guard_noise = 5;
  for (int i = 0; i < 1 + 8; ++i) Run();
  EXPECT_EQ(StateOf("doubtful").first, State::kApplied);
  RunUntilDecided();
  EXPECT_EQ(StateOf("doubtful").first, State::kWithdrawn);
  EXPECT_TRUE(StateOf("doubtful").second.ends_with(" in 12 runs: more than is permitted"))
      << StateOf("doubtful").second;
}

TEST_F(Life, AGuardThatStaysIsTold) {
  agent_.effects = {{"good", 900, 900}};
  agent_.has_guard = true;
  EXPECT_GT(RunUntilDecided(), 0);
  EXPECT_EQ(StateOf("good").second,
            "faults fell by 900 [900, 900] in 4 runs, 900 predicted; time changed by 0.000 s "
            "[0.000 s, 0.000 s] in 4 runs");
  Run();
  const History history = Load();
  EXPECT_EQ(history.runs.back().kind, RunKind::kPlain);
  ASSERT_EQ(history.runs.back().figures.size(), 2u);
  EXPECT_EQ(history.runs.back().figures.front().value, 100);
}

TEST_F(Life, DirectivesOnRequestAreOnlyProposedUntilTheUserAsks) {
  agent_.effects = {{"options", 900, 900}};
  agent_.on_request = true;
  Run();
  EXPECT_EQ(Run().text,
            "run 2 of fake: applied nothing; fake proposes (site options: huge); --agent fake "
            "--runs N applies it");
  EXPECT_TRUE(agent_.applied.empty());
  for (int i = 0; i < 4; ++i) Run(/*on_request=*/true);
  EXPECT_EQ(StateOf("options").first, State::kValidated);
  Run();
  EXPECT_TRUE(agent_.applied.empty());
  Run(/*on_request=*/true);
  EXPECT_EQ(agent_.applied.size(), 1u);
}

TEST_F(Life, RunsThatFailAreNotCompared) {
  agent_.effects = {{"a", 900, 900}};
  Run();
  agent_.signal = 11;
  for (int i = 0; i < 8; ++i)
    EXPECT_NE(Run().text.find("; not compared: signal 11 ended it"), std::string::npos);
  EXPECT_EQ(StateOf("a").first, State::kApplied);
  agent_.signal = 0;
  agent_.exit_code = 3;
  for (int i = 0; i < 8; ++i) Run();
  EXPECT_EQ(StateOf("a").first, State::kApplied);
  EXPECT_TRUE(Load().directives.front().validations.empty());
}

TEST_F(Life, AMeasurementWithoutResultIsRepeatedThreeTimes) {
  agent_.model_fails = true;
  for (int i = 0; i < kMostFailedMeasurements; ++i)
    EXPECT_NE(Run().text.find("without a result: no references were seen"), std::string::npos);
  EXPECT_EQ(Run().text, "run 4 of fake: applied nothing: no directive is left");
}

TEST_F(Life, MeasuringAgainReplacesWhatIsUndecided) {
  agent_.effects = {{"a", 900, 900}, {"b", 500, 500}};
  Run();
  Run();
  agent_.effects = {{"b", 450, 440}, {"c", 100, 100}};
  Run(false, /*measure=*/true);
  EXPECT_EQ(StateOf("a"),
            (std::pair<State, std::string>(
                State::kWithdrawn, "the measurement of run 3 does not propose it any more")));
  EXPECT_GT(RunUntilDecided(), 0);
  EXPECT_EQ(StateOf("b").first, State::kValidated);
  EXPECT_EQ(StateOf("c").first, State::kValidated);
}

TEST_F(Life, AProgramThatCannotBeStartedLeavesNothing) {
  const OptimizeRequest request = {{"/bin/fake", {"fake"}}, {&agent_}, false, false};
  const auto done = OptimizeOnce(
      store_, key_, {{"cpu", "x"}}, request,
      [](const record::Launch&, const record::ProcessObserver&) -> Result<record::Outcome> {
        return WrongUse("cannot start");
      });
  EXPECT_FALSE(done);
  EXPECT_TRUE(Load().runs.empty());
}

TEST_F(Life, TheNextRunIsShownWithoutChangingAnything) {
  agent_.effects = {{"a", 900, 900}};
  Run();
  const OptimizeRequest request = {{"/bin/fake", {"fake"}}, {&agent_}, false, false};
  const auto planned = PlanNextRun(Load(), request);
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned->number, 2u);
  EXPECT_EQ(planned->plan.kind, RunKind::kTrial);
  EXPECT_EQ(planned->launch.environment.back().second, "1");
  EXPECT_EQ(Load().runs.size(), 1u);
}

TEST_F(Life, ClaimsThatDoNotFitAreLeftOut) {
  agent_.effects = {{"small", 500, 500, 40}, {"large", 600, 600, 100}};
  agent_.capacity = 110;
  Run();
  EXPECT_EQ(Run().text,
            "run 2 of fake: applied 1 directive (site small: huge); faults 1,000 -> 500; left out "
            "site large: huge: not enough huge pages beside better claims");
}

TEST_F(Life, AnAgentIsToldOnceThatAnotherProgramGotItsClaim) {
  agent_.effects = {{"a", 50, 50, 80}};
  agent_.capacity = 100;
  Run();
  meanwhile_ = [&](const record::ProcessObserver& observe) {
    const uint32_t own = static_cast<uint32_t>(getpid());
    observe(own);
    const ProgramKey key = std::exchange(key_, {"other", "build-id:2", "none"});
    agent_.effects[0].predicted = 500;
    Run();
    const auto other = store_.Begin(key_, {{"cpu", "x"}}, KeyOf(own), [&](const History& history) {
      const Candidate candidate = {"fake", true};
      RunPlan plan = ChoosePlan(history, {&candidate, 1}, false);
      plan.capacities["huge pages"] = 100;
      return plan;
    });
    EXPECT_TRUE(other->refused.empty());
    for (int i = 0; i < 40; ++i) observe(own);
    ASSERT_TRUE(store_.Abandon(other->id));
    key_ = key;
  };
  const std::string text = Run().text;
  EXPECT_NE(text.find("; site a: huge has yielded its huge pages to a better claim"),
            std::string::npos)
      << text;
  EXPECT_EQ(agent_.yielded, std::vector<std::string>{"a"});
}

// Lives without a database, to see how often the decisions are right.
State StateAfterLife(double predicted, double actual, double noise, std::mt19937& random) {
  const Candidate candidate = {"pages", true};
  std::normal_distribution<double> spread(1000, noise);
  History history;
  history.directives = {
      {.id = 1,
       .agent = "pages",
       .proposal = {.kind = "site", .key = "a", .predictions = {{"faults", "", predicted, 0, 0}}}}};
  history.runs = {{.id = 1,
                   .number = 1,
                   .agent = "pages",
                   .kind = RunKind::kMeasured,
                   .state = RunState::kEnded}};
  while (history.directives[0].IsUndecided()) {
    const RunPlan plan = ChoosePlan(history, {&candidate, 1}, false);
    const double figure = spread(random) - (plan.tried.at(1) ? actual : 0);
    const auto number = static_cast<uint32_t>(history.runs.size() + 1);
    history.runs.push_back({.id = number,
                            .number = number,
                            .agent = "pages",
                            .kind = RunKind::kTrial,
                            .state = RunState::kEnded,
                            .tried = plan.tried,
                            .figures = {{"faults", figure, ""}}});
    for (const Decision& one : DecideOn(history, "pages")) history.directives[0].state = one.state;
  }
  return history.directives[0].state;
}

double ValidatedShare(double predicted, double actual, double noise) {
  constexpr int kLives = 400;
  std::mt19937 random(9);
  int validated = 0;
  for (int i = 0; i < kLives; ++i)
    validated += StateAfterLife(predicted, actual, noise, random) == State::kValidated ? 1 : 0;
  std::printf("noise %g, benefit %g of 100: %d of %d validated\n", noise, actual, validated,
              kLives);
  return static_cast<double>(validated) / kLives;
}

// Although they are looked at after each run.
TEST(Decisions, AreRarelyWrong) {
  for (const double noise : {1.0, 10.0, 50.0, 100.0, 200.0})
    EXPECT_LE(ValidatedShare(100, 0, noise), 0.04) << noise;
  for (const double noise : {1.0, 10.0, 25.0}) EXPECT_GE(ValidatedShare(100, 100, noise), 0.9);
  for (const double noise : {1.0, 10.0, 50.0, 100.0})
    EXPECT_LE(ValidatedShare(100, -50, noise), 0.01) << noise;
}

}  // namespace
}  // namespace jprof::cpo
