// Call trees that woven code counts in: JprofCounter's functions, written again here, with random
// calls, compared with a map of paths.
#include "jprof/engine/woven.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "jprof/engine/session.h"
#include "jprof/engine/tree.h"

namespace jprof::engine {
namespace {

using profile::MethodId;
using profile::Node;

using Path = std::vector<uint32_t>;  // method ids, outermost first
using Paths = std::map<Path, uint64_t>;

class NoMethods : public MethodSource {
 public:
  bool Describe(uint64_t, MethodText*) override { return false; }
  FrameKind Classify(uint64_t) override { return FrameKind::kWoven; }
};

class WovenTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jprof-woven-XXXXXX";
    directory_ = mkdtemp(name);
  }
  void TearDown() override {
    ThreadRegistry::Detach();
    session_->Close();
    std::filesystem::remove_all(directory_);
  }

  void Start(SessionOptions options = {}) {
    options.files.directory = directory_ + "/p";
    const auto addresses = PrepareWoven();
    ASSERT_TRUE(addresses) << addresses.error().message;
    options.files.node_region = kWovenRegion;
    options.files.node_addresses = *addresses;
    session_ = std::make_unique<Session>();
    const auto started = session_->Start(std::move(options), &source_);
    ASSERT_TRUE(started) << started.error().message;
    thread_ = WovenThread(*session_);
    ASSERT_NE(thread_, nullptr);
    current_ = WovenRoot(*thread_);
  }

  // JprofCounter.find: the own slot, then the table.
  Node* Find(Node* parent, uint32_t id) const {
    const uint32_t slot = id & 7;
    auto* const own = NodeOf(reinterpret_cast<uint32_t*>(parent)[slot < 2 ? 4 + slot : 8 + slot]);
    if (own->ref == profile::PackMethod(FrameKind::kWoven, MethodId{id})) return own;
    if (parent->more == 0) return nullptr;
    const auto* table = reinterpret_cast<const profile::ChildBlock*>(session_->writer().nodes() +
                                                                     (parent->more & 0x0fffffff));
    const uint32_t records = 1u << (parent->more >> 28), hash = id * 0x9e3779b1u;
    uint32_t record = hash >> 16 & (records - 1), place = (hash >> 24) * 7 >> 8;
    for (;;) {
      const profile::ChildSlot& child = table[record].child[place];
      if (child.key == id) return NodeOf(child.node);
      if (child.key == 0) return nullptr;
      if (++place == 7) place = 0, record = record + 1 == records ? 0 : record + 1;
    }
  }
  static Node* NodeOf(uint32_t child) {
    return reinterpret_cast<Node*>(woven_origin + uint64_t{child} * 64);
  }

  // JprofCounter.enter; returns the caller's node.
  Node* Enter(uint32_t id) {
    Node* const parent = current_;
    Node* node = Find(parent, id);
    if (node == nullptr) node = WovenChild(*thread_, parent, MethodId{id});
    ++*reinterpret_cast<uint64_t*>(&node->entries);
    current_ = node;
    return parent;
  }

  // JprofCounter.site: the child of the method's node becomes the current one.
  void Site(Node* own, uint32_t id) { current_ = WovenSite(*thread_, own, MethodId{id}); }

  Path PathOf(const Node* node) const {
    Path path;
    for (; node->parent != 0; node = session_->writer().nodes() + node->parent)
      path.insert(path.begin(), IndexOf(profile::MethodOf(node->ref)));
    return path;
  }

  Paths Counted() const {
    Paths paths;
    const Node* nodes = session_->writer().nodes();
    for (uint64_t i = 1; i < session_->writer().header()->node_count; ++i) {
      if (profile::TypeOf(nodes[i].ref) != FrameKind::kWoven) continue;
      EXPECT_LT(nodes[i].parent, i);
      paths[PathOf(nodes + i)] += nodes[i].entries[0] | uint64_t{nodes[i].entries[1]} << 32;
    }
    return paths;
  }

