// short_threads COUNT: starts and joins COUNT threads that do almost nothing, some at a time, and
// prints the number of each. `jprof stat` must have a row for each.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kAtOnce = 20 };

static void* Say(void* place) {
  *(long*)place = syscall(SYS_gettid);
  return NULL;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 0;
  long* numbers = calloc((size_t)count + kAtOnce, sizeof(long));
  if (numbers == NULL) return 1;
  for (int done = 0; done < count; done += kAtOnce) {
    pthread_t threads[kAtOnce];
    const int some = count - done < kAtOnce ? count - done : kAtOnce;
    for (int i = 0; i < some; ++i) {
      if (pthread_create(&threads[i], NULL, Say, &numbers[done + i]) != 0) return 1;
    }
    for (int i = 0; i < some; ++i) pthread_join(threads[i], NULL);
  }
  for (int i = 0; i < count; ++i) printf("%ld\n", numbers[i]);
  free(numbers);
  return 0;
}
