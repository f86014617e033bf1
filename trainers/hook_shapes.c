/* Shapes and ordinary programs for the calibration of hooks, in C. The file is compiled twice, with
 * hooks (COPY=hook_copy_hooked) and without (COPY=hook_copy_plain). No function is inlined, so that
 * both copies have the same calls. The names in the table are those of the Java trainers
 * (Transitions.java, Library.java): the same code evaluates both. */
#include "hook_shapes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALONE __attribute__((noinline))
#define KEEP() __asm__ volatile("" ::: "memory")

/* --- Shapes: empty functions, and functions that call them once, twice, three times. */
static ALONE void lv(void) { KEEP(); }
static ALONE long la(long a, long b) {
  KEEP();
  return a ^ b;
}
static ALONE void ms(void) {
  KEEP();
  lv();
  KEEP();
}
static ALONE long ma(long a, long b) {
  KEEP();
  return la(b, a) + a;
}
static ALONE void s_empty0(void) { KEEP(); }
#define THREE(NAME, CALL)           \
  static ALONE void NAME##1(void) { \
    CALL;                           \
    KEEP();                         \
  }                                 \
  static ALONE void NAME##2(void) { \
    CALL;                           \
    CALL;                           \
    KEEP();                         \
  }                                 \
  static ALONE void NAME##3(void) { \
    CALL;                           \
    CALL;                           \
    CALL;                           \
    KEEP();                         \
  }
static volatile long sink;
THREE(s_lv, lv())
THREE(s_la, sink = la(sink, 3))
THREE(s_ms, ms())
THREE(s_ma, sink = ma(sink, 3))

