// Lists the kinds of frames, with the letters that reports print and what they mean. A lower-case
// letter means a static method; that flag is the method's (methods file), not the tree node's.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace jprof {

// A tree node stores the kind in four bits.
enum class FrameKind : uint8_t {
  kNone = 0,
  kInterpreted = 1,
  kJitted = 2,
  kRejitted = 3,
  kNative = 4,
  kInlined = 5,
  kFunction = 6,
  kSite = 7,  // no frame: a bytecode of its parent's method, where it calls or was sampled
  kOther = 8,
  kThread = 9,
  kWoven = 10,   // counts itself by its bytecode, whatever code runs
  kKernel = 11,  // in no node: reports derive it from flags of the method
  kClass = 12,
  kLabel = 13,  // no frame: what the program called its work from here on
  kBlock = 15,  // no frame: a block of children in the nodes file
};

// Describes a kind that reports print.
struct FrameKindRow {
  FrameKind kind;
  char letter;
  std::string_view meaning;
};

// Lists every kind that reports print.
inline constexpr std::array<FrameKindRow, 12> kFrameKinds = {{
    {FrameKind::kInterpreted, 'I', "interpreted"},
    {FrameKind::kJitted, 'J', "compiled by C1"},
    {FrameKind::kRejitted, 'R', "compiled by C2"},
    {FrameKind::kInlined, 'L', "inlined"},
    {FrameKind::kWoven, 'W', "woven"},
    {FrameKind::kNative, 'N', "native method"},
    {FrameKind::kFunction, 'F', "native function"},
    {FrameKind::kKernel, 'K', "kernel"},
    {FrameKind::kOther, 'O', "code of the VM"},
    {FrameKind::kClass, '-', "class of objects"},
    {FrameKind::kLabel, '@', "label"},
    {FrameKind::kThread, 'T', "thread"},
}};

// Returns the kind's letter, of a static method in lower case, or '?' if reports do not print it.
constexpr char Letter(FrameKind kind, bool is_static = false) {
  constexpr auto kLetters = [] {
    std::array<char, 16> letters{};
    letters.fill('?');
    for (const FrameKindRow& row : kFrameKinds)
      letters[static_cast<uint8_t>(row.kind)] = row.letter;
    return letters;
  }();
  const char letter = kLetters[static_cast<uint8_t>(kind) & 15];
  const bool has_case = letter >= 'A' && letter <= 'Z';
  return is_static && has_case ? static_cast<char>(letter | 0x20) : letter;
}

// Lists the two kinds of event. A tree node counts by the kind of the previous event. kEntry also
// means that there was no previous event, as for a thread's first one. Frames that are popped
// without an exit event count as exits.
enum class EventKind : uint8_t { kEntry = 0, kExit = 1 };

}  // namespace jprof
