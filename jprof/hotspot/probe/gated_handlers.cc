#include "jprof/hotspot/probe/handler_functions.h"

namespace jprof::hotspot {

// The handlers for a focus are right without one, too.
Handlers GatedHandlersFor(engine::RecordingKind kind, bool beside_hooks) {
  return engine::Visit(kind, /*train=*/false, [&]<class R>() {
    if constexpr (R::kTrain)
      return InertHandlers();  // trainers have no gates
    else if (beside_hooks)
      return ChooseThreads<R, engine::JavaFramesBesideHooks, true, true>();
    else
      return ChooseThreads<R, engine::JavaFrames, true, true>();
  });
}

}  // namespace jprof::hotspot
