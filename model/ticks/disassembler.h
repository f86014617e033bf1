// Converts machine code to text with Capstone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "model/ticks/recording.h"

namespace jprof::model {

struct Instruction {
  uint64_t address = 0;
  size_t size = 0;
  std::string_view mnemonic, operands;  // valid until the next one
};

class Disassembler {
 public:
  Disassembler();
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  // Fails if Capstone cannot read this architecture's code.
  Result<void> Check() const;
  // Calls `use` for each instruction until one cannot be read.
  void Visit(std::span<const uint8_t> code, uint64_t address,
             const std::function<void(const Instruction&)>& use) const;

 private:
  size_t handle_ = 0;
  bool usable_ = false;
};

// Finds the source lines of a process's code at one time.
class SourceLines {
 public:
  SourceLines(Recording& recording, uint32_t pid, uint64_t time)
      : recording_(recording), pid_(pid), time_(time) {}
  // Returns "file.c:12", or an empty text if the line is unknown or that of the previous call.
  std::string At(uint64_t address);

 private:
  Recording& recording_;
  uint32_t pid_;
  uint64_t time_;
  std::string last_;
};

}  // namespace jprof::model
