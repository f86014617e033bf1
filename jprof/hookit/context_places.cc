#include "jprof/hookit/context_places.h"

#include <cstddef>

#include "jprof/engine/thread.h"
#include "jprof/engine/woven.h"
#include "profile/files/context_places.h"

namespace {
const jprof_context_places* last_announced = nullptr;  // keeps the call below from being removed
}  // namespace

// The recorder finds this function by its name, and reads the places when it is called.
extern "C" [[gnu::noinline, gnu::visibility("default")]] void jprof_announce_context(
    const jprof_context_places* places) {
  __atomic_store_n(&last_announced, places, __ATOMIC_SEQ_CST);
}

namespace jprof::hookit {

void AnnounceContext() {
  using engine::Frame, engine::Thread;
  const auto* thread_pointer = static_cast<const char*>(__builtin_thread_pointer());
  static jprof_context_places places;
  places = {
      .current_thread = reinterpret_cast<const char*>(&engine::current_thread) - thread_pointer,
      .nodes = offsetof(Thread, nodes),
      .woven_current = offsetof(Thread, woven_current),
      .woven_origin = engine::woven_origin,
      .top = offsetof(Thread, cursor) + offsetof(engine::Cursor, top),
      .frame_node =
          static_cast<int64_t>(offsetof(Frame, node)) - static_cast<int64_t>(sizeof(Frame)),
      .node_bytes = sizeof(profile::Node),
      .most_bytes = uint64_t{1} << 38,
  };
  jprof_announce_context(&places);
}

}  // namespace jprof::hookit
