// For LD_PRELOAD: simulates a disk that does not respond.
#include <unistd.h>

__attribute__((visibility("default"))) int fsync(int fd) {
  (void)fd;
  for (;;) pause();
}
