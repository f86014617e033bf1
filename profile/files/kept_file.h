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
  // Opens or creates `name` in the directory `dir_fd` (AT_FDCWD: in the current one). Returns false
  // and sets errno if that fails.
  bool Open(int dir_fd, const char* name, int flags);

  // Returns the descriptor, which is valid for the next call only. Returns a negative value with
  // errno ESTALE if the program has closed it and the path no longer leads to the same file.
  int Get();
  void Close() { fd_.Reset(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }

 private:
  KeptFd fd_;
  int flags_ = 0;     // for opening it again
  std::string path_;  // absolute; empty if unknown
};

}  // namespace jprof::profile
