// The tables libjvm.so exports for its serviceability agent: where its fields, statics and
// constants are. The only source of VM offsets in jprof; nothing outside jprof/hotspot/ knows one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace jprof::hotspot {

class VmStructs {
 public:
  // Finds the tables in the libjvm.so that this process runs. Empty: this is not HotSpot.
  static std::optional<VmStructs> Load();

  // Offset of a field; -1: this VM has no such field.
  int64_t Offset(std::string_view type, std::string_view field) const;
  // Address of a static field; null: none.
  void* Static(std::string_view type, std::string_view field) const;
  // sizeof a VM type; 0: unknown.
  uint64_t SizeOf(std::string_view type) const;

 private:
  struct Entry;
  const Entry* Find(std::string_view type, std::string_view field) const;

  const char* fields_ = nullptr;  // array of entries, and how an entry is laid out
  uint64_t type_at_ = 0, name_at_ = 0, static_at_ = 0, offset_at_ = 0, address_at_ = 0, stride_ = 0;
  const char* types_ = nullptr;
  uint64_t type_name_at_ = 0, type_size_at_ = 0, type_stride_ = 0;
};

}  // namespace jprof::hotspot
