// Loads of memory that may not be there: behind pointers that may be nonsense, or that the VM may
// give back at any moment. Callable in a signal handler; errno is kept. One object per walk.
//
// A load goes through a function of the VM's own, SafeFetchN: where it faults, the VM's handler of
// SIGSEGV goes on behind it, with another value. Between a check and a load there is no gap, and a
// load that succeeds costs no more than a call. Where the VM does not tell that function (its
// symbol table was removed), the kernel is asked about each page once a walk, and what is taken
// back between that and the load is a crash.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jprof/hotspot/libjvm_image.h"

namespace jprof::hotspot {

class Foreign {
 public:
  // The word at `address`, or `otherwise`.
  using Fetch = intptr_t (*)(const intptr_t* address, intptr_t otherwise);
  // That of the VM; null: none.
  static Fetch FetchOf(const LibjvmImage& image);

  explicit Foreign(Fetch fetch) : fetch_(fetch) {}

  // A value that lies in one aligned word, as all fields of structures do. False: it cannot be
  // read.
  template <typename T>
  bool Load(uint64_t address, T* value) {
    uint64_t word;
    const uint64_t shift = address % 8 * 8;
    if (shift / 8 + sizeof(T) > 8 || !Word(address & ~uint64_t{7}, &word)) return false;
    *value = static_cast<T>(word >> shift);
    return true;
  }
  // The same; 0 for what cannot be read.
  template <typename T>
  T Get(uint64_t address) {
    T value = {};
    return Load(address, &value) ? value : T{};
  }
  bool Copy(uint64_t address, size_t bytes, uint8_t* out);
  // Whether the first and the last of these bytes can be read now.
  bool Reaches(uint64_t address, uint64_t bytes);

 private:
  bool Word(uint64_t address, uint64_t* word);
  bool AskKernel(uint64_t address);

  Fetch fetch_;
  uint64_t page_ = 0;  // that the kernel said can be read
};

}  // namespace jprof::hotspot
