// Finds the addresses of a name in a running process: of a function or a variable in the files that
// it has mapped, or of a Java method that the JVM has compiled.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/procfs.h"

namespace jprof::record {

class PlaceFinder {
 public:
  // `name` is a symbol, "pkg.Class.method", or an address like 0x401136. `jvm` is where the agent
  // writes the log of jitted code; it is empty if the process is not a JVM.
  PlaceFinder(uint32_t pid, std::string name, std::filesystem::path jvm = {});

  // Returns the addresses in the process as it is now. Files are read once.
  std::vector<uint64_t> Find();

 private:
  std::vector<uint64_t> InFile(const procfs::Mapping& mapping);
  void AddJitted(std::vector<uint64_t>& found);

  struct File {
    std::vector<uint64_t> addresses;  // as linked
    uint64_t offset = 0, link = 0;    // of the first executable mapping
  };

  const uint32_t pid_;
  const std::string name_;
  const std::filesystem::path jvm_;
  std::map<std::string, File> files_;  // by path
  uint64_t log_size_ = 0;
  // Holds the entries of jitted code by its address and the time when it was loaded. The code is
  // read once: later there may be a trap in it.
  std::map<std::pair<uint64_t, uint64_t>, std::vector<uint64_t>> entries_;
  std::vector<uint64_t> jitted_;
};

// Returns the addresses where calls of a compiled Java method enter it, given its code: callers
// that know the class of the receiver skip its check at the beginning. Pure.
std::vector<uint64_t> JavaEntries(uint64_t address, const std::vector<uint8_t>& code);

}  // namespace jprof::record
