#include "tests/unit/unwind/sample/chain.h"

#include <alloca.h>

#include <cstdlib>
#include <cstring>

namespace jprof::unwind::sample {
namespace {

#ifdef __clang__
#define OWN_FRAME __attribute__((noinline))
#else
#define OWN_FRAME __attribute__((noinline, noclone))
#endif

struct Rest {
  int depth;
  Visit visit;
  void* data;
  unsigned long sum;
};

unsigned long Descend(Rest& rest);

// Keeps values in callee-saved registers.
OWN_FRAME unsigned long Registers(Rest& rest, unsigned long a, unsigned long b, unsigned long c,
                                  unsigned long d, unsigned long e) {
  const unsigned long before = a * b + c;
  const unsigned long below = Descend(rest);
  return below + before + a + b * 3 + c * 5 + d * 7 + e * 11;
}

OWN_FRAME unsigned long Variable(Rest& rest, size_t size) {
  char* bytes = static_cast<char*>(alloca(size));
  std::memset(bytes, rest.depth, size);
  const unsigned long below = Descend(rest);
  return below + static_cast<unsigned char>(bytes[size / 2]);
}

OWN_FRAME unsigned long Aligned(Rest& rest, unsigned long seed) {
  alignas(64) volatile unsigned long values[16];
  for (unsigned i = 0; i < 16; ++i) values[i] = seed + i;
  const unsigned long below = Descend(rest);
  return below + values[seed % 16];
}

// Both: such a function keeps its argument pointer in a register, and unwinds by a DWARF
// expression.
OWN_FRAME unsigned long AlignedVariable(Rest& rest, size_t size, unsigned long a, unsigned long b,
                                        unsigned long c, unsigned long d, unsigned long e,
                                        unsigned long f) {
  alignas(64) volatile unsigned long values[16];
  char* bytes = static_cast<char*>(alloca(size));
  std::memset(bytes, rest.depth, size);
  values[3] = f;
  const unsigned long below = Descend(rest);
  return below + values[3] + static_cast<unsigned char>(bytes[0]) + a + b + c + d + e;
}

thread_local Rest* sorting;

OWN_FRAME int Compare(const void* a, const void* b) {
  if (Rest* rest = sorting) {
    sorting = nullptr;
    rest->sum += Descend(*rest);
  }
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

OWN_FRAME unsigned long Sort(Rest& rest) {
  int numbers[] = {3, 1, 2};
  sorting = &rest;
  std::qsort(numbers, 3, sizeof *numbers, Compare);
  return rest.sum + static_cast<unsigned>(numbers[0]);
}

OWN_FRAME unsigned long Descend(Rest& rest) {
  const int depth = rest.depth--;
  if (depth <= 0) {
    rest.visit(rest.data);
    return rest.sum;
  }
  const auto seed = static_cast<unsigned long>(depth);
  switch (depth % 6) {
    case 0:
      return 1 + Registers(rest, seed, seed + 1, seed + 2, seed + 3, seed + 4);
    case 1:
      return 2 + Variable(rest, seed % 100 + 1);
    case 2:
      return 3 + Aligned(rest, seed);
    case 3:
      return 4 + AlignedVariable(rest, seed % 50 + 1, 1, 2, 3, 4, 5, seed);
    case 4:
      return 5 + Sort(rest);
    default:
      return 6 + Descend(rest);
  }
}

}  // namespace

unsigned long CHAIN(int depth, Visit visit, void* data) {
  Rest rest = {depth, visit, data, 0};
  return Descend(rest) + rest.sum;
}

}  // namespace jprof::unwind::sample