  uint64_t Sum(const Paths& paths) const {
    uint64_t sum = 0;
    for (const auto& [path, count] : paths) sum += count;
    return sum;
  }

  std::string directory_;
  NoMethods source_;
  std::unique_ptr<Session> session_;
  Thread* thread_ = nullptr;
  Node* current_ = nullptr;
};

// Random calls; `methods` of them in each method.
Paths RandomCalls(uint32_t methods, int calls, uint64_t seed, auto enter, auto leave) {
  std::mt19937_64 random(seed);
  Paths expected;
  Path path;
  for (int i = 0; i < calls; ++i) {
    if (!path.empty() && (path.size() > 12 || random() % 5 < 2)) {
      leave();
      path.pop_back();
      continue;
    }
    const auto id = static_cast<uint32_t>(2 + random() % methods);
    enter(id);
    path.push_back(id);
    ++expected[path];
  }
  return expected;
}

TEST_F(WovenTest, RandomCallsAreCountedByPath) {
  Start();
  for (const uint32_t methods : {1u, 3u, 4u, 5u, 9u, 60u}) {
    std::vector<Node*> parents;
    const Paths before = Counted();
    Paths expected = RandomCalls(
        methods, 40'000, methods, [&](uint32_t id) { parents.push_back(Enter(id)); },
        [&] {
          current_ = parents.back();
          parents.pop_back();
        });
    for (const auto& [path, count] : before) expected[path] += count;
    EXPECT_EQ(Counted(), expected) << methods;
    current_ = WovenRoot(*thread_);
  }
}

TEST_F(WovenTest, AMethodWithManyCallees) {
  Start();
  Enter(5);
  Node* const caller = current_;
  constexpr uint32_t kCallees = 3000;
  for (int turn = 0; turn < 3; ++turn) {
    for (uint32_t id = 10; id < 10 + kCallees; ++id) {
      ASSERT_EQ(Enter(id), caller);
      current_ = caller;
    }
  }
  const Paths counted = Counted();
  ASSERT_EQ(counted.size(), kCallees + 1);
  for (const auto& [path, count] : counted) ASSERT_EQ(count, path.size() == 2 ? 3u : 1u);
}

TEST_F(WovenTest, FoldedRecursionReturnsToTheAncestor) {
  SessionOptions options;
  options.fold_recursion = true;
  Start(std::move(options));
  Enter(7);
  Node* const first = current_;
  Node* const inner = Enter(8);
  EXPECT_EQ(inner, first);
  Enter(7);
  EXPECT_EQ(current_, first);
  Enter(7);
  EXPECT_EQ(current_, first);
  EXPECT_EQ(Counted(), (Paths{{{7}, 3}, {{7, 8}, 1}}));
}

TEST_F(WovenTest, NothingIsLostWithoutSpace) {
  SessionOptions options;
  options.files.tree_memory = 1 << 20;  // 16 thousand nodes
  options.fold_recursion = true;        // else half of it is left for folded recursion
  Start(std::move(options));
  std::vector<Node*> parents;
  const Paths expected = RandomCalls(
      500, 100'000, 1, [&](uint32_t id) { parents.push_back(Enter(id)); },
      [&] {
        current_ = parents.back();
        parents.pop_back();
      });
  EXPECT_EQ(Sum(Counted()), Sum(expected));
  EXPECT_GT(thread_->timeline.record->overflow, 0u);
  EXPECT_EQ(session_->writer().header()->tree_full, 1u);
  // The node for contexts without space is found again, for handlers of exceptions.
  current_ = WovenRoot(*thread_);
  Enter(3);
  EXPECT_NE(WovenOverflow(*thread_, current_), nullptr);
}

