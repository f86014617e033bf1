// Reads from the symbol table of a program or library which hooks it was compiled with, and where
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
  bool locks = false;      // it takes locks by functions of pthread_*

  bool is_static = false;  // the file is a program that is linked statically
  std::string error;       // why the file could not be read; empty if it could
  bool Any() const { return functions || sleds; }
};

// Returns the link address of a symbol that a program or library exports.
std::optional<uint64_t> ExportedSymbol(const std::string& path, std::string_view name);

// Returns no hooks if the file is not an ELF file, and none with an error if it cannot be read.
Hooks HooksOf(const std::string& path);

}  // namespace jprof::a2n
