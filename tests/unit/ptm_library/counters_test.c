/* The counters as a program in C sees them: exact against /proc, and what is refused. */
#define _GNU_SOURCE
#include <jprof_counters.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int failures = 0;

#define CHECK(what)                                    \
  do {                                                 \
    if (!(what)) {                                     \
      printf("FAILED line %d: %s\n", __LINE__, #what); \
      ++failures;                                      \
    }                                                  \
  } while (0)

static int64_t Faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

static int64_t Switches(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

static int64_t CpuNanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void Touch(int pages) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* memory =
      mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  for (int i = 0; i < pages; ++i) memory[i * page] = 1;
  munmap(memory, pages * page);
}

/* Each thread its own work, at the same time: counts must not mix. */
static void* FaultsAreExact(void* arg) {
  jprof_thread_counters* counters = jprof_thread_start(arg);
  CHECK(counters != NULL);
  if (counters == NULL) return NULL;
  const int pages = 100 + (int)(CpuNanos() % 400);
  Touch(3); /* code and stack of what follows are there */
  int64_t before = jprof_read_one(counters), kernel = Faults();
  before = jprof_read_one(counters), kernel = Faults();
  Touch(pages);
  const int64_t faults = jprof_read_one(counters) - before;
  CHECK(faults == Faults() - kernel);
  CHECK(faults >= pages);
  jprof_metric_status status;
  CHECK(jprof_status(counters, 0, &status) == 0 && status.by_call == 1 && status.running == 1);
  CHECK(jprof_status(counters, 1, &status) == -1);
  jprof_thread_stop(counters);
  return NULL;
}

/* Both counts at one moment: again if a dispatch came between. */
static void ReadBoth(jprof_thread_counters* counters, int64_t* ours, int64_t* kernel) {
  int64_t values[2];
  do {
    *kernel = Switches();
    jprof_read_two(counters, values);
    *ours = values[0];
  } while (*kernel != Switches());
}

static void* DispatchesAndTime(void* arg) {
  jprof_thread_counters* counters = jprof_thread_start(arg);
  CHECK(counters != NULL);
  if (counters == NULL) return NULL;
  int64_t ours, kernel, ours_then, kernel_then, values[2];
  ReadBoth(counters, &ours_then, &kernel_then);
  jprof_read_all(counters, values);
  const int64_t time = values[1], cpu = CpuNanos();
  const struct timespec nap = {0, 200000};
  for (int i = 0; i < 300; ++i) {
    for (volatile int spin = 0; spin < 300000; ++spin) {
    }
    i % 2 ? (void)nanosleep(&nap, NULL) : (void)sched_yield();
    (void)jprof_read_one(counters);
  }
  jprof_read_all(counters, values);
  const double ratio = (double)(values[1] - time) / (double)(CpuNanos() - cpu);
  printf("time to the kernel's CPU time: %.4f\n", ratio);
  CHECK(ratio > 0.9 && ratio < 1.1); /* a hypervisor may take the CPU between the two clocks */
  ReadBoth(counters, &ours, &kernel);
  CHECK(ours - ours_then == kernel - kernel_then);
  CHECK(ours - ours_then >= 150);
  jprof_thread_stop(counters);
  return NULL;
}

static void InThreads(void* (*body)(void*), const char* const* names, int count) {
  jprof_counters* set = NULL;
  if (jprof_counters_init(&set, names, count) != 0) {
    printf("FAILED: %s\n", jprof_counters_error());
    ++failures;
    return;
  }
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, body, set);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  jprof_counters_terminate(set);
}

static void Refused(const char* const* names, int count, const char* why) {
  jprof_counters* set = NULL;
  CHECK(jprof_counters_init(&set, names, count) == -1 && set == NULL);
  if (strstr(jprof_counters_error(), why) == NULL) {
    printf("FAILED: \"%s\" does not say \"%s\"\n", jprof_counters_error(), why);
    ++failures;
  }
}

int main(void) {
  const char* faults[] = {"page-faults"};
  const char* dispatches[] = {"dispatches", "time"};
  InThreads(FaultsAreExact, faults, 1);
  InThreads(DispatchesAndTime, dispatches, 2);
  const char* unknown[] = {"page-fault"};
  const char* twice[] = {"page-faults", "perf::PAGE-FAULTS"};
  const char* many[9] = {"time", "time", "time", "time", "time", "time", "time", "time", "time"};
  Refused(unknown, 1, "PAGE-FAULTS");
  Refused(twice, 2, "twice");
  Refused(many, 9, "8");
  Refused(many, 0, "1 to 8");
  return failures != 0;
}
