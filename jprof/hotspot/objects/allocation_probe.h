// Makes HotSpot call jprof's handlers at every allocation of an object in the heap.
//
// With the flag DTraceAllocProbes the interpreter, C1, C2 and the VM's own code call
// SharedRuntime::dtrace_object_alloc with each new object, by leaf calls, and all optimisations
// stay on: an allocation that C2 removes is not reported. The functions, which have up to three
// signatures, are replaced by a jump to the handlers, as those of the method probes are
// (jprof/hotspot/probe/probe.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "jprof/engine/session.h"
#include "jprof/hotspot/objects/object_layout.h"
#include "jprof/hotspot/objects/object_marks.h"
#include "jprof/hotspot/vm/libjvm_image.h"

namespace jprof::hotspot {

// States the arguments of one of the functions: a thread if `has_thread`, the object, and its
// size in words if `has_size`. Others may follow, which not all callers pass.
struct AllocationArguments {
  bool has_thread = false;
  bool has_size = false;
  bool operator==(const AllocationArguments&) const = default;
};

// Returns the arguments of a function with this mangled name, or nothing if it is not one of the
// functions.
std::optional<AllocationArguments> ArgumentsOf(std::string_view mangled);

// States what the handlers note of each object besides its count.
enum class Noted : uint8_t {
  kNothing,
  kSite,  // the site of the thread's last object (ObjectCounts::last)
  kMark,  // that, and the index of its node in the object (ObjectMarks)
};

class AllocationProbe {
 public:
  // Finds the functions. Fails if libjvm.so has no symbols, or if the VM lacks the flag or a field
  // that the handlers read.
  static Result<AllocationProbe> Find(const LibjvmImage& image, const VmStructs& structs);

  // Makes the VM's functions count in `session`, which has begun, or do nothing. `woven` is whether
  // methods count themselves. Requires that none is running, as in Agent_OnLoad, or CheckLate.
  // After an error nothing has been changed. kMark requires `marks`.
  Result<void> Count(engine::Session& session, bool woven, Noted noted,
                     const std::optional<ObjectMarks>& marks) const;
  Result<void> Ignore() const;
  // Sets the flag: whether the VM calls the functions. Code that it has generated before stays as
  // it is (late_allocations.h).
  void Report(bool report) const;
  // Fails if the functions cannot be changed while the program runs.
  Result<void> CheckLate() const;

 private:
  explicit AllocationProbe(ObjectLayout layout) : layout_(layout) {}
  Result<void> RedirectAll(const std::function<uint64_t(const AllocationArguments&)>& to) const;

  struct Target {
    uint64_t address;
    AllocationArguments arguments;
  };
  std::vector<Target> targets_;
  ObjectLayout layout_;
  uint8_t* flag_ = nullptr;
};

}  // namespace jprof::hotspot
