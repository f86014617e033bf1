// For LD_PRELOAD: makes chosen system calls of jprof's own code fail, or transfer less than was
// asked. Calls by the profiled program and by the libraries of others are not touched.
//
//   FAULTS=CALL@N=WHAT    the N-th call of CALL in each process; N+ for that one and all later
//                         ones; WHAT is an errno's number or "short". Without it nothing fails.
//   FAULTS_LOG=FILE       made by the caller, of zeroes: for each call of the table, in its order,
//   two
//                         64-bit numbers: the largest number of calls of a process, and how many
//                         calls were changed in all processes. Mapped, so that it survives a kill.
//
// Run as a program (FAULTS_LIST set), the constructor prints the table's names, a line each.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

// Calls that set errno: result type, name, parameters, arguments, result of a failure.
#define CALLS(X)                                                                                   \
  X(DIR*, opendir, (const char* path), (path), NULL)                                               \
  X(DIR*, fdopendir, (int fd), (fd), NULL)                                                         \
  X(FILE*, fopen, (const char* path, const char* mode), (path, mode), NULL)                        \
  X(FILE*, fdopen, (int fd, const char* mode), (fd, mode), NULL)                                   \
  X(void*, mmap, (void* at, size_t n, int prot, int flags, int fd, off_t from),                    \
    (at, n, prot, flags, fd, from), MAP_FAILED)                                                    \
  X(int, mprotect, (void* at, size_t n, int prot), (at, n, prot), -1)                              \
  X(int, madvise, (void* at, size_t n, int advice), (at, n, advice), -1)                           \
  X(int, ftruncate, (int fd, off_t n), (fd, n), -1)                                                \
  X(int, truncate, (const char* path, off_t n), (path, n), -1)                                     \
  X(off_t, lseek, (int fd, off_t n, int from), (fd, n, from), -1)                                  \
  X(int, fsync, (int fd), (fd), -1)                                                                \
  X(int, fstat, (int fd, struct stat* s), (fd, s), -1)                                             \
  X(int, stat, (const char* path, struct stat* s), (path, s), -1)                                  \
  X(int, lstat, (const char* path, struct stat* s), (path, s), -1)                                 \
  X(int, fstatat, (int fd, const char* path, struct stat* s, int flags), (fd, path, s, flags), -1) \
  X(int, statvfs, (const char* path, struct statvfs* s), (path, s), -1)                            \
  X(int, mkdir, (const char* path, mode_t mode), (path, mode), -1)                                 \
  X(char*, mkdtemp, (char* path), (path), NULL)                                                    \
  X(int, mkostemp, (char* path, int flags), (path, flags), -1)                                     \
  X(int, rename, (const char* from, const char* to), (from, to), -1)                               \
  X(int, link, (const char* from, const char* to), (from, to), -1)                                 \
  X(int, symlink, (const char* from, const char* to), (from, to), -1)                              \
  X(int, unlink, (const char* path), (path), -1)                                                   \
  X(int, unlinkat, (int fd, const char* path, int flags), (fd, path, flags), -1)                   \
  X(int, rmdir, (const char* path), (path), -1)                                                    \
  X(int, chmod, (const char* path, mode_t mode), (path, mode), -1)                                 \
  X(int, fchmod, (int fd, mode_t mode), (fd, mode), -1)                                            \
  X(int, fchmodat, (int fd, const char* path, mode_t mode, int flags), (fd, path, mode, flags),    \
    -1)                                                                                            \
  X(ssize_t, readlink, (const char* path, char* to, size_t n), (path, to, n), -1)                  \
  X(char*, realpath, (const char* path, char* to), (path, to), NULL)                               \
  X(char*, getcwd, (char* to, size_t n), (to, n), NULL)                                            \
  X(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1)               \
  X(int, socketpair, (int domain, int type, int protocol, int fds[2]),                             \
    (domain, type, protocol, fds), -1)                                                             \
  X(int, bind, (int fd, const struct sockaddr* to, socklen_t n), (fd, to, n), -1)                  \
  X(int, listen, (int fd, int n), (fd, n), -1)                                                     \
  X(int, connect, (int fd, const struct sockaddr* to, socklen_t n), (fd, to, n), -1)               \
  X(int, accept4, (int fd, struct sockaddr* from, socklen_t* n, int flags), (fd, from, n, flags),  \
    -1)                                                                                            \
  X(int, getsockopt, (int fd, int level, int name, void* to, socklen_t* n),                        \
    (fd, level, name, to, n), -1)                                                                  \
  X(int, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms), -1)                          \
  X(int, eventfd, (unsigned n, int flags), (n, flags), -1)                                         \
  X(int, pipe2, (int fds[2], int flags), (fds, flags), -1)                                         \
  X(ssize_t, sendfile, (int to, int from, off_t* at, size_t n), (to, from, at, n), -1)             \
  X(ssize_t, copy_file_range,                                                                      \
    (int from, off64_t* a, int to, off64_t* b, size_t n, unsigned flags),                          \
    (from, a, to, b, n, flags), -1)                                                                \
  X(int, timer_create, (clockid_t clock, struct sigevent * event, timer_t * timer),                \
    (clock, event, timer), -1)                                                                     \
  X(int, timer_settime,                                                                            \
    (timer_t timer, int flags, const struct itimerspec* to, struct itimerspec* old),               \
    (timer, flags, to, old), -1)                                                                   \
  X(int, sigaction, (int signal, const struct sigaction* to, struct sigaction* old),               \
    (signal, to, old), -1)                                                                         \
  X(int, dup2, (int from, int to), (from, to), -1)                                                 \
  X(pid_t, fork, (void), (), -1)                                                                   \
  X(int, execvp, (const char* file, char* const* arguments), (file, arguments), -1)

