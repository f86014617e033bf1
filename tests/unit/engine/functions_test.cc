// Functions of C and C++ (FunctionFrames): random programs of functions and Java methods on one
// stack, with frames that end without an exit, against a slow version.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "jprof/engine/events.h"
#include "jprof/engine/function_events.h"
#include "jprof/engine/labels/labels.h"
#include "jprof/engine/session.h"
#include "jprof/engine/shadow_stack.h"

namespace jprof::engine::functions_test {  // names that other tests have too
namespace {

constexpr uint64_t kFirstHandle = 0x7f0000001000;

class Names : public MethodSource {
 public:
  explicit Names(FrameKind type) : type_(type) {}
  bool Describe(uint64_t method, MethodText* text) override {
    const uint64_t number = ((method & ~kFunctionBit) - kFirstHandle) / 16;
    const int length = snprintf(text->scratch, sizeof text->scratch, "%c%d",
                                type_ == FrameKind::kFunction ? 'f' : 'm', int(number));
    text->name = {text->scratch, static_cast<size_t>(length)};
    return true;
  }
  FrameKind Classify(uint64_t) override { return type_; }

 private:
  FrameKind type_;
};

using Path = std::vector<std::string>;
using Counts = std::map<Path, std::pair<uint64_t, uint64_t>>;  // entries, exits

// The slow version: a list of frames.
class Oracle {
 public:
  struct Frame {
    std::string name;
    uint64_t sp;
  };
  void Enter(const std::string& name, uint64_t sp) {
    frames.push_back({name, sp});
    ++counts[PathTo(frames.size())].first;
  }
  void Leave() {
    ++counts[PathTo(frames.size())].second;
    frames.pop_back();
  }
  Path PathTo(size_t depth) const {
    Path path;
    for (size_t i = 0; i < depth; ++i) path.push_back(frames[i].name);
    return path;
  }
  std::vector<Frame> frames;
  Counts counts;
  uint64_t healed = 0;
};

class FunctionsTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jprof-functions-XXXXXX";
    directory_ = mkdtemp(name);
    SessionOptions options;
    options.clock = false;
    options.files.directory = directory_ + "/p";
    session_.SetFunctions(&functions_);
    ASSERT_TRUE(session_.Start(std::move(options), &methods_));
  }
  void TearDown() override {
    ThreadRegistry::Detach();
    std::filesystem::remove_all(directory_);
  }

  static Event Function(uint32_t number, uint64_t sp) {
    return {(kFirstHandle + 16 * number) | kFunctionBit, sp, 0, 0, 0};
  }
  static void Enter(uint32_t number, uint64_t sp) {
    engine::Enter<CountTree, FunctionFrames>(Function(number, sp));
  }
  static void Leave(uint32_t number, uint64_t sp = 0) {
    engine::Leave<CountTree, FunctionFrames>(Function(number, sp));
  }
  static Event Method(uint32_t number, uint64_t sp) {
    return {kFirstHandle + 16 * number, sp, 1, 0, 0};
  }

  std::string NameOf(profile::MethodId id) const {
    const char* at = session_.writer().methods();
    for (;;) {
      const auto* record = reinterpret_cast<const profile::MethodRecord*>(at);
      if (record->id == IndexOf(id))
        return std::string(at + sizeof *record + record->class_length, record->name_length);
      at += record->bytes;
    }
  }
  Counts Recorded() const {
    Counts counts;
    const profile::Node* nodes = session_.writer().nodes();
    for (uint64_t i = 1; i < session_.writer().header()->node_count; ++i) {
      const auto type = profile::TypeOf(nodes[i].ref);
      if (nodes[i].ref == profile::kNoMethodRef || type == FrameKind::kBlock ||
          type == FrameKind::kThread)
        continue;
      Path path;
      for (uint64_t at = nodes[i].more == profile::kSuperseded ? nodes[i].parent : i;
           nodes[at].parent != 0; at = nodes[at].parent)
        path.insert(path.begin(), NameOf(profile::MethodOf(nodes[at].ref)));
      auto& [entries, exits] = counts[path];
      entries += uint64_t{nodes[i].entries[0]} + nodes[i].entries[1];
      exits += uint64_t{nodes[i].exits[0]} + nodes[i].exits[1];
    }
    return counts;
  }
  static uint64_t Healed() { return current_thread->record->healed; }
  static uint64_t Unmatched() { return current_thread->record->unmatched; }
  static uint64_t Dropped() { return current_thread->record->dropped; }

