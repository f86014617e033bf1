// Plain calls: nesting, recursion, inlined functions, frames of varying size, callbacks through the
// C library, and functions before and after main.
#include <alloca.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { kRounds = 1000, kFib = 20 };

static inline int Twice(int x) { return 2 * x; }
static inline int TwiceTwice(int x) { return Twice(Twice(x)); }

__attribute__((constructor)) static void BeforeMain(void) { Twice(1); }
__attribute__((destructor)) static void AfterMain(void) { Twice(2); }

static OUT_OF_LINE int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }
static PLAIN long FibCalls(int n) { return n < 2 ? 1 : 1 + FibCalls(n - 1) + FibCalls(n - 2); }

static int Odd(int n);
static OUT_OF_LINE int Even(int n) { return n == 0 ? 1 : Odd(n - 1); }
static OUT_OF_LINE int Odd(int n) { return n == 0 ? 0 : Even(n - 1); }

static OUT_OF_LINE void Leaf(volatile char* room) { room[0] = 1; }
static OUT_OF_LINE void Allocates(size_t bytes) {
  Leaf((char[1]){0});
  volatile char* room = (volatile char*)alloca(bytes);
  Leaf(room);
  for (size_t part = 1; part < 4; ++part) {
    volatile char more[bytes * part];  // ends with each round
    Leaf(more);
  }
  Leaf(room);
}
static OUT_OF_LINE void Small(void) { Leaf((char[1]){0}); }
static OUT_OF_LINE void Big(void) {
  volatile char room[20000];
  Leaf(room);
}

static long compared;
static int Compare(const void* a, const void* b) {
  ++compared;
  return *(const int*)a - *(const int*)b;
}
static OUT_OF_LINE void Sorts(void) {
  int numbers[100];
  for (int i = 0; i < 100; ++i) numbers[i] = i * 37 % 100;
  qsort(numbers, 100, sizeof *numbers, Compare);
}

static OUT_OF_LINE int Sum(int count, ...) {
  va_list list;
  va_start(list, count);
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += Twice(va_arg(list, int));
  va_end(list);
  return sum;
}
// Arguments on the stack, and a result in memory.
struct Wide {
  long part[9];
};
static OUT_OF_LINE struct Wide Many(int a, int b, int c, int d, int e, int f, int g,
                                    struct Wide h) {
  h.part[0] += a + b + c + d + e + f + g;
  Leaf((volatile char*)&h);
  return h;
}

int main(void) {
  struct Wide wide = {{0}};
  volatile int result = Fib(kFib);
  for (int i = 0; i < kRounds; ++i) {
    result += TwiceTwice(i);
    Allocates(1 + (size_t)i);
    Small();
    Big();
    wide = Many(1, 2, 3, 4, 5, 6, 7, wide);
  }
  Even(100);
  Sorts();
  Sum(3, 1, 2, 3);
  Expect("Fib", FibCalls(kFib));
  Expect("TwiceTwice", kRounds);
  ExpectPath("TwiceTwice", "Twice", 2 * kRounds);
  ExpectPath("BeforeMain", "Twice", 1);
  ExpectPath("AfterMain", "Twice", 1);
  ExpectPath("Sum", "Twice", 3);
  Expect("Even", 51);
  ExpectPath("Even", "Odd", 50);
  ExpectPath("main", "Allocates", kRounds);
  ExpectPath("Allocates", "Leaf", 6 * kRounds);
  ExpectPath("Small", "Leaf", kRounds);
  ExpectPath("Big", "Leaf", kRounds);
  ExpectPath("Many", "Leaf", kRounds);
  Expect("Leaf", 9 * kRounds);
  ExpectPath("Sorts", "Compare", compared);
  Expect("main", 1);
  return 0;
}
