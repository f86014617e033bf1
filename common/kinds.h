// Lists the modes of recordings and the kinds of probes, with their names in meta.json.
#pragma once

#include <cstdint>
#include <string_view>

namespace jprof {

// kTprof writes the log of jitted code and nothing else. kScs samples stacks. kLocks counts locks
// in a tree of woven calls, and kObjects counts calls and allocated objects.
enum class Mode : uint8_t { kCalltree, kCallflow, kTrace, kTprof, kScs, kLocks, kObjects };

// Returns the name of the mode, which is also that of the command that records in it.
constexpr std::string_view NameOf(Mode mode) {
  constexpr std::string_view kNames[] = {"calltree", "callflow", "trace",  "tprof",
                                         "scs",      "locks",    "objects"};
  return kNames[static_cast<uint8_t>(mode)];
}

// States what records entries and exits: kHotspot the DTrace probes of HotSpot, kJvmti the events
// of JVMTI, kWoven the methods' own bytecode, kHooks and kSleds functions of C and C++ that were
// compiled with calls (-finstrument-functions) or with space for them (XRay).
enum class ProbeKind : uint8_t { kNone, kHotspot, kJvmti, kWoven, kHooks, kSleds };

// Returns the name of the kind.
constexpr std::string_view NameOf(ProbeKind kind) {
  constexpr std::string_view kNames[] = {"none", "hotspot", "jvmti", "woven", "hooks", "sleds"};
  return kNames[static_cast<uint8_t>(kind)];
}

}  // namespace jprof
