// How HotSpot places objects in memory. All functions are pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "heap/dump/format.h"

namespace jprof::heap {

struct ObjectLayout {
  uint32_t header = 12;      // bytes before the first field
  uint32_t array = 16;       // bytes before the elements of an array
  uint32_t wide_array = 16;  // the same if the elements have 8 bytes
  uint32_t reference = 4;    // bytes of a reference
  uint32_t alignment = 8;
};

// Those of the releases of HotSpot, by header and references: 64 bits with compressed class
// pointers, without these (before and since JDK 23), and with compact headers; then of 32 bits.
inline constexpr std::array<ObjectLayout, 10> kLayouts = {{
    {12, 16, 16, 4, 8},
    {12, 16, 16, 8, 8},
    {16, 24, 24, 8, 8},
    {16, 20, 24, 8, 8},
    {16, 24, 24, 4, 8},
    {16, 20, 24, 4, 8},
    {8, 12, 16, 4, 8},
    {8, 12, 16, 8, 8},
    {12, 16, 16, 4, 16},
    {8, 12, 16, 4, 8},
}};

constexpr uint64_t Aligned(uint64_t size, uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

uint64_t ArraySize(const ObjectLayout& layout, uint32_t element, uint32_t length);

// The fields of an object as they are placed since JDK 15: a field goes to the smallest gap that it
// fits, which may be between fields of a super class, otherwise to the end; primitive fields first,
// the widest first. Annotations (@Contended) and fields that the JVM adds are not in a dump.
class FieldPlaces {
 public:
  explicit FieldPlaces(uint32_t header) : end_(header) {}

  // Adds the fields of a class that is derived from what was added before.
  void Add(const ObjectLayout& layout, std::span<const FieldType> fields);

  uint64_t end() const { return end_; }

 private:
  struct Gap {
    uint64_t at = 0, size = 0;
  };

  void Place(uint64_t size);

  uint64_t end_;
  std::vector<Gap> gaps_;  // in the order of their places
};

// Returns the bytes of static fields: references, then primitive fields, the widest first.
uint64_t StaticSize(const ObjectLayout& layout, std::span<const FieldType> fields);

}  // namespace jprof::heap
