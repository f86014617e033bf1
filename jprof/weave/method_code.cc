#include "jprof/weave/method_code.h"

#include <algorithm>

#include "jprof/weave/big_endian.h"
#include "jprof/weave/code_tables.h"
#include "jprof/weave/insertions.h"

namespace jprof::weave {
namespace {

constexpr uint32_t kLargest = 65535;
constexpr uint32_t kLargestCompiled = 8000;  // HotSpot's HugeMethodLimit
constexpr uint16_t kFirstWithFrames = 50;    // version of class files

void WriteException(const ExceptionEntry& entry, uint32_t from, uint32_t to, uint32_t handler,
                    Output& out) {
  out.U2(from);
  out.U2(to);
  out.U2(handler);
  out.U2(entry.type);
}

bool CoversItself(const ExceptionEntry& entry) {
  return entry.start <= entry.handler && entry.handler < entry.end;
}

// Whether the instructions from one offset to the other, where an instruction begins, follow one
// another.
bool IsStraight(std::string_view code, uint32_t from, uint32_t to) {
  while (from < to && from < code.size()) {
    const auto opcode = static_cast<uint8_t>(code[from]);
    const Kind kind = instruction_table[opcode].kind;
    const uint32_t length = InstructionLength(code, from);
    const bool goes_on = kind == Kind::kPlain || kind == Kind::kWide;
    if (!goes_on || opcode == opcode::kAthrow || opcode == opcode::kRet || length == 0)
      return false;
    from += length;
  }
  return from == to && to < code.size();
}

}  // namespace

// Handlers that cover their own start, as javac's do for synchronized blocks: a stack overflow in
// the call there would lead to the handler again, forever, and HotSpot does not compile methods in
// which an instruction that may throw leaves a synchronized block uncovered. So the call follows
// where the handler no longer covers itself, if the code up to there is run through once.
void MethodCode::FindHandlers(const CodeAttribute& code) {
  handlers_.clear();
  moves_handlers_ = false;
  for (uint32_t i = 0; i < code.exception_count(); ++i)
    handlers_.push_back(code.exception(i).handler);
  std::sort(handlers_.begin(), handlers_.end());
  handlers_.erase(std::unique(handlers_.begin(), handlers_.end()), handlers_.end());
  for (uint32_t i = 0; i < code.exception_count(); ++i) {
    const ExceptionEntry entry = code.exception(i);
    if (!CoversItself(entry) || !IsStraight(code.code, entry.handler, entry.end)) continue;
    const auto at = std::lower_bound(handlers_.begin(), handlers_.end(), entry.handler);
    if (at == handlers_.end() || *at != entry.handler) continue;  // moved already
    *at = entry.end;
    moves_handlers_ = true;
    std::sort(handlers_.begin(), handlers_.end());
    handlers_.erase(std::unique(handlers_.begin(), handlers_.end()), handlers_.end());
  }
}

uint32_t MethodCode::NewStack(const CodeAttribute& code, const Insertions& insertions) const {
  uint32_t needed = std::max<uint32_t>(code.max_stack, insertions.stack_at_entry);
  if (layout_.has_return())
    needed = std::max(needed, code.max_stack + insertions.stack_before_return);
  if (!handlers_.empty()) needed = std::max(needed, insertions.stack_at_handler);
  if (moves_handlers_) needed = std::max(needed, code.max_stack + insertions.stack_at_handler - 1);
  return needed;
}

std::optional<Left> MethodCode::CheckSize(const CodeAttribute& code,
                                          const Insertions& insertions) const {
  const uint32_t size = layout_.new_size();
  if (size > kLargest || NewStack(code, insertions) > kLargest) return Left::kTooLarge;
  if (insertions.new_local && code.max_locals + 2u > kLargest) return Left::kTooLarge;
  if (code.code.size() <= kLargestCompiled && size > kLargestCompiled) return Left::kNotCompiled;
  return std::nullopt;
}

Result<std::optional<Left>> MethodCode::Write(const MethodInfo& method, const CodeAttribute& code,
                                              const Decision& decision, Output& out) {
  const auto insertions = InsertionsFor(decision, code.max_locals, constants_);
  if (!insertions) return Left::kConstantPoolFull;
  FindHandlers(code);
  if (auto placed = layout_.Place(code.code, handlers_, *insertions); !placed)
    return std::unexpected(placed.error());
  if (const auto left = CheckSize(code, *insertions)) return left;

  const size_t start = out.size();
  out.Bytes(method.code.whole.substr(0, 6));
  out.U2(NewStack(code, *insertions));
  out.U2(code.max_locals + (insertions->new_local ? 2 : 0));
  out.U4(layout_.new_size());
  const Result<bool> written = layout_.Write(out);
  if (!written) return std::unexpected(written.error());
  if (!*written) return Left::kJumpTooFar;
  const auto exceptions = WriteExceptions(code, *insertions, out);
  if (!exceptions || *exceptions) return exceptions;
  const auto left = WriteAttributes(method, code, *insertions, out);
  if (left && !*left) out.SetU4(start + 2, static_cast<uint32_t>(out.size() - start - 6));
  return left;
}

// A handler that covers its own start does not cover what is inserted there: such an entry becomes
// two.
Result<std::optional<Left>> MethodCode::WriteExceptions(const CodeAttribute& code,
                                                        const Insertions& insertions, Output& out) {
  const uint32_t inserted = insertions.at_handler.size();
  const size_t start = out.size();
  uint32_t count = 0;
  out.U2(0);
  new_exceptions_.clear();
  for (uint32_t i = 0; i < code.exception_count(); ++i) {
    const ExceptionEntry entry = code.exception(i);
    const uint32_t from = layout_.JumpTarget(entry.start);
    const uint32_t to = layout_.JumpTarget(entry.end);
    const uint32_t handler = layout_.JumpTarget(entry.handler);
    if (from == Layout::kNowhere || to == Layout::kNowhere || entry.start >= entry.end)
      return Fail("entry {} of its exception table has a wrong range", i);
    new_exceptions_.push_back(static_cast<uint16_t>(count));
    const bool split = inserted != 0 && CoversItself(entry) &&
                       std::binary_search(handlers_.begin(), handlers_.end(), entry.handler);
    if (split && entry.start < entry.handler) {
      WriteException(entry, from, handler, handler, out);
      ++count;
    }
    WriteException(entry, split ? handler + inserted : from, to, handler, out);
    ++count;
  }
  if (count > kLargest) return Left::kTooLarge;
  out.SetU2(start, count);
  return std::nullopt;
}

Result<std::optional<Left>> MethodCode::WriteAttributes(const MethodInfo& method,
                                                        const CodeAttribute& code,
                                                        const Insertions& insertions, Output& out) {
  ByteCursor cursor(code.attributes);
  const size_t start = out.size();
  uint32_t count = 0;
  out.U2(0);
  for (uint32_t i = 0; i < code.attribute_count; ++i) {
    const Attribute attribute = ReadAttribute(cursor, file_.pool);
    if (!cursor.ok()) return Fail("an attribute of its code is cut off or has no name");
    if (attribute.name == "StackMapTable" && file_.major >= kFirstWithFrames) {
      const auto left = WriteFrames(attribute, method, insertions, out);
      if (!left || *left) return left;
      ++count;
    } else if (WriteCodeTable(attribute, layout_, new_exceptions_, out)) {
      ++count;
    }
  }
  if (!cursor.empty()) return Fail("its code has a wrong length");
  out.SetU2(start, count);
  return std::nullopt;
}

Result<std::optional<Left>> MethodCode::WriteFrames(const Attribute& attribute,
                                                    const MethodInfo& method,
                                                    const Insertions& insertions, Output& out) {
  const size_t start = out.size();
  out.Bytes(attribute.whole.substr(0, 6));
  const auto left = frames_.Write(attribute.contents, method, layout_, insertions.new_local, out);
  if (left && !*left) out.SetU4(start + 2, static_cast<uint32_t>(out.size() - start - 6));
  return left;
}

}  // namespace jprof::weave
