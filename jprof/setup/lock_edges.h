// The relations of locks (profile::LockEdge) that a recording has so far. Thread-safe, also if a
// signal handler leaves by a jump. It does not call malloc, because the lock may be one of the
// program's malloc.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <unordered_map>

#include "common/sleep_lock.h"
#include "profile/files/layout.h"
#include "profile/files/lock_edge.h"
#include "profile/files/writer.h"

namespace jprof::setup {

class LockEdges {
 public:
  // Of two nodes, this many pairs of objects are kept that were taken in an order.
  static constexpr uint32_t kMostObjects = 8;

  // Requires that `writer`, which has the file of locks, outlives this object.
  explicit LockEdges(profile::Writer& writer) : writer_(writer) {}

  // Adds one event to the edge, which is created if necessary. If there is no space, it is counted
  // as lost. Returns whether an order of these two nodes need not be added again, because it has
  // enough pairs of objects or there is no space.
  bool Add(const profile::LockEdge& event);

 private:
  struct Key {
    uint64_t nodes, objects;
    profile::LockEdgeKind kind;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };

  // Takes memory in mappings of its own.
  class Mappings final : public std::pmr::memory_resource {
    void* do_allocate(size_t bytes, size_t alignment) override;
    void do_deallocate(void* memory, size_t bytes, size_t alignment) override;
    bool do_is_equal(const memory_resource& other) const noexcept override {
      return this == &other;
    }
  };

  // Returns whether these are the nodes of an order that has enough pairs of objects.
  bool HasAll(const Key& key) const;
  // Returns false if there is no space.
  bool AddNew(const Key& key, const profile::LockEdge& event);

  profile::Writer& writer_;
  SleepLock lock_;
  Mappings mappings_;
  std::pmr::monotonic_buffer_resource memory_{size_t{1} << 16, &mappings_};
  std::pmr::unordered_map<Key, profile::LockEdge*, Hash> edges_{&memory_};
  // Pairs of objects, by nodes of an order.
  std::pmr::unordered_map<uint64_t, uint32_t> objects_{&memory_};
};

}  // namespace jprof::setup
