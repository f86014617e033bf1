// How a stack walk reads memory. One object per walk. Callable in a signal handler; errno is
// preserved.
//
//   At, Bytes, Text       memory that is known to be readable: plain loads.
//   Load, Get, Copy, ...  memory that may be unmapped: behind pointers that may be invalid, or that
//                         the VM may free at any moment.
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

#include "jprof/hotspot/libjvm_image.h"
#include "jprof/hotspot/load.h"
#include "jprof/unwind/unwinder.h"

namespace jprof::hotspot {

// A process other than the running one: a recorded stack, or a recorder around the live process.
class MemorySource {
 public:
  // Copies `bytes` bytes; false: some of them cannot be read.
  virtual bool Read(uint64_t address, size_t bytes, void* out) = 0;
  // [begin, end) as bytes, or the zero-terminated text at an address. They are valid as long as the
  // source. Unreadable memory is zero.
  virtual const uint8_t* Bytes(uint64_t begin, uint64_t end) = 0;
  virtual const char* Text(uint64_t address) = 0;
  // Like Unwinder::Next and Unwinder::FunctionAt.
  virtual unwind::Unwinder::Step NextNative(unwind::Registers& registers,
                                            const unwind::StackBounds& stack, bool interrupted,
                                            uint64_t* function) = 0;
  virtual bool IsNativeCode(uint64_t pc) = 0;

 protected:
  ~MemorySource() = default;
};

class MemoryReader {
 public:
  // The word at `address`, or `otherwise`.
  using Fetch = intptr_t (*)(const intptr_t* address, intptr_t otherwise);
  // The VM's function; null: none.
  static Fetch FetchOf(const LibjvmImage& image);

  explicit MemoryReader(Fetch fetch, MemorySource* source = nullptr)
      : fetch_(fetch), source_(source) {}

  // --- Memory that is known to be readable.

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

  // --- Memory that may be unmapped.

  // A value in one aligned word, as all fields of structures are. False: it cannot be read.
  template <typename T>
  bool Load(uint64_t address, T* value) {
    uint64_t word;
    const uint64_t shift = address % 8 * 8;
    if (shift / 8 + sizeof(T) > 8 || !Word(address & ~uint64_t{7}, &word)) return false;
    *value = static_cast<T>(word >> shift);
    return true;
  }
  // The same; returns 0 for unreadable memory.
  template <typename T>
  T Get(uint64_t address) {
    T value = {};
    return Load(address, &value) ? value : T{};
  }
  bool Copy(uint64_t address, size_t bytes, uint8_t* out);
  // Whether the first and the last of these bytes can currently be read.
  bool Reaches(uint64_t address, uint64_t bytes);

  // --- Native code.

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
  uint64_t page_ = 0;  // the page that the kernel last reported as readable
};

}  // namespace jprof::hotspot
