// Contains the hooks that are called now. They are global, because the compiler's calls have no
// other argument than a function.
#pragma once

#include "jprof/hookit/handlers.h"

namespace jprof::hookit {

extern Handlers current_handlers [[gnu::visibility("hidden")]];

}  // namespace jprof::hookit
