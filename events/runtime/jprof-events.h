/* Events of programs over time: libjprof-events writes them to a trace in Common Trace Format 1.8,
 * or sums them up. See docs/EVENTS.md.
 *
 * A program specifies its events in XML; `jprof events generate` makes a function of each, which
 * the program calls. It tests one byte while the event is off. The program, or whoever starts it,
 * opens a trace once and chooses a level for each event.
 *
 * Events and, while a trace is open, marks may be written by any thread and by signal handlers: an
 * event of a handler that interrupts the writing of another one is discarded and counted. The other
 * functions may be called by any thread, but not by handlers. No function ends the program, prints,
 * or takes a lock while it writes an event. */
#ifndef JPROF_EVENTS_H
#define JPROF_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JPROF_EVENTS_API __attribute__((visibility("default")))

/* The levels of an event, which can be combined. */
#define JPROF_EVENTS_OFF 0
#define JPROF_EVENTS_STATISTICS 1
#define JPROF_EVENTS_LOG 2

/* What happens when a thread has filled its packets. */
typedef enum {
  JPROF_EVENTS_NORMAL,     /* later events are discarded and counted */
  JPROF_EVENTS_WRAP,       /* the oldest packet is overwritten */
  JPROF_EVENTS_CONTINUOUS, /* there is always another packet */
} jprof_events_mode;

typedef struct {
  jprof_events_mode mode;
  uint32_t packet_bytes; /* 0: 256 KiB; a multiple of 64 KiB, at most 1 GiB */
  uint32_t packets;      /* of each thread; 0: 8; at least 2 */
  uint8_t no_control;    /* 1: there is no thread that serves `jprof ctl` */
} jprof_events_options;

/* Creates the directory of a trace, and sets each event to the level of its specification. A null
 * directory is that of this process in the folder $JPROF_EVENTS_FOLDER. Null options are all 0. A
 * process can open one trace in its life; a child that it forks can open another one, and has all
 * events off until then. Returns 0, or -1 and sets the error text. */
JPROF_EVENTS_API int jprof_events_open(const char* directory, const jprof_events_options* options);

/* Sets all events to the level off and completes the metadata. A trace that was not closed, of a
 * process that was killed, has all events, too; only its clock's frequency is less exact. */
JPROF_EVENTS_API void jprof_events_close(void);

/* Sets the events with this name to a level. The pattern is layer::class::event, where * stands for
 * any text. Returns how many events it names, or -1 and sets the error text if no trace is open.
 * Events of libraries that are loaded later have the level of their specification. */
JPROF_EVENTS_API int jprof_events_set_level(const char* pattern, int level);

/* Begins all statistics again from 0. */
JPROF_EVENTS_API void jprof_events_reset(void);

/* Writes the event process::marks::mark, whose text is cut off after 255 bytes. If no trace was
 * opened, the first call in a process opens that of a null directory, in the mode continuous, until
 * the process exits. Returns 0, or -1 and sets the error text if no trace is open. */
JPROF_EVENTS_API int jprof_mark(const char* text);

/* The error of the calling thread's last call of jprof_events_open or jprof_events_set_level, or of
 * a jprof_mark that failed since; "" if there is none. Valid until the next call. */
JPROF_EVENTS_API const char* jprof_events_error(void);

/* The number of events of all threads that found no room or interrupted another one. */
JPROF_EVENTS_API uint64_t jprof_events_discarded(void);

/* Statistics of the field that a specification names. Values are those of signed integers; larger
 * ones count as 2^63 - 1. histogram[0] counts values below 1, histogram[n] those from 2^(n-1) to
 * below 2^n. If count is 0, so is the rest. */
typedef struct {
  uint64_t count;
  int64_t sum, min, max;
  uint64_t histogram[64];
} jprof_events_summary;

/* Sums up an event, layer::class::event, over all threads or, if `thread` is not 0, over the one
 * with this kernel's id. If there are several versions of it, that of the library which was loaded
 * last. Returns 0, or -1 if there is no such event. */
JPROF_EVENTS_API int jprof_events_summarise(const char* event, uint32_t thread,
                                            jprof_events_summary* summary);

/* ---- Consumers: functions of the program that get events when they are written. ---- */

/* An event that was written. The generated readers read `bytes`, which are its record. All of it is
 * valid until the callback returns. */
typedef struct {
  const char* event; /* layer::class::name */
  uint16_t version;
  uint32_t id;
  uint32_t thread; /* the kernel's id of the thread that wrote it */
  uint64_t ticks;
  const void* bytes;
  size_t size;
} jprof_events_seen;

typedef void (*jprof_events_callback)(void* data, const jprof_events_seen* event);

/* `begin` is null if it was written while the consumer was not enabled, or if there were 65,536
 * others without an end. */
typedef void (*jprof_events_pair_callback)(void* data, const jprof_events_seen* begin,
                                           const jprof_events_seen* end);

#define JPROF_EVENTS_PROCESSOR 1
#define JPROF_EVENTS_PROCESS 2
#define JPROF_EVENTS_THREAD 4
#define JPROF_EVENTS_CALLING_CONTEXT 8

