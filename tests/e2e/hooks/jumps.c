// longjmp by each of its names, out of several frames, and what is called after it from frames of
// other sizes: the callers must be right.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>

#include "expect.h"

enum { kRounds = 500, kNames = 3 };

static sigjmp_buf target;
static volatile long deep_calls, leaf_calls;

static OUT_OF_LINE void Leaf(void) { ++leaf_calls; }
static OUT_OF_LINE void Small(void) { Leaf(); }
static OUT_OF_LINE void Big(void) {
  volatile char room[3000];
  room[0] = 1;
  Leaf();
}
static OUT_OF_LINE void Deep(int more, int by) {
  volatile char room[100 * (more + 1)];
  room[0] = 1;
  ++deep_calls;
  if (more > 0) {
    Deep(more - 1, by);
    KEEP;
    return;
  }
  if (by == 0) longjmp(target, 1);
  if (by == 1) _longjmp(target, 1);
  siglongjmp(target, 1);
}
static OUT_OF_LINE void Jumper(int i) {
  if (sigsetjmp(target, 0) == 0) Deep(i % 7, i % kNames);
  Small();
  Big();
  if (sigsetjmp(target, 1) == 0) Deep(0, 2);
  Big();
  Small();
}

static OUT_OF_LINE void InHandler(void) { siglongjmp(target, 1); }
static void OnSignal(int number) {
  (void)number;
  InHandler();
}
static OUT_OF_LINE void Raises(void) { raise(SIGUSR1); }
static OUT_OF_LINE void Interrupted(void) {
  if (sigsetjmp(target, 1) == 0) Raises();
  Big();
  Small();
}

int main(void) {
  signal(SIGUSR1, OnSignal);
  for (int i = 0; i < kRounds; ++i) {
    Jumper(i);
    Interrupted();
  }
  Expect("Deep", deep_calls);
  ExpectPath("main", "Jumper", kRounds);
  ExpectPath("Jumper", "Deep", 2 * kRounds);
  ExpectPath("Jumper", "Small", 2 * kRounds);
  ExpectPath("Jumper", "Big", 2 * kRounds);
  ExpectPath("Interrupted", "Small", kRounds);
  ExpectPath("Interrupted", "Big", kRounds);
  ExpectPath("Raises", "OnSignal", kRounds);
  ExpectPath("OnSignal", "InHandler", kRounds);
  ExpectPath("Small", "Leaf", 3 * kRounds);
  ExpectPath("Big", "Leaf", 3 * kRounds);
  Expect("main", 1);
  return 0;
}
