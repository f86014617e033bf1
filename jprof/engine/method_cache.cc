#include "jprof/engine/method_cache.h"

#include <algorithm>
#include <bit>

#include "common/mapped_memory.h"
#include "jprof/engine/gate/gated_events.h"
#include "jprof/engine/thread_memory.h"

namespace jprof::engine {
namespace {

constexpr uint32_t kMostBuckets = 1 << 18;

// Updates the type of a method that was compiled anew: it enters from another address.
void Reclassify(CachedMethod& cached, MethodSource& source, uint64_t return_address) {
  if (cached.return_address == static_cast<uint32_t>(return_address)) return;
  cached.return_address = static_cast<uint32_t>(return_address);
  if (profile::TypeOf(cached.ref) == FrameKind::kNative) return;
  cached.ref = profile::PackMethod(source.Classify(return_address), profile::MethodOf(cached.ref));
}

// Copies an entry into the first empty place of its bucket, if there is one.
void Copy(const CachedMethod& cached, MethodBucket& bucket) {
  for (CachedMethod& entry : bucket.entry) {
    if (entry.method != 0) continue;
    entry = cached;
    return;
  }
}

}  // namespace

CachedMethod* MethodCache::Resolve(Thread& thread, uint64_t method, uint64_t return_address) {
  MethodSource& source = sources_.Of(method);
  if (CachedMethod* const cached = FindAnyCached(thread, method)) {
    Reclassify(*cached, source, return_address);
    return cached;
  }
  const MethodTable::Id id = table_.Find(source, method);
  const FrameKind type = id.is_native ? FrameKind::kNative : source.Classify(return_address);
  const uint64_t key = table_.IsSelected(id.id) ? method | kWatchedBit : method;
  return Put(thread,
             {key, profile::PackMethod(type, id.id), static_cast<uint32_t>(return_address)});
}

CachedMethod* MethodCache::Add(Thread& thread, MethodSource& source, uint64_t method) {
  const profile::MethodId id = table_.Find(source, method).id;
  return Put(thread, {method, profile::PackMethod(FrameKind::kNone, id), 0});
}

CachedMethod* MethodCache::Put(Thread& thread, const CachedMethod& method) {
  MethodBucket* bucket = &thread.buckets[BucketOf(thread, method.method)];
  if (bucket->entry[3].method != 0 && Grow(thread)) {
    bucket = &thread.buckets[BucketOf(thread, method.method)];
  }
  std::move_backward(bucket->entry, bucket->entry + 3, bucket->entry + 4);
  bucket->entry[0] = method;
  ++thread.method_count;
  return &bucket->entry[0];
}

bool MethodCache::Grow(Thread& thread) {
  const uint32_t old_count = BucketCount(thread);
  // Below a load factor of 1/4 a full bucket is clustering: growing would not help.
  if (old_count >= kMostBuckets || thread.method_count < old_count) return false;
  auto* const buckets = MapArray<MethodBucket>(old_count * 2);
  if (buckets == nullptr) return false;
  MethodBucket* const old = thread.buckets;
  thread.buckets = buckets;
  --thread.bucket_shift;
  for (uint32_t i = 0; i < old_count; ++i) {
    for (const CachedMethod& cached : old[i].entry) {
      if (cached.method != 0) Copy(cached, buckets[BucketOf(thread, cached.method)]);
    }
  }
  if (old == FirstBuckets(thread)) return true;
  if (sources_.has_functions()) {  // the handler of a signal may have interrupted a search there
    thread.outgrown_buckets[std::countr_zero(old_count / kFirstBuckets)] = old;
  } else {
    UnmapArray(old, old_count);
  }
  return true;
}

bool HandleAttention(Thread& thread) {
  const uint32_t attention = __atomic_load_n(&thread.attention, __ATOMIC_ACQUIRE);
  if (attention & kNotRecorded) return false;
  if (attention & kResume) Resume(thread);
  if (attention & kForgetMethods) {
    __atomic_fetch_and(&thread.attention, ~uint32_t{kForgetMethods}, __ATOMIC_ACQ_REL);
    std::fill_n(thread.buckets, BucketCount(thread), MethodBucket{});
    thread.method_count = 0;
    ++thread.forgets;
    if (ThreadExtension* const extension = thread.extension)
      std::fill_n(static_cast<char*>(extension->found), extension->found_bytes, 0);
  }
  return true;
}

}  // namespace jprof::engine
