// The process context that a program publishes for profilers: a mapping of its memory, named
// OTEL_CTX, with attributes such as service.name (OpenTelemetry's OTEP 4719). The agent copies it
// when a recording ends; readers of profiles decode it.
#pragma once

#include <cstdint>
#include <string>

namespace jprof::profile {

// The file of a profile with the published bytes, a message ProcessContext of
// opentelemetry-proto.
inline constexpr char kProcessContextFile[] = "process_context";

// Returns the bytes that a process has published, or none. `pid` is procfs::kSelf for the calling
// process. Requires permission to read the memory of the process.
std::string PublishedContext(uint32_t pid);

// Writes the calling process's context into a profile. Does nothing if there is none, if it cannot
// be written, or if memory is short: a recording does not depend on it.
void KeepProcessContext(const std::string& directory);

}  // namespace jprof::profile
