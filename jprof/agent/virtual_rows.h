// The rows of the profile for virtual threads: on each native thread one row per name of virtual
// threads, because a sample may only write to trees of the thread that it interrupts.
#pragma once

#include <string_view>

#include "jprof/agent/sampled_thread.h"
#include "jprof/agent/virtual_names.h"
#include "jprof/engine/session.h"

namespace jprof::agent {

class VirtualRows {
 public:
  explicit VirtualRows(engine::Session& session) : session_(session) {}

  // In callbacks of the VM about the virtual thread that is mounted on the calling thread.
  void Started(std::string_view name);
  void Ended();

  // The timeline for samples of the virtual thread that is mounted on `thread`, the calling one. If
  // there is no room for one more row: the thread's own. In a signal handler, too.
  engine::Timeline& TimelineFor(engine::Thread& thread);

  // The calling thread ends: its rows are completed.
  static void End(SampledThread& sampled);

 private:
  // Of the virtual thread that is mounted on the calling thread; 0: unknown.
  uint64_t CurrentId() const;

  engine::Session& session_;
  VirtualNames names_;
};

}  // namespace jprof::agent
