#include "heap/graph/object_ids.h"

#include <algorithm>

#include "common/flat_map.h"

namespace jprof::heap {

ObjectIds::ObjectIds(const LazyArray<uint64_t>& ids, uint32_t count) {
  MakeChunks(ids, count);
  MakeTable();
  Fill(ids, count);
  Count();
  duplicates_ = count - size_;
  const auto key = [&ids](uint32_t i) { return KeyOf(ids[i]); };
  bool in_order = duplicates_ == 0;
  for (uint32_t i = 1; i < count && in_order; ++i) in_order = key(i - 1) < key(i);
  if (!in_order) Number(ids, count);
}

// Makes empty chunks, sorted by their keys, with room for all ids.
void ObjectIds::MakeChunks(const LazyArray<uint64_t>& ids, uint32_t count) {
  FlatMap known;
  uint32_t last = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t key = KeyOf(ids[i]) >> kLowBits;
    if (chunks_.empty() || chunks_[last].key != key) {
      last = known.FindOrAdd(key, static_cast<uint32_t>(chunks_.size()));
      if (last == chunks_.size()) chunks_.push_back({.key = key});
    }
    ++chunks_[last].count;
  }
  std::ranges::sort(chunks_, {}, &Chunk::key);
  uint64_t words = 0, lows = 0;
  for (Chunk& chunk : chunks_) {
    chunk.is_dense = chunk.count >= kDense;
    chunk.place = chunk.is_dense ? words : lows;
    (chunk.is_dense ? words : lows) += chunk.is_dense ? kWords : chunk.count;
  }
  words_ = LazyArray<uint64_t>(words);
  before_ = LazyArray<uint16_t>(words / kBlock);
  lows_ = LazyArray<uint16_t>(lows);
}

void ObjectIds::MakeTable() {
  if (chunks_.empty()) return;
  const uint64_t range = chunks_.back().key - chunks_.front().key;
  if (range > 4 * chunks_.size() + (1 << 20)) return;
  table_.resize(range + 1);
  for (uint32_t i = 0; i < chunks_.size(); ++i)
    table_[chunks_[i].key - chunks_.front().key] = i + 1;
}

void ObjectIds::Fill(const LazyArray<uint64_t>& ids, uint32_t count) {
  for (Chunk& chunk : chunks_) chunk.count = 0;
  Chunk* chunk = nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t key = KeyOf(ids[i]);
    if (chunk == nullptr || chunk->key != key >> kLowBits)
      chunk = const_cast<Chunk*>(FindChunk(key >> kLowBits));
    const auto low = static_cast<uint16_t>(key);
    if (chunk->is_dense) {
      words_[chunk->place + low / 64] |= uint64_t{1} << (low % 64);
    } else {
      lows_[chunk->place + chunk->count++] = low;
    }
  }
}

// Removes duplicates, and computes the ranks at which chunks and blocks begin.
void ObjectIds::Count() {
  for (Chunk& chunk : chunks_) {
    chunk.first_rank = size_;
    if (!chunk.is_dense) {
      uint16_t* const first = lows_.begin() + chunk.place;
      std::sort(first, first + chunk.count);
      chunk.count = static_cast<uint32_t>(std::unique(first, first + chunk.count) - first);
    } else {
      for (size_t word = 0; word < kWords; ++word) {
        if (word % kBlock == 0)
          before_[(chunk.place + word) / kBlock] = static_cast<uint16_t>(chunk.count);
        chunk.count += static_cast<uint32_t>(std::popcount(words_[chunk.place + word]));
      }
    }
    size_ += chunk.count;
  }
}

void ObjectIds::Number(const LazyArray<uint64_t>& ids, uint32_t count) {
  numbers_ = LazyArray<uint32_t>(size_);
  for (uint32_t i = count; i-- > 0;) numbers_[RankOf(ids[i])] = i;
}

const ObjectIds::Chunk* ObjectIds::SearchChunk(uint64_t key) const {
  const auto found = std::ranges::lower_bound(chunks_, key, {}, &Chunk::key);
  return found != chunks_.end() && found->key == key ? &*found : nullptr;
}

uint32_t ObjectIds::SparseRank(const Chunk& chunk, uint32_t low) const {
  const uint16_t* const first = lows_.begin() + chunk.place;
  const uint16_t* const last = first + chunk.count;
  const uint16_t* const found = std::lower_bound(first, last, low);
  if (found == last || *found != low) return kNone;
  return chunk.first_rank + static_cast<uint32_t>(found - first);
}

}  // namespace jprof::heap
