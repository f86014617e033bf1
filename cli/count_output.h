// What `stat`, `ptt` and `cpi` share on the command line: lists of events, and where tables go.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/count_table.h"
#include "common/result.h"

namespace jprof::cli {

// The names in several A,B or A+B.
std::vector<std::string> SplitAll(const std::vector<std::string>& lists);

class CountOutput {
 public:
  // `path` empty: `otherwise`; "-": standard output. Error (exit code 2): cannot be written.
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
