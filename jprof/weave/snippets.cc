// Makes single instructions and calls of the counter (insertions.h).
#include "jprof/weave/insertions.h"
#include "jprof/weave/instructions.h"

namespace jprof::weave {
namespace {

// Returns an lload or lstore. `with_0` is the form for local variable 0, which those for 1 to 3
// follow.
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

}  // namespace

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

Snippet Call(CounterMethod method, Constants& constants) {
  Snippet call;
  const uint16_t index = constants.MethodOf(method);
  if (index == 0) return call;
  call.U1(opcode::kInvokestatic);
  call.U2(index);
  return call;
}

// Returns the load of a local variable. The short instructions for local variables 0 to 3 have
// consecutive opcodes, four for each type.
Snippet Load(uint8_t general, uint16_t local) {
  return LocalAccess(general, static_cast<uint8_t>(26 + 4 * (general - opcode::kIload)), local);
}
Snippet Store(uint8_t load, uint16_t local) {
  const auto general = static_cast<uint8_t>(load - opcode::kIload + opcode::kIstore);
  return LocalAccess(general, static_cast<uint8_t>(59 + 4 * (general - opcode::kIstore)), local);
}

}  // namespace jprof::weave
