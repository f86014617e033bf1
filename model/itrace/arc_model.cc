#include "model/itrace/arc_model.h"

#include <algorithm>
#include <utility>

namespace jprof::model {
namespace {

using profile::Branch;
using profile::BranchKind;

// Returns whether the code of `from` may be gone: after the end of tracing, or after a system call
// that replaced the program. What was executed before belongs to the current function.
bool HasNoSource(const Branch& branch) {
  constexpr uint64_t kLongestSystemCall = 8;
  return branch.kind == BranchKind::kEnd ||
         (branch.kind == BranchKind::kSystemCall && branch.to - branch.from > kLongestSystemCall);
}

bool IsUnnamed(const CodeAt& code) { return code.kind == CodeAt::Kind::kUnnamed; }
bool IsLinkage(const CodeAt& code) { return code.kind == CodeAt::Kind::kLinkage; }

}  // namespace

ArcWalk::ArcWalk(Locate locate, OnRun on_run, OnChange on_change)
    : locate_(std::move(locate)), on_run_(std::move(on_run)), on_change_(std::move(on_change)) {}

ArcWalk::Thread& ArcWalk::ThreadOf(const Branch& branch) {
  const uint64_t key = profile::ThreadKey(branch.pid, branch.tid);
  if (last_ != nullptr && key == last_key_) return *last_;
  last_key_ = key;
  const auto [place, is_new] = threads_.try_emplace(key);
  last_ = &place->second;
  if (is_new) {
    last_->index = static_cast<uint32_t>(trace_.threads.size());
    const auto root = static_cast<uint32_t>(trace_.nodes.size());
    trace_.nodes.emplace_back().thread = last_->index;
    trace_.threads.push_back({.pid = branch.pid, .tid = branch.tid, .root = root});
    last_->top().node = root;
  }
  return *last_;
}

void ArcWalk::Add(const Branch& branch) {
  Thread& thread = ThreadOf(branch);
  ++trace_.records;
  if (branch.kind == BranchKind::kBegin) {
    Attribute(thread, branch);  // none, unless the file is damaged
    return Begin(thread, branch);
  }
  const bool is_replaced = HasNoSource(branch);
  if (!is_replaced) Settle(thread, branch);
  Attribute(thread, branch);
  if (on_run_ && thread.at != 0 && (!is_replaced || branch.kind == BranchKind::kEnd)) {
    on_run_({.pid = branch.pid,
             .time_ns = branch.time_ns,
             .begin = thread.at,
             .last = branch.from,
             .open = branch.kind == BranchKind::kEnd || branch.kind == BranchKind::kSignal,
             .taken = branch.kind == BranchKind::kTaken});
  }
  Follow(thread, branch);
  thread.at = branch.to;
}

void ArcWalk::Begin(Thread& thread, const Branch& branch) {
  Cut(thread, 1);
  thread.top().linkage = {};
  thread.at = branch.to;
  const CodeAt code = locate_(branch.pid, branch.to, branch.time_ns);
  if (IsLinkage(code)) {
    thread.top().linkage = {.how = Linkage::How::kTail, .module = code.module};
  } else {
    Enter(thread, code.function, code.entry ? Reason::kTail : Reason::kMoved, code.entry);
  }
}

void ArcWalk::Attribute(Thread& thread, const Branch& branch) {
  ArcNode& node = trace_.nodes[thread.top().node];
  node.self += branch.instructions;
  node.repeats += branch.repeats;
  const uint64_t calls = branch.kind == BranchKind::kSystemCall ? 1 : 0;
  node.system_calls += calls;
  trace_.threads[thread.index].instructions += branch.instructions;
  trace_.instructions += branch.instructions;
  trace_.repeats += branch.repeats;
  trace_.system_calls += calls;
}

// Makes the function that has the branch the current one: execution may have run on into it.
void ArcWalk::Settle(Thread& thread, const Branch& branch) {
  const CodeAt code = locate_(branch.pid, branch.from, branch.time_ns);
  Entry& top = thread.top();
  if (code.function == top.function) return;
  if (IsLinkage(code) && top.linkage.how == Linkage::How::kNone)
    top.linkage = {.how = Linkage::How::kTail, .module = code.module};
  if (IsLinkage(code) || (IsUnnamed(code) && top.linkage.how != Linkage::How::kNone)) return;
  const bool began = thread.at != 0 && thread.at < code.start && code.start <= branch.from;
  if (began) return TailCall(thread, code);
  if (!Leave(thread, code, branch.from)) Enter(thread, code.function, Reason::kMoved, false);
}

// Makes the function that the branch leads to the current one.
void ArcWalk::Follow(Thread& thread, const Branch& branch) {
  if (branch.kind == BranchKind::kNotTaken || branch.kind == BranchKind::kSystemCall) return;
  if (branch.kind == BranchKind::kEnd) return (void)Cut(thread, 1);
  const CodeAt to = locate_(branch.pid, branch.to, branch.time_ns);
  switch (branch.kind) {
    case BranchKind::kCall:
      return Call(thread, to, branch.from);
    case BranchKind::kReturn:
      return Return(thread, to, branch.to);
    case BranchKind::kSignal:
      return Signal(thread, to);
    case BranchKind::kSignalReturn:
      return SignalReturn(thread, to, branch.to);
    default:
      return Jump(thread, to, branch.to);
  }
}

void ArcWalk::Call(Thread& thread, const CodeAt& to, uint64_t call) {
  thread.top().linkage = {};
  if (IsLinkage(to)) {
    thread.top().linkage = {.how = Linkage::How::kCall, .module = to.module, .call = call};
  } else {
    Enter(thread, to.function, Reason::kCall, true, call);
  }
}

void ArcWalk::Jump(Thread& thread, const CodeAt& to, uint64_t address) {
  Entry& top = thread.top();
  if (top.linkage.how != Linkage::How::kNone) return ThroughLinkage(thread, to);
  if (IsLinkage(to)) {
    top.linkage = {.how = Linkage::How::kTail, .module = to.module};
    return;
  }
  if (to.function == top.function) return;
  if (to.entry || top.resolver) return TailCall(thread, to);
  // Any jump to code without symbols may be a call.
  if (IsUnnamed(to)) {
    if (!LeaveTo(thread, to.function, thread.stack.frame())) TailCall(thread, to);
  } else if (!Leave(thread, to, address)) {
    Enter(thread, to.function, Reason::kMoved, to.kind == CodeAt::Kind::kJitted);
  }
}

void ArcWalk::Return(Thread& thread, const CodeAt& to, uint64_t address) {
  const size_t frame = thread.stack.frame();
  thread.top().linkage = {};
  if (ReturnsTo(thread.stack[frame].call, address)) return (void)Cut(thread, frame);
  if (thread.stack[frame].reason == Reason::kHandler) {  // to the code that ends the signal
    Cut(thread, frame);
    return Enter(thread, to.function, Reason::kMoved, false);
  }
  if (to.function == thread.top().function && !to.entry) return;  // a jump within it
  if (Leave(thread, to, address)) return;
  if (to.entry) return TailCall(thread, to);  // a call by way of the stack
  ++trace_.beyond;
  Cut(thread, 1);
  Enter(thread, to.function, Reason::kMoved, false);
}

void ArcWalk::Signal(Thread& thread, const CodeAt& to) {
  ++trace_.signals;
  Enter(thread, kSignalFunction, Reason::kSignal, true);
  Enter(thread, to.function, Reason::kHandler, true);
}

void ArcWalk::SignalReturn(Thread& thread, const CodeAt& to, uint64_t address) {
  if (const size_t signal = thread.stack.NewestSignal()) Cut(thread, signal);
  const Entry& top = thread.top();
  if (to.function == top.function || top.linkage.how != Linkage::How::kNone || IsLinkage(to))
    return;
  if (!Leave(thread, to, address)) Enter(thread, to.function, Reason::kMoved, false);
}

// Enters the function that was called after a jump out of a stub, or continues towards it.
void ArcWalk::ThroughLinkage(Thread& thread, const CodeAt& to) {
  Linkage& linkage = thread.top().linkage;
  if (IsLinkage(to)) return;
  if (IsUnnamed(to) && to.module == linkage.module) {
    linkage.resolving = true;
    return;
  }
  const Linkage done = std::exchange(linkage, {});
  if (done.how == Linkage::How::kCall) {
    Enter(thread, to.function, Reason::kCall, true, done.call);
  } else {
    TailCall(thread, to);
  }
  thread.top().resolver = done.resolving || to.kind == CodeAt::Kind::kResolver;
}

void ArcWalk::TailCall(Thread& thread, const CodeAt& to) {
  const Entry top = thread.top();
  if (top.resolver) {  // it was called in place of this function
    Cut(thread, thread.stack.size() - 1);
    return Enter(thread, to.function, top.reason, true, top.call);
  }
  if (LeaveTo(thread, to.function, thread.stack.frame())) {  // its node continues
    Tell(StackChange::Kind::kEnd, to.function);
    Tell(StackChange::Kind::kCall, to.function);
    return Count(top.function, thread.top());
  }
  Enter(thread, to.function, Reason::kTail, true);
}

// Goes back to the function on the stack in which execution continues. Returns false if none is
// there.
bool ArcWalk::Leave(Thread& thread, const CodeAt& to, uint64_t address) {
  ArcStack& stack = thread.stack;
  if (LeaveTo(thread, to.function, stack.frame())) return true;
  const size_t returned = stack.NewestReturn(to.function, address);
  if (returned == 0) return LeaveTo(thread, to.function, 1);
  trace_.left += Cut(thread, returned) - 1;  // the frames above this one have not returned
  thread.top().linkage = {};
  return true;
}

// Goes back to the newest entry of the function that is at `from` or above. Returns false if there
// is none.
bool ArcWalk::LeaveTo(Thread& thread, uint32_t function, size_t from) {
  const size_t newest = thread.stack.Newest(function, from);
  if (newest == ArcStack::kNone) return false;
  trace_.left += Cut(thread, newest + 1);
  thread.top().linkage = {};
  return true;
}

void ArcWalk::Enter(Thread& thread, uint32_t function, Reason reason, bool counted, uint64_t call) {
  const uint32_t caller = thread.top().function;
  const uint32_t node = Child(thread.top().node, function);
  thread.stack.Push({.node = node, .function = function, .call = call, .reason = reason});
  if (counted) Count(caller, thread.top());
  Tell(counted ? StackChange::Kind::kCall : StackChange::Kind::kMoved, function);
}

// Ends the functions from index `size` on. Returns how many of them were frames.
size_t ArcWalk::Cut(Thread& thread, size_t size) {
  if (on_change_) {
    for (size_t i = thread.stack.size(); i-- > size;)
      on_change_({StackChange::Kind::kEnd, thread.stack[i].function});
  }
  return thread.stack.Cut(size);
}

void ArcWalk::Count(uint32_t caller, const Entry& callee) {
  ++trace_.nodes[callee.node].calls;
  ++trace_.calls[uint64_t{caller} << 32 | callee.function];
}

NodeIndex ArcWalk::Child(NodeIndex parent, uint32_t function) {
  const NodeIndex child = children_.Child(trace_.nodes, parent, function);
  if (child == trace_.nodes.size()) {
    ArcNode node;
    node.parent = parent;
    node.function = function;
    node.thread = trace_.nodes[parent].thread;
    trace_.nodes.push_back(node);
  }
  return child;
}

}  // namespace jprof::model