  std::string directory_;
  Names methods_{FrameKind::kInterpreted}, functions_{FrameKind::kFunction};
  mutable Session session_;
};

TEST_F(FunctionsTest, AnInlinedFunctionHasTheStackPointerOfItsCaller) {
  for (int i = 0; i < 3; ++i) {
    Enter(1, 1000);
    Enter(2, 1000);
    Enter(3, 1000);
    Leave(3);
    Leave(2);
    Leave(1);
  }
  const Counts expected = {{{"f1"}, {3, 3}}, {{"f1", "f2"}, {3, 3}}, {{"f1", "f2", "f3"}, {3, 3}}};
  EXPECT_EQ(Recorded(), expected);
  EXPECT_EQ(Healed() + Unmatched(), 0u);
}

TEST_F(FunctionsTest, AFunctionWithSledsAtTheStackPointerOfAFrameEndsIt) {
  const auto event = [](uint32_t number, uint64_t sp) {
    return Event{kFunctionBit | number, sp, 0, 0, 0};
  };
  EnterSlow<CountTree>(event(1, 1000), 0);
  for (int i = 0; i < 3; ++i) {
    EnterSlow<CountTree>(event(2, 900), 0);  // leaves by a jump to 3: without an exit
    EnterSlow<CountTree>(event(3, 900), 0);
    LeaveSlow<CountTree>(event(3, 900), 0);
  }
  EXPECT_EQ(Healed(), 3u);
  EXPECT_EQ(current_thread->cursor.top - current_thread->timeline.frames, 2);  // the row, 1
}

TEST_F(FunctionsTest, AnEventAboveAFrameEndsIt) {
  Enter(1, 1000);
  Enter(2, 900);
  Enter(3, 800);
  Enter(4, 901);  // below 1 only
  Leave(4);
  Leave(1);
  const Counts expected = {{{"f1"}, {1, 1}},
                           {{"f1", "f2"}, {1, 1}},
                           {{"f1", "f2", "f3"}, {1, 1}},
                           {{"f1", "f4"}, {1, 1}}};
  EXPECT_EQ(Recorded(), expected);
  EXPECT_EQ(Healed(), 2u);
}

TEST_F(FunctionsTest, HealingLeavesTheFunctionThatContinues) {
  HealFunctions(5);  // a thread without events
  Enter(1, 1000);
  Enter(2, 900);
  Enter(3, 800);
  HealFunctions(900);  // the function at 900 continues
  Enter(4, 700);
  Leave(4);
  HealFunctions(900);
  Leave(2);
  Leave(1);
  const Counts expected = {{{"f1"}, {1, 1}},
                           {{"f1", "f2"}, {1, 1}},
                           {{"f1", "f2", "f3"}, {1, 1}},
                           {{"f1", "f2", "f4"}, {1, 1}}};
  EXPECT_EQ(Recorded(), expected);
  EXPECT_EQ(Healed(), 1u);
  HealFunctions(~uint64_t{0});  // the thread's row stays
  EXPECT_EQ(Healed(), 1u);
}

