// The folders to which `jprof mcp --root` limits what is read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"

namespace jprof::cli {

class Roots {
 public:
  // Fails with kWrongUse if one of `folders` is no folder. Without any, everything is admitted.
  static Result<Roots> Of(const std::vector<std::string>& folders);

  // Returns the path without links, relative ones in the first root. Fails if it leads out of every
  // root, also if nothing is there.
  Result<std::string> Admit(const std::string& named) const;

 private:
  std::vector<std::filesystem::path> folders_;  // absolute, without links
};

}  // namespace jprof::cli
