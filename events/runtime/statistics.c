// The level statistics: each thread has a mapped file with those of each event. Only the thread
// writes them. After a reset, which is a new epoch, or when there are more events, a thread prepares its
// file at its next event.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "events/runtime/internal.h"

uint32_t jprof_events_epoch = 1;
uint32_t jprof_events_generation = 1;

_Static_assert(sizeof(jprof_events_statistics_file) == 64, "read by events/read");
_Static_assert(sizeof(jprof_events_statistics) == 544, "read by events/read");

static jprof_events_statistics* statistics_of(jprof_events_statistics_file* file) {
  return (jprof_events_statistics*)(file + 1);
}

static void clear(jprof_events_statistics_file* file, uint32_t from) {
  for (uint32_t i = from; i < file->count; ++i) {
    jprof_events_statistics* one = statistics_of(file) + i;
    memset(one, 0, sizeof *one);
    one->min = INT64_MAX;
    one->max = INT64_MIN;
  }
}

static jprof_events_statistics_file* new_file(const jprof_events_writer* writer, uint32_t count,
                                              size_t bytes) {
  char hidden[PATH_MAX + 128], path[PATH_MAX + 128];
  const char* directory = jprof_events_the_trace.directory;
  snprintf(hidden, sizeof hidden, "%s/statistics/.thread-%u", directory, writer->number);
  snprintf(path, sizeof path, "%s/statistics/thread-%u", directory, writer->number);
  jprof_events_statistics_file* file = jprof_events_map_file(hidden, bytes, 1);
  if (file == NULL) return NULL;
  memcpy(file->magic, "JPEVSTA1", 8);
  file->process = (uint32_t)getpid();
  file->thread = writer->thread;
  file->count = count;
  prctl(PR_GET_NAME, file->thread_name);
  clear(file, 0);
  if (rename(hidden, path) != 0) unlink(hidden);  // counts, but only in the process
  return file;
}

// The old mapping stays: another thread may read it.
static jprof_events_statistics_file* larger_file(const jprof_events_writer* writer, uint32_t count,
                                                 size_t bytes) {
  char path[PATH_MAX + 128];
  snprintf(path, sizeof path, "%s/statistics/thread-%u", jprof_events_the_trace.directory,
           writer->number);
  jprof_events_statistics_file* file = jprof_events_map_file(path, bytes, 0);
  if (file == NULL) return NULL;
  const uint32_t old = file->count;
  file->count = count;
  clear(file, old);
  return file;
}

// Returns the thread's file with room for all events, or null.
static jprof_events_statistics_file* file_of(jprof_events_writer* writer) {
  const uint32_t count = __atomic_load_n(&jprof_events_registered, __ATOMIC_ACQUIRE);
  const size_t bytes =
      sizeof(jprof_events_statistics_file) + count * sizeof(jprof_events_statistics);
  jprof_events_statistics_file* old = atomic_load(&writer->statistics);
  if (old != NULL && old->count >= count) return old;
  if (writer->no_statistics) return NULL;
  jprof_events_statistics_file* file =
      old == NULL ? new_file(writer, count, bytes) : larger_file(writer, count, bytes);
  writer->no_statistics = file == NULL;
  if (file != NULL) atomic_store(&writer->statistics, file);
  return file;
}

static int prepare(void) {
  const uint32_t generation = __atomic_load_n(&jprof_events_generation, __ATOMIC_ACQUIRE);
  const uint32_t epoch = __atomic_load_n(&jprof_events_epoch, __ATOMIC_ACQUIRE);
  jprof_events_writer* writer = jprof_events_own_writer();
  jprof_events_statistics_file* file = writer == NULL ? NULL : file_of(writer);
  if (file == NULL) return 0;
  if (atomic_load(&file->epoch) != epoch) {
    clear(file, 0);
    atomic_store(&file->epoch, epoch);
  }
  jprof_events_self.statistics = (unsigned char*)statistics_of(file);
  if (jprof_events_bucket(1) == 1) jprof_events_self.generation = generation;  // has lzcnt
  return 1;
}

void jprof_events_widen(jprof_events_statistics* to, int64_t value) {
  if (value < to->min) to->min = value;
  if (value > to->max) to->max = value;
  to->width = (uint64_t)to->max - (uint64_t)to->min + 1;
}

void jprof_events_count_slowly(const jprof_events_event* event, int64_t value) {
  if (jprof_events_self.busy) {  // a handler, while the thread writes an event or prepares
    jprof_events_discard();
    return;
  }
  const int error = errno;
  jprof_events_set_busy(1);
  if (prepare()) {
    const uint64_t bits = (value < 0 ? 0 : (uint64_t)value) << 1 | 1;
    jprof_events_add((jprof_events_statistics*)(jprof_events_self.statistics + event->statistics),
                     value, 63 ^ (uint64_t)__builtin_clzll(bits));
  } else {
    jprof_events_discard();
  }
  jprof_events_set_busy(0);
  errno = error;
}

void jprof_events_reset(void) {
  pthread_mutex_lock(&jprof_events_lock);
  __atomic_add_fetch(&jprof_events_epoch, 1, __ATOMIC_RELEASE);
  __atomic_add_fetch(&jprof_events_generation, 1, __ATOMIC_RELEASE);
  if (jprof_events_the_trace.directory[0] != 0) jprof_events_write_metadata();  // has the epoch
  pthread_mutex_unlock(&jprof_events_lock);
}

static const jprof_events_event* find(const char* name) {
  for (jprof_events_provider* one = jprof_events_providers; one != NULL; one = one->next)
    for (uint32_t i = 0; i < one->event_count; ++i)
      if (strcmp(one->events[i]->name, name) == 0) return one->events[i];
  return NULL;
}

static void add(jprof_events_summary* sum, const volatile jprof_events_statistics* one) {
  uint64_t count = 0;
  for (int i = 0; i < 64; ++i) {
    const uint64_t values = one->histogram[i];
    sum->histogram[i] += values;
    count += values;
  }
  if (count == 0) return;
  if (sum->count == 0 || one->min < sum->min) sum->min = one->min;
  if (sum->count == 0 || one->max > sum->max) sum->max = one->max;
  sum->count += count;
  sum->sum = (int64_t)((uint64_t)sum->sum + (uint64_t)one->sum);
}

int jprof_events_summarise(const char* event, uint32_t thread, jprof_events_summary* summary) {
  memset(summary, 0, sizeof *summary);
  pthread_mutex_lock(&jprof_events_lock);
  const jprof_events_event* found = find(event);
  pthread_mutex_unlock(&jprof_events_lock);
  if (found == NULL || found->statistics == JPROF_EVENTS_REFUSED) return -1;
  const uint32_t epoch = __atomic_load_n(&jprof_events_epoch, __ATOMIC_ACQUIRE);
  for (jprof_events_writer* one = atomic_load(&jprof_events_the_trace.writers); one != NULL;
       one = one->next) {
    jprof_events_statistics_file* file = atomic_load(&one->statistics);
    if (file == NULL || (thread != 0 && one->thread != thread)) continue;
    const uint64_t bytes = file->count * sizeof(jprof_events_statistics);
    if (atomic_load(&file->epoch) != epoch || found->statistics >= bytes) continue;
    const unsigned char* statistics = (const unsigned char*)statistics_of(file);
    add(summary, (const jprof_events_statistics*)(statistics + found->statistics));
  }
  return 0;
}
