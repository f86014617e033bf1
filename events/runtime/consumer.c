// Consumers: callbacks that get events as they are written. The thread that writes an event calls
// them, while it is busy, so that no handler interrupts it with another event.
//
// An event has a bit for each consumer that wants it, and its level has JPROF_EVENTS_CALLBACK if
// any does. A consumer that is disabled waits until no thread is in its callback.
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "events/runtime/internal.h"

enum { kMostConsumers = 64, kBuckets = 1024, kMostOpen = 65536, kSizes = 32, kChunk = 65536 };

// A begin whose end has not been written.
struct begun {
  struct begun* next;
  uint64_t key;
  const char* pair;
  int size_class;
  jprof_events_seen seen;
  unsigned char bytes[];
};

// Never unmapped, since a thread may look at it at any time.
struct jprof_events_consumer {
  int used; /* guarded by jprof_events_lock */
  _Atomic int enabled;
  _Atomic uint32_t active; /* threads in the callback */
  _Atomic uint64_t called;
  jprof_events_consumer_options options;
  char* pattern;
  pthread_mutex_t lock; /* of what follows; held only by threads that are busy */
  uint32_t open;
  struct begun* buckets[kBuckets];
  struct begun* unused[kSizes]; /* by size */
};

static jprof_events_consumer* consumers[kMostConsumers]; /* guarded by jprof_events_lock */
static _Atomic uint32_t forks;

static int wants(const jprof_events_consumer* one, const jprof_events_event* event) {
  if (one == NULL || !one->used || !atomic_load(&one->enabled)) return 0;
  const char* name = one->options.on_pair != NULL ? event->pair : event->name;
  return name != NULL && fnmatch(one->pattern, name, FNM_NOESCAPE) == 0;
}

void jprof_events_choose_consumers(jprof_events_event* event) {
  uint64_t mask = 0;
  if (event->statistics != JPROF_EVENTS_REFUSED)
    for (int i = 0; i < kMostConsumers; ++i)
      if (wants(consumers[i], event)) mask |= UINT64_C(1) << i;
  __atomic_store_n(&event->consumers, mask, __ATOMIC_RELEASE);
  const uint8_t level = event->level & (uint8_t)~JPROF_EVENTS_CALLBACK;
  __atomic_store_n(&event->level, mask == 0 ? level : level | JPROF_EVENTS_CALLBACK,
                   __ATOMIC_RELEASE);
}

static void choose_all(void) {
  for (jprof_events_provider* one = jprof_events_providers; one != NULL; one = one->next)
    for (uint32_t i = 0; i < one->event_count; ++i) jprof_events_choose_consumers(one->events[i]);
}

static void* mapped(size_t bytes) {
  void* made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return made == MAP_FAILED ? NULL : made;
}

static jprof_events_consumer* unused_consumer(void) {
  for (int i = 0; i < kMostConsumers; ++i) {
    if (consumers[i] == NULL) consumers[i] = mapped(sizeof(jprof_events_consumer));
    if (consumers[i] == NULL || !consumers[i]->used) return consumers[i];
  }
  return NULL;
}

static void forget_begins(jprof_events_consumer* consumer) {
  for (int i = 0; i < kBuckets; ++i) {
    for (struct begun* one; (one = consumer->buckets[i]) != NULL;) {
      consumer->buckets[i] = one->next;
      one->next = consumer->unused[one->size_class];
      consumer->unused[one->size_class] = one;
    }
  }
  consumer->open = 0;
}

jprof_events_consumer* jprof_events_consume(const jprof_events_consumer_options* options) {
  if ((options->on_event == NULL) == (options->on_pair == NULL)) return NULL;
  char* pattern = strdup(options->pattern);
  if (pattern == NULL) return NULL;
  pthread_mutex_lock(&jprof_events_lock);
  jprof_events_consumer* made = unused_consumer();
  if (made != NULL) {
    made->used = 1;
    made->options = *options;
    made->options.pattern = made->pattern = pattern;
    pthread_mutex_init(&made->lock, NULL);
    forget_begins(made);
    atomic_store(&made->called, 0);
    atomic_store(&made->enabled, 1);
    choose_all();
  } else {
    free(pattern);
  }
  pthread_mutex_unlock(&jprof_events_lock);
  return made;
}

static void wait_for_callbacks(jprof_events_consumer* consumer) {
  const struct timespec pause = {0, 100000};
  while (atomic_load(&consumer->active) != 0) nanosleep(&pause, NULL);
}

