// One counted event as the kernel defines it, and its text encoding. The launcher resolves names
// (ptm/names) and passes the encoding to the agent, which cannot. Pure. Throws only std::bad_alloc.
//
// The encoding is raw:TYPE:CONFIG:CONFIG1:CONFIG2:EXCLUDE:NAME, with numbers in hex without 0x. In
// NAME the separators of option strings and environment variables ('+' ',' '=' '%', blanks, control
// characters) are written as %XX. ':' is not escaped, because NAME is the last part.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"

namespace jprof::ptm {

// The bits of EventSpec::exclude, which are the exclude_* flags of perf_event_attr.
enum Exclude : uint32_t {
  kExcludeUser = 1,
  kExcludeKernel = 2,
  kExcludeHypervisor = 4,
  kExcludeHost = 8,
  kExcludeGuest = 16,
};
inline constexpr uint32_t kExcludeAll = 31;

struct EventSpec {
  std::string name;   // as the user wrote it; the metric's name in the profile
  uint32_t type = 0;  // perf_event_attr.type, config, config1, config2
  uint64_t config = 0;
  uint64_t config1 = 0;
  uint64_t config2 = 0;
  uint32_t exclude = 0;

  bool operator==(const EventSpec&) const = default;
};

// The EventSpec::type of the instructions of a thread that are counted in its own memory
// (thread_instructions.h), where there is no hardware counter. The kernel has no such type.
inline constexpr uint32_t kCountedInMemory = 0xfffffff0;

// Returns whether the kernel counts the event without a counter. Such an event is exact, always
// available and read by system call.
bool IsSoftware(const EventSpec& event);

inline constexpr std::string_view kEncodedPrefix = "raw:";
std::string EncodeMetric(const EventSpec& event);

// Inverts EncodeMetric. Fails (kWrongUse) if the text is not an encoded metric, a number is out of
// range, or the name is empty.
Result<EventSpec> DecodeMetric(std::string_view text);

}  // namespace jprof::ptm
