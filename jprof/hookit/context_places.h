// Says where the calling contexts of this process's threads are in memory, to a recorder outside it.
#pragma once

namespace jprof::hookit {

// Calls jprof_announce_context, at which a recorder has a probe. Call it when a recording begins.
// Does nothing else, and costs a call if nobody listens.
void AnnounceContext();

}  // namespace jprof::hookit