int jprof_events_enable(jprof_events_consumer* consumer, int enabled) {
  if (jprof_events_self.busy) return -1;  // it would wait for itself
  pthread_mutex_lock(&jprof_events_lock);
  atomic_store(&consumer->enabled, enabled != 0);
  choose_all();
  pthread_mutex_unlock(&jprof_events_lock);
  if (!enabled) wait_for_callbacks(consumer);
  return 0;
}

int jprof_events_reset_consumer(jprof_events_consumer* consumer) {
  if (jprof_events_self.busy) return -1;
  jprof_events_set_busy(1);
  pthread_mutex_lock(&consumer->lock);
  forget_begins(consumer);
  pthread_mutex_unlock(&consumer->lock);
  jprof_events_set_busy(0);
  atomic_store(&consumer->called, 0);
  return 0;
}

uint64_t jprof_events_consumed(const jprof_events_consumer* consumer) {
  return atomic_load(&consumer->called);
}

int jprof_events_end_consumer(jprof_events_consumer* consumer) {
  if (jprof_events_enable(consumer, 0) != 0) return -1;
  pthread_mutex_lock(&jprof_events_lock);
  free(consumer->pattern);
  consumer->used = 0;
  pthread_mutex_unlock(&jprof_events_lock);
  return 0;
}

// The other threads, of which some may have been in callbacks, do not exist in the child.
void jprof_events_forget_consumers(void) {
  atomic_fetch_add(&forks, 1);
  jprof_events_self.thread = 0;
  for (int i = 0; i < kMostConsumers; ++i) {
    if (consumers[i] == NULL) continue;
    atomic_store(&consumers[i]->enabled, 0);
    atomic_store(&consumers[i]->active, 0);
    pthread_mutex_init(&consumers[i]->lock, NULL);
  }
  choose_all();
}

// ---- While an event is written. ----

static int passes(const jprof_events_consumer_options* filter, const jprof_events_event* event,
                  const unsigned char* record) {
  const unsigned char* at = record + JPROF_EVENTS_HEADER_BYTES;
  const int wanted = filter->contexts, written = event->contexts;
  uint32_t processor = 0, process = 0, thread = jprof_events_self.thread;
  uint64_t calling_context = 0;
#define TAKE(bit, value)                 \
  if (written & (bit)) {                 \
    memcpy(&(value), at, sizeof(value)); \
    at += sizeof(value);                 \
  }
  TAKE(JPROF_EVENTS_PROCESSOR, processor)
  else if (wanted & JPROF_EVENTS_PROCESSOR) processor = (uint32_t)sched_getcpu();
  TAKE(JPROF_EVENTS_PROCESS, process)
  else if (wanted & JPROF_EVENTS_PROCESS) process = (uint32_t)getpid();
  TAKE(JPROF_EVENTS_THREAD, thread)
  TAKE(JPROF_EVENTS_CALLING_CONTEXT, calling_context)
  else if (wanted & JPROF_EVENTS_CALLING_CONTEXT) return 0;
#undef TAKE
  if ((wanted & JPROF_EVENTS_PROCESSOR) && processor != filter->processor) return 0;
  if ((wanted & JPROF_EVENTS_PROCESS) && process != filter->process) return 0;
  if ((wanted & JPROF_EVENTS_THREAD) && thread != filter->thread) return 0;
  return !(wanted & JPROF_EVENTS_CALLING_CONTEXT) || calling_context == filter->calling_context;
}

