// Folds deep recursion for the formats of exports that would repeat it.
#pragma once

#include <functional>
#include <string_view>

#include "model/tree/context_tree.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Calls `write` with the tree in which recursion below `whole` frames is folded, if there is any;
// the tree's notes and a remark of `out` then report it. Fails if `write` does.
Result<void> WriteFolded(const model::ContextTree& tree, uint32_t whole, Output& out,
                         const std::function<Result<void>(const model::ContextTree&)>& write);

// Calls `write` with the tree for formats that repeat the whole stack of every context: deep
// recursion is folded, which its notes and a remark of `out` report. Fails with kWrongUse if there
// are too many frames for a useful file, or with the error of `write`.
Result<void> WriteStacks(const model::ContextTree& tree, std::string_view format, Output& out,
                         const std::function<Result<void>(const model::ContextTree&)>& write);

}  // namespace jprof::reports
