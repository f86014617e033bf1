// Reads model-specific registers of x86 processors by the kernel's devices, /dev/cpu/N/msr
// (msr(4)). Nothing is ever written. A read of another processor's register interrupts it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/result.h"
#include "ptm/msr/registers.h"

namespace jprof::ptm {

inline constexpr char kMsrDevices[] = "/dev/cpu";

struct MsrReading {
  uint32_t processor;
  MsrRegister of;
  Result<uint64_t> value;  // fails if the processor has no such register
};

// Returns the processors that have an entry in `folder`, ascending. Empty if there is no folder.
std::vector<uint32_t> MsrProcessors(const std::string& folder);

// Reads the registers of each processor; `folder` contains the devices as N/msr. Fails if a device
// cannot be opened; the message says what to change.
Result<std::vector<MsrReading>> ReadRegisters(const std::string& folder,
                                              std::span<const uint32_t> processors,
                                              std::span<const MsrRegister> registers);

// Explains why the device `path` cannot be opened with `error`, an errno. Pure.
std::string ExplainMsr(const std::string& path, int error);

}  // namespace jprof::ptm
