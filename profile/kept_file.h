// A file or directory of the profile that stays open in the profiled process. If the program closes
// its descriptor, it is opened again by its path, and used only if it is the same file: a chdir, a
// rename, a chroot or another file at that path leads to an error, never to a write elsewhere.
//
// - One thread at a time may call the functions of an object.
// - Nothing here throws after Open.
#pragma once

#include <string>

#include "common/kept_fd.h"

namespace jprof::profile {

class KeptFile {
 public:
  // Opens or creates `name` in the directory `dir_fd` (AT_FDCWD: in the current one). False: errno
  // is set.
  bool Open(int dir_fd, const char* name, int flags);

  // Returns the descriptor, for the next call only. Negative: errno is ESTALE; the program has
  // closed it, and the path does not lead to it any more.
  int Get();
  void Close() { fd_.Reset(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }

 private:
  KeptFd fd_;
  int flags_ = 0;     // for opening it again
  std::string path_;  // absolute; empty: not known
};

}  // namespace jprof::profile
