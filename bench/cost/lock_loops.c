/* Takes and releases locks that no other thread wants. Prints "NAME NANOSECONDS" of CPU time, the
   least of some rounds. argv[1]: turns of a round. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 5 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

static void mutexes(void) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}

static void read_locks(void) {
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
}

static void measure(const char* name, void (*take)(void), int turns) {
  double least = 1e12;
  for (int round = 0; round < ROUNDS; ++round) {
    const double begin = now();
    for (int i = 0; i < turns; ++i) take();
    const double each = (now() - begin) / turns;
    if (each < least) least = each;
  }
  printf("%s %.2f\n", name, least);
}

int main(int count, char** arguments) {
  const int turns = count > 1 ? atoi(arguments[1]) : 1000000;
  measure("mutex", mutexes, turns);
  measure("rwlock", read_locks, turns);
  return 0;
}
