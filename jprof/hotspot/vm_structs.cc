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
  Tables t;
  const bool found = Exported("gHotSpotVMStructs", &t.fields) &&
                     Exported("gHotSpotVMStructEntryTypeNameOffset", &t.type_at) &&
                     Exported("gHotSpotVMStructEntryFieldNameOffset", &t.name_at) &&
                     Exported("gHotSpotVMStructEntryIsStaticOffset", &t.static_at) &&
                     Exported("gHotSpotVMStructEntryOffsetOffset", &t.offset_at) &&
                     Exported("gHotSpotVMStructEntryAddressOffset", &t.address_at) &&
                     Exported("gHotSpotVMStructEntryArrayStride", &t.stride) &&
                     Exported("gHotSpotVMTypes", &t.types) &&
                     Exported("gHotSpotVMTypeEntryTypeNameOffset", &t.type_name_at) &&
                     Exported("gHotSpotVMTypeEntrySizeOffset", &t.type_size_at) &&
                     Exported("gHotSpotVMTypeEntryArrayStride", &t.type_stride);
  if (!found || t.fields == nullptr || t.types == nullptr) return std::nullopt;
  return VmStructs(t);
}

const VmStructs::Entry* VmStructs::Find(std::string_view type, std::string_view field) const {
  for (const char* at = tables_.fields; At<const char*>(at, tables_.type_at) != nullptr;
       at += tables_.stride) {
    if (type == At<const char*>(at, tables_.type_at) &&
        field == At<const char*>(at, tables_.name_at)) {
      return reinterpret_cast<const Entry*>(at);
    }
  }
  return nullptr;
}

int64_t VmStructs::Offset(std::string_view type, std::string_view field) const {
  const auto* entry = reinterpret_cast<const char*>(Find(type, field));
  if (entry == nullptr || At<int32_t>(entry, tables_.static_at) != 0) return -1;
  return static_cast<int64_t>(At<uint64_t>(entry, tables_.offset_at));
}

void* VmStructs::Static(std::string_view type, std::string_view field) const {
  const auto* entry = reinterpret_cast<const char*>(Find(type, field));
  if (entry == nullptr || At<int32_t>(entry, tables_.static_at) == 0) return nullptr;
  return At<void*>(entry, tables_.address_at);
}

uint64_t VmStructs::SizeOf(std::string_view type) const {
  for (const char* at = tables_.types; At<const char*>(at, tables_.type_name_at) != nullptr;
       at += tables_.type_stride) {
    if (type == At<const char*>(at, tables_.type_name_at))
      return At<uint64_t>(at, tables_.type_size_at);
  }
  return 0;
}

}  // namespace jprof::hotspot
