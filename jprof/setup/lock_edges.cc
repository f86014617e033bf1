#include "jprof/setup/lock_edges.h"

#include <functional>
#include <new>

#include "common/mapped_memory.h"

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
  const bool is_order = event.kind == profile::LockEdgeKind::kOrder;
  const std::lock_guard guard(lock_);
  try {
    profile::LockEdge*& edge = edges_[key];
    if (edge == nullptr) {
      edge = writer_.AllocateLockEdge();
      if (edge == nullptr) return true;
      *edge = event;
      return is_order && ++objects_[key.nodes] >= kMostObjects;
    }
    edge->count += event.count;
    edge->time_ns += event.time_ns;
    return is_order && objects_[key.nodes] >= kMostObjects;
  } catch (const std::bad_alloc&) {
    return true;
  }
}

}  // namespace jprof::setup
