// The mappings of each process over time. A process exists from its fork to its exit; an exec
// begins another *life*, with nothing mapped. A forked child refers to the state of its parent, so
// that a fork costs nothing.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "a2n/a2n.h"
#include "a2n/span_index.h"

namespace jprof::a2n {

class AddressSpaces {
 public:
  // The mapping and the code that contain the address at the given time. Either may be missing. Ids
  // are the caller's.
  struct Found {
    const Span* mapping = nullptr;
    const Span* code = nullptr;
    // Whether the address is in the range of this life's jitted code, even if no code contains it.
    bool near_code = false;
  };

  void Fork(Pid parent, Pid child, Nanos when);
  void Exec(Pid pid, Nanos when);
  void Exit(Pid pid, Nanos when);
  void Map(Pid pid, Nanos when, uint64_t start, uint64_t end, uint32_t id);
  // Adds code. A `loaded` of kAlways means since the newest known life began.
  void Jitted(Pid pid, const JittedCode& code, uint32_t id);

  Found Find(Pid pid, uint64_t address, Nanos when) const;

 private:
  struct Life {
    Nanos since = kAlways, until = kForever;
    Pid parent = 0;
    bool forked = false;  // it inherited the mappings of `parent` at `since`
    uint32_t depth = 0;   // the number of forks before it
    SpanIndex mappings;
  };
  // Code is kept per process, not per life: it may be added before the exec that separates two
  // lives.
  struct Process {
    std::vector<Life> lives;  // by time
    SpanIndex code;
    uint64_t lowest = ~uint64_t{0}, highest = 0;  // addresses of code
    Nanos first_loaded = kForever, last_loaded = 0;
  };

  static void BeginLife(Process& process, Life life);
  static const Life* LifeAt(const Process& process, Nanos when);
  Process& ProcessOf(Pid pid);
  const Process* Known(Pid pid) const;
  void CopyInto(Life& life, const Process& parent, Nanos when) const;

  std::unordered_map<Pid, Process> processes_;
  mutable Pid last_pid_ = 0;  // of the last lookup: consecutive lookups are often of one process
  mutable const Process* last_ = nullptr;
};

}  // namespace jprof::a2n
