// Lists the sources of calls. A new one is a class of its own and a line of OpenCallSource.
#pragma once

#include <memory>

#include "common/result.h"
#include "jprof/agent/calls/call_source.h"

namespace jprof::agent {

// Opens the source that the plan requires. Fails if this VM does not support it, with nothing
// changed. A message reports which source is used in place of a better one.
Result<std::unique_ptr<CallSource>> OpenCallSource(const CallContext& context);

}  // namespace jprof::agent
