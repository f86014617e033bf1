// A signal at every single instruction of a hooked function and its hooks: the processor's trap
// flag is set (x86-64), and the handler of the Nth trap calls hooked functions, of which some are
// new, some are those that the interrupted hook handles, and some recurse.
//   stepped [N]        on one thread; at every Nth instruction
//   stepped N threads  each interruption on a new thread; the handler calls many new functions and
//                      recurses deeply, so that what the thread remembers grows
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "expect.h"

enum { kDepth = 3, kManyFrames = 1500 };

static int grows;
static volatile long step, interrupt_at, work_calls, leaf_calls, other_calls;

static OUT_OF_LINE void Leaf(void) { __atomic_fetch_add(&leaf_calls, 1, __ATOMIC_RELAXED); }
static OUT_OF_LINE void Work(void) {
  __atomic_fetch_add(&work_calls, 1, __ATOMIC_RELAXED);
  Leaf();
}
static OUT_OF_LINE void Other(int depth) {
  __atomic_fetch_add(&other_calls, 1, __ATOMIC_RELAXED);
  if (depth > 0) Other(depth - 1);
  KEEP;
}

// More functions than the first method cache of a thread has room for, and more frames.
#define FUNCTION(n) \
  static OUT_OF_LINE void Function##n(void) { KEEP; }
#define EIGHT(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)
#define SIXTY_FOUR(F, n) \
  EIGHT(F, n##0)         \
  EIGHT(F, n##1)         \
  EIGHT(F, n##2) EIGHT(F, n##3) EIGHT(F, n##4) EIGHT(F, n##5) EIGHT(F, n##6) EIGHT(F, n##7)
SIXTY_FOUR(FUNCTION, a)
SIXTY_FOUR(FUNCTION, b)
SIXTY_FOUR(FUNCTION, c)
static OUT_OF_LINE void Grow(void) {
#define CALL(n) Function##n();
  SIXTY_FOUR(CALL, a)
  SIXTY_FOUR(CALL, b)
  SIXTY_FOUR(CALL, c)
  Other(2 * kManyFrames);
}

static PLAIN void OnTrap(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  if (++step != interrupt_at) return;
#ifdef __x86_64__
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
#endif
  Work();
  Leaf();
  Other(kDepth);
  if (grows) Grow();
}

static inline PLAIN void Traps(int on) {
#ifdef __x86_64__
  if (on)
    __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
  else
    __asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
#else
  (void)on;
#endif
}

// One call of Work; `at` 0: without steps. Returns the number of its steps.
static OUT_OF_LINE long Once(long at) {
  step = 0;
  interrupt_at = at;
  if (at != 0) Traps(1);
  Work();
  if (at != 0) Traps(0);
  return step;
}

static PLAIN void WarmUp(void) {
  Once(0);  // from here on its events are not rare
  Once(0);
  if (grows) Other(kManyFrames);
}
static PLAIN void* OnThread(void* at) {
  WarmUp();
  Once(*(long*)at);
  return NULL;
}

int main(int count, char** arguments) {
  const long stride = count > 1 ? atol(arguments[1]) : 1;
  grows = count > 2;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = OnTrap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGTRAP, &action, NULL);
  WarmUp();
  const long last = Once(-1);
  for (long at = 1; at <= last; at += stride) {
    if (!grows) {
      Once(at);
      continue;
    }
    pthread_t thread;
    pthread_create(&thread, NULL, OnThread, &at);
    pthread_join(thread, NULL);
  }
  Expect("Work", work_calls);
  Expect("Leaf", leaf_calls);
  Expect("Other", other_calls);
  return 0;
}
