// Writes events of shop.xml: program DIRECTORY MODE PACKETS WHAT [COUNT]
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shop_events.h"

static int count;

static void* orders(void* unused) {
  for (int i = 0; i < count; ++i) {
    shop_orders_order_begin(1, (uint64_t)i, "me", SHOP_ORDERS_ORDER_BEGIN_KIND_CARD);
    shop_orders_order_end((uint64_t)i, i - 2, 0.5);
    shop_orders_nothing();
  }
  return unused;
}

static void threads(void) {
  pthread_t thread[3];
  for (int i = 0; i < 3; ++i) pthread_create(thread + i, NULL, orders, NULL);
  for (int i = 0; i < 3; ++i) pthread_join(thread[i], NULL);
}

static void extremes(void) {
  char text[400];
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = 0;
  memcpy(text + 254, "\xc3\xa4", 2);  // a character across the longest text's end
  shop_orders_everything(255, 65535, UINT32_MAX, UINT64_MAX, INT8_MIN, INT16_MIN, INT32_MIN,
                         INT64_MIN, 1e300, 0xdeadbeef, text, NULL);
}

static void summarise(const char* when) {
  jprof_events_summary sum;
  if (jprof_events_summarise("shop::orders::order_end", 0, &sum) != 0) exit(3);
  printf("%s %llu %lld %lld %lld %llu %llu\n", when, (unsigned long long)sum.count,
         (long long)sum.sum, (long long)sum.min, (long long)sum.max,
         (unsigned long long)sum.histogram[0], (unsigned long long)sum.histogram[2]);
}

static void levels(void) {
  orders(NULL);
  summarise("first");
  jprof_events_reset();
  summarise("reset");
  orders(NULL);
  jprof_events_set_level("shop::*::order_end", JPROF_EVENTS_OFF);
  orders(NULL);
  summarise("off");
  printf("none %d\n", jprof_events_set_level("shop::none", JPROF_EVENTS_LOG));
}

static volatile int handled;

static void on_signal(int number) {
  (void)number;
  shop_orders_nothing();
  ++handled;
}

// A handler that interrupts the writing of events many times.
static void signals(void) {
  signal(SIGPROF, on_signal);
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
  const struct itimerspec often = {{0, 50000}, {0, 50000}};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &often, NULL);
  int written = 0;
  while (handled < 300) {
    shop_orders_order_end(1, 1, 1);
    ++written;
  }
  timer_delete(timer);
  printf("%d %llu\n", written + handled, (unsigned long long)jprof_events_discarded());
}

// The child has all events off, and can open a trace of its own.
static void forks(const char* directory) {
  orders(NULL);
  if (fork() == 0) {
    orders(NULL);
    char child[4096];
    snprintf(child, sizeof child, "%s-child", directory);
    if (jprof_events_open(child, NULL) != 0) _exit(1);
    shop_orders_order_begin(1, 1, "child", SHOP_ORDERS_ORDER_BEGIN_KIND_CASH);
    _exit(0);
  }
  int status = 0;
  wait(&status);
  printf("%d\n", status);
  orders(NULL);
}

static void read_back(void) {
  unsigned char bytes[64] = {1, 0, 0, 0, 0, 0, 0, 0};
  const uint32_t id = SHOP_ORDERS_ORDER_END_ID;
  memcpy(bytes + 8, &id, 4);
  bytes[12] = 7;
  shop_orders_order_end_record record;
  const size_t size = shop_orders_order_end_read(bytes, sizeof bytes, &record);
  printf("%zu %llu %llu", size, (unsigned long long)record.ticks_,
         (unsigned long long)record.number);
  printf(" %zu", shop_orders_order_end_read(bytes, size - 1, &record));
  shop_orders_nothing_record other;
  printf(" %zu\n", shop_orders_nothing_read(bytes, sizeof bytes, &other));
}

// Writes events whenever it is told to by a line, until it is told to end.
static void told(void) {
  char line[100];
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (strcmp(line, "orders\n") == 0) orders(NULL);
    printf("done\n");
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  jprof_events_options options = {.mode = (jprof_events_mode)atoi(argv[2]),
                                  .packet_bytes = 65536,
                                  .packets = (uint32_t)atoi(argv[3])};
  const char* what = argv[4];
  count = argc > 5 ? atoi(argv[5]) : 0;
  orders(NULL);  // off
  if (jprof_events_open(argv[1], &options) != 0) {
    fprintf(stderr, "%s\n", jprof_events_error());
    return 1;
  }
  if (strcmp(what, "levels") != 0 && strcmp(what, "told") != 0)
    jprof_events_set_level("*", JPROF_EVENTS_LOG);
  if (strcmp(what, "threads") == 0) threads();
  if (strcmp(what, "extremes") == 0) extremes();
  if (strcmp(what, "levels") == 0) levels();
  if (strcmp(what, "signals") == 0) signals();
  if (strcmp(what, "forks") == 0) forks(argv[1]);
  if (strcmp(what, "read") == 0) read_back();
  if (strcmp(what, "told") == 0) told();
  if (strcmp(what, "killed") == 0) {
    threads();
    orders(NULL);
    raise(SIGKILL);
  }
  jprof_events_close();
  orders(NULL);
  return 0;
}
