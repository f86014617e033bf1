/* Allocates in ways that pages_test.py knows, and prints where: blocks CASE. Lines: NAME ADDRESS
 * BYTES, both in hexadecimal; NAME begins with the function that allocated. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
enum { KB = 1 << 10, MB = 1 << 20 };

static void* Shown(const char* name, void* block, size_t bytes) {
  printf("%s %lx %lx\n", name, (unsigned long)block, (unsigned long)bytes);
  fflush(stdout);
  return block;
}
static void Require(int holds, const char* what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  _exit(3);
}
static size_t IsZero(const unsigned char* bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (bytes[i]) return 0;
  return 1;
}
static long Faults(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}
static void Touch(char* bytes, size_t count) {
  for (size_t i = 0; i < count; i += 4096) ((volatile char*)bytes)[i] = 1;
}

NOINLINE void* First(size_t bytes) { return Shown("First", malloc(bytes), bytes); }
NOINLINE void* Second(size_t bytes) { return Shown("Second", malloc(bytes), bytes); }
NOINLINE void* Inner(size_t bytes) { return Shown("Inner", malloc(bytes), bytes); }
NOINLINE void* OuterOne(size_t bytes) { return Shown("OuterOne", Inner(bytes), bytes); }
NOINLINE void* OuterTwo(size_t bytes) { return Shown("OuterTwo", Inner(bytes), bytes); }
NOINLINE void* Zeroed(size_t bytes) { return Shown("Zeroed", calloc(bytes / 16, 16), bytes); }
NOINLINE void* Resized(void* block, size_t bytes) {
  return Shown("Resized", realloc(block, bytes), bytes);
}
NOINLINE void* Aligned(size_t bytes) { return Shown("Aligned", aligned_alloc(4096, bytes), bytes); }
NOINLINE void* Posix(size_t bytes) {
  void* block = NULL;
  Require(posix_memalign(&block, 1 << 22, bytes) == 0, "posix_memalign");
  Require((uintptr_t)block % (1 << 22) == 0, "its alignment");
  return Shown("Posix", block, bytes);
}
NOINLINE void* Memaligned(size_t bytes) { return Shown("Memaligned", memalign(64, bytes), bytes); }
NOINLINE void* Mapped(size_t bytes) {
  void* const memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return Shown("Mapped", memory, bytes);
}

static char big_static[8 << 20];

static void Sites(void) {
  First(MB), First(2 * MB), Second(MB), OuterOne(MB), OuterTwo(MB);
  Zeroed(MB), Aligned(MB), Posix(MB), Memaligned(MB), Mapped(4 * MB);
  Resized(Resized(NULL, MB), 3 * MB);
  First(1000), First(200 * KB);
  Shown("static", big_static, sizeof big_static);
}

/* Ends of blocks: freed, moved, unmapped, of the heap. */
static void Ends(void) {
  free(First(64 * MB));
  munmap(Mapped(4 * MB), 4 * MB);
  Resized(Resized(NULL, 8 * MB), 100);
  mallopt(M_MMAP_THRESHOLD, 64 * MB);
  char* const inside = Second(MB);
  void* const behind = malloc(64);
  free(inside);
  free(behind);
}

/* The memory of each function is zero or what was written, on large pages or not. */
static void Contents(void) {
  for (int round = 0; round < 4; round++) {
    unsigned char* block = Zeroed(5 * MB + 16);
    Require(IsZero(block, 5 * MB + 16), "calloc is not zero");
    Require(malloc_usable_size(block) >= 5 * MB + 16, "malloc_usable_size");
    memset(block, 7, 5 * MB + 16);
    block = Resized(block, 9 * MB);
    Require(block[0] == 7 && block[5 * MB + 15] == 7, "realloc loses bytes");
    memset(block, 7, 9 * MB);
    block = Resized(block, 300 * KB);
    Require(block[0] == 7 && block[300 * KB - 1] == 7, "realloc loses bytes when it reduces");
    block = Resized(block, 100);
    Require(block[0] == 7 && block[99] == 7, "realloc loses bytes of small blocks");
    free(block);
    unsigned char* memory = Mapped(6 * MB + 4096);
    Require(IsZero(memory, 6 * MB + 4096), "mmap is not zero");
    memset(memory, 9, 6 * MB);
    memory = mremap(memory, 6 * MB + 4096, 12 * MB, MREMAP_MAYMOVE);
    Require(memory != MAP_FAILED && memory[6 * MB - 1] == 9, "mremap");
    Require(munmap(memory, 12 * MB) == 0, "munmap");
    memset(First(3 * MB), 1, 3 * MB);
  }
  char* grown = NULL;
  for (size_t bytes = 100; bytes < 40 * MB; bytes += bytes / 3) {
    grown = realloc(grown, bytes);
    grown[bytes - 1] = 1;
  }
  free(grown);
}

