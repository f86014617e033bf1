// Finds the number of an object by its id, which is its address. Ids are kept as sets of bits where
// they are dense and as sorted lists where they are not, so that a heap takes about a byte for each
// object. Objects are numbered in the order of the dump.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "heap/graph/lazy_array.h"

namespace jprof::heap {

class ObjectIds {
 public:
  ObjectIds() = default;
  // Of ids[i], i is the number. Of an id that occurs several times, the first number is found.
  ObjectIds(const LazyArray<uint64_t>& ids, uint32_t count);

  std::optional<uint32_t> Find(uint64_t id) const {
    const uint32_t rank = RankOf(id);
    if (rank == kNone) return std::nullopt;
    return numbers_.empty() ? rank : numbers_[rank];
  }

  uint32_t duplicates() const { return duplicates_; }

  // Calls visit(id, number) in the order of ids.
  template <typename Visit>
  void ForEachInOrder(Visit visit) const {
    for (const Chunk& chunk : chunks_) {
      uint32_t rank = chunk.first_rank;
      ForEachLow(chunk, [&](uint32_t low) {
        visit(IdOfKey(chunk.key << kLowBits | low), numbers_.empty() ? rank : numbers_[rank]);
        ++rank;
      });
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr int kLowBits = 16;
  static constexpr size_t kWords = 1024;                          // of a chunk
  static constexpr size_t kBlock = 8, kBlocks = kWords / kBlock;  // words whose bits are counted
  static constexpr uint32_t kDense = 1024;  // ids that make a chunk a set of bits

  // Ids that agree in all but the low bits of their keys.
  struct Chunk {
    uint64_t key = 0;
    uint32_t count = 0;
    uint32_t first_rank = 0;
    uint64_t place = 0;  // in words_ and, divided by kBlock, in before_; or in lows_
    bool is_dense = false;
  };

  // Objects are aligned to 8 bytes: their keys are dense, and others differ in the high bits.
  static uint64_t KeyOf(uint64_t id) { return std::rotr(id, 3); }
  static uint64_t IdOfKey(uint64_t key) { return std::rotl(key, 3); }

  const Chunk* FindChunk(uint64_t key) const {
    if (!table_.empty()) {
      const uint64_t at = key - chunks_.front().key;
      return at < table_.size() && table_[at] != 0 ? &chunks_[table_[at] - 1] : nullptr;
    }
    return SearchChunk(key);
  }

  uint32_t RankOf(uint64_t id) const {
    const uint64_t key = KeyOf(id);
    const Chunk* const chunk = FindChunk(key >> kLowBits);
    if (chunk == nullptr) return kNone;
    const auto low = static_cast<uint32_t>(key & ((1 << kLowBits) - 1));
    if (!chunk->is_dense) return SparseRank(*chunk, low);
    const size_t in_chunk = low / 64, word = chunk->place + in_chunk;
    const uint64_t bit = uint64_t{1} << (low % 64);
    if ((words_[word] & bit) == 0) return kNone;
    uint32_t rank = chunk->first_rank + before_[word / kBlock];
    for (size_t i = word / kBlock * kBlock; i < word; ++i)
      rank += static_cast<uint32_t>(std::popcount(words_[i]));
    return rank + static_cast<uint32_t>(std::popcount(words_[word] & (bit - 1)));
  }

  template <typename Visit>
  void ForEachLow(const Chunk& chunk, Visit visit) const {
    if (!chunk.is_dense) {
      for (uint32_t i = 0; i < chunk.count; ++i) visit(lows_[chunk.place + i]);
      return;
    }
    for (uint32_t word = 0; word < kWords; ++word) {
      for (uint64_t bits = words_[chunk.place + word]; bits != 0; bits &= bits - 1)
        visit(word * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
    }
  }

  const Chunk* SearchChunk(uint64_t key) const;
  uint32_t SparseRank(const Chunk& chunk, uint32_t low) const;
  void MakeChunks(const LazyArray<uint64_t>& ids, uint32_t count);
  void MakeTable();
  void Fill(const LazyArray<uint64_t>& ids, uint32_t count);
  void Count();
  void Number(const LazyArray<uint64_t>& ids, uint32_t count);

  std::vector<Chunk> chunks_;    // by key
  std::vector<uint32_t> table_;  // chunk + 1 by key, from the first one's on, if keys are close
  LazyArray<uint64_t> words_;
  LazyArray<uint16_t> before_;  // bits of the chunk before each block of words
  LazyArray<uint16_t> lows_;
  LazyArray<uint32_t> numbers_;  // by rank; empty if ranks are numbers
  uint32_t size_ = 0;            // distinct ids
  uint32_t duplicates_ = 0;
};

}  // namespace jprof::heap
