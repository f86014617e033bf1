#include "jprof/weave/method_code.h"

#include <algorithm>
#include <utility>

#include "jprof/weave/big_endian.h"
#include "jprof/weave/code_tables.h"
#include "jprof/weave/descriptor.h"
#include "jprof/weave/insertions.h"
#include "jprof/weave/leaf_method.h"

namespace jprof::weave {
namespace {

constexpr uint32_t kLargest = 65535;
constexpr uint32_t kLargestCompiled = 8000;  // HotSpot's HugeMethodLimit
// This is the first class file version with stack map frames. If the frames of such a class are
// wrong, the VM infers the types, as it does for older classes, so the class is woven without
// frames.
constexpr uint16_t kFirstWithFrames = 50;

bool CallsOrCatches(const CodeAttribute& code) {
  if (code.exception_count() > 0) return true;
  for (uint32_t at = 0; at < code.code.size();) {
    const auto opcode = static_cast<uint8_t>(code.code[at]);
    if (opcode::kInvokevirtual <= opcode && opcode <= opcode::kInvokedynamic) return true;
    const uint32_t length = InstructionLength(code.code, at);
    if (length == 0) return false;
    at += length;
  }
  return false;
}

// Labels, locks and allocations belong to the current node.
bool MayBeLeaf(const Decision& decision) {
  return decision.leaves && !decision.label && !decision.locks && !decision.allocations;
}

}  // namespace

void MethodCode::FindHandlers(const CodeAttribute& code) {
  handlers_.clear();
  for (uint32_t i = 0; i < code.exception_count(); ++i) {
    const ExceptionEntry entry = code.exception(i);
    handlers_.push_back({entry.handler, entry.type == 0});
  }
  std::ranges::sort(handlers_, [](const Handler& a, const Handler& b) {
    return a.start != b.start ? a.start < b.start : a.of_any > b.of_any;
  });
  const auto rest = std::ranges::unique(handlers_, {}, &Handler::start);
  handlers_.erase(rest.begin(), rest.end());
  starts_.clear();
  for (const Handler& handler : handlers_) starts_.push_back(handler.start);
}

uint32_t MethodCode::NewStack(const CodeAttribute& code, const Insertions& insertions) const {
  uint32_t needed = std::max<uint32_t>(code.max_stack, insertions.stack_at_entry);
  if (!layout_.returns().empty())
    needed = std::max(
        {needed, code.max_stack + insertions.stack_before_return, insertions.stack_at_end});
  if (!handlers_.empty()) needed = std::max(needed, insertions.stack_at_handler);
  if (insertions.at_unwind.size() != 0) needed = std::max(needed, insertions.stack_at_end);
  if (layout_.has_monitors())
    needed = std::max(needed, code.max_stack + insertions.stack_at_monitor);
  return std::max(needed, code.max_stack + insertions.stack_before_others);
}

bool MethodCode::AddCallsBefore(const CodeAttribute& code, const Decision& decision,
                                Insertions& insertions) {
  constexpr uint32_t kMostOnStack = 3;  // a long and an id
  const uint32_t first_local = code.max_locals + uint32_t{insertions.new_locals};
  if (!calls_before_.Find(code, decision.allocations, insertions.own, first_local)) return false;
  if (calls_before_.empty()) return true;
  insertions.calls_before = &calls_before_;
  insertions.new_locals = static_cast<uint16_t>(insertions.new_locals + calls_before_.locals());
  insertions.stack_before_others = kMostOnStack;
  return true;
}

std::optional<SkipReason> MethodCode::CheckSize(const CodeAttribute& code,
                                                const Insertions& insertions) const {
  const uint32_t size = layout_.new_size();
  if (size > kLargest || NewStack(code, insertions) > kLargest) return SkipReason::kTooLarge;
  if (code.max_locals + uint32_t{insertions.new_locals} > kLargest) return SkipReason::kTooLarge;
  if (code.code.size() <= kLargestCompiled && size > kLargestCompiled)
    return SkipReason::kNotCompiled;
  return std::nullopt;
}

Result<std::optional<SkipReason>> MethodCode::Write(const MethodInfo& method,
                                                    const CodeAttribute& code,
                                                    const Decision& decision, Output& out) {
  if (!ArgumentTypes(method.descriptor).All())
    return Fail("its descriptor {} is malformed", method.descriptor);
  const Target target = {.class_name = file_.name,
                         .name = method.name,
                         .descriptor = method.descriptor,
                         .max_locals = code.max_locals,
                         .calls = CallsOrCatches(code),
                         .leaf = MayBeLeaf(decision) && IsLeaf(code, file_),
                         .sites = decision.sites && calls_before_.HasSites(code.code),
                         .access = method.access,
                         .major = file_.major,
                         .this_class = file_.this_class};
  auto insertions = InsertionsFor(decision, target, constants_);
  if (!insertions || !AddCallsBefore(code, decision, *insertions))
    return SkipReason::kConstantPoolFull;
  FindHandlers(code);
  if (auto placed = layout_.Place(code.code, starts_, *insertions); !placed)
    return std::unexpected(placed.error());
  if (const auto skipped = CheckSize(code, *insertions)) return skipped;

  const size_t start = out.size();
  out.Bytes(method.code.whole.substr(0, 6));
  out.U2(NewStack(code, *insertions));
  out.U2(code.max_locals + uint32_t{insertions->new_locals});
  out.U4(layout_.new_size());
  const Result<bool> written = layout_.Write(out);
  if (!written) return std::unexpected(written.error());
  if (!*written) return SkipReason::kJumpTooFar;
  const auto exceptions = WriteExceptions(code, *insertions, out);
  if (!exceptions || *exceptions) return exceptions;
  const auto skipped = WriteAttributes(method, code, *insertions, out);
  if (skipped && !*skipped) out.SetU4(start + 2, static_cast<uint32_t>(out.size() - start - 6));
  return skipped;
}

// Writes the exception table entries that guard the calls (insertions.h). If the call in a handler
// of any exception throws something else, as in a thread that is being stopped, that handler
// continues with it: HotSpot does not compile methods that may throw while a monitor is held and no
// handler releases it.
uint32_t MethodCode::WriteGuards(const Insertions& insertions, Output& out) {
  uint32_t count = 0;
  const auto guard = [&](const GuardedCall& call, uint32_t at, uint32_t handler, uint16_t type) {
    out.U2(at + call.from);
    out.U2(at + call.to);
    out.U2(handler);
    out.U2(type);
    ++count;
  };
  const GuardedCall& caught = insertions.at_handler;
  for (size_t i = 0; caught.guarded() && i < handlers_.size(); ++i) {
    const uint32_t at = layout_.JumpTarget(handlers_[i].start);
    guard(caught, at, at + caught.overflow, insertions.overflow_error);
    if (handlers_[i].of_any) guard(caught, at, at + caught.other, 0);
  }
  const GuardedCall& exit = insertions.before_return;
  for (size_t i = 0; exit.guarded() && i < layout_.returns().size(); ++i)
    guard(exit, layout_.ReturnCallAt(layout_.returns()[i]), layout_.EndOfCode(),
          insertions.overflow_error);
  return count;
}

Result<std::optional<SkipReason>> MethodCode::WriteExceptions(const CodeAttribute& code,
                                                              const Insertions& insertions,
                                                              Output& out) {
  const size_t start = out.size();
  out.U2(0);
  guards_ = WriteGuards(insertions, out);
  const bool unwinds = insertions.at_unwind.size() != 0;
  const uint32_t count = guards_ + code.exception_count() + (unwinds ? 1 : 0);
  if (count > kLargest) return SkipReason::kTooLarge;
  out.SetU2(start, count);
  for (uint32_t i = 0; i < code.exception_count(); ++i) {
    const ExceptionEntry entry = code.exception(i);
    const uint32_t from = layout_.JumpTarget(entry.start);
    const uint32_t to = layout_.JumpTarget(entry.end);
    if (from == Layout::kNowhere || to == Layout::kNowhere || entry.start >= entry.end)
      return Fail("entry {} of its exception table has a wrong range", i);
    out.U2(from);
    out.U2(to);
    out.U2(layout_.JumpTarget(entry.handler));
    out.U2(entry.type);
  }
  if (unwinds) {
    // The last entry of the table: it has what the method's own handlers leave.
    out.U2(insertions.at_entry.size());
    out.U2(layout_.EndOfCode());
    out.U2(layout_.UnwindAt());
    out.U2(0);
  }
  return std::nullopt;
}

Result<std::optional<SkipReason>> MethodCode::WriteAttributes(const MethodInfo& method,
                                                              const CodeAttribute& code,
                                                              const Insertions& insertions,
                                                              Output& out) {
  ByteCursor cursor(code.attributes);
  const size_t start = out.size();
  uint32_t count = 0;
  bool needs_frames = NeedsFrames(insertions);
  out.U2(0);
  for (uint32_t i = 0; i < code.attribute_count; ++i) {
    const Attribute attribute = ReadAttribute(cursor, file_.pool);
    if (!cursor.ok()) return Fail("an attribute of its code is cut off or has no name");
    if (attribute.name == "StackMapTable" && file_.major >= kFirstWithFrames) {
      needs_frames = false;
      const size_t before = out.size();
      const auto skipped = WriteFrames(attribute, method, insertions, out);
      if (!skipped || *skipped) return skipped;
      count += out.size() > before;
    } else if (WriteCodeTable(attribute, layout_, guards_, out)) {
      ++count;
    }
  }
  if (!cursor.empty()) return Fail("its code has a wrong length");
  if (needs_frames) {
    const auto skipped = WriteFrames({}, method, insertions, out);
    if (!skipped || *skipped) return skipped;
    ++count;
  }
  out.SetU2(start, count);
  return std::nullopt;
}

bool MethodCode::NeedsFrames(const Insertions& insertions) const {
  return file_.major >= kFirstWithFrames &&
         (insertions.no_answer != 0 || insertions.at_unwind.size() != 0 ||
          (insertions.before_return.guarded() && !layout_.returns().empty()));
}

Result<std::optional<SkipReason>> MethodCode::WriteFrames(const Attribute& attribute,
                                                          const MethodInfo& method,
                                                          const Insertions& insertions,
                                                          Output& out) {
  const uint16_t name =
      attribute.name.empty() ? constants_.FramesName() : LoadBig<uint16_t>(attribute.whole, 0);
  if (name == 0) return SkipReason::kConstantPoolFull;
  const size_t start = out.size();
  out.U2(name);
  out.U4(0);
  const auto skipped = frames_.Write(attribute.contents, method, layout_, starts_, insertions, out);
  if (!skipped && file_.major == kFirstWithFrames) {
    out.Truncate(start);
    return std::nullopt;
  }
  if (skipped && !*skipped) out.SetU4(start + 2, static_cast<uint32_t>(out.size() - start - 6));
  return skipped;
}

}  // namespace jprof::weave
