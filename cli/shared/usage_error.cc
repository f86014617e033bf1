#include "cli/shared/usage_error.h"

namespace jprof::cli {

Result<int> StatusOf(const Result<void>& done) {
  if (!done) return std::unexpected(done.error());
  return 0;
}

int ExitStatusOf(const Result<int>& outcome) {
  if (outcome) return *outcome;
  PrintError(outcome.error().message);
  return ExitCodeOf(outcome.error());
}

}  // namespace jprof::cli
