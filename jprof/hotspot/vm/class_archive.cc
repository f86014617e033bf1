#include "jprof/hotspot/vm/class_archive.h"

#include <string_view>

#include "jprof/hotspot/vm/vm.h"

namespace jprof::hotspot {
namespace {

constexpr const char* kBooleans[] = {"DumpSharedSpaces", "RecordDynamicDumpInfo",
                                     "AutoCreateSharedArchive"};
constexpr const char* kFiles[] = {"ArchiveClassesAtExit", "AOTCacheOutput"};

// Returns an empty text if the VM has no such flag, or if it is not set.
std::string_view TextFlag(const VmStructs& structs, const char* name) {
  const auto* const value = reinterpret_cast<const char* const*>(Vm::Flag(structs, name));
  return value != nullptr && *value != nullptr ? *value : "";
}

}  // namespace

std::string ArchiveOption(const VmStructs& structs) {
  for (const char* name : kBooleans) {
    const uint8_t* const value = Vm::Flag(structs, name);
    if (value != nullptr && *value != 0) return std::string("-XX:+") + name;
  }
  for (const char* name : kFiles) {
    if (!TextFlag(structs, name).empty()) return std::string("-XX:") + name;
  }
  const std::string_view mode = TextFlag(structs, "AOTMode");
  return mode == "record" || mode == "create" ? "-XX:AOTMode=" + std::string(mode) : "";
}

}  // namespace jprof::hotspot