// Calls that return the error's number.
#define NUMBERED(X)                                                                    \
  X(posix_fallocate, (int fd, off_t from, off_t n), (fd, from, n))                     \
  X(pthread_create,                                                                    \
    (pthread_t * thread, const pthread_attr_t* attr, void* (*run)(void*), void* with), \
    (thread, attr, run, with))                                                         \
  X(posix_spawnp,                                                                      \
    (pid_t * pid, const char* file, const posix_spawn_file_actions_t* actions,         \
     const posix_spawnattr_t* attr, char* const* arguments, char* const* environment), \
    (pid, file, actions, attr, arguments, environment))

// Calls that may transfer less than `n` bytes.
#define TRANSFERS(X)                                                           \
  X(read, (int fd, void* to, size_t n), (fd, to, n))                           \
  X(write, (int fd, const void* from, size_t n), (fd, from, n))                \
  X(pread, (int fd, void* to, size_t n, off_t at), (fd, to, n, at))            \
  X(pwrite, (int fd, const void* from, size_t n, off_t at), (fd, from, n, at)) \
  X(recv, (int fd, void* to, size_t n, int flags), (fd, to, n, flags))         \
  X(send, (int fd, const void* from, size_t n, int flags), (fd, from, n, flags))

// Calls written out below.
#define OTHERS(X) X(open) X(openat) X(close) X(writev) X(fcntl) X(ioctl) X(syscall)

#define NUMBER1(name) k_##name,
#define NUMBER3(name, ...) k_##name,
#define NUMBER5(type, name, ...) k_##name,
enum { CALLS(NUMBER5) NUMBERED(NUMBER3) TRANSFERS(NUMBER3) OTHERS(NUMBER1) kCount };
#define NAME1(name) #name,
#define NAME3(name, ...) #name,
#define NAME5(type, name, ...) #name,
static const char* const kNames[] = {CALLS(NAME5) NUMBERED(NAME3) TRANSFERS(NAME3) OTHERS(NAME1)};

enum { kShort = -1 };
static struct {
  int call, what;
  uint64_t number;
  bool later;
} fault = {.call = -1};
static _Atomic uint64_t calls[kCount];
static struct { _Atomic uint64_t calls, changed; } * log_;
static bool whole_process;  // the command itself, and not a program with the agent

