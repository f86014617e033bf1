// Processes: how they end, fork, vfork, posix_spawn, exec. Usage: processes WHAT [COMMAND]
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

extern char** environ;

static OUT_OF_LINE void Work(int n) {
  if (n > 0) Work(n - 1);
  KEEP;
}
static OUT_OF_LINE void InChild(void) { Work(1); }
static OUT_OF_LINE void InGrandchild(void) { Work(2); }

// Both return in the parent and in the child.
static OUT_OF_LINE pid_t Inner(void) {
  const pid_t child = fork();
  if (child == 0) Work(1);
  return child;
}
static OUT_OF_LINE pid_t Outer(void) {
  const pid_t child = Inner();
  if (child == 0) Work(2);
  return child;
}

static PLAIN void Wait(void) {
  while (wait(NULL) > 0) {
  }
}

int main(int count, char** arguments) {
  const char* what = arguments[1];
  Work(9);
  fflush(stdout);
  if (strcmp(what, "_exit") == 0) _exit(3);
  if (strcmp(what, "_Exit") == 0) _Exit(3);
  if (strcmp(what, "quick_exit") == 0) quick_exit(3);
  if (strcmp(what, "exit") == 0) exit(3);
  if (strcmp(what, "abort") == 0) abort();
  if (strcmp(what, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(what, "exec") == 0) execv(arguments[0], (char*[]){arguments[0], "_exit", NULL});
  if (strcmp(what, "chdir") == 0) return chdir("/");
  if (strcmp(what, "fork") == 0) {
    if (fork() == 0) {
      InChild();
      if (fork() == 0) {
        InGrandchild();
        _exit(0);
      }
      Wait();
      return 0;
    }
    Wait();
  }
  if (strcmp(what, "fork_below") == 0) {
    if (Outer() == 0) {
      Work(3);
      return 0;
    }
    Wait();
  }
  if (strcmp(what, "daemon") == 0) {
    if (daemon(1, 1) != 0) return 1;
    const long me = getpid();
    printf("%ld\n", me);
    fflush(stdout);
    if (getchar() == '\n') Work(6);  // once the test has seen what jprof says
    return 0;
  }
  if (strcmp(what, "system") == 0) {
    if (system(arguments[2]) != 0) return 2;
    Work(9);
    if (fork() == 0) InChild();
    Wait();
    return 0;
  }
  if (strcmp(what, "vfork") == 0) {
    if (vfork() == 0) {
      execv(arguments[0], (char*[]){arguments[0], "_exit", NULL});
      _exit(1);
    }
    Wait();
    Work(4);
  }
  if (strcmp(what, "spawn") == 0) {
    pid_t child;
    posix_spawn(&child, arguments[0], NULL, NULL, (char*[]){arguments[0], "_exit", NULL}, environ);
    Wait();
  }
  return count == 2 ? 0 : 1;
}
