// Describes functions of C and C++ by their module and link address; names are found afterwards, by
// a2n/. Allocates nothing and takes no lock that a program may hold: the first call of a function
// may be in a signal handler.
#pragma once

#include "jprof/engine/method_table.h"

namespace jprof::hookit {

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
