// This file is compiled for general registers only (CMakeLists.txt), because a sled does not save
// vector registers.
#include "jprof/hookit/sled_handlers.h"

#include "jprof/engine/events.h"
#include "jprof/engine/function_events.h"

#if defined(__x86_64__)

namespace jprof::hookit {

extern "C" {
// These variables are used by the code of the sleds, in sled_code_x86_64.S.
SledHandler jprof_sled_enter [[gnu::visibility("hidden")]];
SledHandler jprof_sled_leave [[gnu::visibility("hidden")]];
uint8_t jprof_vector_bytes [[gnu::visibility("hidden")]] = 16;  // the size of a vector register
}

namespace {

#if defined(__clang__)
constexpr bool kGeneralRegistersOnly = false;
#else
constexpr bool kGeneralRegistersOnly = true;
#endif

template <class R>
void Enter(uint64_t function, uint64_t sp) {
  engine::Enter<R, engine::SledFrames>(engine::FunctionEvent(function, sp));
}
template <class R>
void Leave(uint64_t function, uint64_t sp) {
  engine::Leave<R, engine::SledFrames>(engine::FunctionEvent(function, sp));
}

// Records an entry by functions that may use vector registers, because they read counters.
template <class R>
int EnterCounted(uint64_t function, uint64_t sp, uint64_t, uint64_t, uint64_t, int64_t) {
  return engine::Enter<R, engine::SledFrames>(engine::FunctionEvent(function, sp));
}
template <class R>
int LeaveCounted(uint64_t function, uint64_t sp, uint64_t, uint64_t, uint64_t, int64_t) {
  return engine::Leave<R, engine::SledFrames>(engine::FunctionEvent(function, sp));
}
template <engine::ColdFunction kHandler>
void Kept(uint64_t function, uint64_t sp) {
  jprof_with_vectors_kept(function, sp, 0, 0, 0, 0, kHandler);
}

void Nothing(uint64_t, uint64_t) {}

uint8_t VectorBytes() {
  if (__builtin_cpu_supports("avx512bw")) return 64;
  return __builtin_cpu_supports("avx") ? 32 : 16;
}

void Set(SledHandler enter, SledHandler leave) {
  jprof_vector_bytes = VectorBytes();
  __atomic_store_n(&jprof_sled_leave, leave, __ATOMIC_RELEASE);
  __atomic_store_n(&jprof_sled_enter, enter, __ATOMIC_RELEASE);
}

}  // namespace

void SetSledHandlers(engine::RecordingKind kind, bool train) {
  engine::Visit(kind, train, []<class R>() {
    if constexpr (R::kCounters == engine::kNoCounters && kGeneralRegistersOnly) {
      Set(Enter<R>, Leave<R>);
    } else {
      Set(Kept<EnterCounted<R>>, Kept<LeaveCounted<R>>);
    }
  });
}

void ClearSledHandlers() { Set(Nothing, Nothing); }

}  // namespace jprof::hookit

#else  // no sled is patched

namespace jprof::hookit {

void SetSledHandlers(engine::RecordingKind, bool) {}
void ClearSledHandlers() {}

}  // namespace jprof::hookit

#endif
