// Forks while another thread starts the recording: the child calls hooks too.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

static OUT_OF_LINE void Work(void) { KEEP; }
static PLAIN void* First(void* unused) {
  Work();
  return unused;
}

PLAIN int main(void) {
  pthread_t first;
  pthread_create(&first, NULL, First, NULL);
  int failed = 0;
  for (int i = 0; i < 10; ++i) {
    usleep(2000);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // it would wait forever
      Work();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  pthread_join(first, NULL);
  return failed != 0;
}
