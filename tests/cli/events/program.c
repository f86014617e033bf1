// Writes events of shop.xml: program DIRECTORY MODE PACKETS WHAT [COUNT [without control]]
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

static void on_begin(void* data, const jprof_events_seen* seen) {
  shop_orders_order_begin_record record;
  if (shop_orders_order_begin_read(seen->bytes, seen->size, &record) != seen->size) exit(4);
  *(uint64_t*)data += record.number;
  shop_orders_nothing();                            // is discarded
  if (jprof_events_enable(NULL, 0) != -1) exit(5);  // is refused
}

static void on_order(void* data, const jprof_events_seen* begin, const jprof_events_seen* end) {
  shop_orders_order_begin_record from;
  shop_orders_order_end_record to;
  if (shop_orders_order_end_read(end->bytes, end->size, &to) != end->size) exit(6);
  uint64_t* sums = data;
  if (begin == NULL) {
    __atomic_fetch_add(sums + 1, 1, __ATOMIC_RELAXED);
    return;
  }
  if (shop_orders_order_begin_read(begin->bytes, begin->size, &from) != begin->size) exit(7);
  if (from.number != to.number) exit(8);
  __atomic_fetch_add(sums, 1, __ATOMIC_RELAXED);
}

static void print_calls(const char* what, const jprof_events_consumer* consumer, uint64_t value) {
  printf("%s %llu %llu\n", what, (unsigned long long)jprof_events_consumed(consumer),
         (unsigned long long)value);
}

// What callbacks get, with the trace open and orders at the level log.
static void consumers(void) {
  uint64_t numbers = 0, pairs[2] = {0, 0}, others = 0;
  const jprof_events_consumer_options on_begins = {
      .pattern = "*::order_begin", .on_event = on_begin, .data = &numbers};
  const jprof_events_consumer_options on_pairs = {
      .pattern = "shop::orders::order", .on_pair = on_order, .data = pairs};
  const jprof_events_consumer_options of_nobody = {.pattern = "*::order_begin",
                                                   .on_event = on_begin,
                                                   .data = &others,
                                                   .contexts = JPROF_EVENTS_THREAD,
                                                   .thread = 1};
  const jprof_events_consumer_options of_processor = {
      .pattern = "*::order_begin",
      .on_event = on_begin,
      .data = &others,
      .contexts = JPROF_EVENTS_PROCESSOR | JPROF_EVENTS_PROCESS,
      .processor = 1,
      .process = (uint32_t)getpid()};
  const jprof_events_consumer_options of_calls = {
      .pattern = "*", .on_event = on_begin, .contexts = JPROF_EVENTS_CALLING_CONTEXT};
  const jprof_events_consumer_options none = {.pattern = "*"};
  if (jprof_events_consume(&none) != NULL) exit(9);
  jprof_events_consumer* first = jprof_events_consume(&on_begins);
  jprof_events_consumer* nobody = jprof_events_consume(&of_nobody);
  jprof_events_consumer* calls = jprof_events_consume(&of_calls);
  orders(NULL);
  print_calls("numbers", first, numbers);
  print_calls("of no thread", nobody, others);
  print_calls("of no calling context", calls, 0);
  jprof_events_end_consumer(nobody);
  jprof_events_end_consumer(calls);
  jprof_events_enable(first, 0);
  jprof_events_consumer* processor = jprof_events_consume(&of_processor);
  orders(NULL);
  print_calls("disabled", first, numbers);
  print_calls("of a processor", processor, others);
  jprof_events_end_consumer(processor);
  jprof_events_enable(first, 1);
  jprof_events_reset_consumer(first);
  jprof_events_consumer* second = jprof_events_consume(&on_pairs);
  jprof_events_set_level("*", JPROF_EVENTS_OFF);
  orders(NULL);
  print_calls("reset", first, numbers);
  print_calls("pairs", second, pairs[0]);
  shop_orders_order_begin(1, 7, "open", SHOP_ORDERS_ORDER_BEGIN_KIND_CARD);
  jprof_events_reset_consumer(second);
  shop_orders_order_end(7, 1, 1);
  print_calls("without begin", second, pairs[1]);
  jprof_events_end_consumer(first);
  pairs[0] = pairs[1] = 0;
  threads();
  print_calls("of threads", second, pairs[0] + pairs[1]);
  if (fork() == 0) {
    orders(NULL);
    _exit(shop_orders_order_begin_is_on() || jprof_events_consumed(second) != 3u * count + 1);
  }
  int status = 0;
  wait(&status);
  jprof_events_end_consumer(second);
  printf("child %d on %d\n", status, shop_orders_order_begin_is_on());
}

static int stop;

static void* many_orders(void* unused) {
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) orders(NULL);
  return unused;
}

static void on_churn(void* data, const jprof_events_seen* seen) {
  (void)seen;
  if (__atomic_load_n((int*)data, __ATOMIC_RELAXED)) exit(10);
}

static void on_pair_churn(void* data, const jprof_events_seen* begin,
                          const jprof_events_seen* end) {
  (void)begin;
  on_churn(data, end);
}

// Consumers come and go while threads write events: none is called after its end.
static void churn(void) {
  static int ended[300];
  pthread_t thread[3];
  for (int i = 0; i < 3; ++i) pthread_create(thread + i, NULL, many_orders, NULL);
  uint64_t called = 0;
  for (int i = 0; i < 300; ++i) {
    const jprof_events_consumer_options options = {.pattern = "shop::orders::*",
                                                   .on_event = i % 2 == 0 ? on_churn : NULL,
                                                   .on_pair = i % 2 == 0 ? NULL : on_pair_churn,
                                                   .data = ended + i};
    jprof_events_consumer* consumer = jprof_events_consume(&options);
    if (consumer == NULL) exit(11);
    const struct timespec pause = {0, 100000};
    nanosleep(&pause, NULL);
    if (i % 3 == 0) jprof_events_reset_consumer(consumer);
    called += jprof_events_consumed(consumer);
    jprof_events_end_consumer(consumer);
    __atomic_store_n(ended + i, 1, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 3; ++i) pthread_join(thread[i], NULL);
  printf("%d\n", called > 0);
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
                                  .packets = (uint32_t)atoi(argv[3]),
                                  .no_control = argc > 6};
  const char* what = argv[4];
  count = argc > 5 ? atoi(argv[5]) : 0;
  orders(NULL);  // off
  if (jprof_events_open(argv[1], &options) != 0) {
    fprintf(stderr, "%s\n", jprof_events_error());
    return 1;
  }
  if (strcmp(what, "levels") != 0 && strcmp(what, "told") != 0 &&
      strcmp(what, "levels-of-threads") != 0)
    jprof_events_set_level("*", JPROF_EVENTS_LOG);
  if (strcmp(what, "threads") == 0 || strcmp(what, "levels-of-threads") == 0) threads();
  if (strcmp(what, "orders-and-extremes") == 0) orders(NULL);
  if (strcmp(what, "extremes") == 0 || strcmp(what, "orders-and-extremes") == 0) extremes();
  if (strcmp(what, "levels") == 0) levels();
  if (strcmp(what, "signals") == 0) signals();
  if (strcmp(what, "forks") == 0) forks(argv[1]);
  if (strcmp(what, "read") == 0) read_back();
  if (strcmp(what, "told") == 0) told();
  if (strcmp(what, "consumers") == 0) consumers();
  if (strcmp(what, "churn") == 0) churn();
  if (strcmp(what, "killed") == 0) {
    threads();
    orders(NULL);
    raise(SIGKILL);
  }
  jprof_events_close();
  orders(NULL);
  return 0;
}
