// Reads the tables that libjvm.so exports for its serviceability agent: the locations of its
// fields, statics and constants. They are jprof's only source of VM offsets, and are used only
// in jprof/hotspot/.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace jprof::hotspot {

class VmStructs {
 public:
  // The two tables, and the layout of an entry of each: offsets in it, and its size.
  struct Tables {
    const char* fields = nullptr;  // ends with an entry without type
    uint64_t type_at = 0, name_at = 0, static_at = 0, offset_at = 0, address_at = 0, stride = 0;
    const char* types = nullptr;  // ends with an entry without name
    uint64_t type_name_at = 0, type_size_at = 0, type_stride = 0;
  };

  // Returns a constant that the libjvm.so of this process exports, or nothing if there is none of
  // this name.
  static std::optional<uint64_t> Constant(std::string_view name);

  // Finds the tables in the libjvm.so of this process. Returns nothing if this is not HotSpot.
  static std::optional<VmStructs> Load();
  // Uses the tables of another VM, for tests. They must outlive the object.
  explicit VmStructs(const Tables& tables) : tables_(tables) {}

  // Returns the offset of a field, or -1 if this VM has no such field.
  int64_t Offset(std::string_view type, std::string_view field) const;
  // Returns the address of a static field, or null if there is none.
  void* Static(std::string_view type, std::string_view field) const;
  // Returns the size of a VM type, or 0 if it is unknown.
  uint64_t SizeOf(std::string_view type) const;

  const Tables& tables() const { return tables_; }

 private:
  struct Entry;
  const Entry* Find(std::string_view type, std::string_view field) const;

  Tables tables_;
};

}  // namespace jprof::hotspot
