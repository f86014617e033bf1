// The classic one-letter method types. The code is what a tree node stores in four bits.
// Lower case means a static method: that bit is the method's (methods file), not the node's.
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
  kBlock = 15,       // not a method: a block of children in the nodes file
};

constexpr char Letter(MethodType type, bool is_static = false) {
  constexpr char kLetters[] = "?IJRNLFCOT??????";
  const char letter = kLetters[static_cast<uint8_t>(type) & 15];
  return is_static && letter != '?' ? static_cast<char>(letter | 0x20) : letter;
}

// The two kinds of event; a tree node keeps its counts by the kind of the event before.
// kEntry also stands for "nothing before" (a thread's first event). Pops count as exits.
enum class EventKind : uint8_t { kEntry = 0, kExit = 1 };

}  // namespace jprof
