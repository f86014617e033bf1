// Predicts what another size of the young generation, and the parallel collector, would save. Pure.
//
// The model is that of copying collection (Jones, Hosking, Moss: The Garbage Collection Handbook,
// chapters 4.1, 9.2 and 9.3; Appel: Simple generational garbage collection, 1989): a program that
// allocates A bytes with an eden of Y bytes is paused A / Y times, and each pause takes p0 + c * S,
// where S are the bytes that survive and are copied. With a larger eden S lies between what it was,
// if objects die at their own age, and grown in proportion. So with n' = A / Y' pauses the saved
// time lies between (n - n') * p0 and (n - n') times the mean pause; p0 is the shortest pause seen.
// A full collection takes time in proportion to the live bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cpo/agents/jvm_heap/gc_log.h"

namespace jprof::cpo {

// What the options may use.
struct HeapLimits {
  uint64_t heap = 0;                 // the largest heap, in bytes
  uint32_t processors = 1;           // that the JVM may use
  bool may_choose_collector = true;  // false if the command chooses one
};

struct HeapAdvice {
  std::string options;                  // separated by blanks
  std::string cost;                     // for people
  double saved = 0, low = 0, high = 0;  // seconds of pauses
};

// Returns nothing if there is nothing to gain that is worth options: too few collections, or no
// room.
std::optional<HeapAdvice> AdviseHeap(const GcLog& log, const HeapLimits& limits);

}  // namespace jprof::cpo