// The same holds if the slot of that node is taken and there is no space for a table.
TEST_F(WovenTest, ContextsWithoutSpaceTakeNoMoreSpace) {
  SessionOptions options;
  options.files.tree_memory = 1 << 20;
  options.fold_recursion = true;
  Start(std::move(options));
  Enter(7);  // has the root's slot 7
  Node* const caller = current_;
  Enter(15);  // has the caller's
  current_ = caller;
  const profile::ControlHeader& header = *session_->writer().header();
  for (uint32_t id = 100; header.tree_full == 0; ++id) Enter(id);
  while (AddRecords(*thread_, 1) != nullptr) {
  }
  const uint64_t nodes = header.node_count, before = thread_->timeline.record->overflow;
  for (uint32_t id = 1000; id < 1100; ++id) {
    current_ = caller;
    Enter(id);
    EXPECT_EQ(profile::MethodOf(current_->ref), profile::kOverflowMethod);
    EXPECT_EQ(current_, WovenOverflow(*thread_, caller));
  }
  EXPECT_EQ(header.node_count, nodes);
  EXPECT_EQ(thread_->timeline.record->overflow, 100u + before);
}

TEST_F(WovenTest, VirtualThreadsHaveTreesOfTheirOwn) {
  Start();
  Enter(4);
  Node* const carrier = current_;
  current_ = WovenSwitch(*thread_, 100, current_);  // mounts one
  EXPECT_NE(current_, carrier);
  Enter(5);
  Node* const first = current_;
  current_ = WovenSwitch(*thread_, 0, current_);
  EXPECT_EQ(current_, carrier);
  current_ = WovenSwitch(*thread_, 200, current_);  // another one
  Node* const root = current_;
  EXPECT_EQ(PathOf(root), Path());
  Enter(6);
  current_ = WovenSwitch(*thread_, 0, root);  // which ends
  current_ = WovenSwitch(*thread_, 100, current_);
  EXPECT_EQ(current_, first);
  current_ = WovenSwitch(*thread_, 0, current_);
  current_ = WovenSwitch(*thread_, 300, current_);
  EXPECT_EQ(current_, root);  // the tree of one that ended serves the next
  current_ = WovenSwitch(*thread_, 0, current_);
  EXPECT_EQ(current_, carrier);
  EXPECT_EQ(WovenSwitch(*thread_, 0, current_), current_);  // not a change
}

TEST_F(WovenTest, VirtualThreadsWithoutSpaceAreNotRecordedAndTakeNoRows) {
  Start();
  Enter(4);
  Node* const carrier = current_;
  current_ = WovenSwitch(*thread_, 100, current_);
  Enter(5);
  Node* const virtual_node = current_;
  current_ = WovenSwitch(*thread_, 0, current_);
  while (session_->writer().AllocateNodes(2, true) != 0) {
  }
  const profile::ControlHeader& header = *session_->writer().header();
  EXPECT_EQ(WovenSwitch(*thread_, 200, carrier), nullptr);
  const uint32_t rows = header.thread_count;
  for (uint64_t identity = 201; identity < 250; ++identity) {
    ASSERT_EQ(NodeBeforeMount(*thread_), carrier);
    EXPECT_EQ(WovenSwitch(*thread_, 0, carrier), carrier);
    EXPECT_EQ(WovenSwitch(*thread_, identity, carrier), nullptr);
  }
  EXPECT_EQ(header.thread_count, rows);
  EXPECT_EQ(header.lost_events, 50u);
  EXPECT_EQ(WovenSwitch(*thread_, 100, NodeBeforeMount(*thread_)), virtual_node);
  EXPECT_EQ(WovenSwitch(*thread_, 0, virtual_node), carrier);
}

TEST_F(WovenTest, CountsGrowBeyond32Bits) {
  Start();
  Enter(9);
  current_->entries[0] = 0xffffffff;
  current_ = WovenRoot(*thread_);
  Enter(9);
  EXPECT_EQ(Counted(), (Paths{{{9}, 0x100000000}}));
}

