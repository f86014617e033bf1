#include "a2n/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#define HAVE_DECL_BASENAME 1  // else libiberty.h declares it differently from <cstring>
#include <libiberty/demangle.h>

namespace jprof::a2n {
namespace {

// Longer names are not demangled, because the result can be very much longer still.
constexpr size_t kLongest = 32 * 1024;

using Text = std::unique_ptr<char, decltype(&std::free)>;

// Returns whether the name is one of Rust's legacy names, which end in "17h", 16 digits, "E", and
// an optional LLVM suffix after a dot.
bool IsRustLegacy(std::string_view name) {
  constexpr size_t kDigits = 16;
  const size_t hash = name.rfind("17h");
  if (!name.starts_with("_ZN") || hash == std::string_view::npos ||
      name.size() < hash + 3 + kDigits + 1)
    return false;
  const std::string_view behind = name.substr(hash + 3 + kDigits);
  return name.substr(hash + 3, kDigits).find_first_not_of("0123456789abcdef") ==
             std::string_view::npos &&
         behind[0] == 'E' && (behind.size() == 1 || behind[1] == '.');
}

}  // namespace

std::string Demangle(const char* name) {
  const bool rust_v0 = name[0] == '_' && name[1] == 'R';
  if (!rust_v0 && !(name[0] == '_' && name[1] == 'Z')) return name;
  if (std::strlen(name) > kLongest) return name;
  if (rust_v0 || IsRustLegacy(name)) {
    const Text text(rust_demangle(name, 0), &std::free);
    if (text != nullptr) return text.get();
    if (rust_v0) return name;
  }
  int status = 0;
  const Text text(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return text == nullptr || status != 0 ? name : text.get();
}

}  // namespace jprof::a2n
