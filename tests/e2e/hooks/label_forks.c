// Forks while other threads set new labels: the child sets one, too.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

void jprof_recording_mark(const char* text) __attribute__((weak));

static volatile int ended;

static OUT_OF_LINE void Work(void) { KEEP; }

static PLAIN void* Adds(void* name) {
  char text[32];
  for (int i = 0; !ended; ++i) {
    snprintf(text, sizeof(text), "%s %d", (const char*)name, i);
    jprof_recording_mark(text);
  }
  return name;
}

// Returns whether a child has ended well. One that waits has blocked signals: it is killed.
static PLAIN int Ended(pid_t child) {
  int status = 1;
  for (int i = 0; i < 20000; ++i) {
    if (waitpid(child, &status, WNOHANG) == child) return status == 0;
    usleep(1000);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return 0;
}

PLAIN int main(void) {
  Work();  // begins the recording
  pthread_t threads[4];
  char* names[4] = {"a", "b", "c", "d"};
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, Adds, names[i]);
  int failed = 0;
  for (int i = 0; i < 40 && failed == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      jprof_recording_mark("child");
      Work();
      _exit(0);
    }
    failed += !Ended(child);
  }
  ended = 1;
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  return failed != 0;
}
