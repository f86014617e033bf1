#include "jprof/weave/method_code.h"

#include <algorithm>
#include <utility>

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

// Instructions between a handler and the call for it; compilers need three.
constexpr uint32_t kMostSkipped = 16;

// Whether all that the instruction does is in the frame of its method: it runs no other code, not
// even that of a class loader, and nothing that may be thrown there needs a handler.
bool IsQuiet(std::string_view code, uint32_t at) {
  const auto opcode = static_cast<uint8_t>(code[at]);
  const Kind kind = instruction_table[opcode].kind;
  if (kind == Kind::kWide) return static_cast<uint8_t>(code[at + 1]) != opcode::kRet;
  const auto within = [&](uint8_t first, uint8_t last) {
    return first <= opcode && opcode <= last;
  };
  return opcode <= opcode::kSipush || within(opcode::kIload, opcode::kAload3) ||
         within(opcode::kIstore, opcode::kAstore3) || within(opcode::kPop, opcode::kSwap) ||
         opcode == opcode::kIinc || opcode == opcode::kMonitorexit;
}

uint8_t OpcodeAt(std::string_view code, uint32_t at) {
  return at < code.size() ? static_cast<uint8_t>(code[at]) : opcode::kNop;
}

// The offset of the instruction that follows, also by a goto; the same one if this instruction is
// not quiet.
uint32_t SkipQuiet(std::string_view code, uint32_t at) {
  const uint32_t length = at < code.size() ? InstructionLength(code, at) : 0;
  if (length == 0) return at;
  if (OpcodeAt(code, at) == opcode::kGoto)
    return at + static_cast<uint32_t>(static_cast<int16_t>(LoadBig<uint16_t>(code, at + 1)));
  return IsQuiet(code, at) ? at + length : at;
}

}  // namespace

// Where the call for the handler of an entry is: at the handler, or behind quiet instructions of
// it, so that no other call is attributed to a wrong node:
// - Behind where the handler no longer covers itself, as javac's do up to behind the monitorexit of
//   a synchronized block: a stack overflow in the call would lead to the handler again, forever.
// - Behind the monitorexit of a handler that then throws the exception again, as other compilers
//   make them: HotSpot does not compile methods that may throw while a monitor is held and no
//   handler releases it.
uint32_t MethodCode::PlaceOfCall(const CodeAttribute& code, const ExceptionEntry& entry) {
  uint32_t place = entry.handler;
  uint32_t released = entry.handler;
  uint32_t at = entry.handler;
  for (uint32_t i = 0; i < kMostSkipped; ++i) {
    const uint32_t before = std::exchange(at, SkipQuiet(code.code, at));
    if (at == before || at >= code.code.size()) break;
    if (OpcodeAt(code.code, before) == opcode::kMonitorexit) released = at;
    if (CoversItself(entry) && at == entry.end) place = released = at;
  }
  return OpcodeAt(code.code, at) == opcode::kAthrow ? released : place;
}

void MethodCode::FindHandlers(const CodeAttribute& code) {
  handlers_.clear();
  for (uint32_t i = 0; i < code.exception_count(); ++i) {
    const ExceptionEntry entry = code.exception(i);
    handlers_.push_back({entry.handler, static_cast<uint16_t>(PlaceOfCall(code, entry))});
  }
  // Of several entries with one handler the last place counts.
  std::ranges::sort(handlers_, [](const Handler& a, const Handler& b) {
    return a.start != b.start ? a.start < b.start : a.call > b.call;
  });
  const auto rest = std::ranges::unique(handlers_, {}, &Handler::start);
  handlers_.erase(rest.begin(), rest.end());
  // From a handler that begins there the calls are run through one after another.
  for (Handler& handler : handlers_) {
    for (uint32_t i = 0; i < kMostSkipped; ++i) {
      const Handler* const there = FindHandler(handler.call);
      if (there == nullptr || there->call == handler.call) break;
      handler.call = there->call;
    }
  }
  calls_.clear();
  moves_calls_ = false;
  for (const Handler& handler : handlers_) {
    calls_.push_back(handler.call);
    moves_calls_ |= handler.call != handler.start;
  }
  std::ranges::sort(calls_);
  calls_.erase(std::ranges::unique(calls_).begin(), calls_.end());
}

const MethodCode::Handler* MethodCode::FindHandler(uint16_t start) const {
  const auto found = std::ranges::lower_bound(handlers_, start, {}, &Handler::start);
  return found != handlers_.end() && found->start == start ? &*found : nullptr;
}

uint32_t MethodCode::NewStack(const CodeAttribute& code, const Insertions& insertions) const {
  uint32_t needed = std::max<uint32_t>(code.max_stack, insertions.stack_at_entry);
  if (layout_.has_return())
    needed = std::max(needed, code.max_stack + insertions.stack_before_return);
  if (!calls_.empty()) needed = std::max(needed, insertions.stack_at_handler);
  if (moves_calls_) needed = std::max(needed, code.max_stack + insertions.stack_at_handler - 1);
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
  if (auto placed = layout_.Place(code.code, calls_, *insertions); !placed)
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

// An entry does not cover the call for its own handler: one that covers what is around it becomes
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
    if (handler == Layout::kNowhere) return Fail("an exception handler is not at an instruction");
    new_exceptions_.push_back(static_cast<uint16_t>(count));
    const uint32_t call = FindHandler(entry.handler)->call;
    const bool split = inserted != 0 && entry.start <= call && call < entry.end;
    const uint32_t call_at = layout_.JumpTarget(call);
    if (split && entry.start < call) {
      WriteException(entry, from, call_at, handler, out);
      ++count;
    }
    WriteException(entry, split ? call_at + inserted : from, to, handler, out);
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
