// Reads memory for a stack walk. Each walk has one object. It can be used in a signal handler
// and preserves errno.
//
// At, Bytes and Text read memory that is known to be readable, by plain loads. Load, Get, Copy
// etc. read memory that may be unmapped: behind pointers that may be invalid, or that the VM may
// free at any moment.
//
// A checked load calls SafeFetchN, a function of the VM: if the load faults, the VM's SIGSEGV
// handler resumes after it, with another value. There is no gap between a check and a load, and a
// successful load costs no more than a call. In a VM without that function (a libjvm.so without
// symbols) the kernel is queried once per page and walk; memory that is unmapped between that check
// and the load then crashes the process.
//
// Tests and tools set a MemorySource, which replaces the live process. The product has none; it
// costs one predicted branch per read there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jprof/hotspot/vm/libjvm_image.h"
#include "jprof/hotspot/vm/load.h"
#include "jprof/unwind/unwinder.h"

namespace jprof::hotspot {

// A process other than the running one: a recorded stack, or a recorder around the live process.
class MemorySource {
 public:
  // Copies `bytes` bytes. Returns false if some of them cannot be read.
  virtual bool Read(uint64_t address, size_t bytes, void* out) = 0;
  // Return [begin, end) as bytes, or the zero-terminated text at an address. They are valid as long
  // as the source. Unreadable memory is zero.
  virtual const uint8_t* Bytes(uint64_t begin, uint64_t end) = 0;
  virtual const char* Text(uint64_t address) = 0;
  // Do the same as Unwinder::Next and Unwinder::FunctionAt.
  virtual unwind::Unwinder::Step NextNative(unwind::Registers& registers,
                                            const unwind::StackBounds& stack, bool interrupted,
                                            uint64_t* function) = 0;
  virtual bool IsNativeCode(uint64_t pc) = 0;

 protected:
  ~MemorySource() = default;
};

class MemoryReader {
 public:
  // Returns the word at `address`, or `otherwise` if it cannot be read.
  using Fetch = intptr_t (*)(const intptr_t* address, intptr_t otherwise);
  // Returns the VM's function, or null if there is none.
  static Fetch FetchOf(const LibjvmImage& image);

  explicit MemoryReader(Fetch fetch, MemorySource* source = nullptr)
      : fetch_(fetch), source_(source) {}

  // --- The following functions read memory that is known to be readable.

  template <typename T>
  T At(uint64_t address) const {
    if (source_ == nullptr) [[likely]]
      return LoadAt<T>(address);
    T value = {};
    ReadSource(address, sizeof value, &value);
    return value;
  }
  const uint8_t* Bytes(uint64_t begin, uint64_t end) const {
    if (source_ == nullptr) [[likely]]
      return reinterpret_cast<const uint8_t*>(begin);
    return SourceBytes(begin, end);
  }
  const char* Text(uint64_t address) const {
    if (source_ == nullptr) [[likely]]
      return reinterpret_cast<const char*>(address);
    return SourceText(address);
  }

  // --- The following functions read memory that may be unmapped.

  // Reads a value in one aligned word, as all fields of structures are. Returns false if it cannot
  // be read.
  template <typename T>
  bool Load(uint64_t address, T* value) {
    uint64_t word;
    const uint64_t shift = address % 8 * 8;
    if (shift / 8 + sizeof(T) > 8 || !Word(address & ~uint64_t{7}, &word)) return false;
    *value = static_cast<T>(word >> shift);
    return true;
  }
  // Returns a value in one aligned word, or 0 if it cannot be read.
  template <typename T>
  T Get(uint64_t address) {
    T value = {};
    return Load(address, &value) ? value : T{};
  }
  bool Copy(uint64_t address, size_t bytes, uint8_t* out);
  // Returns whether the first and the last of these bytes can currently be read.
  bool Reaches(uint64_t address, uint64_t bytes);

  // --- The following functions are for native code.

  unwind::Unwinder::Step NextNative(const unwind::Unwinder& unwinder, unwind::Registers& registers,
                                    const unwind::StackBounds& stack, bool interrupted,
                                    uint64_t* function, unwind::ReadLog* log) const {
    if (source_ == nullptr) [[likely]]
      return unwinder.Next(registers, stack, interrupted, function, log);
    return NextInSource(registers, stack, interrupted, function);
  }
  bool IsNativeCode(const unwind::Unwinder& unwinder, uint64_t pc) const;

 private:
  bool Word(uint64_t address, uint64_t* word);
  bool QueryKernel(uint64_t address);
  // Requires a source.
  bool ReadSource(uint64_t address, size_t bytes, void* out) const;
  const uint8_t* SourceBytes(uint64_t begin, uint64_t end) const;
  const char* SourceText(uint64_t address) const;
  unwind::Unwinder::Step NextInSource(unwind::Registers& registers,
                                      const unwind::StackBounds& stack, bool interrupted,
                                      uint64_t* function) const;
  bool IsSourceCode(uint64_t pc) const;

  Fetch fetch_;
  MemorySource* source_;
  uint64_t page_ = 0;  // page that the kernel last reported as readable
};

}  // namespace jprof::hotspot
