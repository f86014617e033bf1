/* Counters for programs that measure themselves: the counts of the calling thread in named metrics.
 *
 * The program creates a set of metrics once (jprof_counters_init). Each thread that counts starts
 * the set for itself: start, reads and stop must be called by the same thread. Values count from
 * that start and never decrease.
 *
 * Names are those of `jprof events`: "time" (on-CPU nanoseconds), "dispatches", PAPI presets
 * ("PAPI_TOT_INS"), perf and native events ("perf::CYCLES", "page-faults"). A hardware event is
 * read in user space, without a system call, if the kernel permits that and the event is on a
 * counter; time, if the thread was not dispatched since its last read. All other reads are system
 * calls.
 *
 * No function ends the program, prints, or throws an exception. Link with -ljprof-ptm. See
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

/* Resolves the names (1 to 8, no duplicates) and checks that each can be counted on this machine.
 * Returns 0, or -1; then jprof_counters_error returns one line that names the metric, the reason
 * and the remedy. Not thread-safe. */
int jprof_counters_init(jprof_counters** set, const char* const* names, int count);

/* The error of the calling thread's last call; "" if it succeeded. Valid until the next call. */
const char* jprof_counters_error(void);

/* Starts counting on the calling thread. Returns NULL and sets the error text if the kernel
 * refuses. */
jprof_thread_counters* jprof_thread_start(const jprof_counters* set);

/* Read the first metric, the first two, or all of them, in the order of the names. */
int64_t jprof_read_one(jprof_thread_counters* thread);
void jprof_read_two(jprof_thread_counters* thread, int64_t values[2]);
void jprof_read_all(jprof_thread_counters* thread, int64_t* values);

typedef struct {
  double running;        /* share of time on a counter; if below 1, the value is scaled */
  int user_only;         /* 1: events in the kernel are not counted (not permitted) */
  int by_call;           /* 1: each read is a system call */
  uint32_t failed_reads; /* reads that returned the previous value */
} jprof_metric_status;

/* Reports how the metric with this index (from 0) is counted. Returns 0, or -1 if there is no such
 * metric. */
int jprof_status(jprof_thread_counters* thread, int metric, jprof_metric_status* status);

void jprof_thread_stop(jprof_thread_counters* thread);

/* Frees the set. Threads that have started it continue to count. */
void jprof_counters_terminate(jprof_counters* set);

#ifdef __cplusplus
}
#endif

#endif
