#include "heap/graph/references.h"

#include <algorithm>

namespace jprof::heap {

References::References(uint32_t nodes, uint64_t bytes)
    : nodes_(nodes), bytes_(bytes), starts_(nodes / kStride + 1) {}

void References::Add(std::vector<uint32_t>& targets) {
  const uint32_t node = added_++;
  if (node % kStride == 0) starts_[node / kStride] = used_;
  std::ranges::sort(targets);
  const auto same = std::ranges::unique(targets);
  targets.erase(same.begin(), same.end());
  std::erase(targets, node);
  if (targets.empty()) return Write(kEmpty);
  for (const uint32_t& target : targets) {
    const int64_t change = int64_t{target} - int64_t{node};
    const auto distance = static_cast<uint64_t>(change << 1 ^ change >> 63);
    Write(distance << 1 | (&target == &targets.back() ? 1 : 0));
  }
}

void References::Write(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_[used_++] = static_cast<uint8_t>(value | 0x80);
  bytes_[used_++] = static_cast<uint8_t>(value);
}

}  // namespace jprof::heap
