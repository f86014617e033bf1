#include "calibrate/model/correct.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <string>

namespace jprof::calibrate {
namespace {

// Events in, the columns of a CountedTree out; the children of a node are found in a map.
class Recorder {
 public:
  Recorder() { Add(kRoot, 'T', false); }

  uint32_t Enter(const std::string& method, char letter, double delta) {
    raw[stack.back()] += delta;
    const auto [child, is_new] =
        children.try_emplace({stack.back(), method}, static_cast<uint32_t>(parent.size()));
    if (is_new) Add(stack.back(), letter, false);
    const uint32_t part = PartOf(child->second, letter);
    ++counts[part][previous];
    previous = 0;
    stack.push_back(child->second);
    parts.push_back(part);
    return child->second;
  }

  void Exit(double delta) {
    raw[stack.back()] += delta;
    ++counts[parts.back()][2 + previous];
    previous = 1;
    stack.pop_back();
    parts.pop_back();
  }

  CountedTree tree() const { return {parent, superseded, letters, counts}; }
  double Base(const Correction& correction, uint32_t node) const {
    return raw[node] - correction.adjust[node];
  }

  std::vector<uint32_t> parent;
  std::vector<uint8_t> superseded;
  std::vector<char> letters;
  std::vector<std::array<uint32_t, 4>> counts;
  std::vector<double> raw;
  std::vector<uint32_t> stack = {0};
  std::vector<uint32_t> parts;
  int previous = 0;

 private:
  uint32_t Add(uint32_t of, char letter, bool is_superseded) {
    parent.push_back(of);
    superseded.push_back(is_superseded);
    letters.push_back(letter);
    counts.push_back({});
    raw.push_back(0);
    return static_cast<uint32_t>(parent.size() - 1);
  }

  uint32_t PartOf(uint32_t node, char letter) {
    if (letters[node] == letter) return node;
    const auto [part, is_new] = superseded_of.try_emplace({node, letter}, 0);
    if (is_new) part->second = Add(node, letter, true);
    return part->second;
  }

