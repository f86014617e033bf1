// The trace of the process: opening and closing it, the events that there are, and their levels.
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events/runtime/forget.h"
#include "events/runtime/internal.h"

jprof_events_trace jprof_events_the_trace;
jprof_events_provider* jprof_events_providers;
uint32_t jprof_events_registered;
pthread_mutex_t jprof_events_lock = PTHREAD_MUTEX_INITIALIZER;

static const char kFolder[] = "JPROF_EVENTS_FOLDER";  // the variable

static __thread const char* last_error;
// Allocated, because a library that is loaded at run time has little thread-local storage.
static __thread char* own_error;

const char* jprof_events_error(void) { return last_error == NULL ? "" : last_error; }

void jprof_events_set_error(const char* text) { last_error = text; }

static void forget_error(void) {
  last_error = NULL;
  free(own_error);
  own_error = NULL;
}

static int fail(const char* what, const char* why) {
  forget_error();
  if (asprintf(&own_error, "%s: %s", what, why) < 0) own_error = NULL;
  last_error = own_error == NULL ? "not enough memory" : own_error;
  return -1;
}

static void set_level(jprof_events_event* event, int level) {
  if (event->statistics == JPROF_EVENTS_REFUSED) level = JPROF_EVENTS_OFF;
  const uint8_t callback = event->level & JPROF_EVENTS_CALLBACK;
  __atomic_store_n(&event->level, (uint8_t)level | callback, __ATOMIC_RELEASE);
}

// Sets the levels of a provider's events; a negative one is that of the specification. A null
// pattern names all. Returns how many events it names.
static int set_levels(jprof_events_provider* provider, const char* pattern, int level) {
  int count = 0;
  for (uint32_t i = 0; i < provider->event_count; ++i) {
    jprof_events_event* event = provider->events[i];
    if (pattern != NULL && fnmatch(pattern, event->name, FNM_NOESCAPE) != 0) continue;
    set_level(event, level < 0 ? event->initial_level : level);
    ++count;
  }
  return count;
}

static int set_all_levels(const char* pattern, int level) {
  int count = 0;
  for (jprof_events_provider* one = jprof_events_providers; one != NULL; one = one->next)
    count += set_levels(one, pattern, level);
  return count;
}

static const jprof_events_event* find_id(uint32_t id) {
  for (jprof_events_provider* one = jprof_events_providers; one != NULL; one = one->next)
    for (uint32_t i = 0; i < one->event_count; ++i)
      if (one->events[i]->id == id) return one->events[i];
  return NULL;
}

// Two libraries may contain the same generated events, which then share their statistics. If
// another event has the id, readers could not tell which it is.
static uint64_t place_of(const jprof_events_event* event) {
  const jprof_events_event* known = find_id(event->id);
  if (known == NULL) return jprof_events_registered * sizeof(jprof_events_statistics);
  return strcmp(known->metadata, event->metadata) == 0 ? known->statistics : JPROF_EVENTS_REFUSED;
}

void jprof_events_register(jprof_events_provider* provider) {
  if (provider->interface_version != JPROF_EVENTS_INTERFACE) return;  // its events stay off
  pthread_mutex_lock(&jprof_events_lock);
  uint32_t added = 0;
  for (uint32_t i = 0; i < provider->event_count; ++i) {
    jprof_events_event* event = provider->events[i];
    event->statistics = place_of(event);
    jprof_events_choose_consumers(event);
    if (event->statistics == JPROF_EVENTS_REFUSED || find_id(event->id) != NULL) continue;
    event->statistics += added++ * sizeof(jprof_events_statistics);
  }
  __atomic_add_fetch(&jprof_events_registered, added, __ATOMIC_RELEASE);
  __atomic_add_fetch(&jprof_events_generation, 1, __ATOMIC_RELEASE);
  provider->next = jprof_events_providers;
  jprof_events_providers = provider;
  if (atomic_load(&jprof_events_the_trace.open) == JPROF_EVENTS_OPEN &&
      jprof_events_write_metadata() == 0)
    set_levels(provider, NULL, -1);
  pthread_mutex_unlock(&jprof_events_lock);
}

static int check_options(const jprof_events_options* options) {
  jprof_events_trace* trace = &jprof_events_the_trace;
  trace->mode = options->mode;
  trace->packet_bytes = options->packet_bytes == 0 ? 256 << 10 : options->packet_bytes;
  trace->packets = options->packets == 0 ? 8 : options->packets;
  if (options->mode < JPROF_EVENTS_NORMAL || options->mode > JPROF_EVENTS_CONTINUOUS)
    return fail("mode", "is not one of jprof_events_mode");
  if (trace->packet_bytes % (64 << 10) != 0 || trace->packet_bytes > 1u << 30)
    return fail("packet_bytes", "must be a multiple of 64 KiB, at most 1 GiB");
  if (trace->packets < 2 || trace->packets > 100000)
    return fail("packets", "must be from 2 to 100000");
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < trace->packet_bytes + (1u << 20))
    return fail("packet_bytes", "files of this size are not allowed; raise `ulimit -f`");
  return 0;
}

// Makes the directory of this process in the folder that the environment names. Another process, or
// another program of the same one, may have used the number before.
static int make_own_directory(char* path, size_t size) {
  const char* folder = secure_getenv(kFolder);
  if (folder == NULL || folder[0] == 0) return fail(kFolder, "is not set, and no trace is open");
  for (int used = 0; used < 100; ++used) {
    snprintf(path, size, used == 0 ? "%s/%ld" : "%s/%ld-%d", folder, (long)getpid(), used);
    if (mkdir(path, 0777) == 0) return 0;
    if (errno != EEXIST) break;
  }
  return fail(path, strerror(errno));
}

