// Reads the kernel's functions from the text of /proc/kallsyms or a copy of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::a2n {

class KernelSymbols {
 public:
  struct Symbol {
    uint64_t address, end;
    uint32_t name;    // offset in names_
    uint32_t module;  // index in modules_
  };

  // Parses the text and skips unreadable lines. Fails if the text as a whole is wrong, with
  // the reason.
  static Result<KernelSymbols> Parse(std::string_view text);
  static Result<KernelSymbols> Read(const std::string& path);

  // Returns the last symbol that begins at or below the address and does not end before it, or null
  // if there is none.
  const Symbol* Find(uint64_t address) const;
  std::string_view NameOf(const Symbol& symbol) const { return names_.data() + symbol.name; }
  std::string_view ModuleOf(const Symbol& symbol) const {
    return modules_[symbol.module];
  }  // "vmlinux", "[ext4]"
  size_t size() const { return symbols_.size(); }

 private:
  std::vector<Symbol> symbols_;  // by address
  std::string names_;
  std::vector<std::string> modules_;
};

}  // namespace jprof::a2n