static void* Real(const char* name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void Begin(void) {
  if (getenv("FAULTS_LIST")) {
    for (int i = 0; i < kCount; ++i) puts(kNames[i]);
    exit(0);
  }
  char self[4096];
  const ssize_t n = ((ssize_t(*)(const char*, char*, size_t))Real("readlink"))(
      "/proc/self/exe", self, sizeof self - 1);
  if (n > 0) {
    self[n] = 0;
    whole_process = strcmp(strrchr(self, '/'), "/jprof") == 0;
  }
  const char* const file = getenv("FAULTS_LOG");
  const int fd =
      file ? ((int (*)(const char*, int, ...))Real("open"))(file, O_RDWR | O_CLOEXEC) : -1;
  if (fd >= 0) {
    void* const at = ((void* (*)(void*, size_t, int, int, int, off_t))Real("mmap"))(
        NULL, kCount * 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) log_ = at;
    ((int (*)(int))Real("close"))(fd);
  }
  const char* const text = getenv("FAULTS");
  if (!text) return;
  char name[64], what[16], plus[2] = "";
  unsigned long long number = 0;
  if (sscanf(text, "%63[^@]@%llu%1[+]=%15s", name, &number, plus, what) != 4 &&
      sscanf(text, "%63[^@]@%llu=%15s", name, &number, what) != 3) {
    fprintf(stderr, "faults: FAULTS=%s is not CALL@N=WHAT\n", text);
    abort();
  }
  for (int i = 0; i < kCount; ++i)
    if (strcmp(name, kNames[i]) == 0) fault.call = i;
  fault.what = strcmp(what, "short") == 0 ? kShort : atoi(what);
  fault.number = number;
  fault.later = plus[0] == '+';
}

// Whether the caller's code is jprof's: in its command everything, elsewhere only its libraries.
static bool Ours(void* caller) {
  if (whole_process) return true;
  struct dl_find_object object;
  if (_dl_find_object(caller, &object) != 0 || !object.dlfo_link_map->l_name) return false;
  const char* const name = strrchr(object.dlfo_link_map->l_name, '/');
  return name && strncmp(name, "/libjprof", 9) == 0;
}

// Counts the call. Returns whether it is to be changed.
static bool Chosen(int call, void* caller) {
  if (!Ours(caller)) return false;
  const uint64_t number = atomic_fetch_add(&calls[call], 1) + 1;
  if (log_) {
    uint64_t most = atomic_load(&log_[call].calls);
    while (most < number && !atomic_compare_exchange_weak(&log_[call].calls, &most, number)) {
    }
  }
  return call == fault.call && (fault.later ? number >= fault.number : number == fault.number);
}

static bool Change(int call) {
  if (log_) atomic_fetch_add(&log_[call].changed, 1);
  return true;
}

static bool Fails(int call, void* caller) {
  return Chosen(call, caller) && fault.what != kShort && Change(call);
}

#define CALLER __builtin_return_address(0)
// A pointer of its own for each call, found once: dlsym takes locks.
#define REAL(type, name, parameters)                                           \
  static type(*_Atomic real) parameters;                                       \
  type(*found) parameters = atomic_load_explicit(&real, memory_order_relaxed); \
  if (!found)                                                                  \
  atomic_store_explicit(&real, found = (type(*) parameters)Real(#name), memory_order_relaxed)

#define DEFINE_CALL(type, name, parameters, arguments, failure) \
  SHOWN type name parameters {                                  \
    REAL(type, name, parameters);                               \
    if (!Fails(k_##name, CALLER)) return found arguments;       \
    errno = fault.what;                                         \
    return failure;                                             \
  }
CALLS(DEFINE_CALL)

#define DEFINE_NUMBERED(name, parameters, arguments)               \
  SHOWN int name parameters {                                      \
    REAL(int, name, parameters);                                   \
    return Fails(k_##name, CALLER) ? fault.what : found arguments; \
  }
NUMBERED(DEFINE_NUMBERED)

#define DEFINE_TRANSFER(name, parameters, arguments)                                       \
  SHOWN ssize_t name parameters {                                                          \
    REAL(ssize_t, name, parameters);                                                       \
    if (Chosen(k_##name, CALLER) && (fault.what != kShort || n > 1) && Change(k_##name)) { \
      if (fault.what != kShort) {                                                          \
        errno = fault.what;                                                                \
        return -1;                                                                         \
      }                                                                                    \
      n /= 2;                                                                              \
    }                                                                                      \
    return found arguments;                                                                \
  }
TRANSFERS(DEFINE_TRANSFER)

// The last argument of these, present or not, is passed on as one register.
#define DEFINE_VARIADIC(name, first, argument) \
  {                                            \
    va_list list;                              \
    va_start(list, first);                     \
    void* const last = va_arg(list, void*);    \
    va_end(list);                              \
    if (Fails(k_##name, CALLER)) {             \
      errno = fault.what;                      \
      return -1;                               \
    }                                          \
    return found argument;                     \
  }

SHOWN int open(const char* path, int flags, ...) {
  REAL(int, open, (const char*, int, ...));
  DEFINE_VARIADIC(open, flags, (path, flags, last))
}

SHOWN int openat(int fd, const char* path, int flags, ...) {
  REAL(int, openat, (int, const char*, int, ...));
  DEFINE_VARIADIC(openat, flags, (fd, path, flags, last))
}

SHOWN int fcntl(int fd, int what, ...) {
  REAL(int, fcntl, (int, int, ...));
  DEFINE_VARIADIC(fcntl, what, (fd, what, last))
}

SHOWN int ioctl(int fd, unsigned long what, ...) {
  REAL(int, ioctl, (int, unsigned long, ...));
  DEFINE_VARIADIC(ioctl, what, (fd, what, last))
}

// As Linux does it, the descriptor is closed also where the call fails.
SHOWN int close(int fd) {
  REAL(int, close, (int));
  const int result = found(fd);
  if (!Fails(k_close, CALLER)) return result;
  errno = fault.what;
  return -1;
}

SHOWN ssize_t writev(int fd, const struct iovec* parts, int n) {
  REAL(ssize_t, writev, (int, const struct iovec*, int));
  if (Chosen(k_writev, CALLER) && Change(k_writev)) {
    if (fault.what != kShort) {
      errno = fault.what;
      return -1;
    }
    if (n > 1) n /= 2;
  }
  return found(fd, parts, n);
}

// Of the calls by number, those that open something; a futex must work.
SHOWN long syscall(long number, ...) {
  REAL(long, syscall, (long, ...));
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  const bool opens = number == SYS_perf_event_open || number == SYS_openat2 ||
                     number == SYS_pidfd_open || number == SYS_memfd_create;
  if (opens && Fails(k_syscall, CALLER)) {
    errno = fault.what;
    return -1;
  }
  return found(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
