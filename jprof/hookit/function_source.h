// Describes functions of C and C++ by their module and link address; names are found afterwards, by
// a2n/. Allocates nothing and takes no lock that a program may hold: the first call of a function
// may be in a signal handler.
#pragma once

#include "jprof/engine/method_table.h"

namespace jprof::hookit {

class FunctionSource : public engine::MethodSource {
 public:
  bool Describe(uint64_t method, engine::MethodText* text) override;
  MethodType Classify(uint64_t) override { return MethodType::kFunction; }
};

// Call it when a library has been unloaded.
void ForgetPaths();

// In a child made by fork(): no thread that the fork left behind holds a lock.
void ResetPathsInChild();

}  // namespace jprof::hookit
