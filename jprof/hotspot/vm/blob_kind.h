// Defines the kinds of generated code, which HotSpot distinguishes by the names of code blobs.
#pragma once

#include <cstring>
#include <string_view>

namespace jprof::hotspot {

enum class BlobKind { kNone, kInterpreter, kMethod, kNativeMethod, kAdapter, kUpcall, kOther };

// Returns the kind of a CodeBlob with this name, never kNone.
inline BlobKind BlobKindOf(const char* name) {
  const auto begins = [name](std::string_view with) {
    return std::strncmp(name, with.data(), with.size()) == 0;
  };
  switch (name[0]) {
    case 'n':
      if (std::strcmp(name, "nmethod") == 0) return BlobKind::kMethod;
      return std::strcmp(name, "native nmethod") == 0 ? BlobKind::kNativeMethod : BlobKind::kOther;
    case 'I':
      if (std::strcmp(name, "Interpreter") == 0) return BlobKind::kInterpreter;
      return begins("I2C/C2I") ? BlobKind::kAdapter : BlobKind::kOther;
    case 'u':
      return begins("upcall_stub") ? BlobKind::kUpcall : BlobKind::kOther;
    default:
      return begins("vtable") ? BlobKind::kAdapter : BlobKind::kOther;
  }
}

}  // namespace jprof::hotspot