/* --- Ordinary programs. Their data is random and too large for branch predictors to learn. */
static uint64_t state = 88172645463325252ull;
static uint64_t next_random(void) { /* xorshift64 */
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

enum { TEXT = 1 << 14, NUMBERS = 1 << 13, NODES = 1 << 12 };
static char text[TEXT + 1];
static int32_t numbers[NUMBERS];
struct node {
  struct node* child[2];
  uint64_t key;
};
static struct node nodes[NODES];
static struct node* root;
static size_t at;

static __attribute__((constructor)) void fill(void) {
  for (int i = 0; i < TEXT; ++i)
    text[i] = next_random() % 6 == 0
                  ? ' '
                  : (char)(next_random() % 3 ? 'a' + next_random() % 26 : '0' + next_random() % 10);
  for (int i = 0; i < NUMBERS; ++i) numbers[i] = (int32_t)next_random();
}

static ALONE int is_letter(int c) { return c >= 'a' && c <= 'z'; }
static ALONE int is_digit(int c) { return c >= '0' && c <= '9'; }
static ALONE size_t skip(size_t from) {
  while (from < TEXT && text[from] == ' ') ++from;
  return from;
}
static ALONE size_t token(size_t from, uint64_t* value) {
  *value = 0;
  if (is_digit(text[from])) {
    while (is_digit(text[from])) *value = *value * 10 + (uint64_t)(text[from++] - '0');
    return from;
  }
  while (is_letter(text[from])) *value = *value * 31 + (uint64_t)text[from++];
  return from;
}
static ALONE void parse(void) {
  uint64_t sum = 0, value;
  for (int i = 0; i < 60; ++i) {
    at = skip(at);
    if (at >= TEXT - 64) at = 0;
    at = token(at, &value);
    sum += value;
  }
  sink = (long)sum;
}

static ALONE int compare(const void* a, const void* b) {
  const int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
  return (x > y) - (x < y);
}
static ALONE void sort(void) {
  int32_t some[48];
  const size_t from = next_random() % (NUMBERS - 48);
  memcpy(some, numbers + from, sizeof some);
  qsort(some, 48, sizeof *some, compare);
  sink = some[0];
}

static ALONE struct node** slot(struct node** from, uint64_t key) {
  return &(*from)->child[key > (*from)->key];
}
static ALONE void insert(struct node* made, uint64_t key) {
  struct node** place = &root;
  while (*place != NULL) place = slot(place, key);
  memset(made, 0, sizeof *made);
  made->key = key;
  *place = made;
}
static ALONE void tree(void) {
  root = NULL;
  const size_t from = next_random() % (NODES - 40);
  for (size_t i = 0; i < 40; ++i) insert(&nodes[from + i], next_random());
  sink = (long)root->key;
}

static ALONE uint32_t step(uint32_t hash, uint32_t word) {
  hash ^= word * 0xcc9e2d51u;
  return (hash << 13 | hash >> 19) * 5 + 0xe6546b64u;
}
static ALONE uint32_t hash_of(const int32_t* words, int count) {
  uint32_t hash = 0;
  for (int i = 0; i < count; ++i) hash = step(hash, (uint32_t)words[i]);
  return hash;
}
static ALONE void hash(void) {
  uint32_t sum = 0;
  for (int i = 0; i < 12; ++i) sum += hash_of(numbers + next_random() % (NUMBERS - 8), 8);
  sink = (long)sum;
}

static ALONE double cell(const double* a, const double* b, int i, int j) {
  double sum = 0;
  for (int k = 0; k < 8; ++k) sum += a[i * 8 + k] * b[k * 8 + j];
  return sum;
}
static ALONE void matrix(void) {
  static double a[64], b[64], c[64];
  for (int i = 0; i < 64; ++i) a[i] = (double)numbers[i], b[i] = (double)numbers[64 + i];
  for (int i = 0; i < 64; ++i) c[i] = cell(a, b, i / 8, i % 8);
  sink = (long)c[9];
}

static ALONE int matches(const char* pattern, const char* from) {
  if (*pattern == '\0') return 1;
  if (*from == '\0') return 0;
  if (*pattern == '*') return matches(pattern + 1, from) || matches(pattern, from + 1);
  return (*pattern == '?' || *pattern == *from) && matches(pattern + 1, from + 1);
}
static ALONE void match(void) {
  int found = 0;
  const size_t from = next_random() % (TEXT - 64);
  for (size_t i = 0; i < 40; ++i)
    found += matches("?a*b?", text + from + i) & (text[from + i] != 0);
  sink = found;
}

/* The ends: a chain of multiplications, and loads that do not depend on one another. */
static ALONE uint64_t chain(uint64_t value) {
  for (int i = 0; i < 6; ++i) value = (value ^ value >> 29) * 6364136223846793005ull;
  return value;
}
static ALONE void dependent(void) {
  uint64_t value = (uint64_t)sink;
  for (int i = 0; i < 100; ++i) value = chain(value);
  sink = (long)value;
}
static ALONE long scan(const int32_t* from) {
  long count = 0;
  for (int i = 0; i < 8; ++i) count += from[i] & 1 ? from[i] >> 3 : from[i];
  return count;
}
static ALONE void independent(void) {
  long sum = 0;
  const size_t from = next_random() % (NUMBERS - 1024);
  for (size_t i = 0; i < 100; ++i) sum += scan(numbers + from + 8 * i);
  sink = sum;
}

/* --- Drivers. */
static ALONE void drive_shape(void (*walk)(void), long calls) {
  for (; calls > 0; --calls) walk();
}
static ALONE void drive_kernel(void (*walk)(void), long calls) {
  for (; calls > 0; --calls) walk();
}
static ALONE void measure_kernel(void (*walk)(void), long calls) {
  drive_kernel(walk, calls);
  KEEP();
}

#define SHAPES "jprof/trainers/ShapeFF"
#define TRANSITIONS "jprof/trainers/Transitions"
#define LIBRARY "jprof/trainers/Library"
#define SHAPE(FUNCTION, NAME) \
  { SHAPES, NAME, FUNCTION, (const void*)FUNCTION }
#define KERNEL(FUNCTION) \
  { LIBRARY, #FUNCTION, FUNCTION, (const void*)FUNCTION }
#define PART(CLASS, FUNCTION, NAME) \
  { CLASS, NAME, NULL, (const void*)FUNCTION }

static const struct HookProgram programs[] = {SHAPE(s_empty0, "sEmpty0"),
                                              SHAPE(s_lv1, "sLv1"),
                                              SHAPE(s_lv2, "sLv2"),
                                              SHAPE(s_lv3, "sLv3"),
                                              SHAPE(s_la1, "sLa1"),
                                              SHAPE(s_la2, "sLa2"),
                                              SHAPE(s_la3, "sLa3"),
                                              SHAPE(s_ms1, "sMs1"),
                                              SHAPE(s_ms2, "sMs2"),
                                              SHAPE(s_ms3, "sMs3"),
                                              SHAPE(s_ma1, "sMa1"),
                                              SHAPE(s_ma2, "sMa2"),
                                              SHAPE(s_ma3, "sMa3"),
                                              KERNEL(parse),
                                              KERNEL(sort),
                                              KERNEL(tree),
                                              KERNEL(hash),
                                              KERNEL(matrix),
                                              KERNEL(match),
                                              KERNEL(dependent),
                                              KERNEL(independent),
                                              PART(SHAPES, lv, "lv"),
                                              PART(SHAPES, la, "la"),
                                              PART(SHAPES, ms, "ms"),
                                              PART(SHAPES, ma, "ma"),
                                              PART(TRANSITIONS, drive_shape, "drive"),
                                              PART(LIBRARY, drive_kernel, "drive"),
                                              PART(LIBRARY, measure_kernel, "measure"),
                                              {NULL, NULL, NULL, NULL}};

const struct HookCopy COPY = {programs, drive_shape, measure_kernel, drive_kernel};
