// Converts the branches of traced threads to the tree of their calling contexts, with exact numbers
// of calls and instructions. Pure: the caller knows what code is at an address. Nothing is dropped:
// the instructions of all nodes are those of all records.
//
// Conventions:
// - The instructions between two branches belong to the function that has the second one.
// - A call counts for the function that made it. A jump, or running on, to the first instruction of
//   another function is a call too (a tail call): it is made by the function that jumps, and the
//   caller of that one is returned to. Within such a chain a function that comes again continues
//   its node, so that state machines of tail calls have no endless stack.
// - Stubs of the procedure linkage (name@plt) are transparent, as for callgrind: their instructions
//   are their caller's, which calls the function behind them; so it does if the dynamic linker
//   first had to find that function, and the linker's work is a call of its own.
// - Code that is left without a return (longjmp, exceptions) ends when its caller goes on.
// - A signal is a call of the function "(signal)", and that one calls the handler.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "model/itrace/arc_stack.h"
#include "model/tree/node.h"
#include "profile/log/branch_log.h"

namespace jprof::model {

// These functions have no code. The numbers of the others begin at kFirstCode.
inline constexpr uint32_t kThreadFunction = 0;  // the root of a thread's tree
inline constexpr uint32_t kSignalFunction = 1;
inline constexpr uint32_t kFirstCode = 2;

// Describes the code that is at an address at a given time.
struct CodeAt {
  enum class Kind : uint8_t {
    kNative,
    kJitted,    // may be entered behind its first instruction
    kUnnamed,   // all code of a module that no symbol covers
    kLinkage,   // a stub of the procedure linkage
    kResolver,  // the dynamic linker's function that jumps to the one that was called
  };
  uint32_t function = kFirstCode;
  uint32_t module = 0;
  uint64_t start = 0;  // of the function's code; 0 if unknown
  Kind kind = Kind::kNative;
  bool entry = false;  // a call begins here
};

struct ArcNode : Node {  // a thread is a root
  uint32_t function = kThreadFunction;
  uint32_t thread = 0;
  uint64_t calls = 0;
  uint64_t self = 0;     // instructions executed in it
  uint64_t repeats = 0;  // iterations of instructions with a rep prefix
  uint64_t system_calls = 0;
};

struct ArcThread {
  uint32_t pid = 0, tid = 0;
  uint32_t root = 0;  // its node
  uint64_t instructions = 0;
};

struct ArcTrace {
  std::vector<ArcNode> nodes;  // parents first; Take links them
  std::vector<ArcThread> threads;
  // Counts the calls by caller << 32 | callee. They include tail calls, for which the tree may
  // have no edge.
  std::unordered_map<uint64_t, uint64_t> calls;
  uint64_t records = 0, instructions = 0, repeats = 0, system_calls = 0, signals = 0;
  uint64_t left = 0;    // frames that ended without a return
  uint64_t beyond = 0;  // returns to where the trace had not come from
};

// Instructions that were executed one after the other, from `begin` up to the one at `last`, which
// is included unless `open`.
struct StraightRun {
  uint32_t pid = 0;
  uint64_t time_ns = 0;
  uint64_t begin = 0, last = 0;
  bool open = false;
  bool taken = false;  // ended by a conditional branch that was taken
};

// Describes a change of the shadow stack of the record's thread.
struct StackChange {
  enum class Kind : uint8_t {
    kCall,   // the function begins, and its call counts
    kMoved,  // the function begins, but execution came into its middle: that counts no call
    kEnd,    // the newest function ends, which is `function`
  };
  Kind kind = Kind::kCall;
  uint32_t function = 0;
};

class ArcWalk {
 public:
  using Locate = std::function<CodeAt(uint32_t pid, uint64_t address, uint64_t time_ns)>;
  using OnRun = std::function<void(const StraightRun& run)>;
  using OnChange = std::function<void(const StackChange& change)>;

  // Calls `on_run`, unless it is empty, for each run of instructions, and `on_change` for each
  // change of a shadow stack. There are as many changes kCall of a function as calls in the tree.
  explicit ArcWalk(Locate locate, OnRun on_run = {}, OnChange on_change = {});

  // Adds a record. Requires the records of each thread in their order; threads may alternate.
  void Add(const profile::Branch& branch);
  ArcTrace Take() {
    LinkNodes(trace_.nodes);
    return std::move(trace_);
  }

 private:
  using Entry = ArcEntry;
  using Linkage = ArcEntry::Linkage;
  using Reason = ArcEntry::Reason;
  struct Thread {
    uint32_t index = 0;
    uint64_t at = 0;  // where the next run begins; 0 if unknown
    ArcStack stack;
    Entry& top() { return stack.top(); }
  };

  Thread& ThreadOf(const profile::Branch& branch);
  void Begin(Thread& thread, const profile::Branch& branch);
  void Attribute(Thread& thread, const profile::Branch& branch);
  void Settle(Thread& thread, const profile::Branch& branch);
  void Follow(Thread& thread, const profile::Branch& branch);
  void Call(Thread& thread, const CodeAt& to, uint64_t call);
  void Jump(Thread& thread, const CodeAt& to, uint64_t address);
  void Return(Thread& thread, const CodeAt& to, uint64_t address);
  void Signal(Thread& thread, const CodeAt& to);
  void SignalReturn(Thread& thread, const CodeAt& to, uint64_t address);
  void ThroughLinkage(Thread& thread, const CodeAt& to);
  void TailCall(Thread& thread, const CodeAt& to);
  bool Leave(Thread& thread, const CodeAt& to, uint64_t address);
  bool LeaveTo(Thread& thread, uint32_t function, size_t from);
  void Enter(Thread& thread, uint32_t function, Reason reason, bool counted, uint64_t call = 0);
  size_t Cut(Thread& thread, size_t size);
  void Tell(StackChange::Kind kind, uint32_t function) const {
    if (on_change_) on_change_({kind, function});
  }
  void Count(uint32_t caller, const Entry& callee);
  NodeIndex Child(NodeIndex parent, uint32_t function);

  Locate locate_;
  OnRun on_run_;
  OnChange on_change_;
  ArcTrace trace_;
  ChildMap children_;  // by function
  std::unordered_map<uint64_t, Thread> threads_;
  uint64_t last_key_ = 0;
  Thread* last_ = nullptr;  // the thread of the previous record
};

}  // namespace jprof::model
