// The instructions that are inserted into a method.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "jprof/weave/constants.h"
#include "jprof/weave/weave.h"

namespace jprof::weave {

class Snippet {
 public:
  void U1(uint32_t value) { bytes_[size_++] = static_cast<char>(value); }
  void U2(uint32_t value) {
    U1(value >> 8 & 0xff);
    U1(value & 0xff);
  }
  void Append(const Snippet& other) {
    for (const char byte : other.view()) bytes_[size_++] = byte;
  }
  uint32_t size() const { return size_; }
  std::string_view view() const { return {bytes_.data(), size_}; }

 private:
  std::array<char, 10> bytes_{};
  uint32_t size_ = 0;
};

struct Insertions {
  Snippet at_entry;
  Snippet before_return;
  Snippet at_handler;
  std::optional<uint16_t> new_local;  // the first of two slots

  // What the inserted instructions need of the stack, besides what is on it before a return.
  uint32_t stack_at_entry = 0;
  uint32_t stack_before_return = 0;
  uint32_t stack_at_handler = 0;  // with the exception
};

// What the decision needs in a method with this many local variables; nothing if the constants do
// not fit. kLeave: no instructions.
std::optional<Insertions> InsertionsFor(const Decision& decision, uint16_t max_locals,
                                        Constants& constants);

}  // namespace jprof::weave
