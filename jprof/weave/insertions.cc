#include "jprof/weave/insertions.h"

#include "jprof/weave/instructions.h"

namespace jprof::weave {
namespace {

// The shortest instruction that pushes the number, which is not negative; empty if its constant
// does not fit.
Snippet Push(uint32_t number, Constants& constants) {
  Snippet push;
  if (number <= 5) {
    push.U1(opcode::kIconst0 + number);
  } else if (number <= INT8_MAX) {
    push.U1(opcode::kBipush);
    push.U1(number);
  } else if (number <= INT16_MAX) {
    push.U1(opcode::kSipush);
    push.U2(number);
  } else if (const uint16_t index = constants.Integer(number); index > UINT8_MAX) {
    push.U1(opcode::kLdcW);
    push.U2(index);
  } else if (index != 0) {
    push.U1(opcode::kLdc);
    push.U1(index);
  }
  return push;
}

// lload or lstore; `with_0` is the form for local variable 0, which those for 1 to 3 follow.
Snippet LocalAccess(uint8_t general, uint8_t with_0, uint16_t local) {
  Snippet access;
  if (local <= 3) {
    access.U1(with_0 + uint32_t{local});
  } else if (local <= UINT8_MAX) {
    access.U1(general);
    access.U1(local);
  } else {
    access.U1(opcode::kWide);
    access.U1(general);
    access.U2(local);
  }
  return access;
}

Snippet Call(CounterMethod method, Constants& constants) {
  Snippet call;
  const uint16_t index = constants.MethodOf(method);
  if (index == 0) return call;
  call.U1(opcode::kInvokestatic);
  call.U2(index);
  return call;
}

template <typename... Parts>
Snippet Join(const Parts&... parts) {
  Snippet joined;
  if ((... || (parts.size() == 0))) return joined;
  (joined.Append(parts), ...);
  return joined;
}

Insertions Counting(uint32_t id, uint16_t local, Constants& constants) {
  const Snippet push = Push(id, constants);
  const Snippet load = LocalAccess(opcode::kLload, opcode::kLload0, local);
  const Snippet store = LocalAccess(opcode::kLstore, opcode::kLstore0, local);
  Insertions counting;
  counting.at_entry = Join(push, Call(CounterMethod::kEnter, constants), store);
  counting.before_return = Join(load, Call(CounterMethod::kExit, constants));
  counting.at_handler = Join(load, push, Call(CounterMethod::kCaught, constants));
  counting.new_local = local;
  counting.stack_at_entry = 2;
  counting.stack_before_return = 2;
  counting.stack_at_handler = 4;
  return counting;
}

}  // namespace

std::optional<Insertions> InsertionsFor(const Decision& decision, uint16_t max_locals,
                                        Constants& constants) {
  Insertions insertions;
  bool complete = true;
  if (decision.action == Action::kCount) {
    insertions = Counting(decision.id, max_locals, constants);
    complete = insertions.at_entry.size() != 0 && insertions.before_return.size() != 0 &&
               insertions.at_handler.size() != 0;
  } else if (decision.action == Action::kAnnounce) {
    insertions.before_return = Call(CounterMethod::kAnnounce, constants);
    complete = insertions.before_return.size() != 0;
  }
  if (!complete) return std::nullopt;
  return insertions;
}

}  // namespace jprof::weave
