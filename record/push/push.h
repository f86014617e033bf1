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
  std::string types;               // Pyroscope's sample_type_config
  uint64_t from = 0, until = 0;    // in seconds of the Unix epoch

  size_t Bytes() const;
};

// Sends one request for each file. Fails if a request was not answered with success; the error
// states what to do, and which parts the server has already accepted.
Result<void> Push(const PushTarget& target, const PushPayload& payload);

}  // namespace jprof::record
