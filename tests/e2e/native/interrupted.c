// For LD_PRELOAD: makes posix_fallocate behave as on a tmpfs while signals arrive: three of four
// calls are interrupted.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>

__attribute__((visibility("default"))) int posix_fallocate(int fd, off_t offset, off_t length) {
  static int (*real)(int, off_t, off_t);
  static unsigned calls;
  if (!real) real = (int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate");
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 4 != 0) return EINTR;
  return real(fd, offset, length);
}