static void Errors(void) {
  errno = 5;
  void* block = malloc(MB);
  Require(errno == 5, "malloc changes errno");
  free(block);
  Require(errno == 5, "free changes errno");
  const volatile size_t too_much = SIZE_MAX / 2;
  Require(malloc(too_much) == NULL && errno == ENOMEM, "malloc of too much");
  errno = 0;
  Require(calloc(too_much, 4) == NULL && errno == ENOMEM, "calloc of too much");
  errno = 0;
  block = malloc(MB);
  Require(realloc(block, too_much) == NULL && errno == ENOMEM, "realloc of too much");
  memset(block, 1, MB);
  Require(realloc(block, 0) == NULL, "realloc to nothing");
  Require(posix_memalign(&block, 3, MB) == EINVAL, "posix_memalign with a wrong alignment");
  errno = 0;
  Require(
      mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL,
      "mmap of nothing");
  errno = 0;
  Require(munmap((void*)1, MB) == -1 && errno == EINVAL, "munmap of a wrong address");
}

static void FaultsOf(size_t bytes) {
  char* const block = First(bytes);
  const long before = Faults();
  Touch(block, bytes);
  printf("faults %ld\n", Faults() - before);
  fflush(stdout);
}

/* One block at a time, of a size that malloc always maps anew. */
static void Reuses(void) {
  for (int i = 0; i < 10; i++) {
    char* const block = First(64 * MB);
    Touch(block, 64 * MB);
    Second(3 * MB + i * 4096);
    free(block);
  }
}

static void* Work(void* data) {
  const size_t seed = (size_t)data;
  for (size_t i = 0; i < 200; i++) {
    const size_t bytes = 130 * KB + (seed * 7919 + i * 104729) % (2 * MB);
    char* block = malloc(bytes);
    block[0] = block[bytes - 1] = (char)seed;
    block = realloc(block, bytes * 2);
    Require(block[0] == (char)seed && block[bytes - 1] == (char)seed, "another thread's block");
    free(block);
  }
  return NULL;
}
static void Threads(void) {
  enum { kThreads = 8 };
  pthread_t threads[kThreads];
  for (size_t i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, Work, (void*)i);
  for (size_t i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
}

static void* Allocate(void* data) {
  for (;;) free(malloc((size_t)data));
  return NULL;
}
/* Children of a process whose other thread is in malloc all the time. */
static void Forks(void) {
  pthread_t other;
  pthread_create(&other, NULL, Allocate, (void*)(size_t)(300 * KB));
  First(MB);
  for (int i = 0; i < 20; i++) {
    const pid_t child = fork();
    if (child == 0) {
      Second(3 * MB);
      exit(0);
    }
    int status = 0;
    Require(waitpid(child, &status, 0) == child && status == 0, "a child");
  }
}

static volatile int signals;
static void OnSignal(int number) { signals += number != 0; }
static void Signals(void) {
  struct sigaction action = {.sa_handler = OnSignal};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval each = {{0, 300}, {0, 300}};
  setitimer(ITIMER_REAL, &each, NULL);
  for (int i = 0; i < 3000; i++) free(malloc(200 * KB));
  const struct itimerval none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &none, NULL);
  First(MB);
}

static void Closed(void) {
  for (int file = 3; file < 1024; file++) close(file);
  const int own = open("/dev/null", O_RDWR);
  for (int i = 0; i < 5000; i++) free(malloc(200 * KB));
  Require(fcntl(own, F_GETFD) >= 0 && own == 3, "a descriptor of the program");
  First(MB);
}

static void Limited(void) {
  const struct rlimit limit = {400 * MB, 400 * MB};
  setrlimit(RLIMIT_AS, &limit);
  char* const block = First(300 * MB);
  Require(block != NULL, "memory within the limit");
  Require(malloc(300 * MB) == NULL && errno == ENOMEM, "memory beyond the limit");
  void* const memory =
      mmap(NULL, 80 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Require(memory != MAP_FAILED, "mapped memory within the limit");
}

static void Loads(const char* library) {
  void* const handle = dlopen(library, RTLD_NOW);
  Require(handle != NULL, "dlopen");
  void* (*const allocate)(size_t) = (void* (*)(size_t))dlsym(handle, "LoadedBlock");
  Shown("LoadedBlock", allocate(MB), MB);
  dlclose(handle);
  First(MB);
}

static void Executes(char** words) {
  First(MB);
  execl(words[0], words[0], "sites", NULL);
}

static void Dies(void) {
  First(MB), Second(2 * MB);
  kill(getpid(), SIGKILL);
}

static void Last(void) { Second(3 * MB); }

int main(int count, char** words) {
  const char* const what = count > 1 ? words[1] : "";
  const size_t mb = count > 2 ? strtoul(words[2], NULL, 10) : 0;
  atexit(Last);
  if (!strcmp(what, "sites")) Sites();
  if (!strcmp(what, "ends")) Ends();
  if (!strcmp(what, "contents")) Contents();
  if (!strcmp(what, "errors")) Errors();
  if (!strcmp(what, "faults")) FaultsOf(mb << 20);
  if (!strcmp(what, "reuses")) Reuses();
  if (!strcmp(what, "threads")) Threads();
  if (!strcmp(what, "forks")) Forks();
  if (!strcmp(what, "signals")) Signals();
  if (!strcmp(what, "closed")) Closed();
  if (!strcmp(what, "limited")) Limited();
  if (!strcmp(what, "loads")) Loads(words[2]);
  if (!strcmp(what, "executes")) Executes(words);
  if (!strcmp(what, "dies")) Dies();
  if (!strcmp(what, "static")) {
    const long before = Faults();
    Touch(big_static, sizeof big_static);
    printf("faults %ld\n", Faults() - before);
  }
  return 0;
}
