#include "jprof/hookit/handlers.h"

#include "jprof/engine/events.h"
#include "jprof/engine/function_events.h"

namespace jprof::hookit {
namespace {

// Records an entry. The stack pointer at the call of the hook is in the function's frame. The hooks
// that the compiler calls (hooks.cc) leave to these by a jump, so that it is still the same here.
template <class R>
void OnEntry(void* function, void*) {
  engine::Enter<R, engine::FunctionFrames>(engine::FunctionEvent(
      reinterpret_cast<uint64_t>(function), reinterpret_cast<uint64_t>(__builtin_dwarf_cfa())));
}

template <class R>
void OnExit(void* function, void*) {
  engine::Leave<R, engine::FunctionFrames>(engine::FunctionEvent(
      reinterpret_cast<uint64_t>(function), reinterpret_cast<uint64_t>(__builtin_dwarf_cfa())));
}

void Nothing(void*, void*) {}
void NoLabel(std::string_view) {}

}  // namespace

Handlers HandlersFor(engine::RecordingKind kind, bool train) {
  return engine::Visit(kind, train, []<class R>() -> Handlers {
    return {OnEntry<R>, OnExit<R>, engine::SetLabel<R>, engine::Mark<R>};
  });
}

Handlers InertHandlers() { return {Nothing, Nothing, NoLabel, NoLabel}; }

}  // namespace jprof::hookit