TEST_F(WovenTest, NodesOfAnotherRecordingAreNone) {
  Start();
  const Node* nodes = session_->writer().nodes();
  const uint64_t begin = PlaceOf(nodes);
  EXPECT_EQ(WovenNode(nodes, begin), nullptr);  // node 0
  EXPECT_EQ(WovenNode(nodes, begin + kWovenRegion), nullptr);
  EXPECT_EQ(WovenNode(nodes, begin - 64), nullptr);
  EXPECT_EQ(WovenNode(nodes, 0), nullptr);
  EXPECT_EQ(WovenNode(nodes, begin + 64), nodes + 1);
}

TEST_F(WovenTest, TheEmptyNodeHasNoChildren) {
  Start();
  auto* const empty = reinterpret_cast<Node*>(woven_origin);
  for (uint32_t id = 1; id <= 8; ++id) EXPECT_EQ(Find(empty, id), nullptr);
}

// Where the caller's and the callee's instructions are after optimisation.
TEST_F(WovenTest, SamplesOfInlinedMethods) {
  constexpr uint32_t kMain = 2, kCaller = 3, kCallee = 4, kDeepest = 5, kNotCounted = 6;
  Start();
  Enter(kMain);
  Node* const main = current_;
  Enter(kCaller);
  Node* const caller = current_;
  Enter(kCallee);
  Node* const callee = current_;
  Enter(kDeepest);
  Node* const deepest = current_;
  current_ = callee;
  Enter(kCaller);  // recursion
  Node* const again = current_;
  const auto leaf = [&](Node* current, std::vector<uint32_t> innermost_first) {
    std::vector<MethodId> ids;
    for (const uint32_t id : innermost_first) ids.push_back(MethodId{id});
    return WovenLeaf(*thread_, current, ids);
  };
  // In the order of the program.
  EXPECT_EQ(leaf(caller, {kCaller}), caller);
  EXPECT_EQ(leaf(callee, {kCallee, kCaller, kMain}), callee);
  // A callee's instruction, outside of the range of its two stores.
  EXPECT_EQ(leaf(caller, {kCallee, kCaller}), callee);
  EXPECT_EQ(leaf(caller, {kDeepest, kCallee, kCaller, kMain}), deepest);
  EXPECT_EQ(leaf(main, {kDeepest, kCallee, kCaller, kMain}), deepest);
  // A method that is not counted is its caller's.
  EXPECT_EQ(leaf(caller, {kNotCounted, kCallee, kNotCounted, kCaller}), callee);
  EXPECT_EQ(leaf(caller, {kNotCounted}), caller);
  EXPECT_EQ(leaf(caller, {}), caller);
  // A caller's instruction, in the range of its callee.
  EXPECT_EQ(leaf(deepest, {kCaller, kMain}), caller);
  EXPECT_EQ(leaf(deepest, {kMain}), main);
  // A callee that is not inlined, before it counts and after its exit.
  EXPECT_EQ(leaf(caller, {kCallee}), callee);
  EXPECT_EQ(leaf(callee, {kCaller}), again);
  EXPECT_EQ(leaf(WovenRoot(*thread_), {kMain}), main);
  // A context that has not been entered yet: no node is added.
  const uint64_t nodes = session_->writer().header()->node_count;
  EXPECT_EQ(leaf(main, {kDeepest, kMain}), main);
  EXPECT_EQ(session_->writer().header()->node_count, nodes);
  // Contexts without space have one node.
  Node* const overflow = WovenOverflow(*thread_, callee);
  EXPECT_EQ(leaf(overflow, {kCallee, kCaller}), overflow);
}

