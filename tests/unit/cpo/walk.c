// Touches memory of three kinds, for lackey_test.cc: a loop over an array, random steps in another
// one, and a list whose nodes malloc has placed.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBytes = 8 << 20, kStep = 4096 + 64, kRounds = 4, kRandom = 20000, kNodes = 4000 };

struct Node {
  struct Node* next;
  char rest[200];
};

int main(void) {
  volatile char* looped = malloc(kBytes);
  volatile char* random = malloc(kBytes);
  struct Node* list = NULL;
  uint32_t state = 1, sum = 0;
  if (looped == NULL || random == NULL) return 1;
  for (int round = 0; round < kRounds; ++round) {
    for (int at = 0; at < kBytes; at += kStep) looped[at] += 1;
  }
  for (int step = 0; step < kRandom; ++step) {
    state = state * 1664525u + 1013904223u;
    random[state % kBytes] = 1;
  }
  for (int node = 0; node < kNodes; ++node) {
    struct Node* added = malloc(sizeof *added);
    if (added == NULL) return 1;
    *added = (struct Node){.next = list};
    list = added;
  }
  for (const struct Node* node = list; node != NULL; node = node->next) sum += node->rest[0] == 0;
  printf("%p %p %u\n", (void*)looped, (void*)random, sum != 0);
  return 0;
}
