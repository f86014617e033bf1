// For LD_PRELOAD: simulates a machine without perf events and CPU-time timers, like a container
// with a seccomp filter.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN long syscall(long number, ...) {
  static long (*real)(long, ...);
  if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_perf_event_open) {
    errno = EPERM;
    return -1;
  }
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

SHOWN int timer_create(clockid_t clock, struct sigevent* event, timer_t* timer) {
  (void)clock, (void)event, (void)timer;
  errno = EPERM;
  return -1;
}
