#include "cli/shared/opened_heap.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace jprof::cli {

void StepLine::Show(std::string_view step, double share) {
  std::string text = fmt::format("{} ...", step);
  if (share > 0) text = fmt::format("{} ... {:.0f} %", step, 100 * share);
  if (isatty(STDERR_FILENO) == 0 || text == shown_) return;
  fmt::print(stderr, "\r\x1b[Kjprof: {}", text);
  std::fflush(stderr);
  shown_ = std::move(text);
}

void StepLine::End() {
  if (!shown_.empty()) fmt::print(stderr, "\r\x1b[K");
  shown_.clear();
}

Result<std::unique_ptr<OpenedHeap>> OpenHeap(const std::string& path, bool keep_references,
                                             StepLine& steps) {
  const heap::LoadOptions options = {
      .keep_references = keep_references,
      .progress = [&steps](const char* step, double share) { steps.Show(step, share); }};
  auto loaded = heap::Load(path, options);
  if (!loaded) return std::unexpected(loaded.error());
  return std::make_unique<OpenedHeap>(*std::move(loaded));
}

}  // namespace jprof::cli
