// Marks, and the trace that the first mark of a process opens.
#define _GNU_SOURCE
#include <errno.h>
#include <marks_events.h>
#include <string.h>

#include "events/runtime/internal.h"

static const char* why = "no trace is open";  // written before `first_mark` is 1
static int opened_here;                       // guarded by jprof_events_lock

static void open_once(void) {
  jprof_events_trace* trace = &jprof_events_the_trace;
  const jprof_events_options options = {JPROF_EVENTS_CONTINUOUS, 64 << 10, 0, 1};
  const int error = errno;
  pthread_mutex_lock(&jprof_events_lock);
  if (!atomic_load(&trace->first_mark) && atomic_load(&trace->open) != JPROF_EVENTS_OPEN) {
    if (jprof_events_open_locked(NULL, &options) == 0) {
      opened_here = 1;
    } else {
      const char* kept = strdup(jprof_events_error());
      why = kept == NULL ? "not enough memory" : kept;
    }
    atomic_store(&trace->first_mark, 1);
  }
  pthread_mutex_unlock(&jprof_events_lock);
  errno = error;
}

static int is_open(void) {
  return atomic_load_explicit(&jprof_events_the_trace.open, memory_order_acquire) ==
         JPROF_EVENTS_OPEN;
}

static int open_at_first_mark(void) {
  if (!atomic_load_explicit(&jprof_events_the_trace.first_mark, memory_order_acquire)) open_once();
  if (is_open()) return 1;
  jprof_events_set_error(why);
  return 0;
}

int jprof_mark(const char* text) {
  const int open = JPROF_EVENTS_LIKELY(is_open()) || open_at_first_mark();
  process_marks_mark(text);  // which may have consumers if no trace is open
  return open ? 0 : -1;
}

// Nobody else closes the trace of a program that only writes marks.
__attribute__((destructor)) static void close_at_exit(void) {
  pthread_mutex_lock(&jprof_events_lock);
  const int mine = opened_here;
  pthread_mutex_unlock(&jprof_events_lock);
  if (mine) jprof_events_close();
}