/* Either on_event is called for each event whose name matches the pattern, or on_pair for each end
 * of a pair with a matching name, layer::class::pair. `contexts` says which of the four values
 * below it must be those of the event: of its record or, if that does not contain them, of the
 * thread that writes it. An event that has no calling context has none that is equal. */
typedef struct {
  const char* pattern;
  jprof_events_callback on_event;
  jprof_events_pair_callback on_pair;
  void* data; /* the first argument of the callback */
  uint32_t contexts;
  uint32_t processor, process, thread;
  uint64_t calling_context;
} jprof_events_consumer_options;

typedef struct jprof_events_consumer jprof_events_consumer;

/* Makes a consumer, which is enabled, whether a trace is open or not and whatever the levels of the
 * events are. Threads call it at the same time, each for the events that it writes, within the
 * function that writes the event; so may handlers of signals. Events that the callback writes are
 * discarded and counted. There can be 64 at a time. Children that are forked have none. Returns
 * null if there is no room for it, or if not exactly one of the callbacks is given. */
JPROF_EVENTS_API jprof_events_consumer* jprof_events_consume(
    const jprof_events_consumer_options* options);

/* Enables or disables a consumer. When it is disabled, no thread is in its callback any more: the
 * caller must not hold a lock that the callback takes. This and the next two return 0, or -1 if a
 * callback calls them. */
JPROF_EVENTS_API int jprof_events_enable(jprof_events_consumer* consumer, int enabled);

/* Forgets the begins that have no end yet, and counts calls from 0. */
JPROF_EVENTS_API int jprof_events_reset_consumer(jprof_events_consumer* consumer);

/* Disables a consumer, which must not be used any more. */
JPROF_EVENTS_API int jprof_events_end_consumer(jprof_events_consumer* consumer);

/* How often the callback has returned. */
JPROF_EVENTS_API uint64_t jprof_events_consumed(const jprof_events_consumer* consumer);

/* ---- What generated code uses; programs do not. ---- */

#define JPROF_EVENTS_CALLBACK 4 /* another bit of levels: the event has consumers */

#define JPROF_EVENTS_BEGIN 1 /* halves of pairs */
#define JPROF_EVENTS_END 2

typedef struct {
  uint8_t level; /* first, so that a stub of another language tests it */
  uint8_t initial_level;
  uint16_t version;
  uint32_t id;
  uint64_t statistics; /* where they are among those of a thread; set when it is registered */
  const char* name;
  const char* metadata;
  const char* pair;   /* layer::class::pair; null if the event is no half of one */
  uint8_t half;       /* which one */
  uint8_t nested;     /* 1: the pair is nested in its thread; 0: a key says what belongs together */
  uint8_t contexts;   /* which of them the record contains */
  uint64_t consumers; /* a bit for each that wants the event */
} jprof_events_event;

typedef struct jprof_events_provider {
  uint32_t interface_version; /* JPROF_EVENTS_INTERFACE */
  uint32_t event_count;
  const char* name;
  const char* specification;
  jprof_events_event* const* events;
  struct jprof_events_provider* next;
} jprof_events_provider;

#define JPROF_EVENTS_INTERFACE 3

/* Must be called once, before its events are used; the provider must exist for ever. */
JPROF_EVENTS_API void jprof_events_register(jprof_events_provider* provider);

/* The begin of each packet. */
typedef struct {
  uint32_t magic;
  uint8_t uuid[16];
  uint32_t stream;
  uint64_t stream_instance;
  uint64_t timestamp_begin, timestamp_end; /* ticks */
  uint64_t content_size, packet_size;      /* bits */
  uint64_t events_discarded;
  uint32_t process, thread;
  uint64_t monotonic; /* CLOCK_MONOTONIC at timestamp_begin, ns */
  char thread_name[16];
} jprof_events_packet;

/* Statistics of an event in one thread. */
typedef struct {
  int64_t sum, min, max;
  uint64_t width; /* max - min + 1; 0 if there are no values yet, or if it is 2^64 */
  uint64_t histogram[64];
} jprof_events_statistics;

/* The calling thread's packet and statistics. Only the thread itself writes them. */
typedef struct {
  uint8_t busy;         /* 1 while an event is written */
  uint32_t generation;  /* that the statistics were prepared for */
  unsigned char* next;  /* where the next record begins */
  unsigned char* limit; /* the end of the packet; null if there is none */
  jprof_events_packet* packet;
  unsigned char* statistics;
  void* more;
  uint32_t discarded; /* events of signal handlers that interrupted the making of `more` */
  uint32_t thread;    /* the kernel's id of the thread; 0 until a consumer needs it */
} jprof_events_thread;

extern JPROF_EVENTS_API __thread jprof_events_thread jprof_events_self
    __attribute__((tls_model("initial-exec")));
/* Changes with each reset, and when there are more events. */
extern JPROF_EVENTS_API uint32_t jprof_events_generation;

