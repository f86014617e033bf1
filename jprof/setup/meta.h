// Collects the metadata of the profile (profile/files/meta.h).
#pragma once

#include <string>

#include "jprof/engine/session.h"
#include "options/agent_options.h"
#include "profile/files/meta.h"

namespace jprof::setup {

struct ProbeMetadata {
  ProbeKind kind = ProbeKind::kNone;
  std::string note;      // why a better probe is not used
  std::string build_id;  // of libjvm.so
};

// Returns the metadata. `jvm` is empty for a program without one, and `session` is null if no
// calls are recorded.
profile::Meta GatherMeta(profile::Jvm jvm, const options::AgentOptions& options,
                         const engine::Session* session, const ProbeMetadata& probe);

}  // namespace jprof::setup
