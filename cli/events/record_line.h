// Writes a record of an event as a line. Pure.
#pragma once

#include <string>

#include "events/read/clock.h"
#include "events/read/trace.h"

namespace jprof::cli {

// "2026-11-28T10:13:24.123456789Z 12/13 shop::orders::order_begin number=1 customer="Ada""
std::string TextLine(const events::Record& record, events::UnixTime time);
// The same as an object of JSON.
std::string JsonLine(const events::Record& record, events::UnixTime time);

}  // namespace jprof::cli
