// Sets traps in the code of a process, at the places where a trace begins. Nothing else changes the
// traced program's own code. Every thread of the process must be traced meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "itrace/ptrace.h"
#include "itrace/tracee.h"

namespace jprof::itrace {

class Breakpoints {
 public:
  // Sets traps at these places and removes those at others. A place that cannot be written is left
  // out.
  void Set(Tracee& tracee, const std::vector<uint64_t>& places);
  void Remove(const Tracee& tracee);
  void Forget();  // the memory does not exist any more
  // Gives the copy of the memory that a new process has the original code.
  void RemoveFrom(const Tracee& copy) const;

  bool any() const { return !original_.empty(); }
  // Returns the place of the trap that a thread executed, which may have been removed since, or 0
  // if it was none of these.
  uint64_t Hit(const Registers& registers) const;

 private:
  static constexpr size_t kBytes = 4;
  std::map<uint64_t, std::vector<uint8_t>> original_;  // by place
  std::set<uint64_t> ever_;
};

}  // namespace jprof::itrace
