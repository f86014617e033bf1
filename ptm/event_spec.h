// One counted event as the kernel knows it, and the string that carries it from the launcher, which
// knows names (ptm/names), to the agent, which does not. Pure; nothing throws but for want of
// memory.
//
// The string: raw:TYPE:CONFIG:CONFIG1:CONFIG2:EXCLUDE:NAME, numbers in hex without 0x. In NAME the
// bytes that separate things in an option string or an environment variable ('+' ',' '=' '%',
// blanks, controls) are written %XX; a ':' is not, NAME being the rest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"

namespace jprof::ptm {

// Bits of EventSpec::exclude: what perf_event_attr's exclude_* flags say.
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

// Kept by the kernel, not by a counter: exact, always there, read by a system call.
bool IsSoftware(const EventSpec& event);

inline constexpr std::string_view kEncodedPrefix = "raw:";
std::string EncodeMetric(const EventSpec& event);

// The inverse. Error (exit code 2): not an encoded metric, a number out of range, an empty name.
Result<EventSpec> DecodeMetric(std::string_view text);

}  // namespace jprof::ptm
