#include "jprof/hotspot/objects/allocation_handlers.h"

#include <optional>

#include "jprof/engine/method_cache.h"
#include "jprof/engine/rare_work.h"
#include "jprof/engine/woven.h"
#include "jprof/hotspot/objects/object_counts.h"

namespace jprof::hotspot {
namespace {

using engine::Thread;

// It is global, because the VM passes nothing but the object.
struct AllocationGlobals {
  engine::Session* session = nullptr;
  std::optional<ObjectLayout> layout;
};
AllocationGlobals globals;

// Returns a number that identifies the current context of the thread.
template <bool kWoven>
[[gnu::always_inline]] inline uint64_t CurrentPlace(const Thread& thread) {
  if constexpr (!kWoven) return reinterpret_cast<uint64_t>(thread.cursor.top[-1].node);
  const uint64_t* const place = thread.woven_current;
  return place != nullptr ? __atomic_load_n(place, __ATOMIC_RELAXED) : 0;
}

[[gnu::always_inline]] inline void Add(ObjectCounts& counts, const AllocationSite& site,
                                       uint64_t bytes) {
  *site.bytes += static_cast<int64_t>(bytes);
  ++*site.objects;
  counts.seen += bytes;
}

// Returns the size of an object. The VM's own code passes it; generated code does not.
[[gnu::always_inline]] inline uint64_t BytesOf(uint64_t object, const ObjectSize& size,
                                               uint64_t words) {
  return words != 0 ? words * sizeof(uint64_t) : globals.layout->BytesOf(object, size);
}

// Returns the counts of the calling thread, which are created at its first object. Returns null if
// it is not recorded.
template <bool kWoven>
ObjectCounts* CountsOfThread() {
  Thread* const thread = globals.session->threads().CurrentThreadUntilExit();
  if (thread == nullptr) {
    globals.session->LostEvent();
    return nullptr;
  }
  if (!engine::HandleAttention(*thread)) return nullptr;
  ObjectCounts* counts = ObjectCounts::Of(*thread);
  if (counts != nullptr) return counts;
  globals.layout->ReadEncoding();
  counts = ObjectCounts::Make(*thread, kWoven);
  if (counts == nullptr) globals.session->LostEvent();
  return counts;
}

// Counts an object in any case: that of a context and class that are not remembered, or the first
// of the thread.
template <bool kWoven>
[[gnu::noinline, gnu::cold]] void CountSlow(uint64_t object, uint64_t words) {
  const engine::RareWork work;
  ObjectCounts* const counts = CountsOfThread<kWoven>();
  if (counts == nullptr) return;
  Thread& thread = *engine::current_thread;
  profile::Node* const context = engine::CurrentNode(thread);
  if (context == nullptr) return;  // not recorded
  const AllocationSite& site =
      counts->AddSite(thread, *globals.layout, CurrentPlace<kWoven>(thread), context,
                      globals.layout->KlassOf(object));
  Add(*counts, site, BytesOf(object, site.size, words));
}

template <bool kWoven>
[[gnu::always_inline]] inline int Count(uint64_t object, uint64_t words) {
  const Thread* const thread = engine::current_thread;
  if (thread == nullptr || engine::AttentionOf(*thread) != 0) [[unlikely]]
    return CountSlow<kWoven>(object, words), 0;
  ObjectCounts* const counts = ObjectCounts::Of(*thread);
  if (counts == nullptr) [[unlikely]]
    return CountSlow<kWoven>(object, words), 0;
  const ObjectLayout& layout = *globals.layout;
  const uint64_t klass = layout.KlassOf(object), place = CurrentPlace<kWoven>(*thread);
  AllocationSite& site = counts->SiteFor(place, klass);
  if (site.klass != klass || site.place != place || site.name != layout.NameOf(klass)) [[unlikely]]
    return CountSlow<kWoven>(object, words), 0;
  Add(*counts, site, BytesOf(object, site.size, words));
  return 0;
}

template <bool kWoven>
int OnObject(uint64_t object) {
  return Count<kWoven>(object, 0);
}
template <bool kWoven>
int OnObjectOfThread(uint64_t, uint64_t object) {
  return Count<kWoven>(object, 0);
}
template <bool kWoven>
int OnSizedObject(uint64_t, uint64_t object, uint64_t words) {
  return Count<kWoven>(object, words);
}

template <bool kWoven>
uint64_t HandlerFor(AllocationArguments arguments) {
  if (!arguments.has_thread) return reinterpret_cast<uint64_t>(OnObject<kWoven>);
  return arguments.has_size ? reinterpret_cast<uint64_t>(OnSizedObject<kWoven>)
                            : reinterpret_cast<uint64_t>(OnObjectOfThread<kWoven>);
}

int Ignore() { return 0; }

}  // namespace

void SetAllocationGlobals(engine::Session& session, const ObjectLayout& layout) {
  globals.session = &session;
  globals.layout.emplace(layout);
  globals.layout->ReadEncoding();  // known if the VM runs already
}

uint64_t AllocationHandler(AllocationArguments arguments, bool woven) {
  return woven ? HandlerFor<true>(arguments) : HandlerFor<false>(arguments);
}

uint64_t InertAllocationHandler() { return reinterpret_cast<uint64_t>(Ignore); }

}  // namespace jprof::hotspot