/* These do what is rare: a new thread, a full packet, an event within another one, a new least. */
JPROF_EVENTS_API int jprof_events_make_room(void);
JPROF_EVENTS_API void jprof_events_discard(void);
JPROF_EVENTS_API void jprof_events_count_slowly(const jprof_events_event* event, int64_t value);
JPROF_EVENTS_API void jprof_events_widen(jprof_events_statistics* to, int64_t value);
/* Logs a record, if the level says so, and calls the consumers. Writes time and id into it. */
JPROF_EVENTS_API void jprof_events_deliver(const jprof_events_event* event, unsigned char* bytes,
                                           size_t size, uint64_t key);
/* Returns a number for a text that two events of a pair have in common. */
JPROF_EVENTS_API uint64_t jprof_events_key(const char* text);

#define JPROF_EVENTS_LEVEL(event) __atomic_load_n(&(event).level, __ATOMIC_RELAXED)
#define JPROF_EVENTS_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define JPROF_EVENTS_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

typedef struct {
  unsigned char* at;
  uint64_t time;
} jprof_events_record;

#define JPROF_EVENTS_HEADER_BYTES 12 /* time and id of each record */
#define JPROF_EVENTS_TEXT_BYTES 255  /* of a text, without the zero byte */

static inline uint64_t jprof_events_ticks(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
#error "no time stamp counter for this architecture"
#endif
}

/* Signal handlers see these in the order of the program. */
static inline void jprof_events_set_busy(uint8_t busy) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&jprof_events_self.busy, busy, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#define JPROF_EVENTS_PUT(record, value)            \
  do {                                             \
    memcpy((record)->at, &(value), sizeof(value)); \
    (record)->at += sizeof(value);                 \
  } while (0)

/* Begins a record that has at most this many bytes. Returns 0 if there is no room. */
static inline int jprof_events_begin(jprof_events_record* record, uint32_t id, size_t most_bytes) {
  jprof_events_thread* self = &jprof_events_self;
  if (JPROF_EVENTS_UNLIKELY(__atomic_load_n(&self->busy, __ATOMIC_RELAXED))) {
    jprof_events_discard();
    return 0;
  }
  jprof_events_set_busy(1);
  if (JPROF_EVENTS_UNLIKELY((size_t)(self->limit - self->next) < most_bytes) &&
      !jprof_events_make_room()) {
    jprof_events_set_busy(0);
    return 0;
  }
  record->at = self->next;
  record->time = jprof_events_ticks();
  JPROF_EVENTS_PUT(record, record->time);
  JPROF_EVENTS_PUT(record, id);
  return 1;
}

static inline void jprof_events_put_text(jprof_events_record* record, const char* text) {
  size_t size = text == NULL ? 0 : strlen(text);
  if (JPROF_EVENTS_UNLIKELY(size > JPROF_EVENTS_TEXT_BYTES)) { /* not within a character */
    size = JPROF_EVENTS_TEXT_BYTES;
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) --size;
  }
  if (size != 0) memcpy(record->at, text, size);
  record->at[size] = 0;
  record->at += size + 1;
}

/* Makes the record part of the trace. A process that is killed has all records up to here. */
static inline void jprof_events_commit(const jprof_events_record* record) {
  jprof_events_packet* packet = jprof_events_self.packet;
  const uint64_t bytes = (uint64_t)(record->at - (unsigned char*)packet);
  jprof_events_self.next = record->at;
  __atomic_store_n(&packet->timestamp_end, record->time, __ATOMIC_RELEASE);
  __atomic_store_n(&packet->content_size, bytes * 8, __ATOMIC_RELEASE);
  jprof_events_set_busy(0);
}

/* Returns the bucket of a value. Wrong for x86 processors without lzcnt, before 2013: they call
 * jprof_events_count_slowly each time, because bsr is slow on others. */
static inline uint64_t jprof_events_bucket(int64_t value) {
  uint64_t bits = (value < 0 ? 0 : (uint64_t)value) << 1 | 1;
#if defined(__x86_64__)
  __asm__("lzcntq %0, %0" : "+r"(bits) : : "cc");
  return bits ^ 63;
#else
  return (uint64_t)__builtin_clzll(bits) ^ 63;
#endif
}

static inline void jprof_events_add(jprof_events_statistics* to, int64_t value, uint64_t bucket) {
  to->sum = (int64_t)((uint64_t)to->sum + (uint64_t)value);
  ++to->histogram[bucket];
  if (JPROF_EVENTS_UNLIKELY((uint64_t)value - (uint64_t)to->min >= to->width))
    jprof_events_widen(to, value);
}

static inline void jprof_events_count(const jprof_events_event* event, int64_t value) {
  const uint32_t generation = __atomic_load_n(&jprof_events_generation, __ATOMIC_RELAXED);
  jprof_events_thread* self = &jprof_events_self;
  if (JPROF_EVENTS_UNLIKELY(self->generation != generation))
    jprof_events_count_slowly(event, value);
  else
    jprof_events_add((jprof_events_statistics*)(self->statistics + event->statistics), value,
                     jprof_events_bucket(value));
}

#ifdef __cplusplus
}
#endif

#endif
