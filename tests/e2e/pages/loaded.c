/* A library that is loaded while the program runs. */
#include <stdlib.h>

__attribute__((noinline)) void* LoadedBlock(size_t bytes) {
  char* const block = malloc(bytes);
  block[0] = 1;
  return block;
}
