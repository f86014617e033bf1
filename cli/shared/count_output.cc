#include "cli/shared/count_output.h"

#include <cerrno>
#include <cstring>

#include "common/errno_text.h"

namespace jprof::cli {

Result<void> CountOutput::Open(const std::string& path, std::FILE* otherwise) {
  std::FILE* file = path.empty()  ? otherwise
                    : path == "-" ? stdout
                                  : std::fopen(path.c_str(), "we");
  if (file == nullptr) return WrongUse("cannot write {}: {}", path, ErrnoText());
  file_.reset(file);
  return {};
}

Result<void> CountOutput::Print(const CountTable& table, reports::Format format) {
  reports::Output out(file_.get());
  if (!first_ && format == reports::Format::kText) out.Text("\n");
  PrintCounts(table, format, first_, out);
  first_ = false;
  auto finished = out.Finish();
  std::fflush(file_.get());
  return finished;
}

}  // namespace jprof::cli
