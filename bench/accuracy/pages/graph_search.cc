// Searches a random graph breadth first. Arguments: MiB of arrays, searches.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "random_numbers.h"

namespace {
constexpr uint32_t kDegree = 6;
constexpr uint32_t kFar = ~0u;
}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const size_t bytes = std::strtoull(arguments[1], nullptr, 10) << 20;
  const auto nodes = static_cast<uint32_t>(bytes / (4 * (kDegree + 4)));
  std::vector<uint32_t> begins(nodes + 1);
  std::vector<uint32_t> edges(size_t{nodes} * kDegree);
  std::vector<uint32_t> distances(nodes);
  std::vector<uint32_t> parents(nodes);
  std::vector<uint32_t> queue(nodes);
  uint64_t state = 88172645463325252u;
  for (uint32_t node = 0; node < nodes; ++node) begins[node + 1] = (node + 1) * kDegree;
  for (uint32_t& edge : edges) edge = Below(&state, nodes);
  for (int left = std::atoi(arguments[2]); left > 0; --left) {
    for (uint32_t& distance : distances) distance = kFar;
    const auto start = static_cast<uint32_t>(left);
    distances[start] = 0;
    queue[0] = start;
    uint32_t end = 1;
    for (uint32_t at = 0; at < end; ++at) {
      const uint32_t node = queue[at];
      for (uint32_t i = begins[node]; i < begins[node + 1]; ++i) {
        if (distances[edges[i]] != kFar) continue;
        distances[edges[i]] = distances[node] + 1;
        parents[edges[i]] = node;
        queue[end++] = edges[i];
      }
    }
  }
  std::printf("%u %u\n", distances[nodes / 2], parents[nodes / 3]);
}
