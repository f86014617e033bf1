// Makes the contexts of a combined profile, with exact calls and production times.
#pragma once

#include "model/combined/combined.h"
#include "model/tree/context_tree.h"

namespace jprof::model {

// Fails if LoadCombined does.
Result<ContextTree> LoadContexts(Combined& combined);

}  // namespace jprof::model