// What is inlined below a label, and the method that has set it, are below the label.
TEST_F(WovenTest, SamplesOfInlinedMethodsBelowALabel) {
  constexpr uint32_t kMain = 2, kCaller = 3, kCallee = 4, kLabel = 50, kOther = 51;
  Start();
  Enter(kMain);
  Node* const main = current_;
  Enter(kCaller);
  Node* const caller = current_;
  Node* const other = WovenChild(*thread_, caller, MethodId{kOther}, FrameKind::kLabel);
  current_ = other;
  Enter(kCallee);
  Node* const label = WovenChild(*thread_, caller, MethodId{kLabel}, FrameKind::kLabel);
  EXPECT_EQ(WovenChild(*thread_, caller, MethodId{kLabel}, FrameKind::kLabel), label);
  EXPECT_EQ(label->parent, caller - session_->writer().nodes());
  current_ = label;
  Enter(kCallee);
  Node* const callee = current_;
  const auto leaf = [&](Node* current, std::vector<uint32_t> innermost_first) {
    std::vector<MethodId> ids;
    for (const uint32_t id : innermost_first) ids.push_back(MethodId{id});
    return WovenLeaf(*thread_, current, ids);
  };
  EXPECT_EQ(leaf(label, {kCaller, kMain}), label);
  EXPECT_EQ(leaf(label, {kCallee, kCaller, kMain}), callee);
  EXPECT_EQ(leaf(label, {kCallee}), callee);
  EXPECT_EQ(leaf(callee, {kCaller, kMain}), label);
  EXPECT_EQ(leaf(callee, {kMain}), main);
  EXPECT_EQ(leaf(caller, {kCaller}), caller);
}

TEST_F(WovenTest, ALabelIsNeverFolded) {
  SessionOptions options;
  options.fold_recursion = true;
  Start(std::move(options));
  Enter(7);
  Node* const first = current_;
  Node* const outer = WovenChild(*thread_, first, MethodId{50}, FrameKind::kLabel);
  current_ = outer;
  Enter(8);
  Node* const inner = WovenChild(*thread_, current_, MethodId{50}, FrameKind::kLabel);
  EXPECT_NE(inner, outer);
  current_ = inner;
  Enter(7);
  EXPECT_EQ(current_, first);
}

TEST_F(WovenTest, CalleesAreCountedBySite) {
  constexpr uint32_t kMain = 2, kCallee = 4;
  Start();
  Enter(kMain);
  Node* const main = current_;
  for (int turn = 1; turn <= 3; ++turn) {
    for (uint32_t site = 100; site < 140; ++site) {
      Site(main, site);
      Enter(kCallee);
      EXPECT_EQ(current_->entries[0], static_cast<uint32_t>(turn));
    }
  }
  const Paths counted = Counted();
  EXPECT_EQ(counted.size(), 41u);
  EXPECT_EQ(counted.at({kMain, 120, kCallee}), 3u);
}

TEST_F(WovenTest, ASiteIsNeverFolded) {
  SessionOptions options;
  options.fold_recursion = true;
  Start(std::move(options));
  Enter(7);
  Node* const first = current_;
  Site(first, 100);
  Enter(8);
  Node* const inner = current_;
  Site(inner, 100);
  EXPECT_EQ(current_->parent, inner - session_->writer().nodes());
  Enter(7);
  EXPECT_EQ(current_, first);
}

TEST_F(WovenTest, WithoutSpaceAMethodStandsForItsSites) {
  SessionOptions options;
  options.files.tree_memory = 1 << 20;
  options.fold_recursion = true;
  Start(std::move(options));
  Enter(7);
  Node* const caller = current_;
  const profile::ControlHeader& header = *session_->writer().header();
  for (uint32_t site = 100; header.tree_full == 0; ++site) Site(caller, site);
  while (AddRecords(*thread_, 1) != nullptr) {
  }
  const uint64_t nodes = header.node_count;
  Site(caller, 100);
  EXPECT_NE(current_, caller);  // it exists
  Site(caller, 99);
  EXPECT_EQ(current_, caller);
  EXPECT_EQ(header.node_count, nodes);
  EXPECT_EQ(thread_->timeline.record->overflow, 0u);
  Node* const overflow = WovenOverflow(*thread_, caller);
  Site(overflow, 100);
  EXPECT_EQ(current_, overflow);
}

