// Joins two relations by a chained hash table. The space for results is enough for all orders, of
// which about half find a customer. Arguments: MiB of arrays, rounds.
#include <stdio.h>
#include <stdlib.h>

#include "random_numbers.h"

struct Row {
  uint64_t key, value;
};

static size_t HashOf(uint64_t key, size_t buckets) {
  return (size_t)(((key * 0x9e3779b97f4a7c15u) >> 32) * buckets >> 32);
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const size_t bytes = strtoull(arguments[1], NULL, 10) << 20;
  const size_t rows = bytes / 76, orders = 2 * rows, buckets = 2 * rows;
  struct Row* const customers = malloc(rows * sizeof *customers);
  struct Row* const requests = malloc(orders * sizeof *requests);
  uint32_t* const heads = calloc(buckets, sizeof *heads);
  uint32_t* const chains = malloc(rows * sizeof *chains);
  uint64_t* const results = malloc(orders * sizeof *results);
  uint64_t state = 88172645463325252u;
  for (size_t i = 0; i < rows; ++i) customers[i] = (struct Row){2 * i, i};
  for (size_t i = 0; i < orders; ++i)
    requests[i] = (struct Row){Below(&state, (uint32_t)(2 * rows)), i};
  for (size_t i = 0; i < rows; ++i) {
    uint32_t* const head = &heads[HashOf(customers[i].key, buckets)];
    chains[i] = *head;
    *head = (uint32_t)i + 1;
  }
  size_t found = 0;
  for (int left = atoi(arguments[2]); left > 0; --left) {
    found = 0;
    for (size_t i = 0; i < orders; ++i) {
      for (uint32_t at = heads[HashOf(requests[i].key, buckets)]; at != 0; at = chains[at - 1]) {
        if (customers[at - 1].key != requests[i].key) continue;
        results[found++] = customers[at - 1].value + requests[i].value;
        break;
      }
    }
  }
  printf("%zu %lu\n", found, (unsigned long)results[found / 2]);
  return 0;
}
