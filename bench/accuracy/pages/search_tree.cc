// Looks keys up in a B+-tree whose nodes have 64 keys: one block of memory for all leaves, one for
// each level above, one for the values. Arguments: MiB of arrays, thousands of look-ups.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "random_numbers.h"

namespace {

constexpr size_t kInNode = 64;

// Returns the last key of the node that is not greater, or its first one.
size_t Step(const std::vector<uint64_t>& level, size_t node, uint64_t key) {
  const auto begin = level.begin() + static_cast<std::ptrdiff_t>(node * kInNode);
  const auto end =
      level.begin() + static_cast<std::ptrdiff_t>(std::min((node + 1) * kInNode, level.size()));
  const auto after = std::upper_bound(begin, end, key);
  return static_cast<size_t>((after == begin ? begin : after - 1) - level.begin());
}

std::vector<uint64_t> FirstKeysOf(const std::vector<uint64_t>& level) {
  std::vector<uint64_t> keys((level.size() + kInNode - 1) / kInNode);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = level[i * kInNode];
  return keys;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const size_t bytes = std::strtoull(arguments[1], nullptr, 10) << 20;
  const size_t lookups = std::strtoull(arguments[2], nullptr, 10) * 1000;
  const size_t size = bytes / 16 - bytes / 1024;
  std::vector<uint64_t> leaves(size);
  std::vector<uint64_t> values(size);
  for (size_t i = 0; i < size; ++i) leaves[i] = 3 * i;
  for (size_t i = 0; i < size; ++i) values[i] = i % 1000;
  const std::vector<uint64_t> parents = FirstKeysOf(leaves);
  const std::vector<uint64_t> upper = FirstKeysOf(parents);
  const std::vector<uint64_t> top = FirstKeysOf(upper);
  std::vector<uint64_t> found(lookups);
  uint64_t state = 88172645463325252u;
  for (size_t i = 0; i < lookups; ++i) {
    const uint64_t key = Below(&state, static_cast<uint32_t>(3 * size));
    size_t node = 0;
    while (node + 1 < (top.size() + kInNode - 1) / kInNode && top[(node + 1) * kInNode] <= key)
      ++node;
    node = Step(upper, Step(top, node, key), key);
    const size_t leaf = Step(leaves, Step(parents, node, key), key);
    // Every other look-up only asks whether there is such a key.
    found[i] = i % 2 == 0 ? values[leaf] : static_cast<uint64_t>(leaves[leaf] == key);
  }
  std::printf("%lu\n", static_cast<unsigned long>(found[lookups / 2]));
}