TEST_F(WovenTest, OnlyMethodsHaveSites) {
  Start();
  Node* const root = current_;
  Site(root, 100);
  EXPECT_EQ(current_, root);
  Enter(7);
  Site(current_, 100);
  Node* const site = current_;
  EXPECT_NE(site, root);
  Site(site, 101);
  EXPECT_EQ(current_, site);
}

// A sample or an object belongs to the method, not to the last site that it called at.
TEST_F(WovenTest, TheCurrentNodeAtASiteIsThatOfItsMethod) {
  constexpr uint32_t kMain = 2, kCallee = 4, kDeepest = 5;
  SessionOptions options;
  options.call_sites = true;
  Start(std::move(options));
  Enter(kMain);
  Node* const main = current_;
  uint64_t place = 0;
  thread_->woven_current = &place;
  Node* callees[2];
  for (const uint32_t site : {100u, 101u}) {
    Site(main, site);
    place = PlaceOf(current_);
    EXPECT_EQ(CurrentNode(*thread_), main);
    Node* const at = Enter(kCallee);
    callees[site - 100] = current_;
    place = PlaceOf(current_);
    EXPECT_EQ(CurrentNode(*thread_), current_);
    current_ = at;
  }
  Enter(kCallee);  // at the second site once more
  Site(callees[1], 100);
  Enter(kDeepest);
  Node* const deepest = current_;
  const std::vector<MethodId> inlined = {MethodId{kDeepest}, MethodId{kCallee}, MethodId{kMain}};
  const auto leaf = [&](Node* current, size_t outer) {
    return WovenLeaf(*thread_, current, std::span(inlined).subspan(outer));
  };
  EXPECT_EQ(leaf(main, 2), main);
  EXPECT_EQ(leaf(main, 1), callees[1]);  // the one with most calls
  EXPECT_EQ(leaf(callees[0], 1), callees[0]);
  EXPECT_EQ(leaf(main, 0), deepest);
  EXPECT_EQ(leaf(deepest, 1), callees[1]);  // past its site
  EXPECT_EQ(leaf(deepest, 2), main);
  thread_->woven_current = nullptr;
}

TEST_F(WovenTest, TheCurrentNodeAfterAnEarlierRecordingIsTheRoot) {
  Start();
  Enter(2);
  uint64_t place = PlaceOf(current_);
  thread_->woven_current = &place;
  EXPECT_EQ(CurrentNode(*thread_), current_);
  place = PlaceOf(session_->writer().nodes()) - (1 << 20);
  EXPECT_EQ(CurrentNode(*thread_), WovenRoot(*thread_));
  place = PlaceOf(session_->writer().nodes());  // not recorded
  EXPECT_EQ(CurrentNode(*thread_), nullptr);
  thread_->woven_current = nullptr;
}

// A native thread that leaves the VM and returns is another Java thread.
TEST_F(WovenTest, AThreadThatHasEndedGetsAnotherState) {
  Start();
  Enter(2);
  const uint32_t root = thread_->record->root;
  ThreadRegistry::End();
  thread_ = WovenThread(*session_);
  ASSERT_NE(thread_, nullptr);
  EXPECT_EQ(thread_->record->state, profile::kThreadLive);
  EXPECT_NE(thread_->record->root, root);
}

// A thread may still count in the nodes of a recording that has ended.
TEST_F(WovenTest, NodesCanBeWrittenAfterTheEnd) {
  Start();
  Enter(2);
  Node* const node = current_;
  const uint64_t files = std::filesystem::file_size(directory_ + "/p/nodes");
  ThreadRegistry::Detach();
  session_->Close();
  ++node->entries[0];
  EXPECT_EQ(Find(node, 2), nullptr);
  EXPECT_EQ(std::filesystem::file_size(directory_ + "/p/nodes"), files);
  SetUp();
  Start();  // in another region
  EXPECT_EQ(WovenNode(session_->writer().nodes(), PlaceOf(node)), nullptr);
}

}  // namespace
}  // namespace jprof::engine
