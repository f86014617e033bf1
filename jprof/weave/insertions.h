// Determines the instructions that are inserted into a method.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "jprof/weave/constants.h"
#include "jprof/weave/weave.h"

namespace jprof::weave {

class CallsBefore;

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
  std::array<char, 48> bytes_{};
  uint32_t size_ = 0;
};

// Returns the shortest instruction that pushes a number below 2^31, and a call of a static method.
// They are empty if the constant does not fit.
Snippet Push(uint32_t number, Constants& constants);
Snippet Call(CounterMethod method, Constants& constants);
// Returns the load of a local variable, and the store for the type of `load`, iload to aload.
Snippet Load(uint8_t general, uint16_t local);
Snippet Store(uint8_t load, uint16_t local);

// Instructions with a call that can overflow the stack where the program's own code would not. The
// offsets [from, to) are those of the call. If they are equal, the call is not guarded: a stack
// overflow in it leaves the method.
struct GuardedCall {
  Snippet code;
  uint32_t from = 0;
  uint32_t to = 0;
  // For a call in a handler, the offsets at which execution continues after a stack overflow, and
  // after any other exception, which replaces the one that is being handled.
  uint32_t overflow = 0;
  uint32_t other = 0;

  bool guarded() const { return from != to; }
};

struct Insertions {
  Snippet at_entry;
  GuardedCall before_return;  // after a stack overflow, execution continues in at_end
  GuardedCall at_handler;
  Snippet at_end;                             // the return without the call, at the end of the code
  Snippet before_enter;                       // before each monitorenter
  Snippet before_exit;                        // before each monitorexit
  const CallsBefore* calls_before = nullptr;  // what is inserted before other instructions
  // The handler of every exception that leaves a synchronized method, or one that takes a lock,
  // behind at_end. It is empty in other methods.
  Snippet at_unwind;

  uint16_t new_locals = 0;       // number of slots
  std::optional<uint16_t> node;  // first of two slots with the caller's node
  std::optional<uint16_t> own;   // first of two with the method's own node, behind the caller's
  uint16_t kept = 0;             // the local that holds the return value or exception
  std::optional<uint8_t>
      returned;  // instruction that loads `kept` before a return: iload to aload; none for void

  uint32_t no_answer = 0;     // offset in at_entry that is reached with null, or 0
  uint16_t answer_class = 0;  // index of a Class in the constant pool

  uint16_t overflow_error = 0;  // index of StackOverflowError in the constant pool
  uint16_t throwable = 0;       // index of Throwable, with at_unwind

  // The operand stack that the inserted instructions need, in addition to what is on it before a
  // return.
  uint32_t stack_at_entry = 0;
  uint32_t stack_before_return = 0;
  uint32_t stack_at_handler = 0;
  uint32_t stack_at_end = 0;
  uint32_t stack_at_monitor = 0;
  uint32_t stack_before_others = 0;
};

// The method that is to be changed.
struct Target {
  std::string_view class_name;
  std::string_view name;
  std::string_view descriptor;
  uint16_t max_locals = 0;
  bool calls = false;  // whether it calls methods or catches exceptions
  bool leaf = false;   // whether it only counts its entries
  bool sites = false;  // whether it has instructions that tell where it calls
  uint16_t access = 0;
  uint16_t major = 0;       // version of the class file
  uint16_t this_class = 0;  // index of its class
};

// Returns the instructions that the decision requires (none for kLeave), or nothing if the
// constants do not fit.
std::optional<Insertions> InsertionsFor(const Decision& decision, const Target& target,
                                        Constants& constants);

}  // namespace jprof::weave
