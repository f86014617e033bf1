// Describes functions of C and C++, and locks, by their module and link address; names are found
// afterwards, by a2n/. A lock outside of all modules is described by its address. Allocates nothing
// and takes no lock that a program may hold: the first call of a function may be in a signal
// handler.
#pragma once

#include <cstdint>

#include "common/lock_kind.h"
#include "jprof/engine/method_table.h"
#include "jprof/engine/thread.h"

namespace jprof::hookit {

// Returns what stands for a lock in place of a method: a row of its own for each lock.
constexpr uint64_t LockMethod(uint64_t address, LockKind kind) {
  constexpr int kKindShift = 56;  // above all addresses
  constexpr uint64_t kLockBit = uint64_t{1} << 61;
  return address | engine::kFunctionBit | kLockBit | static_cast<uint64_t>(kind) << kKindShift;
}

class FunctionSource : public engine::MethodSource {
 public:
  bool Describe(uint64_t method, engine::MethodText* text) override;
  FrameKind Classify(uint64_t) override { return FrameKind::kFunction; }
};

// Forgets the paths of modules. Call this when a library has been unloaded.
void ForgetPaths();

// Releases the lock of the paths in a child made by fork(): a thread that the fork left
// behind may hold it.
void ResetPathsInChild();

}  // namespace jprof::hookit
