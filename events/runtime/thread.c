// The packets of a thread: one file each, which gets its name when it is a valid packet, so that a
// process that is killed at any time leaves a valid trace.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "events/runtime/ctf.h"
#include "events/runtime/internal.h"

_Static_assert(sizeof(jprof_events_packet) == 104 &&
                   offsetof(jprof_events_packet, timestamp_begin) == 32,
               "packets are as the metadata say");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the metadata say little endian");

__thread jprof_events_thread jprof_events_self;

static pthread_key_t thread_end;

static void on_thread_end(void* unused);

int jprof_events_at_thread_end(void) {
  static int made;
  if (made) return 0;
  const int error = pthread_key_create(&thread_end, on_thread_end);
  made = error == 0;
  return error;
}

static void* memory(size_t bytes) {
  void* made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return made == MAP_FAILED ? NULL : made;
}

jprof_events_writer* jprof_events_own_writer(void) {
  jprof_events_trace* trace = &jprof_events_the_trace;
  if (jprof_events_self.more != NULL) return jprof_events_self.more;
  if (trace->directory[0] == 0) return NULL;  // a child that saw its parent's level
  const size_t ring = sizeof(jprof_events_writer);
  jprof_events_writer* writer = memory(ring + trace->packets * sizeof(unsigned char*));
  if (writer == NULL) return NULL;
  writer->number = atomic_fetch_add(&trace->next_writer, 1);
  writer->thread = (uint32_t)syscall(SYS_gettid);
  writer->ring = (unsigned char**)((char*)writer + ring);
  writer->self = &jprof_events_self;
  jprof_events_self.more = writer;
  atomic_fetch_add_explicit(&writer->discarded, jprof_events_self.discarded, memory_order_relaxed);
  jprof_events_self.discarded = 0;
  writer->next = atomic_load(&trace->writers);
  while (!atomic_compare_exchange_weak(&trace->writers, &writer->next, writer)) {
  }
  pthread_setspecific(thread_end, writer);
  return writer;
}

void* jprof_events_map_file(const char* path, size_t bytes, int is_new) {
  const int fd = open(path, O_RDWR | O_CLOEXEC | (is_new ? O_CREAT | O_EXCL : 0), 0666);
  if (fd < 0) return NULL;
  void* mapped = MAP_FAILED;
  const int error = posix_fallocate(fd, 0, (off_t)bytes);  // writing cannot meet a full disk
  if (error == 0)
    mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (mapped == MAP_FAILED && is_new) unlink(path);
  close(fd);
  return mapped == MAP_FAILED ? NULL : mapped;
}

// Two times that change together, also for a process that is killed.
typedef uint64_t two_times __attribute__((vector_size(16)));

static void begin_packet(jprof_events_packet* packet, const jprof_events_writer* writer) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  const uint64_t ticks = jprof_events_ticks();
  // First the old events vanish, then the times change: the packet is valid all the time.
  __atomic_store_n(&packet->content_size, sizeof *packet * 8, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  *(volatile two_times*)&packet->timestamp_begin = (two_times){ticks, ticks};
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  packet->monotonic = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
  packet->events_discarded = atomic_load_explicit(&writer->discarded, memory_order_relaxed);
  jprof_events_self.packet = packet;
  jprof_events_self.next = (unsigned char*)(packet + 1);
  jprof_events_self.limit = (unsigned char*)packet + packet->packet_size / 8;
}

static void packet_path(char* path, const char* prefix, const jprof_events_writer* writer,
                        uint32_t number) {
  snprintf(path, PATH_MAX + 128, "%s/%sthread-%u-%u", jprof_events_the_trace.directory, prefix,
           writer->number, number);
}

static jprof_events_packet* new_packet(const jprof_events_writer* writer) {
  const jprof_events_trace* trace = &jprof_events_the_trace;
  char hidden[PATH_MAX + 128], path[PATH_MAX + 128];
  packet_path(hidden, ".", writer, writer->packets);
  packet_path(path, "", writer, writer->packets);
  jprof_events_packet* packet = jprof_events_map_file(hidden, trace->packet_bytes, 1);
  if (packet == NULL) return NULL;
  packet->magic = JPROF_EVENTS_MAGIC;
  memcpy(packet->uuid, trace->uuid, sizeof packet->uuid);
  packet->stream = JPROF_EVENTS_STREAM;
  packet->stream_instance = writer->number;
  packet->packet_size = (uint64_t)trace->packet_bytes * 8;
  packet->process = (uint32_t)getpid();
  packet->thread = writer->thread;
  prctl(PR_GET_NAME, packet->thread_name);
  begin_packet(packet, writer);
  if (rename(hidden, path) == 0) return packet;
  munmap(packet, trace->packet_bytes);
  unlink(hidden);
  return NULL;
}

