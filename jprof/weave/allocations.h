// Finds the instructions of a method that allocate objects, and makes the calls that count them
// (weave.h). The calls get numbers only, never the object, so that compilers can still remove it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jprof/weave/big_endian.h"
#include "jprof/weave/class_file.h"
#include "jprof/weave/constants.h"
#include "jprof/weave/weave.h"

namespace jprof::weave {

// One object may be used for many methods, one after another, and keeps its memory.
class Allocations {
 public:
  // `ids` is null if allocations are not counted. All of them must exist as long as the object.
  Allocations(const ConstantPool& pool, Constants& constants, const ClassIds& ids)
      : pool_(pool), constants_(constants), ids_(ids) {}

  // Finds the instructions. Local variables from `first_local` on are free. Returns false if the
  // constants do not fit. Malformed code has no instructions from the malformed one on.
  bool Find(std::string_view code, uint32_t first_local);
  void Clear();

  bool empty() const { return sites_.empty(); }
  // Returns what is inserted before the instruction at an offset; it is empty if nothing is.
  std::string_view Before(uint32_t at) const;
  // Returns how many local variables the calls need.
  uint32_t locals() const { return locals_; }

 private:
  struct Site {
    uint32_t at;
    size_t begin, end;  // in calls_
  };

  bool Add(std::string_view code, uint32_t at);
  bool AddBoxing(uint16_t method);
  bool AddDimensions(std::string_view type, uint32_t dimensions);
  bool Push(std::string_view type);
  bool Call(CounterMethod method);

  const ConstantPool& pool_;
  Constants& constants_;
  const ClassIds& ids_;
  uint32_t first_local_ = 0, locals_ = 0;
  std::vector<Site> sites_;  // in ascending order
  Output calls_;
};

}  // namespace jprof::weave
