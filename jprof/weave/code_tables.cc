#include "jprof/weave/code_tables.h"

#include "jprof/weave/annotations.h"
#include "jprof/weave/big_endian.h"

namespace jprof::weave {
namespace {

// Reads an attribute that has been copied to the output, and changes numbers in the copy.
class TableEditor {
 public:
  TableEditor(std::string_view contents, const Layout& layout, uint32_t guards, size_t at,
              Output& out)
      : cursor_(contents),
        end_(at + contents.size()),
        layout_(layout),
        guards_(guards),
        out_(out) {}

  bool LineNumbers() {
    for (uint32_t lines = ReadU2(cursor_); lines > 0 && cursor_.ok(); --lines) {
      Replace(layout_.DebugOffset(ReadU2(cursor_)));
      cursor_.Skip(2);
    }
    return complete();
  }

  bool LocalVariables() {
    for (uint32_t locals = ReadU2(cursor_); locals > 0 && cursor_.ok(); --locals) {
      Range();
      cursor_.Skip(6);
    }
    return complete();
  }

  bool TypeAnnotations() {
    for (uint32_t annotations = ReadU2(cursor_); annotations > 0 && cursor_.ok(); --annotations) {
      Target();
      cursor_.Skip(uint64_t{2} * ReadU1(cursor_));  // the path in the type
      cursor_.Skip(2);
      SkipAnnotationPairs(cursor_);
    }
    return complete();
  }

 private:
  bool complete() const { return cursor_.ok() && cursor_.empty(); }

  // Replaces the number of two bytes before the cursor.
  void Replace(uint32_t value) {
    if (value == Layout::kNowhere) cursor_.Fail();
    if (cursor_.ok()) out_.SetU2(end_ - cursor_.left() - 2, value);
  }

  // Adjusts a range, which has a start and a length.
  void Range() {
    const uint32_t start = ReadU2(cursor_);
    const uint32_t from = layout_.DebugOffset(start);
    Replace(from);
    const uint32_t to = layout_.DebugOffset(start + ReadU2(cursor_));
    Replace(to == Layout::kNowhere ? to : to - from);
  }

  // Adjusts the target of a type annotation (JVM specification, 4.7.20.1).
  void Target() {
    const uint8_t type = ReadU1(cursor_);
    if (type == 0x40 || type == 0x41) {  // local variables
      for (uint32_t ranges = ReadU2(cursor_); ranges > 0 && cursor_.ok(); --ranges) {
        Range();
        cursor_.Skip(2);
      }
    } else if (type == 0x42) {  // an exception that is caught
      Replace(ReadU2(cursor_) + guards_);
    } else if (type >= 0x43 && type <= 0x4b) {  // an instruction
      Replace(layout_.InstructionAt(ReadU2(cursor_)));
      if (type >= 0x47) cursor_.Skip(1);
    } else {
      cursor_.Fail();
    }
  }

  ByteCursor cursor_;
  size_t end_;
  const Layout& layout_;
  uint32_t guards_;
  Output& out_;
};

}  // namespace

bool WriteCodeTable(const Attribute& attribute, const Layout& layout, uint32_t guards,
                    Output& out) {
  const size_t before = out.size();
  out.Bytes(attribute.whole);
  TableEditor editor(attribute.contents, layout, guards, before + 6, out);
  bool known = false;
  if (attribute.name == "LineNumberTable") {
    known = editor.LineNumbers();
  } else if (attribute.name == "LocalVariableTable" || attribute.name == "LocalVariableTypeTable") {
    known = editor.LocalVariables();
  } else if (attribute.name == "RuntimeVisibleTypeAnnotations" ||
             attribute.name == "RuntimeInvisibleTypeAnnotations") {
    known = editor.TypeAnnotations();
  }
  if (!known) out.Truncate(before);
  return known;
}

}  // namespace jprof::weave