static int make_directories(const char* directory) {
  jprof_events_trace* trace = &jprof_events_the_trace;
  char own[PATH_MAX + 128], absolute[PATH_MAX], path[PATH_MAX + 128];
  if (directory == NULL) {
    if (make_own_directory(own, sizeof own) != 0) return -1;
    directory = own;
  } else if (mkdir(directory, 0777) != 0) {
    return fail(directory, strerror(errno));
  }
  if (realpath(directory, absolute) == NULL) return fail(directory, strerror(errno));
  strcpy(trace->directory, absolute);
  static const char* const kFolders[] = {"statistics", "specifications"};
  for (size_t i = 0; i < 2; ++i) {
    snprintf(path, sizeof path, "%s/%s", trace->directory, kFolders[i]);
    if (mkdir(path, 0777) != 0) return fail(path, strerror(errno));
  }
  return 0;
}

// The child shares the mapped files of its parent, but must not write to them. Only the thread that
// forked exists; the lock may be held by one that does not.
static void in_child(void) {
  jprof_events_forget_consumers();
  set_all_levels(NULL, JPROF_EVENTS_OFF);
  memset(&jprof_events_self, 0, sizeof jprof_events_self);
  jprof_events_forget_control();
  jprof_events_the_trace.directory[0] = 0;
  atomic_store(&jprof_events_the_trace.next_writer, 0);
  atomic_store(&jprof_events_the_trace.writers, NULL);
  atomic_store(&jprof_events_the_trace.open, JPROF_EVENTS_NEVER);
  atomic_store(&jprof_events_the_trace.first_mark, 0);
  pthread_mutex_init(&jprof_events_lock, NULL);
}

int jprof_events_open_locked(const char* directory, const jprof_events_options* options) {
  static int has_child_handler;
  const jprof_events_options defaults = {JPROF_EVENTS_NORMAL, 0, 0, 0};
  const char* named = directory == NULL ? kFolder : directory;
  forget_error();
  if (options == NULL) options = &defaults;
  if (atomic_load(&jprof_events_the_trace.open) != JPROF_EVENTS_NEVER)
    return fail(named, "this process has opened a trace before; it can open one");
  if (check_options(options) != 0) return -1;
  if (!has_child_handler && pthread_atfork(NULL, NULL, in_child) != 0)
    return fail(named, "not enough memory");
  has_child_handler = 1;
  if (jprof_events_at_thread_end() != 0) return fail(named, "too many keys of threads");
  if (make_directories(directory) != 0) return -1;
  jprof_events_trace* trace = &jprof_events_the_trace;
  if (getrandom(trace->uuid, sizeof trace->uuid, 0) != sizeof trace->uuid)
    return fail(named, "no random numbers");
  trace->uuid[6] = (uint8_t)((trace->uuid[6] & 0x0f) | 0x40);  // RFC 4122: version 4
  trace->uuid[8] = (uint8_t)((trace->uuid[8] & 0x3f) | 0x80);
  trace->begin = jprof_events_now();
  if (jprof_events_write_metadata() != 0) return fail(named, strerror(errno));
  set_all_levels(NULL, -1);  // before: who finds the trace open writes events
  atomic_store(&trace->open, JPROF_EVENTS_OPEN);
  if (!options->no_control) jprof_events_begin_control();
  return 0;
}

int jprof_events_open(const char* directory, const jprof_events_options* options) {
  pthread_mutex_lock(&jprof_events_lock);
  const int opened = jprof_events_open_locked(directory, options);
  pthread_mutex_unlock(&jprof_events_lock);
  return opened;
}

void jprof_events_close(void) {
  pthread_mutex_lock(&jprof_events_lock);
  if (atomic_load(&jprof_events_the_trace.open) == JPROF_EVENTS_OPEN) {
    jprof_events_end_control();
    set_all_levels(NULL, JPROF_EVENTS_OFF);
    atomic_store(&jprof_events_the_trace.open, JPROF_EVENTS_CLOSED);
    jprof_events_write_metadata();  // if it fails, the first ones remain
  }
  pthread_mutex_unlock(&jprof_events_lock);
}

void jprof_events_forget(void) {
  pthread_mutex_lock(&jprof_events_lock);
  if (atomic_load(&jprof_events_the_trace.open) == JPROF_EVENTS_CLOSED) {
    jprof_events_end_all_writers();
    jprof_events_the_trace.directory[0] = 0;
    atomic_store(&jprof_events_the_trace.next_writer, 0);
    atomic_store(&jprof_events_the_trace.open, JPROF_EVENTS_NEVER);
    __atomic_add_fetch(&jprof_events_generation, 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&jprof_events_lock);
}

int jprof_events_set_level(const char* pattern, int level) {
  forget_error();
  if (level < 0 || level > (JPROF_EVENTS_STATISTICS | JPROF_EVENTS_LOG))
    return fail(pattern, "the level is not a combination of JPROF_EVENTS_STATISTICS and _LOG");
  pthread_mutex_lock(&jprof_events_lock);
  const int open = atomic_load(&jprof_events_the_trace.open) == JPROF_EVENTS_OPEN;
  const int count = open ? set_all_levels(pattern, level) : -1;
  pthread_mutex_unlock(&jprof_events_lock);
  return open ? count : fail(pattern, "no trace is open");
}
