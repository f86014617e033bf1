/* Counters for programs that measure themselves: what the calling thread has counted, in named
 * metrics.
 *
 * A set of metrics is made once (jprof_counters_init); each thread that wants to count starts it
 * for itself and reads where it counts: start, reads and stop belong to one thread. Values are
 * counted since that start and never fall.
 *
 * Names are those of `jprof events`: "time" (on-CPU nanoseconds), "dispatches", PAPI presets
 * ("PAPI_TOT_INS"), perf and native events ("perf::CYCLES", "page-faults"). A hardware event is
 * read in user space, without a system call, where the kernel allows that and the event is on a
 * counter; time, where the thread was not dispatched since its last read. Everything else is a
 * system call for a read.
 *
 * Nothing here ends the program, prints, or raises an exception. Link with -ljprof-ptm. See
 * docs/COUNTERS.md. */
#ifndef JPROF_COUNTERS_H
#define JPROF_COUNTERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JPROF_MAX_METRICS 8

typedef struct jprof_counters jprof_counters;               /* a set of metrics */
typedef struct jprof_thread_counters jprof_thread_counters; /* the same, counting on one thread */

/* Looks the names up (1 to 8, none twice) and makes sure that each can be counted here. 0, or -1
 * and jprof_counters_error says in one line which cannot, why, and what would help. Not from two
 * threads at once. */
int jprof_counters_init(jprof_counters** set, const char* const* names, int count);

/* What the calling thread's last failed call was about; "" if none failed. Valid until the next
 * call. */
const char* jprof_counters_error(void);

/* Counts on the calling thread from now on. NULL and an error text if the kernel refuses. */
jprof_thread_counters* jprof_thread_start(const jprof_counters* set);

/* The first metric; the first two; all of them, in the order of the names. */
int64_t jprof_read_one(jprof_thread_counters* thread);
void jprof_read_two(jprof_thread_counters* thread, int64_t values[2]);
void jprof_read_all(jprof_thread_counters* thread, int64_t* values);

typedef struct {
  double
      running; /* part of the time it was on a counter; below 1: the value is scaled, an estimate */
  int user_only;         /* 1: the kernel's part is missing: not permitted */
  int by_call;           /* 1: each read is a system call */
  uint32_t failed_reads; /* answered with the value before */
} jprof_metric_status;

/* How the metric of this number (0 the first) is counted. 0, or -1: there is no such metric. */
int jprof_status(jprof_thread_counters* thread, int metric, jprof_metric_status* status);

void jprof_thread_stop(jprof_thread_counters* thread);

/* Threads that still count keep counting. */
void jprof_counters_terminate(jprof_counters* set);

#ifdef __cplusplus
}
#endif

#endif
