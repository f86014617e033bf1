// Identifies events: an id for ever for each layer::class::name and version, and a hash of what
// records of that version contain. A file of both, which is kept beside a specification, shows when
// fields were changed without a new version. All functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"
#include "events/spec/specification.h"

namespace jprof::events {

// Returns layer::class::name.
std::string FullName(const Specification& specification, const EventClass& of, const Event& event);

// Returns the id in records and in metadata: FNV-1a of "layer::class::name#version", never 0.
uint32_t EventId(std::string_view full_name, uint32_t version);

// Returns a hash of the names, types, units, values and order of the fields and written contexts.
// Documentation does not change it.
uint64_t FieldsHash(const Event& event);

// Returns a line for each event: its id, FieldsHash, full name and version.
std::string IdentityLines(const Specification& specification);

// Compares a specification with the lines that were kept (of this or of more specifications).
// Fails if an event has other fields than the kept line of its version, or has no line; the message
// says what to do. Lines of versions that the specification no longer has are ignored.
Result<void> CheckIdentities(const Specification& specification, std::string_view kept);

}  // namespace jprof::events
