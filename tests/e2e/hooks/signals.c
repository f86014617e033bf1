// Signal handlers with hooks: raised, and from a timer at any instruction, also of the hooks.
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "expect.h"

static volatile long raised, ticks, calls;

static OUT_OF_LINE int Helper(int n) { return n <= 0 ? 0 : 1 + Helper(n - 1); }
static void OnRaise(int number) {
  (void)number;
  ++raised;
  Helper(3);
}
static OUT_OF_LINE void OnTick(int number) {
  (void)number;
  ++ticks;
  Helper(2);
}
static OUT_OF_LINE int Fib(int n) {
  ++calls;
  return n < 2 ? n : Fib(n - 1) + Fib(n - 2);
}
static OUT_OF_LINE void Raises(int number) { raise(number); }

int main(void) {
  signal(SIGUSR1, OnRaise);
  for (int i = 0; i < 1000; ++i) Raises(SIGUSR1);

  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = OnTick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval every = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &every, NULL);
  const time_t end = time(NULL) + 2;
  do {
    Fib(20);
  } while (ticks < 60 && time(NULL) < end);
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);

  ExpectPath("Raises", "OnRaise", raised);
  ExpectPath("OnRaise", "Helper", raised);
  Expect("Fib", calls);
  printf("TICKS %ld\n", ticks);
  return 0;
}
