// Watches the directory of a profile while a program runs, so that a profile that the program, or
// another one, removes or renames is missed afterwards.
#pragma once

#include <sys/inotify.h>

#include <cstdint>
#include <filesystem>

#include "common/fd.h"

namespace jprof::record {

class PlaceWatch {
 public:
  // Requires that `place` does not exist yet: a process that is recorded makes it. Watches nothing
  // if the kernel refuses a watch of the directory that will contain it.
  explicit PlaceWatch(const std::filesystem::path& place);

  // Reads what has happened since. Call it often: the kernel's queue of events is limited.
  void Look();

  // Returns whether a directory was at `place` and then removed or renamed. A directory in which no
  // recording began does not count if its maker has removed it (RemoveUnused).
  bool Gone();

 private:
  void Note(const inotify_event& event);
  bool ParentIsGone() const;

  std::filesystem::path place_;
  Fd parent_, events_;
  bool made_ = false;
  int gone_ = 0;           // how many directories
  uint32_t renaming_ = 0;  // the kernel's number of the last renaming
};

}  // namespace jprof::record
