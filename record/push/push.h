// Sends a profile to a server of continuous profiling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/result.h"
#include "record/push/push_target.h"

namespace jprof::record {

struct PushPayload {
  std::vector<std::string> files;  // pprof; each is sent in a request of its own
  size_t deepest = 0;              // frames of the deepest stack
  std::string types;               // Pyroscope's sample_type_config
  uint64_t from = 0, until = 0;    // in seconds of the Unix epoch

  size_t Bytes() const;
};

// Returns what a server cuts or may refuse by its default limits, one line for each limit. It is
// sent all the same, because a server may have others.
std::vector<std::string> LimitWarnings(const PushTarget& target, size_t deepest);

// Sends one request for each file. Fails if a request was not answered with success; the error
// states what to do, and which parts the server has already accepted.
Result<void> Push(const PushTarget& target, const PushPayload& payload);

}  // namespace jprof::record
