#include "reports/export/stacks.h"

#include <algorithm>

#include "model/tree/deep_recursion.h"

namespace jprof::reports {
namespace {

// Fails as WriteStacks states.
Result<void> CheckStacks(const model::ContextTree& tree, std::string_view format) {
  constexpr uint64_t kMostFrames = 1'000'000'000;
  const std::vector<size_t> sums = tree.Sums();
  const std::vector<uint32_t> levels = model::Levels(tree);
  uint64_t frames = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    if (std::ranges::any_of(sums, [&](size_t m) { return tree.Value(i, m) != 0; }))
      frames += levels[i];
  }
  if (frames <= kMostFrames) return {};
  return WrongUse(
      "the stacks of {} contexts have {} frames, too many for {}, which holds each stack as a "
      "whole; export the profile with --format callgrind or sqlite",
      levels.size(), frames, format);
}

}  // namespace

Result<void> WriteFolded(const model::ContextTree& tree, uint32_t whole, Output& out,
                         const std::function<Result<void>(const model::ContextTree&)>& write) {
  const std::optional<model::ContextTree> folded = model::FoldDeep(tree, whole);
  if (!folded) return write(tree);
  if (folded->run.notes.size() > tree.run.notes.size()) out.Remark(folded->run.notes.back());
  return write(*folded);
}

Result<void> WriteStacks(const model::ContextTree& tree, std::string_view format, Output& out,
                         const std::function<Result<void>(const model::ContextTree&)>& write) {
  return WriteFolded(tree, model::kWholeFrames, out,
                     [&](const model::ContextTree& stacks) -> Result<void> {
                       if (auto can = CheckStacks(stacks, format); !can) return can;
                       return write(stacks);
                     });
}

}  // namespace jprof::reports
