// Writes what describes a trace: the metadata of Common Trace Format, the specifications, and which
// event the statistics belong to.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "events/runtime/clock.h"
#include "events/runtime/ctf.h"
#include "events/runtime/internal.h"

static uint64_t nanos_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

jprof_events_time jprof_events_now(void) {
  jprof_events_time best = {0, 0, 0};
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {  // the try that was interrupted least
    const uint64_t before = jprof_events_ticks();
    const uint64_t monotonic = nanos_of(CLOCK_MONOTONIC), unix_time = nanos_of(CLOCK_REALTIME);
    const uint64_t took = jprof_events_ticks() - before;
    if (took >= shortest) continue;
    shortest = took;
    best = (jprof_events_time){before + took / 2, monotonic, unix_time};
  }
  return best;
}

// Returns ticks per second since the trace was opened. Waits until that can be said to 20 parts per
// million.
static uint64_t frequency(jprof_events_time begin, jprof_events_time* now) {
  *now = jprof_events_now();
  while (now->monotonic - begin.monotonic < 5000000) {
    const struct timespec pause = {0, 1000000};
    nanosleep(&pause, NULL);
    *now = jprof_events_now();
  }
  const unsigned __int128 ticks = now->ticks - begin.ticks;
  return (uint64_t)(ticks * 1000000000u / (now->monotonic - begin.monotonic));
}

static void print_clock(FILE* file) {
  jprof_events_time now;
  const uint64_t per_second = frequency(jprof_events_the_trace.begin, &now);
  const jprof_events_time begin = jprof_events_the_trace.begin;
  const jprof_events_offset offset =
      jprof_events_offset_of(begin.unix_time, begin.ticks, per_second);
  fprintf(file, JPROF_EVENTS_CLOCK, (unsigned long long)per_second, (long long)offset.seconds,
          (unsigned long long)offset.ticks);
  const uint64_t measured = now.monotonic - begin.monotonic;
  fprintf(file,
          "env {\n  tracer_name = \"jprof\";\n  tracer_major = 1;\n  process = %ld;\n"
          "  clock_begin_ticks = \"%llu\";\n  clock_begin_monotonic = \"%llu\";\n"
          "  clock_error_ppb = %llu;\n  closed = %d;\n};\n\n",
          (long)getpid(), (unsigned long long)begin.ticks, (unsigned long long)begin.monotonic,
          (unsigned long long)(1 + 100000000000u / measured),  // each reading is within 50 ns
          atomic_load(&jprof_events_the_trace.open) == JPROF_EVENTS_CLOSED);
}

void jprof_events_print_each(FILE* file, void (*print)(FILE*, const jprof_events_event*)) {
  for (uint64_t index = 0; index < jprof_events_registered; ++index) {
    const jprof_events_event* found = NULL;
    for (jprof_events_provider* one = jprof_events_providers; one != NULL; one = one->next)
      for (uint32_t i = 0; i < one->event_count; ++i)
        if (one->events[i]->statistics == index * sizeof(jprof_events_statistics))
          found = one->events[i];
    if (found != NULL) print(file, found);
  }
}

static void print_event(FILE* file, const jprof_events_event* event) {
  fprintf(file, "\n%s", event->metadata);
}

static void print_metadata(FILE* file) {
  const uint8_t* b = jprof_events_the_trace.uuid;
  char uuid[40];
  snprintf(uuid, sizeof uuid,
           "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2],
           b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
  fputs(JPROF_EVENTS_TYPES, file);
  fprintf(file, JPROF_EVENTS_TRACE, uuid);
  print_clock(file);
  fputs(JPROF_EVENTS_STREAMS, file);
  jprof_events_print_each(file, print_event);
}

static void print_name(FILE* file, const jprof_events_event* event) {
  fprintf(file, "%08x %s\n", event->id, event->name);
}

static void print_names(FILE* file) {
  fprintf(file, "epoch %u\n", jprof_events_epoch);
  jprof_events_print_each(file, print_name);
}

// Readers find all of a file or none of it: it is renamed when it is complete. Names with a dot are
// ignored by readers of CTF.
static int write_file(const char* name, void (*print)(FILE*), const char* text) {
  char hidden[PATH_MAX + 128], path[PATH_MAX + 128];
  snprintf(hidden, sizeof hidden, "%s/.unfinished", jprof_events_the_trace.directory);
  snprintf(path, sizeof path, "%s/%s", jprof_events_the_trace.directory, name);
  FILE* file = fopen(hidden, "we");
  if (file == NULL) return -1;
  if (print != NULL) print(file);
  if (text != NULL) fputs(text, file);
  const int failed = ferror(file);
  if (fclose(file) == 0 && !failed && rename(hidden, path) == 0) return 0;
  const int error = errno;
  unlink(hidden);
  errno = error;
  return -1;
}

// Libraries may contain several versions of a specification. Returns the number of this one, or -1
// if it is one that was registered before.
static int number_of(const jprof_events_provider* provider) {
  int number = 0;
  for (const jprof_events_provider* one = provider->next; one != NULL; one = one->next) {
    if (strcmp(one->name, provider->name) != 0) continue;
    if (strcmp(one->specification, provider->specification) == 0) return -1;
    if (number_of(one) >= 0) ++number;
  }
  return number;
}

int jprof_events_write_metadata(void) {
  for (jprof_events_provider* one = jprof_events_providers; one != NULL; one = one->next) {
    char name[64];
    const int number = number_of(one);
    if (number < 0) continue;
    if (number == 0)
      snprintf(name, sizeof name, "specifications/%.31s.xml", one->name);
    else
      snprintf(name, sizeof name, "specifications/%.31s-%d.xml", one->name, number);
    if (write_file(name, NULL, one->specification) != 0) return -1;
  }
  if (write_file("statistics/events", print_names, NULL) != 0) return -1;
  return write_file("metadata", print_metadata, NULL);
}
