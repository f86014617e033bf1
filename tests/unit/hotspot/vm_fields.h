// The tables of a VM that tests make up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "jprof/hotspot/vm/vm_structs.h"

namespace jprof::hotspot {

struct VmField {
  const char *type, *name;
  int32_t is_static;
  uint64_t offset;
  const void* address;
};

// Keeps the fields, which `structs` refers to.
class VmFields {
 public:
  explicit VmFields(std::vector<VmField> fields) : fields_(std::move(fields)) {
    fields_.push_back({});
  }

  VmStructs structs() const {
    static const char* const kNoTypes[2] = {};
    return VmStructs({.fields = reinterpret_cast<const char*>(fields_.data()),
                      .type_at = offsetof(VmField, type),
                      .name_at = offsetof(VmField, name),
                      .static_at = offsetof(VmField, is_static),
                      .offset_at = offsetof(VmField, offset),
                      .address_at = offsetof(VmField, address),
                      .stride = sizeof(VmField),
                      .types = reinterpret_cast<const char*>(kNoTypes),
                      .type_name_at = 0,
                      .type_size_at = 8,
                      .type_stride = 16});
  }

 private:
  std::vector<VmField> fields_;
};

}  // namespace jprof::hotspot
