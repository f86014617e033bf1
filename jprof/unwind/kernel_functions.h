// The kernel's functions by address, for the kernel's part of sampled stacks. Read by one thread;
// asked by all, also in signal handlers, before, while and after it is read.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::unwind {

class KernelFunctions {
 public:
  struct Function {
    uint64_t start = 0;             // 0: none
    std::string_view name, module;  // "vmlinux", "[ext4]"; they live as long as this object
  };

  // /proc/kallsyms, once. False: this user may not see the addresses.
  bool Read(const char* path = "/proc/kallsyms");
  Function At(uint64_t address) const;

 private:
  struct Entry {
    uint64_t start;
    uint32_t name, module;  // places in text_, zero-terminated
  };
  std::vector<Entry> functions_;  // by address
  std::string text_;
  std::atomic<bool> ready_ = false;
};

}  // namespace jprof::unwind
