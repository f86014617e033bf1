#include "jprof/setup/lock_edges.h"

#include <functional>
#include <new>

#include "common/mapped_memory.h"
#include "common/uninterrupted_lock.h"

namespace jprof::setup {
namespace {

uint64_t Pair(uint32_t from, uint32_t to) { return uint64_t{from} << 32 | to; }

}  // namespace

size_t LockEdges::Hash::operator()(const Key& key) const {
  constexpr uint64_t kMix = 0x9e3779b97f4a7c15ull;
  return std::hash<uint64_t>()((key.nodes * kMix ^ key.objects) * kMix +
                               static_cast<uint64_t>(key.kind));
}

void* LockEdges::Mappings::do_allocate(size_t bytes, size_t) {
  void* const memory = MapBytes(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void LockEdges::Mappings::do_deallocate(void* memory, size_t bytes, size_t) {
  munmap(memory, bytes);
}

bool LockEdges::Add(const profile::LockEdge& event) {
  const Key key = {Pair(event.from, event.to), Pair(event.from_object, event.to_object),
                   event.kind};
  const UninterruptedLock guard(lock_);
  if (const auto known = edges_.find(key); known != edges_.end()) {
    known->second->count += event.count;
    known->second->time_ns += event.time_ns;
    return HasAll(key);
  }
  if (HasAll(key)) return true;
  if (!AddNew(key, event)) {
    ++writer_.header()->lost_lock_edges;
    return true;
  }
  return HasAll(key);
}

bool LockEdges::HasAll(const Key& key) const {
  if (key.kind != profile::LockEdgeKind::kOrder) return false;
  const auto known = objects_.find(key.nodes);
  return known != objects_.end() && known->second >= kMostObjects;
}

bool LockEdges::AddNew(const Key& key, const profile::LockEdge& event) {
  profile::LockEdge* const edge = writer_.AllocateLockEdge();
  if (edge == nullptr) return false;
  *edge = event;
  try {
    edges_.emplace(key, edge);
    if (key.kind == profile::LockEdgeKind::kOrder) ++objects_[key.nodes];
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace jprof::setup
