// What the symbol table of a program or library tells: which hooks it was compiled with, and where
// exported symbols are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jprof::a2n {

struct Hooks {
  bool functions = false;  // -finstrument-functions
  bool sleds = false;      // -fxray-instrument

  bool is_static = false;  // the file is a program that is linked statically
  bool Any() const { return functions || sleds; }
};

// The link address of a symbol that a program or library exports.
std::optional<uint64_t> ExportedSymbol(const std::string& path, std::string_view name);

// None if the file cannot be read or is not an ELF file.
Hooks HooksOf(const std::string& path);

}  // namespace jprof::a2n
