// Writes the StackMapTable of a method in its new layout (JVM specification, 4.7.4).
//
// With new local variables each frame has a long at the slot of each, behind the locals of the
// frame itself, with Top between. So the first frame, and all that change the locals, become full
// frames; those that only repeat the locals of the frame before stay as they are. Four kinds of
// frames are added: one in a method that answers, before the new local variable is set; three after
// the call in each exception handler, with the exception in one more local; one at the end of the
// code, where a return continues if the call before it overflows the stack; and one behind that,
// where an exception leaves a synchronized method (insertions.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "jprof/weave/class_file.h"
#include "jprof/weave/constants.h"
#include "jprof/weave/layout.h"
#include "jprof/weave/weave.h"

namespace jprof::weave {

class Frames {
 public:
  Frames(const ClassFile& file, Constants& constants) : file_(file), constants_(constants) {}

  // Appends the contents of the attribute. `table` is empty if the method has no frames yet.
  // `handlers` are the old offsets of exception handlers, in ascending order. The result states why
  // the method cannot be changed, if so.
  Result<std::optional<SkipReason>> Write(std::string_view table, const MethodInfo& method,
                                          const Layout& layout, std::span<const uint16_t> handlers,
                                          const Insertions& insertions, Output& out);

 private:
  // A verification type. `data` is the index of a class or the new offset of a `new` instruction.
  struct Type {
    uint8_t tag = 0;
    uint16_t data = 0;
  };
  struct Frame {
    uint8_t kind = 0;
    uint32_t offset = 0;        // old offset
    uint32_t new_locals = 0;    // last of locals_ that an append frame lists
    std::optional<Type> stack;  // if the frame has one item
  };

  Result<void> ReadFrame(ByteCursor& cursor, bool is_first, Frame& frame);
  void ReadLocals(ByteCursor& cursor, Frame& frame);
  Type ReadType(ByteCursor& cursor);
  void ReadTypes(ByteCursor& cursor, uint32_t count, std::vector<Type>& types);

  // Sets the locals at the entry of the method, from its descriptor. Returns false if a
  // constant does not fit.
  Result<bool> SetInitialLocals(const MethodInfo& method);
  Result<bool> AddArguments(std::string_view descriptor);

  // Returns the type of an argument, or nothing if its class does not fit into the constant pool.
  std::optional<Type> TypeOf(std::string_view descriptor);

  Result<std::optional<SkipReason>> WriteFrames(std::string_view table, Output& out);
  Result<void> WriteFull(const Frame& frame, uint32_t delta, Output& out);
  void WriteSameKind(const Frame& frame, uint32_t delta, Output& out);
  Result<void> WriteLocals(std::optional<Type> kept, Output& out);
  void WriteNoAnswer(Output& out);
  void WriteCaught(uint32_t handler, Type exception, Output& out);
  bool WriteEnd(const MethodInfo& method, Output& out);
  void WriteUnwind(Output& out);
  // Returns the exception that a handler's frame has on the stack, or nothing if the frame is not
  // at a handler.
  std::optional<Type> ExceptionAt(const Frame& frame) const;
  // Counts a frame at a new offset, and returns its distance from the one before.
  uint32_t DeltaTo(uint32_t offset);

  const ClassFile& file_;
  Constants& constants_;
  const Layout* layout_ = nullptr;
  const Insertions* insertions_ = nullptr;
  std::span<const uint16_t> handlers_;
  uint32_t next_ = 0;    // new offset of a frame with delta 0
  uint32_t frames_ = 0;  // number written so far
  std::vector<Type> locals_;
  std::vector<Type> stack_;  // for a full frame
  size_t written_ = 0;       // bytes of this class's frames, also of methods that were skipped
};

}  // namespace jprof::weave
