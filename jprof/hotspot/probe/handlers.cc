#include "jprof/hotspot/probe/handlers.h"

#include "jprof/hotspot/probe/handler_functions.h"

namespace jprof::hotspot {

ProbeGlobals probe_globals;

namespace {

template <class R, class Frames>
Handlers ChooseFocus(bool focused) {
  return focused ? ChooseThreads<R, Frames, true, false>()
                 : ChooseThreads<R, Frames, false, false>();
}

int Nothing(char*, void*) { return 0; }

}  // namespace

Handlers InertHandlers() { return {Nothing, Nothing}; }

void SetInterpreter(uint64_t begin, uint64_t bytes) {
  probe_globals.interpreter_begin = begin;
  probe_globals.interpreter_bytes = bytes;
}

Handlers HandlersFor(engine::RecordingKind kind, Probing probing, ThreadMarks thread_marks) {
  probe_globals.marks = thread_marks;
  if (probing.gated) return GatedHandlersFor(kind, probing.beside_hooks);
  return engine::Visit(kind, probing.train, [&]<class R>() {
    if constexpr (R::kTrain)  // trainers have no focus and no hooks
      return ChooseThreads<R, engine::JavaFrames, false, false>();
    else if (probing.beside_hooks)
      return ChooseFocus<R, engine::JavaFramesBesideHooks>(probing.focused);
    else
      return ChooseFocus<R, engine::JavaFrames>(probing.focused);
  });
}

}  // namespace jprof::hotspot
