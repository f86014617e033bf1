#include "jprof/weave/layout.h"

#include <algorithm>

#include "jprof/weave/big_endian.h"
#include "jprof/weave/calls_before.h"

namespace jprof::weave {
namespace {

constexpr uint32_t kLongest = 6;  // bytes of an instruction that is no switch

int32_t Signed(uint32_t value) { return static_cast<int32_t>(value); }

}  // namespace

Result<void> Layout::Place(std::string_view code, std::span<const uint16_t> handlers,
                           const Insertions& insertions) {
  code_ = code;
  handlers_ = handlers;
  insertions_ = &insertions;
  returns_.clear();
  has_monitors_ = false;
  at_.assign(code.size() + 1, kNowhere);
  points_.clear();
  auto handler = handlers.begin();
  uint32_t to = insertions.at_entry.size();
  for (uint32_t from = 0; from < code.size();) {
    const Kind kind = instruction_table[static_cast<uint8_t>(code[from])].kind;
    const uint32_t length = InstructionLength(code, from);
    if (length == 0) return Fail("the instruction at {} is malformed or cut off", from);
    at_[from] = to;
    const bool is_handler = handler != handlers.end() && *handler == from;
    if (is_handler) {
      to += insertions.at_handler.code.size();
      ++handler;
    }
    const auto before = static_cast<uint32_t>(Before(from).size());
    to += before;
    if (kind == Kind::kReturn) returns_.push_back(static_cast<uint16_t>(from));
    has_monitors_ |= kind == Kind::kMonitor;
    if (is_handler || before != 0 || (kind != Kind::kPlain && kind != Kind::kWide))
      points_.push_back(static_cast<uint16_t>(from));
    if (kind == Kind::kSwitch)
      to += 4 - to % 4 + ReadSwitch(code, from).size();
    else
      to += length;
    from += length;
  }
  if (handler != handlers.end()) return Fail("an exception handler is not at an instruction");
  at_[code.size()] = to;
  return {};
}

bool Layout::IsHandler(uint32_t old) const {
  return std::binary_search(handlers_.begin(), handlers_.end(), old);
}

std::string_view Layout::tail() const {
  return returns_.empty() ? std::string_view() : insertions_->at_end.view();
}

uint32_t Layout::ReturnCallAt(uint32_t old) const {
  return at_[old] + (IsHandler(old) ? insertions_->at_handler.code.size() : 0);
}

uint32_t Layout::Inserted(uint32_t old) const {
  const uint32_t size = IsHandler(old) ? insertions_->at_handler.code.size() : 0;
  return size + static_cast<uint32_t>(Before(old).size());
}

std::string_view Layout::Before(uint32_t old) const {
  const auto instruction = static_cast<uint8_t>(code_[old]);
  const Kind kind = instruction_table[instruction].kind;
  if (kind == Kind::kReturn) return insertions_->before_return.code.view();
  if (kind == Kind::kPlain && insertions_->calls_before != nullptr)
    return insertions_->calls_before->At(old);
  if (kind != Kind::kMonitor) return {};
  return instruction == opcode::kMonitorenter ? insertions_->before_enter.view()
                                              : insertions_->before_exit.view();
}

uint32_t Layout::InstructionAt(uint32_t old) const {
  if (old >= code_.size() || at_[old] == kNowhere) return kNowhere;
  return at_[old] + Inserted(old);
}

uint32_t Layout::DebugOffset(uint32_t old) const {
  if (old >= at_.size()) return kNowhere;
  uint32_t start = old;
  while (at_[start] == kNowhere && old - start < kLongest) --start;
  if (at_[start] == kNowhere) start = *--std::upper_bound(points_.begin(), points_.end(), old);
  return start == 0 ? 0 : at_[start];
}

int64_t Layout::Jump(uint32_t from, int64_t distance) const {
  const int64_t old = from + distance;
  if (old < 0 || old >= old_size() || at_[static_cast<size_t>(old)] == kNowhere) return kFailed;
  return int64_t{at_[static_cast<size_t>(old)]} - InstructionAt(from);
}

bool Layout::WriteSwitch(uint32_t old, Output& out, size_t start) const {
  const Switch found = ReadSwitch(code_, old);
  const auto jump = [&](uint32_t at) {
    const int64_t distance = Jump(old, Signed(LoadBig<uint32_t>(code_, at)));
    out.U4(static_cast<uint32_t>(distance));
    return distance != kFailed;
  };
  out.Bytes(code_.substr(old, 1));
  out.Zeros((4 - (out.size() - start) % 4) % 4);
  uint32_t at = found.operands;
  bool ok = jump(at);
  out.Bytes(code_.substr(at + 4, found.fixed));
  at += 4 + found.fixed;
  for (uint32_t i = 0; i < found.cases; ++i, at += found.case_size) {
    out.Bytes(code_.substr(at, found.case_size - 4));
    ok &= jump(at + found.case_size - 4);
  }
  return ok;
}

Result<bool> Layout::WriteInstruction(uint32_t old, Kind kind, Output& out, size_t start) const {
  int64_t distance = 0;
  if (kind == Kind::kJump) {
    distance = Jump(old, static_cast<int16_t>(LoadBig<uint16_t>(code_, old + 1)));
    out.Bytes(code_.substr(old, 1));
    out.U2(static_cast<uint32_t>(distance));
    if (distance != kFailed && distance != static_cast<int16_t>(distance)) return false;
  } else if (kind == Kind::kLongJump) {
    distance = Jump(old, Signed(LoadBig<uint32_t>(code_, old + 1)));
    out.Bytes(code_.substr(old, 1));
    out.U4(static_cast<uint32_t>(distance));
  } else if (!WriteSwitch(old, out, start)) {
    distance = kFailed;
  }
  if (distance == kFailed) return Fail("the jump at {} leads to no instruction", old);
  return true;
}

Result<bool> Layout::Write(Output& out) const {
  const size_t start = out.size();
  out.Bytes(insertions_->at_entry.view());
  uint32_t copied = 0;
  for (const uint32_t point : points_) {
    out.Bytes(code_.substr(copied, point - copied));
    copied = point;
    const Kind kind = instruction_table[static_cast<uint8_t>(code_[point])].kind;
    if (IsHandler(point)) out.Bytes(insertions_->at_handler.code.view());
    out.Bytes(Before(point));
    if (kind != Kind::kJump && kind != Kind::kLongJump && kind != Kind::kSwitch) continue;
    const Result<bool> written = WriteInstruction(point, kind, out, start);
    if (!written || !*written) return written;
    copied = point + InstructionLength(code_, point);
  }
  out.Bytes(code_.substr(copied));
  out.Bytes(tail());
  out.Bytes(insertions_->at_unwind.view());
  return true;
}

}  // namespace jprof::weave
