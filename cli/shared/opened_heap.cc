#include "cli/shared/opened_heap.h"

#include <fmt/format.h>

#include <utility>

namespace jprof::cli {

void ShowStep(std::string_view step, double share, record::StatusLine& line) {
  const std::string done = share > 0 ? fmt::format(" {:.0f} %", 100 * share) : "";
  line.Show(fmt::format("jprof: {} ...{}", step, done));
}

Result<std::unique_ptr<OpenedHeap>> OpenHeap(const std::string& path, bool keep_references,
                                             record::StatusLine& line) {
  const heap::LoadOptions options = {
      .keep_references = keep_references,
      .progress = [&line](const char* step, double share) { ShowStep(step, share, line); }};
  auto loaded = heap::Load(path, options);
  if (!loaded) return std::unexpected(loaded.error());
  return std::make_unique<OpenedHeap>(*std::move(loaded));
}

}  // namespace jprof::cli
