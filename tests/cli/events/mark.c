// Writes marks: mark WHAT [TEXT...]
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jprof-events.h"

static void say(const char* text) {
  printf("%d ", jprof_mark(text));
  printf("%s\n", jprof_events_error());
}

static pthread_barrier_t barrier;

// The first threads begin at the same time, the others while the trace is being opened.
static void* mark_often(void* delay) {
  pthread_barrier_wait(&barrier);
  nanosleep(delay, NULL);
  for (int i = 0; i < 5000; ++i)
    if (jprof_mark("of a thread") != 0) exit(3);
  return NULL;
}

static void threads(void) {
  enum { kThreads = 24 };
  pthread_t thread[kThreads];
  struct timespec delays[kThreads];
  pthread_barrier_init(&barrier, NULL, kThreads);
  for (int i = 0; i < kThreads; ++i) {
    delays[i] = (struct timespec){0, i < 4 ? 0 : i * 500000};
    pthread_create(thread + i, NULL, mark_often, delays + i);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(thread[i], NULL);
}

// Each process marks after it has forked, and prints its generation and id.
static void forks(int generation) {
  const pid_t child = generation < 3 ? fork() : 1;
  if (child == 0) {
    forks(generation + 1);
    return;
  }
  say(generation % 2 == 0 ? "even" : "odd");
  printf("pid %d %d\n", generation, (int)getpid());
  fflush(stdout);
  int status = 0;
  while (wait(&status) > 0)
    if (status != 0) exit(4);
}

// Prints the CPU time, in ns, of a mark and of the least system call.
static void cost(void) {
  enum { kRounds = 200000 };
  const clock_t begin = clock();
  for (int i = 0; i < kRounds; ++i) jprof_mark("none");
  const clock_t marked = clock();
  for (int i = 0; i < kRounds; ++i) getppid();
  const clock_t end = clock();
  const double ns = 1e9 / CLOCKS_PER_SEC / kRounds;
  printf("%.1f %.1f\n", (double)(marked - begin) * ns, (double)(end - marked) * ns);
}

static void on_mark(void* data, const jprof_events_seen* seen) {
  printf("%s %s\n", (const char*)data, (const char*)seen->bytes + JPROF_EVENTS_HEADER_BYTES);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "say") == 0)
    for (int i = 2; i < argc; ++i) say(argv[i]);
  if (strcmp(what, "null") == 0) say(NULL);
  if (strcmp(what, "threads") == 0) threads();
  if (strcmp(what, "forks") == 0) {
    say("before");
    forks(0);
  }
  if (strcmp(what, "late-fork") == 0) forks(2);
  if (strcmp(what, "cost") == 0) cost();
  if (strcmp(what, "open") == 0) {
    const jprof_events_options options = {.mode = JPROF_EVENTS_CONTINUOUS, .no_control = 1};
    const int opened = jprof_events_open(argc > 2 ? argv[2] : NULL, &options);
    printf("%d %s\n", opened, jprof_events_error());
    say("opened");
    jprof_events_close();
    say("closed");
  }
  if (strcmp(what, "consumer") == 0) {
    const jprof_events_consumer_options options = {
        .pattern = "process::marks::*", .on_event = on_mark, .data = "consumed"};
    jprof_events_consume(&options);
    say("a mark");
  }
  if (strcmp(what, "errno") == 0) {
    errno = 77;
    jprof_mark("errno");
    printf("%d\n", errno);
  }
  if (strcmp(what, "exec") == 0) {
    say("before exec");
    fflush(stdout);
    execl(argv[0], argv[0], "say", "after exec", (char*)NULL);
  }
  return 0;
}
