/* What the parts of libjprof-events know of one another. One trace is open at most. */
#pragma once

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "events/runtime/jprof-events.h"

/* The socket by which a trace is controlled. Readers of traces ignore names with a dot. */
#define JPROF_EVENTS_CONTROL ".jprof-control"

/* Of an event that has the id of another one, and is therefore always off. */
#define JPROF_EVENTS_REFUSED UINT64_MAX

typedef struct {
  uint64_t ticks;
  uint64_t monotonic, unix_time; /* ns */
} jprof_events_time;

/* A thread that has written an event since the trace was opened. Never freed: summaries of threads
 * that have ended count. */
typedef struct jprof_events_writer {
  struct jprof_events_writer* next;
  uint32_t number; /* of this process's threads, from 0 */
  uint32_t thread;
  uint32_t packets;  /* made or begun so far */
  int no_statistics; /* 1: its file cannot be had */
  int full;          /* 1: no more packets can be had */
  _Atomic uint64_t discarded;
  unsigned char** ring;      /* the packets of the mode wrap */
  jprof_events_thread* self; /* the thread's; null if it has ended; guarded by the lock */
  _Atomic(struct jprof_events_statistics_file*) statistics;
} jprof_events_writer;

/* The begin of a file of statistics, which follow, in the order of the file statistics/events,
 * which begins with the epoch of the process. */
typedef struct jprof_events_statistics_file {
  char magic[8]; /* "JPEVSTA1" */
  uint32_t process, thread;
  _Atomic uint32_t epoch; /* the statistics are 0 if it is not that of the process */
  uint32_t count;         /* of statistics */
  char thread_name[16];
  uint64_t reserved[3];
} jprof_events_statistics_file;

enum { JPROF_EVENTS_NEVER, JPROF_EVENTS_OPEN, JPROF_EVENTS_CLOSED };

typedef struct {
  _Atomic int open;         /* one of the above */
  _Atomic int first_mark;   /* 1: it has been made, and opens no trace any more */
  char directory[PATH_MAX]; /* absolute */
  jprof_events_mode mode;
  uint32_t packet_bytes, packets;
  uint8_t uuid[16];
  jprof_events_time begin;
  _Atomic uint32_t next_writer;
  _Atomic(jprof_events_writer*) writers;
} jprof_events_trace;

extern jprof_events_trace jprof_events_the_trace;
extern jprof_events_provider* jprof_events_providers; /* guarded by jprof_events_lock */
extern uint32_t jprof_events_registered;              /* events; written under the same lock */
extern pthread_mutex_t jprof_events_lock;
extern uint32_t jprof_events_epoch; /* the number of resets + 1; guarded by the same */

jprof_events_time jprof_events_now(void);

/* What jprof_events_open does. Requires the lock. */
int jprof_events_open_locked(const char* directory, const jprof_events_options* options);
/* Sets the error text of the calling thread to one that is never freed. */
void jprof_events_set_error(const char* text);

/* Writes metadata, specifications and the names of statistics. Requires the lock. Returns 0, or -1
 * with errno. */
int jprof_events_write_metadata(void);

/* Prints the registered events in the order of their statistics, each once. Requires the lock. */
void jprof_events_print_each(FILE* file, void (*print)(FILE*, const jprof_events_event*));

/* Finds which consumers want an event. Requires the lock. */
void jprof_events_choose_consumers(jprof_events_event* event);
/* Disables all consumers, in a child. */
void jprof_events_forget_consumers(void);

/* Begins to serve the socket in the trace's directory, or does nothing if that fails. */
void jprof_events_begin_control(void);
void jprof_events_end_control(void);
/* Closes what a child has of its parent's control. */
void jprof_events_forget_control(void);

/* Has the writer of a thread closed when the thread ends. Returns 0, or an errno. */
int jprof_events_at_thread_end(void);

/* Returns the calling thread's writer, made if it has none; null if there is no trace. Requires
 * that the thread is busy. */
jprof_events_writer* jprof_events_own_writer(void);

/* Unmaps and forgets the packets of all writers. Requires the lock, and that no thread writes an
 * event or asks for statistics meanwhile. */
void jprof_events_end_all_writers(void);

/* Makes the file, if `is_new`, or enlarges it to the given bytes, all of them on the disk, and maps
 * it. Returns null with errno if that fails. */
void* jprof_events_map_file(const char* path, size_t bytes, int is_new);
