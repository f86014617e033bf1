// Where a VM type has what: lookups in VmStructs that remember the first thing this VM does not
// tell.
#pragma once

#include <cstdint>

#include "jprof/hotspot/vm_structs.h"

namespace jprof::hotspot {

// Looks fields up and remembers the first that is missing.
class Fields {
 public:
  explicit Fields(const VmStructs& structs) : structs_(structs) {}
  int64_t operator()(const char* type, const char* name) {
    const int64_t offset = structs_.Offset(type, name);
    if (offset < 0) Miss(name);
    return offset;
  }
  // The same field under the name of the type that has it in this VM.
  int64_t operator()(const char* type, const char* other, const char* name) {
    const int64_t offset = structs_.Offset(type, name);
    return offset >= 0 ? offset : (*this)(other, name);
  }
  int64_t Size(const char* type) {
    const uint64_t bytes = structs_.SizeOf(type);
    if (bytes == 0) Miss(type);
    return static_cast<int64_t>(bytes);
  }
  const uint64_t* Address(const char* type, const char* name) {
    void* at = structs_.Static(type, name);
    if (at == nullptr) Miss(name);
    return static_cast<const uint64_t*>(at);
  }
  const char* missing() const { return missing_; }

 private:
  void Miss(const char* name) {
    if (missing_ == nullptr) missing_ = name;
  }
  const VmStructs& structs_;
  const char* missing_ = nullptr;
};

}  // namespace jprof::hotspot
