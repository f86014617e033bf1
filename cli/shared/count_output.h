// Implements the options that `stat`, `ptt` and `cpi` share: lists of events and the output file.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/shared/count_table.h"
#include "common/result.h"

namespace jprof::cli {

class CountOutput {
 public:
  // Opens the file `path`; "-" is standard output, an empty path `otherwise`. Fails with kWrongUse
  // if it cannot be written.
  Result<void> Open(const std::string& path, std::FILE* otherwise);
  Result<void> Print(const CountTable& table, reports::Format format);
  std::FILE* file() const { return file_.get(); }

 private:
  struct Closer {
    void operator()(std::FILE* file) const {
      if (file != stdout && file != stderr) std::fclose(file);
    }
  };
  std::unique_ptr<std::FILE, Closer> file_;
  bool first_ = true;
};

}  // namespace jprof::cli
