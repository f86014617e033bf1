#include "jprof/weave/instructions.h"

#include "jprof/weave/big_endian.h"

namespace jprof::weave {
namespace {

using Table = std::array<Instruction, 256>;

constexpr void Set(Table& table, int first, int last, Kind kind, uint8_t length) {
  for (int op = first; op <= last; ++op) table[static_cast<size_t>(op)] = {kind, length};
}

constexpr Table MakeTable() {
  Table table{};
  Set(table, 0, 201, Kind::kPlain, 1);
  Set(table, 16, 16, Kind::kPlain, 2);    // bipush
  Set(table, 17, 17, Kind::kPlain, 3);    // sipush
  Set(table, 18, 18, Kind::kPlain, 2);    // ldc
  Set(table, 19, 20, Kind::kPlain, 3);    // ldc_w, ldc2_w
  Set(table, 21, 25, Kind::kPlain, 2);    // loads
  Set(table, 54, 58, Kind::kPlain, 2);    // stores
  Set(table, 132, 132, Kind::kPlain, 3);  // iinc
  Set(table, 153, 168, Kind::kJump, 3);   // if..., goto, jsr
  Set(table, 169, 169, Kind::kPlain, 2);  // ret
  Set(table, 170, 171, Kind::kSwitch, 0);
  Set(table, 172, 177, Kind::kReturn, 1);
  Set(table, 178, 184, Kind::kPlain, 3);    // fields, invokevirtual, invokespecial, invokestatic
  Set(table, 185, 186, Kind::kPlain, 5);    // invokeinterface, invokedynamic
  Set(table, 187, 187, Kind::kPlain, 3);    // new
  Set(table, 188, 188, Kind::kPlain, 2);    // newarray
  Set(table, 189, 189, Kind::kPlain, 3);    // anewarray
  Set(table, 192, 193, Kind::kPlain, 3);    // checkcast, instanceof
  Set(table, 194, 195, Kind::kMonitor, 1);  // monitorenter, monitorexit
  Set(table, 196, 196, Kind::kWide, 0);
  Set(table, 197, 197, Kind::kPlain, 4);  // multianewarray
  Set(table, 198, 199, Kind::kJump, 3);   // ifnull, ifnonnull
  Set(table, 200, 201, Kind::kLongJump, 5);
  return table;
}

uint32_t WideLength(std::string_view code, uint32_t at) {
  if (code.size() - at < 2) return 0;
  const auto op = static_cast<uint8_t>(code[at + 1]);
  if (op == opcode::kIinc) return 6;
  const bool has_local = instruction_table[op].kind == Kind::kPlain &&
                         instruction_table[op].length == 2 && op != opcode::kBipush &&
                         op != opcode::kLdc;
  return has_local ? 4 : 0;
}

}  // namespace

constinit const std::array<Instruction, 256> instruction_table = MakeTable();

Switch ReadSwitch(std::string_view code, uint32_t at) {
  const uint32_t operands = (at + 4) & ~3u;
  if (code.size() < operands + 12) {
    // The shortest lookupswitch, without cases, has only eight bytes.
    const bool table = static_cast<uint8_t>(code[at]) == opcode::kTableswitch;
    if (table || code.size() < operands + 8) return {};
  }
  Switch found;
  uint64_t cases = 0;
  if (static_cast<uint8_t>(code[at]) == opcode::kTableswitch) {
    const auto low = static_cast<int32_t>(LoadBig<uint32_t>(code, operands + 4));
    const auto high = static_cast<int32_t>(LoadBig<uint32_t>(code, operands + 8));
    if (low > high) return {};
    cases = static_cast<uint64_t>(int64_t{high} - low + 1);
    found = {operands, 8, 0, 4};
  } else {
    cases = LoadBig<uint32_t>(code, operands + 4);
    found = {operands, 4, 0, 8};
  }
  if (cases > (code.size() - operands - 4 - found.fixed) / found.case_size) return {};
  found.cases = static_cast<uint32_t>(cases);
  return found;
}

uint32_t InstructionLength(std::string_view code, uint32_t at) {
  const Instruction instruction = instruction_table[static_cast<uint8_t>(code[at])];
  uint32_t length = instruction.length;
  if (instruction.kind == Kind::kWide) length = WideLength(code, at);
  if (instruction.kind == Kind::kSwitch) {
    const Switch found = ReadSwitch(code, at);
    if (found.operands != 0) length = found.operands - at + found.size();
  }
  return length <= code.size() - at ? length : 0;
}

}  // namespace jprof::weave
