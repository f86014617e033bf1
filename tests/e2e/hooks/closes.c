// Usage: closes FOLDER. Between calls that create new contexts, it closes all descriptors that it
// did not open and opens files of its own. At the end it prints the contents of its files.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"

enum { kDepth = 11, kRounds = 6, kFiles = 8, kFirst = 3, kLast = 4096 };
static const char* folder;
static int files[kFiles];

static OUT_OF_LINE void Right(int left);
static OUT_OF_LINE void Left(int left) {
  KEEP;
  if (left > 0) Left(left - 1), Right(left - 1);
}
static OUT_OF_LINE void Right(int left) {
  KEEP;
  if (left > 0) Left(left - 1), Right(left - 1);
}

static OUT_OF_LINE void CloseAll(int how) {
  if (how == 0) {
    for (int fd = kFirst; fd < kLast; ++fd) close(fd);
  } else if (how == 1) {
    close_range(kFirst, ~0u, 0);
  } else {
    closefrom(kFirst);
  }
}

// The lowest number of the profiler's descriptors: it may have had them before.
static int Least(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur / 2 < kLast ? (int)limit.rlim_cur / 2 : kLast;
}

static OUT_OF_LINE void OpenFiles(void) {
  for (int i = 0; i < kFiles; ++i) {
    char path[4096];
    snprintf(path, sizeof path, "%s/file%d", folder, i);
    files[i] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (write(files[i], "mine!\n", 6) != 6) exit(3);
    dup2(files[i], Least() + i);
  }
}

static void CheckFiles(void) {
  for (int i = 0; i < kFiles; ++i) {
    struct stat status;
    char text[8] = "";
    if (fstat(files[i], &status) != 0 || pread(files[i], text, 7, 0) != 6) exit(4);
    printf("file %d: %d bytes: %s", i, (int)status.st_size, text);
  }
}

static OUT_OF_LINE void* Thread(void* unused) {
  errno = 4242;
  Left(kDepth);
  if (errno != 4242) exit(5);
  return unused;
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  folder = arguments[1];
  for (int round = 0; round < kRounds; ++round) {
    Left(2 * round + 1);
    CloseAll(round % 3);
    OpenFiles();
    pthread_t thread;
    pthread_create(&thread, NULL, Thread, NULL);
    pthread_join(thread, NULL);
    errno = 4242;
    Right(kDepth);
    if (errno != 4242) exit(5);
    CheckFiles();
  }
  // Of all calls of Left(n) and Right(n) together, half are of each below the first.
  long below = 0, lefts = 0;
  for (int round = 0; round < kRounds; ++round) {
    below += (1l << (2 * round + 1)) - 1 + 2 * ((1l << kDepth) - 1);
    lefts += 2;
  }
  Expect("Left", below + lefts);
  Expect("Right", below + kRounds);
  Expect("CloseAll", kRounds);
  Expect("OpenFiles", kRounds);
  return 0;
}
