#include "model/sums/slow_trees.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "profile/read/reader_trace.h"

namespace jprof::model {
namespace {

using profile::MethodOf;
using profile::TraceEvent;

// Damaged records may be of any events. No program has so many open slow calls in a thread.
constexpr size_t kMostOpenCalls = 4096;
constexpr uint64_t kBytesOfNode = sizeof(SlowNode) + 32;  // with its place in the map of children

// Adds without overflow, which damaged values could cause.
void AddTo(int64_t& sum, int64_t value) {
  sum = static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
}

// Builds the tree of one call from its events. The stack that is known begins with the call itself,
// also after missing events.
class SlowTreeBuilder {
 public:
  SlowTreeBuilder(SlowTree& tree, uint64_t& bytes) : tree_(tree), bytes_(bytes) {
    const profile::MethodRef method = tree.call.method;
    tree.nodes.push_back({.method = MethodOf(method), .type = TypeOf(method), .calls = 1});
  }

  void Add(const TraceEvent& event) {
    const uint64_t next = tree_.call.first_event + tree_.events + tree_.missing;
    if (event.number > next) AddMissing(event, event.number - next);
    ++tree_.events;
    if (event.number == tree_.call.first_event) return;  // what it took is its caller's
    AddTo(tree_.nodes[at_].cpu, event.delta);
    AddTo(tree_.nodes[at_].off_cpu, event.waited);
    event.exit ? Leave(event.ref) : Enter(event.ref);
  }

  void End() {
    const uint64_t all = tree_.call.last_event - tree_.call.first_event + 1;
    if (tree_.events != 0 && tree_.events + tree_.missing < all)
      AddMissing({}, all - tree_.events - tree_.missing);
    LinkNodes(tree_.nodes);
    for (size_t i = tree_.nodes.size(); --i > 0;) {
      tree_.nodes[tree_.nodes[i].parent].AddTimesOf(tree_.nodes[i]);
    }
    SortSiblings(tree_.nodes, [&](std::vector<NodeIndex> children) {
      std::ranges::stable_sort(children, std::greater(),
                               [&](NodeIndex i) { return tree_.nodes[i].wall(); });
      return children;
    });
  }

 private:
  void Enter(profile::MethodRef method) {
    at_ = ChildOf(at_, method);
    ++tree_.nodes[at_].calls;
  }

  // Ends what was left without an exit above the method. An exit without an entry is that of a call
  // which began before missing events.
  void Leave(profile::MethodRef method) {
    for (NodeIndex i = at_; i != 0; i = tree_.nodes[i].parent) {
      if (tree_.nodes[i].method != MethodOf(method)) continue;
      at_ = tree_.nodes[i].parent;
      return;
    }
  }

  void AddMissing(const TraceEvent& event, uint64_t count) {
    at_ = 0;
    SlowNode& node = tree_.nodes[ChildOf(0, profile::kNoMethodRef)];
    node.calls += count;
    tree_.missing += count;
    if (event.missing == count) AddTo(node.cpu, event.skipped);
  }

  NodeIndex ChildOf(NodeIndex parent, profile::MethodRef method) {
    const NodeIndex child = children_.Child(tree_.nodes, parent, IndexOf(MethodOf(method)));
    if (child == tree_.nodes.size()) {
      const uint32_t level = tree_.nodes[parent].level + 1;
      tree_.nodes.push_back({.method = MethodOf(method), .type = TypeOf(method), .level = level});
      tree_.nodes.back().parent = parent;
      bytes_ += kBytesOfNode;
    }
    return child;
  }

  SlowTree& tree_;
  uint64_t& bytes_;
  ChildMap children_;
  NodeIndex at_ = 0;
};

// Reads the events of one thread and passes them to the calls that they are in.
class ThreadEvents {
 public:
  void AddCall(SlowTree& tree) { waiting_.push_back(&tree); }

  void Begin() {
    std::ranges::stable_sort(waiting_, std::less(),
                             [](const SlowTree* tree) { return tree->call.first_event; });
  }

  // Adds to `bytes` what the trees need.
  void Add(const TraceEvent& event, uint64_t& bytes) {
    if (event.missing != 0) earlier_.clear();
    while (at_ < waiting_.size() && waiting_[at_]->call.first_event <= event.number) {
      SlowTree& tree = *waiting_[at_++];
      if (tree.call.first_event == event.number)
        tree.earlier.assign(earlier_.begin(), earlier_.end());
      const bool goes_on = tree.call.last_event >= event.number;
      if (goes_on && open_.size() < kMostOpenCalls)
        open_.push_back(std::make_unique<Open>(tree, bytes));
    }
    for (const auto& open : open_) open->builder.Add(event);
    std::erase_if(open_, [&](const auto& open) { return open->EndsAt(event.number + 1); });
    Remember(event);
  }

  void End() {
    for (const auto& open : open_) open->builder.End();
    open_.clear();
  }

 private:
  struct Open {
    Open(SlowTree& of, uint64_t& bytes) : tree(of), builder(of, bytes) {}
    bool EndsAt(uint64_t next) {
      if (next <= tree.call.last_event) return false;
      builder.End();
      return true;
    }
    SlowTree& tree;
    SlowTreeBuilder builder;
  };

  void Remember(const TraceEvent& event) {
    if (!event.exit) return RememberEntry(event.ref);
    const auto entry = std::find_if(earlier_.rbegin(), earlier_.rend(), [&](const auto& call) {
      return !call.returned && MethodOf(call.method) == MethodOf(event.ref);
    });
    if (entry != earlier_.rend()) entry->returned = true;
  }

  // Calls of one method that follow each other are one. What still runs is forgotten last.
  void RememberEntry(profile::MethodRef method) {
    if (!earlier_.empty() && earlier_.back().returned &&
        MethodOf(earlier_.back().method) == MethodOf(method)) {
      earlier_.back().returned = false;
      ++earlier_.back().calls;
      return;
    }
    if (earlier_.size() == kEarlierCalls) {
      const auto oldest = std::ranges::find(earlier_, true, &EarlierCall::returned);
      earlier_.erase(oldest != earlier_.end() ? oldest : earlier_.begin());
    }
    earlier_.push_back({.method = method});
  }

  std::vector<SlowTree*> waiting_;  // by first event
  size_t at_ = 0;
  std::vector<std::unique_ptr<Open>> open_;
  std::deque<EarlierCall> earlier_;
};

}  // namespace

Result<std::vector<SlowTree>> LoadSlowTrees(profile::Reader& reader, uint64_t memory) {
  auto calls = reader.ReadSlowCalls(memory);
  if (!calls) return std::unexpected(calls.error());
  std::vector<SlowTree> trees(calls->calls.size());
  std::map<uint32_t, ThreadEvents> threads;
  for (size_t i = 0; i < trees.size(); ++i) {
    trees[i].call = calls->calls[i];
    const bool kept = (trees[i].call.flags & profile::kSlowNotKept) == 0;
    if (kept) threads[trees[i].call.thread].AddCall(trees[i]);
  }
  for (auto& [thread, events] : threads) events.Begin();
  uint64_t bytes = trees.size() * sizeof(SlowTree);
  const auto read = profile::ReadTrace(reader, [&](const TraceEvent& event) {
    if (const auto thread = threads.find(event.thread); thread != threads.end())
      thread->second.Add(event, bytes);
    return bytes <= memory;
  });
  if (!read) return std::unexpected(read.error());
  if (bytes > memory)
    return profile::NotEnoughMemory(reader.directory() + "/" + profile::kTraceFile, memory);
  for (auto& [thread, events] : threads) events.End();
  return trees;
}

}  // namespace jprof::model
