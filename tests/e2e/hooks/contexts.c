// A coroutine that is resumed and suspended by swapcontext.
#include <stdlib.h>
#include <ucontext.h>

#include "expect.h"

enum { kRounds = 100 };
static ucontext_t outside, inside;

static OUT_OF_LINE void Step(void) { KEEP; }
static OUT_OF_LINE void Yield(void) { swapcontext(&inside, &outside); }
static OUT_OF_LINE void Coroutine(void) {
  for (;;) {
    Step();
    Yield();
  }
}
static OUT_OF_LINE void Resume(void) { swapcontext(&outside, &inside); }
static OUT_OF_LINE void After(void) { KEEP; }

int main(void) {
  getcontext(&inside);
  inside.uc_stack.ss_size = 1 << 16;
  inside.uc_stack.ss_sp = malloc(1 << 16);
  makecontext(&inside, Coroutine, 0);
  for (int i = 0; i < kRounds; ++i) {
    Resume();
    After();
  }
  Expect("Step", kRounds);
  Expect("Resume", kRounds);
  Expect("After", kRounds);
  Expect("Yield", kRounds);
  Expect("Coroutine", 1);
  return 0;
}
