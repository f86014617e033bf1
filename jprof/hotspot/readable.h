// Whether memory can be read, asked of the kernel: for addresses that may be nonsense. Callable in
// a signal handler; errno is kept. One object per walk: it remembers what it asked, so a page costs
// one system call a walk.
#pragma once

#include <cstdint>

namespace jprof::hotspot {

class Readable {
 public:
  // All of [address, address + bytes); of more than two granules only the first and the last are
  // asked about.
  bool operator()(uint64_t address, uint64_t bytes);

 private:
  // A page: nothing smaller is ever taken back.
  static constexpr int kGranuleBits = 12;
  static constexpr uint64_t kSlots = 64;

  bool Granule(uint64_t address);

  uint64_t good_[kSlots] = {};  // granule numbers; 0: none
};

}  // namespace jprof::hotspot
