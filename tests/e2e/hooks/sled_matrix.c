// Functions at whose sleds registers and flags have values: conditional jumps to another function,
// calls through a register, and calling conventions. Compiled once for each VARIANT, a prefix of its
// functions; without one, the program that runs those in VARIANTS, a list of X(variant).
#include "expect.h"

#define JOIN(a, b) a##_##b
#define NAME(variant, name) JOIN(variant, name)
#define TEXT(name) #name
#define TEXT_OF(name) TEXT(name)

#ifdef VARIANT
#define F(name) NAME(VARIANT, name)
#define EXPECT(name, calls) Expect(TEXT_OF(VARIANT) "_" #name, calls)
enum { kRounds = 20 };
typedef long Six(long, long, long, long, long, long, ...);
typedef struct { long a, b; } Pair;
typedef struct { double a, b; } Doubles;
typedef double Wide __attribute__((vector_size(64)));

OUT_OF_LINE long F(other)(long x) {
  KEEP;
  return x * 3 + 1;
}
OUT_OF_LINE long F(greater)(long x) {
  KEEP;
  if (x > 10) return F(other)(x);
  return 42;
}
OUT_OF_LINE long F(below)(unsigned long x, unsigned long y) {
  KEEP;
  if (x < y) return F(other)((long)x);
  return 43;
}
OUT_OF_LINE long F(equal)(long x) {
  KEEP;
  if (x == 7) return F(other)(x);
  return 44;
}
OUT_OF_LINE long F(overflows)(int x) {
  int sum;
  KEEP;
  if (__builtin_add_overflow(x, 2147483640, &sum)) return F(other)(x);
  return sum;
}
OUT_OF_LINE long F(chooses)(long x) {
  KEEP;
  switch (x & 3) {
    case 0: return F(greater)(x);
    case 1: return F(equal)(x);
    case 2: return F(below)((unsigned long)x, 9);
    default: return 45;
  }
}

OUT_OF_LINE long F(six)(long a, long b, long c, long d, long e, long f, ...) {
  KEEP;
  return a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f;
}
static Six* volatile F(target) = F(six);
OUT_OF_LINE long F(indirect)(long a, long b, long c, long d, long e, long f) {
  Six* const target = F(target);
  KEEP;
  if (target == 0) return 0;
  return target(f, e, d, c, b, a);
}

OUT_OF_LINE long double F(precise)(long double x) { KEEP; return x / 3; }
OUT_OF_LINE Pair F(pair)(long a) { KEEP; return (Pair){a + 1, a - 1}; }
OUT_OF_LINE Doubles F(doubles)(double a, float b) { KEEP; return (Doubles){a * b, a + b}; }
OUT_OF_LINE __attribute__((preserve_most)) void F(keeps_most)(long* at) { *at += 1; KEEP; }
OUT_OF_LINE __attribute__((preserve_all)) void F(keeps_all)(long* at) { *at += 1; KEEP; }
OUT_OF_LINE long F(live)(long x, double y) {
  long a = x + 1, b = x * 3, c = x ^ 5, d = x - 9, e = x * x, f = x << 3, g = ~x, h = x + 77;
  double p = y + 1, q = y * 2, r = y / 3, s = y - 4, t = y * y, u = 1 / (1 + y), v = -y, w = y + 9;
  long count = 0;
  F(keeps_most)(&count);
  F(keeps_all)(&count);
  return (long)(1000 * (p - q * r + s * t - u + v * w)) + a - b + c * d - e + f * g - h + count;
}
__attribute__((target("avx512f"))) OUT_OF_LINE Wide F(wide)(Wide a, Wide b) { KEEP; return a * b; }
__attribute__((target("avx512f"))) OUT_OF_LINE double F(widely)(double x) {
  const Wide one = {x, 1, 2, 3, 4, 5, 6, x}, two = {1, 2, 3, 4, 5, 6, 7, 8};
  const Wide product = F(wide)(one, two);
  double sum = 0;
  for (int i = 0; i < 8; ++i) sum += (i + 1) * product[i];
  return sum;
}

// What is in registers that the entry of a function usually finds undefined.
OUT_OF_LINE __attribute__((naked)) long F(naked)(void) {
  __asm__("lea (%r10, %r11), %r11; lea (%rax, %r11, 2), %rax; setc %al; mov %rax, %rdi; ret");
}
OUT_OF_LINE long F(calls_naked)(long x) {
  __asm__ volatile(
      "mov %%rsp, %%rbx; lea -128(%%rsp), %%rsp; and $-16, %%rsp;"
      "mov %0, %%r10; lea 9(%0), %%r11; lea 5(%0), %%rax; stc; call %P1; mov %%rbx, %%rsp"
      : "+D"(x)
      : "i"(F(naked))
      : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc", "memory");
  return x;
}

void F(run)(void) {
  const int is_wide = __builtin_cpu_supports("avx512f") != 0;
  long sum = 0;
  double real = 0;
  for (int i = 0; i < kRounds; ++i) {
    sum = sum * 31 + F(greater)(i) + F(below)((unsigned long)i, 5) + F(equal)(i) + F(overflows)(i);
    sum = sum * 31 + F(chooses)(i) + F(indirect)(i, i + 1, i + 2, i + 3, i + 4, i + 5);
    const Pair pair = F(pair)(i);
    const Doubles both = F(doubles)(i, 0.5f);
    sum = sum * 31 + pair.a * pair.b + F(live)(i, i / 2.0) + F(calls_naked)(i);
    real = real / 2 + both.a - both.b + (double)F(precise)(i) + (is_wide ? F(widely)(i) : 0);
  }
  printf("%s %ld %.17g\n", TEXT_OF(VARIANT), sum, real);
  EXPECT(run, 1);
  EXPECT(other, 9 + 5 + 1 + 12 + 2 + 0 + 2);  // greater, below, equal, overflows; by chooses
  EXPECT(greater, kRounds + 5);
  EXPECT(below, kRounds + 5);
  EXPECT(equal, kRounds + 5);
  EXPECT(overflows, kRounds);
  EXPECT(chooses, kRounds);
  EXPECT(indirect, kRounds);
  EXPECT(six, kRounds);
  EXPECT(precise, kRounds);
  EXPECT(pair, kRounds);
  EXPECT(doubles, kRounds);
  EXPECT(keeps_most, kRounds);
  EXPECT(keeps_all, kRounds);
  EXPECT(live, kRounds);
  EXPECT(naked, kRounds);
  EXPECT(calls_naked, kRounds);
  if (is_wide) EXPECT(wide, kRounds);
}

#else

#define X(variant) void NAME(variant, run)(void);
VARIANTS
#undef X
int main(void) {
#define X(variant) NAME(variant, run)();
  VARIANTS
  return 0;
}
#endif
