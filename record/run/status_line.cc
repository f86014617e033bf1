#include "record/run/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace jprof::record {

bool StatusLine::IsShown() { return isatty(STDERR_FILENO) != 0; }

void StatusLine::Show(std::string text) {
  if (text == shown_ || !IsShown()) return;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
  shown_ = std::move(text);
}

void StatusLine::End() {
  if (shown_.empty()) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_.clear();
}

}  // namespace jprof::record
