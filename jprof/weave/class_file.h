// Reads a class file (JVM specification, chapter 4): the constant pool and the members, as
// views into its bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/bytes.h"
#include "common/result.h"

namespace jprof::weave {

inline constexpr uint8_t kUtf8 = 1;
inline constexpr uint8_t kInteger = 3;
inline constexpr uint8_t kFloat = 4;
inline constexpr uint8_t kLong = 5;
inline constexpr uint8_t kDouble = 6;
inline constexpr uint8_t kClass = 7;
inline constexpr uint8_t kFieldref = 9;
inline constexpr uint8_t kMethodref = 10;
inline constexpr uint8_t kNameAndType = 12;

class ConstantPool {
 public:
  // Reads the pool, from the number of entries to the last entry.
  static Result<ConstantPool> Read(ByteCursor& cursor);

  uint32_t count() const { return static_cast<uint32_t>(entries_.size()); }  // of indexes, with 0
  std::string_view bytes() const { return bytes_; }                          // all entries

  // Returns the text, which is empty if there is no such entry; an empty text is no valid
  // name either.
  std::string_view Utf8(uint16_t index) const;
  std::string_view ClassName(uint16_t index) const;
  // Returns the method of a class that the constant refers to. Its names are empty if it does not.
  struct MethodName {
    std::string_view of_class, name, descriptor;
  };
  MethodName Method(uint16_t index) const;
  // Returns the name of the class whose field the constant refers to, or an empty text.
  std::string_view ClassOfField(uint16_t index) const;
  // Returns the kind of the constant, or 0 if there is none.
  uint8_t Tag(uint16_t index) const;
  // Returns whether one of its texts is the type of an annotation that marks intrinsics.
  bool has_intrinsics() const { return has_intrinsics_; }

 private:
  static constexpr uint32_t kNoEntry = ~uint32_t{0};

  // Returns the entry without its tag.
  std::string_view Entry(uint16_t index, uint8_t tag) const;

  std::string_view bytes_;
  std::vector<uint32_t> entries_;  // offset of the tag in bytes_
  bool has_intrinsics_ = false;
};

struct ClassFile {
  std::string_view bytes;
  ConstantPool pool;
  uint16_t major = 0;
  uint16_t this_class = 0;
  std::string_view name;
  size_t after_pool = 0;  // offsets in bytes
  size_t methods = 0;
};

// Reads a class file up to the methods.
Result<ClassFile> ReadClassFile(std::span<const uint8_t> bytes);

struct Attribute {
  std::string_view name;
  std::string_view whole;     // with the index of its name and its length
  std::string_view contents;  // without these
};

// Reads an attribute. Fails the cursor if the attribute is cut off or has no name.
Attribute ReadAttribute(ByteCursor& cursor, const ConstantPool& pool);
void SkipAttributes(ByteCursor& cursor);

struct MethodInfo {
  uint16_t access = 0;
  std::string_view name;
  std::string_view descriptor;
  Attribute code;  // its contents are empty if the method has no code
  bool is_intrinsic = false;
};

Result<MethodInfo> ReadMethod(ByteCursor& cursor, const ConstantPool& pool);

struct ExceptionEntry {
  uint16_t start;
  uint16_t end;
  uint16_t handler;
  uint16_t type;
};

struct CodeAttribute {
  uint16_t max_stack = 0;
  uint16_t max_locals = 0;
  std::string_view code;
  std::string_view exceptions;
  uint16_t attribute_count = 0;
  std::string_view attributes;

  uint32_t exception_count() const { return static_cast<uint32_t>(exceptions.size() / 8); }
  ExceptionEntry exception(uint32_t index) const;
};

Result<CodeAttribute> ReadCode(std::string_view contents);

}  // namespace jprof::weave
