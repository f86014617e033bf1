#include "jprof/hotspot/objects/allocation_handlers.h"

#include <optional>

#include "common/random.h"
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
  std::optional<ObjectMarks> marks;  // with kMark
};
AllocationGlobals globals;

// Returns a number that identifies the current context of the thread.
template <bool kWoven>
[[gnu::always_inline]] inline uint64_t CurrentPlace(const Thread& thread) {
  if constexpr (!kWoven) return reinterpret_cast<uint64_t>(thread.cursor.top[-1].node);
  const uint64_t* const place = thread.woven_current;
  return place != nullptr ? __atomic_load_n(place, __ATOMIC_RELAXED) : 0;
}

template <Noted kNoted>
[[gnu::always_inline]] inline void Add(ObjectCounts& counts, const AllocationSite& site,
                                       uint64_t object, uint64_t bytes) {
  *site.bytes += static_cast<int64_t>(bytes);
  ++*site.objects;
  counts.seen += bytes;
  if constexpr (kNoted == Noted::kNothing) return;
  counts.last = &site;
  counts.last_bytes = bytes;
  if constexpr (kNoted != Noted::kMark) return;
  if (site.mark != 0) globals.marks->Mark(object, site.mark, NextRandom(counts.random));
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
template <bool kWoven, Noted kNoted>
[[gnu::noinline, gnu::cold]] void CountSlow(uint64_t object, uint64_t words) {
  const engine::RareWork work;
  ObjectCounts* const counts = CountsOfThread<kWoven>();
  if (counts == nullptr) return;
  counts->last = nullptr;
  Thread& thread = *engine::current_thread;
  profile::Node* const context = engine::CurrentNode(thread);
  if (context == nullptr) return;  // not recorded
  AllocationSite& site = counts->AddSite(thread, *globals.layout, CurrentPlace<kWoven>(thread),
                                         context, globals.layout->KlassOf(object));
  if (globals.marks) site.mark = globals.marks->BitsOf(site.node);
  Add<kNoted>(*counts, site, object, BytesOf(object, site.size, words));
}

template <bool kWoven, Noted kNoted>
[[gnu::always_inline]] inline int Count(uint64_t object, uint64_t words) {
  const Thread* const thread = engine::current_thread;
  if (thread == nullptr || engine::AttentionOf(*thread) != 0) [[unlikely]]
    return CountSlow<kWoven, kNoted>(object, words), 0;
  ObjectCounts* const counts = ObjectCounts::Of(*thread);
  if (counts == nullptr) [[unlikely]]
    return CountSlow<kWoven, kNoted>(object, words), 0;
  const ObjectLayout& layout = *globals.layout;
  const uint64_t klass = layout.KlassOf(object), place = CurrentPlace<kWoven>(*thread);
  AllocationSite& site = counts->SiteFor(place, klass);
  if (site.klass != klass || site.place != place || site.name != layout.NameOf(klass)) [[unlikely]]
    return CountSlow<kWoven, kNoted>(object, words), 0;
  Add<kNoted>(*counts, site, object, BytesOf(object, site.size, words));
  return 0;
}

template <bool kWoven, Noted kNoted>
int OnObject(uint64_t object) {
  return Count<kWoven, kNoted>(object, 0);
}
template <bool kWoven, Noted kNoted>
int OnObjectOfThread(uint64_t, uint64_t object) {
  return Count<kWoven, kNoted>(object, 0);
}
template <bool kWoven, Noted kNoted>
int OnSizedObject(uint64_t, uint64_t object, uint64_t words) {
  return Count<kWoven, kNoted>(object, words);
}

template <bool kWoven, Noted kNoted>
uint64_t HandlerFor(AllocationArguments arguments) {
  if (!arguments.has_thread) return reinterpret_cast<uint64_t>(OnObject<kWoven, kNoted>);
  return arguments.has_size ? reinterpret_cast<uint64_t>(OnSizedObject<kWoven, kNoted>)
                            : reinterpret_cast<uint64_t>(OnObjectOfThread<kWoven, kNoted>);
}

template <bool kWoven>
uint64_t HandlerFor(AllocationArguments arguments, Noted noted) {
  if (noted == Noted::kNothing) return HandlerFor<kWoven, Noted::kNothing>(arguments);
  return noted == Noted::kSite ? HandlerFor<kWoven, Noted::kSite>(arguments)
                               : HandlerFor<kWoven, Noted::kMark>(arguments);
}

int Ignore() { return 0; }

}  // namespace

void SetAllocationGlobals(engine::Session& session, const ObjectLayout& layout,
                          const std::optional<ObjectMarks>& marks) {
  globals.session = &session;
  globals.layout.emplace(layout);
  globals.layout->ReadEncoding();  // known if the VM runs already
  globals.marks = marks;
}

uint64_t AllocationHandler(AllocationArguments arguments, bool woven, Noted noted) {
  return woven ? HandlerFor<true>(arguments, noted) : HandlerFor<false>(arguments, noted);
}

uint64_t InertAllocationHandler() { return reinterpret_cast<uint64_t>(Ignore); }

}  // namespace jprof::hotspot
