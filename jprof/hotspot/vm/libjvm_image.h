// Describes the loaded libjvm.so: finds functions that it does not export. Reads the file (its
// symbol table and USDT notes are not loaded) and the loaded exception-frame index. It is used
// once, when the agent is loaded. The file is mapped, because only a small part of its 20 to 30 MB
// is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "jprof/hotspot/vm/code_patch.h"

namespace jprof::hotspot {

struct UnmapFile {
  size_t size = 0;
  void operator()(const char* file) const;
};

class LibjvmImage {
 public:
  static Result<LibjvmImage> Open();

  // Returns the loaded function whose mangled name begins with `prefix`. Its begin is 0 if it
  // is not in .symtab.
  Function Symbol(std::string_view prefix) const;
  // Returns all of them, with their names, which are valid as long as this object.
  struct NamedFunction {
    std::string_view name;
    Function code;
  };
  std::vector<NamedFunction> Symbols(std::string_view prefix) const;
  // Returns the run-time start of the function that contains the USDT probe hotspot:`name`, or 0 if
  // there is no such probe.
  uint64_t FunctionWithProbe(std::string_view name) const;

  // Returns the loaded sections whose name begins with `prefix`.
  std::vector<Function> Loaded(std::string_view prefix) const;

  const std::string& path() const { return path_; }
  // Returns the build id in lower-case hex, or an empty string if there is none.
  std::string BuildId() const;

 private:
  struct Section {
    std::string_view name;
    uint64_t address, offset, size, link, entry_size;
  };
  const Section* Find(std::string_view name) const;
  Result<void> Map();
  std::string_view file() const { return {file_.get(), file_.get_deleter().size}; }
  std::string_view Bytes(const Section& section) const;
  uint64_t FunctionStart(uint64_t address) const;

  std::string path_;
  std::unique_ptr<const char, UnmapFile> file_;
  uint64_t bias_ = 0;  // run-time address minus link address
  std::vector<Section> sections_;
};

}  // namespace jprof::hotspot
