// Walks at random through a graph, counts its visits, and writes a trail, for which there is more
// space than it needs. Arguments: MiB of arrays, thousands of steps.
#include <stdio.h>
#include <stdlib.h>

#include "random_numbers.h"

enum { kDegree = 4, kRest = 16 };

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const size_t bytes = strtoull(arguments[1], NULL, 10) << 20;
  const size_t steps = strtoull(arguments[2], NULL, 10) * 1000;
  const size_t nodes = bytes / (kDegree * 4 + 16);
  uint32_t* const edges = malloc(nodes * kDegree * sizeof *edges);
  uint32_t* const visits = calloc(nodes, sizeof *visits);
  double* const weights = malloc(nodes * sizeof *weights);
  uint32_t* const trail = malloc(4 * nodes * sizeof *trail);
  uint64_t state = 88172645463325252u;
  for (size_t i = 0; i < nodes * kDegree; ++i) edges[i] = Below(&state, (uint32_t)nodes);
  for (size_t i = 0; i < nodes; ++i) weights[i] = (double)(i % 23);
  double sum = 0;
  uint32_t at = 0;
  for (size_t step = 0; step < steps; ++step) {
    ++visits[at];
    trail[step % (4 * nodes)] = at;
    if (step % kRest == 0) sum += weights[at];
    at = edges[(size_t)at * kDegree + Below(&state, kDegree)];
  }
  printf("%u %f %u\n", visits[at], sum, trail[steps / 2]);
  return 0;
}
