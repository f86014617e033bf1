// Tells a recorder outside this process where the calling contexts of its threads are in memory.
#pragma once

namespace jprof::hookit {

// Calls jprof_announce_context, at which a recorder has a probe. Call it when a recording begins.
// Does nothing else, and costs a call if nobody listens.
void AnnounceContext();

}  // namespace jprof::hookit
