#include "a2n/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#ifdef JPROF_LIBIBERTY
#define HAVE_DECL_BASENAME 1  // else libiberty.h declares it differently from <cstring>
#include <libiberty/demangle.h>
#endif

namespace jprof::a2n {
namespace {

// Longer names are left alone: demangling can make them very much longer still.
constexpr size_t kLongest = 32 * 1024;

using Text = std::unique_ptr<char, decltype(&std::free)>;

// Ends in "17h", 16 digits, "E", and what LLVM may have appended behind a dot.
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

// What libiberty would do, without it: Rust wrote special characters as $..$ and "::" between as
// "..".
std::string RustLegacy(std::string text) {
  text.resize(text.rfind("::h"));
  constexpr std::pair<std::string_view, std::string_view> kWritten[] = {
      {"$LT$", "<"},  {"$GT$", ">"},  {"$RF$", "&"},   {"$BP$", "*"},  {"$C$", ","},
      {"$LP$", "("},  {"$RP$", ")"},  {"$SP$", "@"},   {"$u20$", " "}, {"$u27$", "'"},
      {"$u5b$", "["}, {"$u5d$", "]"}, {"$u7b$", "{"},  {"$u7d$", "}"}, {"$u7e$", "~"},
      {"$u3b$", ";"}, {"$u2b$", "+"}, {"$u22$", "\""}, {"..", "::"}};
  for (const auto& [written, meant] : kWritten) {
    for (size_t at = 0; (at = text.find(written, at)) != std::string::npos; at += meant.size())
      text.replace(at, written.size(), meant);
  }
  for (size_t at = 0; (at = text.find("::_<", at)) != std::string::npos;) text.erase(at + 2, 1);
  if (text.starts_with("_<")) text.erase(0, 1);
  return text;
}

}  // namespace

std::string Demangle(const char* name) {
  const bool rust_v0 = name[0] == '_' && name[1] == 'R';
  if (!rust_v0 && !(name[0] == '_' && name[1] == 'Z')) return name;
  if (std::strlen(name) > kLongest) return name;
  const bool rust_legacy = !rust_v0 && IsRustLegacy(name);
#ifdef JPROF_LIBIBERTY
  if (rust_v0 || rust_legacy) {
    const Text text(rust_demangle(name, 0), &std::free);
    if (text != nullptr) return text.get();
  }
#endif
  if (rust_v0) return name;
  int status = 0;
  const Text text(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  if (text == nullptr || status != 0) return name;
  return rust_legacy && std::strstr(text.get(), "::h") != nullptr ? RustLegacy(text.get())
                                                                  : std::string(text.get());
}

}  // namespace jprof::a2n
