// Which hooks a program or library was compiled with.
#pragma once

#include <string>

namespace jprof::a2n {

struct Hooks {
  bool functions = false;  // -finstrument-functions
  bool sleds = false;      // -fxray-instrument
  bool blocks = false;     // -fsanitize-coverage=trace-pc-guard

  bool Any() const { return functions || sleds || blocks; }
};

// None if the file cannot be read or is not an ELF file.
Hooks HooksOf(const std::string& path);

}  // namespace jprof::a2n