TEST_F(FunctionsTest, HealingDoesNotEndJavaMethods) {
  Enter(1, 1000'000);
  engine::Enter<CountTree>(Method(2, 900'000));
  Enter(3, 800'000);
  HealFunctions(950'000);
  engine::Leave<CountTree>(Method(2, 900'000));
  Leave(1);
  const Counts expected = {{{"f1"}, {1, 1}}, {{"f1", "m2"}, {1, 1}}, {{"f1", "m2", "f3"}, {1, 1}}};
  EXPECT_EQ(Recorded(), expected);
  EXPECT_EQ(Healed(), 1u);
  EXPECT_EQ(Unmatched(), 0u);
}

TEST_F(FunctionsTest, EventsInsideARareEventAreDropped) {
  Enter(1, 1000);
  Enter(2, 900);
  Leave(2);
  {
    const RareWork work;
    EXPECT_TRUE(work.acquired());
    EXPECT_FALSE(RareWork().acquired());
    Enter(3, 900);  // new
    Leave(3);
    Enter(2, 900);  // known
    Leave(2);
    Enter(1, 900);  // the exit must not end the interrupted function's frame
    Leave(1);
    HealFunctions(2000);
  }
  EXPECT_EQ(Dropped(), 6u);
  Enter(3, 900);
  Leave(3);
  Leave(1);
  const Counts expected = {{{"f1"}, {1, 1}}, {{"f1", "f2"}, {1, 1}}, {{"f1", "f3"}, {1, 1}}};
  EXPECT_EQ(Recorded(), expected);
  EXPECT_EQ(Healed() + Unmatched(), 0u);
}

TEST_F(FunctionsTest, ALabelIsALevelBelowTheFunctionThatSetsIt) {
  Enter(1, 1000);
  SetLabel<CountTree>("a");
  Enter(2, 900);
  SetLabel<CountTree>("inner");
  Enter(3, 800);
  Leave(3);
  Leave(2);        // ends its label
  Enter(3, 1000);  // inlined
  Leave(3);
  SetLabel<CountTree>("b");  // replaces a
  Enter(3, 900);
  Leave(3);
  SetLabel<CountTree>({});
  Enter(3, 900);
  Leave(3);
  Leave(1);
  const Counts expected = {{{"f1"}, {1, 1}},
                           {{"f1", "a"}, {1, 0}},
                           {{"f1", "a", "f2"}, {1, 1}},
                           {{"f1", "a", "f2", "inner"}, {1, 0}},
                           {{"f1", "a", "f2", "inner", "f3"}, {1, 1}},
                           {{"f1", "a", "f3"}, {1, 1}},
                           {{"f1", "b"}, {1, 0}},
                           {{"f1", "b", "f3"}, {1, 1}},
                           {{"f1", "f3"}, {1, 1}}};
  EXPECT_EQ(Recorded(), expected);
  EXPECT_EQ(Healed() + Unmatched() + Dropped(), 0u);
  EXPECT_EQ(session_.writer().header()->labels, 3u);
}

TEST_F(FunctionsTest, ALabelEndsWithTheFrameThatIsLeft) {
  Enter(1, 1000);
  SetLabel<CountTree>("outer");
  Enter(2, 900);
  SetLabel<CountTree>("inner");
  Enter(3, 800);
  HealFunctions(1000);  // f1 continues
  Enter(4, 700);
  Leave(4);
  Leave(1);
  const Counts recorded = Recorded();
  EXPECT_TRUE(recorded.contains({"f1", "outer", "f4"}));
  EXPECT_EQ(Healed(), 2u);  // f2 and f3
}

TEST_F(FunctionsTest, OpenFramesOfAnEarlierRecordingMayHaveMarks) {
  Enter(1, 1000);
  Leave(1);
  const Frame open[] = {{Function(2, 900).method | kWatchedBit, 900, nullptr},
                        {kFunctionBit | kLabelBit | 7, 900, nullptr},
                        {Function(3, 800).method | kOpenBit, 800, nullptr}};
  PushOpenFrames(*current_thread, open);
  EXPECT_EQ(current_thread->cursor.top[-2].method, Function(2, 900).method | kOpenBit);
  EXPECT_EQ(current_thread->cursor.top[-1].method, Function(3, 800).method | kOpenBit);
  Enter(4, 700);
  Leave(4);
  Leave(3);
  Leave(2);
  const Counts expected = {
      {{"f1"}, {1, 1}}, {{"f2"}, {0, 0}}, {{"f2", "f3"}, {0, 0}}, {{"f2", "f3", "f4"}, {1, 1}}};
  EXPECT_EQ(Recorded(), expected);
  EXPECT_EQ(Healed() + Unmatched() + Dropped(), 0u);
}

TEST_F(FunctionsTest, ThereIsABoundOnTheNumberOfLabels) {
  Enter(1, 1000);
  for (uint32_t i = 0; i < kMostLabels + 50; ++i) SetLabel<CountTree>("label " + std::to_string(i));
  SetLabel<CountTree>("label 0");  // known
  const Counts recorded = Recorded();
  EXPECT_EQ(recorded.size(), 1 + kMostLabels + 1);
  const auto sets_of = [&](std::string_view label) {
    return recorded.at({"f1", std::string(label)}).first;
  };
  EXPECT_EQ(sets_of("label 0"), 2u);
  EXPECT_EQ(sets_of("label 9999"), 1u);
  EXPECT_EQ(sets_of(kOtherLabels), 50u);
  EXPECT_EQ(session_.writer().header()->labels_full, 1u);
}

TEST_F(FunctionsTest, LongLabelsAreCutBetweenCharacters) {
  Enter(1, 1000);
  const std::string text = std::string(kLongestLabel - 1, 'x') + "\xc3\xa9 and more";
  SetLabel<CountTree>(text);
  EXPECT_TRUE(Recorded().contains({"f1", std::string(kLongestLabel - 1, 'x')}));
}

// Random calls, inlined or not, returns, and jumps out of several frames that are noticed at once
// or at the next event; every third call is of a Java method, as long as no jump may leave it.
TEST_F(FunctionsTest, RandomProgramsAreAsTheOracleSays) {
  std::mt19937 random(4711);
  Oracle oracle;
  constexpr uint64_t kBottom = 1'000'000'000;
  const auto sp = [&] { return oracle.frames.empty() ? kBottom : oracle.frames.back().sp; };
  const auto end = [&] {
    const auto [name, at] = oracle.frames.back();
    oracle.Leave();
    const auto number = static_cast<uint32_t>(std::stoul(name.substr(1)));
    if (name[0] == 'f') return Leave(number, at);
    engine::Leave<CountTree>(Method(number, at));
  };
  for (int i = 0; i < 200'000; ++i) {
    const auto number = static_cast<uint32_t>(random() % 6);
    const size_t depth = oracle.frames.size();
    const auto what = static_cast<uint32_t>(random() % 16);
    size_t functions = 0;  // at the top
    while (functions < depth && oracle.frames[depth - 1 - functions].name[0] == 'f') ++functions;
    if (depth == 0 || (what < 7 && depth < 12)) {
      if (what % 3 == 1) {
        const uint64_t at = sp() - 16 - random() % 200;
        oracle.Enter("m" + std::to_string(number), at);
        engine::Enter<CountTree>(Method(number, at));
      } else {
        const bool inlined = depth > 0 && oracle.frames.back().name[0] == 'f' && what % 2 == 0;
        const uint64_t at = sp() - (inlined ? 0 : 16 + random() % 200);
        oracle.Enter("f" + std::to_string(number), at);
        Enter(number, at);
      }
    } else if (what < 14 || functions < 2) {
      end();
    } else {  // a jump into one of the functions at the top
      const size_t gone = 1 + random() % (functions - 1);
      const uint64_t at = oracle.frames[depth - 1 - gone].sp;
      while (oracle.frames.back().sp < at) {  // an inlined one stays: no stack pointer tells
        oracle.Leave();
        ++oracle.healed;
      }
      if (what == 14) {
        HealFunctions(at);
      } else {
        oracle.Enter("f" + std::to_string(number), at);
        Enter(number, at);
      }
    }
  }
  while (!oracle.frames.empty()) end();
  EXPECT_EQ(Recorded(), oracle.counts);
  EXPECT_GT(oracle.healed, 1000u);
  EXPECT_EQ(Healed(), oracle.healed);
  EXPECT_EQ(Unmatched() + Dropped(), 0u);
}

TEST_F(FunctionsTest, DeepRecursionGrowsTheStackOfFrames) {
  constexpr uint32_t kDepth = 300'000;  // more than a thread has at first
  constexpr uint64_t kTop = 1'000'000'000;
  for (uint32_t i = 0; i < kDepth; ++i) Enter(1, kTop - 32 * i);
  for (uint32_t i = kDepth; i-- > 0;) Leave(1, kTop - 32 * i);
  uint64_t entries = 0, exits = 0;
  for (const profile::Node* node = session_.writer().nodes() + 1;
       node < session_.writer().nodes() + session_.writer().header()->node_count; ++node) {
    if (profile::TypeOf(node->ref) != FrameKind::kFunction) continue;
    entries += uint64_t{node->entries[0]} + node->entries[1];
    exits += uint64_t{node->exits[0]} + node->exits[1];
  }
  EXPECT_EQ(entries, kDepth);
  EXPECT_EQ(exits, kDepth);
  EXPECT_EQ(Healed() + Unmatched() + Dropped(), 0u);
}

TEST_F(FunctionsTest, MoreFunctionsThanTheFirstCaches) {
  constexpr uint32_t kFunctions = 20'000;
  for (int round = 0; round < 2; ++round) {
    for (uint32_t i = 0; i < kFunctions; ++i) {
      Enter(i, 1000);
      Leave(i);
    }
  }
  const Counts recorded = Recorded();
  EXPECT_EQ(recorded.size(), kFunctions);
  for (const auto& [path, counts] : recorded) ASSERT_EQ(counts, std::pair(2ul, 2ul)) << path[0];
}

}  // namespace
}  // namespace jprof::engine::functions_test