static int next_packet(jprof_events_writer* writer) {
  const jprof_events_trace* trace = &jprof_events_the_trace;
  const uint32_t place = writer->packets % trace->packets;
  if (trace->mode == JPROF_EVENTS_NORMAL && writer->packets == trace->packets) return 0;
  if (trace->mode == JPROF_EVENTS_WRAP && writer->ring[place] != NULL) {
    begin_packet((jprof_events_packet*)writer->ring[place], writer);
    ++writer->packets;
    return 1;
  }
  jprof_events_packet* old = jprof_events_self.packet;
  jprof_events_packet* packet = new_packet(writer);
  if (packet == NULL) return 0;
  if (trace->mode == JPROF_EVENTS_WRAP) {
    writer->ring[place] = (unsigned char*)packet;
  } else if (old != NULL) {
    munmap(old, trace->packet_bytes);
  }
  ++writer->packets;
  return 1;
}

// Counts an event that is not written; a packet says how many there were up to its end.
static void count_discarded(jprof_events_writer* writer) {
  const uint64_t discarded =
      1 + atomic_fetch_add_explicit(&writer->discarded, 1, memory_order_relaxed);
  jprof_events_packet* packet = jprof_events_self.packet;
  if (packet != NULL) __atomic_store_n(&packet->events_discarded, discarded, __ATOMIC_RELEASE);
}

int jprof_events_make_room(void) {
  const int error = errno;
  jprof_events_writer* writer = jprof_events_own_writer();
  if (writer == NULL) return 0;
  if (!writer->full && next_packet(writer)) {
    errno = error;
    return 1;
  }
  writer->full = 1;
  count_discarded(writer);
  errno = error;
  return 0;
}

void jprof_events_discard(void) {
  jprof_events_writer* writer = jprof_events_self.more;
  if (writer != NULL)
    count_discarded(writer);
  else
    ++jprof_events_self.discarded;
}

// Replaces the file of the last packet by one that ends with its last record: most threads of a
// program may write little. If that is not possible, the file stays as it is.
static void shorten(const jprof_events_packet* packet, const jprof_events_writer* writer) {
  char hidden[PATH_MAX + 128], path[PATH_MAX + 128];
  packet_path(hidden, ".", writer, writer->packets - 1);
  packet_path(path, "", writer, writer->packets - 1);
  const int fd = open(hidden, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
  if (fd < 0) return;
  jprof_events_packet head = *packet;
  head.packet_size = head.content_size;
  const ssize_t rest = (ssize_t)(head.content_size / 8 - sizeof head);
  const int written = write(fd, &head, sizeof head) == (ssize_t)sizeof head &&
                      write(fd, packet + 1, (size_t)rest) == rest;
  close(fd);
  if (!written || rename(hidden, path) != 0) unlink(hidden);
}

// Requires the lock.
static void end_writer(jprof_events_writer* writer) {
  const jprof_events_trace* trace = &jprof_events_the_trace;
  jprof_events_packet* packet = writer->self->packet;
  writer->self->packet = NULL;
  writer->self->next = writer->self->limit = NULL;
  writer->self = NULL;
  if (trace->mode == JPROF_EVENTS_WRAP) {
    for (uint32_t i = 0; i < trace->packets; ++i)
      if (writer->ring[i] != NULL) munmap(writer->ring[i], trace->packet_bytes);
  } else if (packet != NULL) {
    shorten(packet, writer);
    munmap(packet, trace->packet_bytes);
  }
}

static void on_thread_end(void* unused) {
  (void)unused;
  jprof_events_set_busy(1);
  pthread_mutex_lock(&jprof_events_lock);
  jprof_events_writer* writer = jprof_events_self.more;
  if (writer != NULL && writer->self != NULL) {
    writer->full = 1;
    end_writer(writer);
  }
  pthread_mutex_unlock(&jprof_events_lock);
  jprof_events_set_busy(0);
}

void jprof_events_end_all_writers(void) {
  const uint32_t packets = jprof_events_the_trace.packets;
  jprof_events_writer* one = atomic_exchange(&jprof_events_the_trace.writers, NULL);
  while (one != NULL) {
    jprof_events_writer* next = one->next;
    jprof_events_thread* self = one->self;
    if (self != NULL) {
      end_writer(one);
      memset(self, 0, sizeof *self);
    }
    jprof_events_statistics_file* file = atomic_load(&one->statistics);
    if (file != NULL) munmap(file, sizeof *file + file->count * sizeof(jprof_events_statistics));
    munmap(one, sizeof *one + packets * sizeof(unsigned char*));
    one = next;
  }
}

uint64_t jprof_events_discarded(void) {
  uint64_t sum = 0;
  for (jprof_events_writer* one = atomic_load(&jprof_events_the_trace.writers); one != NULL;
       one = one->next)
    sum += atomic_load_explicit(&one->discarded, memory_order_relaxed);
  return sum;
}
