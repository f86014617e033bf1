#include "jprof/weave/insertions.h"

#include <algorithm>

#include "jprof/weave/instructions.h"
#include "jprof/weave/label_call.h"
#include "jprof/weave/lock_methods.h"

namespace jprof::weave {
namespace {

template <typename... Parts>
Snippet Join(const Parts&... parts) {
  Snippet joined;
  (joined.Append(parts), ...);
  return joined;
}

// Returns the instruction (iload to aload) that loads a value of the method's return type, or
// nothing if it is void.
std::optional<uint8_t> LoadOfResult(std::string_view descriptor) {
  const size_t end = descriptor.rfind(')');
  const char type = end + 1 < descriptor.size() ? descriptor[end + 1] : 'V';
  switch (type) {
    case 'V':
      return std::nullopt;
    case 'J':
      return opcode::kLload;
    case 'F':
      return opcode::kFload;
    case 'D':
      return opcode::kDload;
    case 'L':
    case '[':
      return opcode::kAload;
    default:
      return opcode::kIload;
  }
}

// Returns the instructions that push a number above 0 if the method has taken a lock. Its result
// is in all.kept.
Snippet PushTaken(const Insertions& all) {
  Snippet push;
  if (!all.returned) {
    push.U1(opcode::kIconst0 + 1);
    return push;
  }
  push = Load(*all.returned, all.kept);
  if (*all.returned == opcode::kLload) {
    push.U1(opcode::kLconst0);
    push.U1(opcode::kLcmp);
  }
  return push;
}

// Keeps the return value in a local variable during the call: a stack overflow clears the operand
// stack.
void GuardReturn(const Target& target, Insertions& all) {
  const Snippet call = all.before_return.code;
  all.returned = LoadOfResult(target.descriptor);
  Snippet keep;
  Snippet get;
  Snippet leave;
  if (all.returned) {
    keep = Store(*all.returned, all.kept);
    get = Load(*all.returned, all.kept);
    leave.U1(uint32_t{opcode::kIreturn} + *all.returned - opcode::kIload);
  } else {
    leave.U1(opcode::kReturn);
  }
  all.before_return = {
      .code = Join(keep, call, get), .from = keep.size(), .to = keep.size() + call.size()};
  all.at_end = Join(get, leave);
  all.stack_at_end = std::max(all.stack_at_end, all.returned ? 3u : 1u);
}

Snippet Goto(uint32_t distance) {
  Snippet jump;
  jump.U1(opcode::kGoto);
  jump.U2(distance);
  return jump;
}

// Keeps the exception in a local variable during the call. Exceptions of the call have handlers of
// their own, because C1 does not compile a method in which a handler is also reached without an
// exception:
//   astore kept, call, goto end; other: astore kept, goto end; overflow: pop; end: aload kept
GuardedCall Caught(uint16_t kept, const Snippet& call) {
  const Snippet keep = Store(opcode::kAload, kept);
  Snippet pop;
  pop.U1(opcode::kPop);
  const Snippet replace = Join(keep, Goto(4));
  const Snippet skip = Goto(3 + replace.size() + pop.size());
  GuardedCall guarded;
  guarded.from = keep.size();
  guarded.to = guarded.from + call.size();
  guarded.other = guarded.to + skip.size();
  guarded.overflow = guarded.other + replace.size();
  guarded.code = Join(keep, call, skip, replace, pop, Load(opcode::kAload, kept));
  return guarded;
}

// Inserts the calls at the instructions that take and release monitors. A call before monitorexit
// takes no more of the stack than the one before monitorenter, so it overflows only where that one
// has.
bool TellMonitors(Constants& constants, Insertions& all) {
  Snippet dup;
  dup.U1(opcode::kDup);
  const Snippet ask = Call(CounterMethod::kAsk, constants);
  const Snippet release = Call(CounterMethod::kRelease, constants);
  if (ask.size() == 0 || release.size() == 0) return false;
  all.before_enter = Join(dup, ask);
  all.before_exit = Join(dup, release);
  all.stack_at_monitor = 1;
  return true;
}

// Returns the instruction that loads the monitor of a synchronized method at its entry.
Snippet LoadMonitor(const Target& target) {
  if ((target.access & kStatic) == 0) return Load(opcode::kAload, 0);
  Snippet load;
  load.U1(opcode::kLdcW);
  load.U2(target.this_class);
  return load;
}

// Inserts the calls at the entry, the returns and the end by an exception of a synchronized method.
bool TellSynchronized(const Target& target, Constants& constants, Insertions& all) {
  const Snippet node = Load(opcode::kLload, *all.node);
  const Snippet enter = Call(CounterMethod::kEnterLocked, constants);
  const Snippet leave = Call(CounterMethod::kLeaveLocked, constants);
  all.throwable = constants.Class("java/lang/Throwable");
  if (enter.size() == 0 || leave.size() == 0 || all.throwable == 0) return false;
  Snippet rethrow;
  rethrow.U1(opcode::kAthrow);
  all.at_entry = Join(all.at_entry, LoadMonitor(target), node, enter);
  all.before_return.code = Join(node, leave, all.before_return.code);
  all.at_unwind = Join(node, leave, rethrow);
  all.stack_at_entry = 3;
  all.stack_at_end = 3;
  return true;
}

// Returns the instructions that push `this` and the second argument of JprofConcurrent.
Snippet ThisAndWhat(const LockMethod& method, Constants& constants) {
  return Join(Load(opcode::kAload, 0), Push(method.what, constants));
}

// Inserts the calls at the entry, the returns and the end by an exception of a method that takes a
// lock.
bool TellTaken(const LockMethod& method, const Target& target, Constants& constants,
               Insertions& all) {
  const Snippet object_and_what = ThisAndWhat(method, constants);
  const Snippet what = Push(method.what, constants);
  const Snippet ask = Call(CounterMethod::kAskFor, constants);
  const Snippet taken = Call(CounterMethod::kTaken, constants);
  const Snippet failed = Call(CounterMethod::kFailed, constants);
  all.throwable = constants.Class("java/lang/Throwable");
  if (ask.size() == 0 || taken.size() == 0 || failed.size() == 0 || all.throwable == 0)
    return false;
  Snippet rethrow;
  rethrow.U1(opcode::kAthrow);
  all.returned = LoadOfResult(target.descriptor);
  all.at_entry = Join(all.at_entry, object_and_what, ask);
  all.before_return.code = Join(PushTaken(all), object_and_what, taken, all.before_return.code);
  all.at_unwind = Join(what, failed, rethrow);
  all.stack_at_entry = 3;
  all.stack_before_return = 4;
  all.stack_at_end = 3;
  return true;
}

bool TellEntry(CounterMethod method, const Snippet& arguments, Constants& constants,
               Insertions& all) {
  const Snippet call = Call(method, constants);
  all.at_entry = Join(all.at_entry, arguments, call);
  return call.size() != 0;
}

// Inserts the calls of a method of lock_methods.h. All of these methods call others.
bool TellConcurrent(const Target& target, Constants& constants, Insertions& all) {
  const LockMethod method = FindLockMethod(target.class_name, target.name, target.descriptor);
  const bool is_static = (target.access & kStatic) != 0;
  if (!target.calls || (is_static && method.use != LockUse::kPark)) return true;
  switch (method.use) {
    case LockUse::kNone:
      return true;
    case LockUse::kTake:
      return TellTaken(method, target, constants, all);
    case LockUse::kRelease:
      return TellEntry(CounterMethod::kReleaseLock, ThisAndWhat(method, constants), constants, all);
    case LockUse::kPark:
      return TellEntry(CounterMethod::kParks, {}, constants, all);
    case LockUse::kReacquire:
      return TellEntry(CounterMethod::kReacquires, {}, constants, all);
    case LockUse::kEnd:
      return TellEntry(CounterMethod::kEnds, {}, constants, all);
  }
  return false;
}

bool Locks(const Target& target, Constants& constants, Insertions& all) {
  constexpr uint16_t kFirstWithClassConstants = 49;
  if (!TellMonitors(constants, all) || !TellConcurrent(target, constants, all)) return false;
  const bool has_monitor =
      (target.access & kSynchronized) != 0 &&
      ((target.access & kStatic) == 0 || target.major >= kFirstWithClassConstants);
  return !has_monitor || TellSynchronized(target, constants, all);
}

// Keeps the method's own node in two local variables behind the caller's.
bool KeepOwnNode(Constants& constants, Insertions& all) {
  const Snippet current = Call(CounterMethod::kCurrent, constants);
  all.own = static_cast<uint16_t>(*all.node + 2);
  all.new_locals = static_cast<uint16_t>(all.new_locals + 2);
  all.at_entry = Join(all.at_entry, current, Store(opcode::kLload, *all.own));
  return current.size() != 0;
}

// Counts the entry without making the method's node current.
bool CountLeaf(uint32_t id, Constants& constants, Insertions& all) {
  const Snippet push = Push(id, constants);
  const Snippet leaf = Call(CounterMethod::kLeaf, constants);
  all.at_entry = Join(push, leaf);
  all.stack_at_entry = 1;
  return push.size() != 0 && leaf.size() != 0;
}

bool Count(uint32_t id, const Target& target, Constants& constants, Insertions& all) {
  if (target.leaf) return CountLeaf(id, constants, all);
  const uint16_t node = target.max_locals;
  const Snippet push = Push(id, constants);
  const Snippet load = Load(opcode::kLload, node);
  const Snippet enter = Call(CounterMethod::kEnter, constants);
  const Snippet exit = Call(CounterMethod::kExit, constants);
  const Snippet caught = Call(CounterMethod::kCaught, constants);
  if (push.size() == 0 || enter.size() == 0 || exit.size() == 0 || caught.size() == 0) return false;
  all.node = node;
  all.new_locals = 2;
  all.at_entry = Join(push, enter, Store(opcode::kLload, node));
  if (target.sites && !KeepOwnNode(constants, all)) return false;
  all.kept = static_cast<uint16_t>(node + all.new_locals);
  all.before_return.code = Join(load, exit);
  all.at_handler = Caught(all.kept, Join(load, push, caught));
  all.stack_at_entry = 2;
  all.stack_before_return = 2;
  all.stack_at_handler = 3;
  return true;
}

bool Announce(const Target& target, Constants& constants, Insertions& all) {
  all.kept = target.max_locals;
  all.before_return.code = Call(CounterMethod::kAnnounce, constants);
  return all.before_return.code.size() != 0;
}

// Makes a method begin with aload_0, aload_1, call, dup, ifnull none, areturn; none: pop.
bool Answer(Constants& constants, Insertions& all) {
  const Snippet call = Call(CounterMethod::kAnswer, constants);
  all.answer_class = constants.Class("java/lang/Class");
  if (call.size() == 0 || all.answer_class == 0) return false;
  Snippet test;
  test.U1(opcode::kDup);
  test.U1(opcode::kIfnull);
  test.U2(4);
  test.U1(opcode::kAreturn);
  Snippet pop;
  pop.U1(opcode::kPop);
  const Snippet answered = Join(Load(opcode::kAload, 0), Load(opcode::kAload, 1), call, test);
  all.no_answer = answered.size();
  all.at_entry = Join(answered, pop, all.at_entry);
  all.stack_at_entry = std::max(all.stack_at_entry, 2u);
  return true;
}

bool SetLabel(const LabelAtEntry& label, Constants& constants, Insertions& all) {
  const Snippet call = LabelCall(label, constants);
  all.at_entry = Join(all.at_entry, call);
  all.stack_at_entry = std::max(all.stack_at_entry, 2u);
  return call.size() != 0;
}

}  // namespace

std::optional<Insertions> InsertionsFor(const Decision& decision, const Target& target,
                                        Constants& constants) {
  Insertions all;
  const auto label_and_answer = [&] {
    return (!decision.label || SetLabel(*decision.label, constants, all)) &&
           (!decision.answers || Answer(constants, all));
  };
  if (decision.action == Action::kLeave)
    return label_and_answer() ? std::optional(all) : std::nullopt;
  bool complete = decision.action == Action::kCount ? Count(decision.id, target, constants, all)
                                                    : Announce(target, constants, all);
  if (complete && decision.locks) complete = Locks(target, constants, all);
  if (!complete || !label_and_answer()) return std::nullopt;
  if (target.calls) {
    GuardReturn(target, all);
    all.overflow_error = constants.Class("java/lang/StackOverflowError");
    if (all.overflow_error == 0) return std::nullopt;
    const int kept = all.returned ? 2 : all.node ? 1 : 0;  // of an exception at least
    all.new_locals = static_cast<uint16_t>(all.new_locals + kept);
  }
  return all;
}

}  // namespace jprof::weave
