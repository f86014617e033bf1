// The classic one-letter method types. A tree node stores the code in four bits. A lower-case
// letter means a static method; that flag belongs to the method (methods file), not to the node.
#pragma once

#include <cstdint>

namespace jprof {

enum class MethodType : uint8_t {
  kNone = 0,
  kInterpreted = 1,  // I
  kJitted = 2,       // J: C1
  kRejitted = 3,     // R: C2
  kNative = 4,       // N
  kInlined = 5,      // L
  kFunction = 6,     // F: C/C++
  kCompiling = 7,    // C
  kOther = 8,        // O
  kThread = 9,       // T
  kWoven = 10,       // W: counted by its own bytecode, whatever code ran
  kBlock = 15,       // not a method: a block of children in the nodes file
};

constexpr char Letter(MethodType type, bool is_static = false) {
  constexpr char kLetters[] = "?IJRNLFCOTW?????";
  const char letter = kLetters[static_cast<uint8_t>(type) & 15];
  return is_static && letter != '?' ? static_cast<char>(letter | 0x20) : letter;
}

// The two kinds of event. A tree node counts by the kind of the previous event. kEntry also means
// that there was no previous event, as for a thread's first one. Frames popped without an exit
// event count as exits.
enum class EventKind : uint8_t { kEntry = 0, kExit = 1 };

}  // namespace jprof
