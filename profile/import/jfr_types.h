// The types of a chunk of JDK Flight Recorder, from its metadata event: which fields events and
// constants have, and how to read them. Nothing about particular events is known here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/result.h"
#include "profile/import/jfr_cursor.h"

namespace jprof::profile {

// A field, or a part of one that is a structure ("a.b").
struct JfrLeaf {
  enum class Kind : uint8_t { kByte, kShort, kInt, kLong, kFloat, kDouble, kString, kConstant };

  std::string name;
  Kind kind = Kind::kLong;
  bool is_array = false;
  // The type of the constant or, of an array, of its elements, which are structures if
  // `is_structure`.
  uint64_t type = 0;
  bool is_structure = false;
  std::string unit;  // of time: TICKS, NANOSECONDS, ...; empty: none
};

struct JfrType {
  std::string name;
  std::vector<JfrLeaf> leaves;

  // Returns the index of the leaf, or -1.
  int Find(std::string_view leaf) const;
};

// The value of a leaf. Of a constant, `number` is its key.
struct JfrValue {
  uint64_t number = 0;  // or the number of elements of an array
  JfrCursor body;       // at the first element of an array, or at the encoding of a string
};

class JfrTypes {
 public:
  // Reads the metadata event, whose type and size are behind the cursor. Fails if it is damaged.
  static Result<JfrTypes> Read(JfrCursor event);

  const JfrType* Find(uint64_t id) const;
  // Returns 0 if there is no such type.
  uint64_t IdOf(std::string_view name) const;

  // Reads one leaf. Fails the cursor if it is damaged.
  JfrValue ReadLeaf(const JfrLeaf& leaf, JfrCursor& cursor) const;
  // Reads past a value of the type.
  void SkipValue(const JfrType& type, JfrCursor& cursor) const { Skip(type, cursor, 0); }

  // Reads the first N leaves that are named; those that the type lacks, or `at` is negative of,
  // stay as they are.
  template <size_t n>
  void ReadLeaves(const JfrType& type, const std::array<int, n>& at, JfrCursor& cursor,
                  std::array<JfrValue, n>& values) const {
    for (int i = 0; i < static_cast<int>(type.leaves.size()); ++i) {
      const JfrValue value = ReadLeaf(type.leaves[static_cast<size_t>(i)], cursor);
      for (size_t k = 0; k < n; ++k)
        if (at[k] == i) values[k] = value;
    }
  }

 private:
  struct Field;
  struct Class;
  struct Element;

  static Element ReadElement(JfrCursor& cursor, const std::vector<std::string>& strings, int depth);
  static std::vector<Class> ClassesIn(const Element& root);
  Result<void> Flatten(const std::vector<Class>& classes);
  void Skip(const JfrType& type, JfrCursor& cursor, int depth) const;
  void SkipArray(const JfrLeaf& leaf, uint64_t count, JfrCursor& cursor, int depth) const;

  std::unordered_map<uint64_t, JfrType> types_;
  std::unordered_map<std::string, uint64_t> ids_;
};

}  // namespace jprof::profile
