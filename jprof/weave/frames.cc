#include "jprof/weave/frames.h"

#include <algorithm>
#include <utility>

#include "jprof/weave/big_endian.h"
#include "jprof/weave/descriptor.h"

namespace jprof::weave {
namespace {

// These are the verification types.
constexpr uint8_t kTop = 0;
constexpr uint8_t kIntType = 1;
constexpr uint8_t kFloatType = 2;
constexpr uint8_t kDoubleType = 3;
constexpr uint8_t kLongType = 4;
constexpr uint8_t kUninitializedThis = 6;
constexpr uint8_t kObject = 7;
constexpr uint8_t kUninitialized = 8;

// These are the kinds of frames, each the first of its range.
constexpr uint8_t kOneItem = 64;
constexpr uint8_t kReserved = 128;
constexpr uint8_t kOneItemExtended = 247;
constexpr uint8_t kChop = 248;
constexpr uint8_t kSameExtended = 251;
constexpr uint8_t kAppend = 252;
constexpr uint8_t kFull = 255;

// Limits the frames: those that list thousands of locals, which they inherited, would need
// gigabytes and seconds.
constexpr size_t kMostBytes = size_t{64} << 20;

bool RepeatsLocals(uint8_t kind) { return kind < kChop || kind == kSameExtended; }

uint8_t TagOf(char descriptor) {
  switch (descriptor) {
    case 'J':
      return kLongType;
    case 'D':
      return kDoubleType;
    case 'F':
      return kFloatType;
    case 'L':
    case '[':
      return kObject;
    default:
      return kIntType;
  }
}

template <typename Types>
void WriteTypes(const Types& types, Output& out) {
  for (const auto& type : types) {
    out.U1(type.tag);
    if (type.tag >= kObject) out.U2(type.data);
  }
}

template <typename Types>
void WriteCounted(const Types& types, Output& out) {
  out.U2(static_cast<uint32_t>(types.size()));
  WriteTypes(types, out);
}

}  // namespace

Frames::Type Frames::ReadType(ByteCursor& cursor) {
  Type type{ReadU1(cursor)};
  if (type.tag > kUninitialized) cursor.Fail();
  if (type.tag >= kObject) type.data = ReadU2(cursor);
  if (type.tag == kUninitialized) {
    const uint32_t offset = layout_->InstructionAt(type.data);
    if (offset == Layout::kNowhere) cursor.Fail();
    type.data = static_cast<uint16_t>(offset);
  }
  return type;
}

void Frames::ReadTypes(ByteCursor& cursor, uint32_t count, std::vector<Type>& types) {
  for (; count > 0 && cursor.ok(); --count) types.push_back(ReadType(cursor));
}

void Frames::ReadLocals(ByteCursor& cursor, Frame& frame) {
  if (frame.kind == kFull) {
    locals_.clear();
    ReadTypes(cursor, ReadU2(cursor), locals_);
    stack_.clear();
    ReadTypes(cursor, ReadU2(cursor), stack_);
  } else if (frame.kind >= kAppend) {
    frame.new_locals = frame.kind - kSameExtended;
    ReadTypes(cursor, frame.new_locals, locals_);
  } else if (frame.kind >= kChop) {
    const size_t gone = static_cast<size_t>(kSameExtended - frame.kind);
    locals_.resize(locals_.size() - std::min(gone, locals_.size()));
  }
}

Result<void> Frames::ReadFrame(ByteCursor& cursor, bool is_first, Frame& frame) {
  frame.kind = ReadU1(cursor);
  frame.stack.reset();
  if (frame.kind >= kReserved && frame.kind < kOneItemExtended)
    return Fail("a stack map frame is of the unknown kind {}", frame.kind);
  const uint32_t delta = frame.kind < kReserved ? frame.kind % kOneItem : ReadU2(cursor);
  frame.offset = is_first ? delta : frame.offset + delta + 1;
  if (frame.kind >= kOneItem && frame.kind < kChop) frame.stack = ReadType(cursor);
  ReadLocals(cursor, frame);
  if (!cursor.ok()) return Fail("a stack map frame is malformed or cut off");
  return {};
}

std::optional<Frames::Type> Frames::TypeOf(std::string_view descriptor) {
  Type type{TagOf(descriptor[0])};
  if (type.tag != kObject) return type;
  type.data = constants_.Class(ClassNameOf(descriptor));
  return type.data != 0 ? std::optional(type) : std::nullopt;
}

Result<bool> Frames::AddArguments(std::string_view descriptor) {
  ArgumentTypes arguments(descriptor);
  for (std::string_view type = arguments.Next(); !type.empty(); type = arguments.Next()) {
    const auto local = TypeOf(type);
    if (!local) return false;
    locals_.push_back(*local);
  }
  if (!arguments.ok()) return Fail("its descriptor {} is malformed", descriptor);
  return true;
}

Result<bool> Frames::SetInitialLocals(const MethodInfo& method) {
  locals_.clear();
  if ((method.access & kStatic) == 0) {
    const bool constructor = method.name == "<init>" && file_.name != "java/lang/Object";
    locals_.push_back(constructor ? Type{kUninitializedThis} : Type{kObject, file_.this_class});
  }
  return AddArguments(method.descriptor);
}

uint32_t Frames::DeltaTo(uint32_t offset) {
  const uint32_t delta = offset - next_;
  next_ = offset + 1;
  ++frames_;
  return delta;
}

Result<void> Frames::WriteFull(const Frame& frame, uint32_t delta, Output& out) {
  out.U1(kFull);
  out.U2(delta);
  if (auto locals = WriteLocals({}, out); !locals) return locals;
  if (frame.kind == kFull) {
    WriteCounted(stack_, out);
  } else {
    out.U2(frame.stack ? 1 : 0);
    if (frame.stack) WriteTypes(std::span(&*frame.stack, 1), out);
  }
  return {};
}

// Writes the locals of the frame, the caller's node, the own one and the kept value, if there are
// these.
Result<void> Frames::WriteLocals(std::optional<Type> kept, Output& out) {
  size_t slots = locals_.size();
  for (const Type& type : locals_) slots += type.tag == kLongType || type.tag == kDoubleType;
  if (slots > *insertions_->node) return Fail("a stack map frame has more locals than the method");
  const size_t unused = *insertions_->node - slots;
  out.U2(static_cast<uint32_t>(locals_.size() + unused + 1 + insertions_->own.has_value() +
                               kept.has_value()));
  WriteTypes(locals_, out);
  static_assert(kTop == 0);
  out.Zeros(unused);
  out.U1(kLongType);
  if (insertions_->own) out.U1(kLongType);
  if (kept) WriteTypes(std::span(&*kept, 1), out);
  return {};
}

std::optional<Frames::Type> Frames::ExceptionAt(const Frame& frame) const {
  if (!std::ranges::binary_search(handlers_, frame.offset)) return std::nullopt;
  if (frame.kind != kFull) return frame.stack;
  return stack_.size() == 1 ? std::optional(stack_[0]) : std::nullopt;
}

// Writes the frame with the result of the call, which is null, on the stack and the locals of the
// entry.
void Frames::WriteNoAnswer(Output& out) {
  const Type answer = {kObject, insertions_->answer_class};
  out.U1(static_cast<uint8_t>(kOneItem + DeltaTo(insertions_->no_answer)));
  WriteTypes(std::span(&answer, 1), out);
}

// Writes the frames after the call in a handler, whose own frame has just been written: where other
// exceptions continue, where a stack overflow continues, and after the one instruction there. All
// have the same locals.
void Frames::WriteCaught(uint32_t handler, Type exception, Output& out) {
  const GuardedCall& call = insertions_->at_handler;
  out.U1(kFull);
  out.U2(DeltaTo(handler + call.other));
  (void)WriteLocals(exception, out);
  WriteCounted(std::span(&exception, 1), out);
  const Type error = {kObject, insertions_->overflow_error};
  out.U1(static_cast<uint8_t>(kOneItem + DeltaTo(handler + call.overflow)));
  WriteTypes(std::span(&error, 1), out);
  out.U1(static_cast<uint8_t>(DeltaTo(handler + call.overflow + 1)));
}

// Writes the frame at the end of the code, where the only local that is needed is the return value.
bool Frames::WriteEnd(const MethodInfo& method, Output& out) {
  locals_.clear();
  if (insertions_->returned) {
    const auto type = TypeOf(method.descriptor.substr(method.descriptor.rfind(')') + 1));
    if (!type) return false;
    locals_.push_back(*type);
  }
  const uint32_t unused = insertions_->returned ? insertions_->kept : 0;
  out.U1(kFull);
  out.U2(DeltaTo(layout_->EndOfCode()));
  out.U2(unused + static_cast<uint32_t>(locals_.size()));
  out.Zeros(unused);
  WriteTypes(locals_, out);
  const Type error = {kObject, insertions_->overflow_error};
  WriteCounted(std::span(&error, 1), out);
  return true;
}

// Writes the frame of the handler of what leaves a synchronized method, which needs no local but
// the caller's node.
void Frames::WriteUnwind(Output& out) {
  locals_.clear();
  out.U1(kFull);
  out.U2(DeltaTo(layout_->UnwindAt()));
  (void)WriteLocals({}, out);
  const Type exception = {kObject, insertions_->throwable};
  WriteCounted(std::span(&exception, 1), out);
}

void Frames::WriteSameKind(const Frame& frame, uint32_t delta, Output& out) {
  const uint8_t base = frame.stack ? kOneItem : 0;
  const uint8_t extended = frame.stack ? kOneItemExtended : kSameExtended;
  if (frame.kind < kReserved && delta < kOneItem) {
    out.U1(static_cast<uint8_t>(base + delta));
  } else {
    out.U1(frame.kind < kReserved ? extended : frame.kind);
    out.U2(delta);
  }
  if (frame.stack) WriteTypes(std::span(&*frame.stack, 1), out);
  if (frame.kind == kFull) {
    WriteCounted(locals_, out);
    WriteCounted(stack_, out);
  } else {
    WriteTypes(std::span(locals_).last(frame.new_locals), out);
  }
}

Result<std::optional<SkipReason>> Frames::Write(std::string_view table, const MethodInfo& method,
                                                const Layout& layout,
                                                std::span<const uint16_t> handlers,
                                                const Insertions& insertions, Output& out) {
  layout_ = &layout;
  insertions_ = &insertions;
  handlers_ = insertions.at_handler.guarded() ? handlers : std::span<const uint16_t>();
  locals_.clear();
  next_ = frames_ = 0;
  if (insertions.node) {
    const Result<bool> fits = SetInitialLocals(method);
    if (!fits) return std::unexpected(fits.error());
    if (!*fits) return SkipReason::kConstantPoolFull;
  }
  const size_t start = out.size();
  out.U2(0);
  if (insertions.no_answer != 0) WriteNoAnswer(out);
  auto skipped = WriteFrames(table, out);
  written_ += out.size() - start;
  if (!skipped || *skipped) return skipped;
  if (insertions.before_return.guarded() && !layout.returns().empty() && !WriteEnd(method, out))
    return SkipReason::kConstantPoolFull;
  if (insertions.at_unwind.size() != 0) WriteUnwind(out);
  if (frames_ > UINT16_MAX) return SkipReason::kTooLarge;
  out.SetU2(start, frames_);
  return skipped;
}

Result<std::optional<SkipReason>> Frames::WriteFrames(std::string_view table, Output& out) {
  if (table.empty()) return std::nullopt;
  ByteCursor cursor(table);
  const size_t start = out.size();
  const uint32_t count = ReadU2(cursor);
  Frame frame;
  bool full = true;  // the locals are not those of the frame before
  for (uint32_t i = 0; i < count; ++i) {
    frame.new_locals = 0;
    if (written_ + (out.size() - start) > kMostBytes) return SkipReason::kTooLarge;
    if (auto read = ReadFrame(cursor, i == 0, frame); !read) return std::unexpected(read.error());
    const uint32_t offset = layout_->JumpTarget(frame.offset);
    if (offset == Layout::kNowhere || frame.offset == layout_->old_size())
      return Fail("a stack map frame is not at an instruction");
    const uint32_t delta = DeltaTo(offset);
    if (!insertions_->node || (!full && RepeatsLocals(frame.kind))) {
      WriteSameKind(frame, delta, out);
    } else if (auto written = WriteFull(frame, delta, out); !written) {
      return std::unexpected(written.error());
    }
    const std::optional<Type> exception = ExceptionAt(frame);
    if (exception) WriteCaught(offset, *exception, out);
    full = exception.has_value();
  }
  if (!cursor.ok() || !cursor.empty()) return Fail("its StackMapTable has a wrong length");
  return std::nullopt;
}

}  // namespace jprof::weave
