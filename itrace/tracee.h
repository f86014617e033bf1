// The address space of a traced process: its memory and mappings, and system calls on its behalf.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/fd.h"
#include "common/procfs.h"
#include "common/result.h"

namespace jprof::itrace {

// Returns the address of `size` unused bytes in [lowest, highest), as near to `near` as possible,
// or 0 if there are none. They are at the upper end of a gap, as the heap grows upwards, but far
// from the stack, which grows downwards. Requires `maps` in ascending order. Pure.
uint64_t FindGap(std::span<const procfs::Mapping> maps, uint64_t size, uint64_t lowest,
                 uint64_t highest, uint64_t near);

class Tracee {
 public:
  static Result<Tracee> Open(pid_t pid);

  pid_t pid() const { return pid_; }
  // Read returns the number of bytes that could be read, Write whether all could be written. Writes
  // ignore the protection of pages.
  size_t Read(uint64_t address, std::span<uint8_t> bytes) const;
  bool Write(uint64_t address, std::span<const uint8_t> bytes) const;

  const std::vector<procfs::Mapping>& maps();  // read again after MapsChanged
  void MapsChanged() { maps_known_ = false; }
  const procfs::Mapping* MappingOf(uint64_t address);
  // Returns whether code there can only change by a system call, because the memory is mapped from
  // a file and not writable.
  bool Constant(uint64_t address);

  // Returns the first instruction of the program itself, after the dynamic linker, or 0 if it
  // is unknown.
  uint64_t EntryPoint() const;

  // Has a stopped thread make a system call, at a place that is known to contain the instruction.
  // Registers and blocked signals are as before afterwards. Returns what the call returned.
  Result<int64_t> Call(pid_t tid, long number, std::array<uint64_t, 6> arguments);

 private:
  Tracee(pid_t pid, Fd memory) : pid_(pid), memory_(std::move(memory)) {}
  uint64_t SystemCallInstruction();

  pid_t pid_;
  Fd memory_;
  std::vector<procfs::Mapping> maps_;
  bool maps_known_ = false;
  uint64_t system_call_ = 0;  // the address of an instruction; 0 if not searched yet
};

}  // namespace jprof::itrace
