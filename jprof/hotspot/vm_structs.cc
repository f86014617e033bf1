#include "jprof/hotspot/vm_structs.h"

#include <dlfcn.h>

namespace jprof::hotspot {
namespace {

template <typename T>
T At(const char* base, uint64_t offset) {
  return *reinterpret_cast<const T*>(base + offset);
}

// The value of an exported variable of libjvm.so, which the JVM itself has already loaded.
template <typename T>
bool Exported(const char* name, T* value) {
  void* symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol == nullptr) {
    // The launcher opens libjvm.so with RTLD_LOCAL on some JDKs: ask for the loaded library by
    // name.
    static void* library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) symbol = dlsym(library, name);
  }
  if (symbol == nullptr) return false;
  *value = *static_cast<T*>(symbol);
  return true;
}

}  // namespace

std::optional<VmStructs> VmStructs::Load() {
  VmStructs s;
  const bool found = Exported("gHotSpotVMStructs", &s.fields_) &&
                     Exported("gHotSpotVMStructEntryTypeNameOffset", &s.type_at_) &&
                     Exported("gHotSpotVMStructEntryFieldNameOffset", &s.name_at_) &&
                     Exported("gHotSpotVMStructEntryIsStaticOffset", &s.static_at_) &&
                     Exported("gHotSpotVMStructEntryOffsetOffset", &s.offset_at_) &&
                     Exported("gHotSpotVMStructEntryAddressOffset", &s.address_at_) &&
                     Exported("gHotSpotVMStructEntryArrayStride", &s.stride_) &&
                     Exported("gHotSpotVMTypes", &s.types_) &&
                     Exported("gHotSpotVMTypeEntryTypeNameOffset", &s.type_name_at_) &&
                     Exported("gHotSpotVMTypeEntrySizeOffset", &s.type_size_at_) &&
                     Exported("gHotSpotVMTypeEntryArrayStride", &s.type_stride_);
  if (!found || s.fields_ == nullptr || s.types_ == nullptr) return std::nullopt;
  return s;
}

const VmStructs::Entry* VmStructs::Find(std::string_view type, std::string_view field) const {
  for (const char* at = fields_; At<const char*>(at, type_at_) != nullptr; at += stride_) {
    if (type == At<const char*>(at, type_at_) && field == At<const char*>(at, name_at_)) {
      return reinterpret_cast<const Entry*>(at);
    }
  }
  return nullptr;
}

int64_t VmStructs::Offset(std::string_view type, std::string_view field) const {
  const auto* entry = reinterpret_cast<const char*>(Find(type, field));
  if (entry == nullptr || At<int32_t>(entry, static_at_) != 0) return -1;
  return static_cast<int64_t>(At<uint64_t>(entry, offset_at_));
}

void* VmStructs::Static(std::string_view type, std::string_view field) const {
  const auto* entry = reinterpret_cast<const char*>(Find(type, field));
  if (entry == nullptr || At<int32_t>(entry, static_at_) == 0) return nullptr;
  return At<void*>(entry, address_at_);
}

uint64_t VmStructs::SizeOf(std::string_view type) const {
  for (const char* at = types_; At<const char*>(at, type_name_at_) != nullptr; at += type_stride_) {
    if (type == At<const char*>(at, type_name_at_)) return At<uint64_t>(at, type_size_at_);
  }
  return 0;
}

}  // namespace jprof::hotspot
