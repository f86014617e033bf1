// The relations of locks (profile::LockEdge) that a recording has so far. Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "profile/files/layout.h"
#include "profile/files/writer.h"

namespace jprof::agent {

class LockEdges {
 public:
  // Of two nodes, this many pairs of objects are kept that were taken in an order.
  static constexpr uint32_t kMostObjects = 8;

  // Requires that `writer`, which has the file of locks, outlives this object.
  explicit LockEdges(profile::Writer& writer) : writer_(writer) {}

  // Adds one event to the edge, which is created if necessary. Returns whether an order of these
  // two nodes need not be added again, because it has enough pairs of objects or there is no space.
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

  profile::Writer& writer_;
  std::mutex lock_;
  std::unordered_map<Key, profile::LockEdge*, Hash> edges_;
  std::unordered_map<uint64_t, uint32_t> objects_;  // pairs of objects, by nodes of an order
};

}  // namespace jprof::agent
