// Finds the instructions of a method that allocate objects, and makes the calls that count them
// (weave.h). The calls get numbers only, never the object, so that compilers can still remove it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "jprof/weave/big_endian.h"
#include "jprof/weave/class_file.h"
#include "jprof/weave/constants.h"
#include "jprof/weave/weave.h"

namespace jprof::weave {

// One object may be used for many methods, one after another, and keeps its memory.
class Allocations {
 public:
  // Appends to `calls`. All arguments must exist as long as the object.
  Allocations(const ConstantPool& pool, Constants& constants, const ClassIds& ids, Output& calls)
      : pool_(pool), constants_(constants), ids_(ids), calls_(calls) {}

  // Begins a method. Local variables from `first_local` on are free.
  void Begin(uint32_t first_local) {
    first_local_ = first_local;
    locals_ = 0;
  }
  // Appends the calls for the instruction at an offset, if it allocates. Returns false if the
  // constants do not fit.
  bool Add(std::string_view code, uint32_t at);
  // Returns how many local variables the calls need.
  uint32_t locals() const { return locals_; }

 private:
  bool AddBoxing(uint16_t method);
  bool AddDimensions(std::string_view type, uint32_t dimensions);
  bool Push(std::string_view type);
  bool Call(CounterMethod method);

  const ConstantPool& pool_;
  Constants& constants_;
  const ClassIds& ids_;
  uint32_t first_local_ = 0, locals_ = 0;
  Output& calls_;
};

}  // namespace jprof::weave
