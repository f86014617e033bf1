#include "profile/files/unused_directory.h"

#include <limits.h>
#include <unistd.h>

#include <cstdio>

namespace jprof::profile {

void RemoveUnused(const char* directory) {
  char aside[PATH_MAX];
  const int length = snprintf(aside, sizeof aside, "%s%s", directory, kUnusedSuffix);
  if (length < 0 || length >= static_cast<int>(sizeof aside)) return;
  if (rename(directory, aside) != 0 || rmdir(aside) == 0) return;
  rename(aside, directory);  // there is something in it
}

}  // namespace jprof::profile
