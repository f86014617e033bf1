#include "jprof/hotspot/vm/vm_structs.h"

#include <dlfcn.h>

namespace jprof::hotspot {
namespace {

template <typename T>
T At(const char* base, uint64_t offset) {
  return *reinterpret_cast<const T*>(base + offset);
}

// Reads an exported variable of libjvm.so, which the JVM itself has already loaded. Some launchers
// open it with RTLD_LOCAL: then only `library` finds it.
template <typename T>
bool Exported(void* library, const char* name, T* value) {
  void* symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol == nullptr && library != nullptr) symbol = dlsym(library, name);
  if (symbol == nullptr) return false;
  *value = *static_cast<T*>(symbol);
  return true;
}

}  // namespace

std::optional<uint64_t> VmStructs::Constant(std::string_view name) {
  void* const library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
  const char* table = nullptr;  // ends with an entry without name
  uint64_t name_at = 0, value_at = 0, stride = 0;
  const bool found = Exported(library, "gHotSpotVMLongConstants", &table) &&
                     Exported(library, "gHotSpotVMLongConstantEntryNameOffset", &name_at) &&
                     Exported(library, "gHotSpotVMLongConstantEntryValueOffset", &value_at) &&
                     Exported(library, "gHotSpotVMLongConstantEntryArrayStride", &stride);
  if (!found || table == nullptr) return std::nullopt;
  for (const char* at = table; At<const char*>(at, name_at) != nullptr; at += stride) {
    if (name == At<const char*>(at, name_at)) return At<uint64_t>(at, value_at);
  }
  return std::nullopt;
}

std::optional<VmStructs> VmStructs::Load() {
  void* const library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
  Tables t;
  const bool found = Exported(library, "gHotSpotVMStructs", &t.fields) &&
                     Exported(library, "gHotSpotVMStructEntryTypeNameOffset", &t.type_at) &&
                     Exported(library, "gHotSpotVMStructEntryFieldNameOffset", &t.name_at) &&
                     Exported(library, "gHotSpotVMStructEntryIsStaticOffset", &t.static_at) &&
                     Exported(library, "gHotSpotVMStructEntryOffsetOffset", &t.offset_at) &&
                     Exported(library, "gHotSpotVMStructEntryAddressOffset", &t.address_at) &&
                     Exported(library, "gHotSpotVMStructEntryArrayStride", &t.stride) &&
                     Exported(library, "gHotSpotVMTypes", &t.types) &&
                     Exported(library, "gHotSpotVMTypeEntryTypeNameOffset", &t.type_name_at) &&
                     Exported(library, "gHotSpotVMTypeEntrySizeOffset", &t.type_size_at) &&
                     Exported(library, "gHotSpotVMTypeEntryArrayStride", &t.type_stride);
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
