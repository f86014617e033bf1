// Measures events for events.py: events_cost TRACE NS. Prints a line for each: what, median of ns per
// call. The rounds of all are interleaved, so that they see the same machine.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __cplusplus
#include "bench_events.hpp"
#define WORK_DONE bench::cost::work_done
#else
#include "bench_events.h"
#define WORK_DONE bench_cost_work_done
#endif

#ifdef WITH_LTTNG
#include "lttng_events.h"
#endif

enum { kCalls = 200000, kRounds = 41, kMost = 16 };

static volatile uint64_t sink;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);  // other processes must not count
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void nothing(int i) { (void)i; }
static void event(int i) { WORK_DONE((uint64_t)i, (uint32_t)i); }
static void clock_read(int i) {
  (void)i;
  sink = jprof_events_ticks();
}
#ifdef WITH_LTTNG
static void lttng(int i) { lttng_ust_tracepoint(bench, work_done, (uint64_t)i, (uint32_t)i); }
#endif

// Inlined into each loop, as a stub is into a program.
#define LOOP(name, call)                 \
  static double name(void) {             \
    const double begin = now();          \
    for (int i = 0; i < kCalls; ++i) {   \
      call(i);                           \
      __asm__ volatile("" ::: "memory"); \
    }                                    \
    return (now() - begin) / kCalls;     \
  }
LOOP(loop_nothing, nothing)
LOOP(loop_event, event)
LOOP(loop_clock, clock_read)
#ifdef WITH_LTTNG
LOOP(loop_lttng, lttng)
#endif

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

typedef struct {
  const char* name;
  int level;
  double (*loop)(void);
  double rounds[kRounds];
} measured;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const jprof_events_options options = {JPROF_EVENTS_WRAP, 0, 8};
  if (jprof_events_open(argv[1], &options) != 0) {
    fprintf(stderr, "%s\n", jprof_events_error());
    return 1;
  }
  static measured all[] = {
      {"loop", JPROF_EVENTS_OFF, loop_nothing, {0}},
      {"off", JPROF_EVENTS_OFF, loop_event, {0}},
      {"statistics", JPROF_EVENTS_STATISTICS, loop_event, {0}},
      {"log", JPROF_EVENTS_LOG, loop_event, {0}},
      {"clock", JPROF_EVENTS_OFF, loop_clock, {0}},
#ifdef WITH_LTTNG
      {"lttng", JPROF_EVENTS_OFF, loop_lttng, {0}},
#endif
  };
  const size_t count = sizeof all / sizeof *all;
  for (int round = 0; round < kRounds; ++round)
    for (size_t i = 0; i < count; ++i) {
      jprof_events_set_level("*", all[i].level);
      all[i].loop();  // warm
      all[i].rounds[round] = all[i].loop();
    }
  for (size_t i = 0; i < count; ++i) {
    qsort(all[i].rounds, kRounds, sizeof(double), compare);
    printf("%s %.3f\n", all[i].name, all[i].rounds[kRounds / 2]);
  }
  jprof_events_close();
  return 0;
}
