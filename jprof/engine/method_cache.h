// Maps methods to their references by a cache of each thread, which only the thread itself may use.
// A lookup is on the fast path. What a cache does not contain is resolved by MethodCache: it may
// take locks, but never waits for the VM.
#pragma once

#include <cstdint>

#include "jprof/engine/method_table.h"
#include "jprof/engine/thread.h"

namespace jprof::engine {

// Maps a method to its id and type. Four are in a cache line.
struct CachedMethod {
  // Of a method that is selected (MethodTable::IsSelected) it has kWatchedBit, so that no event
  // finds it on the fast path.
  uint64_t method = 0;
  profile::MethodRef ref{};
  // The low half of that of its latest entry probe, which changes if the method is compiled anew.
  uint32_t return_address = 0;
};

struct alignas(64) MethodBucket {
  CachedMethod entry[4];
};

// Return the index of the bucket that a method belongs to, and the number of buckets.
[[gnu::always_inline]] inline uint32_t BucketOf(const Thread& thread, uint64_t method) {
  return static_cast<uint32_t>((method * 0x9e3779b97f4a7c15ull) >> thread.bucket_shift);
}
inline uint32_t BucketCount(const Thread& thread) { return 1u << (64 - thread.bucket_shift); }

// Returns the cached entry, or null if there is none.
[[gnu::always_inline]] inline CachedMethod* FindCached(const Thread& thread, uint64_t method) {
  MethodBucket& bucket = thread.buckets[BucketOf(thread, method)];
  if (bucket.entry[0].method == method) [[likely]]
    return &bucket.entry[0];
  if (bucket.entry[1].method == method) return &bucket.entry[1];
  if (bucket.entry[2].method == method) return &bucket.entry[2];
  if (bucket.entry[3].method == method) return &bucket.entry[3];
  return nullptr;
}

// Does the same for any method, also for a watched one.
inline CachedMethod* FindAnyCached(const Thread& thread, uint64_t method) {
  CachedMethod* const cached = FindCached(thread, method);
  return cached != nullptr ? cached : FindCached(thread, method | kWatchedBit);
}

// Finds what describes a method of a session.
struct MethodSources {
  MethodSource* vm = nullptr;         // of methods, and of functions without a source of their own
  MethodSource* functions = nullptr;  // of functions of C and C++ (kFunctionBit), if any
  MethodSource* sites = nullptr;      // of sites in methods; kinds of recording with kSites have it

  bool has_functions() const { return functions != nullptr; }
  MethodSource& Of(uint64_t method) const {
    return has_functions() && (method & kFunctionBit) != 0 ? *functions : *vm;
  }
};

// Fills the caches of a session's threads.
class MethodCache {
 public:
  MethodCache(MethodTable& table, const MethodSources& sources)
      : table_(table), sources_(sources) {}

  // Returns the entry of a method, with the type of the code that contains `return_address`.
  CachedMethod* Resolve(Thread& thread, uint64_t method, uint64_t return_address);
  // Adds a method of any source, which is not in the cache. Its method reference has no type.
  CachedMethod* Add(Thread& thread, MethodSource& source, uint64_t method);

 private:
  CachedMethod* Put(Thread& thread, const CachedMethod& method);
  bool Grow(Thread& thread);

  MethodTable& table_;
  const MethodSources& sources_;
};

// Does what has been requested of the thread: empties its cache, resumes. Returns false if the
// thread is not to be recorded.
bool HandleAttention(Thread& thread);

}  // namespace jprof::engine
