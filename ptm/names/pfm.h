// Resolves libpfm4's part of the names to the kernel's encoding. The library is initialised at
// first use.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "ptm/event_spec.h"

namespace jprof::ptm::pfm {

enum class Answer { kFound, kUnknown, kBadModifier, kFailed };

struct Encoded {
  Answer answer = Answer::kFailed;
  EventSpec spec;      // its name is empty
  std::string native;  // full spelling
  std::string reason;  // libpfm4's message, unless found
};

// Resolves `name`, which is in libpfm4's spelling and case-insensitive. A hardware event without
// modifiers counts user mode only.
Encoded Encode(const std::string& name);

// Returns the modifiers that this event takes, e.g. {"READ", "MISS", "u", "k"}. They are empty if
// there is no such event.
std::vector<std::string> Modifiers(const std::string& name);

std::string Description(const std::string& name);  // empty if there is no such event

// Returns the events of the kernel and of this CPU, as PMU::EVENT or, where a unit mask is
// needed, PMU::EVENT:UMASK.
std::vector<std::string> EventNames();

}  // namespace jprof::ptm::pfm
