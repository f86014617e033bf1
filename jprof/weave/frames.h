// The StackMapTable of a method in its new layout (JVM specification, 4.7.4).
//
// With a new local variable each frame has a long at its slot, behind the locals of the frame
// itself, with Top between. So the first frame, and all that change the locals, become full frames;
// those that only repeat the locals of the frame before stay as they are.
#pragma once

#include <cstdint>
#include <optional>
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

  // Appends the contents of the attribute. The result says why the method has to be left.
  Result<std::optional<Left>> Write(std::string_view table, const MethodInfo& method,
                                    const Layout& layout, std::optional<uint16_t> new_local,
                                    Output& out);

 private:
  // A verification type. `data` is the index of a class or the new offset of a `new` instruction.
  struct Type {
    uint8_t tag = 0;
    uint16_t data = 0;
  };
  struct Frame {
    uint8_t kind = 0;
    uint32_t offset = 0;        // old
    uint32_t new_locals = 0;    // the last of locals_ that an append frame lists
    std::optional<Type> stack;  // of a frame with one item
  };

  Result<void> ReadFrame(ByteCursor& cursor, bool is_first, Frame& frame);
  void ReadLocals(ByteCursor& cursor, Frame& frame);
  Type ReadType(ByteCursor& cursor);
  void ReadTypes(ByteCursor& cursor, uint32_t count, std::vector<Type>& types);

  // The locals at the entry of the method, from its descriptor. False: a constant does not fit.
  Result<bool> SetInitialLocals(const MethodInfo& method);
  Result<bool> AddArguments(std::string_view descriptor);

  Result<std::optional<Left>> WriteFrames(ByteCursor& cursor, std::optional<uint16_t> new_local,
                                          Output& out);
  Result<void> WriteFull(const Frame& frame, uint32_t delta, uint16_t new_local, Output& out);
  void WriteSameKind(const Frame& frame, uint32_t delta, Output& out);

  const ClassFile& file_;
  Constants& constants_;
  const Layout* layout_ = nullptr;
  std::vector<Type> locals_;
  std::vector<Type> stack_;  // of a full frame
  size_t written_ = 0;       // bytes of this class's frames, also of methods that were left
};

}  // namespace jprof::weave
