#include "jprof/weave/call_sites.h"

#include <algorithm>

#include "jprof/weave/insertions.h"
#include "jprof/weave/instructions.h"

namespace jprof::weave {
namespace {

// Classes whose pool has fewer free entries get no more sites, so that all methods can be counted.
constexpr uint32_t kReservedConstants = 8192;

}  // namespace

// HotSpot calls no constructor of Object: it has an intrinsic for it, and it is never counted.
bool CallSites::IsSite(std::string_view code, uint32_t at) const {
  const auto instruction = static_cast<uint8_t>(code[at]);
  if (instruction < opcode::kInvokevirtual || instruction > opcode::kInvokedynamic) return false;
  if (instruction != opcode::kInvokespecial) return true;
  const auto callee = pool_.Method(LoadBig<uint16_t>(code, at + 1));
  return callee.of_class != "java/lang/Object" || callee.name != "<init>";
}

bool CallSites::AreIn(std::string_view code) const {
  for (uint32_t at = 0; at < code.size();) {
    const uint32_t length = InstructionLength(code, at);
    if (length == 0) return false;
    if (IsSite(code, at)) return true;
    at += length;
  }
  return false;
}

void CallSites::Begin(const CodeAttribute& code, uint16_t own) {
  own_ = own;
  lines_.clear();
  next_line_ = 0;
  ByteCursor cursor(code.attributes);
  for (uint32_t i = 0; i < code.attribute_count && cursor.ok(); ++i) {
    const Attribute attribute = ReadAttribute(cursor, pool_);
    if (cursor.ok() && attribute.name == "LineNumberTable") ReadLines(attribute);
  }
  std::ranges::stable_sort(lines_, {}, &Line::start);
}

void CallSites::ReadLines(const Attribute& table) {
  ByteCursor cursor(table.contents);
  for (uint32_t lines = ReadU2(cursor); lines > 0; --lines) {
    const Line line = {ReadU2(cursor), ReadU2(cursor)};
    if (!cursor.ok()) return;
    lines_.push_back(line);
  }
}

uint32_t CallSites::LineAt(uint32_t at) {
  while (next_line_ < lines_.size() && lines_[next_line_].start <= at) ++next_line_;
  if (next_line_ == 0) return 0;
  size_t found = next_line_ - 1;  // of several for one bytecode the first, as in the VM
  while (found > 0 && lines_[found - 1].start == lines_[found].start) --found;
  return lines_[found].line;
}

bool CallSites::Add(std::string_view code, uint32_t at) {
  if (!IsSite(code, at)) return true;
  if (constants_.left() < kReservedConstants) return false;
  const Snippet push = Push(ids_(at, LineAt(at)), constants_);
  const Snippet call = Call(CounterMethod::kSite, constants_);
  calls_.Bytes(Load(opcode::kLload, own_).view());
  calls_.Bytes(push.view());
  calls_.Bytes(call.view());
  return push.size() > 0 && call.size() > 0;
}

}  // namespace jprof::weave