static struct begun** bucket_of(jprof_events_consumer* consumer, uint64_t key) {
  return &consumer->buckets[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

// Memory of malloc must not be used: the event may be one of a handler that interrupted it.
static struct begun* room_for(jprof_events_consumer* consumer, size_t bytes) {
  const int class_ = 64 - __builtin_clzll(sizeof(struct begun) + bytes);
  const size_t size = (size_t)1 << class_;
  if (consumer->open == kMostOpen || class_ >= kSizes) return NULL;
  if (consumer->unused[class_] == NULL) {
    const size_t chunk = size > kChunk ? size : kChunk;
    unsigned char* memory = mapped(chunk);
    for (size_t at = 0; memory != NULL && at + size <= chunk; at += size) {
      struct begun* one = (struct begun*)(memory + at);
      one->size_class = class_;
      one->next = consumer->unused[class_];
      consumer->unused[class_] = one;
    }
  }
  struct begun* one = consumer->unused[class_];
  if (one != NULL) consumer->unused[class_] = one->next;
  return one;
}

static void keep_begin(jprof_events_consumer* consumer, const jprof_events_event* event,
                       const jprof_events_seen* seen, uint64_t key) {
  pthread_mutex_lock(&consumer->lock);
  struct begun* one = room_for(consumer, seen->size);
  if (one != NULL) {
    one->key = key;
    one->pair = event->pair;
    one->seen = *seen;
    memcpy(one->bytes, seen->bytes, seen->size);
    one->seen.bytes = one->bytes;
    struct begun** bucket = bucket_of(consumer, key);
    one->next = *bucket;
    *bucket = one;
    ++consumer->open;
  }
  pthread_mutex_unlock(&consumer->lock);
}

// Returns the newest begin with the key, which is the innermost of nested ones, or null.
static struct begun* take_begin(jprof_events_consumer* consumer, const char* pair, uint64_t key) {
  pthread_mutex_lock(&consumer->lock);
  struct begun** at = bucket_of(consumer, key);
  while (*at != NULL && ((*at)->key != key || strcmp((*at)->pair, pair) != 0)) at = &(*at)->next;
  struct begun* taken = *at;
  if (taken != NULL) {
    *at = taken->next;
    --consumer->open;
  }
  pthread_mutex_unlock(&consumer->lock);
  return taken;
}

static void give_back(jprof_events_consumer* consumer, struct begun* begin) {
  pthread_mutex_lock(&consumer->lock);
  begin->next = consumer->unused[begin->size_class];
  consumer->unused[begin->size_class] = begin;
  pthread_mutex_unlock(&consumer->lock);
}

static void call(jprof_events_consumer* consumer, const jprof_events_event* event,
                 const jprof_events_seen* seen, uint64_t key) {
  const jprof_events_consumer_options* options = &consumer->options;
  if (!passes(options, event, seen->bytes)) return;
  const uint32_t forks_before = atomic_load(&forks);
  struct begun* begin = NULL;
  if (options->on_pair == NULL) {
    options->on_event(options->data, seen);
  } else if (event->half == JPROF_EVENTS_BEGIN) {
    return keep_begin(consumer, event, seen, key);
  } else {
    begin = take_begin(consumer, event->pair, key);
    options->on_pair(options->data, begin == NULL ? NULL : &begin->seen, seen);
  }
  atomic_fetch_add(&consumer->called, 1);
  if (begin != NULL && atomic_load(&forks) == forks_before) give_back(consumer, begin);
}

static void call_all(const jprof_events_event* event, const jprof_events_seen* seen, uint64_t key) {
  uint64_t left = __atomic_load_n(&event->consumers, __ATOMIC_ACQUIRE);
  for (; left != 0; left &= left - 1) {
    jprof_events_consumer* one = consumers[__builtin_ctzll(left)];
    const uint32_t forks_before = atomic_load(&forks);
    atomic_fetch_add(&one->active, 1);
    if (atomic_load(&one->enabled)) call(one, event, seen, key);
    if (atomic_load(&forks) != forks_before) return;  // the child of a callback has no consumers
    atomic_fetch_sub(&one->active, 1);
  }
}

// The record in the trace has the time of its begin, so that times of a packet never decrease.
static void log_record(const jprof_events_event* event, unsigned char* bytes, size_t size) {
  jprof_events_record record;
  if (!jprof_events_begin(&record, event->id, size)) return;
  const size_t fields = size - JPROF_EVENTS_HEADER_BYTES;
  memcpy(record.at, bytes + JPROF_EVENTS_HEADER_BYTES, fields);
  record.at += fields;
  memcpy(bytes, &record.time, sizeof record.time);
  jprof_events_commit(&record);
}

uint64_t jprof_events_key(const char* text) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (int i = 0; text != NULL && i < JPROF_EVENTS_TEXT_BYTES && text[i] != 0; ++i)
    hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return hash;
}

void jprof_events_deliver(const jprof_events_event* event, unsigned char* bytes, size_t size,
                          uint64_t key) {
  if (jprof_events_self.busy) return jprof_events_discard();
  const int error = errno;
  const uint64_t now = jprof_events_ticks();
  memcpy(bytes, &now, sizeof now);
  memcpy(bytes + sizeof now, &event->id, sizeof event->id);
  if (JPROF_EVENTS_LEVEL(*event) & JPROF_EVENTS_LOG) log_record(event, bytes, size);
  jprof_events_set_busy(1);
  if (jprof_events_self.thread == 0) jprof_events_self.thread = (uint32_t)syscall(SYS_gettid);
  jprof_events_seen seen = {event->name, event->version, event->id, jprof_events_self.thread,
                            0,           bytes,          size};
  memcpy(&seen.ticks, bytes, sizeof seen.ticks);
  call_all(event, &seen, event->nested ? jprof_events_self.thread : key);
  jprof_events_set_busy(0);
  errno = error;
}
