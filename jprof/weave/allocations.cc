#include "jprof/weave/allocations.h"

#include <algorithm>
#include <array>

#include "jprof/weave/insertions.h"
#include "jprof/weave/instructions.h"

namespace jprof::weave {
namespace {

constexpr std::string_view kPrimitives =
    "ZCFDBSIJ";  // by the operand of newarray, which is 4 to 11
constexpr uint32_t kFirstPrimitive = 4;

// A method that boxes a number in an object, whose code the VM knows: compilers may remove its
// calls, so the callers count.
struct Boxing {
  std::string_view type;
  std::string_view descriptor;
  CounterMethod counts;
};
constexpr std::array<Boxing, 6> kBoxings = {{
    {"java/lang/Integer", "(I)Ljava/lang/Integer;", CounterMethod::kAskedBox},
    {"java/lang/Long", "(J)Ljava/lang/Long;", CounterMethod::kAskedLongBox},
    {"java/lang/Short", "(S)Ljava/lang/Short;", CounterMethod::kAskedBox},
    {"java/lang/Character", "(C)Ljava/lang/Character;", CounterMethod::kAskedBox},
    {"java/lang/Float", "(F)Ljava/lang/Float;", CounterMethod::kAsked},
    {"java/lang/Double", "(D)Ljava/lang/Double;", CounterMethod::kAsked},
}};

// Returns the name of the class of arrays with elements of a class.
std::string ArrayOf(std::string_view element) {
  if (element.starts_with('[')) return "[" + std::string(element);
  return "[L" + std::string(element) + ";";
}

uint16_t OperandAt(std::string_view code, uint32_t at) { return LoadBig<uint16_t>(code, at + 1); }

}  // namespace

// Names that the pool does not have are left to the VM, which refuses the class.
bool Allocations::Add(std::string_view code, uint32_t at) {
  const auto instruction = static_cast<uint8_t>(code[at]);
  if (instruction == opcode::kInvokestatic) return AddBoxing(OperandAt(code, at));
  if (instruction == opcode::kNewarray) {
    const uint32_t type = static_cast<uint8_t>(code[at + 1]) - kFirstPrimitive;
    if (type >= kPrimitives.size()) return true;
    return Push(std::string("[") + kPrimitives[type]) && Call(CounterMethod::kAsked);
  }
  if (instruction != opcode::kNew && instruction != opcode::kAnewarray &&
      instruction != opcode::kMultianewarray)
    return true;
  const std::string_view type = pool_.ClassName(OperandAt(code, at));
  if (type.empty()) return true;
  if (instruction == opcode::kMultianewarray)
    return AddDimensions(type, static_cast<uint8_t>(code[at + 3]));
  const bool pushed = instruction == opcode::kNew ? Push(type) : Push(ArrayOf(type));
  return pushed && Call(CounterMethod::kAsked);
}

// Boxes of small numbers exist already, so the counter gets the number.
bool Allocations::AddBoxing(uint16_t method) {
  const auto of = pool_.Method(method);
  if (of.name != "valueOf" || !of.of_class.starts_with("java/lang/")) return true;
  const auto boxing = std::ranges::find_if(kBoxings, [&](const Boxing& known) {
    return known.type == of.of_class && known.descriptor == of.descriptor;
  });
  if (boxing == kBoxings.end()) return true;
  if (boxing->counts == CounterMethod::kAskedBox) calls_.U1(opcode::kDup);
  if (boxing->counts == CounterMethod::kAskedLongBox) calls_.U1(opcode::kDup2);
  return Push(boxing->type) && Call(boxing->counts);
}

// Counts the arrays of each dimension: one, and as many as the product of the lengths before. The
// lengths are moved to local variables, and back to the stack.
bool Allocations::AddDimensions(std::string_view type, uint32_t dimensions) {
  if (dimensions == 0 || dimensions >= type.size()) return true;
  const auto local = [&](uint32_t i) { return static_cast<uint16_t>(first_local_ + i); };
  if (first_local_ + dimensions > UINT16_MAX) return false;
  locals_ = std::max(locals_, dimensions);
  for (uint32_t i = dimensions; i > 0; --i)
    calls_.Bytes(Store(opcode::kIload, local(i - 1)).view());
  if (!Push(type) || !Call(CounterMethod::kAsked)) return false;
  for (uint32_t i = 1; i < dimensions; ++i) {
    calls_.Bytes(Load(opcode::kIload, local(i - 1)).view());
    if (i > 1) calls_.U1(opcode::kImul);
    calls_.U1(opcode::kDup);
    type.remove_prefix(1);
    if (!Push(type) || !Call(CounterMethod::kAskedMany)) return false;
  }
  if (dimensions > 1) calls_.U1(opcode::kPop);
  for (uint32_t i = 0; i < dimensions; ++i) calls_.Bytes(Load(opcode::kIload, local(i)).view());
  return true;
}

bool Allocations::Push(std::string_view type) {
  const Snippet push = weave::Push(ids_(type), constants_);
  calls_.Bytes(push.view());
  return push.size() > 0;
}

bool Allocations::Call(CounterMethod method) {
  const Snippet call = weave::Call(method, constants_);
  calls_.Bytes(call.view());
  return call.size() > 0;
}

}  // namespace jprof::weave
