// The profile's rows for virtual threads. There is one row per native thread and name of virtual
// threads, because a sample may only write to trees of the interrupted thread. With NAME_AT_SAMPLE
// the object also has the rows for the names of native threads.
#pragma once

#include <string_view>

#include "jprof/agent/sampling/sampled_thread.h"
#include "jprof/agent/sampling/virtual_names.h"
#include "jprof/engine/session.h"

namespace jprof::agent {

class VirtualRows {
 public:
  explicit VirtualRows(engine::Session& session) : session_(session) {}

  // Add and remove the virtual thread that is mounted on the calling thread. Call them in
  // callbacks of the VM.
  void Started(std::string_view name);
  void Ended();

  // Returns the timeline for samples of the virtual thread that is mounted on `thread`, the calling
  // thread. Without space for another row it is the thread's own. Can be called in signal handlers.
  engine::Timeline& TimelineFor(engine::Thread& thread);

  // Returns the timeline for samples of the calling thread under its present name, which is the
  // kernel's (15 bytes). After kMostVirtualRows - 1 names, all further ones have the row "other
  // names". Can be called in signal handlers.
  engine::Timeline& TimelineOfName(engine::Thread& thread);

  // Completes the rows of the calling thread, which is about to end.
  static void End(SampledThread& sampled);

 private:
  // Returns the id of the virtual thread that is mounted on the calling thread, or 0 if it
  // is unknown.
  uint64_t CurrentId() const;
  engine::Timeline& RowFor(engine::Thread& thread, const char* name, const char* shown,
                           uint32_t flags);

  engine::Session& session_;
  VirtualNames names_;
};

}  // namespace jprof::agent