  std::map<std::pair<uint32_t, std::string>, uint32_t> children;
  std::map<std::pair<uint32_t, char>, uint32_t> superseded_of;
};

Overhead Cost(double overhead, double spread = 0, double repeat = 0) {
  return {.count = 100,
          .observed = overhead + 1,
          .truth = 1,
          .overhead = overhead,
          .spread = spread,
          .repeat = repeat};
}

constexpr EventKind kEvents[] = {EventKind::kEntry, EventKind::kExit};

// What is entered below a label is entered by the method that has set it. A label costs nothing.
TEST(Correct, ALabelIsPartOfItsMethod) {
  Metric metric;
  for (const EventKind previous : kEvents) {
    metric.keys[{previous, 'J', EventKind::kEntry, 'R'}] = Cost(4);
    metric.keys[{previous, 'R', EventKind::kExit, 'J'}] = Cost(2);
    metric.keys[{previous, 'T', EventKind::kEntry, 'J'}] = Cost(1);
    metric.keys[{previous, '@', EventKind::kEntry, 'R'}] = Cost(100);
    metric.keys[{previous, 'J', EventKind::kEntry, '@'}] = Cost(100);
  }
  Recorder run;
  const uint32_t main = run.Enter("Main", 'J', 3);
  const uint32_t label = run.Enter("label", '@', 10);
  run.previous = 0;
  const uint32_t callee = run.Enter("Callee", 'R', 9);
  run.Exit(5);
  run.counts[label] = {7, 0, 7, 0};  // as a reader of 64-bit counts has them
  const Correction correction = Correct(run.tree(), metric);
  EXPECT_EQ(correction.adjust[0], 1);
  EXPECT_EQ(correction.adjust[main], 0);
  EXPECT_EQ(correction.adjust[label], 4);
  EXPECT_EQ(correction.adjust[callee], 2);
}

TEST(Correct, ALabelThatIsARootOfADamagedTreeIsSurvived) {
  Recorder run;
  run.Enter("Main", 'J', 3);
  run.letters[0] = '@';
  EXPECT_EQ(Correct(run.tree(), Metric()).adjust.size(), 2u);
}

// Where nothing outside of some methods is recorded, their entries end no interval of the thread.
TEST(Correct, TakesNothingFromThreadsThatAreOutside) {
  Metric metric;
  for (const EventKind previous : kEvents) {
    metric.keys[{previous, 'T', EventKind::kEntry, 'J'}] = Cost(4);
    metric.keys[{previous, 'J', EventKind::kExit, 'T'}] = Cost(2);
  }
  for (const bool probes : {false, true}) {
    if (probes) metric.probes['J'] = {.enter_in = 3, .enter_out = 1, .exit_in = 2, .exit_out = 5};
    Recorder run;
    const uint32_t main = run.Enter("Main", 'J', 0);
    run.Exit(9);
    CountedTree tree = run.tree();
    const double before = Correct(tree, metric).adjust[main];
    EXPECT_GT(Correct(tree, metric).adjust[0], 0);
    tree.rows_are_outside = true;
    EXPECT_EQ(Correct(tree, metric).adjust[0], 0);
    EXPECT_EQ(Correct(tree, metric).adjust[main], before);
  }
}

// Case 1 of calibration.md: minimum entry delta 5, exit 2, true value 1 each.
TEST(Correct, TwoMinimaExample) {
  Metric metric;
  for (const EventKind previous : kEvents) {
    for (const char a : {'J', 'T'}) {
      metric.keys[{previous, a, EventKind::kEntry, 'J'}] = Cost(5 - 1);
      metric.keys[{previous, 'J', EventKind::kExit, a}] = Cost(2 - 1);
    }
  }
  Recorder run;
  const uint32_t main = run.Enter("Main", 'J', 0);
  const uint32_t a = run.Enter("A", 'J', 9);
  const uint32_t b_of_a = run.Enter("B", 'J', 6);
  run.Exit(2);
  const uint32_t c = run.Enter("C", 'J', 7);
  const uint32_t b_of_c = run.Enter("B", 'J', 5);
  run.Exit(3);
  run.Exit(4);
  run.Exit(8);
  run.counts[main][0] = 0;  // the example begins inside Main

  const Correction correction = Correct(run.tree(), metric);
  EXPECT_EQ(run.Base(correction, main), 5);
  EXPECT_EQ(run.Base(correction, a), 12);
  EXPECT_EQ(run.Base(correction, b_of_a) + run.Base(correction, b_of_c), 3);
  EXPECT_EQ(run.Base(correction, c), 4);
  EXPECT_EQ(correction.events[static_cast<size_t>(Level::kExact)], 8);
}

// Case 2: a known cost for every transition, random call trees, every type: BASE is the truth
// exactly.
TEST(Correct, SyntheticCostModelIsTakenOutExactly) {
  std::mt19937 random(7);
  const std::string letters = "IJRNijrnT";
  Metric metric;
  for (const EventKind previous : kEvents) {
    for (const EventKind event : kEvents) {
      for (const char running : letters) {
        for (const char other : letters) {
          metric.keys[{previous, running, event, other}] =
              Cost(1 + static_cast<double>(random() % 1000));
        }
      }
    }
  }
  for (int tree = 0; tree < 20; ++tree) {
    Recorder run;
    std::map<uint32_t, double> truth;
    std::vector<char> types = {'T'};
    const auto kind = [&] { return run.previous == 0 ? EventKind::kEntry : EventKind::kExit; };
    for (int i = 0; i < 3000; ++i) {
      const auto work = static_cast<double>(random() % 100);
      truth[run.stack.back()] += work;
      const bool enter = run.stack.size() == 1 || (run.stack.size() < 40 && random() % 2 == 0);
      if (enter) {
        const std::string method(1, static_cast<char>('a' + random() % 8));
        const char type =
            letters[static_cast<size_t>(method[0] - 'a')];  // a method keeps its type here
        run.Enter(method, type,
                  work + metric.keys.at({kind(), types.back(), EventKind::kEntry, type}).overhead);
        types.push_back(type);
      } else {
        const char type = types.back();
        types.pop_back();
        run.Exit(work + metric.keys.at({kind(), type, EventKind::kExit, types.back()}).overhead);
      }
    }
    const Correction correction = Correct(run.tree(), metric);
    for (uint32_t node = 0; node < run.raw.size(); ++node) {
      ASSERT_EQ(run.Base(correction, node), truth[node]) << "node " << node << " of tree " << tree;
    }
    EXPECT_EQ(std::accumulate(correction.events.begin(), correction.events.end(), 0.0), 3000);
  }
}

// A node that was interpreted, then compiled: its own exits cost what each part's type costs, and
// what it calls is entered from the mix of its types by calls.
TEST(Correct, SupersededPartsUseTheirOwnTypeAndWeighOnTheOtherSide) {
  Metric metric;
  metric.keys[{EventKind::kEntry, 'T', EventKind::kEntry, 'I'}] = Cost(10);
  metric.keys[{EventKind::kExit, 'T', EventKind::kEntry, 'J'}] = Cost(20);
  metric.keys[{EventKind::kEntry, 'I', EventKind::kEntry, 'N'}] = Cost(100);
  metric.keys[{EventKind::kEntry, 'J', EventKind::kEntry, 'N'}] = Cost(200);
  metric.keys[{EventKind::kEntry, 'N', EventKind::kExit, 'I'}] = Cost(1000);
  metric.keys[{EventKind::kEntry, 'N', EventKind::kExit, 'J'}] = Cost(2000);
  metric.keys[{EventKind::kExit, 'I', EventKind::kExit, 'T'}] = Cost(3);
  metric.keys[{EventKind::kExit, 'J', EventKind::kExit, 'T'}] = Cost(5);
  Recorder run;
  uint32_t method = 0;
  uint32_t native = 0;
  for (const char type : {'I', 'J', 'J', 'J'}) {  // 1 call in 4 was interpreted
    method = run.Enter("m", type, 0);
    native = run.Enter("n", 'N', 0);
    run.Exit(0);
    run.Exit(0);
  }
  const Correction correction = Correct(run.tree(), metric);
  EXPECT_EQ(correction.adjust[0], 10 + 3 * 20);
  EXPECT_EQ(correction.adjust[method], 4 * (0.25 * 100 + 0.75 * 200) + 3 + 3 * 5);
  EXPECT_EQ(correction.adjust[native], 4 * (0.25 * 1000 + 0.75 * 2000));
  const uint32_t superseded = static_cast<uint32_t>(run.parent.size() - 1);
  ASSERT_TRUE(run.superseded[superseded]);
  EXPECT_EQ(correction.adjust[superseded], 0);
}

// Exact metrics: a random tree of probes whose four parts and results cost what is planted. The way
// out of an exit is in an interval of the caller, whatever type was left.
TEST(Correct, ProbesAreTakenOffToTheInstruction) {
  const Probes probes = {
      {'I', {50, 41, 39, 52, 2, 4}}, {'J', {45, 43, 44, 46, 8, 6}}, {'N', {47, 48, 40, 42, 10, 2}}};
  const std::map<char, Kept> kept_of = {{'I', {0, 1}}, {'J', {0, 0}}, {'N', {0, 1}}};
  Metric metric;
  metric.probes = probes;
  std::mt19937 random(5);
  Recorder run;
  std::vector<double> truth(1);
  std::vector<char> types = {'T'};
  double out = 0;  // of the last event's probe
  for (int i = 0; i < 5000; ++i) {
    const double work = static_cast<double>(random() % 30);
    truth.resize(run.raw.size());
    truth[run.stack.back()] += work;
    const bool enter = types.size() == 1 || (types.size() < 20 && random() % 2 == 0);
    const char type = enter ? "IJN"[random() % 3] : types.back();
    const Probe& probe = probes.at(type);
    const double result = probe.result * kept_of.at(type).results / 2;
    if (enter) {
      run.Enter(std::string(1, type), type, work + out + probe.enter_in);
      types.push_back(type);
      out = probe.enter_out;
    } else {
      run.Exit(work + out + probe.exit_in + result);
      types.pop_back();
      out = probe.exit_out + result;
    }
  }
  truth.resize(run.raw.size());
  while (types.size() > 1) {  // every method is left, and the last way out is somebody's
    const Probe& probe = probes.at(types.back());
    const double result = probe.result * kept_of.at(types.back()).results / 2;
    run.Exit(out + probe.exit_in + result);
    types.pop_back();
    out = probe.exit_out + result;
  }
  run.raw[0] += out;
  std::vector<Kept> kept;
  for (const char letter : run.letters) kept.push_back(letter == 'T' ? Kept() : kept_of.at(letter));
  CountedTree tree = run.tree();
  tree.kept = kept;
  const Correction correction = Correct(tree, metric);
  for (uint32_t node = 0; node < run.raw.size(); ++node) {
    ASSERT_DOUBLE_EQ(run.Base(correction, node), truth[node]) << "node " << node;
  }
}

TEST(Correct, AnArgumentCostsHalfWhereTheMethodCallsOthers) {
  Metric metric;
  metric.probes['J'] = {.argument = 8};
  Recorder run;
  const uint32_t middle = run.Enter("middle", 'J', 0), leaf = run.Enter("leaf", 'J', 0);
  run.Exit(0);
  run.Exit(0);
  const std::vector<Kept> kept = {{}, {3, 0}, {1, 0}};
  CountedTree tree = run.tree();
  tree.kept = kept;
  const Correction correction = Correct(tree, metric);
  EXPECT_EQ(correction.adjust[0], 3 * 8 / 4);               // before the call of middle's probe
  EXPECT_EQ(correction.adjust[middle], 3 * 8 / 4 + 8 / 2);  // after it, and before leaf's
  EXPECT_EQ(correction.adjust[leaf], 8 / 2);
}

TEST(Correct, ErrorGrowsWithRootOfEventsForSpreadAndWithEventsForRepeat) {
  Metric metric;
  metric.keys[{EventKind::kEntry, 'J', EventKind::kExit, 'T'}] =
      Cost(10, /*spread=*/4, /*repeat=*/0.5);
  metric.keys[{EventKind::kExit, 'T', EventKind::kEntry, 'J'}] = Cost(10);
  metric.keys[{EventKind::kEntry, 'T', EventKind::kEntry, 'J'}] = Cost(10);
  Recorder run;
  uint32_t node = 0;
  for (int i = 0; i < 100; ++i) {
    node = run.Enter("m", 'J', 0);
    run.Exit(0);
  }
  EXPECT_FLOAT_EQ(Correct(run.tree(), metric).error[node], 10 * 4 + 100 * 0.5);
  // Timed events add their variance to every interval: 4^2 + 3^2 = 5^2.
  EXPECT_FLOAT_EQ(Correct(run.tree(), metric, 9).error[node], 10 * 5 + 100 * 0.5);
  EXPECT_FLOAT_EQ(static_cast<float>(Correct(run.tree(), metric).total_error), 10 * 4 + 100 * 0.5);
}

TEST(Correct, WhatDependsOnTheContextIsAnErrorThatDoesNotFade) {
  Metric metric;
  metric.keys[{EventKind::kEntry, 'J', EventKind::kExit, 'T'}] =
      Cost(10, /*spread=*/0, /*repeat=*/3);
  metric.keys[{EventKind::kExit, 'T', EventKind::kEntry, 'J'}] = Cost(10);
  metric.keys[{EventKind::kEntry, 'T', EventKind::kEntry, 'J'}] = Cost(10);
  for (auto& [key, value] : metric.keys) value.context = 4;
  Recorder run;
  uint32_t node = 0;
  for (int i = 0; i < 100; ++i) {
    node = run.Enter("m", 'J', 0);
    run.Exit(0);
  }
  EXPECT_FLOAT_EQ(Correct(run.tree(), metric).error[node], 100 * 5);  // hypot(3, 4)
}

TEST(Correct, SaysWhichLevelAnswered) {
  Metric metric;
  metric.keys[{EventKind::kEntry, 'T', EventKind::kEntry, 'J'}] = Cost(10);
  Recorder run;
  run.Enter("m", 'j', 0);  // as non-static
  run.Exit(0);             // no exit is known at all
  const Correction correction = Correct(run.tree(), metric);
  EXPECT_EQ(correction.events[static_cast<size_t>(Level::kNonStatic)], 1);
  EXPECT_EQ(correction.events[static_cast<size_t>(Level::kNone)], 1);
  EXPECT_EQ(correction.adjust[0], 10);
}

TEST(Correct, EmptyTree) { EXPECT_TRUE(Correct({}, {}).adjust.empty()); }

}  // namespace
}  // namespace jprof::calibrate
