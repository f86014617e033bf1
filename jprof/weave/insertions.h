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
  std::array<char, 32> bytes_{};
  uint32_t size_ = 0;
};

// Instructions with a call that can overflow the stack where the program's own code would not. The
// offsets [from, to) are those of the call; equal: a stack overflow there leaves the method.
struct GuardedCall {
  Snippet code;
  uint32_t from = 0;
  uint32_t to = 0;
  // Of a handler's call: where a stack overflow goes on, and any other exception instead of the one
  // that is being handled.
  uint32_t overflow = 0;
  uint32_t other = 0;

  bool guarded() const { return from != to; }
};

struct Insertions {
  Snippet at_entry;
  GuardedCall before_return;  // its stack overflow goes on in at_end
  GuardedCall at_handler;
  Snippet at_end;  // of the code: the return without the call

  uint16_t new_locals = 0;       // slots
  std::optional<uint16_t> node;  // the first of two slots with the caller's node
  uint16_t kept = 0;             // where the value of a return, or an exception, is meanwhile
  std::optional<uint8_t>
      returned;  // how `kept` is read before a return: iload to aload; none: void

  uint16_t overflow_error = 0;  // that class in the constant pool, if a call is guarded

  // What the inserted instructions need of the stack, besides what is on it before a return.
  uint32_t stack_at_entry = 0;
  uint32_t stack_before_return = 0;
  uint32_t stack_at_handler = 0;
  uint32_t stack_at_end = 0;
};

// The method that is to be changed.
struct Target {
  std::string_view descriptor;
  uint16_t max_locals = 0;
  bool calls = false;  // others, or catches exceptions
};

// What the decision needs; nothing if the constants do not fit. kLeave: no instructions.
std::optional<Insertions> InsertionsFor(const Decision& decision, const Target& target,
                                        Constants& constants);

}  // namespace jprof::weave
