// Holds the calls of the counter that are inserted before instructions of a method because of what
// these do (weave.h): allocate objects, or call a method.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "jprof/weave/allocations.h"
#include "jprof/weave/big_endian.h"
#include "jprof/weave/call_sites.h"
#include "jprof/weave/class_file.h"
#include "jprof/weave/constants.h"
#include "jprof/weave/weave.h"

namespace jprof::weave {

// One object may be used for many methods, one after another, and keeps its memory.
class CallsBefore {
 public:
  // The arguments must exist as long as the object.
  CallsBefore(const ConstantPool& pool, Constants& constants, const Ids& ids)
      : allocations_(pool, constants, ids.of_class, calls_),
        call_sites_(pool, constants, ids.of_site, calls_) {}

  // Returns whether the code has instructions before which site(own, id) is called.
  bool HasSites(std::string_view code) const { return call_sites_.AreIn(code); }

  // Makes the calls: those of allocations, and those of sites if there is an `own` local variable.
  // Local variables from `first_local` on are free. Returns false if the constants do not fit.
  // Malformed code has no instructions from the malformed one on.
  bool Find(const CodeAttribute& code, bool allocations, std::optional<uint16_t> own,
            uint32_t first_local);

  bool empty() const { return points_.empty(); }
  // Returns what is inserted before the instruction at an offset; it is empty if nothing is.
  std::string_view At(uint32_t at) const;
  // Returns how many local variables the calls need from `first_local` on.
  uint32_t locals() const { return allocations_.locals(); }

 private:
  struct Point {
    uint32_t at;
    size_t begin, end;  // in calls_
  };

  Output calls_;
  std::vector<Point> points_;  // in ascending order
  Allocations allocations_;
  CallSites call_sites_;
};

}  // namespace jprof::weave
