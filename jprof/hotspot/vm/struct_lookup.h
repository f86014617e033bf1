// Looks up fields in VmStructs and records the first name that this VM does not export.
#pragma once

#include <cstdint>

#include "common/result.h"
#include "jprof/hotspot/vm/vm_structs.h"

namespace jprof::hotspot {

class Fields {
 public:
  explicit Fields(const VmStructs& structs) : structs_(structs) {}
  int64_t operator()(const char* type, const char* name) {
    const int64_t offset = structs_.Offset(type, name);
    if (offset < 0) Miss(name);
    return offset;
  }
  // Returns the offset of a field that belongs to `type` or to `other`, depending on the VM.
  int64_t operator()(const char* type, const char* other, const char* name) {
    const int64_t offset = structs_.Offset(type, name);
    return offset >= 0 ? offset : (*this)(other, name);
  }
  int64_t Size(const char* type) {
    const uint64_t bytes = structs_.SizeOf(type);
    if (bytes == 0) Miss(type);
    return static_cast<int64_t>(bytes);
  }
  // Returns the address of a static field.
  uint64_t Address(const char* type, const char* name) {
    void* at = structs_.Static(type, name);
    if (at == nullptr) Miss(name);
    return reinterpret_cast<uint64_t>(at);
  }
  // Look up fields that some VMs lack, for which they return -1, 0 and 0.
  int64_t Optional(const char* type, const char* name) const { return structs_.Offset(type, name); }
  uint64_t OptionalSize(const char* type) const { return structs_.SizeOf(type); }
  uint64_t OptionalAddress(const char* type, const char* name) const {
    return reinterpret_cast<uint64_t>(structs_.Static(type, name));
  }
  // Fails if a lookup has failed; the error names the first one.
  Result<void> Check() const {
    if (missing_ == nullptr) return {};
    return Fail("this JVM does not export {}", missing_);
  }

 private:
  void Miss(const char* name) {
    if (missing_ == nullptr) missing_ = name;
  }
  const VmStructs& structs_;
  const char* missing_ = nullptr;
};

}  // namespace jprof::hotspot
