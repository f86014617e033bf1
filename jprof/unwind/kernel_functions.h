// Maps addresses to the kernel's functions, for the kernel frames of sampled stacks. One
// thread reads the table; any thread may look up functions before, during and after that, also
// in signal handlers.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "common/page_allocator.h"

namespace jprof::unwind {

class KernelFunctions {
 public:
  struct Function {
    uint64_t start = 0;             // 0 if there is none
    std::string_view name, module;  // "vmlinux", "[ext4]"; valid as long as this object
  };

  // Reads /proc/kallsyms, once. Returns false if this user may not see the addresses.
  bool Read(const char* path = "/proc/kallsyms");
  Function At(uint64_t address) const;

 private:
  struct Entry {
    uint64_t start;
    uint32_t name, module;  // offsets in text_, zero-terminated
  };
  PageVector<Entry> functions_;  // by address
  PageString text_;
  std::atomic<bool> ready_ = false;
};

}  // namespace jprof::unwind
