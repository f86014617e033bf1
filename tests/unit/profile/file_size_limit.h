// While this object exists, no file of this process grows beyond a size: a write is truncated
// there, later ones are refused. This simulates a full disk.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace jprof::profile {

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small = {.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;

 private:
  void (*const handler_)(int);
  rlimit before_ = {};
};

}  // namespace jprof::profile
