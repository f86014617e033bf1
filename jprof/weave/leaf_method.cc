#include "jprof/weave/leaf_method.h"

#include "jprof/weave/big_endian.h"
#include "jprof/weave/instructions.h"

namespace jprof::weave {
namespace {

bool IsNumber(uint8_t tag) {
  return tag == kInteger || tag == kFloat || tag == kLong || tag == kDouble;
}

// Returns whether the instruction at an offset, with all its operands, runs no other method.
bool RunsNothing(std::string_view code, uint32_t at, const ClassFile& file) {
  const auto op = static_cast<uint8_t>(code[at]);
  switch (op) {
    case opcode::kLdc:
      return IsNumber(file.pool.Tag(static_cast<uint8_t>(code[at + 1])));
    case opcode::kLdcW:
    case opcode::kLdc2W:
      return IsNumber(file.pool.Tag(LoadBig<uint16_t>(code, at + 1)));
    case opcode::kGetfield:
    case opcode::kPutfield:
      return file.pool.ClassOfField(LoadBig<uint16_t>(code, at + 1)) == file.name;
    case opcode::kGetstatic:
    case opcode::kPutstatic:
    case opcode::kAnewarray:
    case opcode::kCheckcast:
    case opcode::kInstanceof:
    case opcode::kMultianewarray:
      return false;
    default:
      return op < opcode::kInvokevirtual || opcode::kNew < op;
  }
}

}  // namespace

bool IsLeaf(const CodeAttribute& code, const ClassFile& file) {
  if (code.exception_count() > 0) return false;
  for (uint32_t at = 0; at < code.code.size();) {
    const uint32_t length = InstructionLength(code.code, at);
    if (length == 0 || !RunsNothing(code.code, at, file)) return false;
    at += length;
  }
  return true;
}

}  // namespace jprof::weave
