// Names model-specific registers of x86 processors. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/result.h"

namespace jprof::ptm {

// A register that has a name here. The sources are Intel's "64 and IA-32 Architectures Software
// Developer's Manual", volume 4, and AMD's "AMD64 Architecture Programmer's Manual", volume 2, and
// "Processor Programming Reference".
struct NamedRegister {
  std::string_view name;
  uint32_t number;
  std::string_view documented;  // what the manuals call it, with the manual
  std::string_view meaning;
};

// Returns all registers with a name, in the order of their numbers.
std::span<const NamedRegister> NamedRegisters();

struct MsrRegister {
  std::string name;  // its number in hexadecimal if it has no other name
  uint32_t number;
};

// Returns the register that `text` names: a name above in any case, a decimal number, or a
// hexadecimal one that begins with 0x. Fails with kWrongUse; the message has the nearest name.
Result<MsrRegister> ParseRegister(std::string_view text);

}  // namespace jprof::ptm
