// The format HPROF, versions 1.0, 1.0.1 and 1.0.2: a header, then records of a tag, a time, a
// length and a body. Records of heap dumps consist of sub-records. All numbers are big-endian.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "common/bytes.h"

namespace jprof::heap {

enum class Tag : uint8_t {
  kUtf8 = 0x01,
  kLoadClass = 0x02,
  kUnloadClass = 0x03,
  kFrame = 0x04,
  kTrace = 0x05,
  kAllocSites = 0x06,
  kHeapSummary = 0x07,
  kStartThread = 0x0a,
  kEndThread = 0x0b,
  kHeapDump = 0x0c,
  kCpuSamples = 0x0d,
  kControlSettings = 0x0e,
  kHeapDumpSegment = 0x1c,
  kHeapDumpEnd = 0x2c,
};

enum class SubTag : uint8_t {
  kRootJniGlobal = 0x01,
  kRootJniLocal = 0x02,
  kRootJavaFrame = 0x03,
  kRootNativeStack = 0x04,
  kRootStickyClass = 0x05,
  kRootThreadBlock = 0x06,
  kRootMonitorUsed = 0x07,
  kRootThread = 0x08,
  kClassDump = 0x20,
  kInstance = 0x21,
  kObjectArray = 0x22,
  kPrimitiveArray = 0x23,
  kRootUnknown = 0xff,
};

// The types of fields and of the elements of arrays.
enum class FieldType : uint8_t {
  kObject = 2,
  kBoolean = 4,
  kChar = 5,
  kFloat = 6,
  kDouble = 7,
  kByte = 8,
  kShort = 9,
  kInt = 10,
  kLong = 11,
};

inline constexpr uint8_t kFirstPrimitive = 4, kPrimitiveTypes = 8;

struct PrimitiveRow {
  std::string_view name;
  uint32_t size;           // in bytes
  std::string_view array;  // the JVM's name of the class of arrays
};
// In the order of FieldType, from kFirstPrimitive on.
inline constexpr std::array<PrimitiveRow, kPrimitiveTypes> kPrimitives = {{
    {"boolean", 1, "[Z"},
    {"char", 2, "[C"},
    {"float", 4, "[F"},
    {"double", 8, "[D"},
    {"byte", 1, "[B"},
    {"short", 2, "[S"},
    {"int", 4, "[I"},
    {"long", 8, "[J"},
}};

constexpr bool IsPrimitive(FieldType type) {
  const auto value = static_cast<uint8_t>(type);
  return value >= kFirstPrimitive && value < kFirstPrimitive + kPrimitiveTypes;
}

// Requires a primitive type.
constexpr const PrimitiveRow& RowOf(FieldType type) {
  return kPrimitives[static_cast<size_t>(type) - kFirstPrimitive];
}

// Reads numbers and ids of a dump from a bounded cursor.
class DumpCursor : public ByteCursor {
 public:
  DumpCursor(std::string_view bytes, uint32_t id_size) : ByteCursor(bytes), id_size_(id_size) {}

  // Reads a number, or a tag or type, which are bytes.
  template <typename T>
  T Number() {
    if constexpr (sizeof(T) == 1) {
      return Read<T>();
    } else {
      return std::byteswap(Read<T>());
    }
  }
  uint64_t Id() { return id_size_ == 4 ? Number<uint32_t>() : Number<uint64_t>(); }

  // Returns the size of a value of a field in the dump, or 0 if there is no such type.
  uint32_t SizeOf(FieldType type) const {
    return type == FieldType::kObject ? id_size_ : IsPrimitive(type) ? RowOf(type).size : 0;
  }
  uint32_t id_size() const { return id_size_; }

 private:
  uint32_t id_size_;
};

}  // namespace jprof::heap
